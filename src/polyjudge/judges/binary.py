"""Choose one of two verdicts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from polyjudge.errors import ConfigError
from polyjudge.providers import Provider
from polyjudge.records import Outcome

from . import scoring
from .choice import ChoiceJudge


class BinaryJudge:
    """Scores 1.0 for the first verdict and 0.0 for the second; anything else is unjudged."""

    score = scoring.score
    score_batch = scoring.score_batch
    score_sync = scoring.score_sync
    score_batch_sync = scoring.score_batch_sync

    def __init__(
        self,
        verdicts: Sequence[str],
        model: str = "opus",
        system: str = "",
        cache_db: Path | str | None = None,
        provider: Provider | None = None,
    ) -> None:
        if isinstance(verdicts, str) or len(verdicts) != 2:
            count = 1 if isinstance(verdicts, str) else len(verdicts)
            raise ConfigError(f"BinaryJudge requires exactly 2 verdicts, got {count}")
        self.verdicts = list(verdicts)
        self.model = model
        self._choice = ChoiceJudge(self.verdicts, model, system, cache_db, provider)

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the result for one candidate, or a failure with its reason."""
        return await self._choice.outcome(candidate, context, repeat=repeat)

    async def aclose(self) -> None:
        """Close the provider's connections; the next question opens new ones."""
        await self._choice.aclose()

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        return self._choice.build_prompt(candidate, context)

    _build_prompt = build_prompt  # the founding document's name
