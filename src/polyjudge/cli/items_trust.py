"""Show how far a judge can be trusted in the languages of a run, and say why a run may not start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from polyjudge.languages.table import language_table
from polyjudge.text.display import harmless
from polyjudge.verdicts.trust import JudgeTrust, unmet_trust

_NAMED = 12


@dataclass(frozen=True, slots=True)
class ItemsTrust:
    """A judge and the languages of a run; the empty tag is for items without a language."""

    trust: JudgeTrust
    languages: Sequence[str]

    def unmet(self) -> str:
        """Return why the judge is not calibrated for all of the items; empty if it is."""
        if self.trust.card is None:
            return f"{self.trust.judge} is not calibrated: {self.trust.why}"
        missing = unmet_trust(self.trust, self.languages, language_table())
        return f"{self.trust.judge} is not calibrated for all languages: {_grouped(missing)}" if missing else ""

    def show(self, to: TextIO) -> None:
        """Print a line on how far the scores can be trusted."""
        known = _grouped(self.trust.by_verdict(self.languages, language_table()))
        print(f"trust:    {known if self.trust.card else f'not calibrated ({self.trust.why})'}", file=to)


def _grouped(languages: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{word} in {_named(tags)}" for word, tags in languages.items())


def _named(tags: Sequence[str]) -> str:
    shown = ", ".join(harmless(tag) or "items without a language" for tag in tags[:_NAMED])
    return shown if len(tags) <= _NAMED else f"{shown} and {len(tags) - _NAMED} more"
