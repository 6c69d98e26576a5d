"""What a run of `polyjudge score` is about, and how it ends: the same wherever the judging is done."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.formats.items import DEFAULT_CONTEXT, ItemSource, Survey
from polyjudge.judges.offline import OfflineJudge
from polyjudge.providers.services import address_of
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Spent
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.runs.shards import ShardedSurvey, survey_shards
from polyjudge.runs.summary import Tally
from polyjudge.store.trust_cards import trust_in
from polyjudge.text.display import harmless

from .identities import identity_of_models
from .items_trust import ItemsTrust
from .options import filters_of, judge_names
from .ray_options import refuse_unfit, refuse_without_ray, rows_in_shard
from .stopping import Ended
from .summaries import print_summary, too_many_unjudged


@dataclass(frozen=True, slots=True)
class ScoreJob:
    """What is to be judged, by whom, and where the results go."""

    options: argparse.Namespace
    rubric: Rubric
    judges: list[ModelName]
    source: ItemSource
    survey: Survey
    sharded: ShardedSurvey | None = None
    """How the items are cut, where they are judged in shards."""

    @property
    def fingerprint(self) -> str:
        """What makes an unfinished run the same as this one."""
        options, judges = self.options, [[str(name), address_of(name.provider)] for name in self.judges]
        retrying = _version(options.output) if options.retry_failures else None, options.refresh, options.reread
        return fingerprint(
            [self.survey.fingerprint, rubric_fingerprint(self.rubric), judges, options.repeats, retrying], 12
        )


def _version(path: Path) -> list[int]:
    """Return what changes when a file does; nothing where there is none."""
    if not path.is_file():
        return []
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


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
    sharded = survey_shards(source, rows_in_shard(options)) if in_shards else None
    survey = source.survey() if sharded is None else sharded.survey
    _warn_of_language(rubric, judges, context)
    for problem in survey.problems:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    if survey.skipped > len(survey.problems):
        print(f"polyjudge: warning: skipped {survey.skipped} rows in all", file=sys.stderr)
    return ScoreJob(options, rubric, judges, source, survey, sharded)


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


def trust_of(job: ScoreJob) -> ItemsTrust:
    """Return how far the judge is known in the languages of the items."""
    return ItemsTrust(trust_in(identity_of_models(job.judges, job.rubric), job.options.card), job.survey.languages)


def finish(job: ScoreJob, ended: Ended[Tally], spent: Spent) -> int:
    """Sum up, say what is wrong, and return the exit code."""
    summary = ended.result.summary(job.survey.count)
    print_summary(summary, spent, job.options, skipped=job.survey.skipped)
    if ended.cut_short(summary.not_reached):
        where = "are in shards that are not finished" if job.sharded else "were not reached"
        left = f"{summary.not_reached} of {summary.items} items {where}"
        return explain_end(ended, left, job.options.output)
    if not summary.judged or summary.unjudged > job.options.max_unjudged * summary.items:
        return too_many_unjudged(summary.unjudged, summary.items)
    return 0


def explain_end(ended: Ended[Tally], left: str, output: Path | None) -> int:
    """Say why a run ended early and how to go on; return the exit code."""
    code = ended.explain(left)
    if output is not None:
        print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
    return code
