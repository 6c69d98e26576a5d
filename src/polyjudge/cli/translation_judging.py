"""What `translation quick` and `translation full` share: which outputs, which judge, and what is said in the end."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polyjudge.cache.protocol import Cache
from polyjudge.checks.checker import TextChecker
from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, EmptyBatchesError, MissingExtraError, MissingKeyError
from polyjudge.files.atomic import read_timestamp, readable_json
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import (
    TranslationScores,
    kept_result,
    language_score,
    write_translation_scores,
)
from polyjudge.judges.base import Judge, close_judge
from polyjudge.judges.grouped import with_question
from polyjudge.judges.offline import OfflineJudge
from polyjudge.judges.plugin import is_judge_plugin
from polyjudge.judges.rubric import RubricJudge
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.records.translation import LanguageResult, LanguageScore
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.stack import ProviderStack, open_judge
from polyjudge.store.trust_cards import identity_in, trust_in
from polyjudge.suites.translation import Task, tasks_of
from polyjudge.suites.translation_grouped import Drift, judge_each
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.translation import Verdict, counts_text, language_verdict, status_fields, status_label, totals

from .batching import add_batch_option, in_batches, refuse_batch, wait_for_batches
from .environment import load_environment
from .items_trust import ItemsTrust
from .options import (
    Several,
    add_force_option,
    add_judging_options,
    check_output,
    filters_of,
    judge_names,
    open_access,
    open_cache,
)
from .output import reader_may_leave
from .progress import ProgressShow
from .stopping import Ended, until_stopped
from .summaries import print_estimate, spent_line, too_many_unjudged
from .tables import print_table

Judged = tuple[dict[Task, Outcome], Drift | None]
Judging = Callable[["Job", ProviderStack, StopToken, Callable[[Task, Outcome], None]], Any]
"""How the tasks of a job are judged; returns a `Judged` to wait for."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be judged, and by whom."""

    tier: str
    """`quick` or `full`."""
    options: argparse.Namespace
    table: LanguageTable
    languages: Sequence[LanguageResult]
    tasks: Sequence[Task]
    judges: Sequence[ModelName]
    """Empty for the judge `offline`."""

    @property
    def output(self) -> Path:
        """Where the scores go: beside the results, unless said otherwise."""
        given: Path | None = self.options.output
        results: Path = self.options.results
        return given or results.with_name(f"{results.stem}-{self.tier}-judge.json")

    @property
    def judge(self) -> str:
        """Who judges, for the scores file."""
        return ", ".join(map(str, self.judges)) or "offline"


def configure_judging(parser: argparse.ArgumentParser, *, tier: str, default_judge: str) -> None:
    """Add the options of both commands."""
    add = parser.add_argument
    add("results", type=Path, metavar="RESULTS", help="what a translator wrote: JSON, JSONL, CSV, TSV or Parquet")
    add("--output", type=Path, metavar="FILE", help=f"default: RESULTS with -{tier}-judge.json instead of its ending")
    add("--format", choices=["text", "json"], default="text", help="of the summary; default: %(default)s")
    add_force_option(add)
    add("--samples", type=int, metavar="N", help="judge a seeded sample of N outputs of each language, not all")
    add("--seed", type=int, default=0, metavar="N", help="of all samples; default: %(default)s")
    add("--limit", type=int, metavar="N", help="only the first N languages")
    add("--filter", action=Several, default=[], metavar="language=TAG,…", help="only these languages")
    add("--retry-failures", action="store_true", help="ask again only for what the scores file holds as unjudged")
    add("--show-prompt", metavar="TAG:N", help="print the prompt for output N of a language, from 0, and stop")
    add_judging_options(parser, default_judge=default_judge)
    add_batch_option(add)


def run_judging(
    options: argparse.Namespace,
    tier: str,
    choose: Callable[[Sequence[LanguageResult], LanguageTable], Sequence[LanguageResult]],
    judging: Judging,
) -> int:
    """Check the input, judge, write the scores, and sum up."""
    load_environment()
    job = _job(options, tier, choose)
    refuse_batch(options, job.judges)
    check_output(job.output, [options.results], force=options.force)
    if options.retry_failures and not job.output.is_file():
        raise ConfigError(f"--retry-failures needs the scores of an earlier run: {str(job.output)!r} is not there")
    if options.show_prompt is not None:
        return _show_prompt(job, options.show_prompt)
    with _kept_replies(job) as kept:
        try:
            with in_batches(open_access(options, kept.cache, kept.began), options, kept.began) as access:
                code, kept.may_go = run_sync(_run(job, access, judging))
        except ConfigError as error:  # before the first call
            kept.may_go = kept.is_new
            if not isinstance(error, MissingKeyError | MissingExtraError):
                raise
            told = error.instead(f"{tier} coherence check") if isinstance(error, MissingKeyError) else error
            print(told, file=sys.stderr)
            return 3 if options.require_judge else 0
        return code


async def judge_alone(
    job: Job, access: ProviderStack, stop: StopToken, done: Callable[[Task, Outcome], None]
) -> Judged:
    """Judge each output by itself, by models or by the checks."""
    rubric, opened = load_rubric("translation"), dict[str, Judge]()
    offline = OfflineJudge(rubric, table=job.table) if not job.judges else None

    def judge_for(task: Task) -> tuple[Judge, Mapping[str, Any]]:
        if offline is not None:
            return offline, task.plain_context()
        return opened[task.question()], task.context()

    for question in dict.fromkeys(task.question() for task in job.tasks if job.judges):
        limit, repeats = _MOST_TOKENS.get(job.tier), job.options.repeats
        asking = with_question(rubric, question)
        opened[question] = open_judge(asking, job.judges, access, repeats=repeats, max_tokens=limit)
    try:
        outcomes = await judge_each(judge_for, job.tasks, concurrency=job.options.concurrency, stop=stop, done=done)
    finally:
        for judge in opened.values():
            await close_judge(judge)
    return outcomes, None


_MOST_TOKENS = {"quick": 512}


def _job(
    options: argparse.Namespace,
    tier: str,
    choose: Callable[[Sequence[LanguageResult], LanguageTable], Sequence[LanguageResult]],
) -> Job:
    for name in ("samples", "limit"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            raise ConfigError(f"--{name} must be at least 1, not {getattr(options, name)}")
    judges = judge_names(options)
    table, results = language_table(), TranslationResults(options.results)
    if options.output is not None and options.output.resolve() == options.results.resolve():
        raise ConfigError(f"--output {str(options.output)!r} is the file of the results")
    if options.output is not None and options.output.is_dir():
        raise ConfigError(f"--output {str(options.output)!r} is a folder")
    languages = list(results)
    for problem in results.problems[:5]:
        print(f"polyjudge: warning: {harmless(problem)}", file=sys.stderr)
    if results.skipped > 5:
        print(f"polyjudge: warning: {results.skipped} parts of the file could not be used", file=sys.stderr)
    chosen = list(choose(_filtered(languages, options, table), table))[: options.limit]
    tasks = tasks_of(chosen, table, samples=options.samples, seed=options.seed)
    if not tasks:
        raise DataError("holds no output to judge", path=options.results)
    return Job(tier, options, table, chosen, tasks, judges)


def _filtered(
    languages: Sequence[LanguageResult], options: argparse.Namespace, table: LanguageTable
) -> list[LanguageResult]:
    """Return the languages that `--filter language=` names, by tag or by name."""
    filters = filters_of(options.filter)
    unknown = [name for name in filters if name != "language"]
    if unknown:
        raise ConfigError(f"--filter {unknown[0]}=…: languages are chosen by language=TAG,…")
    if not filters:
        return list(languages)
    wanted = [table.find(name) or name for name in filters["language"]]
    chosen = [
        each
        for each in languages
        if {table.find(each.language_code, each.language_name), each.language_code, each.language_name} & set(wanted)
    ]
    if not chosen:
        raise ConfigError(f"--filter: none of {', '.join(sorted(filters['language']))} is in the file")
    return chosen


def _show_prompt(job: Job, task_id: str) -> int:
    task = next((task for task in job.tasks if task.id == task_id), None)
    if task is None:
        raise DataError(f"holds no output {task_id!r}; the first is {job.tasks[0].id!r}", path=job.options.results)
    judge = RubricJudge(with_question(load_rubric("translation"), task.question()))
    print(harmless(judge.build_prompt(task.prompt.generated_output, task.context())))
    return 0


@dataclass(slots=True)
class _Kept:
    """What an unfinished run leaves for the next one."""

    cache: Cache | None
    began: str
    """When the run was first begun: what a refresh was told since then is not asked for again."""
    is_new: bool
    """No earlier run left anything."""
    may_go: bool = False
    """The scores are written, or nothing was asked."""


@contextmanager
def _kept_replies(job: Job) -> Generator[_Kept]:
    """Open the cache; without one, replies are kept beside the scores until those are written."""
    options, mark = job.options, fingerprint([job.judge, job.options.repeats], 12)
    private = job.output.with_name(f"{job.output.name}.replies.sqlite")
    begun = job.output.with_name(f"{job.output.name}.{mark}.begun")
    is_new = not private.exists() and not begun.exists()
    if not job.judges or (options.dry_run and options.cache == "none"):
        yield _Kept(None, utc_now(), is_new)
        return
    is_private = options.cache == "none"
    options.cache = str(private) if is_private else options.cache
    cache = open_cache(options)
    kept = _Kept(cache, utc_now(), is_new)
    try:
        if options.refresh and not options.dry_run:
            kept.began = read_timestamp(begun)
        yield kept
    finally:
        if cache is not None:
            run_sync(cache.aclose())
        if kept.may_go and not options.dry_run:
            begun.unlink(missing_ok=True)
            for path in list(private.parent.iterdir()) if is_private else []:
                if path.name.startswith(private.name):  # SQLite and the cache keep files beside theirs
                    path.unlink(missing_ok=True)


async def _run(job: Job, access: ProviderStack, judging: Judging) -> tuple[int, bool]:
    """Return the exit code, and whether all is done."""
    known = _known_results(job) if job.options.retry_failures else {}
    asked = replace(job, tasks=[task for task in job.tasks if task not in known])
    alone = job.options.retry_failures or any(is_judge_plugin(name.provider) for name in job.judges)
    judge = judge_alone if alone else judging
    for name in job.judges if access.batches is not None else ():
        access.open(name)  # now, because the batches of a killed run are looked for first

    async def work(stop: StopToken) -> Judged:
        if access.batches is not None:
            await wait_for_batches(access.batches, lambda: judge(asked, access, stop, _nobody), stop)
        shown = not job.options.dry_run
        with ProgressShow(len(asked.tasks), access.meter.spent, shown=shown) as progress:

            def done(_: Task, outcome: Outcome) -> None:
                progress.advance(unjudged=isinstance(outcome, Failure))

            outcomes, drift = await judge(asked, access, stop, done)
            return {**known, **outcomes}, drift

    ended = await until_stopped(work, deadline_s=job.options.deadline)
    if access.estimate is not None and not ended.stop.requested:
        print_estimate(access.estimate, len(job.tasks), job.options.format)
        return 0, False
    return _finish(job, ended, access), not ended.cut_short(len(job.tasks) - len(ended.result[0]))


def _nobody(_: Task, __: Outcome) -> None:
    """Be told, while answers are only waited for."""


def _known_results(job: Job) -> dict[Task, Outcome]:
    """Return what an earlier scores file holds, its failures left out."""
    scores, known = TranslationScores(job.output), dict[Task, Outcome]()
    for language in job.languages:
        score = scores.find(language.language_code, language.language_name)
        results = {each.index: kept_result(each) for each in score.prompts} if score else {}
        for task in job.tasks:
            result = results.get(task.index) if task.language is language else None
            if result is not None:
                known[task] = result
    return known


def _finish(job: Job, ended: Ended[Judged], access: ProviderStack) -> int:
    outcomes, drift = ended.result
    if ended.cut_short(left := len(job.tasks) - len(outcomes)):
        code = ended.explain(f"{left} of {len(job.tasks)} outputs were not reached")
        if isinstance(ended.stop.error, EmptyBatchesError):
            print(f"polyjudge: {_AFTER_EMPTY_BATCHES}", file=sys.stderr)
        else:
            print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
        return code
    scores = _scores(job, outcomes, drift)
    write_translation_scores(job.output, scores, force=job.options.force)
    trust = trust_in(identity_in(scores))
    checker = TextChecker(job.table)
    verdicts = [
        language_verdict(language, checker.check_outputs(language), {job.tier: score}, job.table, {job.tier: trust})
        for language, score in zip(job.languages, scores, strict=True)
    ]
    with reader_may_leave():
        _show(job, verdicts, scores, drift)
        if job.options.format == "text":
            ItemsTrust(trust, [verdict.language or verdict.name for verdict in verdicts]).show(sys.stdout)
    print(f"asked:   {spent_line(access.meter.spent)}", file=sys.stderr)
    print(f"scores:  {job.output}", file=sys.stderr)
    unjudged = sum(isinstance(outcome, Failure) for outcome in outcomes.values())
    if unjudged == len(outcomes) or unjudged > job.options.max_unjudged * len(outcomes):
        return too_many_unjudged(unjudged, len(outcomes))
    return 1 if totals(verdicts).fails_gate else 0


_AFTER_EMPTY_BATCHES = (
    "The replies are kept. Use another judge, or ask about each output alone with --batch-size 1. To keep the batches "
    "and ask alone for what they do not answer, give --allow-single; this can take many times as many calls."
)


def _scores(job: Job, outcomes: Mapping[Task, Outcome], drift: Drift | None) -> list[LanguageScore]:
    # Two languages may have one name: pt and pt-BR, both Portuguese.
    by_language: dict[int, dict[int, Outcome]] = defaultdict(dict)
    for task, outcome in outcomes.items():
        by_language[id(task.language)][task.index] = outcome
    batching = drift.as_row() if drift else None
    return [language_score(language, by_language[id(language)], job.judge, batching) for language in job.languages]


def _show(job: Job, verdicts: Sequence[Verdict], scores: Sequence[LanguageScore], drift: Drift | None) -> None:
    if job.options.format == "json":
        found = {
            "languages": [status_fields(verdict) for verdict in verdicts],
            "statuses": totals(verdicts).counts,
            "batching": drift.as_row() if drift else None,
        }
        print(readable_json(found, indent=1))
        return
    rows = [
        (
            verdict.name,
            *("–" if value is None else f"{value:g}" for value in _points(score)),
            {True: "yes", False: "no", None: "–"}[score.is_correct_language],
            f"{score.judged}/{score.judged + score.unjudged}",
            status_label(verdict),
            one_line(verdict.reason or score.notes, 70),
        )
        for verdict, score in zip(verdicts, scores, strict=True)
    ]
    header = ("Language", "Script", "Grammar", "Coherence", "Right language", "Judged", "Status", "Why")
    print_table(header, rows, numbers=(1, 2, 3))
    print(counts_text(totals(verdicts)))
    if drift is not None:
        print(f"batches: {_drift_line(drift)}")


def _drift_line(drift: Drift) -> str:
    empty = f"; {drift.empty_batches} batches had no usable row" if drift.empty_batches else ""
    if drift.batch_size == 1 and drift.tried:
        moved = ", ".join(f"{each['batchSize']} by {each['meanDistance']:.2f}" for each in drift.tried)
        return f"none: each output was judged alone, because languages in one call moved scores: {moved}{empty}"
    if not drift.rows_from_batches:
        return f"drift not measured: no row came from a batch of several languages{empty}"
    if drift.mean_distance is None:
        told = "drift not measured: no row that was judged alone as well came from a batch"
        return f"{drift.batch_size} languages in a call; {told}{empty}"
    halved = "".join(f", {each['batchSize']} moved them {each['meanDistance']:.2f}" for each in drift.tried)
    told = f"{drift.batch_size} languages in a call move scores by {drift.mean_distance:.2f} on average"
    return f"{told} ({drift.compared} compared, {drift.flipped} flipped{halved}){empty}"


def _points(score: LanguageScore) -> tuple[float | None, float | None, float | None]:
    return score.script_score, score.grammar_score, score.coherence_score
