"""Read XML with the lines of its elements, without ever expanding what it declares."""

import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from polyjudge.errors import DataError

from .content import text_of

_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""")
_DECLARATION_BYTES = 300
_DEEPEST = 100
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
        # What is declared in the file is read as UTF-8, into which the text was converted.
        self._parser = parser = expat.ParserCreate("UTF-8")
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.CommentHandler = self._comment
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._reference

    def parse(self, text: str) -> Element:
        try:
            self._parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error))
            raise DataError(f"is not XML: {reason}", path=self._path, line=error.lineno) from None
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

    def _entity(self, name: str, *_: Any) -> None:
        raise self._error(f"declares the entity {name!r}; files with entities of their own are not read")

    def _error(self, message: str) -> DataError:
        return DataError(message, path=self._path, line=self._parser.CurrentLineNumber)
