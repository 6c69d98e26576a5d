"""Decide the status of one row of a run, and of a group of rows such as those in one language."""

from collections.abc import Mapping

from polyjudge.records.outcomes import Failure, JudgeResult, RunOutcome

from .items import Status, is_offline
from .translation import is_enough


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


def group_status(counts: Mapping[Status, int], undecided: int = 0, *, unreliable: bool = False) -> Status | None:
    """Return the status of a group: enough of its decided rows must pass, whatever the undecided ones are.

    `unreliable` says that its judge is unreliable there. Rows without a verdict are in no share. None: the rows have
    scores, but none passes or fails.
    """
    passing, failing = counts["PASS"] + counts["CHECKED"], counts["FAIL"] + counts["CONFLICT"]
    total = passing + failing + undecided
    if not total:
        return "UNJUDGED" if counts["UNJUDGED"] else "SKIPPED"
    if undecided == total:
        return None
    if unreliable:
        return "UNRELIABLE"
    if not is_enough(passing + undecided, total):
        return "FAIL"
    if not is_enough(passing, total):
        return "UNJUDGED"
    return "CHECKED" if counts["CHECKED"] else "PASS"
