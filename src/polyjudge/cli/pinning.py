"""Pin the answers of a run, to ask the same again later."""

import argparse
import sys
from pathlib import Path

from msgspec.structs import replace

from polyjudge.calibration.pinning import Origins, pinnable
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.kinds import FileKind, refuse_other_kind
from polyjudge.formats.items import ItemSource, read_results
from polyjudge.formats.row_files import first_row_of
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import language_table
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.watches import PinnedSet
from polyjudge.rubrics.loading import load_rubric, rubric_names
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.runs.stack import judge_by_models
from polyjudge.store.watches import place_to_pin, write_pinned
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.items import OFFLINE

from .output import print_warning
from .progress import counted
from .tables import input_of, table_options_of
from .watching import estimate_watch, warn_of_too_few


def pin(options: argparse.Namespace, *, asked: int) -> int:
    """Store the questions and answers of a run, or in a dry run say what a watch of `asked` of them would cost."""
    pinned = _pinned_set(options)
    count = f"{counted(len(pinned.questions), 'question')}"
    name = harmless(pinned.name)
    warn_of_too_few(pinned, asked, options.false_alarms)
    if not options.dry_run:
        print(f"polyjudge: pinned as {name!r}: {count}, in {harmless(str(write_pinned(pinned)))}", file=sys.stderr)
        return 0
    place = harmless(str(place_to_pin(pinned.name)))
    print(f"polyjudge: dry run: nothing is pinned. Would be pinned as {name!r}: {count}, in {place}", file=sys.stderr)
    most = min(asked, len(pinned.questions))
    print(f"polyjudge: to pin makes no call. A watch would ask {counted(most, 'question')}:", file=sys.stderr)
    options.questions = asked
    return estimate_watch(options, pinned)


def _pinned_set(options: argparse.Namespace) -> PinnedSet:
    """Return the questions and answers of a run, if they can be asked again."""
    path: Path = options.results
    _refuse_other_files(path, options)
    origins = Origins()
    for item_id, outcome in read_results(path):
        origins.add(item_id, outcome)
    models = _models(origins, path)
    rubric = _rubric(options, origins)
    wanted = origins.chosen(options.questions)
    outcomes = {item_id: outcome for item_id, outcome in read_results(path) if item_id in wanted}
    table = table_options_of(options)
    context = None if options.context is None else [name.strip() for name in options.context.split(",") if name.strip()]
    items = ItemSource(input_of(options.items or path, table), context, table=table)
    asked = (item for item in items if item.id in wanted)
    found = pinnable(asked, outcomes, judge_by_models(rubric, models), language_table())
    if not found.questions or found.origin is None:
        why = "no question of these results can be asked again: their prompts were made from other columns"
        raise DataError(f"{why}. Give the items that were judged", path=path, option="items")
    if found.other_prompts:
        left_out = f"{counted(found.other_prompts, 'item')} {'is' if found.other_prompts == 1 else 'are'} left out"
        print_warning(f"{left_out}: not the same prompt would be asked")
    identity = identity_of_models(models, rubric)
    answered = found.origin.model_answered if len(models) == 1 else ""
    return PinnedSet(
        name=one_line(options.name or path.name.partition(".")[0], 100),
        judge=replace(identity, model_answered=answered),
        models=tuple(map(str, models)),
        pinned_at=utc_now(),
        results=path.name,
        rubric=rubric,
        questions=tuple(found.questions),
    )


def _refuse_other_files(path: Path, options: argparse.Namespace) -> None:
    """Raise DataError if a file has no results of score, and say what it is instead."""
    refuse_other_kind(path, FileKind.SCORES)
    wanted = "A watch needs results of polyjudge score"
    if path.is_file():
        with path.open("rb") as file:
            if file.readline(100).strip() in (b"{", b"["):
                raise DataError(
                    f"one JSON document over several lines; expected a row for each text. {wanted}", path=path
                )
    row = first_row_of(path, table_options_of(options))
    if "otherCandidate" in row:
        raise DataError("preferences between pairs of texts, not scores. Give results of score", path=path)
    if row and "outcome" not in row:
        columns = one_line(", ".join(map(str, row)), 100)
        raise DataError(f"a table with the columns {columns}, without verdicts of polyjudge. {wanted}", path=path)


def _models(origins: Origins, path: Path) -> list[ModelName]:
    if not origins.judged:
        raise DataError("no row has a verdict that can be pinned. Give results of score with verdicts", path=path)
    if not origins.models:
        raise DataError("the rows do not name the model that gave the verdicts. Give results of score", path=path)
    if any(provider == OFFLINE for provider, _ in origins.models):
        raise DataError(
            "these are results of the judge 'offline', which asks no model. Give results of a model", path=path
        )
    return [ModelName(provider, model) for provider, model in origins.models]


def _rubric(options: argparse.Namespace, origins: Origins) -> Rubric:
    """Return the rubric of the answers, which must not have changed since."""
    names = [name for name, _ in origins.rubrics]
    if len(origins.rubrics) != 1:
        raise DataError(
            f"verdicts by several rubrics: {', '.join(names)}. Give the results of one rubric", path=options.results
        )
    ((name, known),) = origins.rubrics
    if options.rubric is None and name not in rubric_names():
        raise ConfigError(f"The verdicts are by the rubric {name!r}, which is not a shipped one. Give --rubric FILE.")
    rubric = load_rubric(options.rubric or name)
    if rubric_fingerprint(rubric) != known:
        message = f"the rubric {rubric.name!r} is not the one of these verdicts, or has changed since"
        raise ConfigError(f"{message}. Give the rubric file with which the run was judged", option="rubric")
    return rubric
