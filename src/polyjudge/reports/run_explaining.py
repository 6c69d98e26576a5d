"""Explain why a language or an item of a run has its status: what decided, in order, with the evidence."""

from collections.abc import Iterator
from itertools import islice

from polyjudge.checks.checker import TextChecker
from polyjudge.errors import DataError
from polyjudge.languages.table import LanguageTable
from polyjudge.text.display import one_line
from polyjudge.verdicts.translation import NEEDED_SHARE

from .blocks import Block, Heading, Lines, Table
from .explaining import MOST_SHOWN, finding_lines, provenance_text
from .run_blocks import confidence_lines, failure_table, row_title, subscores_text, text_lines
from .run_rows import RunRow, RunRows, shipped_rubric
from .run_summary import (
    group_label,
    group_why,
    judge_words,
    kinds_text,
    mean_text,
    run_headline,
    run_limits,
    share_text,
)
from .runs import Group, RunReport
from .span_marks import span_lines
from .wording import Commands, counted, plain, share_rule, units

_LONGEST_TEXT = 600
_LONGEST_NAME = 100


def explain_run(report: RunReport) -> Iterator[Block]:
    """Yield why the report says what it says: the groups that do not pass, and what has no verdict."""
    yield Heading(1, plain(run_headline(report)))
    rows = [
        (one_line(group.name, _LONGEST_NAME), group_label(group), group_why(group, report), judge_words(group))
        for group in report.groups
        if group.needs_attention
    ]
    if rows:
        yield Heading(2, "What decided")
        yield Table((report.column.capitalize(), "Status", "Why", "The judge on the worst one"), tuple(rows))
    if report.unjudged:
        yield Heading(2, "No verdict, by kind")
        yield failure_table(report)
    worst = [one_line(row.id, _LONGEST_NAME) for row in report.worst_rows()[:1]]
    yield Heading(2, "What cannot be concluded")
    yield Lines((*run_limits(report), *(f"Evidence: give a language, or an item, such as {row}." for row in worst)))


def explain_group(report: RunReport, wanted: str, commands: Commands) -> Iterator[Block]:
    """Yield what decided the status of one language, in order, with the rows that show it."""
    group = group_of(report, wanted)
    yield Heading(1, f"{one_line(group.name, _LONGEST_NAME)}: {group_label(group)}")
    yield Heading(2, "What decided, in order")
    yield Lines(tuple(f"{number}. {step}" for number, step in enumerate(_decisions(report, group), start=1)))
    rows = [row for row in islice(report.rows_of(group), MOST_SHOWN) if row.status not in ("PASS", "CHECKED")]
    if rows:
        yield Heading(2, "Evidence")
    for row in rows:
        yield Heading(3, f"{row_title(row)} · {row.status or 'scored'}")
        yield Lines(tuple(_evidence(row, report.table)))
    left = len(group.tally.positions[0]) - len(rows)
    if left > 0:
        yield Lines((f"and {counted(left, report.unit)} more that need attention",))
    if group.needs_attention:
        again = commands.filled("judge_again", [group.value])
        yield Heading(2, "What to do next")
        yield Lines((f"Fix what the judge criticises, and judge it again. {again}".strip(),))


def group_of(report: RunReport, wanted: str) -> Group:
    """Return a group by its value or name; raise DataError if the run does not have it."""
    known = report.table.find(wanted)
    for group in report.groups:
        if wanted.casefold() in (group.value.casefold(), group.name.casefold()):
            return group
    for group in report.groups:
        if known is not None and report.table.find(group.value) == known:
            return group
    names = one_line(", ".join(group.value or group.name for group in report.groups), _LONGEST_TEXT)
    close = report.table.suggestion(wanted) if report.column == "language" else ""
    raise DataError(f"no {report.column} {wanted!r}.{close} Found: {names}.", path=report.path)


def _decisions(report: RunReport, group: Group) -> Iterator[str]:
    """Yield the rule, the counts, the trust in the judges and the result."""
    tally, unit = group.tally, report.unit
    if group.status is None:
        yield f"No rule decides here: {'each row counts' if tally.decided else 'nothing says which score passes'}."
    else:
        yield f"The rule: at least {NEEDED_SHARE:.0%} of the {units(2, unit)} with a verdict pass."
    yield from _item_rule(report)
    if tally.decided and not tally.counts[None]:
        yield f"{units(2, unit).capitalize()}: {share_rule(tally.decided - tally.passing, tally.decided)}."
    if tally.decided:
        yield f"Share: {share_text(tally)}."
    if tally.scores.count:
        yield f"Mean score: {mean_text(tally, report.scale)}."
    for name, scores in tally.subscores.items():
        low = min(scores.values, default=0.0)
        yield f"{one_line(name, _LONGEST_NAME)}: mean {scores.mean or 0:.2f}, lowest {low:g}, n = {scores.count:,}."
    if tally.failures:
        yield f"No verdict, so not counted in the share: {kinds_text(tally)}."
    for name, trust in report.trust.items():
        yield f"Trust in {name}: {trust.word(group.value, report.table) if trust.card else trust.why}."
    why = group_why(group, report)
    yield f"Result: {group_label(group)}{f', because {why}' if why else ''}."


def _item_rule(report: RunReport) -> Iterator[str]:
    if report.pass_from is not None:
        yield f"One {report.unit} passes from a score of {report.pass_from:g}."
        return
    for judge in report.origins.judges:
        rubric = shipped_rubric(judge.rubric, judge.rubric_fingerprint)
        if rubric is not None and rubric.passing is not None:
            flags = f", with {' and '.join(rubric.passing.flags)}" if rubric.passing.flags else ""
            yield f"One {report.unit} passes if every criterion is at least {rubric.passing.minimum:g}{flags}."
            return


def explain_item(rows: RunRows, item: str, table: LanguageTable) -> Iterator[Block]:
    """Yield what is known about one item of a run."""
    row = next((row for row in rows if row.id == item), None)
    if row is None:
        first = [f" The first one is {each.id!r}." for each in islice(rows, 1)]
        raise DataError(f"no item {item!r}.{''.join(first)}", path=rows.path)
    yield Heading(1, f"{row_title(row)}: {row.status or 'scored, without a pass rule'}")
    yield Heading(2, "What decided, in order")
    yield Lines(tuple(f"{number}. {step}" for number, step in enumerate(_item_decisions(rows, row), start=1)))
    yield Heading(2, "Evidence")
    yield Lines(tuple(_evidence(row, table)))
    if row.provenance is not None:
        yield Heading(2, "Provenance")
        yield Lines((provenance_text(row.provenance),))


def _item_decisions(rows: RunRows, row: RunRow) -> Iterator[str]:
    if row.failure:
        yield f"The judge gave no verdict ({row.failure.replace('_', ' ')}), which says nothing about the text."
        return
    origin = row.provenance
    rubric = shipped_rubric(origin.rubric, origin.rubric_fingerprint) if origin else None
    if rows.pass_from is not None:
        yield f"It passes from a score of {rows.pass_from:g}."
    elif rubric is not None and rubric.passing is not None:
        minimum = rubric.passing.minimum
        yield f"It passes if every criterion is at least {minimum:g} and each question of the rule is answered yes."
        low = [f"{name} {value:g}" for name, value in row.subscores.items() if value < minimum]
        low += [f"{name} no" for name in rubric.passing.flags if row.flags.get(name) is False]
        yield f"Below the rule: {', '.join(low) or 'nothing'}."
    elif row.status is None:
        yield "The rubric has no pass rule, so nothing passes or fails."
    yield f"Result: {row.status or 'a score'}{f', score {row.score:.4g}' if row.score is not None else ''}."


def _evidence(row: RunRow, table: LanguageTable) -> Iterator[str]:
    """Yield the texts of a row, the findings in it, and what the judge says."""
    yield from text_lines(row)
    yield from span_lines(row.spans)
    known = table.find(row.language) if row.language else None
    if known is not None and row.output and row.source:
        yield from finding_lines(row.output, TextChecker(table).check(row.output, known, source=row.source).problems)
    if row.subscores or row.flags:
        yield f"Scores: {subscores_text(row)}"
    yield from confidence_lines(row)
    if row.reason:
        yield f"Judge: {one_line(row.reason, _LONGEST_TEXT)}"
    if row.raw and row.raw.strip() != row.reason.strip():
        yield f"Raw reply: {one_line(row.raw, _LONGEST_TEXT)}"
