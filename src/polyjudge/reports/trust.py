"""How far the judges of a report can be trusted, language by language."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files import FoundCard, find_card, identity_of, read_card
from polyjudge.files import expiry as expiry_of
from polyjudge.languages import LanguageTable
from polyjudge.records import JudgeIdentity, LanguageScore, LanguageTrust, TrustCard

from .trust_card import card_summary, figure_text


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

    def lines(self, table: LanguageTable) -> Iterator[str]:
        """Yield how far the judge can be trusted, in words."""
        if self.card is None:
            yield f"not calibrated ({self.why})"
        else:
            yield from card_summary(self.card, table)


def trust_in(judge: JudgeIdentity | None, cards: Sequence[Path] = ()) -> JudgeTrust:
    """Return the trust in a judge by the cards named, or else by its own in the folder of cards."""
    if judge is None:
        return JudgeTrust("unknown judge", None, "its scores do not say who gave them")
    title, found = f"{judge.provider}/{judge.model}", FoundCard(None, None, "")
    for path in cards:
        card = read_card(path)
        expired = expiry_of(card.judge, judge)
        if not expired:
            return JudgeTrust(title, card, "")
        found = replace(found, why=f"its card has expired: {expired}")
    if not cards:
        try:
            found = find_card(judge)
        except DataError as error:
            found = replace(found, why=str(error))
    return JudgeTrust(title, found.card, found.why)


def identity_in(scores: Iterable[LanguageScore]) -> JudgeIdentity | None:
    """Return who gave scores, by the first of them that says so."""
    origins = (prompt.provenance for score in scores for prompt in score.prompts)
    return next((identity_of(origin) for origin in origins if origin is not None), None)


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
