"""Corrected estimates beside those that they correct."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from polyjudge.languages import LanguageTable
from polyjudge.records import Effect, Figure

from .blocks import Block, Heading, Lines, Table
from .trust_card import effects_table, figure_text, language_title


class Estimates(Protocol):
    """What people would say, estimated in three ways."""

    @property
    def figure(self) -> Figure:
        """The judge's, corrected by labels."""
        ...

    @property
    def naive(self) -> Figure:
        """The judge's alone."""
        ...

    @property
    def labels_only(self) -> Figure:
        """The labels' alone."""
        ...

    @property
    def judged(self) -> int:
        """Items that the judge has seen."""
        ...

    @property
    def labelled(self) -> int:
        """Items that people have seen."""
        ...


def correction_blocks(
    overall: Estimates, by_language: Mapping[str, Estimates], what: str, table: LanguageTable
) -> Iterator[Block]:
    """Yield the estimate over all items, and each language's."""
    yield Heading(1, f"The {what} that people would give")
    rows = {"All": overall, **{language_title(tag, table): each for tag, each in by_language.items()}}
    body = tuple(
        (
            name,
            str(each.judged),
            str(each.labelled),
            figure_text(each.figure, 3),
            figure_text(each.naive, 3),
            figure_text(each.labels_only, 3),
        )
        for name, each in rows.items()
    )
    yield Table(("", "Judged", "Labels", "Corrected", "Judge alone", "Labels alone"), body, (1, 2, 3, 4, 5))
    yield Lines(
        (
            "The corrected number rests on all judged items and on the labels, which must be a random sample of them; "
            "with few labels a language leans on the others.",
        )
    )


def elsewhere_blocks(
    overall: Figure, languages: Mapping[str, Figure], labels: int, table: LanguageTable
) -> Iterator[Block]:
    """Yield pass rates corrected by how often the judge is right on other items."""
    yield Heading(1, f"The pass rate that people would give, from {labels} labels of other items")
    rows = ((language_title(tag, table), figure_text(each, 3)) for tag, each in languages.items())
    yield Table(("", "Corrected"), (("All", figure_text(overall, 3)), *rows), (1,))
    yield Lines(("It holds where the judge errs here as it does on the labelled items.",))


def effect_blocks(effects: Mapping[str, Effect]) -> Iterator[Block]:
    """Yield biases and stability, a row each."""
    yield Heading(1, "Biases and stability")
    yield effects_table(effects)
