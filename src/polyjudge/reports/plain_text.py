"""A report in plain text, with columns aligned by how wide each script is shown."""

import unicodedata
from collections.abc import Iterable, Iterator

from .blocks import Block, Heading, Lines, Table, shown

_UNDERLINES = {1: "=", 2: "-"}


def plain_text(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the pieces of a report."""
    yield from map(_drawn, blocks)


def _drawn(block: Block) -> str:
    if isinstance(block, Heading):
        line = _UNDERLINES.get(block.level, "")
        text = shown(block.text)
        return f"{text}\n{line * _width(text)}{chr(10) if line else ''}"
    if isinstance(block, Lines):
        return "\n".join(map(shown, block.lines)) + "\n\n"
    return "".join(_table(block)) + "\n"


def _table(table: Table) -> Iterator[str]:
    rows = [tuple(map(shown, row)) for row in (table.header, *table.rows)]
    widths = [max(_width(row[place]) for row in rows) for place in range(len(table.header))]
    for row in (rows[0], tuple("-" * width for width in widths), *rows[1:]):
        cells = [_aligned(cell, widths[place], place in table.numbers) for place, cell in enumerate(row)]
        yield "  ".join(cells).rstrip() + "\n"


def _aligned(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in cell):
        cell = f"\u2068{cell}\u2069"  # by itself, so that it does not turn the columns after it around
    return space + cell if right else cell + space


def _width(text: str) -> int:
    from rich.cells import cell_len  # here, because rich takes a while to load

    return cell_len(text)
