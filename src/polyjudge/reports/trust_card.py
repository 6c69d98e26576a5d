"""Show a trust card: what a judge notices, what it misses, and what moves it that should not."""

from collections import Counter
from collections.abc import Iterator, Mapping

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Effect, Figure, LanguageTrust, MonotonicityResult, TrustCard
from polyjudge.store.trust_cards import card_lines
from polyjudge.verdicts.trust import TRUST_VERDICTS, JudgeTrust, figure_text

from .blocks import Block, Heading, Lines, Table

_MOST_NAMED = 6


def card_blocks(card: TrustCard, table: LanguageTable) -> Iterator[Block]:
    """Yield a card, the summary first."""
    yield Heading(1, f"Trust card of {judge_title(card)}")
    yield Lines(tuple(card_summary(card, table)))
    if card.perturbations:
        yield Heading(2, "What it notices")
        yield _perturbations(card)
    if card.controls:
        yield Heading(2, "What should not move it")
        yield _controls(card)
    if card.effects:
        yield Heading(2, "Biases and stability")
        yield effects_table(card.effects)
    if card.agreement:
        yield Heading(2, "Agreement with people")
        yield agreement_table({"all": (card.labels, card.agreement)})
    if card.languages:
        yield Heading(2, "By language")
        yield _languages(card, table)


def card_json(card: TrustCard) -> Iterator[str]:
    """Yield a card as it stands on disk."""
    yield from card_lines(card)


def judge_title(card: TrustCard) -> str:
    """Return the judge's name with its rubric."""
    return f"{card.judge.provider}/{card.judge.model}, rubric {card.judge.rubric}"


def card_summary(card: TrustCard, table: LanguageTable) -> Iterator[str]:
    """Yield what a reader must know first."""
    # A language that is known by labels alone was not measured.
    measured = [trust.verdict for trust in card.languages.values() if trust.comparisons or not trust.labels]
    counts = Counter(measured)
    if measured:
        told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in TRUST_VERDICTS if counts[verdict])
        yield f"Measured in {len(measured)} {'language' if len(measured) == 1 else 'languages'}: {told}."
    notices = [kind for kind, each in card.perturbations.items() if each.verdict == "reliable"]
    blind = [kind for kind, each in card.perturbations.items() if each.verdict == "unreliable"]
    if notices:
        yield f"It notices: {_named(notices, most=len(notices))}."
    if blind:
        yield f"It does not notice: {_named(blind, most=len(blind))}."
    dull = [language_title(tag, table) for tag, trust in card.languages.items() if trust.verdict == "unreliable"]
    if dull:
        yield f"It is unreliable in: {', '.join(dull)}."
    yield f"Last measured {card.updated_at[:10] or 'at an unknown time'}, by polyjudge {card.polyjudge_version or '?'}."


def unnoticed_kinds(trust: LanguageTrust) -> list[str]:
    """Return the perturbations that a judge does not notice in a language."""
    return [kind for kind, each in trust.perturbations.items() if each.verdict == "unreliable"]


def agreement_table(rows: Mapping[str, tuple[int, Mapping[str, Figure]]]) -> Table:
    """Return measures of agreement, a column a language."""
    named = dict.fromkeys(name for _, figures in rows.values() for name in figures if figures[name].value is not None)
    body = [("labels", *(str(count) for count, _ in rows.values()))]
    for name in named:
        digits = 0 if name == "pairs" else 3
        cells = (figure_text(figures.get(name, Figure()), digits) for _, figures in rows.values())
        body.append((name.replace("_", " "), *cells))
    return Table(("Measure", *rows), tuple(body), tuple(range(1, len(rows) + 1)))


def _perturbations(card: TrustCard) -> Table:
    numbers = ("Texts", "Clean above perturbed", "AUC", "Drop", "Rank correlation", "Rises", "Noticed from")
    by_size = sorted(card.perturbations.values(), key=lambda each: -(each.noticed.value or 0))
    rows = tuple(_perturbation_row(each) for each in by_size)
    return Table(("Perturbation", *numbers, "Verdict", "Languages"), rows, tuple(range(1, 8)))


def _perturbation_row(result: MonotonicityResult) -> tuple[str, ...]:
    noticed, counts = result.noticed_from, result.languages
    return (
        _plain(result.perturbation),
        str(result.texts),
        figure_text(result.noticed),
        figure_text(result.auc),
        figure_text(result.drop),
        figure_text(result.rank_correlation),
        figure_text(result.violations),
        figure_text(noticed) if noticed.value is not None or not result.texts else "never",
        result.verdict,
        ", ".join(f"{counts[verdict]} {verdict}" for verdict in TRUST_VERDICTS if counts.get(verdict)),
    )


def _controls(card: TrustCard) -> Table:
    rows = [
        (_plain(each.control), str(each.texts), figure_text(each.false_alarms), figure_text(each.shift))
        for each in card.controls.values()
    ]
    return Table(("Changed", "Texts", "False alarms", "Shift"), tuple(rows), (1, 2, 3))


def effects_table(effects: Mapping[str, Effect]) -> Table:
    """Return biases and stability, a row each."""
    rows = [
        (_plain(each.name), each.about, figure_text(each.size), each.unit, str(each.count), each.sentence)
        for each in effects.values()
    ]
    return Table(("Bias", "Compared", "Effect", "Unit", "Comparisons", "In words"), tuple(rows), (2, 4))


def _languages(card: TrustCard, table: LanguageTable) -> Table:
    numbers = ("Clean above perturbed", "Texts", "Comparisons", "False alarms")
    rows = tuple(_language_row(language_title(tag, table), trust) for tag, trust in card.languages.items())
    return Table(("Language", "Verdict", *numbers, "Notices", "Does not notice"), rows, (2, 3, 4, 5))


def _language_row(name: str, trust: LanguageTrust) -> tuple[str, ...]:
    notices = [kind for kind, each in trust.perturbations.items() if each.verdict == "reliable"]
    return (
        name,
        trust.verdict,
        figure_text(trust.discrimination),
        str(trust.texts),
        str(trust.comparisons),
        figure_text(trust.false_alarms),
        _named(notices),
        _named(unnoticed_kinds(trust)),
    )


def _named(kinds: list[str], *, most: int = _MOST_NAMED) -> str:
    more = f" and {len(kinds) - most} more" if len(kinds) > most else ""
    return ", ".join(map(_plain, kinds[:most])) + more


def _plain(kind: str) -> str:
    return kind.replace("_", " ")


def language_title(tag: str, table: LanguageTable) -> str:
    """Return a language by its name and tag."""
    known = table.find(tag)
    return f"{known.name} ({tag})" if known and known.tag == tag else tag or "no language given"


def trust_lines(trust: JudgeTrust, table: LanguageTable) -> Iterator[str]:
    """Yield how far a judge can be trusted, in words."""
    if trust.card is None:
        yield f"not calibrated ({trust.why})"
    else:
        yield from card_summary(trust.card, table)
