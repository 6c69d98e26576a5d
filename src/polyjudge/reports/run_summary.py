"""Say in sentences what a run found: the headline, what to do next, what cannot be concluded, and the provenance."""

from collections import Counter
from collections.abc import Iterator, Sequence

from polyjudge.records.rubrics import Scale
from polyjudge.rubrics.penalties import SEVERITIES
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, Status
from polyjudge.verdicts.translation import NEEDED_SHARE

from .calibration import trust_lines
from .preferences import FIRST
from .runs import Group, RunReport
from .tallies import Tally, judge_title, same_comments
from .translation_summary import ship_step
from .wording import (
    Commands,
    Span,
    Step,
    counted,
    headline,
    human_time,
    listed,
    number_range,
    percent_range,
    share_bar,
    units,
)

_LONGEST_NAME = 100
_LONGEST_REASON = 300
_FEW = 10
_MOST_COMPARED = 6
_MOST_NAMED = 3


def run_headline(report: RunReport) -> list[Span]:
    """Return what a run found, in one sentence; and a second one if errors are marked."""
    return [*_headline(report), *_error_headline(report.total)]


def _error_headline(total: Tally) -> list[Span]:
    """Return how many errors are marked by severity, and the most frequent categories."""
    if not total.errors:
        return []
    by_severity: Counter[str] = Counter()
    by_category: Counter[str] = Counter()
    for (category, severity), count in total.errors.items():
        by_severity[severity] += count
        by_category[category] += count
    counts = ", ".join(f"{by_severity[each]:,} {each}" for each in reversed(SEVERITIES) if by_severity[each])
    named = [(one_line(name, _LONGEST_NAME), count) for name, count in by_category.most_common(_FEW) if name]
    often = listed([f"{name} ({count:,})" for name, count in named[:_MOST_NAMED]])
    what: list[Span] = [(" ", ""), (f"{counted(total.errors.total(), 'error')}: {counts}", "strong")]
    return [*what, (f"; most often {often}." if often else ".", "")]


def _headline(report: RunReport) -> list[Span]:
    total = report.total
    if report.is_by_language:
        return headline(report.group_counts, "language", is_calibrated=report.is_calibrated)
    if not report.has_rule:
        return _mean_headline(report)
    status, unit = report.status, report.unit
    missing = total.rows - total.decided
    open_part: list[Span] = [(f"; {missing:,} without a verdict", "open")] if missing else []
    if status is not None:
        return _share_headline(report, status, open_part)
    failing = total.decided - total.passing
    if not failing:
        every = f"All {counted(total.decided, unit)} pass" if total.decided > 1 else f"The {unit} passes"
        return [("Yes. " if not missing else "Nothing fails: ", ""), (every, "good"), *open_part, (".", "")]
    return [
        ("No. ", ""),
        (f"{failing:,} of {counted(total.decided, unit)} {'fails' if failing == 1 else 'fail'}", "bad"),
        (" and ", ""),
        (f"{total.passing:,} {'passes' if total.passing == 1 else 'pass'}", "good"),
        *open_part,
        (".", ""),
    ]


def _share_headline(report: RunReport, status: Status, open_part: list[Span]) -> list[Span]:
    """Return the headline of a run in one language: the share that passes, and whether it is enough."""
    total = report.total
    share = f"{total.passing:,} of {counted(total.decided, report.unit)} pass"
    if status == "CHECKED":
        words = f"The checks found no fault in {total.passing:,} of {counted(total.decided, report.unit)}"
        return [("Not known. ", ""), (words, "open"), ("; no judge looked at grammar and meaning", ""), (".", "")]
    start, style = {"PASS": ("Yes. ", "good"), "FAIL": ("Not yet. ", "bad")}.get(status, ("Not known. ", "open"))
    is_known = total.decided and not total.counts[None]
    needed = f": {total.passing / total.decided:.0%}, and {NEEDED_SHARE:.0%} must pass" if is_known else ""
    loose = " The judge is not calibrated." if status == "PASS" and not report.is_calibrated else ""
    return [(start, ""), (share, style), (needed, ""), *open_part, (f".{loose}", "")]


def _mean_headline(report: RunReport) -> list[Span]:
    """Return the headline of a run without a pass rule: its mean score."""
    total, scores = report.total, report.total.scores
    if not scores.count:
        if total.counts["SKIPPED"]:
            return [(f"{counted(total.rows, 'text')} generated, none judged yet.", "")]
        return [("Not known. ", ""), (f"None of {counted(total.rows, report.unit)} has a verdict", "open"), (".", "")]
    missing = total.rows - scores.count
    open_part: list[Span] = [("; ", ""), (f"{missing:,} without a verdict", "open")] if missing else []
    if report.preferences.count == scores.count:
        first, second = report.preferences.names
        rate = f"{100 * report.preferences.shares.mean:.1f}% {percent_range(report.preferences.interval)}".strip()
        named = "The first" if first == FIRST else first
        what: list[Span] = [(f"{named} wins against {second} in ", ""), (rate, "strong")]
        return [*what, (f" of {counted(scores.count, report.unit)}", ""), *open_part, (".", "")]
    interval = number_range(scores.interval(report.scale), 1)
    return [
        ("The mean score is ", ""),
        (f"{scores.mean or 0:.1f}{scale_text(report.scale)}", "strong"),
        (f" {f'{interval}, ' if interval else ''}over {counted(scores.count, report.unit)}", ""),
        *open_part,
        (".", ""),
    ]


def scale_text(scale: Scale | None) -> str:
    """Return the scale of a score as text; empty if it is not known."""
    return "" if scale is None else f" on the scale {scale.lowest:g} to {scale.highest:g}"


def run_steps(report: RunReport, commands: Commands) -> Iterator[Step]:
    """Yield what to do next, the most important first."""
    groups = [group for group in report.groups if group.value]
    failed = report.total.counts["FAIL"] + report.total.counts["CONFLICT"]
    if report.is_by_language:
        yield from _language_steps(report, groups, commands)
    elif failed:
        yield Step(text=f"Read the {counted(failed, report.unit)} that {'fails' if failed == 1 else 'fail'}, below.")
    elif not report.has_rule and report.total.scores.count and not report.preferences.count:
        rule = "Decide from which score on an item is good enough; there is no pass rule."
        yield Step(text=f"{rule} Read the lowest scores, below, to choose it.", command=commands.with_rule)
    yield from _steps_without_verdict(report, commands)
    if report.without_text == report.total.rows and report.kind in ("score", "translation scores"):
        yield Step(text="See the texts beside the reasons: give the items.", command=commands.with_texts)
    loose = [group.value for group in groups if group.status == "PASS" and not group.is_calibrated]
    if loose and report.trust:
        reliable = "Measure whether the judge is reliable in these languages."
        yield Step(text=reliable, command=commands.filled("calibrate", loose))
        if people := commands.filled("label", loose):
            yield Step(text="Or let people label a sample, and compare.", command=people)


def _steps_without_verdict(report: RunReport, commands: Commands) -> Iterator[Step]:
    abstained = report.total.failures["abstained"]
    missing = report.total.counts["UNJUDGED"] - abstained
    if abstained:
        yield Step(text=f"Let people label what the cascade left to them: {counted(abstained, report.unit)}.")
    if missing > 0:
        yield Step(text=f"Judge again what has no verdict: {counted(missing, report.unit)}.", command=commands.retry)


def _language_steps(report: RunReport, groups: Sequence[Group], commands: Commands) -> Iterator[Step]:
    """Yield which languages to ship, and which to hold."""
    passing = [group for group in groups if group.status == "PASS"]
    failing = [group for group in groups if group.status in ("FAIL", "CONFLICT")]
    if passing:
        yield ship_step(group_names(passing), "", is_calibrated=report.is_calibrated)
    if failing:
        yield Step(text=f"Hold {listed(group_names(failing))}.")
        if command := commands.filled("explain", [failing[0].value]):
            yield Step(text=f"Why does {_name(failing[0])} fail?", command=command)
        again = commands.filled("judge_again", [group.value for group in failing])
        yield Step(text="Fix them, and judge them again.", command=again)


def run_limits(report: RunReport) -> Iterator[str]:
    """Yield what cannot be concluded from the run."""
    total = report.total
    if total.counts["CHECKED"]:
        yield f"No judge looked at grammar and meaning in {counted(total.counts['CHECKED'], report.unit)} (CHECKED)."
    if total.counts["UNJUDGED"]:
        has = "has" if total.counts["UNJUDGED"] == 1 else "have"
        missing = counted(total.counts["UNJUDGED"], report.unit)
        yield f"{missing} {has} no verdict: they are in no share and no mean."
    if total.counts[None] and report.has_rule:
        yield f"{counted(total.counts[None], report.unit)} neither pass nor fail: the rule needs a missing score."
    if not report.has_rule and total.scores.count:
        yield from _without_rule(report)
    if len(report.groups) > 1 and report.column == "language" and total.scores.count:
        yield "Which language is better: judges are stricter in some languages than in others. Do not compare means."
    unknown = [name for name, trust in report.trust.items() if trust.card is None]
    if unknown:
        yield f"Whether {listed(unknown)} can be believed: no trust card, so nothing is known about what it misses."
    few = [_name(group) for group in report.groups if 0 < group.tally.scores.count < _FEW]
    if len(report.groups) > 1 and few:
        yield f"Much from fewer than {_FEW} scores: {listed(few)}. The intervals show how little is known."


def _without_rule(report: RunReport) -> Iterator[str]:
    """Yield what scores without a pass rule, or preferences, do not show."""
    if not report.preferences.count:
        yield "Whether a score is good enough: there is no pass rule, so nothing passes or fails."
    elif not report.preferences.orders:
        yield "What the order of the two outputs did: verdicts in both orders are not recorded."


def run_facts(report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield the provenance of a run: names and values."""
    total, origins = report.total, report.origins
    parts = [f"{total.counts[status]:,} {status}" for status in total.counts if status is not None]
    parts += [f"{total.counts[None]:,} scored"] if total.counts[None] else []
    yield "Run", str(report.path)
    yield units(2, report.unit).capitalize(), f"{total.rows:,}: {', '.join(sorted(parts))}"
    if report.selection.filters:
        chosen = (f"{name} is {' or '.join(sorted(values))}" for name, values in report.selection.filters.items())
        yield "Selected", "; ".join(chosen)
    if origins.last_at:
        first, last = human_time(origins.first_at), human_time(origins.last_at)
        yield "Judged", first if first == last else f"{first} to {last}"
    for judge in origins.judges:
        answered = f", answered by {judge.model_answered}" if judge.model_answered not in ("", judge.model) else ""
        rubric = f", rubric {judge.rubric} {judge.rubric_fingerprint[:8]}" if judge.rubric else ""
        yield "Judge", f"{judge_title(judge)}{answered}{rubric}"
    if any(judge.provider != OFFLINE for judge in origins.judges):
        yield "Cost", cost_text(report)
    if origins.versions:
        yield "Made by", f"polyjudge {', '.join(sorted(origins.versions))}"


def cost_text(report: RunReport) -> str:
    """Return what the replies cost, as far as it is known."""
    origins = report.origins
    parts = [f"${origins.cost_usd:.4f}" if origins.cost_usd or not origins.unpriced else "not known"]
    if origins.unpriced and origins.cost_usd:
        parts.append(f"not known for {counted(origins.unpriced, 'reply')}")
    if origins.cached:
        parts.append(f"{counted(origins.cached, 'reply')} from the cache")
    return "; ".join(parts)


def run_trust(report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield each judge and how far it can be trusted."""
    for name, trust in report.trust.items():
        yield name, " ".join(trust_lines(trust, report.table))
    yield from (("Comments", line) for line in run_comments(report))


def compared_groups(report: RunReport) -> Iterator[tuple[str, str]]:
    """Yield each column with a few values besides the language, such as two systems, and the result of each value."""
    for column, groups in report.by_column.items():
        named = [group for group in groups if group.value]
        if column not in (report.column, "language") and 1 < len(named) <= _MOST_COMPARED:
            texts = [f"{_name(group)}: {_result_text(report, group.tally)}" for group in named]
            yield column, "; ".join(texts)


def _result_text(report: RunReport, tally: Tally) -> str:
    if tally.decided and not tally.counts[None]:
        share = f"{tally.passing / tally.decided:.0%} {percent_range(tally.pass_interval)}"
        return f"{share} of {counted(tally.decided, report.unit)} pass"
    return f"mean {mean_text(tally, report.scale)}"


def run_comments(report: RunReport) -> list[str]:
    """Return where a judge says the same of most rows."""
    groups = ((_name(group), group.tally.comments) for group in report.groups if group.value)
    return same_comments(report.total.comments, groups, report.unit)


def group_why(group: Group, report: RunReport) -> str:
    """Return in words why a group has its status."""
    tally = group.tally
    if group.status == "UNRELIABLE":
        return group.why_unreliable
    if group.status == "UNJUDGED" and not tally.decided:
        return f"no verdict on {counted(tally.rows, report.unit)}: {kinds_text(tally)}"
    if group.status is None:
        return ""
    if not tally.decided:
        return f"nothing to judge in {counted(tally.rows, report.unit)}"
    why = share_text(tally) if tally.counts[None] else share_bar(tally.passing, tally.decided)
    if group.status == "CHECKED":
        return f"{why}; grammar and meaning not judged"
    failed = tally.decided - tally.passing
    if group.status == "PASS" and not failed:
        return f"all {counted(tally.decided, report.unit)} pass" if tally.decided > 1 else f"the {report.unit} passes"
    return why


def group_label(group: Group) -> str:
    """Return the status of a group with its limits."""
    if group.status == "PASS" and not group.is_calibrated:
        return "PASS (judge not calibrated)"
    if group.status == "CHECKED":
        return "CHECKED (grammar, meaning not judged)"
    return group.status or "–"


def judge_words(group: Group) -> str:
    """Return what the judge says about the worst row of a group."""
    worst = group.tally.worst_rows()
    return one_line(worst[0].reason, _LONGEST_REASON) if worst else ""


def kinds_text(tally: Tally) -> str:
    """Return the kinds of failures with their counts."""
    return ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in tally.failures.most_common()) or "–"


def share_text(tally: Tally) -> str:
    """Return the share that passes, with its interval and number; counts, if it is not known of some rows."""
    if not tally.decided:
        return "–"
    if tally.counts[None]:  # rows with a missing score can be known to fail, but not to pass: a share would mislead
        failing = tally.decided - tally.passing
        return f"{tally.passing:,} pass, {failing:,} fail, {tally.counts[None]:,} undecided"
    return f"{tally.passing / tally.decided:.0%} {percent_range(tally.pass_interval)}, n = {tally.decided:,}"


def mean_text(tally: Tally, scale: Scale | None) -> str:
    """Return the mean score, with its interval and number."""
    scores = tally.scores
    if scores.mean is None:
        return "–"
    interval = number_range(scores.interval(scale))
    return f"{scores.mean:.2f}{f' {interval}' if interval else ''}, n = {scores.count:,}"


def distribution(report: RunReport) -> list[tuple[float, float, int]]:
    """Return the classes of the scores: their ends, which are equal for single values, and the number of rows."""
    values = report.total.scores.values
    if len(values) <= _FEW:
        return [(value, value, values[value]) for value in sorted(values)]
    scale = report.scale
    low, high = (scale.lowest, scale.highest) if scale else (min(values), max(values))
    step = (high - low) / _FEW or 1.0
    counts = [0] * _FEW
    for value, count in values.items():
        counts[min(max(int((value - low) / step), 0), _FEW - 1)] += count
    return [(low + step * place, low + step * (place + 1), count) for place, count in enumerate(counts)]


def _name(group: Group) -> str:
    return one_line(group.name, _LONGEST_NAME)


def group_names(groups: Sequence[Group]) -> list[str]:
    """Return the names of groups, each on one line."""
    return [_name(group) for group in groups]
