"""Decide whether a judged item passes by its rubric."""

from collections.abc import Mapping

from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.rubrics import Rubric
from polyjudge.records.translation import LanguageScore, PromptScore

PASSING_SCORE = 3.0


def passes(rubric: Rubric, result: JudgeResult) -> bool | None:
    """Say whether a result passes; None where the rubric has no pass rule, or where it hangs on what is not known."""
    rule = rubric.passing
    if rule is None:
        return None
    scores = [result.subscores.get(criterion.name) for criterion in rubric.criteria]
    scores += [result.score] if rubric.overall else []
    flags = [result.flags.get(name) for name in rule.flags]
    if any(score is not None and score < rule.minimum for score in scores) or False in flags:
        return False
    return None if None in scores or None in flags else True


def weighted_mean(rubric: Rubric, subscores: Mapping[str, float]) -> float | None:
    """Return the mean of the subscores by the criteria's weights; None unless every criterion has one."""
    total = weights = 0.0
    for criterion in rubric.criteria:
        score = subscores.get(criterion.name)
        if score is None:
            return None
        total += criterion.weight * score
        weights += criterion.weight
    return total / weights


def scores_pass(score: LanguageScore | PromptScore) -> bool | None:
    """Say whether the scores of a translation pass: all that are there at least 3, in the right language.

    None where there are no scores; what a judge cannot tell is left aside.
    """
    found = [value for value in (score.script_score, score.grammar_score, score.coherence_score) if value is not None]
    if score.error or (not found and score.is_correct_language is None):
        return None
    return all(value >= PASSING_SCORE for value in found) and score.is_correct_language is not False
