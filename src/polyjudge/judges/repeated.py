"""Ask the same judge several times: how much of a score is chance."""

from collections.abc import Mapping
from typing import Any

from polyjudge.engine import together
from polyjudge.errors import ConfigError
from polyjudge.records import Outcome

from . import scoring
from .jury import combined
from .scoring import Judge, close_judge


class RepeatedJudge:
    """Asks each question so many times; the mean is the score, and `members` holds every answer."""

    score = scoring.score
    score_batch = scoring.score_batch
    score_sync = scoring.score_sync
    score_batch_sync = scoring.score_batch_sync

    def __init__(self, judge: Judge, times: int) -> None:
        if times < 1:
            raise ConfigError(f"a question is asked at least once, not {times} times")
        self._judge = judge
        self.rubric: object = getattr(judge, "rubric", None)
        self._times = times

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the mean of all answers that hold a verdict; most must."""
        numbers = range(repeat * self._times, (repeat + 1) * self._times)
        answers = await together(self._judge.outcome(candidate, context, repeat=number) for number in numbers)
        return combined(tuple(answers), quorum=self._times // 2 + 1)

    async def aclose(self) -> None:
        """Close what the judge has open."""
        await close_judge(self._judge)
