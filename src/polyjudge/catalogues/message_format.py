"""Read ICU MessageFormat: its arguments, and the texts that it gives for each plural form and selection."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

HAS_CHOICE = re.compile(r"\{\s*[\w.-]+\s*,\s*(?:plural|select|selectordinal)\s*,")
_ARGUMENT = re.compile(r"\s*([\w.-]+)\s*(?:,\s*(\w+)\s*)?")
_SELECTOR = re.compile(r"\s*([^\s{}]+)\s*\{")
_OFFSET = re.compile(r"\s*offset\s*:\s*(\d+)")
_BRACE = re.compile(r"[{}]")
_BLANK = re.compile(r"\s*")
_CHOICES = ("plural", "select", "selectordinal")
_DEEPEST = 20
_MOST_BRANCHES = 100


class MessageFormatError(ValueError):
    """A text is no valid message; `place` is where it fails."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class Argument(NamedTuple):
    """A place where a value is put in."""

    name: str
    text: str
    start: int


class Choice(NamedTuple):
    """A choice among messages by the value of an argument."""

    name: str
    kind: str
    """`plural`, `select` or `selectordinal`."""
    cases: "Sequence[tuple[str, Sequence[Node]]]"
    start: int


Node = str | Argument | Choice
"""A part of a message; a text is as it is written, with its apostrophes."""


class Branch(NamedTuple):
    """One of the texts that a message can give."""

    cases: tuple[tuple[str, str, str], ...]
    """For each choice its argument, its kind and its selector."""
    text: str
    """With its arguments, but without choices."""


def parse_message(text: str, *, quotes: bool = True) -> Sequence[Node]:
    """Return the parts of a message; raise `MessageFormatError` if it is invalid.

    An apostrophe before a brace starts a quotation, except without `quotes`, as in the messages of Flutter.
    """
    parser = _Parser(text, quotes=quotes)
    nodes = parser.nodes(0, "")
    if parser.place < len(text):
        raise MessageFormatError("a closing brace is too many", parser.place)
    return nodes


def arguments(nodes: Sequence[Node]) -> Iterator[Argument]:
    """Yield the arguments of a message, those in its choices too, and those that choose."""
    for node in nodes:
        if isinstance(node, Argument):
            yield node
        elif isinstance(node, Choice):
            yield Argument(node.name, f"{{{node.name}, {node.kind}, …}}", node.start)
            for _, inner in node.cases:
                yield from arguments(inner)


def branches(nodes: Sequence[Node]) -> Sequence[Branch] | None:
    """Return the texts for all combinations of cases; None if they are too many."""
    found = [Branch((), "")]
    for node in nodes:
        if isinstance(node, Choice):
            cases = list[Branch]()
            for selector, inner in node.cases:
                below = branches(inner)
                if below is None or len(cases) > _MOST_BRANCHES:
                    return None
                cases += (Branch(((node.name, node.kind, selector), *each.cases), each.text) for each in below)
        else:
            cases = [Branch((), node if isinstance(node, str) else node.text)]
        found = [joined for first in found for second in cases if (joined := _joined(first, second)) is not None]
        if len(found) > _MOST_BRANCHES:
            return None
    return found


def _joined(first: Branch, second: Branch) -> Branch | None:
    """Return the two texts after each other, unless they belong to different cases of one argument."""
    chosen = {(name, kind): selector for name, kind, selector in first.cases}
    if any(chosen.get((name, kind), selector) != selector for name, kind, selector in second.cases):
        return None
    added = tuple(case for case in second.cases if case[:2] not in chosen)
    return Branch((*first.cases, *added), first.text + second.text)


class _Parser:
    def __init__(self, text: str, *, quotes: bool) -> None:
        self._text = text
        self.place: int = 0
        self._depth = 0
        self._end = re.compile(r"[{}#']" if quotes else r"[{}#]")

    def nodes(self, start: int, number: str) -> Sequence[Node]:
        """Read up to the closing brace; `number` is the argument that `#` stands for."""
        text, found, begin = self._text, list[Node](), start
        self.place = start
        while (match := self._end.search(text, self.place)) is not None and match[0] != "}":
            self.place = match.start()
            if match[0] == "'":
                self.place = self._after_quotation(match.start(), in_plural=bool(number))
                continue
            if match[0] == "#" and not number:
                self.place += 1
                continue
            found.append(text[begin : match.start()])
            if match[0] == "#":
                found.append(Argument(number, f"{{{number}}}", match.start()))
                self.place += 1
            else:
                found.append(self._argument(number))
            begin = self.place
        self.place = match.start() if match else len(text)
        found.append(text[begin : self.place])
        return [node for node in found if node != ""]

    def _after_quotation(self, start: int, *, in_plural: bool) -> int:
        """Return where a quotation ends; an apostrophe that starts none is one itself."""
        following = self._text[start + 1 : start + 2]
        if following not in ("{", "}", "|") and not (following == "#" and in_plural):
            return start + (2 if following == "'" else 1)
        end = start + 1
        while True:
            end = self._text.find("'", end)
            if end < 0:
                return len(self._text)
            if self._text[end + 1 : end + 2] != "'":
                return end + 1
            end += 2

    def _argument(self, number: str) -> Node:
        start: int = self.place
        match = _ARGUMENT.match(self._text, start + 1)
        if match is None:
            raise MessageFormatError("a brace is not followed by the name of an argument", start)
        name, kind = match[1], match[2] or ""
        if kind in _CHOICES:
            return self._choice(name, kind, start, match.end(), number)
        self.place = self._closing(start, match.end())
        return Argument(name, self._text[start : self.place], start)

    def _closing(self, start: int, place: int) -> int:
        """Return the place after the brace that closes a simple argument, whose style may have braces."""
        if self._text[place : place + 1] not in (",", "}"):
            raise MessageFormatError("an argument is not closed by a brace", start)
        depth = 1
        for match in _BRACE.finditer(self._text, place):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return match.end()
        raise MessageFormatError("an argument is not closed by a brace", start)

    def _choice(self, name: str, kind: str, start: int, place: int, number: str) -> Choice:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise MessageFormatError("choices are nested too deeply", start)
        if self._text[place : place + 1] != ",":
            raise MessageFormatError(f"the choice by {name!r} has no cases", start)
        place += 1
        offset = _OFFSET.match(self._text, place)
        place = offset.end() if offset else place
        cases: dict[str, Sequence[Node]] = {}
        inner = number if kind == "select" else name
        while (match := _SELECTOR.match(self._text, place)) is not None:
            cases[match[1]] = self.nodes(match.end(), inner)
            if self._text[self.place : self.place + 1] != "}":
                raise MessageFormatError(f"the case {match[1]!r} of {name!r} is not closed by a brace", start)
            place = self.place + 1
        blank = _BLANK.match(self._text, place)
        place = blank.end() if blank else place
        if self._text[place : place + 1] != "}":
            raise MessageFormatError(f"the choice by {name!r} is not closed by a brace", place)
        if "other" not in cases:
            raise MessageFormatError(f"the choice by {name!r} has no case 'other'", start)
        self.place = place + 1
        self._depth -= 1
        return Choice(name, kind, list(cases.items()), start)
