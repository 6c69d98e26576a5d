"""Judge items that are pairs: two systems' texts for one source, shown in both orders."""

from collections.abc import Mapping
from copy import copy
from typing import Any

from msgspec.structs import replace

from polyjudge.records.outcomes import OTHER_CANDIDATE, PAIR_FIELDS, Failure, JudgeResult, Order, Outcome, Preference

from . import base
from .asking import ProviderSource
from .base import ModelAddresses
from .jury import joint_probabilities, joint_provenance
from .pairwise import PairwiseJudge

_SCORES: dict[Preference, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}
_IN_ORDER: dict[Order, dict[str, Preference]] = {
    "given": {"A": "first", "B": "second", "tie": "tie"},
    "swapped": {"A": "second", "B": "first", "tie": "tie"},
}


class PairJudge:
    """Compares an item's candidate with the text `otherCandidate` of its context.

    The score is 1 if the candidate is better, 0 if the other one is, and 0.5 for a tie or for different answers in the
    two orders. `members` contains both answers, whose verdicts are about the given order.
    """

    judge = base.judge

    def __init__(self, judge: PairwiseJudge) -> None:
        self._judge = judge
        self.fingerprint = judge.fingerprint
        self.asked_fingerprint = judge.asked_fingerprint

    @property
    def models(self) -> ModelAddresses:
        """The judge's model with its address."""
        return self._judge.models

    def bind(self, source: ProviderSource) -> "PairJudge":
        """Return this judge with its provider opened by a run."""
        bound = copy(self)
        bound._judge = self._judge.bind(source)
        return bound

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the preference as a result, or the failure of an order that could not be judged."""
        given = context or {}
        shown = {name: value for name, value in given.items() if name not in PAIR_FIELDS}
        found = await self._judge.outcome(candidate, str(given[OTHER_CANDIDATE]), shown, repeat=repeat)
        if isinstance(found, Failure):
            orders: tuple[Order, Order] = ("given", "swapped")
            return replace(found, members=tuple(map(_in_order, found.members, orders)))
        members = _in_order(found.forward, "given"), _in_order(found.backward, "swapped")
        return JudgeResult(
            score=_SCORES[found.preference],
            reason=found.forward.reason if found.consistent else "The answer depends on the order of the texts.",
            model=found.forward.model,
            duration_ms=max(found.forward.duration_ms, found.backward.duration_ms),
            cached=found.forward.cached and found.backward.cached,
            verdict=found.preference,
            provenance=joint_provenance(members),
            members=members,
            **joint_probabilities(members),
        )

    async def aclose(self) -> None:
        """Close the provider's connections."""
        await self._judge.aclose()


def _in_order(answer: Outcome, order: Order) -> Outcome:
    """Return the answer of one order with a verdict about the given order."""
    if isinstance(answer, Failure):
        return answer
    preferences = _IN_ORDER[order]
    preference = preferences[answer.verdict]
    changed = replace(answer, score=_SCORES[preference], verdict=preference, order=order)
    if not answer.probabilities:
        return changed
    shares: dict[Preference, float] = {preferences[verdict]: share for verdict, share in answer.probabilities.items()}
    expected = sum(_SCORES[each] * share for each, share in shares.items())
    return replace(changed, probabilities={**shares}, expected_score=expected)
