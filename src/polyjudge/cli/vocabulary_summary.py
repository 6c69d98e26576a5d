"""`polyjudge vocabulary summary`: summarize the stored judgements, as the actions that judge do at their end."""

import argparse
import sys
from collections.abc import Iterable

from polyjudge.clock import utc_second
from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.formats.vocabulary import JUDGEMENTS_FILE, SUMMARY_FILE, read_judgements
from polyjudge.records.vocabulary import Judgement
from polyjudge.reports.blocks import BLOCK_FORMATS, Heading, Lines
from polyjudge.reports.vocabulary import VocabularyReport, vocabulary_blocks, vocabulary_summary
from polyjudge.text.display import harmless, one_line

from .options import share
from .output import ignore_closed_pipe, print_table
from .vocabulary_options import add_output_option

FORMATS = ("text", "markdown", "html", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_option(parser)
    add_showing_options(parser)
    too_many = "exit 3 when a larger share of answers has no verdict; default: %(default)s"
    parser.add_argument("--max-unjudged", type=share, default=0.2, metavar="SHARE", help=too_many)


def run(options: argparse.Namespace) -> int:
    """Read the judgements, write the summary, and print it."""
    path = options.output / JUDGEMENTS_FILE
    if not path.is_file():
        raise DataError("file not found. Run first: polyjudge vocabulary judge", path=path)
    rows = list(read_judgements(path))
    if not rows:
        raise DataError("no judgements found. Run first: polyjudge vocabulary judge", path=path)
    return exit_code(options, show_summary(options, rows))


def add_showing_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the actions that summarize."""
    add = parser.add_argument
    add("--format", choices=FORMATS, default="text", help="output format; default: %(default)s")
    add(
        "--fail-under",
        type=_percentage,
        metavar="PERCENT",
        help="exit 1 if a model knows less than this percentage of its words",
    )


def show_summary(options: argparse.Namespace, judgements: Iterable[Judgement]) -> VocabularyReport:
    """Write `summary.json` and print the tables."""
    report = VocabularyReport(judgements)
    summary = vocabulary_summary(report, generated_at=utc_second())
    path = options.output / SUMMARY_FILE
    with write_atomically(path, force=options.force) as file:
        file.write(readable_json(summary, indent=2) + "\n")
    with ignore_closed_pipe():
        if options.format == "json":
            print(readable_json(summary, indent=2))
        elif options.format != "text":
            blocks = [Heading(1, "Word understanding"), *vocabulary_blocks(report)]
            sys.stdout.writelines(BLOCK_FORMATS[options.format](blocks))
        else:
            _print_blocks(report)
    print(f"summary: {path}", file=sys.stderr)
    return report


def _print_blocks(report: VocabularyReport) -> None:
    for block in vocabulary_blocks(report):
        if isinstance(block, Heading):
            print(harmless(block.text))
        elif isinstance(block, Lines):
            print("\n".join(map(harmless, block.lines)) + "\n")
        else:
            print_table(block.header, block.rows, numbers=block.numbers)


def exit_code(options: argparse.Namespace, report: VocabularyReport) -> int:
    """Return 3 if too many answers could not be judged, 1 if a model is below `--fail-under`, else 0."""
    messages: list[str] = []
    for judge in report.judges:
        figures = report.all_figures(judge)
        total, judged = sum(each.total for each in figures), sum(each.judged for each in figures)
        if not judged or total - judged > options.max_unjudged * total:
            messages.append(_without_verdict(report, judge))
    for message in dict.fromkeys(messages):  # missing answers are missing for every judge
        print(f"polyjudge: {message}", file=sys.stderr)
    if messages:
        return 3
    return 0 if options.fail_under is None else _compare_with_minimum(report, options.fail_under)


def _without_verdict(report: VocabularyReport, judge: str) -> str:
    """Return how many answers have no verdict because a model gave no answer, and how many because of the judge."""
    figures = report.all_figures(judge)
    total = sum(each.total for each in figures)
    failed = {
        model: sum(report.figures(judge, model, prompt).generation_errors for prompt in report.prompts)
        for model in report.models
    }
    missing = sum(failed.values())
    by_judge = sum(each.undetermined + each.judging_errors for each in figures)
    named = ", ".join(f"{one_line(model, 100)}: {count}" for model, count in failed.items() if count)
    parts = [f"{missing} of {total} answers are missing because the model gave none ({named})"] if missing else []
    parts += [f"{by_judge} of {total} answers could not be judged by {one_line(judge, 100)}"] if by_judge else []
    return f"{'; '.join(parts)}; this is more than --max-unjudged allows"


def _compare_with_minimum(report: VocabularyReport, minimum: float) -> int:
    """Print the models below the minimum, and those without a percentage; return the exit code."""
    percents = {
        model: [report.figures(report.judge, model, prompt).percent for prompt in report.prompts]
        for model in report.models
    }
    unmeasured = [one_line(model, 100) for model, found in percents.items() if None in found]
    below = [
        one_line(model, 100)
        for model, found in percents.items()
        if any(percent is not None and percent < minimum for percent in found)
    ]
    if unmeasured:
        print(
            f"polyjudge: --fail-under {minimum:g} cannot be applied to models without judged answers: "
            f"{', '.join(unmeasured)}",
            file=sys.stderr,
        )
    if below:
        print(f"polyjudge: under {minimum:g}% correct: {', '.join(below)}", file=sys.stderr)
    return 3 if unmeasured else 1 if below else 0


def _percentage(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"must be a number between 0 and 100, not {text!r}")
    return number
