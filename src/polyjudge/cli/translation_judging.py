"""The shared part of `translation quick` and `translation full`: options, judging and output."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.errors import ConfigError, DataError, EmptyBatchesError, MissingExtraError, MissingKeyError
from polyjudge.files.json_lines import readable_json
from polyjudge.files.kinds import FileKind
from polyjudge.formats.row_files import STDIN
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import ScoresFile
from polyjudge.judges.grouped import with_question
from polyjudge.judges.rubric import RubricJudge
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.translation import Language, LanguageResult, LanguageScore
from polyjudge.reports.translation_summary import quoted_reason
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.run import Run
from polyjudge.store.trust_cards import identity_in, trust_in
from polyjudge.suites.translation import LanguageJudge, Task, named_languages, tasks_of, verdicts_of
from polyjudge.suites.translation_grouped import Drift, GroupedTranslationJudge
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.translation import Verdict, counts_text, dimension_scores, status_fields, status_label, totals

from .check_options import add_offline_options, checks_of_judge
from .environment import load_environment
from .options import (
    Several,
    add_batch_option,
    add_force_option,
    add_judging_options,
    at_least,
    check_output,
    filters_of,
    judge_names,
    refuse_batch,
    run_options,
    whole,
)
from .output import ignore_closed_pipe, print_table, print_warning
from .progress import RunProgress, counted
from .signals import RESUME, stop_on_signals
from .summaries import explain_skip, print_trust, show_estimate, spent_line, too_many_unjudged
from .tables import RESULTS_HELP, add_table_options, input_of, table_options_of

if TYPE_CHECKING:
    from polyjudge.checks.policy import CheckPolicy

_AFTER_EMPTY_BATCHES = (
    "The replies are stored. Use another judge, or ask about each output alone with --batch-size 1. To keep "
    "several languages per call and ask about missing rows alone, give --allow-single; this can take many times "
    "as many calls."
)
_ALL_CHECKS = "needs --judge offline: beside other judges, all checks run."
TranslationJudge = LanguageJudge | GroupedTranslationJudge
Choose = Callable[[Sequence[LanguageResult], LanguageTable], tuple[Sequence[LanguageResult], Sequence[Language]]]
"""Returns the languages of a file that are to be judged, and those that it lacks."""


@dataclass(frozen=True, slots=True)
class Job:
    """The options, the outputs to judge, and the judges."""

    tier: str
    """`quick` or `full`."""
    options: argparse.Namespace
    table: LanguageTable
    languages: Sequence[LanguageResult]
    tasks: Sequence[Task]
    judges: Sequence[ModelName]
    """Empty for the judge `offline`."""
    rubric: Rubric
    absent: Sequence[Language]
    """Must-have languages that the file lacks."""
    checks: "CheckPolicy | None" = None
    """What the project wants of the checks, for the judge `offline`."""

    @property
    def output(self) -> Path:
        """The scores file: `--output`, by default beside the results."""
        given: Path | None = self.options.output
        results: Path = self.options.results
        return given or results.with_name(f"{results.stem}-{self.tier}-judge.json")

    @property
    def has_own_checks(self) -> bool:
        """Whether the checks of the judge `offline` are not all at their own severity."""
        return self.checks is not None and not self.checks.changes_nothing

    @property
    def judge(self) -> str:
        """The judges as the scores file names them."""
        return ", ".join(map(str, self.judges)) or "offline"


def configure_judging(parser: argparse.ArgumentParser, *, tier: str, default_judge: str) -> None:
    """Add the options of both commands."""
    add = parser.add_argument
    add("results", type=Path, metavar="RESULTS", help=RESULTS_HELP)
    add("--output", type=Path, metavar="FILE", help=f"file for the scores; default: RESULTS-{tier}-judge.json")
    add("--format", choices=["text", "json"], default="text", help="format of the summary; default: %(default)s")
    add_force_option(add)
    add(
        "--samples", type=at_least(1), metavar="N", help="judge a seeded sample of N outputs per language; default: all"
    )
    add("--seed", type=whole, default=0, metavar="N", help="seed of all samples; default: %(default)s")
    add("--limit", type=at_least(1), metavar="N", help="judge only the first N languages")
    chosen = "judge only these languages, each a tag or name"
    add("--filter", action=Several, default=[], metavar="language=NAME,…", help=chosen)
    add("--retry-failures", action="store_true", help="judge only the unjudged outputs of the scores file again")
    add("--show-prompt", metavar="TAG:N", help="print the prompt for output N (from 0) of a language, and stop")
    add_table_options(parser.add_argument_group("table").add_argument)
    add_offline_options(parser)
    add_judging_options(parser, default_judge=default_judge)
    add_batch_option(add)


def run_judging(
    options: argparse.Namespace, tier: str, choose: Choose, judge_of: Callable[[Job], TranslationJudge]
) -> int:
    """Check the input, judge, write the scores, and print the summary."""
    load_environment()
    if options.results == STDIN and options.output is None:
        raise ConfigError("Translations from stdin need --output FILE for the scores.")
    job = _read_job(options, tier, choose)
    refuse_batch(options, job.judges)
    check_output(job.output, [options.results], kind=FileKind.TRANSLATION_SCORES, force=options.force)
    if options.retry_failures and not job.output.is_file():
        raise ConfigError(f"--retry-failures needs earlier scores, but {str(job.output)!r} does not exist.")
    if options.show_prompt is not None:
        return _show_prompt(job, options.show_prompt)
    judge = judge_of(job)
    drift = judge.drift if isinstance(judge, GroupedTranslationJudge) else None
    batching = drift.as_row if drift is not None else None
    scores = ScoresFile(job.output, job.languages, job.judge, batching=batching, force=options.force)
    run = _open_run(job, judge, scores)
    try:
        if options.dry_run:
            return show_estimate(run, options.format, what="outputs")
        return _execute(job, run, scores, drift)
    except (MissingKeyError, MissingExtraError) as error:
        skipped = f"{tier} coherence check"
        return explain_skip(error, skipped=skipped, is_required=options.require_judge, offline=True)


def _open_run(job: Job, judge: TranslationJudge, scores: ScoresFile) -> Run:
    given = run_options(job.options)
    if not job.judges:
        given["cache"] = None
    return Run(
        [task.item(offline=not job.judges) for task in job.tasks],
        judge,
        output=scores,
        retry_failures=job.options.retry_failures,
        legacy_fingerprints=[fingerprint([job.judge, job.options.repeats], 12)] if not job.has_own_checks else [],
        keep_replies=bool(job.judges),
        **given,
    )


def _read_job(options: argparse.Namespace, tier: str, choose: Choose) -> Job:
    judges = judge_names(options)
    given = table_options_of(options)
    options.results = input_of(options.results, given, uses_ids=False)
    table, results = language_table(), TranslationResults(options.results, given)
    if options.output is not None and options.output.resolve() == options.results.resolve():
        raise ConfigError(f"--output {str(options.output)!r} is the results file. Give another file.")
    if options.output is not None and options.output.is_dir():
        raise ConfigError(f"--output {str(options.output)!r} is a folder. Give a file.")
    languages = list(results)
    for problem in results.problems[:5]:
        print_warning(f"{harmless(problem)}")
    if results.skipped > 5:
        print_warning(f"{results.skipped} parts of the file could not be used")
    found, absent = choose(_filtered(languages, options, table), table)
    chosen = list(found)[: options.limit]
    tasks = tasks_of(chosen, table, samples=options.samples, seed=options.seed)
    if not tasks:
        raise DataError(
            "no outputs to judge. Check --filter and --limit, and whether generatedOutput is filled in.",
            path=options.results,
        )
    absent, rubric = () if options.filter else absent, load_rubric("translation")
    checks = checks_of_judge(options, judges, rubric, _ALL_CHECKS)
    return Job(tier, options, table, chosen, tasks, judges, rubric, absent, checks)


def _filtered(
    languages: Sequence[LanguageResult], options: argparse.Namespace, table: LanguageTable
) -> list[LanguageResult]:
    """Return the languages that `--filter language=` selects, by tag or by name."""
    filters = filters_of(options.filter)
    unknown = [name for name in filters if name != "language"]
    if unknown:
        raise ConfigError(f"--filter {unknown[0]}=… is not supported here. Write --filter language=NAME,….")
    if not filters:
        return list(languages)
    chosen = named_languages(languages, filters["language"], table)
    if not chosen:
        names = sorted(filters["language"])
        close = "".join(map(table.suggestion, names))
        raise ConfigError(f"--filter language: the file has no outputs in {', '.join(names)}.{close}")
    return chosen


def _show_prompt(job: Job, task_id: str) -> int:
    task = next((task for task in job.tasks if task.id == task_id), None)
    if task is None:
        raise DataError(f"no output {task_id!r}. The first one is {job.tasks[0].id!r}.", path=job.options.results)
    judge = RubricJudge(with_question(job.rubric, task.question()))
    print(harmless(judge.build_prompt(task.prompt.generated_output, task.context())))
    return 0


def _execute(job: Job, run: Run, file: ScoresFile, drift: Drift | None) -> int:
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
        summary = run.execute(progress)
    scores = summary.scores
    if summary.status in ("stopped", "capped"):
        why, left = summary.stopped_by, f"{scores.not_reached} of {scores.items} outputs were not judged"
        code = signals.explain(why, left)
        print(f"polyjudge: {_AFTER_EMPTY_BATCHES if isinstance(why, EmptyBatchesError) else RESUME}", file=sys.stderr)
        return code
    trust = trust_in(identity_in(file.scores))
    verdicts = verdicts_of(job.languages, file.scores, job.tier, job.table, trust, checks=job.checks)
    with ignore_closed_pipe():
        _show(job.options, verdicts, file.scores, drift)
        if job.options.format == "text":
            judged = [verdict.language or verdict.name for verdict in verdicts]
            print_trust(trust, judged, job.options, sys.stdout)
    if job.absent:
        names = ", ".join(each.name for each in job.absent)
        print(f"missing: must-have languages not in the file: {names}", file=sys.stderr)
    print(f"asked:   {spent_line(summary.spent)}", file=sys.stderr)
    print(f"scores:  {job.output}", file=sys.stderr)
    if summary.status == "unjudged":
        return too_many_unjudged(scores.unjudged, scores.items, job.options.max_unjudged, scores.unjudged_by_kind)
    return 1 if totals(verdicts).fails_gate else 0


def _show(
    options: argparse.Namespace, verdicts: Sequence[Verdict], scores: Sequence[LanguageScore], drift: Drift | None
) -> None:
    if options.format == "json":
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
            *("–" if value is None else f"{value:g}" for value in dimension_scores(score).values()),
            {True: "yes", False: "no", None: "–"}[score.is_correct_language],
            f"{score.judged}/{score.judged + score.unjudged}",
            status_label(verdict),
            quoted_reason(verdict, 110) or one_line(score.notes, 70),
        )
        for verdict, score in zip(verdicts, scores, strict=True)
    ]
    header = ("Language", "Script", "Grammar", "Coherence", "Right language", "Judged", "Status", "Why")
    print_table(header, rows, numbers=(1, 2, 3))
    print(counts_text(totals(verdicts)))
    if drift is not None:
        print(f"batches: {_drift_line(drift)}")


def _drift_line(drift: Drift) -> str:
    empty = f"; {counted(drift.empty_batches, 'batch', 'batches')} had no usable row" if drift.empty_batches else ""
    if drift.batch_size == 1 and drift.tried:
        moved = ", ".join(f"{each['batchSize']} by {each['meanDistance']:.2f}" for each in drift.tried)
        return f"none: each output was judged alone, because languages in one call moved scores: {moved}{empty}"
    if not drift.rows_from_batches:
        return f"drift not measured: no row is from a batch of several languages{empty}"
    if drift.mean_distance is None:
        reason = "drift not measured: none of the rows from batches was also judged alone"
        return f"{drift.batch_size} languages in a call; {reason}{empty}"
    halved = "".join(f", {each['batchSize']} moved them {each['meanDistance']:.2f}" for each in drift.tried)
    moved = f"{drift.batch_size} languages in a call move scores by {drift.mean_distance:.2f} on average"
    return f"{moved} ({drift.compared} compared, {drift.flipped} flipped{halved}){empty}"
