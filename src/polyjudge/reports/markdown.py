"""A report in Markdown, as GitHub and CommonMark with tables show it."""

import re
from collections.abc import Iterable, Iterator

from .blocks import Block, Heading, Lines, Table, shown

_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&#]")
_BEGINNING = re.compile(r"^(\d*)([-+=.)])")


def markdown(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the pieces of a report; text from models is escaped, so that it stays text."""
    for block in blocks:
        if isinstance(block, Heading):
            yield f"{'#' * block.level} {escape(block.text)}\n\n"
        elif isinstance(block, Lines):
            yield "  \n".join(map(_line, block.lines)) + "\n\n"
        else:
            yield "".join(_table(block)) + "\n"


def _table(table: Table) -> Iterator[str]:
    yield _row(tuple(map(escape, table.header)))
    yield _row(tuple("---:" if place in table.numbers else "---" for place in range(len(table.header))))
    for row in table.rows:
        yield _row(tuple(map(escape, row)))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _line(text: str) -> str:
    """Return a line that begins no list and underlines nothing."""
    return _BEGINNING.sub(r"\1\\\2", escape(text))


def escape(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\g<0>", shown(text))
