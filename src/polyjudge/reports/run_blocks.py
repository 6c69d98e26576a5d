"""Render the report on a run as text, Markdown or JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import to_builtins

from polyjudge.files.json_lines import readable_json
from polyjudge.records.codec import to_json
from polyjudge.rubrics.penalties import SEVERITIES
from polyjudge.store.trust_cards import card_row
from polyjudge.text.display import one_line

from .blocks import Block, Heading, Lines, Table
from .preferences import preference_blocks, preference_json
from .run_rows import RunRow
from .run_summary import (
    compared_groups,
    distribution,
    group_label,
    group_why,
    judge_words,
    kinds_text,
    mean_text,
    run_comments,
    run_facts,
    run_headline,
    run_limits,
    run_steps,
    run_trust,
    scale_text,
    share_text,
)
from .runs import Group, RunReport
from .span_marks import marked_line, span_lines
from .tallies import Tally
from .wording import Commands, counted, plain, units

SCHEMA_VERSION = 1
_MOST_PROBABILITIES = 6
_LONGEST_CELL = 200
_LONGEST_TEXT = 600
_LONGEST_NAME = 100
_BAR = 40
_MOST_CATEGORIES = 50


def run_blocks(report: RunReport, commands: Commands) -> Iterator[Block]:
    """Yield a report: what was found, what decided it, what to do next, what cannot be concluded; then the figures."""
    yield Heading(1, f"Report on {report.path.name}")
    yield Lines((plain(run_headline(report)),))
    yield from _attention(report)
    yield from _section("What to do next", [f"{step.text} {step.command}" for step in run_steps(report, commands)])
    for column, text in compared_groups(report):
        yield from _section(f"By {one_line(column, 40)}, in short", [text])
    yield from _section("What cannot be concluded", run_limits(report))
    if report.preferences.count:
        yield Heading(2, "Preferences")
        yield from preference_blocks(report.preferences)
    yield from _worst(report)
    if report.total.errors or report.total.uncounted:
        yield Heading(2, "Errors")
        yield from error_blocks(report)
    if not report.selection.only_failures:
        yield from _scores(report)
        for column, groups in report.by_column.items():
            if any(group.value for group in groups):
                yield Heading(2, f"By {column}")
                yield group_table(report, column, groups)
    if report.unjudged:
        yield Heading(2, "No verdict, by kind")
        yield failure_table(report)
    yield Heading(2, "Provenance")
    yield Lines(tuple(f"{name}: {one_line(value, _LONGEST_TEXT)}" for name, value in run_facts(report)))
    yield from _section("Trust in the judges", [f"{name}: {text}" for name, text in run_trust(report)])
    more = report.skipped - len(report.problems)
    yield from _section(
        "Rows that could not be used", [*report.problems, *([f"and {more:,} more"] if more > 0 else [])]
    )


def _section(name: str, lines: Iterable[str]) -> Iterator[Block]:
    """Yield a heading and lines, or nothing without lines."""
    found = tuple(line.strip() for line in lines)
    if found:
        yield Heading(2, name)
        yield Lines(found)


def _attention(report: RunReport) -> Iterator[Block]:
    """Yield the languages that do not pass, with the reason and the judge's words."""
    groups = [group for group in report.groups if group.needs_attention and group.value]
    if groups and report.is_by_language:
        yield Heading(2, "What needs attention")
        rows = [
            (_name(group), group.status or "", one_line(group_why(group, report), _LONGEST_CELL), judge_words(group))
            for group in groups
        ]
        yield Table(("Language", "Status", "Why", "The judge on the worst one"), tuple(rows))


def _worst(report: RunReport) -> Iterator[Block]:
    rows = report.worst_rows()
    if not rows:
        return
    failing = report.has_rule
    count = report.total.counts["FAIL"] + report.total.counts["CONFLICT"] if failing else report.total.counts[None]
    what = "fail" if failing else "have the lowest scores"
    yield Heading(2, f"The worst {units(2, report.unit)}")
    yield Lines((f"The first {len(rows)} of {counted(count, report.unit)} that {what}.",))
    for row in rows:
        yield Heading(3, f"{row_title(row)} · {row.status or 'scored'}")
        yield Lines(tuple(_row_lines(row)))


def row_title(row: RunRow) -> str:
    """Return the id, language and score of a row."""
    parts = [one_line(row.id, _LONGEST_NAME)]
    parts += [one_line(row.language, _LONGEST_NAME)] if row.language else []
    parts += [f"score {row.score:.4g}"] if row.score is not None else []
    return " · ".join(parts)


def _row_lines(row: RunRow) -> Iterator[str]:
    yield from text_lines(row)
    if row.reason:
        yield f"Reason: {one_line(row.reason, _LONGEST_TEXT)}"
    yield from span_lines(row.spans)
    if row.subscores:
        yield f"Scores: {subscores_text(row)}"
    yield from confidence_lines(row)
    if row.raw and row.raw.strip() != row.reason.strip():
        yield f"Raw reply: {one_line(row.raw, _LONGEST_CELL)}"


def confidence_lines(row: RunRow) -> Iterator[str]:
    """Yield what the tokens of the reply say about the verdict, and which judge of a cascade gave it."""
    if row.probabilities:
        most = sorted(row.probabilities.items(), key=lambda pair: -pair[1])[:_MOST_PROBABILITIES]
        shares = ", ".join(f"{one_line(name, _LONGEST_CELL)} {share:.1%}" for name, share in most)
        other = f"; other tokens {row.other_probability:.1%}" if row.other_probability else ""
        yield f"Token probabilities: {shares}{other}"
    if row.expected_score is not None:
        yield f"Expected score: {row.expected_score:.4g}"
    if row.answered_by:
        sure = "" if row.confidence is None else f", confidence {row.confidence:.3g}"
        yield f"Answered by: {one_line(row.answered_by, _LONGEST_CELL)}{sure}"


def text_lines(row: RunRow) -> Iterator[str]:
    """Yield the source with its marks, the output with its marks, and the reference, each on a line."""
    if row.source:
        yield f"Source: {marked_line(row.source, row.spans, 'source', _LONGEST_TEXT) or '(empty)'}"
    if row.output is not None:
        yield f"Output: {marked_line(row.output, row.spans, 'output', _LONGEST_TEXT) or '(empty)'}"
    if row.reference:
        yield f"Reference: {one_line(row.reference, _LONGEST_TEXT) or '(empty)'}"


def subscores_text(row: RunRow) -> str:
    """Return the scores of the criteria and the answers to the questions of a rubric."""
    parts = [f"{name} {value:g}" for name, value in row.subscores.items()]
    parts += [f"{name} {'yes' if value else 'no'}" for name, value in row.flags.items()]
    return one_line(", ".join(parts), _LONGEST_TEXT)


def error_blocks(report: RunReport) -> Iterator[Block]:
    """Yield the error spans by category and severity, and those that do not count."""
    errors, uncounted = report.total.errors, report.total.uncounted
    if uncounted:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in uncounted.most_common())
        yield Lines((f"Not counted: {reasons}.",))
    by_category: Counter[str] = Counter()
    for (category, _), count in errors.items():
        by_category[category] += count
    shown = [*reversed(SEVERITIES)]
    rows = [
        (
            one_line(category, _LONGEST_NAME) or "(none)",
            *(f"{errors[category, each]:,}" for each in shown),
            f"{count:,}",
        )
        for category, count in by_category.most_common(_MOST_CATEGORIES)
    ]
    if rows:
        yield Table(("Category", *(each.capitalize() for each in shown), "All"), tuple(rows), numbers=(1, 2, 3, 4))
    if len(by_category) > _MOST_CATEGORIES:
        yield Lines((f"and {len(by_category) - _MOST_CATEGORIES:,} more categories",))


def _scores(report: RunReport) -> Iterator[Block]:
    total = report.total
    if not total.scores.count:
        return
    yield Heading(2, "Scores")
    lines = [f"Mean: {mean_text(total, report.scale)}{scale_text(report.scale)}"]
    lines += [f"Passed: {share_text(total)}"] if total.decided else []
    for name, scores in total.subscores.items():
        if scores.mean is not None:
            lines.append(f"{one_line(name, _LONGEST_NAME)}: mean {scores.mean:.2f}, n = {scores.count:,}")
    yield Lines(tuple(lines))
    yield score_table(report)


def score_table(report: RunReport) -> Table:
    """Return the distribution of the scores, with a bar for each class."""
    classes = distribution(report)
    most = max(count for *_, count in classes)
    rows = [
        (f"{low:g}" if low == high else f"{low:g} to {high:g}", f"{count:,}", "█" * round(_BAR * count / most))
        for low, high, count in classes
    ]
    return Table(("Score", units(2, report.unit).capitalize(), "Share"), tuple(rows), numbers=(0, 1))


def group_table(report: RunReport, column: str, groups: tuple[Group, ...]) -> Table:
    """Return the figures of groups, a row for each."""
    has_status = any(group.status for group in groups)
    header = (
        one_line(column, _LONGEST_NAME).capitalize(),
        *(["Status"] if has_status else []),
        "Rows",
        "Passed",
        "Failed",
        "No verdict",
        "Share",
        "Mean score",
    )
    first = 2 if has_status else 1
    rows: list[tuple[str, ...]] = []
    for group in groups:
        tally, status = group.tally, [group_label(group)] if has_status else []
        counts = (tally.rows, tally.passing, tally.decided - tally.passing, tally.counts["UNJUDGED"])
        figures = share_text(tally), mean_text(tally, report.scale)
        rows.append((_name(group), *status, *(f"{count:,}" for count in counts), *figures))
    return Table(header, tuple(rows), numbers=tuple(range(first, first + 4)))


def failure_table(report: RunReport) -> Table:
    """Return the rows without a verdict by kind, each with an example of the reason."""
    rows = [
        (kind.replace("_", " "), f"{count:,}", one_line(report.unjudged[kind][0].reason, _LONGEST_CELL))
        for kind, count in report.total.failures.most_common()
        if kind in report.unjudged
    ]
    return Table(("Kind", units(2, report.unit).capitalize(), "For example"), tuple(rows), numbers=(1,))


def _name(group: Group) -> str:
    return one_line(group.name, _LONGEST_NAME)


def run_json(report: RunReport, commands: Commands) -> Iterator[str]:
    """Yield the report as JSON."""
    total, origins = report.total, report.origins
    yield readable_json(
        {
            "schemaVersion": SCHEMA_VERSION,
            "kind": "polyjudge run report",
            "run": str(report.path),
            "runKind": report.kind,
            "timestamp": report.timestamp,
            "headline": plain(run_headline(report)),
            "next": [{"text": step.text, "command": step.command} for step in run_steps(report, commands)],
            "limits": list(run_limits(report)),
            "filters": {name: sorted(values) for name, values in report.selection.filters.items()},
            **_tally(total, report),
            "preferences": preference_json(report.preferences) if report.preferences.count else None,
            "scale": None if report.scale is None else to_json(report.scale),
            "distribution": [{"from": low, "to": high, "rows": count} for low, high, count in distribution(report)],
            "worst": [_row(row) for row in report.worst_rows()],
            "groups": [
                {"column": column, **_group(group, report)}
                for column, groups in report.by_column.items()
                for group in groups
            ],
            "unjudged": [_row(row) for rows in report.unjudged.values() for row in rows],
            "judges": [to_json(judge) for judge in origins.judges],
            "trust": {
                name: {"card": card_row(trust.card) if trust.card else None, "why": trust.why}
                for name, trust in report.trust.items()
            },
            "sameComments": run_comments(report),
            "costUsd": origins.cost_usd,
            "unpricedReplies": origins.unpriced,
            "cachedReplies": origins.cached,
            "warnings": list(report.problems),
            "skippedRows": report.skipped,
        },
        indent=1,
    )
    yield "\n"


def _tally(tally: Tally, report: RunReport) -> dict[str, Any]:
    interval = tally.scores.interval(report.scale)
    return {
        "rows": tally.rows,
        "statuses": {status or "SCORED": count for status, count in tally.counts.items()},
        "decided": tally.decided,
        "passing": tally.passing,
        "passInterval": to_builtins(tally.pass_interval) if tally.pass_interval else None,
        "scores": tally.scores.count,
        "mean": tally.scores.mean,
        "meanInterval": to_builtins(interval) if interval else None,
        "subscores": {name: {"mean": each.mean, "scores": each.count} for name, each in tally.subscores.items()},
        "failures": dict(tally.failures),
        "errors": [
            {"category": category, "severity": severity, "count": count}
            for (category, severity), count in tally.errors.most_common()
        ],
        "errorsNotCounted": dict(tally.uncounted),
    }


def _group(group: Group, report: RunReport) -> dict[str, Any]:
    return {
        "value": group.value,
        "name": group.name,
        "status": group.status,
        "label": group_label(group),
        "why": group_why(group, report),
        "judgeSays": judge_words(group),
        **_tally(group.tally, report),
        "failureKinds": kinds_text(group.tally),
    }


def _row(row: RunRow) -> dict[str, Any]:
    return {key: value for key, value in to_builtins(row).items() if key not in ("columns", "provenance")}
