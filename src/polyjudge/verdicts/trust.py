"""Decide in which languages a judge is reliable, and what its trust card means for a verdict."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import (
    Figure,
    LanguageTrust,
    Reliability,
    TrustCard,
)

TRUST_VERDICTS: tuple[Reliability, ...] = get_args(Reliability)
NOT_MEASURED = "not measured"
LABELS = "labels"
"""What a verdict is based on where no perturbed texts were judged."""
RELIABLE_FROM = 0.6
"""Share of comparisons over all perturbations in which a reliable judge scores the clean text higher."""
MIN_COMPARISONS = 20
"""Pairs of a clean and a perturbed text that a verdict on a language needs."""
MIN_KINDS = 3
"""Perturbations that a verdict on a language needs: one that is easy to notice says nothing about others."""
NOTICED_FROM = 0.7
"""Share of texts in which a judge that notices a perturbation scores the clean version higher."""
MIN_LABELLED = 20
"""Labelled items that a verdict on a language needs where no perturbed texts were judged."""
MIN_TEXTS = 5
"""Texts that a verdict on one perturbation needs."""
TEXTS_FOR_A_VERDICT = 9
"""Texts in a language whose interval can be on one side of a threshold if all of them agree: what plans aim at."""


def reliability(figure: Figure, comparisons: int, kinds: int) -> Reliability:
    """Return whether a judge is reliable in a language, from its share of wins over all kinds of perturbations."""
    return verdict_of(figure, RELIABLE_FROM, enough=comparisons >= MIN_COMPARISONS and kinds >= MIN_KINDS)


def reliability_by_labels(ordering: Figure, labels: int, people: float | None = None) -> Reliability:
    """Return whether a judge is reliable in a language, from how often it puts the better of two items first.

    Labels on which people themselves order items no better (`people`) cannot show that a judge is unreliable.
    """
    verdict = verdict_of(ordering, RELIABLE_FROM, enough=labels >= MIN_LABELLED)
    is_noise = people is not None and people < RELIABLE_FROM
    return "not enough data" if verdict == "unreliable" and is_noise else verdict


def notices(figure: Figure, texts: int) -> Reliability:
    """Return whether a judge notices one kind of perturbation, from its share of wins."""
    return verdict_of(figure, NOTICED_FROM, enough=texts >= MIN_TEXTS)


def verdict_of(figure: Figure, threshold: float, *, enough: bool = True) -> Reliability:
    """Return the verdict: reliable or unreliable if the whole interval is on that side of the threshold."""
    if figure.low is None or figure.high is None or not enough:
        return "not enough data"
    if figure.low >= threshold:
        return "reliable"
    return "unreliable" if figure.high < threshold else "not enough data"


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """One judge with its card, or the reason why it has none."""

    judge: str
    card: TrustCard | None = None
    why: str = "it has no trust card yet"

    def of(self, tag: str, table: LanguageTable) -> LanguageTrust | None:
        """Return the measurement of a language; None if there is none."""
        if self.card is None:
            return None
        if tag in self.card.languages:
            return self.card.languages[tag]
        wanted = table.find(tag)
        return next((each for own, each in self.card.languages.items() if wanted and table.find(own) == wanted), None)

    def by_verdict(self, tags: Iterable[str], table: LanguageTable) -> dict[str, list[str]]:
        """Group languages by the verdict of the card, or as not measured."""
        found: dict[str, list[str]] = {}
        for tag in tags:
            found.setdefault(self.word(tag, table), []).append(tag)
        return found

    def word(self, tag: str, table: LanguageTable) -> str:
        """Return the verdict on a language, or `NOT_MEASURED`."""
        known = self.of(tag, table)
        return NOT_MEASURED if known is None else known.verdict

    @property
    def word_without_language(self) -> str:
        """The verdict on items that name no language: that on all languages of the card if it is the same."""
        found = {each.verdict for each in self.card.languages.values()} if self.card else set[Reliability]()
        return found.pop() if len(found) == 1 else NOT_MEASURED


def unmet_trust(trust: JudgeTrust, tags: Iterable[str], table: LanguageTable) -> dict[str, list[str]]:
    """Return the languages in which a judge is not calibrated, grouped by verdict; empty if it is reliable in all.

    Without a card no language is measured.
    """
    return {word: group for word, group in trust.by_verdict(tags, table).items() if word != "reliable"}


def untrusted(trust: Mapping[str, JudgeTrust], deciding: Sequence[str], tag: str, table: LanguageTable) -> str:
    """Return why a verdict is unreliable: of the judges that decided it, one is unreliable and none reliable."""
    known = {name: trust[name].of(tag, table) for name in deciding if name in trust}
    unreliable = {name: each for name, each in known.items() if each is not None and each.verdict == "unreliable"}
    if not unreliable or any(each is not None and each.verdict == "reliable" for each in known.values()):
        return ""
    return "; ".join(
        f"{name} is unreliable in this language ({_basis(each, ':')})" for name, each in unreliable.items()
    )


def trust_notes(
    trust: Mapping[str, JudgeTrust], judges: Sequence[str], tag: str, table: LanguageTable
) -> Iterator[str]:
    """Yield the card's verdict on a language for each judge."""
    for name in judges:
        if name not in trust or trust[name].card is None:
            continue
        known = trust[name].of(tag, table)
        if known is None:
            yield f"{name}: {NOT_MEASURED} in this language"
            continue
        missed = [kind for kind, each in known.perturbations.items() if each.verdict == "unreliable"]
        unnoticed = f"; does not notice {', '.join(kind.replace('_', ' ') for kind in missed)}" if missed else ""
        yield f"{name}: {known.verdict}, {_basis(known)}{unnoticed}"


def _basis(known: LanguageTrust, mark: str = "") -> str:
    """Return the figure that a verdict on a language is based on."""
    if known.verdict_from == LABELS:
        return f"better item first, by people's labels{mark} {figure_text(known.ordering or Figure())}"
    return f"clean above perturbed{mark} {figure_text(known.discrimination)}"


def figure_text(figure: Figure, digits: int = 2) -> str:
    """Return a figure with its interval as text; a dash if it is undefined."""
    if figure.value is None:
        return "–"
    value, low, high = (_number(each, digits) for each in (figure.value, figure.low, figure.high))
    return value if figure.low is None and figure.high is None else f"{value} [{low or '…'}, {high or '…'}]"


def _number(number: float | None, digits: int) -> str:
    return "" if number is None else f"{round(number, digits) + 0.0:.{digits}f}"  # avoids -0.00
