"""Build the page of the report on a run, and name the formats of such reports."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from polyjudge.records.rubrics import Scale
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import STATUSES, Status
from polyjudge.verdicts.translation import NEEDED_SHARE

from .blocks import Lines, markdown, plain_text
from .charts import axis, histogram, observed_scale, score_dots
from .page import (
    Attention,
    Cell,
    Chart,
    MapRow,
    Named,
    Page,
    Text,
    render_page,
)
from .page_items import cut, marked, marked_source
from .preferences import preference_blocks
from .run_blocks import error_blocks, failure_table, group_table, run_blocks, run_json, subscores_text
from .run_details import group_anchor, named_group, run_details
from .run_rows import RunRow, shipped_rubric
from .run_summary import (
    compared_groups,
    distribution,
    group_label,
    group_why,
    judge_words,
    run_comments,
    run_facts,
    run_headline,
    run_limits,
    run_steps,
)
from .runs import Group, RunReport
from .span_marks import span_notes
from .tallies import Scores
from .translation_summary import MOST_IN_FULL, trust_words
from .wording import (
    STATUS_MEANINGS,
    UNCALIBRATED,
    Commands,
    Span,
    Step,
    counted,
    language_rule,
    number_range,
    percent_range,
    share_rule,
    units,
)

_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_LONGEST_WHY = 200
_MOST_ROWS_OF_CHART = 100
_MOST_CRITERIA = 3
_TERMS = (
    (f"The {NEEDED_SHARE:.0%} rule", f"{share_rule(1, 5)}. {share_rule(1, 4)}."),
    (
        "4.0 [2.2 to 5.0], n = 5",
        "Mean, 95% interval and the number of scores: the interval covers the mean that many more items would have.",
    ),
    ("SCORED", "A judge gave a score. The rubric has no pass rule, so nothing passes or fails."),
    (
        "not calibrated",
        "No trust card: what the judge misses is not known. To measure it: polyjudge calibrate perturb.",
    ),
    ("No verdict", "The judge refused, failed, or its reply could not be read. It says nothing about the text."),
)


def run_page(report: RunReport, commands: Commands) -> Iterator[str]:
    """Render the page; items are read one group at a time."""
    groups = [group for group in report.groups if group.needs_attention or not report.selection.only_failures]
    in_full, more = _attention_groups(report)
    by_language = report.is_by_language
    of_rows: dict[Status, int] = {status: report.total.counts[status] for status in STATUSES}
    counts, unnamed = report.group_counts if by_language else of_rows, report.skipped - len(report.problems)
    found = Page(
        title=f"report on {one_line(report.path.name, _LONGEST_NAME)}",
        question="Is it good enough to ship?" if report.has_rule else "What did the judge say?",
        sentence=run_headline(report),
        advice=list(run_steps(report, commands)),
        facts=list(run_facts(report)),
        counts=counts if report.has_rule else {},
        unit=units(2, "language" if by_language else report.unit),
        sum_note=_sum_note(report, counts, by_language=by_language),
        compared=[
            (one_line(name, 40), _section_of(report, name), f"{text}.") for name, text in compared_groups(report)
        ],
        trust=list(_trust(report)),
        causes=[],
        attention_note=_attention_note(report),
        attention=[_group_attention(report, group, commands) for group in in_full]
        if by_language
        else [_row_attention(report, row, place) for place, row in enumerate(report.worst_rows())],
        more=[(one_line(group.name, _LONGEST_NAME), group_anchor(report, group)) for group in more],
        allowed=list(_allowed(report)) if by_language else [],
        limits=list(run_limits(report)),
        group=report.column.capitalize(),
        map_note=_map_note(report),
        columns=[(column, short) for column, short, _ in _measures(report)],
        rows=[_row(report, group) for group in groups],
        chart=_chart(report),
        sections=list(_sections(report)),
        warnings=[*report.problems, *([f"and {unnamed:,} more"] if unnamed > 0 else [])],
        terms=_TERMS,
        meanings=STATUS_MEANINGS if report.is_calibrated else UNCALIBRATED,
    )
    return render_page(found, run_details(report, groups))


def _trust(report: RunReport) -> Iterator[tuple[str, str, str]]:
    """Yield how far each judge is reliable, and where its comments are all the same."""
    yield from ((name, *trust_words(trust)) for name, trust in report.trust.items())
    yield from (("comments", line, "") for line in run_comments(report))


def _sum_note(report: RunReport, counts: Mapping[Status, int], *, by_language: bool) -> str:
    total = report.total
    share = ""
    if total.decided and not total.counts[None]:
        passing = f"{total.passing / total.decided:.0%} of {counted(total.decided, report.unit)} with a verdict pass"
        share = f" {passing} {percent_range(total.pass_interval)}, 95% interval."
    shown = [f"{count:,}" for count in counts.values() if count]
    if not report.has_rule or not shown:
        return ""
    what = counted(sum(counts.values()), "language" if by_language else report.unit)
    scored = f" {counted(total.counts[None], report.unit)} neither pass nor fail." if total.counts[None] else ""
    return f"{' + '.join(shown)} = {what}.{share}{scored}{_rules(report, by_language=by_language)}"


def _rules(report: RunReport, *, by_language: bool) -> str:
    """Explain when a row passes and when a language does, as far as there is a rule."""
    bar = _pass_bar(report)
    of_rows = f" Each {report.unit} needs a score of at least {bar:g}." if bar is not None else ""
    return f"{of_rows} {language_rule(report.unit)}" if by_language else of_rows


def _attention_groups(report: RunReport) -> tuple[list[Group], list[Group]]:
    """Return the languages that do not pass: those to show in full, and the others."""
    bad = [group for group in report.groups if group.status in ("FAIL", "CONFLICT", "UNRELIABLE") and group.value]
    return bad[:MOST_IN_FULL], bad[MOST_IN_FULL:]


def _attention_note(report: RunReport) -> str:
    if report.is_by_language:
        bad = sum(group.status in ("FAIL", "CONFLICT", "UNRELIABLE") for group in report.groups)
        rule = f"At least {NEEDED_SHARE:.0%} of the {units(2, report.unit)} of a language must pass."
        return (
            f"{bad:,} of {len(report.groups):,} languages do not pass. Each row shows its worst {report.unit}. {rule}"
        )
    what = "fail" if report.has_rule else "have the lowest scores"
    return f"The {units(2, report.unit)} that {what}, the worst first."


def _group_attention(report: RunReport, group: Group, commands: Commands) -> Attention:
    tally, rows = group.tally, group.tally.worst_rows()
    texts, notes = _texts_and_notes(report, rows[0]) if rows else ((), ())
    spans = span_notes(rows[0].spans) if rows else ()
    find = one_line(rows[0].reason, _LONGEST_WHY) if rows else group_why(group, report)
    again = commands.filled("judge_again", [group.value])
    steps = [Step(text="Fix what the judge names, and judge it again.", command=again)]
    is_known = tally.decided and not tally.counts[None]
    rule = share_rule(tally.decided - tally.passing, tally.decided) if is_known else group_why(group, report)
    return Attention(
        named=named_group(report, group),
        status=group.status,
        find=group.why_unreliable if group.status == "UNRELIABLE" else find or group_why(group, report),
        rule=f"{rule}.",
        texts=texts,
        spans=spans,
        notes=notes,
        steps=steps,
        count=f"All {counted(tally.rows, report.unit)}",
    )


def _row_attention(report: RunReport, row: RunRow, place: int) -> Attention:
    texts, notes = _texts_and_notes(report, row)
    known = report.table.find(row.language) if row.language else None
    return Attention(
        named=Named(name=one_line(row.id, _LONGEST_NAME), native=known.name if known else "", anchor=f"item-{place}"),
        status=row.status,
        find=one_line(row.reason, _LONGEST_WHY) or "No reason given",
        rule=f"Score {row.score:.4g}" if row.score is not None else "",
        texts=texts,
        spans=span_notes(row.spans),
        notes=notes,
        steps=[Step(text="Read it, and decide whether the judge is right.")],
    )


def _texts_and_notes(report: RunReport, row: RunRow) -> tuple[list[Text], list[Span]]:
    known = report.table.find(row.language) if row.language else None
    texts: list[Text] = []
    if row.source:
        texts.append(Text(label="Source", pieces=marked_source(row.source, row.spans)))
    if row.output is not None:
        pieces = marked(row.output, (), row.spans) if row.output.strip() else []
        tag, direction = (known.tag, known.direction) if known else ("", "auto")
        texts.append(Text(label="Output", pieces=pieces, tag=tag, direction=direction))
    if row.reference and report.kind != "score":
        texts.append(Text(label="Reference", pieces=[[cut(row.reference)]]))
    judge = f"{row.provenance.model}:" if row.provenance else "Judge:"
    scores = subscores_text(row)
    words = one_line(row.reason, _LONGEST_NOTE) if len(row.reason) > _LONGEST_WHY else ""
    notes: list[Span] = [(judge, f"{scores}. {words}".strip(" ."))]
    return texts, notes if scores or words else []


def _allowed(report: RunReport) -> Iterator[tuple[str, str, str, str]]:
    for group in report.groups:
        failed = group.tally.decided - group.tally.passing
        if group.status in ("PASS", "CHECKED") and failed and not group.tally.counts[None]:
            said = one_line(judge_words(group), _LONGEST_WHY)
            rule = share_rule(failed, group.tally.decided)
            yield one_line(group.name, _LONGEST_NAME), group_anchor(report, group), said, rule


def _map_note(report: RunReport) -> str:
    language = " Scores of different languages are not comparable." if report.column == "language" else ""
    what = f"Means of the scores, and how many {units(2, report.unit)} pass, with their number."
    return f"{what}{language} Open a row for its texts."


def _measures(report: RunReport) -> list[tuple[str, str, Callable[[Group], Cell]]]:
    """Return the columns of the map: name, short name, and how a cell is made; without those that would be empty."""
    scale = _scale(report)
    found: list[tuple[str, str, Callable[[Group], Cell]]] = [("Rows", "Rows", _rows_cell)]
    found += [("Pass", "Pass", _pass_cell)] if report.has_rule else []
    found += [("No verdict", "None", _unjudged_cell)] if report.total.counts["UNJUDGED"] else []
    if report.total.scores.count:
        found.append(("Score", "Score", lambda group: _mean_cell(group.tally.scores, scale)))
    for name in list(report.total.subscores)[:_MOST_CRITERIA]:
        title = one_line(name, 30).capitalize()
        found.append((title, title[:7], lambda group, name=name: _mean_cell(group.tally.subscores.get(name), scale)))
    return found


def _row(report: RunReport, group: Group) -> MapRow:
    return MapRow(
        named=named_group(report, group),
        status=group.status,
        note=group_label(group).partition(" (")[2].rstrip(")"),
        cells=[make(group) for *_, make in _measures(report)],
        why=one_line(_why(report, group), _LONGEST_WHY),
        is_fine=group.status in ("PASS", "CHECKED") and group.tally.passing == group.tally.decided,
    )


def _rows_cell(group: Group) -> Cell:
    return Cell(text=f"{group.tally.rows:,}", style="plain", value=str(group.tally.rows))


def _pass_cell(group: Group) -> Cell:
    tally = group.tally
    if not tally.decided:
        return Cell(text="–", style="na")
    style = "v5" if tally.passing == tally.decided else _share_style(group)
    share, interval = f"{tally.passing / tally.decided:.4f}", percent_range(tally.pass_interval)
    return Cell(text=f"{tally.passing:,}/{tally.decided:,}", style=style, value=share, interval=interval)


def _unjudged_cell(group: Group) -> Cell:
    unjudged = group.tally.counts["UNJUDGED"]
    return Cell(text=f"{unjudged:,}" if unjudged else "–", style="ask" if unjudged else "na", value=str(unjudged))


def _share_style(group: Group) -> str:
    failing = group.status in ("FAIL", "CONFLICT", "UNRELIABLE")
    share = group.tally.passing / group.tally.decided
    return "v3" if not failing and group.status else "v4" if share >= NEEDED_SHARE else "v2" if share >= 0.5 else "v1"


def _why(report: RunReport, group: Group) -> str:
    why, words = group_why(group, report), judge_words(group)
    if group.status in ("FAIL", "CONFLICT") and words:
        return f"{why}. “{words}”"
    return why or (f"“{words}”" if words else "")


def _mean_cell(scores: Scores | None, scale: Scale) -> Cell:
    if scores is None or scores.mean is None:
        return Cell(text="–", style="na")
    share = (scores.mean - scale.lowest) / ((scale.highest - scale.lowest) or 1)
    interval = number_range(scores.interval(scale), 1)
    style = "v5" if share >= 0.85 else "v4" if share >= 0.7 else "v3" if share >= 0.4 else "low"
    return Cell(
        text=f"{scores.mean:.1f}",
        style=style,
        value=f"{scores.mean:.4f}",
        interval=f"{interval}, n = {scores.count:,}".removeprefix(", "),
    )


def _scale(report: RunReport) -> Scale:
    return report.scale or observed_scale(report.total.scores)


def _pass_bar(report: RunReport) -> float | None:
    """Return the lowest score that passes: the one that was given, or that of a shipped rubric."""
    if report.pass_from is not None:
        return report.pass_from
    rubrics = [shipped_rubric(judge.rubric, judge.rubric_fingerprint) for judge in report.origins.judges]
    minimums = {rubric.passing.minimum for rubric in rubrics if rubric is not None and rubric.passing is not None}
    return minimums.pop() if len(minimums) == 1 else None


def _chart(report: RunReport) -> Chart | None:
    scale, bar = _scale(report), _pass_bar(report)
    if len(report.total.scores.values) < 2:
        return None
    by_mean = sorted(report.total.subscores.items(), key=lambda entry: entry[1].mean or 0.0)
    names = [name for name, _ in by_mean[:2]] or [""]
    groups = report.groups[:_MOST_ROWS_OF_CHART]
    left_out = f" The first {len(groups)} of {len(report.groups):,}." if len(groups) < len(report.groups) else ""
    shown_bar = f" ✕ is below {bar:g}, the lowest score that passes." if bar is not None else ""
    return Chart(
        dimensions=[one_line(name, 40).capitalize() or "Score" for name in names],
        axis=axis(scale, bar),
        rows=[
            (
                f"{one_line(group.name, _LONGEST_NAME)} (n = {group.tally.scores.count:,})",
                group.status,
                [
                    score_dots(
                        name or "score", group.tally.subscores.get(name) if name else group.tally.scores, scale, bar
                    )
                    for name in names
                ],
            )
            for group in groups
        ],
        note="A dot is a score, larger where more have it. The tick is the mean, the band its 95% interval, n the "
        f"number of scores.{shown_bar}{left_out}",
    )


def _sections(report: RunReport) -> Iterator[tuple[str, str, list[Any]]]:
    if report.total.errors:
        yield "errors", "Errors", list(error_blocks(report))
    if report.preferences.count:
        yield "preferences", "Preferences", list(preference_blocks(report.preferences))
    if report.total.scores.count:
        yield (
            "distribution",
            "Distribution",
            [histogram(distribution(report), f"the scores of all {units(2, report.unit)}")],
        )
    for column, groups in report.by_column.items():
        if column != report.column and any(group.value for group in groups):
            yield _section_of(report, column), f"By {one_line(column, 40)}", [group_table(report, column, groups)]
    if report.unjudged:
        examples = [
            f"{kind.replace('_', ' ')}, raw reply: {one_line(rows[0].raw, _LONGEST_NOTE) or 'none'}"
            for kind, rows in report.unjudged.items()
        ]
        yield "failures", "No verdict", [failure_table(report), Lines(tuple(examples))]


def _section_of(report: RunReport, column: str) -> str:
    return f"by-{list(report.by_column).index(column)}"


RUN_FORMATS: dict[str, Callable[[RunReport, Commands], Iterator[str]]] = {
    "markdown": lambda report, commands: markdown(run_blocks(report, commands)),
    "text": lambda report, commands: plain_text(run_blocks(report, commands)),
    "json": run_json,
    "html": run_page,
}
"""Renders the report on a run, by the name of the format."""
