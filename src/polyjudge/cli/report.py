"""`polyjudge report RUN` or `--results R`: turn any run, or a translator's results and judge scores, into a report."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.formats.row_files import column_map, spooled
from polyjudge.languages.table import language_table
from polyjudge.reports.run_kinds import is_translation
from polyjudge.reports.run_page import RUN_FORMATS
from polyjudge.reports.run_rows import RunRows
from polyjudge.reports.runs import RunReport, Selection
from polyjudge.reports.translation import Report
from polyjudge.reports.translation_formats import FORMATS, report
from polyjudge.reports.wording import Commands
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE

from .check_options import add_check_options, add_jobs_option, jobs_of
from .checking import policy_of, print_accepted
from .options import Several, add_report_options, check_output, filters_of, finite
from .otel import send_events
from .output import print_warning, write_pieces
from .progress import StatusLine, counted
from .tables import RESULTS_HELP, add_penalties_option, add_table_options, input_of, print_columns, table_options_of

_WARNINGS_SHOWN = 5
_LONGEST_WARNING = 400


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_run_options(parser)
    add = parser.add_argument
    gate = "exit 1 unless a judge is calibrated for each language that has scores"
    add("--require-calibrated", action="store_true", help=gate)
    columns = "also group by this column of the rows or items; can be repeated"
    add("--by", action=Several, default=[], metavar="COLUMN", help=columns)
    add("--only", choices=["failures"], help="list only what fails or has no verdict; the counts still cover all rows")
    otel = "also send each score to the OpenTelemetry collector at OTEL_EXPORTER_OTLP_ENDPOINT"
    add("--otel", action="store_true", help=otel)
    add_report_options(add, FORMATS, "markdown")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a run, or a translator's results with their scores."""
    add = parser.add_argument
    given = parser.add_mutually_exclusive_group(required=True)
    run = "run file or folder: of score, translation, vocabulary, transcript, regression or calibration"
    given.add_argument("run", type=Path, nargs="?", metavar="RUN", help=run)
    given.add_argument("--results", type=Path, metavar="FILE", help=RESULTS_HELP)
    add("--quick-judge", type=Path, metavar="FILE", help="scores of `translation quick`")
    add("--full-judge", type=Path, metavar="FILE", help="scores of `translation full`")
    add("--items", type=Path, metavar="FILE", help="texts that RUN judged, if it does not contain them")
    add("--pass-from", type=finite, metavar="SCORE", help="lowest score that passes; default: the rubric's rule")
    chosen = "only rows with one of these values; language=… takes tags and names"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)
    add(
        "--card",
        type=Path,
        action=Several,
        default=[],
        metavar="FILE",
        help="trust card of a judge; default: the judge's own in .polyjudge/cards",
    )
    group = parser.add_argument_group("checks of translations").add_argument
    add_check_options(group)
    add_jobs_option(group)
    add_table_options(parser.add_argument_group("table").add_argument)
    add_penalties_option(add)


def run(options: argparse.Namespace) -> int:
    """Read the files and write the report."""
    results = translations_of(options)
    inputs = [options.run, options.results, options.quick_judge, options.full_judge, options.items, *options.card]
    check_output(options.output, inputs, force=options.force)
    if results is None:
        return _report_run(options)
    found = translation_report(options, results)
    write_report(found, options.format, options.output, force=options.force, commands=translation_commands(options))
    warn_of(found)
    if not options.require_calibrated:
        return 0
    return _calibration_gate(found.uncalibrated(), has_judges=bool(found.judges))


def translations_of(options: argparse.Namespace) -> Path | None:
    """Return the translator's results that the options name, or None for another run; refuse options that clash."""
    table = table_options_of(options)
    results: Path | None = options.results
    if options.run is not None:
        options.run = spooled(options.run)
        results = options.run if is_translation(options.run, table) else None
    of_runs = {"--by": options.by, "--otel": options.otel or None} if "by" in options else {}
    of_runs |= {"--items": options.items, "--pass-from": options.pass_from}
    of_translations = {"--quick-judge": options.quick_judge, "--full-judge": options.full_judge}
    of_translations |= {"--checks": options.checks or None, "--skip-checks": options.skip_checks or None}
    of_translations |= {"--accepted": options.accepted}
    clashing = [name for name, value in (of_runs if results else of_translations).items() if value not in (None, [])]
    if clashing and results:
        raise ConfigError(
            f"{clashing[0]} cannot be used with a translator's results, which contain their texts. Leave it out."
        )
    if clashing:
        raise ConfigError(
            f"{clashing[0]} is only for a translator's results; {options.run} contains its own scores. Leave it out."
        )
    return None if results is None else input_of(results, table, uses_ids=False)


def translation_report(options: argparse.Namespace, results: Path) -> Report:
    """Return the report on a translator's results."""
    policy = policy_of(options)
    with StatusLine() as status:
        found = report(
            results,
            quick_judge=options.quick_judge,
            full_judge=options.full_judge,
            cards=options.card,
            table=table_options_of(options),
            policy=policy,
            filters=filters_of(options.filter),
            only_failures=getattr(options, "only", None) == "failures",
            progress=lambda _: status.count("languages read"),
            jobs=jobs_of(options),
        )
    print_accepted(policy, found.accepted, warn_of_unused=not options.filter)
    return found


def run_rows(options: argparse.Namespace) -> RunRows:
    """Return the rows of the run, and print which columns of a table of scores were taken for what."""
    table = table_options_of(options)
    rows = RunRows(options.run, options.items, options.pass_from, table)
    if rows.kind == "score":
        print_columns(options.run, column_map(options.run, table), uses_ids=True)
    return rows


def run_report(options: argparse.Namespace, selection: Selection) -> RunReport:
    """Return the report on a run."""
    rows = run_rows(options)
    with StatusLine() as status:
        return RunReport(
            rows,
            language_table(),
            timestamp=utc_now(),
            selection=selection,
            cards=options.card,
            progress=lambda: status.count("rows read"),
        )


def _report_run(options: argparse.Namespace) -> int:
    found = run_report(
        options,
        Selection(
            by=tuple(options.by),
            filters=filters_of(options.filter),
            only_failures=options.only == "failures",
            all_rows=options.format == "html",
        ),
    )
    pieces = RUN_FORMATS[options.format](found, run_commands(options, found))
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)
    _warn(found.problems, found.skipped)
    if options.otel:
        rows = RunRows(options.run, options.items, options.pass_from, table_options_of(options))
        sent = send_events(row for row in rows if found.selects(row))
        print(f"polyjudge: sent {counted(sent, 'event')} to the OpenTelemetry collector", file=sys.stderr)
    if not options.require_calibrated:
        return 0
    return _run_gate(found)


def _run_gate(found: RunReport) -> int:
    """Print why the judges of a run are not calibrated, and return the exit code."""
    unknown = found.uncalibrated()
    if not found.trust:
        offline = "The scores are of the checks (offline), not of a judge"
        why = offline if found.origins.judges else "The results name no judge. Give --card FILE"
    elif unknown and not found.names_language:
        words = (
            f"{name} ({trust.word_without_language if trust.card else trust.why})"
            for name, trust in found.trust.items()
        )
        why = f"Not calibrated: no row names a language, and no card is reliable in all its own: {'; '.join(words)}"
    else:
        return _calibration_gate(unknown, has_judges=True)
    print(f"polyjudge: --require-calibrated: {one_line(why, _LONGEST_WARNING)}.", file=sys.stderr)
    return 1


def _calibration_gate(unknown: Sequence[str], *, has_judges: bool) -> int:
    """Print the languages for which no judge is calibrated, and return the exit code."""
    if not has_judges:
        print(
            "polyjudge: --require-calibrated needs judge scores. Give --quick-judge or --full-judge.", file=sys.stderr
        )
    elif unknown:
        named = one_line(", ".join(unknown), _LONGEST_WARNING)
        print(f"polyjudge: not calibrated for {counted(len(unknown), 'language')}: {named}", file=sys.stderr)
    return 1 if unknown or not has_judges else 0


def write_report(
    report: Report, form: str, path: Path | None, *, force: bool, commands: Commands | None = None
) -> None:
    """Write a report to a file, or to stdout without a path."""
    write_pieces(path, FORMATS[form](report, commands or Commands()), format_name=form, force=force)


def warn_of(report: Report) -> None:
    """Print warnings about what could not be used."""
    _warn(report.warnings, report.skipped_rows)


def _warn(problems: Sequence[str], total: int) -> None:
    for warning in problems[:_WARNINGS_SHOWN]:
        print_warning(f"{one_line(warning, _LONGEST_WARNING)}")
    if total > _WARNINGS_SHOWN:
        print_warning(f"{total} parts of the files could not be used")


def translation_commands(options: argparse.Namespace) -> Commands:
    """Return the commands that a report on translations names."""
    results = _quoted(options.results or options.run)
    judged = "".join(
        f" --{name}-judge {_quoted(path)}"
        for name, path in (("quick", options.quick_judge), ("full", options.full_judge))
        if path is not None
    )
    return Commands(
        judge=f"polyjudge translation full {results}",
        judge_again=f"polyjudge translation full {results} --filter language={{values}}",
        explain=f"polyjudge explain {results}{judged} --language {{values}}",
        calibrate="polyjudge calibrate perturb --filter language={values}",
        label=f"polyjudge label {results} --filter language={{values}}",
    )


def run_commands(options: argparse.Namespace, found: RunReport) -> Commands:
    """Return the commands that a report on a run names."""
    run, items = _quoted(options.run), options.items
    given = f"{run}{f' --items {_quoted(items)}' if items else ''}"
    explain = f"polyjudge explain {given} --language {{values}}"
    with_rule = f"polyjudge report {given} --pass-from SCORE"
    with_texts = f"polyjudge report {run} --items ITEMS --format html --output report.html"
    has_texts = items is not None or found.without_text < found.total.rows
    label = f"polyjudge label {given} --filter language={{values}}"
    label = label if found.kind == "score" and has_texts else ""
    judges = [judge for judge in found.origins.judges if judge.provider != OFFLINE]
    if len(judges) != 1:
        return Commands(explain=explain, with_texts=with_texts, with_rule=with_rule, label=label)
    named = f"--judge {_quoted(f'{judges[0].provider}/{judges[0].model}')} --rubric {_quoted(judges[0].rubric)}"
    can_judge = found.kind == "score" and items is not None
    score = f"polyjudge score {_quoted(items)} {named}" if can_judge else ""
    return Commands(
        explain=explain,
        with_texts=with_texts,
        with_rule=with_rule,
        calibrate=f"polyjudge calibrate perturb {named} --filter language={{values}}",
        judge_again=score and f"{score} --filter language={{values}} --output again.jsonl",
        retry=score and f"{score} --retry-failures --output {run}",
        label=label,
    )


def _quoted(value: object) -> str:
    return shlex.quote(str(value))
