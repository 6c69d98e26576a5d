"""Decide whether two runs can be compared, and whether a change between them fails the gate."""

from collections.abc import Iterable, Iterator, Sequence

from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.comparison import Alarm, Comparison, Difference, FailOn, LanguageChange, Ruling

DEFAULT_MAX_UNJUDGED = 0.2


def compare_gate(comparison: Comparison, fail_on: FailOn | None, max_unjudged: float | None) -> Ruling:
    """Return the alarms and the exit code; too many items without a verdict take precedence."""
    alarms = tuple(_alarms(comparison, fail_on or FailOn()))
    if max_unjudged is None and fail_on is not None:
        max_unjudged = DEFAULT_MAX_UNJUDGED
    share, rows = unjudged_share(comparison), (comparison.overall, *comparison.languages)
    nothing = fail_on is not None and any(map(_lost_all, rows))
    too_many = nothing or (max_unjudged is not None and share > max_unjudged)
    return Ruling(
        fail_on=fail_on,
        alarms=alarms,
        unjudged_share=share,
        max_unjudged=max_unjudged,
        exit_code=3 if too_many else 1 if alarms and fail_on is not None else 0,
        is_undecided=fail_on is not None and not too_many and all(map(_has_too_few, rows)),
    )


def _has_too_few(row: LanguageChange) -> bool:
    return row.score.verdict == "too few items"


def _lost_all(row: LanguageChange) -> bool:
    """Return whether no item can be compared, although some had a verdict before."""
    counts = row.counts
    return not counts.paired and bool(counts.newly_unjudged + counts.missing_judged or not row.language)


def unjudged_share(comparison: Comparison) -> float:
    """Return the share of the items with a verdict before that have none now, or are missing."""
    counts = comparison.overall.counts
    lost = counts.newly_unjudged + counts.missing_judged
    if not counts.paired:
        return 1.0
    return lost / (counts.paired + lost)


def _alarms(comparison: Comparison, fail_on: FailOn) -> Iterator[Alarm]:
    rows = [
        ("", True, comparison.overall.score),
        *((each.language, False, each.score) for each in comparison.languages),
    ]
    for language, is_overall, found in rows:
        if _fails(found, fail_on):
            yield Alarm(language=language, is_overall=is_overall, sentence=_sentence(found))


def _fails(found: Difference, fail_on: FailOn) -> bool:
    if fail_on.drop is None:
        return found.verdict == "worse"
    value, high = found.difference.value, found.difference.high
    return value is not None and high is not None and value < -fail_on.drop and high < 0


def _sentence(found: Difference) -> str:
    figure = found.difference
    p = found.p if found.adjusted_p is None else found.adjusted_p
    fell = f"the score fell by {-(figure.value or 0):.3g}, from {found.before or 0:.3g} to {found.after or 0:.3g}"
    return f"{fell} (95% interval {figure.low or 0:+.3g} to {figure.high or 0:+.3g}, p = {p or 0:.2g})"


def unlike(before: Sequence[JudgeIdentity], after: Sequence[JudgeIdentity]) -> dict[str, str]:
    """Return the differences between the judges of two runs, by `rubric` or `judge`; unknown values do not differ."""
    if not before or not after:
        return {}
    found: dict[str, str] = {}
    rubrics = [{judge.rubric_fingerprint or judge.rubric for judge in judges} for judges in (before, after)]
    if rubrics[0] != rubrics[1]:
        found["rubric"] = f"the rubrics differ: {_rubrics(before)} and {_rubrics(after)}"
    if _answered(before, after) != _answered(after, before):
        found["judge"] = f"the judges differ: {_models(before)} and {_models(after)}"
    return found


def _answered(judges: Iterable[JudgeIdentity], others: Iterable[JudgeIdentity]) -> set[tuple[str, str, str]]:
    """Return the judges; the model that answered counts only if the other run knows it too."""
    known = {(judge.provider, judge.model) for judge in others if judge.model_answered}
    return {
        (judge.provider, judge.model, judge.model_answered if (judge.provider, judge.model) in known else "")
        for judge in judges
        if judge.model_answered or not _has_answered(judge, judges)
    }


def _has_answered(judge: JudgeIdentity, judges: Iterable[JudgeIdentity]) -> bool:
    same = (each for each in judges if (each.provider, each.model) == (judge.provider, judge.model))
    return any(each.model_answered for each in same)


def _rubrics(judges: Iterable[JudgeIdentity]) -> str:
    return " and ".join(sorted({f"{judge.rubric!r} ({judge.rubric_fingerprint[:8]})" for judge in judges}))


def _models(judges: Iterable[JudgeIdentity]) -> str:
    return " and ".join(sorted({repr(_model(judge)) for judge in judges}))


def _model(judge: JudgeIdentity) -> str:
    answered = f" answered by {judge.model_answered}" if judge.model_answered not in ("", judge.model) else ""
    return f"{judge.provider}/{judge.model}{answered}"
