"""Decide how far a judge can be trusted in a language, from its trust card."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import (
    Figure,
    LanguageTrust,
    TrustCard,
)


@dataclass(frozen=True, slots=True)
class JudgeTrust:
    """One judge and its card, or why no card counts."""

    judge: str
    card: TrustCard | None = None
    why: str = "no card was made of it yet"

    def of(self, tag: str, table: LanguageTable) -> LanguageTrust | None:
        """Return what is known of the judge in a language; None where it was not measured."""
        if self.card is None:
            return None
        if tag in self.card.languages:
            return self.card.languages[tag]
        wanted = table.find(tag)
        return next((each for own, each in self.card.languages.items() if wanted and table.find(own) == wanted), None)

    def by_verdict(self, tags: Iterable[str], table: LanguageTable) -> dict[str, list[str]]:
        """Return the languages under what the judge is in them: sensitive, insensitive, not enough data, unmeasured."""
        found: dict[str, list[str]] = {}
        for tag in tags:
            known = self.of(tag, table)
            found.setdefault("unmeasured" if known is None else known.verdict, []).append(tag)
        return found


def untrusted(trust: Mapping[str, JudgeTrust], deciding: Sequence[str], tag: str, table: LanguageTable) -> str:
    """Return why a verdict cannot be relied on: a judge behind it is blind in the language, and none behind it sees."""
    known = {name: trust[name].of(tag, table) for name in deciding if name in trust}
    blind = {name: each for name, each in known.items() if each is not None and each.verdict == "insensitive"}
    if not blind or any(each is not None and each.verdict == "sensitive" for each in known.values()):
        return ""
    return "; ".join(
        f"{name} cannot tell good from spoiled here (clean above spoiled {figure_text(each.discrimination)})"
        for name, each in blind.items()
    )


def measured_by(trust: Mapping[str, JudgeTrust], judges: Sequence[str], tag: str, table: LanguageTable) -> bool:
    """Say whether one of the judges of a language is known to tell good from spoiled in it."""
    known = [trust[name].of(tag, table) for name in judges if name in trust]
    return any(each is not None and each.verdict == "sensitive" for each in known)


def trust_notes(
    trust: Mapping[str, JudgeTrust], judges: Sequence[str], tag: str, table: LanguageTable
) -> Iterator[str]:
    """Yield what is known of each judge of a language, in words."""
    for name in judges:
        if name not in trust or trust[name].card is None:
            continue
        known = trust[name].of(tag, table)
        if known is None:
            yield f"{name}: not measured in this language"
            continue
        blind = [kind for kind, each in known.perturbations.items() if each.verdict == "insensitive"]
        unseen = f"; does not notice {', '.join(kind.replace('_', ' ') for kind in blind)}" if blind else ""
        yield f"{name}: {known.verdict}, clean above spoiled {figure_text(known.discrimination)}{unseen}"


def figure_text(figure: Figure, digits: int = 2) -> str:
    """Return a figure with its interval; a dash where it is not defined."""
    if figure.value is None:
        return "–"
    value, low, high = (_number(each, digits) for each in (figure.value, figure.low, figure.high))
    return value if figure.low is None and figure.high is None else f"{value} [{low or '…'}, {high or '…'}]"


def _number(number: float | None, digits: int) -> str:
    return "" if number is None else f"{round(number, digits) + 0.0:.{digits}f}"  # no minus before a zero
