"""Read XML with the lines of its elements; of what it declares, only short texts are used."""

import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from polyjudge.errors import DataError

from .content import text_of

_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""")
_DECLARATION_BYTES = 300
_DEEPEST = 100
_PREDEFINED = ("lt", "gt", "amp", "quot", "apos")
_MOST_ENTITIES = 100
_LONGEST_ENTITY = 1_000
_MOST_EXPANDED = 1_000_000
"""Characters that references to the entities of a file may become in all."""
_ATTRIBUTE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;"})


class Element:
    """An element with its children in their order: elements and texts."""

    __slots__ = ("attributes", "children", "comment", "line", "name", "qualified")

    def __init__(self, qualified: str, attributes: dict[str, str], line: int, comment: str) -> None:
        self.qualified = qualified
        """Its name with the prefix of its namespace."""
        self.name = qualified.rpartition(":")[2]
        self.attributes = attributes
        self.line = line
        self.comment = comment
        """The comments directly before it."""
        self.children: list[Element | str] = []

    def elements(self, *names: str) -> "Iterator[Element]":
        """Yield the children that are elements, with one of the names if any are given."""
        for child in self.children:
            if isinstance(child, Element) and (not names or child.name in names):
                yield child

    def first(self, name: str) -> "Element | None":
        """Return the first child of a name."""
        return next(self.elements(name), None)

    def text(self) -> str:
        """Return all its text, without markup."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def text_of(self, name: str) -> str:
        """Return the text of the first child of a name."""
        found = self.first(name)
        return found.text().strip() if found else ""

    def tag(self, *attributes: str, end: str = ">") -> str:
        """Return its start tag, with the named attributes or with all."""
        names = attributes or tuple(self.attributes)
        kept = "".join(
            f' {name}="{self.attributes[name].translate(_ATTRIBUTE)}"' for name in names if name in self.attributes
        )
        return f"<{self.qualified}{kept}{end}"


def parse_xml(content: bytes, path: str) -> Element | None:
    """Return the root of an XML file, or None if it is empty; raise DataError with the line if it is not usable."""
    declared = _DECLARED.search(content[:_DECLARATION_BYTES])
    text = text_of(content, path, declared=declared[1].decode("ascii") if declared else "")
    return _Builder(path).parse(text) if text.strip() else None


class _Builder:
    def __init__(self, path: str) -> None:
        self._path = path
        self._open: list[Element] = []
        self._root: Element | None = None
        self._comments: list[str] = []
        self._entities: dict[str, str] = {}
        self._text = ""
        # What is declared in the file is read as UTF-8, into which the text was converted.
        self._parser = parser = expat.ParserCreate("UTF-8")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.specified_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.CommentHandler = self._comment
        parser.EntityDeclHandler = self._entity
        parser.EndDoctypeDeclHandler = self._refuse_bomb
        parser.SkippedEntityHandler = self._reference

    def parse(self, text: str) -> Element:
        self._text = text
        try:
            self._parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error))
            raise DataError(f"not XML: {reason}", path=self._path, line=error.lineno) from None
        assert self._root is not None, "expat accepts no document without a root"
        return self._root

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _DEEPEST:
            raise self._error(f"is nested more than {_DEEPEST} levels deep")
        element = Element(name, attributes, self._parser.CurrentLineNumber, "\n".join(self._comments))
        self._comments = []
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()
        self._comments = []

    def _characters(self, text: str) -> None:
        self._open[-1].children.append(text)
        if self._comments and (not text.isspace() or text.count("\n") > 1):
            self._comments = []  # it is a heading, or about something else

    def _comment(self, text: str) -> None:
        self._comments.append("\n".join(line.strip() for line in text.strip().split("\n")))

    def _reference(self, name: str, _: bool) -> None:
        raise self._error(f"uses the entity {name!r}, which it does not declare")

    def _entity(self, name: str, is_parameter: bool, value: str | None, *_: Any) -> None:
        """Keep the entity of a short text, such as the name of a program; nothing else may be declared."""
        if name in _PREDEFINED and not is_parameter:
            return
        is_text = not is_parameter and value is not None and not re.search("[&<%]", value)
        if not is_text or len(value or "") > _LONGEST_ENTITY:
            reason = f"must be a text of at most {_LONGEST_ENTITY:,} characters, without references and tags"
            raise self._error(f"declares the entity {name[:40]!r}, which {reason}")
        self._entities[name] = value or ""
        if len(self._entities) > _MOST_ENTITIES:
            raise self._error(f"declares more than {_MOST_ENTITIES} entities")

    def _refuse_bomb(self) -> None:
        size = sum(self._text.count(f"&{name};") * len(value) for name, value in self._entities.items())
        if size > _MOST_EXPANDED:
            raise self._error(f"has references to entities that become more than {_MOST_EXPANDED:,} characters")

    def _error(self, message: str) -> DataError:
        return DataError(message, path=self._path, line=self._parser.CurrentLineNumber)
