"""What is known of a judge in the languages of some items: shown beside its scores, and a gate where asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from polyjudge.languages.table import language_table
from polyjudge.text.display import harmless
from polyjudge.verdicts.trust import JudgeTrust

_NAMED = 12


@dataclass(frozen=True, slots=True)
class ItemsTrust:
    """A judge, and the languages that it is asked about; the empty tag stands for items that name none."""

    trust: JudgeTrust
    languages: Sequence[str]

    def unmet(self) -> str:
        """Return why the judge may not be relied on for all of the items; nothing where it may."""
        if self.trust.card is None:
            return f"{self.trust.judge} is not calibrated: {self.trust.why}"
        missing = self._by_verdict()
        missing.pop("sensitive", None)
        if not missing:
            return ""
        told = "; ".join(f"{verdict} in {_named(tags)}" for verdict, tags in missing.items())
        return f"{self.trust.judge} is not known to tell good from spoiled: {told}"

    def show(self, to: TextIO) -> None:
        """Print a line on how far the scores can be trusted."""
        if self.trust.card is None:
            print(f"trust:    not calibrated ({self.trust.why})", file=to)
            return
        told = "; ".join(f"{verdict} in {_named(tags)}" for verdict, tags in self._by_verdict().items())
        print(f"trust:    {told}", file=to)

    def _by_verdict(self) -> dict[str, list[str]]:
        return self.trust.by_verdict(self.languages, language_table())


def _named(tags: Sequence[str]) -> str:
    shown = ", ".join(harmless(tag) or "items without a language" for tag in tags[:_NAMED])
    return shown if len(tags) <= _NAMED else f"{shown} and {len(tags) - _NAMED} more"
