"""Decide the status of one judged item or row."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

from msgspec.structs import replace

from polyjudge.records.findings import Finding
from polyjudge.records.outcomes import Failure, JudgeResult, Outcome, RunOutcome
from polyjudge.records.rubrics import Rubric

Status = Literal["PASS", "CHECKED", "FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", "SKIPPED"]
STATUSES: tuple[Status, ...] = ("PASS", "CHECKED", "FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", "SKIPPED")
OFFLINE = "offline"
"""Provider and name of the judge that only runs the checks; it does not judge grammar and meaning."""


def meets(scores: Iterable[float | None], flags: Iterable[bool | None], minimum: float) -> bool | None:
    """Apply the pass rule: every score at least `minimum`, every flag true.

    One score or flag that fails is enough for False. None: nothing fails, but a score or flag is missing.
    """
    scores, flags = list(scores), list(flags)
    if any(score is not None and score < minimum for score in scores) or False in flags:
        return False
    return None if None in scores or None in flags else True


def passes(rubric: Rubric, result: JudgeResult) -> bool | None:
    """Return whether a result passes; None without a pass rule, or if that depends on a missing score or flag."""
    rule = rubric.passing
    if rule is None:
        return None
    if rubric.spans is not None:  # its criteria are categories of errors
        return meets([result.score], [], rule.minimum)
    scores = [result.subscores.get(criterion.name) for criterion in rubric.criteria]
    scores += [result.score] if rubric.overall else []
    return meets(scores, [result.flags.get(name) for name in rule.flags], rule.minimum)


AnyOutcome = TypeVar("AnyOutcome", bound=RunOutcome)


def with_passed(rubric: object, outcome: AnyOutcome) -> AnyOutcome:
    """Fill in `passed` if the rubric has a pass rule."""
    if not isinstance(rubric, Rubric) or rubric.passing is None:
        return outcome
    if not isinstance(outcome, JudgeResult) or outcome.passed is not None:
        return outcome
    return replace(outcome, passed=passes(rubric, outcome))


def item_status(outcome: RunOutcome | None, findings: Sequence[Finding], rubric: Rubric) -> Status | None:
    """Return the status of an item from a judge's outcome and the findings of the checks.

    None: a judge scored the item, but the rubric has no pass rule, or a score that the rule needs is missing.
    Without an outcome, and for a generated text, only the checks decide.
    """
    failing = {each.kind for each in findings if each.severity == "fail"}
    passed = passes(rubric, outcome) if isinstance(outcome, JudgeResult) else None
    by_checks_alone = not isinstance(outcome, JudgeResult | Failure) or is_offline(outcome)
    if passed and not by_checks_alone and failing == {"wrong_language"}:
        return "CONFLICT"
    if failing or passed is False:
        return "FAIL"
    if by_checks_alone:
        return "CHECKED"
    if isinstance(outcome, Failure):
        return "UNJUDGED"
    return "PASS" if passed else None


def is_offline(outcome: Outcome) -> bool:
    """Return whether an outcome is from the judge `offline`."""
    return (
        isinstance(outcome, JudgeResult) and outcome.provenance is not None and outcome.provenance.provider == OFFLINE
    )


def outcome_status(outcome: RunOutcome, *, pass_from: float | None = None) -> Status | None:
    """Return the status of a row by the rubric's pass rule, or by the lowest passing score if that is given.

    None: the judge gave a score, but there is no rule, or a score that the rule needs is missing. A text that was
    generated and not judged is skipped.
    """
    if isinstance(outcome, Failure):
        return "UNJUDGED"
    if not isinstance(outcome, JudgeResult):
        return "SKIPPED"
    passed = outcome.passed if pass_from is None else outcome.score >= pass_from
    if is_offline(outcome):
        return "FAIL" if passed is False else "CHECKED"
    return None if passed is None else "PASS" if passed else "FAIL"
