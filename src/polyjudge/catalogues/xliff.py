"""Read XLIFF, versions 1.2 and 2."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.records.messages import Catalogue, CatalogueFile, Message, MessageState, PlaceholderSyntax

from .content import character
from .entries import Problems, is_exact, repeated
from .language_names import language_tag
from .plurals import integer_categories
from .xml_tree import Element, parse_xml

_UNTRANSLATED = ("new", "needs-translation", "initial")
_CODES = ("ph", "bpt", "ept", "it")
"""Elements of version 1.2 with what the original has at their place."""
_MARKERS = ("mrk", "sub")
_XCODE_PLURAL = re.compile(
    r"/?(?P<key>.+?:dict/.+?):dict/(?P<form>zero|one|two|few|many|other):dict/:string"
    r"|(?P<name>.+)\|==\|(?:[\w.]+\.)?plural\.(?P<case>zero|one|two|few|many|other)"
)
_NUMBERED = re.compile(r"(.+)\[(\d)\]")
_APPLE = (".strings", ".stringsdict", ".xcstrings", ".storyboard", ".xib", ".plist")
_LONGEST = re.compile(r"(?:\d+,)?(\d{1,6})")


class _Unit(NamedTuple):
    """What is common to the texts of a unit."""

    key: str
    plural: str
    comment: str
    max_length: int | None


def read_xliff(file: CatalogueFile, content: bytes) -> Catalogue:
    """Return the messages of the units, or of their segments; a unit without a target is not translated."""
    problems = Problems()
    root = parse_xml(content, file.path)
    if root is None:
        problems.add(1, "is empty")
        return Catalogue(file=file, messages=(), problems=problems.all())
    if root.name != "xliff":
        raise DataError(f"not an XLIFF file: the root element is <{root.name[:40]}>", path=file.path, line=root.line)
    given = [root, *root.elements("file")]
    language = _language(given, "target-language", "trgLang") or file.language
    source = _language(given, "source-language", "srcLang") or file.source_language
    file = replace(file, language=language, source_language=source)
    messages = list[Message]()
    for each in given[1:]:
        messages += _Reader(each, language, problems, is_one_of_several=len(given) > 2).messages(each)
    return Catalogue(file=file, messages=tuple(messages), problems=problems.all())


def _language(elements: Sequence[Element], *names: str) -> str:
    tags = (language_tag(each.attributes.get(name, "")) for each in elements for name in names)
    return next(filter(None, tags), "")


class _Reader:
    """Reads the units of a file in an XLIFF file."""

    def __init__(self, file: Element, language: str, problems: Problems, *, is_one_of_several: bool) -> None:
        original = file.attributes.get("original", "") or file.attributes.get("id", "")
        self._context = original if is_one_of_several else ""
        self._language = language
        self._problems = problems
        self._syntaxes: tuple[PlaceholderSyntax, ...] = ("apple",) if original.endswith(_APPLE) else ()
        self._seen: dict[tuple[str, str], int] = {}

    def messages(self, element: Element) -> Iterator[Message]:
        """Yield the messages of the units in an element, those in its groups too."""
        for each in element.elements("body", "group", "trans-unit", "unit"):
            if each.attributes.get("translate") == "no":
                continue
            if each.name == "trans-unit":
                yield from self._of_unit(each, self._unit(each))
            elif each.name == "unit":
                yield from self._of_segments(each, self._unit(each))
            else:
                yield from self.messages(each)

    def _unit(self, element: Element) -> _Unit:
        key, plural = element.attributes.get("id", ""), ""
        if match := _XCODE_PLURAL.fullmatch(key):
            key, plural = match["key"] or match["name"], match["form"] or match["case"]
            key = key.replace(":dict/", ".")
        elif match := _NUMBERED.fullmatch(key):
            categories = integer_categories(self._language)
            place = int(match[2])
            key, plural = match[1], categories[place] if place < len(categories) else match[2]
        notes = element.first("notes") or element
        comment = "\n".join(filter(None, (note.text().strip() for note in notes.elements("note"))))
        return _Unit(key, plural, comment, _max_length(element))

    def _of_unit(self, element: Element, unit: _Unit) -> Iterator[Message]:
        """Yield the message of a unit of version 1.2."""
        source, target = element.first("source"), element.first("target")
        if source is None:
            self._problems.add(element.line, "has a unit without a source")
            return
        state = target.attributes.get("state", "") if target else ""
        if not state and element.attributes.get("approved") == "no":
            state = "needs-review"
        yield self._message(unit, source, target, element.line, state, {})

    def _of_segments(self, element: Element, unit: _Unit) -> Iterator[Message]:
        """Yield the messages of the segments of a unit of version 2."""
        data = element.first("originalData")
        codes = {each.attributes.get("id", ""): each.text() for each in data.elements("data")} if data else {}
        segments = list(element.elements("segment"))
        for place, segment in enumerate(segments):
            source, target = segment.first("source"), segment.first("target")
            if source is None:
                self._problems.add(segment.line, "has a segment without a source")
                continue
            name = segment.attributes.get("id", "") or str(place)
            own = unit._replace(key=f"{unit.key}.{name}") if len(segments) > 1 else unit
            yield self._message(own, source, target, segment.line, segment.attributes.get("state", ""), codes)

    def _message(
        self, unit: _Unit, source: Element, target: Element | None, line: int, state: str, codes: Mapping[str, str]
    ) -> Message:
        text = _text(target, codes) if target else ""
        line = target.line if target else line
        if (unit.key, unit.plural) in self._seen:
            self._problems.add(line, repeated(unit.key, self._seen[unit.key, unit.plural]))
        self._seen[unit.key, unit.plural] = line
        return Message(
            line=line,
            key=unit.key,
            source=_text(source, codes),
            translation=text,
            context=self._context,
            comment=unit.comment,
            plural=unit.plural,
            is_exact=is_exact(unit.plural, self._language),
            max_length=unit.max_length,
            state=_state(state) if text else "untranslated",
            syntaxes=self._syntaxes,
        )


def _max_length(element: Element) -> int | None:
    """Return the limit in characters, without those in pixels or bytes."""
    given = element.attributes
    limit = given.get("slr:sizeRestriction", "")
    if given.get("size-unit", "char") == "char":
        limit = limit or given.get("maxwidth", "")
    match = _LONGEST.fullmatch(limit.strip())
    return int(match[1]) if match else None


def _state(state: str) -> MessageState:
    return "needs_review" if state in _UNTRANSLATED or state.startswith("needs-") else "translated"


def _text(element: Element, codes: Mapping[str, str]) -> str:
    """Return a text as the original has it; where the file does not say that, with the elements as tags."""
    parts = list[str]()
    for child in element.children:
        if isinstance(child, str):
            parts.append(child)
        elif child.name in _MARKERS:
            parts.append(_text(child, codes))
        elif child.name == "cp":
            parts.append(character(child.attributes.get("hex", ""), 16))
        elif child.name in _CODES and child.children:
            parts.append(_text(child, codes))
        else:
            parts += _code(child, codes)
    return "".join(parts)


def _code(element: Element, codes: Mapping[str, str]) -> Iterator[str]:
    """Yield the parts of an element that stands for code: what the original has, or the element as a tag."""
    given = element.attributes
    start = codes.get(given.get("dataRef", "") or given.get("dataRefStart", ""))
    end = codes.get(given.get("dataRefEnd", ""))
    names = [name for name in ("id", "startRef") if name in given]
    if not element.children:
        yield element.tag(*names, end="/>") if start is None else start + (end or "")
        return
    yield element.tag(*names) if start is None else start
    yield _text(element, codes)
    yield f"</{element.qualified}>" if end is None else end
