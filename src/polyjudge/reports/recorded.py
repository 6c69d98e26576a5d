"""Report what recorded verdicts say of their judge, as a part of its trust card."""

from collections.abc import Iterator, Mapping

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Figure, LanguageTrust, RecordedVerdicts, TrustCard
from polyjudge.verdicts.trust import LABELS, figure_text

from .blocks import Block, Heading, Lines, Table
from .wording import counted

_COUNTS = ("items", "changed", "missing")


def recorded_blocks(card: TrustCard, found: RecordedVerdicts, table: LanguageTable) -> Iterator[Block]:
    """Yield the coverage, the means, both orders, the people, the languages, and what was not measured."""
    yield Heading(2, "Recorded verdicts")
    yield Lines(tuple(_coverage(found)))
    if found.means:
        yield _figures("Mean", found.means)
    if found.orders:
        yield Heading(2, "Verdicts in both orders")
        yield _figures("Measure", found.orders)
    yield from _people(card, found)
    languages = {tag: trust for tag, trust in card.languages.items() if trust.verdicts is not None}
    if languages:
        yield Heading(2, "Languages of the recorded verdicts")
        yield _languages(languages, table)
    missing = still_missing(card, found)
    if missing:
        yield Heading(2, "Not measured")
        yield Lines(tuple(f"{_plain(name)}: {why}." for name, why in missing.items()))


def still_missing(card: TrustCard, found: RecordedVerdicts) -> dict[str, str]:
    """Return what recorded results do not show, without what was measured otherwise."""
    measured: set[str] = {name for name, effect in card.effects.items() if effect.size.value is not None}
    measured |= {"discrimination"} if card.perturbations else set()
    measured |= {"agreement with people"} if card.agreement else set()
    measured |= {"error spans"} if card.spans else set()
    measured |= {"replacement of a person"} if card.replacement is not None else set()
    if measured.issuperset(("formatting", "injection", "criteria_order")):
        measured.add("formatting, injection, criteria order")
    return {name: why for name, why in found.not_measured.items() if name not in measured}


def _coverage(found: RecordedVerdicts) -> Iterator[str]:
    sources = f" ({', '.join(found.sources)})" if found.sources else ""
    yield f"{counted(found.items, 'item')}{sources}; share with a verdict: {figure_text(found.verdicts, 3)}."
    if found.failures:
        kinds = ", ".join(f"{count:,} {_plain(kind)}" for kind, count in found.failures.items())
        yield f"Without a verdict: {kinds}."
    if found.ordering.value is not None:
        yield f"Better item first, by people's labels: {figure_text(found.ordering)}; 0.5 is chance."


def _figures(title: str, figures: Mapping[str, Figure]) -> Table:
    rows = tuple((_plain(name), figure_text(each, 0 if name in _COUNTS else 4)) for name, each in figures.items())
    return Table((title, "Value"), rows, (1,))


def _people(card: TrustCard, found: RecordedVerdicts) -> Iterator[Block]:
    """Yield how far people agree with one another, beside the judge's agreement with them."""
    if not found.people:
        return
    yield Heading(2, "People")
    rows = tuple(
        (_plain(name), figure_text(each, 3), figure_text(card.agreement.get(name, Figure()), 3))
        for name, each in found.ceiling.items()
    )
    yield Table(("Measure", "One person with the others", "Judge with people"), rows, (1, 2))
    names = tuple(dict.fromkeys(name for figures in found.people.values() for name in figures))
    pairs = tuple(
        (pair, *(figure_text(figures.get(name, Figure()), 3) for name in names))
        for pair, figures in found.people.items()
    )
    yield Table(("Compared", *map(_plain, names)), pairs, tuple(range(1, len(names) + 1)))


def _languages(languages: Mapping[str, LanguageTrust], table: LanguageTable) -> Table:
    rows = tuple(
        (
            _title(tag, table),
            trust.verdict,
            "" if not trust.verdict_from and not trust.comparisons else trust.verdict_from or "perturbed texts",
            figure_text(trust.ordering or Figure()),
            figure_text(Figure(trust.people_ordering)),
            str(trust.labels),
            figure_text(trust.verdicts or Figure()),
        )
        for tag, trust in languages.items()
    )
    header = (
        "Language",
        "Verdict",
        "Verdict from",
        "Better item first",
        "One person",
        LABELS.capitalize(),
        "With a verdict",
    )
    return Table(header, rows, (3, 4, 5, 6))


def _title(tag: str, table: LanguageTable) -> str:
    known = table.find(tag)
    return f"{known.name} ({tag})" if known and known.tag == tag else tag


def _plain(name: str) -> str:
    return name.replace("_", " ")
