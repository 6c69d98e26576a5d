"""Read the .strings and .stringsdict files of Apple's systems."""

import re
from collections.abc import Iterator

from polyjudge.errors import DataError
from polyjudge.records.messages import PlaceholderSyntax

from .content import line_at, text_of, well_formed
from .entries import Entry, Problems
from .plurals import CATEGORIES
from .xml_tree import Element, parse_xml

_SYNTAXES: tuple[PlaceholderSyntax, ...] = ("apple",)
_WORD = r"[A-Za-z0-9_.$/:-]++"
_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_BLANK = r"(?:\s++|//[^\n]*+|/\*.*?\*/)*"
"""White space and comments."""
_PAIR = re.compile(rf"({_QUOTED}|{_WORD}){_BLANK}(?:={_BLANK}({_QUOTED}|{_WORD}){_BLANK})?;", re.DOTALL)
_SPACE = re.compile(r"(\s*+)(//[^\n]*+|/\*.*?\*/)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:[Uu]([0-9A-Fa-f]{4})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_FORMAT_KEY = "NSStringLocalizedFormatKey"
_ONLY_VARIABLE = re.compile(r"%(?:\d\$)?#@\w+@")
_NO_COMMENT = "No comment provided by engineer."


def read_strings(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the texts of a .strings file, with the comments directly before them; it may be an XML property list."""
    text = text_of(content, path)
    if text.lstrip().startswith(("<?xml", "<!DOCTYPE", "<plist")):
        for key, value in _members(_root(content, path)):
            if value.name == "string":
                yield Entry(key=key, text=value.text(), line=value.line, comment=value.comment, syntaxes=_SYNTAXES)
        return
    if not text.strip():
        problems.add(1, "is empty")
    line, counted = 1, 0
    for key, value, comment, place in _pairs(text, path):
        line, counted = line + text.count("\n", counted, place), place
        yield Entry(key=key, text=value, line=line, comment=comment, syntaxes=_SYNTAXES)


def _pairs(text: str, path: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield key, text, comment and the place of the text."""
    place, comments = 0, list[str]()
    while True:
        space = _SPACE.match(text, place)
        assert space is not None, "the pattern matches the empty text"
        place = space.end()
        if space[1].count("\n") > 1:
            comments = []
        if space[2]:
            comments.append(space[2].strip("/* \n\t"))
        elif place >= len(text):
            return
        else:
            pair = _PAIR.match(text, place)
            if pair is None:
                reason = 'not a .strings file: expected "key" = "text"; with quotation marks and a semicolon'
                raise DataError(reason, path=path, line=line_at(text, place))
            comment = "\n".join(each for each in comments if each != _NO_COMMENT)
            given = 2 if pair[2] else 1
            yield _plain(pair[1]), _plain(pair[given]), comment, pair.start(given)
            place, comments = pair.end(), []


def _plain(written: str) -> str:
    """Return a text without quotation marks and escapes."""
    if written[0] != '"':
        return written
    return well_formed(_ESCAPE.sub(_unescaped, written[1:-1])) if "\\" in written else written[1:-1]


def _unescaped(match: re.Match[str]) -> str:
    code, octal, letter = match.groups()
    if letter is not None:
        return _ESCAPED.get(letter, letter)
    return chr((int(code, 16) if code else int(octal, 8)) or 0xFFFD)


def read_stringsdict(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the plural forms of a .stringsdict file; a key with several variables gives one for each."""
    if not content.strip():
        problems.add(1, "is empty")
        return
    for key, value in _members(_root(content, path)):
        members = list(_members(value))
        rules = [(name, rule) for name, rule in members if rule.name == "dict"]
        for name, rule in rules:
            own = key if len(rules) == 1 else f"{key}.{name}"
            for category, form in _members(rule):
                if category in CATEGORIES:
                    yield _form(own, form, category)
        for name, text in members:
            if name == _FORMAT_KEY and not _ONLY_VARIABLE.fullmatch(text.text()):
                yield _form(f"{key}.{name}", text, "")


def _form(key: str, element: Element, plural: str) -> Entry:
    text, comment = element.text(), element.comment
    return Entry(key=key, text=text, line=element.line, plural=plural, comment=comment, syntaxes=_SYNTAXES)


def _root(content: bytes, path: str) -> Element:
    """Return the dictionary of a property list."""
    root = parse_xml(content, path)
    found = root.first("dict") if root is not None and root.name == "plist" else None
    if found is None:
        raise DataError("not a property list with a dictionary", path=path, line=1)
    return found


def _members(element: Element) -> Iterator[tuple[str, Element]]:
    """Yield the keys of a dictionary with their values; a comment before the key is also that of the value."""
    key: Element | None = None
    for child in element.elements():
        if child.name == "key":
            key = child
        elif key is not None:
            child.comment = child.comment or key.comment
            yield key.text(), child
            key = None
