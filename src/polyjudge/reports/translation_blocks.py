"""Render the report on a translator's output as blocks: the scorecard first, then the details."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from polyjudge.checks.catalogue import record_of_kind
from polyjudge.files.json_lines import readable_json
from polyjudge.files.spill import Spilled, SpillFile
from polyjudge.records.translation import DIMENSIONS, LanguageResult, LanguageScore, PromptScore
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import STATUSES, Status
from polyjudge.verdicts.translation import FAILING, Totals, Verdict, dimension_scores, scores_pass, status_label

from .blocks import Block, Heading, Lines, Table
from .calibration import trust_lines as judge_trust_lines
from .translation import Report
from .translation_figures import OutputScores, rules_of
from .translation_summary import (
    MOST_IN_FULL,
    by_cause,
    quoted_reason,
    report_comments,
    report_headline,
    report_steps,
    tested,
)
from .wording import Commands, counted, plain

_LONGEST_CELL = 400
_SHORT_CELL = 110
_LONGEST_NAME = 100
_WARNINGS_SHOWN = 20
_NAMED = 12
_YES_OR_NO = {True: "Yes", False: "No", None: "–"}
STATUS_NAMES: dict[Status, str] = {
    "PASS": "Passed",
    "CHECKED": "Checked",
    "FAIL": "Failed",
    "CONFLICT": "Conflict",
    "UNRELIABLE": "Unreliable",
    "UNJUDGED": "Unjudged",
    "SKIPPED": "Skipped",
}
"""Statuses as headings of counts."""


def translation_blocks(report: Report, commands: Commands) -> Iterator[Block]:
    """Yield a report: the scorecard first, then the details language by language."""
    yield Heading(1, "Translation report")
    yield Lines(tuple(report_facts(report)))
    yield from translation_scorecard(report, commands)
    yield Heading(2, "Expanded Details")
    for each in report.details():
        verdict, figures, language, scores = each.verdict, each.figures, each.language, each.scores
        if report.lists(verdict):
            rules = [f"Rule: {rule}" for rule in rules_of(verdict, figures)] if figures.failed else []
            yield from _details(verdict, language, scores, rules)


def translation_scorecard(report: Report, commands: Commands) -> Iterator[Block]:
    """Yield the summary: the headline, what to do next, and the figures."""
    yield Heading(2, "Summary Scorecard")
    steps = [f"{step.text} {step.command}".strip() for step in report_steps(report, commands)]
    yield Lines((plain(report_headline(report)), *steps))
    yield Lines(tuple(_totals(report)))
    if report.trust:
        yield Heading(3, "Trust in the judges")
        yield Lines(tuple(trust_lines(report)))
    yield from _priority_table(report)
    yield Heading(3, "By Script Family")
    yield family_table(report)
    yield from _failures(report)
    yield from _disagreements(report)
    yield from _findings(report)
    if report.warnings:
        yield Heading(3, "Rows that could not be used")
        yield Lines(tuple(warnings_shown(report)))


def warnings_shown(report: Report) -> list[str]:
    """Return the messages about parts of the files that could not be used."""
    shown = list(report.warnings[:_WARNINGS_SHOWN])
    more = report.skipped_rows - len(shown)
    return [*shown, f"and {more} more"] if more > 0 else shown


def report_facts(report: Report) -> Iterator[str]:
    """Yield the time of the report, and what was tested."""
    yield f"Generated: {report.timestamp}"
    for name, value in tested(report):
        yield f"{name}: {_cell(value if isinstance(value, str) else readable_json(value))}"
    if report.accepted:
        yield f"Accepted findings, not shown: {report.accepted}"
    if not report.judges:
        yield "No judge scores were given: only the checks decide; grammar and meaning were not judged."


def _totals(report: Report) -> Iterator[str]:
    found = report.totals
    yield f"Total languages tested: {found.languages - found.counts['SKIPPED']}"
    for status in shown_statuses(found, ("PASS", "FAIL", "UNJUDGED", "SKIPPED")):
        interval = found.interval(status)
        rate = ""
        if interval is not None:
            share = f"{found.counts[status] / found.decided:.1%} of {found.decided}"
            rate = f" ({share}, 95% interval {interval.low:.1%} to {interval.high:.1%})"
        yield f"{STATUS_NAMES[status]}: {found.counts[status]}{rate}{count_note(report, status)}"


def shown_statuses(found: Totals, always: tuple[Status, ...]) -> list[Status]:
    """Return the statuses to show in counts: those in `always` and all that occur, so that counts add up."""
    return [status for status in STATUSES if found.counts[status] or status in always]


def count_note(report: Report, status: Status) -> str:
    """Return the limits of a count: what was not judged, or that the judge is not calibrated."""
    members = [verdict for verdict in report.verdicts if verdict.status == status]
    if status == "CHECKED":
        common = [part for part in members[0].not_judged if all(part in each.not_judged for each in members)]
        return f"; {', '.join(common)} not judged"
    if status == "PASS":
        loose = sum(not verdict.is_calibrated for verdict in members)
        some = "" if loose == len(members) else f"{loose} of them by a "
        return f"; {some}judge not calibrated" if loose else ""
    alone = sum(verdict.script_only for verdict in members)
    if not alone or not report.judges:
        return ""
    return ", by the checks alone" if alone == len(members) else f", {alone} of them by the checks alone"


def trust_lines(report: Report) -> Iterator[str]:
    """Yield the trust in each judge, in words."""
    if report.trust:
        lines = [
            f"{name.capitalize()} ({trust.judge}): {line}"
            for name, trust in report.trust.items()
            for line in judge_trust_lines(trust, report.table)
        ]
        unknown = report.uncalibrated()
        if unknown and any(trust.card is not None for trust in report.trust.values()):
            named, more = ", ".join(unknown[:_NAMED]), len(unknown) - _NAMED
            text = f"{named} and {more} more" if more > 0 else named
            lines.append(f"Not calibrated for: {text}.")
        yield from (*lines, *report_comments(report))


def _priority_table(report: Report) -> Iterator[Block]:
    rows = [_priority_row(verdict) for verdict in report.verdicts if verdict.is_priority]
    if rows:
        yield Heading(3, "Priority Languages")
        yield Table(("Language", "Script", "Grammar", "Coherence", "Correct Lang", "Status"), tuple(rows))


def _priority_row(verdict: Verdict) -> tuple[str, ...]:
    scores = list(verdict.scores.values())
    if not scores:
        share = f"{verdict.script_passed}/{verdict.script_checked} outputs" if verdict.script_checked else "–"
        return _name(verdict), share, "–", "–", "–", status_label(verdict)
    cells = [_lowest([dimension_scores(score)[name] for score in scores]) for name in DIMENSIONS]
    answers = [score.is_correct_language for score in scores if score.is_correct_language is not None]
    correct = ("Yes" if all(answers) else "No") if answers else "–"
    return _name(verdict), *cells, correct, status_label(verdict)


def _lowest(values: list[float | None]) -> str:
    """Return the lowest score of several judges, which decides."""
    found = [value for value in values if value is not None]
    return f"{min(found):g}/5" if found else "–"


def family_table(report: Report) -> Table:
    """Return the languages by script family and status, with the share that did not fail."""
    statuses = shown_statuses(report.totals, ("PASS", "FAIL"))
    rows = [
        (
            one_line(family, _LONGEST_NAME),
            str(found.languages),
            *(str(found.counts[status]) for status in statuses),
            "–" if found.rate is None else f"{found.rate:.1%}",
            "–" if (range_ := found.rate_interval) is None else f"{range_.low:.0%} to {range_.high:.0%}",
        )
        for family, found in report.families.items()
    ]
    rate = "Passed or Checked" if "CHECKED" in statuses else "Pass Rate"
    header = ("Script Family", "Languages", *(STATUS_NAMES[status] for status in statuses), rate, "95% interval")
    return Table(header, tuple(rows), numbers=tuple(range(1, len(header) - 1)))


def _failures(report: Report) -> Iterator[Block]:
    failing = [each for each in report.verdicts if each.status in (*FAILING, "UNJUDGED")]
    if failing:
        yield Heading(3, "Quick Failures")
        if len(failing) > MOST_IN_FULL:
            groups = by_cause(report).items()
            yield Lines(
                tuple(
                    f"{counted(len(group), 'language')}, {cause}: {', '.join(map(_name, group))}"
                    for cause, group in groups
                )
            )
        rows = [
            (_name(each), each.status, one_line(each.reason, _SHORT_CELL), one_line(_first_note(each), _SHORT_CELL))
            for each in failing
        ]
        yield Table(("Language", "Status", "Issue", "Notes"), tuple(rows))


def _first_note(verdict: Verdict) -> str:
    """Return the notes of a judge that fails the language, else of any judge."""
    scores = sorted(verdict.scores.values(), key=lambda score: scores_pass(score) is not False)
    return next((score.notes for score in scores if score.notes), "")


def _disagreements(report: Report) -> Iterator[Block]:
    rows = [(_name(each), _cell("; ".join(each.disagreements))) for each in report.verdicts if each.disagreements]
    if rows:
        yield Heading(3, "Disagreements")
        yield Table(("Language", "Disagreement"), tuple(rows))


def _findings(report: Report) -> Iterator[Block]:
    """Yield the findings of the checks, including warnings."""
    found = [each for each in report.verdicts if each.problems]
    if found:
        yield Heading(3, "Findings of the checks")
        rows = [(_name(each), _kinds(each), each.looks_like or "–", status_label(each)) for each in found]
        yield Table(("Language", "Problems (outputs)", "Looks like", "Status"), tuple(rows))
        outputs = Counter[str]()
        for verdict in found:
            outputs.update(verdict.problems)
        records = [(_spaced(kind), str(count), record_of_kind(kind) or "–") for kind, count in sorted(outputs.items())]
        yield Table(("Problem", "Outputs", "How often it is right"), tuple(records))


def _kinds(verdict: Verdict) -> str:
    return ", ".join(f"{_spaced(kind)} ({count})" for kind, count in sorted(verdict.problems.items()))


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def _details(
    verdict: Verdict, language: LanguageResult, scores: Mapping[str, LanguageScore], rules: Sequence[str]
) -> Iterator[Block]:
    yield Heading(3, f"{_name(verdict)} — {status_label(verdict)}")
    family, priority = one_line(verdict.family, _LONGEST_NAME), one_line(language.priority, _LONGEST_NAME)
    facts = [f"Script: {family or 'unknown'} | Priority: {priority or '–'}"]
    facts.append(f"Prompts tested: {verdict.prompts}")
    if verdict.tokens_per_second is not None:
        facts.append(f"Average tokens/sec: {verdict.tokens_per_second:.1f}")
    if verdict.reason:
        facts.append(f"Why: {quoted_reason(verdict, _LONGEST_CELL)}")
    facts += [one_line(rule, _LONGEST_CELL) for rule in rules]
    facts += [f"Trust: {one_line(note, _LONGEST_CELL)}" for note in verdict.trust]
    yield Lines(tuple(facts))
    for category, rows in _rows_by_category(language, OutputScores(scores, len(language.prompts))).items():
        yield Heading(4, one_line(category, _LONGEST_NAME) or "Outputs")
        yield Table(("Source", "Output", "Script OK", "Judge"), rows)
    notes = [f"{judge_name(name, score)}: {judge_note(score)}" for name, score in scores.items()]
    if notes:
        yield Heading(4, "Judge Notes")
        yield Lines(tuple(notes))


def _rows_by_category(language: LanguageResult, scores: OutputScores) -> dict[str, Spilled[tuple[str, ...]]]:
    """Return the rows of the outputs by category; those of a long language stay on disk."""
    file, found = SpillFile(), dict[str, Spilled[tuple[str, ...]]]()
    for index, prompt in enumerate(language.prompts):
        row = (
            _cell(prompt.source_text),
            _cell(prompt.generated_output) or "(empty)",
            _YES_OR_NO[prompt.script_validation_passed],
            _judged(scores.of(index), is_alone=scores.judges == 1),
        )
        found.setdefault(prompt.category, Spilled(file=file, in_memory=0)).append(row)
    return found


def judge_name(name: str, score: LanguageScore) -> str:
    """Return the tier and name of a judge."""
    return f"{name.capitalize()} ({one_line(score.judge, _LONGEST_NAME)})" if score.judge else name.capitalize()


def judge_note(score: LanguageScore) -> str:
    """Return a judge's notes on a language, or its error, with the share of judged outputs."""
    if score.error:
        return f"no verdict: {one_line(score.error, _LONGEST_CELL)}"
    coverage = f" ({score.judged} of {score.judged + score.unjudged} judged)" if score.unjudged else ""
    return (one_line(score.notes, _LONGEST_CELL) or "no notes") + coverage


def _judged(scores: Mapping[str, PromptScore], *, is_alone: bool) -> str:
    parts = (_points(score) if is_alone else f"{name} {_points(score)}" for name, score in scores.items())
    return ", ".join(parts) or "–"


def _points(score: PromptScore) -> str:
    if score.error:
        return "unjudged"
    points = "·".join("–" if value is None else f"{value:g}" for value in dimension_scores(score).values())
    return f"{points} wrong language" if score.is_correct_language is False else points


def _name(verdict: Verdict) -> str:
    return one_line(verdict.name, _LONGEST_NAME)


def _cell(text: str) -> str:
    return one_line(text, _LONGEST_CELL)
