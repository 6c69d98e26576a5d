"""What a report is made of, whatever its subject and format: headings, lines and tables, in order."""

from dataclasses import dataclass

from polyjudge.text import one_line

_LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of text, each by itself."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; what stands in its cells may come from models."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    """Columns that stand right."""


Block = Heading | Lines | Table


def shown(text: str) -> str:
    """Return any text of a block as it may be shown: on one line and harmless, wherever it comes from."""
    return one_line(text, _LONGEST_LINE)
