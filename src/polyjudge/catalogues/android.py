"""Read the string resources of Android."""

import re
from collections.abc import Iterator

from polyjudge.errors import DataError

from .content import well_formed
from .entries import Entry, Problems
from .plurals import CATEGORIES
from .xml_tree import Element, parse_xml

_REFERENCE = re.compile(r"@(?:\w+:)?\w+/\w+|\?(?:\w+:)?(?:\w+/)?\w+")
_PART = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)|([\"']|[ \t\n]+)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t"}
_TAG_WITH_QUOTES = re.compile(r"<[^<>]+=\s*\"")
"""A tag in a text, whose quotation marks are its own."""
_SPACE = "\0"
_SPACES = re.compile("\0+")


def read_android(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the strings, the items of arrays and the plural forms of a file of resources."""
    root = parse_xml(content, path)
    if root is None:
        problems.add(1, "is empty")
        return
    if root.name != "resources":
        raise DataError(
            f"not an Android resource file: the root element is <{root.name[:40]}>", path=path, line=root.line
        )
    for element in root.elements("string", "plurals", "string-array", "array"):
        name = element.attributes.get("name", "")
        if not name:
            problems.add(element.line, f"has a <{element.name}> without a name")
        elif element.name == "string":
            yield _entry(element, element, name, "", problems)
        else:
            yield from _items(element, name, problems)


def _items(element: Element, name: str, problems: Problems) -> Iterator[Entry]:
    for place, item in enumerate(element.elements("item")):
        if element.name != "plurals":
            yield _entry(element, item, f"{name}.{place}", "", problems)
        elif (quantity := item.attributes.get("quantity", "")) in CATEGORIES:
            yield _entry(element, item, name, quantity, problems)
        else:
            problems.add(item.line, f"has the quantity {quantity[:40]!r}, which is not one of {', '.join(CATEGORIES)}")


def _entry(element: Element, item: Element, name: str, plural: str, problems: Problems) -> Entry:
    pieces = list(_pieces(item))
    is_reference = len(pieces) == 1 and _REFERENCE.fullmatch(pieces[0][0].strip()) is not None
    is_formatted = element.attributes.get("formatted") != "false"
    return Entry(
        key=name,
        text=_text(pieces, item.line, problems),
        line=item.line,
        plural=plural,
        comment="\n".join(filter(None, (element.comment, item.comment if item is not element else ""))),
        syntaxes=("printf",),
        is_raw=not is_formatted,
        is_translatable=not is_reference and element.attributes.get("translatable") != "false",
    )


def _pieces(element: Element) -> Iterator[tuple[str, bool]]:
    """Yield the texts and tags in an element, and whether each is a tag; `xliff:g` is left out."""
    for child in element.children:
        if isinstance(child, str):
            yield child, False
        elif child.qualified.startswith("xliff:"):
            yield from _pieces(child)
        elif child.children:
            yield child.tag(), True
            yield from _pieces(child)
            yield f"</{child.qualified}>", True
        else:
            yield child.tag(end="/>"), True


def _text(pieces: list[tuple[str, bool]], line: int, problems: Problems) -> str:
    """Return a text as a program shows it: without escapes, and with single spaces except in quotation marks."""
    unescaper = _Unescaper()
    text = "".join([piece if is_tag else unescaper.text(piece) for piece, is_tag in pieces]).strip(_SPACE)
    if unescaper.has_bare_apostrophe:
        problems.add(line, "has an apostrophe without a backslash, which Android does not accept")
    return well_formed(_SPACES.sub(" ", text))


class _Unescaper:
    """Remove the escapes of a text in several pieces; what is white space to be joined becomes a null character."""

    def __init__(self) -> None:
        self._is_quoted = self._has_tags = False
        self.has_bare_apostrophe = False

    def text(self, text: str) -> str:
        self._has_tags = _TAG_WITH_QUOTES.search(text) is not None
        return _PART.sub(self._unescaped, text)

    def _unescaped(self, match: re.Match[str]) -> str:
        code, escaped, other = match.groups()
        if code:
            return chr(int(code, 16)) if int(code, 16) else "\ufffd"
        if escaped:
            return _ESCAPED.get(escaped, escaped)
        if other == '"' and not self._has_tags:
            self._is_quoted = not self._is_quoted
            return ""
        if other == "'" and not self._is_quoted:
            self.has_bare_apostrophe = True
        return _SPACE if other.isspace() and not self._is_quoted else other
