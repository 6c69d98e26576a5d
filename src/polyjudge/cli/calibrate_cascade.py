"""`polyjudge calibrate cascade RESULTS…`: learn from labels when the next judge is to be asked; no call is made."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyjudge.calibration.cascade_items import cascade_items, read_evidence
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import own_fields
from polyjudge.formats.ratings import Ratings, label_column
from polyjudge.formats.row_files import named_rows_of, spooled
from polyjudge.formats.tools import tool_format_of
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.codec import to_json
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.cascades import cascade_blocks
from polyjudge.store.cascade_plans import write_plan
from polyjudge.text.display import one_line

from .calibrating import write_figures
from .cascade_learning import agreement_rule, learn_plan
from .cascade_options import add_guarantee_options, target_share
from .options import Several, add_force_option, check_output
from .output import print_warning, warn_of_skipped
from .progress import counted
from .rating_sides import add_rating_options, check_labels, read_side, show_column
from .tables import filtered_table_options_of, table_options_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    results = "results of each judge for the same items, in the order in which the judges are to be asked; or one file "
    add("results", type=Path, nargs="+", metavar="RESULTS", help=f"{results}of several judges")
    labels = "people's labels of a random sample of the items: rows with id and label; default: those in RESULTS"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    wanted = "minimum share of answers that agree with people, such as 0.85"
    add("--target", type=target_share, metavar="SHARE", help=wanted)
    add_guarantee_options(add)
    later = "guarantee the share among later items, not also among the items of RESULTS without a label"
    add("--long-run", action="store_true", help=later)
    sure = "column of the judge's confidence, from 0 to 1; default: that of token probabilities or repeats"
    add("--confidence", default="", metavar="COLUMN", help=sure)
    add_rating_options(add)
    add(
        "--output",
        type=Path,
        metavar="FILE",
        help="file for the plan, which --cascade reads; default: the plan is not stored",
    )
    add_force_option(add)
    add("--format", choices=[*BLOCK_FORMATS, "json"], default="text", help="output format; default: %(default)s")


def run(options: argparse.Namespace) -> int:
    """Read results and labels, learn, and show what it gives; exit 1 if the target cannot be guaranteed."""
    if options.target is None:
        raise ConfigError(
            "No target given. Give the minimum share of answers that agree with people, such as --target 0.85."
        )
    if len({path.resolve() for path in options.results}) < len(options.results):
        raise ConfigError("The same results are given twice. Give a file for each judge.")
    check_output(options.output, [*options.results, *options.labels], kind=FileKind.CASCADE, force=options.force)
    plan = _plan(options)
    found = {**own_fields(), **to_json(plan)}
    output, options.output = options.output, None  # the report goes to stdout, the plan to the file
    write_figures(options, found, cascade_blocks(plan, language_table()))
    if not plan.groups:
        fewer = " --long-run takes fewer labels, and is about later items alone." if plan.coming else ""
        refused = "the target cannot be guaranteed; no plan was written. Lower --target, or give more labels."
        print(f"polyjudge: {refused}{fewer}", file=sys.stderr)
        return 1
    if output is not None:
        write_plan(output, plan, force=options.force)
        print(f"polyjudge: plan: {output}", file=sys.stderr)
    return 0


def _plan(options: argparse.Namespace) -> CascadePlan:
    options.results = [spooled(path) for path in options.results]
    sources = _sources(options)
    judged = [read_side([source.path], "score", source.options) for source in sources]
    labels, label_file = _labels(options, sources[0])
    _check_items({source.name: side for source, side in zip(sources, judged, strict=True)}, label_file, labels)
    rule = agreement_rule(judged, labels, options)
    evidence = [
        read_evidence(source.path, filtered_table_options_of(source.options), rule, options.confidence)
        for source in sources
    ]
    facts = [fact for each in evidence for fact in each.values()]
    items = cascade_items(judged, evidence, labels, rule)
    return learn_plan(
        items,
        [_judge(side, source.path) for source, side in zip(sources, judged, strict=True)],
        rule,
        options,
        options.target,
        repeats=max((fact.repeats for fact in facts), default=1),
        token_probabilities=any(fact.has_tokens for fact in facts),
        coming={} if options.long_run else Counter(item.language for item in items if item.agrees is None),
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """The rows of one judge."""

    path: Path
    options: argparse.Namespace
    """With a filter for the judge, if the file has the rows of several."""
    name: str


def _sources(options: argparse.Namespace) -> list[_Source]:
    """Return the rows of each judge: a file each, or those of one file, in the order in which it names its judges."""
    paths: list[Path] = options.results
    if len(paths) > 1 or tool_format_of(paths[0]) is None:
        return [_Source(path, options, str(path)) for path in paths]
    rows = (row for _, row in named_rows_of(paths[0], filtered_table_options_of(options)))
    judges = dict.fromkeys(str(row["model"]) for row in rows if not isinstance(row, str) and row.get("model"))
    if len(judges) < 2:
        return [_Source(paths[0], options, str(paths[0]))]
    return [_Source(paths[0], _only(options, judge), f"{paths[0]} ({one_line(judge, 60)})") for judge in judges]


def _only(options: argparse.Namespace, judge: str) -> argparse.Namespace:
    chosen = argparse.Namespace(**vars(options))
    chosen.filter = [*(each for each in options.filter if not each.startswith("model=")), f"model={judge}"]
    return chosen


def _labels(options: argparse.Namespace, first: _Source) -> tuple[Ratings, Path]:
    """Read the labels, and return them with their file."""
    labels = Ratings()
    files = [spooled(path) for path in options.labels]
    if files:
        read_side(files, "label", options, into=labels)
        warn_of_skipped(labels.problems, labels.skipped)
        check_labels(labels, files)
    else:
        column = options.label or label_column(first.path, table_options_of(options), in_results=True)
        if not column:
            raise ConfigError(
                "No labels given. Give people's labels of a random sample of the items with --labels FILE."
            )
        show_column(options, first.path, column)
        files = [first.path]
        read_side(files, "label", first.options, column=column, into=labels, in_results=True)
    if not any(rating.value is not None for rating in labels.ratings):
        raise DataError("no labels found. Give labels with values, or name their column with --label.", path=files[0])
    return labels, files[0]


def _check_items(judged: Mapping[str, Ratings], label_file: Path, labels: Ratings) -> None:
    """Refuse results without rows, and results that have no labelled item in common."""
    for path, side in judged.items():
        if not side.ratings:
            raise DataError("no usable rows" if side.skipped else "no rows", path=path)
    ids = [{rating.id for rating in side.ratings} for side in judged.values()]
    labelled = {rating.id: None for rating in labels.ratings if rating.value is not None}
    first, *others = judged
    for path, own in zip(others, ids[1:], strict=True):
        if not ids[0] & own:
            some = f"the ids of the first rows are {_first_id(judged[first])} and {_first_id(judged[path])}"
            raise ConfigError(
                f"{first} and {path} have no items in common: {some}. Give the results of all judges for the same "
                "items, with the same ids."
            )
    for path, own in zip(judged, ids, strict=True):
        if not own & labelled.keys():
            some = (
                f"the first label has the id {next(iter(labelled))[:40]!r}, the first score {_first_id(judged[path])}"
            )
            raise ConfigError(f"{path} and {label_file} have no items in common: {some}. Use the same ids in both.")
        _warn_of_missing(path, "label", [each for each in labelled if each not in own])
        _warn_of_missing(path, "item of the other results", sorted(set[str]().union(*ids) - own))


def _warn_of_missing(path: str, what: str, missing: Sequence[str]) -> None:
    if missing:
        count = counted(len(missing), what, what.replace("item ", "items ") if " " in what else "")
        has = "has" if len(missing) == 1 else "have"
        print_warning(f"{count} {has} no row in {path}, such as {missing[0][:40]!r}, and cannot be used")


def _first_id(side: Ratings) -> str:
    return repr(side.ratings[0].id[:40])


def _judge(side: Ratings, path: Path) -> JudgeIdentity:
    """Return the judge of a file; one that the file does not name has the name of the file."""
    if len(side.judges) > 1:
        raise ConfigError(f"{path} has results of several judges. Give the results of each judge in a file of its own.")
    if side.judges:
        return side.judges[0]
    return JudgeIdentity(provider="", model=path.stem, rubric="", rubric_fingerprint="")
