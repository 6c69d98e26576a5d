"""Render trust cards, agreement with people, biases, and corrected estimates."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import (
    Effect,
    Figure,
    LanguageTrust,
    Replacement,
    ReplacementVerdict,
    TrustCard,
)
from polyjudge.statistics.resampling import MeanError
from polyjudge.store.trust_cards import card_lines
from polyjudge.verdicts.trust import MIN_LABELLED, TEXTS_FOR_A_VERDICT, TRUST_VERDICTS, JudgeTrust, figure_text

from .blocks import Block, Heading, Lines, Table
from .recorded import recorded_blocks

_MOST_NAMED = 6


def card_blocks(card: TrustCard, table: LanguageTable) -> Iterator[Block]:
    """Yield a card, with the summary first."""
    yield Heading(1, f"Trust card of {judge_title(card)}")
    yield Lines(tuple(card_summary(card, table)))
    sections: Mapping[str, tuple[object, Callable[[TrustCard], Table]]] = {
        "Perturbations": (card.perturbations, _perturbations),
        "Controls": (card.controls, _controls),
        "Planted errors found": (card.planted, _planted),
        "Biases and stability": (card.effects, _effects),
        "Agreement with people": (card.agreement, _agreement),
        "Error spans that people mark": (card.spans, _spans),
    }
    for title, (found, draw) in sections.items():
        if found:
            yield Heading(2, title)
            yield draw(card)
    if card.replacement is not None:
        yield Heading(2, "May it replace a person?")
        yield _replacement(card, card.replacement, table)
        yield from _reasons(card.replacement)
    if card.recorded is not None:
        yield from recorded_blocks(card, card.recorded, table)
    if (card.recorded is None and card.languages) or any(trust.comparisons for trust in card.languages.values()):
        yield Heading(2, "By language")
        yield _languages(card, table)


def card_json(card: TrustCard) -> Iterator[str]:
    """Render a card in the format of its file."""
    yield from card_lines(card)


def judge_title(card: TrustCard) -> str:
    """Return the judge's name with its rubric."""
    return f"{card.judge.provider}/{card.judge.model}, rubric {card.judge.rubric}"


def card_summary(card: TrustCard, table: LanguageTable) -> Iterator[str]:
    """Yield the summary of a card."""
    # A language that has only labels was not measured.
    measured = [
        trust
        for trust in card.languages.values()
        if trust.comparisons or trust.verdict_from or not (trust.labels or trust.span_texts or trust.replacement)
    ]
    if measured:
        yield f"Calibration: {_verdict_counts(measured)}."
    noticed = [kind for kind, each in card.perturbations.items() if each.verdict == "reliable"]
    missed = [kind for kind, each in card.perturbations.items() if each.verdict == "unreliable"]
    if noticed:
        yield f"Notices: {_named(noticed, most=len(noticed))}."
    if missed:
        yield f"Does not notice: {_named(missed, most=len(missed))}."
    unreliable = [language_title(tag, table) for tag, trust in card.languages.items() if trust.verdict == "unreliable"]
    if unreliable:
        yield f"Unreliable in: {', '.join(unreliable)}."
    if card.replacement is not None:
        yield _may_replace(card.replacement)
    yield f"Last measured {card.updated_at[:10] or 'at an unknown time'}, by polyjudge {card.polyjudge_version or '?'}."


def _verdict_counts(measured: Sequence[LanguageTrust]) -> str:
    """Return the number of languages by verdict, and what more data is needed."""
    counts = Counter(trust.verdict for trust in measured)
    text = ", ".join(f"{verdict} in {counts[verdict]}" for verdict in TRUST_VERDICTS if counts[verdict])
    short = [trust for trust in measured if trust.verdict == "not enough data"]
    needed = "more texts"
    if all(trust.verdict_from for trust in short):
        too_few = all(trust.labels < MIN_LABELLED for trust in short)
        needed = f"at least {MIN_LABELLED} labelled items" if too_few else "more labels"
    elif not any(trust.texts for trust in short) and any(trust.verdicts is not None for trust in short):
        needed = "labels or perturbed texts"
    elif all(trust.texts < TEXTS_FOR_A_VERDICT for trust in short):
        needed = f"{TEXTS_FOR_A_VERDICT} texts"
    languages = "language" if len(measured) == 1 else "languages"
    return f"{text} of {len(measured)} {languages}{f' (needs {needed} per language)' if short else ''}"


def unnoticed_kinds(trust: LanguageTrust) -> list[str]:
    """Return the perturbations that a judge does not notice in a language."""
    return [kind for kind, each in trust.perturbations.items() if each.verdict == "unreliable"]


def agreement_table(rows: Mapping[str, tuple[int, Mapping[str, Figure]]]) -> Table:
    """Return the measures of agreement, a column per language."""
    named = dict.fromkeys(name for _, figures in rows.values() for name in figures if figures[name].value is not None)
    body = [("labels", *(str(count) for count, _ in rows.values()))]
    for name in named:
        digits = 0 if name == "pairs" else 3
        cells = (figure_text(figures.get(name, Figure()), digits) for _, figures in rows.values())
        body.append((name.replace("_", " "), *cells))
    return Table(("Measure", *rows), tuple(body), tuple(range(1, len(rows) + 1)))


_MAY_REPLACE: Mapping[ReplacementVerdict, str] = {
    "passes": "May replace a person",
    "fails": "May not replace a person",
    "not enough data": "Not enough data to say whether it may replace a person",
}


def _may_replace(found: Replacement) -> str:
    rate = f": winning rate {found.winning_rate:.2f} of {found.people} people" if found.winning_rate is not None else ""
    return f"{_MAY_REPLACE[found.verdict]}{rate}, epsilon {rate_text(found.epsilon)}."


def replacement_table(found: Mapping[str, Replacement]) -> Table:
    """Return whether a judge could take the place of a person, a row for each language."""
    rows = tuple(
        (
            title,
            each.verdict,
            rate_text(each.winning_rate),
            figure_text(each.advantage),
            rate_text(each.epsilon),
            str(each.people),
            str(each.items),
        )
        for title, each in found.items()
    )
    header = ("Language", "Replaces a person", "Winning rate", "Advantage probability", "Epsilon", "People", "Items")
    return Table(header, rows, (2, 3, 4, 5, 6))


def rate_text(rate: float | None) -> str:
    """Return a rate with two decimal places; a dash without one."""
    return "–" if rate is None else f"{rate:.2f}"


def _replacement(card: TrustCard, overall: Replacement, table: LanguageTable) -> Table:
    found = {tag: trust.replacement for tag, trust in card.languages.items() if trust.replacement is not None}
    return replacement_table({"All": overall, **{language_title(tag, table): each for tag, each in found.items()}})


def _reasons(found: Replacement) -> Iterator[Lines]:
    if found.why:
        yield Lines(tuple(f"{why[:1].upper()}{why[1:]}." for why in found.why))


def _perturbations(card: TrustCard) -> Table:
    numbers = ("Texts", "Clean above perturbed", "AUC", "Drop", "Rank correlation", "Rises", "Noticed from")
    rows = [
        (
            _plain(each.perturbation),
            str(each.texts),
            figure_text(each.noticed),
            figure_text(each.auc),
            figure_text(each.drop),
            figure_text(each.rank_correlation),
            figure_text(each.violations),
            figure_text(each.noticed_from) if each.noticed_from.value is not None or not each.texts else "never",
            each.verdict,
            ", ".join(f"{each.languages[word]} {word}" for word in TRUST_VERDICTS if each.languages.get(word)),
        )
        for each in sorted(card.perturbations.values(), key=lambda each: -(each.noticed.value or 0))
    ]
    return Table(("Perturbation", *numbers, "Verdict", "Languages"), tuple(rows), tuple(range(1, 8)))


def _controls(card: TrustCard) -> Table:
    rows = [
        (_plain(each.control), str(each.texts), figure_text(each.false_alarms), figure_text(each.shift))
        for each in card.controls.values()
    ]
    return Table(("Changed", "Texts", "False alarms", "Shift"), tuple(rows), (1, 2, 3))


def _planted(card: TrustCard) -> Table:
    rows = [
        (
            _plain(each.perturbation) if each.perturbation else "nothing (false alarms)",
            str(each.texts),
            str(each.errors),
            figure_text(each.found),
            figure_text(each.characters),
            figure_text(each.right),
            figure_text(each.false_alarms),
        )
        for each in card.planted.values()
    ]
    header = ("Planted", "Texts", "Errors", "Found", "Characters found", "Marked rightly", "False alarms")
    return Table(header, tuple(rows), tuple(range(1, len(header))))


def _effects(card: TrustCard) -> Table:
    return effects_table(card.effects)


def effects_table(effects: Mapping[str, Effect]) -> Table:
    """Return the table of biases and stability."""
    rows = [
        (_plain(each.name), each.about, figure_text(each.size), each.unit, str(each.count), each.sentence)
        for each in effects.values()
    ]
    return Table(("Bias", "Compared", "Effect", "Unit", "Comparisons", "Result"), tuple(rows), (2, 4))


def _languages(card: TrustCard, table: LanguageTable) -> Table:
    numbers = ("Clean above perturbed", "Texts", "Comparisons", "False alarms")
    rows = [
        (
            language_title(tag, table),
            trust.verdict,
            figure_text(trust.discrimination),
            str(trust.texts),
            str(trust.comparisons),
            figure_text(trust.false_alarms),
            _named([kind for kind, each in trust.perturbations.items() if each.verdict == "reliable"]),
            _named(unnoticed_kinds(trust)),
        )
        for tag, trust in card.languages.items()
    ]
    return Table(("Language", "Verdict", *numbers, "Notices", "Does not notice"), tuple(rows), (2, 3, 4, 5))


def _named(kinds: list[str], *, most: int = _MOST_NAMED) -> str:
    more = f" and {len(kinds) - most} more" if len(kinds) > most else ""
    return ", ".join(map(_plain, kinds[:most])) + more


def _plain(kind: str) -> str:
    return kind.replace("_", " ")


def language_title(tag: str, table: LanguageTable) -> str:
    """Return the name and tag of a language."""
    known = table.find(tag)
    return f"{known.name} ({tag})" if known and known.tag == tag else tag or "no language given"


def trust_lines(trust: JudgeTrust, table: LanguageTable) -> Iterator[str]:
    """Yield the trust in a judge, in words."""
    if trust.card is None:
        yield f"not calibrated ({trust.why})"
    else:
        yield from card_summary(trust.card, table)


class Estimates(Protocol):
    """Three estimates of the scores of people."""

    @property
    def figure(self) -> Figure:
        """The estimate of the judge, corrected by labels."""
        ...

    @property
    def naive(self) -> Figure:
        """The estimate of the judge alone."""
        ...

    @property
    def labels_only(self) -> Figure:
        """The estimate of the labels alone."""
        ...

    @property
    def judged(self) -> int:
        """Judged items."""
        ...

    @property
    def labelled(self) -> int:
        """Labelled items."""
        ...


def correction_blocks(
    overall: Estimates,
    by_language: Mapping[str, Estimates],
    what: str,
    table: LanguageTable,
    separate: MeanError | None,
) -> Iterator[Block]:
    """Yield the estimates over all items and by language."""
    yield Heading(1, f"Estimated {what} of people")
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
            f"The corrected figure uses all judged items and the labels, {_drawn(separate)}; in a language with "
            "few labels, those of the other languages are used too.",
            *(_separate(separate) if separate else ()),
        )
    )


def _drawn(separate: MeanError | None) -> str:
    """Say how the labelled items were drawn."""
    if separate is not None:
        return "which must be a random sample of them"
    return "each weighted by the inverse of the probability that its item had of being labelled"


def _separate(found: MeanError) -> Iterator[str]:
    """Yield the estimate that keeps the labelled and the other items apart."""
    if found.mean is not None and found.standard_error is not None:
        figure = figure_text(Figure(found.mean, found.low, found.high), 3)
        what = "With weight 1, from the labelled and the other items apart (prediction-powered)"
        yield f"{what}: {figure}, standard error {found.standard_error:.4f}."


def elsewhere_blocks(
    overall: Figure, languages: Mapping[str, Figure], labels: int, table: LanguageTable
) -> Iterator[Block]:
    """Yield pass rates corrected by the judge's error rates on other items."""
    yield Heading(1, f"Estimated pass rate of people, from {labels} labels of other items")
    rows = ((language_title(tag, table), figure_text(each, 3)) for tag, each in languages.items())
    yield Table(("", "Corrected"), (("All", figure_text(overall, 3)), *rows), (1,))
    yield Lines(("This assumes that the judge errs here as often as on the labelled items.",))


def _agreement(card: TrustCard) -> Table:
    return agreement_table({"all": (card.labels, card.agreement)})


def _spans(card: TrustCard) -> Table:
    spans = {tag: (trust.span_texts or 0, trust.spans) for tag, trust in card.languages.items() if trust.spans}
    return agreement_table({"all": (card.span_texts or 0, card.spans), **spans})


def effect_blocks(effects: Mapping[str, Effect]) -> Iterator[Block]:
    """Yield biases and stability, a row per effect."""
    yield Heading(1, "Biases and stability")
    yield effects_table(effects)
