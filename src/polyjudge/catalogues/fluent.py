"""Read Fluent files: messages, terms and attributes, and the texts that a selection gives."""

import re
from collections.abc import Iterator, Sequence

from .content import text_of, well_formed
from .entries import Entry, Problems
from .message_format import Argument, Choice, MessageFormatError, Node
from .plurals import CATEGORIES

_ENTRY = re.compile(r"(-?[A-Za-z][\w-]*) *= *(.*)", re.ASCII)
_ATTRIBUTE = re.compile(r" +\.([A-Za-z][\w-]*) *= *(.*)", re.ASCII)
_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_LITERAL = re.compile(r'\{\s*"((?:[^"\\\n{}]|\\.)*+)"\s*\}')
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{6})|(.))")
_EXPRESSION = re.compile(
    rf"\{{\s*({_STRING}|-?\d+(?:\.\d+)?|\$[A-Za-z][\w-]*|-?[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)?)"
    rf"\s*(\((?:[^()\"{{}}]|{_STRING})*+\))?\s*(->|\}})",
    re.ASCII,
)
_VARIANT = re.compile(r"\s*(\*?)\[\s*([A-Za-z][\w-]*|-?\d+(?:\.\d+)?)\s*\]", re.ASCII)
_END = re.compile(r"[{}]|\n\s*(?:\*?\[)")
_BRACE = re.compile(r"[{}]")
_BLANK = re.compile(r"\s*")
_INDENT = re.compile(r"\n +")
_QUOTED = re.compile(_STRING)
_DEEPEST = 10


def read_fluent(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the messages, terms and attributes of a file; what is not valid is a problem, as Fluent ignores it."""
    text = text_of(content, path)
    if not text.strip():
        problems.add(1, "is empty")
    reader = _Reader(problems)
    for number, line in enumerate(text.split("\n"), start=1):
        yield from reader.take(line, number)
    yield from reader.finish()


class _Reader:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._group = ""
        self._comments: list[str] = []
        self._comment = ""
        """What developers say about the message that is read."""
        self._name = self._key = ""
        """The message, and the message or attribute whose text is read; empty where none is."""
        self._line = self._depth = 0
        self._parts: list[str] = []
        self._indents: list[int] = []
        """The indentation of the further lines of the text, without those inside braces."""

    def take(self, line: str, number: int) -> Iterator[Entry]:
        """Read a line; yield the entry that it ends."""
        is_inside = bool(self._key) and (line[:1] in " }" or (self._depth > 0 and line[0] in "[*"))
        attribute = _ATTRIBUTE.fullmatch(line) if is_inside and self._depth <= 0 else None
        if is_inside and attribute is None:
            self._add(line)
            return
        yield from self.finish()
        if attribute:
            self._start(f"{self._name}.{attribute[1]}", attribute[2], number)
        elif entry := _ENTRY.fullmatch(line):
            self._name = entry[1]
            self._comment = "\n".join(filter(None, (self._group, *self._comments)))
            self._comments = []
            self._start(entry[1], entry[2], number)
        else:
            self._other(line, number)

    def _start(self, key: str, text: str, number: int) -> None:
        self._key, self._line, self._depth = key, number, 0
        self._parts, self._indents = [], []
        self._add(text, is_first=True)

    def _add(self, line: str, *, is_first: bool = False) -> None:
        if line.strip() and self._depth <= 0 and not is_first:
            self._indents.append(len(line) - len(line.lstrip(" ")))
        self._parts.append(line if line.strip() else "")
        plain = _QUOTED.sub("", line) if '"' in line else line
        self._depth += plain.count("{") - plain.count("}")

    def _other(self, line: str, number: int) -> None:
        """Read a line outside messages: a comment, or what is not valid."""
        if line.startswith("##"):
            self._group = "" if line.startswith("###") else line.strip("# ")
        elif line.startswith("#"):
            self._comments.append(line[1:].strip())
            return
        elif line.strip():
            self._problems.add(number, f"has a line that is no part of a Fluent message: {line.strip()[:40]!r}")
        self._comments = []

    def finish(self) -> Iterator[Entry]:
        """Yield the entry that is read, if it has a text."""
        key, self._key = self._key, ""
        if not key:
            return
        indent = min(self._indents, default=0)
        first, *others = self._parts
        lines = [first, *(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in others)]
        text = "\n".join(lines).strip("\n ")
        if text:
            text = _LITERAL.sub(lambda match: well_formed(_ESCAPE.sub(_unescaped, match[1])), text)
            yield Entry(key=key, text=text, line=self._line, comment=self._comment, syntaxes=("fluent",))


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if not code:
        return match[3]
    number = int(code, 16)
    return chr(number) if 0 < number <= 0x10FFFF else "\ufffd"


def parse_fluent(text: str) -> Sequence[Node]:
    """Return the parts of a text with its selections; raise `MessageFormatError` if it is invalid.

    The default of a selection is its case `other`, unless it is a plural category.
    """
    parser = _Parser(text)
    nodes = parser.nodes(0, depth=0)
    if parser.place < len(text):
        raise MessageFormatError("a closing brace is too many", parser.place)
    return nodes


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self.place: int = 0

    def nodes(self, start: int, *, depth: int) -> Sequence[Node]:
        """Read a text up to a closing brace, or up to the next case inside a selection."""
        found = list[Node]()
        self.place = start
        while True:
            match = (_END if depth else _BRACE).search(self._text, self.place)
            end = match.start() if match else len(self._text)
            if end > self.place:
                found.append(self._text[self.place : end])
            self.place = end
            if match is None or match[0] != "{":
                return _stripped(found) if depth else found
            found.append(self._placeable(depth))

    def _placeable(self, depth: int) -> Node:
        start = self.place
        match = _EXPRESSION.match(self._text, start)
        if match is None:
            raise MessageFormatError("a brace is not followed by a valid expression and a closing brace", start)
        if match[3] == "}":
            self.place = match.end()
            return Argument(match[1], match[0], start)
        return self._selection(match[1] + (match[2] or ""), start, match.end(), depth + 1)

    def _selection(self, name: str, start: int, place: int, depth: int) -> Choice:
        if depth > _DEEPEST:
            raise MessageFormatError("selections are nested too deeply", start)
        cases: dict[str, Sequence[Node]] = {}
        default = ""
        while (match := _VARIANT.match(self._text, place)) is not None:
            default = match[2] if match[1] else default
            cases[match[2]] = self.nodes(match.end(), depth=depth)
            place = self.place
        blank = _BLANK.match(self._text, place)
        place = blank.end() if blank else place
        if not default or self._text[place : place + 1] != "}":
            reason = "is not closed by a brace" if default else "has no case marked by *"
            raise MessageFormatError(f"a selection {reason}", start)
        self.place = place + 1
        is_plural = any((case in CATEGORIES and case != "other") or case[0] in "-0123456789" for case in cases)
        named = {_selector(case, default, is_plural=is_plural): nodes for case, nodes in cases.items()}
        return Choice(name, "plural" if is_plural else "select", list(named.items()), start)


def _selector(case: str, default: str, *, is_plural: bool) -> str:
    if is_plural:
        return f"={case}" if case[0] in "-0123456789" else case
    return "other" if case == default else case


def _stripped(nodes: list[Node]) -> list[Node]:
    """Return the parts of a case without the white space around it, and without indentation."""
    found = [_INDENT.sub("\n", node) if isinstance(node, str) else node for node in nodes]
    if found and isinstance(found[0], str):
        found[0] = found[0].lstrip()
    if found and isinstance(found[-1], str):
        found[-1] = found[-1].rstrip()
    return found
