"""How sure a judge is of its answer: from the probabilities of its tokens, else from its answers to repeats."""

from collections.abc import Sequence
from statistics import fmean

from polyjudge.records.cascades import AgreementRule
from polyjudge.records.outcomes import Failure, JudgeResult, Outcome


def confidence_of(outcome: Outcome, rule: AgreementRule) -> float | None:
    """Return the probability of an answer that agrees with the judge's own; 0 if nothing shows it, None for a failure.

    Of repeats, or the two orders of a pair, without token probabilities it is the share that agrees; one without a
    verdict does not.
    """
    if isinstance(outcome, Failure):
        return None
    if outcome.probabilities:
        return min(_share(outcome, rule), 1.0)
    if len(outcome.members) > 1:
        return fmean(_agrees(member, outcome, rule) for member in outcome.members)
    if outcome.expected_score is not None:  # a mean of criteria: the nearer to the score, the surer
        return 1 / (1 + abs(outcome.expected_score - outcome.score))
    return 0.0


def is_same(one: float, other: float, rule: AgreementRule) -> bool:
    """Return whether two scores of a judge agree."""
    if rule.same == "tolerance":
        return abs(one - other) <= (rule.tolerance or 0.0) + 1e-9
    if rule.same == "pass" and rule.pass_from is not None:
        return (one >= rule.pass_from) == (other >= rule.pass_from)
    return one == other


def _share(outcome: JudgeResult, rule: AgreementRule) -> float:
    """Return the probability of the tokens that agree with the answer."""
    if outcome.verdict in outcome.probabilities:
        return outcome.probabilities[outcome.verdict]
    values = _numbers(tuple(outcome.probabilities))
    if values is None:
        return 0.0  # the order of a pair decided: no token stands for a tie
    pairs = zip(values, outcome.probabilities.values(), strict=True)
    return sum(share for value, share in pairs if is_same(value, outcome.score, rule))


def _numbers(names: Sequence[str]) -> list[float] | None:
    try:
        return [float(name) for name in names]
    except ValueError:
        return None


def _agrees(member: Outcome, outcome: JudgeResult, rule: AgreementRule) -> bool:
    if isinstance(member, Failure):
        return False
    if rule.same == "pass" and rule.pass_from is None and outcome.passed is not None:
        return member.passed == outcome.passed
    if outcome.verdict or member.verdict:
        return member.verdict == outcome.verdict
    return is_same(member.score, outcome.score, rule)
