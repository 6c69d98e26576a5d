"""Judge which of two candidates is better, in both orders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from polyjudge.concurrency.pool import in_order, together
from polyjudge.concurrency.sync import run_sync
from polyjudge.providers.base import Provider
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Outcome, PairwiseResult, Preference
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import RubricCriterion
from polyjudge.rubrics.prompts import FENCE_NOTE, fence, fill_template, judged_texts, render_context

from . import base
from .asking import Asker, Question, with_token_probabilities
from .base import Context, raise_failure, then_close
from .choice import LABEL_LIMIT, Labels, read_prompt

Pair = tuple[str, str] | tuple[str, str, Context]
PairwiseOutcome: TypeAlias = PairwiseResult | Failure

_QUALITY = RubricCriterion("quality", "Which one serves the reader better.")
_FORWARD: dict[str, Preference] = {"A": "first", "B": "second", "tie": "tie"}
_BACKWARD: dict[str, Preference] = {"A": "second", "B": "first", "tie": "tie"}


class PairwiseJudge:
    """Shows two candidates in both orders; different answers are a tie, and indicate position bias."""

    def __init__(
        self,
        criteria: Sequence[RubricCriterion] = (_QUALITY,),
        model: str | ModelName = "",
        system: str = "",
        cache_db: Path | str | None = None,
        provider: Provider | None = None,
        *,
        token_probabilities: bool = False,
    ) -> None:
        self.criteria = tuple(criteria)
        self._template = read_prompt("pairwise")
        self._labels = Labels({"A": 1.0, "B": 0.0, "tie": 0.5}, called="answer")
        self.asked_fingerprint = fingerprint([self._template, self.criteria], 16)
        self.fingerprint = with_token_probabilities(self.asked_fingerprint, token_probabilities)
        self.asker = Asker(
            model,
            system=system,
            cache_db=cache_db,
            provider=provider,
            limit=LABEL_LIMIT,
            token_probabilities=token_probabilities,
        )
        self.model = self.asker.given_model

    async def outcome(
        self, first: str, second: str, context: Context | None = None, *, repeat: int = 0
    ) -> PairwiseOutcome:
        """Return the preference, or the failure of the order that could not be judged."""
        orders = [(first, second), (second, first)]
        forward, backward = await together(self.ask(*order, context or {}, repeat=repeat) for order in orders)
        if isinstance(forward, Failure) or isinstance(backward, Failure):
            failed = next(each for each in (forward, backward) if isinstance(each, Failure))
            return replace(failed, members=(forward, backward))
        preference = _FORWARD[forward.verdict]
        consistent = preference == _BACKWARD[backward.verdict]
        return PairwiseResult(preference if consistent else "tie", consistent, forward, backward)

    async def compare(self, first: str, second: str, context: Context | None = None) -> PairwiseResult:
        """Return the preference; raise an error if either order has no verdict."""
        outcome = await self.outcome(first, second, context)
        if isinstance(outcome, Failure):
            raise_failure(outcome)
        return outcome

    async def compare_batch(self, pairs: Sequence[Pair], concurrency: int = 5) -> list[PairwiseOutcome]:
        """Compare pairs concurrently; return results and failures in the order of the pairs."""

        async def one(pair: Pair) -> PairwiseOutcome:
            first, second, *context = pair
            return await self.outcome(first, second, context[0] if context else None)

        return [outcome async for outcome in in_order(one, pairs, concurrency=concurrency)]

    def compare_sync(self, first: str, second: str, context: Context | None = None) -> PairwiseResult:
        """Call `compare` from synchronous code or a notebook."""
        return run_sync(then_close(self, self.compare(first, second, context)))

    def compare_batch_sync(self, pairs: Sequence[Pair], concurrency: int = 5) -> list[PairwiseOutcome]:
        """Call `compare_batch` from synchronous code or a notebook."""
        return run_sync(then_close(self, self.compare_batch(pairs, concurrency)))

    bind = base.bind
    aclose = base.aclose
    models = property(base.models)

    def build_prompt(self, first: str, second: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent with `first` shown first."""
        filled = fill_template(
            self._template,
            criteria="\n".join(f"- **{criterion.name}**: {criterion.description}" for criterion in self.criteria),
            context=render_context(context or {}),
            first=fence(first),
            second=fence(second),
        )
        return f"{FENCE_NOTE}\n\n{filled}"

    async def ask(self, shown_first: str, shown_second: str, context: Context, *, repeat: int = 0) -> Outcome:
        """Ask in one order; the verdict is A for the one shown first, B for the other, or tie."""
        prompt = self.build_prompt(shown_first, shown_second, context)
        question = Question(prompt, self._labels.schema(), "pairwise", self.asked_fingerprint, repeat)
        judged = (shown_first, *judged_texts(shown_second, context))
        return await self.asker.outcome(question, partial(self._labels.read, judged=judged))


@dataclass(frozen=True, slots=True)
class PositionBias:
    """The effect of the order in which two candidates are shown."""

    pairs: int
    """Pairs judged in both orders."""
    bias: float | None
    """Share of pairs with different answers in the two orders."""
    first_shown_wins: float | None
    """Share of answers other than ties that prefer the candidate shown first; 0.5 without bias."""


def position_bias(outcomes: Sequence[PairwiseOutcome]) -> PositionBias:
    """Return how consistent a judge was over many pairs; failures are left out."""
    results = [outcome for outcome in outcomes if isinstance(outcome, PairwiseResult)]
    answers = [answer.verdict for result in results for answer in (result.forward, result.backward)]
    picks = [answer for answer in answers if answer != "tie"]
    inconsistent = sum(not result.consistent for result in results)
    return PositionBias(
        pairs=len(results),
        bias=inconsistent / len(results) if results else None,
        first_shown_wins=picks.count("A") / len(picks) if picks else None,
    )
