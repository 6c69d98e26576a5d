"""When a result is good enough, and what its parts come to."""

from collections.abc import Mapping

from polyjudge.records import JudgeResult, Rubric


def passes(rubric: Rubric, result: JudgeResult) -> bool | None:
    """Say whether a result passes; None where the rubric has no pass rule, or the result lacks what the rule needs."""
    rule = rubric.passing
    if rule is None:
        return None
    names = [criterion.name for criterion in rubric.criteria]
    if any(name not in result.subscores for name in names) or any(name not in result.flags for name in rule.flags):
        return None
    scores = [result.subscores[name] for name in names] + ([result.score] if rubric.overall else [])
    return all(score >= rule.minimum for score in scores) and all(result.flags[name] for name in rule.flags)


def weighted_mean(rubric: Rubric, subscores: Mapping[str, float]) -> float | None:
    """Return the mean of the subscores by the criteria's weights; None unless every criterion has one."""
    if any(criterion.name not in subscores for criterion in rubric.criteria):
        return None
    total = sum(criterion.weight for criterion in rubric.criteria)
    return sum(criterion.weight * subscores[criterion.name] for criterion in rubric.criteria) / total
