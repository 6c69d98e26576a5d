"""Decide whether the scores of a run reach what is required of them.

A requirement compares what was measured, not its interval: a mean of 3.4 is below 3.5, however few items there are.
An item without a verdict counts neither for nor against; if too many have none, nothing is decided.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from polyjudge.errors import ConfigError
from polyjudge.records.rubrics import Scale
from polyjudge.records.runs import FailUnder, Gate, GateResult, GateStatus, LanguageScores, ScoreSummary

_ROUNDING = 1e-9
"""A mean may be this much too low because of rounding."""
_OPTION = "fail_under"
_KINDS = {"mean": "mean", "pass": "pass_rate", "language": "language"}


def parse_fail_under(rules: Sequence[str]) -> FailUnder:
    """Read requirements such as mean:3.5, pass:0.9, pass:90% or language:75%."""
    given: dict[str, float] = {}
    for rule in rules:
        kind, _, text = rule.partition(":")
        number = _number(text)
        if kind not in _KINDS or number is None or (kind == "mean" and text.endswith("%")):
            raise ConfigError(
                f"expected mean:X, pass:X or language:X, such as mean:3.5 or pass:90%, not {rule!r}", option=_OPTION
            )
        if _KINDS[kind] in given:
            raise ConfigError(f"{kind} is given twice. Give one value for it", option=_OPTION)
        given[_KINDS[kind]] = number
    return FailUnder(**given)


def _number(text: str) -> float | None:
    try:
        number = Decimal(text.removesuffix("%"))
    except InvalidOperation:
        return None
    return float(number / 100 if text.endswith("%") else number) if number.is_finite() else None


def refuse_unfit(wanted: FailUnder, scale: Scale | None, *, has_rule: bool, languages: Sequence[str]) -> None:
    """Raise ConfigError for a requirement that a run by this rubric, over these languages, cannot be held to."""
    if wanted.mean is not None:
        _refuse_off_scale("mean", wanted.mean, scale)
    if wanted.pass_rate is not None and not has_rule:
        raise ConfigError(
            "pass:X needs a rubric with a pass rule, and this rubric has none. Use mean:X", option=_OPTION
        )
    if wanted.pass_rate is not None:
        _refuse_no_share("pass", wanted.pass_rate)
    if wanted.language is None:
        return
    if has_rule:
        _refuse_no_share("language", wanted.language)
    else:
        _refuse_off_scale("language", wanted.language, scale)
    if not any(languages):
        raise ConfigError(
            "language:X needs items with a language, and these have none. Use pass:X or mean:X", option=_OPTION
        )


def _refuse_no_share(kind: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ConfigError(
            f"{kind}:{value:g} is the share of items that pass: a number from 0 to 1, or 0% to 100%", option=_OPTION
        )


def _refuse_off_scale(kind: str, value: float, scale: Scale | None) -> None:
    if scale is not None and not scale.lowest <= value <= scale.highest:
        what = "mean score" if kind == "mean" else "mean score in each language, because the rubric has no pass rule"
        raise ConfigError(
            f"{kind}:{value:g} is the {what}: a number from {scale.lowest:g} to {scale.highest:g}", option=_OPTION
        )


def score_gate(scores: ScoreSummary, wanted: FailUnder, max_unjudged: float) -> Gate:
    """Return whether a run reaches each requirement; too few verdicts take precedence over a requirement missed."""
    languages = list(scores.languages)
    refuse_unfit(wanted, scores.scale, has_rule=scores.passed is not None, languages=languages)
    results = tuple(_results(scores, wanted, max_unjudged))
    found = {each.status for each in results}
    if "undecided" in found:
        return Gate(status="undecided", results=results, exit_code=3)
    if "failed" in found:
        return Gate(status="failed", results=results, exit_code=1)
    return Gate(status="passed", results=results, exit_code=0)


def _results(scores: ScoreSummary, wanted: FailUnder, max_unjudged: float) -> Iterator[GateResult]:
    overall = LanguageScores(
        items=scores.items,
        judged=scores.judged,
        mean=scores.mean,
        interval=scores.interval,
        passed=scores.passed,
        decided=scores.decided,
        pass_interval=scores.pass_interval,
    )
    if wanted.mean is not None:
        status, sentence = _of_mean(overall, wanted.mean, max_unjudged)
        yield GateResult(rule=f"mean:{wanted.mean:g}", status=status, sentence=sentence)
    if wanted.pass_rate is not None:
        status, sentence = _of_rate(overall, wanted.pass_rate, max_unjudged)
        yield GateResult(rule=f"pass:{_percent(wanted.pass_rate)}", status=status, sentence=sentence)
    if wanted.language is not None:
        yield from _by_language(scores, wanted.language, max_unjudged)


def _by_language(scores: ScoreSummary, limit: float, max_unjudged: float) -> Iterator[GateResult]:
    """Yield a result for each language that does not pass, or one for all if all pass."""
    decide = _of_mean if scores.passed is None else _of_rate
    rule = f"language:{limit:g}" if scores.passed is None else f"language:{_percent(limit)}"
    all_pass = True
    for tag, found in scores.languages.items():
        status, sentence = decide(found, limit, max_unjudged)
        if status != "passed":
            all_pass = False
            yield GateResult(rule=rule, status=status, sentence=sentence, language=tag)
    if all_pass:
        count = len(scores.languages)
        what = f"a mean score of at least {limit:g}" if scores.passed is None else f"at least {_percent(limit)} passing"
        where = "the only language has" if count == 1 else f"all {count} languages have"
        yield GateResult(rule=rule, status="passed", sentence=f"{where} {what}")


def _of_mean(found: LanguageScores, limit: float, max_unjudged: float) -> tuple[GateStatus, str]:
    missing = _too_few_judged(found, max_unjudged)
    if missing or found.mean is None:
        return "undecided", missing
    measured = f"the mean score of {judged_items(found.judged)} is {_apart(found.mean, limit, 2, 'f')}"
    if found.mean < limit - _ROUNDING:
        return "failed", f"{measured}, below {limit:g}"
    return "passed", f"{measured}, at least {limit:g} is required"


def _of_rate(found: LanguageScores, limit: float, max_unjudged: float) -> tuple[GateStatus, str]:
    """Decide whether a pass rate is reached; an undecided result may still pass or fail."""
    missing = _too_few_judged(found, max_unjudged)
    if missing or found.passed is None or found.decided is None:
        return "undecided", missing
    least, most = found.passed, found.passed + found.judged - found.decided
    at_least, at_most = (_apart(count / found.judged, limit, 1, "%") for count in (least, most))
    required = f"at least {_percent(limit)} is required"
    if most / found.judged < limit:
        return "failed", f"{most:,} of {_judged_pass(found)} ({at_most}), below {_percent(limit)}"
    if least / found.judged >= limit:
        return "passed", f"{least:,} of {_judged_pass(found)} ({at_least}), {required}"
    why = f"{found.judged - found.decided:,} lack a score that the rubric's pass rule needs"
    return "undecided", f"between {at_least} and {at_most} of {_judged_pass(found)}, {required}: {why}"


def judged_items(count: int) -> str:
    """Return a number of judged items in words."""
    return "1 judged item" if count == 1 else f"{count:,} judged items"


def _judged_pass(found: LanguageScores) -> str:
    return f"{judged_items(found.judged)} {'passes' if found.judged == 1 else 'pass'}"


def _too_few_judged(found: LanguageScores, max_unjudged: float) -> str:
    """Return why too few items have a verdict; empty if enough have one."""
    unjudged = found.items - found.judged
    if found.judged and unjudged <= max_unjudged * found.items:
        return ""
    return f"no verdict for {unjudged:,} of {found.items:,} items; at most {_percent(max_unjudged)} may lack one"


def _apart(value: float, limit: float, digits: int, unit: str) -> str:
    """Return a number with `digits` digits, or with more if it would look like the limit otherwise."""
    shown = f"{value:.{digits}{unit}}"
    if abs(value - limit) <= _ROUNDING or shown != f"{limit:.{digits}{unit}}":
        return shown
    return _apart(value, limit, digits + 1, unit)


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"
