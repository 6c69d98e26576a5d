"""What `polyjudge score` judges, and how it explains an early end; the same for every engine."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.formats.items import DEFAULT_CONTEXT, ItemSource
from polyjudge.judges.identity import identity_of_models
from polyjudge.judges.offline import OfflineJudge
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.loading import load_rubric
from polyjudge.store.trust_cards import trust_in
from polyjudge.text.display import harmless

from .items_trust import ItemsTrust
from .options import filters_of, judge_names
from .ray_options import refuse_unfit, refuse_without_ray
from .signals import Signals


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """What is to be judged, by whom, and where the results go."""

    options: argparse.Namespace
    rubric: Rubric
    judges: list[ModelName]
    source: ItemSource


def read_job(options: argparse.Namespace) -> ScoreJob:
    """Check the options, and read all items once."""
    _refuse_clashes(options)
    rubric, judges = load_rubric(options.rubric), judge_names(options)
    in_shards = options.engine == "ray" and not options.dry_run
    refuse_without_ray(options)
    if in_shards:
        refuse_unfit(options, asks=bool(judges))
    if not judges:
        OfflineJudge(rubric)  # refuses a rubric that it has no idea of, before anything is written
    context = None if options.context is None else [name.strip() for name in options.context.split(",") if name.strip()]
    source = ItemSource(options.items, context, filters_of(options.filter), options.limit)
    _warn_of_language(rubric, judges, context)
    return ScoreJob(options, rubric, judges, source)


def warn_of_skipped(problems: Sequence[str], skipped: int) -> None:
    """Name the first rows that hold no item, and say how many there are."""
    for problem in problems:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    if skipped > len(problems):
        print(f"polyjudge: warning: skipped {skipped} rows in all", file=sys.stderr)


def _refuse_clashes(options: argparse.Namespace) -> None:
    if options.retry_failures and options.output is None:
        raise ConfigError("--retry-failures needs the --output of an earlier run")
    if options.batch and options.engine != "local":
        raise ConfigError(f"batches are waited for on one machine; leave out --engine {options.engine}")
    if options.limit is not None and options.limit < 1:
        raise ConfigError(f"--limit must be at least 1, not {options.limit}")
    _refuse_output_among(options.items.resolve(), options.output)


def _refuse_output_among(items: Path, output: Path | None) -> None:
    if output is not None and items in (output.resolve(), *output.resolve().parents):
        what = "lies among the items" if items.is_dir() else "is the file of the items"
        raise ConfigError(f"--output {str(output)!r} {what}; name another place")


def _warn_of_language(rubric: Rubric, judges: list[ModelName], context: list[str] | None) -> None:
    """Warn where a model is asked about a language that it is not told."""
    asks = any("language" in flag.name.casefold() for flag in rubric.flags)
    if asks and judges and "language" not in (context or DEFAULT_CONTEXT):
        told = "the rubric asks about the language, but the judge is not told which: give --context language,source"
        print(f"polyjudge: warning: {told}", file=sys.stderr)


def trust_of(job: ScoreJob, languages: Sequence[str]) -> ItemsTrust:
    """Return how far the judge is known in the languages of the items."""
    return ItemsTrust(trust_in(identity_of_models(job.judges, job.rubric), job.options.card), languages)


def explain_end(signals: Signals, why: object, left: str, output: Path | None) -> int:
    """Print why a run ended early and how to resume it; return the exit code."""
    code = signals.explain(why, left)
    if output is not None:
        print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
    return code
