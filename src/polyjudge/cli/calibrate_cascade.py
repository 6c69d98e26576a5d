"""`polyjudge calibrate cascade RESULTS…`: learn from labels when the next judge is to be asked; no call is made."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from polyjudge.calibration.cascade_items import cascade_items, read_evidence
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import own_fields
from polyjudge.formats.ratings import Ratings
from polyjudge.formats.row_files import spooled
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.codec import to_json
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.cascades import cascade_blocks
from polyjudge.store.cascade_plans import write_plan

from .calibrating import write_figures
from .cascade_learning import agreement_rule, learn_plan
from .cascade_options import add_guarantee_options, target_share
from .options import Several, add_force_option, check_output
from .output import print_warning
from .progress import counted
from .rating_sides import add_rating_options, check_labels, read_side
from .tables import filtered_table_options_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    results = "results of each judge for the same items, in the order in which the judges are to be asked"
    add("results", type=Path, nargs="+", metavar="RESULTS", help=results)
    labels = "people's labels of a random sample of the items: rows with id and label"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    wanted = "minimum share of answers that agree with people, such as 0.85"
    add("--target", type=target_share, metavar="SHARE", help=wanted)
    add_guarantee_options(add)
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
    if not options.labels:
        raise ConfigError("No labels given. Give people's labels of a random sample of the items with --labels FILE.")
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
        print(
            "polyjudge: the target cannot be guaranteed; no plan was written. Lower --target, or give more labels.",
            file=sys.stderr,
        )
        return 1
    if output is not None:
        write_plan(output, plan, force=options.force)
        print(f"polyjudge: plan: {output}", file=sys.stderr)
    return 0


def _plan(options: argparse.Namespace) -> CascadePlan:
    labels = Ratings()
    label_files = [spooled(path) for path in options.labels]
    read_side(label_files, "label", options, into=labels)
    check_labels(labels, label_files)
    if not any(rating.value is not None for rating in labels.ratings):
        raise DataError(
            "no labels found. Give labels with values, or name their column with --label.", path=label_files[0]
        )
    paths = [spooled(path) for path in options.results]
    judged = [read_side([path], "score", options) for path in paths]
    _check_items(dict(zip(paths, judged, strict=True)), label_files[0], labels)
    rule = agreement_rule(judged, labels, options)
    table = filtered_table_options_of(options)
    evidence = [read_evidence(path, table, rule, options.confidence) for path in paths]
    facts = [fact for each in evidence for fact in each.values()]
    return learn_plan(
        cascade_items(judged, evidence, labels, rule),
        [_judge(side, path) for side, path in zip(judged, options.results, strict=True)],
        rule,
        options,
        options.target,
        repeats=max((fact.repeats for fact in facts), default=1),
        token_probabilities=any(fact.has_tokens for fact in facts),
    )


def _check_items(judged: Mapping[Path, Ratings], label_file: Path, labels: Ratings) -> None:
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


def _warn_of_missing(path: Path, what: str, missing: Sequence[str]) -> None:
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
