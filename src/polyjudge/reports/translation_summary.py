"""Say in sentences what a report on translations found: the headline, what to do next, reasons, causes and facts."""

from collections.abc import Iterator, Sequence

from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, Status
from polyjudge.verdicts.translation import Verdict, scores_pass
from polyjudge.verdicts.trust import JudgeTrust

from .tallies import Comments, judge_title, same_comments
from .translation import Report
from .translation_figures import Cause, LanguageFigures, cause_of
from .wording import Commands, Span, Step, counted, headline, human_time, listed, share_rule

MOST_IN_FULL = 12
"""With more languages that do not pass, they are grouped by cause."""
_LONGEST_NAME = 100
_LONGEST_REASON = 400
_TESTED = {"Binding": ("bindingUsed", "binding"), "Device": ("deviceInfo", "device"), "Model": ("model",)}
"""The fields of a results file that say what was tested."""


def report_headline(report: Report) -> list[Span]:
    """Return what the report says in one sentence."""
    passing = [verdict for verdict in report.verdicts if verdict.status == "PASS"]
    calibrated = all(verdict.is_calibrated for verdict in passing)
    return headline(report.totals.counts, "language", is_calibrated=calibrated)


def report_steps(report: Report, commands: Commands) -> Iterator[Step]:
    """Yield what to do next: ship, hold, find out."""
    by_status = {status: _named(report, status) for status in report.totals.counts}
    ready, held = by_status["PASS"], _members(report, ("FAIL", "CONFLICT"))
    if ready:
        allowed = sum(bool(figures.failed) for verdict, figures in with_figures(report) if verdict.status == "PASS")
        look = f", {allowed:,} of them after a look at a failed output" if allowed else ""
        yield ship_step(ready, look, is_calibrated=all(each.is_calibrated for each in _members(report, ("PASS",))))
    if held:
        names = listed([one_line(verdict.name, _LONGEST_NAME) for verdict in held])
        yield Step(text=f"Hold {names}.")
        if command := commands.filled("explain", [_tag(held[0])]):
            yield Step(text=f"Why does {one_line(held[0].name, _LONGEST_NAME)} fail?", command=command)
    yield from _unknown_steps(report, commands)
    loose = [verdict for verdict in _members(report, ("PASS",)) if not verdict.is_calibrated]
    if loose:
        text = "Measure whether the judge is reliable, so that PASS means more."
        yield Step(text=text, command=commands.filled("calibrate", [_tag(verdict) for verdict in loose]))


def _unknown_steps(report: Report, commands: Commands) -> Iterator[Step]:
    """Yield how to find out about languages without a verdict to rely on."""
    by_status = {status: _named(report, status) for status in report.totals.counts}
    if by_status["CONFLICT"]:
        tags = [_tag(verdict) for verdict in _members(report, ("CONFLICT",))]
        text = f"Judge and checks contradict each other in {listed(by_status['CONFLICT'])}: let people decide."
        yield Step(text=text, command=commands.filled("label", tags))
    if by_status["CHECKED"]:
        checked = by_status["CHECKED"]
        who = listed(checked) if len(checked) <= 3 else f"the {len(checked):,} CHECKED languages"
        judged = f"Find out about grammar and meaning: let a judge look at {who}."
        yield Step(text=judged, command=commands.judge)
    if by_status["UNJUDGED"]:
        again = [_tag(verdict) for verdict in _members(report, ("UNJUDGED",))]
        yield Step(
            text=f"Ask again about {listed(by_status['UNJUDGED'])}.", command=commands.filled("judge_again", again)
        )
    if by_status["UNRELIABLE"]:
        people = commands.filled("label", [_tag(verdict) for verdict in _members(report, ("UNRELIABLE",))])
        yield Step(
            text=f"Find a judge that is reliable in {listed(by_status['UNRELIABLE'])}, or let people label them.",
            command=people,
        )


def ship_step(ready: Sequence[str], look: str, *, is_calibrated: bool) -> Step:
    """Return what to do with what passes, which depends on whether the judge is calibrated."""
    named = listed(ready, 6) if len(ready) <= 6 else f"the {len(ready):,} that pass"
    if is_calibrated:
        return Step(text=f"Ship {named}{look}.")
    return Step(text=f"Ship {named}{look}, if you trust the judge: it is not calibrated.")


def with_figures(report: Report) -> list[tuple[Verdict, LanguageFigures]]:
    """Return each verdict with the figures of its language."""
    return list(zip(report.verdicts, report.figures, strict=True))


def failing(report: Report) -> list[tuple[Verdict, LanguageFigures]]:
    """Return the languages that a reader has to hold: those that fail, or on which judge and checks disagree."""
    return [pair for pair in with_figures(report) if pair[0].status in ("FAIL", "CONFLICT")]


def by_cause(report: Report) -> dict[str, list[Verdict]]:
    """Group the languages that fail by cause, the most frequent one first."""
    found: dict[str, list[Verdict]] = {}
    for verdict, figures in failing(report):
        found.setdefault(cause_of(verdict, figures).name, []).append(verdict)
    return dict(sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0])))


def allowed_failures(report: Report) -> list[tuple[Verdict, LanguageFigures, str]]:
    """Return the languages that pass although an output failed, with the rule that allows it."""
    return [
        (verdict, figures, share_rule(figures.failed, verdict.prompts))
        for verdict, figures in with_figures(report)
        if verdict.status in ("PASS", "CHECKED") and figures.failed
    ]


def quoted_reason(verdict: Verdict, longest: int = _LONGEST_REASON) -> str:
    """Return why a language has its status; if a judge fails it, with the judge's words."""
    words = failing_words(verdict)
    quoted = f' "{words}"' if words and words not in verdict.reason else ""
    return one_line(f"{verdict.reason}{quoted}".strip(), longest)


def failing_words(verdict: Verdict) -> str:
    """Return what the judge says that fails a language; empty if no judge does."""
    scores = [score for score in verdict.scores.values() if score.judge != OFFLINE]
    return next((score.notes for score in scores if scores_pass(score) is False and score.notes), "")


def report_limits(report: Report) -> Iterator[str]:
    """Yield what the report cannot say."""
    unknown = [f"{name} ({trust.judge})" for name, trust in report.trust.items() if trust.card is None]
    if unknown:
        yield f"Whether {listed(unknown)} can be believed: no trust card, so nothing is known about what it misses."
    if any(score.judge != OFFLINE for verdict in report.verdicts for score in verdict.scores.values()):
        yield "Which language is better: judges are stricter in some languages than in others. Do not compare scores."


def tested(report: Report) -> Iterator[tuple[str, object]]:
    """Yield the name and value of each field of the results file that says what was tested."""
    for name, keys in _TESTED.items():
        value = next((report.about[key] for key in keys if report.about.get(key)), None)
        if value is not None:
            yield name, value


def provenance(report: Report) -> Iterator[tuple[str, str]]:
    """Yield what was tested, by whom it was judged, when, and the cost."""
    figures = report.figures
    yield from ((name, one_line(str(value), _LONGEST_REASON)) for name, value in tested(report))
    outputs = sum(verdict.prompts for verdict in report.verdicts)
    parts = {
        "judged": sum(each.judged for each in figures),
        "without a usable reply": sum(each.without_reply for each in figures),
        "empty": sum(each.empty for each in figures),
    }
    named = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count)
    yield "Outputs", f"{outputs:,}{f': {named}' if named else ', none sent to a judge'}"
    yield "When", human_time(report.timestamp)
    origins = report.origins
    for judge in origins.judges:
        rubric = f", rubric {judge.rubric} {judge.rubric_fingerprint[:7]}"
        yield "Judge", f"{judge_title(judge)}{rubric}"
    if any(judge.provider != OFFLINE for judge in origins.judges):
        cached = f"; {counted(origins.cached, 'reply')} from the cache" if origins.cached else ""
        yield "Cost", f"${origins.cost_usd:.4f}{cached}" if origins.cost_usd or not origins.unpriced else "not known"


def trust_rows(report: Report) -> Iterator[tuple[str, str, str]]:
    """Yield each judge and the checks: how far they are reliable, and what they miss."""
    measured = ("", "")
    for name, trust in report.trust.items():
        given = [verdict.scores[name].judge for verdict in report.verdicts if name in verdict.scores]
        if given and all(judge == OFFLINE for judge in given):
            measured = trust_words(trust) if trust.card is not None else measured
        else:
            yield (trust.judge, *trust_words(trust))
    yield from (("comments", line, "") for line in report_comments(report))
    outputs = sum(verdict.checked_outputs for verdict in report.verdicts)
    looked = f"Looked at {counted(outputs, 'output')}: script, language, numbers, placeholders, repetition, leaks."
    yield "checks", f"{looked} {measured[0]}".strip(), f"Cannot see grammar and meaning. {measured[1]}".strip()


def report_comments(report: Report) -> list[str]:
    """Return where a judge says the same of most outputs."""
    whole = Comments()
    for figures in report.figures:
        whole.update(figures.comments)
    groups = ((one_line(verdict.name, _LONGEST_NAME), figures.comments) for verdict, figures in with_figures(report))
    return same_comments(whole, groups, "output")


def trust_words(trust: JudgeTrust) -> tuple[str, str]:
    """Return how far a judge is reliable by its card, and what it misses."""
    if trust.card is None:
        return f"Not calibrated: {trust.why}.", "What it misses is not known."
    measured = [each for each in trust.card.languages.values() if each.comparisons or not each.labels]
    reliable = sum(each.verdict == "reliable" for each in measured)
    missed = [kind.replace("_", " ") for kind, each in trust.card.perturbations.items() if each.verdict == "unreliable"]
    known = f"Reliable in {reliable} of the {counted(len(measured), 'language')} in which it was measured."
    return known, f"Misses {listed(missed)}." if missed else "It noticed every kind of fault that was tried."


def cause_steps(verdict: Verdict, cause: Cause, commands: Commands) -> list[Step]:
    """Return what to do next about a language that does not pass."""
    if verdict.status == "CONFLICT":
        return [Step(text="Ask a person who reads it: judge and check disagree about the language.")]
    by_judge = any(kind.startswith("judge") for kind in cause.kinds) and failing_words(verdict)
    command = commands.filled("judge_again", [_tag(verdict)]) if by_judge else ""
    return [Step(text=cause.next, command=command)]


def _members(report: Report, statuses: Sequence[Status]) -> list[Verdict]:
    return [verdict for verdict in report.verdicts if verdict.status in statuses]


def _named(report: Report, status: Status) -> list[str]:
    return [one_line(verdict.name, _LONGEST_NAME) for verdict in _members(report, [status])]


def _tag(verdict: Verdict) -> str:
    return verdict.language or verdict.name
