"""Ask the pinned questions again, and report what is found."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from polyjudge.calibration.watching import (
    EveryCall,
    Reworded,
    Watching,
    WatchJudge,
    fewest_to_show,
    has_one_answer,
    items_of,
    order_of,
)
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, MissingExtraError, MissingKeyError
from polyjudge.formats.items import read_results
from polyjudge.judges.base import ItemJudge, ItemWorker
from polyjudge.providers.budget import Budget
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Limits
from polyjudge.records.watches import PinnedQuestion, PinnedSet, Rewording, Watch
from polyjudge.reports.watching import (
    skipped_blocks,
    skipped_json,
    skipped_junit,
    watch_blocks,
    watch_json,
    watch_junit,
)
from polyjudge.rubrics.rewording import reworded, rewordings
from polyjudge.runs.execution import Export
from polyjudge.runs.run import Run
from polyjudge.runs.stack import judge_by_models
from polyjudge.store.watches import append_watch, find_pinned, history, watch_folder
from polyjudge.text.display import harmless, one_line

from .calibrating import write_figures
from .options import check_output, limits_of
from .output import print_warning, warn_of_skipped, write_pieces
from .progress import RunProgress, counted
from .signals import explain_end, stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line, too_many_unjudged

_DAMAGED_SHOWN = 5


def warn_of_too_few(pinned: PinnedSet, asked: int, false_alarms: float, *, is_error: bool = False) -> None:
    """Warn if a watch of so many questions cannot show any change, or raise ConfigError."""
    count, needed = min(asked, len(pinned.questions)), fewest_to_show(pinned.questions, false_alarms)
    if count >= needed:
        return
    never = f"{counted(count, 'question')} can never show a change, even if all answers differ"
    how = "Ask more" if len(pinned.questions) >= needed else "Pin the results of more items, or ask each several times"
    message = f"{never}: at least {needed} are needed with --false-alarms {false_alarms:g}. {how}"
    if is_error:
        raise ConfigError(f"--fail-on-change: {message}")
    print_warning(message)


def estimate_watch(options: argparse.Namespace, pinned: PinnedSet) -> int:
    """Print the most calls that the first watch of a pinned set can make."""
    return _Job(options, pinned, seed=0).estimate()


def ask_again(options: argparse.Namespace) -> int:
    """Ask the pinned questions in a random order until it is decided, and report; return the exit code."""
    pinned = find_pinned(options.name)
    check_output(options.output, [watch_folder(pinned.name) / "pinned.json"], force=options.force)
    if options.rewordings > len(rewordings()):
        raise ConfigError(
            f"--rewordings {options.rewordings}: there are only {len(rewordings())} other wordings. Give a smaller "
            "number."
        )
    warn_of_too_few(pinned, options.questions, options.false_alarms, is_error=options.fail_on_change)
    earlier, damaged = history(pinned.name)
    warn_of_skipped(damaged[:_DAMAGED_SHOWN], len(damaged))
    job = _Job(options, pinned, seed=len(earlier) + len(damaged))
    try:
        if options.dry_run:
            return job.estimate()
        found = job.watch()
    except (MissingKeyError, MissingExtraError) as error:
        if isinstance(error, MissingKeyError) and not options.dry_run:
            _report_skip(options, pinned.name, f"{error.variable} is not set, so {error.skipped} was not asked.")
        return explain_skip(error, is_required=options.require_judge)
    if isinstance(found, int):
        return found
    place = append_watch(found)
    job.keep_answers()
    if options.format == "junit":
        pieces = watch_junit(found, fails=options.fail_on_change)
        write_pieces(options.output, pieces, format_name="junit", force=options.force)
    else:
        write_figures(options, watch_json(found), watch_blocks(found, earlier))
    print(f"polyjudge: history: {harmless(str(place))}", file=sys.stderr)
    return 1 if options.fail_on_change and found.verdict == "changed" else 0


def _report_skip(options: argparse.Namespace, name: str, reason: str) -> None:
    """Write the report of a watch that asks nothing, which a pipeline must not take for an unchanged judge."""
    if options.format == "junit":
        write_pieces(options.output, skipped_junit(name, reason), format_name="junit", force=options.force)
    else:
        write_figures(options, skipped_json(name, reason), skipped_blocks(name, reason))
    print("polyjudge: no question was asked, so it is not known whether the judge has changed", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class _Job:
    """One watch: the questions in their order, and the files of the answers."""

    options: argparse.Namespace
    pinned: PinnedSet
    seed: int
    budgets: list[Budget] = field(default_factory=list[Budget])
    """Of the runs so far: of the questions, and of each wording."""

    @property
    def _questions(self) -> list[PinnedQuestion]:
        return order_of(self.pinned.questions, self.options.questions, self.seed)

    @property
    def _wordings(self) -> list[Rubric]:
        return [reworded(self.pinned.rubric, words) for words in rewordings()[: self.options.rewordings]]

    def _judge(self, rubric: Rubric) -> ItemJudge:
        return judge_by_models(rubric, [ModelName(*name.split("/", 1)) for name in self.pinned.models])

    def _file(self, name: str) -> Path:
        return watch_folder(self.pinned.name) / f"{name}-{self.seed + 1}.jsonl"

    def _run(self, items: Sequence[Item], judge: ItemWorker, file: Path | None, exports: Sequence[Export]) -> Run:
        """Return a run without a cache, whose answers would be those of then, limited to what the others have left."""
        limits = self._limits()
        run = Run(items, judge, output=file, cache=None, exports=exports, limits=limits, force=True)
        self.budgets.append(run.budget)
        return run

    def _limits(self) -> Limits:
        given = limits_of(self.options)
        spent = [budget.spent for budget in self.budgets]
        calls, tokens, cost = (sum(each.calls for each in spent), sum(each.tokens for each in spent), self._cost)
        return replace(
            given,
            max_calls=None if given.max_calls is None else max(0, given.max_calls - calls),
            max_tokens=None if given.max_tokens is None else max(0, given.max_tokens - tokens),
            max_cost_usd=None if given.max_cost_usd is None else max(0.0, given.max_cost_usd - cost),
        )

    @property
    def _cost(self) -> float:
        return sum(budget.spent.cost_usd for budget in self.budgets)

    def keep_answers(self) -> None:
        """Keep the answers of a watch that is in the history: the next one does not resume them."""
        self._file("asking").replace(self._file("answers"))

    def estimate(self) -> int:
        """Print the most calls that the watch can make."""
        judge = self._judge(self.pinned.rubric)
        twice = [judge] if has_one_answer(self.pinned.questions) else []
        every = EveryCall([judge, *twice, *map(self._judge, self._wordings)])
        run = self._run(items_of(self._questions), every, None, ())
        note = (
            "this is the maximum: a question is asked twice only if its answer differs, and the watch ends when "
            "a change is shown"
        )
        print(f"polyjudge: {note}", file=sys.stderr)
        return show_estimate(run, "json" if self.options.format == "json" else "text", what="questions")

    def watch(self) -> Watch | int:
        """Ask the questions and the rewordings; return what was found, or the exit code of a watch that ended early."""
        questions, at, in_flight = self._questions, utc_now(), 0
        watching = Watching(self.pinned, self.options.false_alarms)
        by_id = {each.id: each for each in questions}
        taking = _Taking(watching)
        file = self._file("asking")
        if file.exists():  # a watch that was interrupted among the rewordings
            for item, (_, outcome) in zip(items_of(questions), read_results(file), strict=False):
                taking.put(item, outcome)
        else:
            judge = WatchJudge(self._judge(self.pinned.rubric), by_id)
            run = taking.run = self._run(items_of(questions), judge, file, [taking])
            code = self._execute(run, watching, len(questions))
            if code is not None:
                return code
            in_flight = len(judge.started - watching.taken)
        wordings = self._ask_in_other_words(watching, [each for each in questions if each.id in watching.answers])
        if isinstance(wordings, int):
            return wordings
        return self._found(watching, at=at, questions=len(questions), in_flight=in_flight, rewordings=wordings)

    def _execute(self, run: Run, watching: Watching, count: int) -> int | None:
        """Execute the run of the questions; return the exit code if it ended without a decision."""
        with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
            summary = run.execute(progress)
        print(f"polyjudge: asked {spent_line(summary.spent)}", file=sys.stderr)
        file = self._file("asking")
        if watching.test.is_shown:
            _settle(file)
            return None
        if summary.status in ("stopped", "capped"):
            left = f"{count - watching.test.asked - watching.unjudged} of {count} questions were not asked"
            return explain_end(signals, summary.stopped_by, left, file)
        if summary.status == "unjudged":
            file.replace(self._file("unjudged"))
            first = one_line(watching.reason, 200)
            print(f"polyjudge: {watching.unjudged} without a verdict. First reason: {first}", file=sys.stderr)
            kinds = summary.scores.unjudged_by_kind
            return too_many_unjudged(watching.unjudged, count, self.options.max_unjudged, kinds)
        return None

    def _ask_in_other_words(
        self, watching: Watching, questions: Sequence[PinnedQuestion]
    ) -> tuple[Rewording, ...] | int:
        """Ask the answered questions by each reworded rubric; return the counts, or an exit code."""
        found: list[Rewording] = []
        for number, rubric in enumerate(self._wordings, start=1):
            taking = Reworded(number, watching.answers)
            run = self._run(items_of(questions), self._judge(rubric), self._file(f"wording-{number}"), [taking])
            with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
                summary = run.execute(progress)
            if summary.status in ("stopped", "capped"):
                left = f"not all questions were asked in wording {number}"
                return explain_end(signals, summary.stopped_by, left, self._file("asking"))
            found.append(taking.found)
        return tuple(found)

    def _found(
        self, watching: Watching, *, at: str, questions: int, in_flight: int, rewordings: tuple[Rewording, ...]
    ) -> Watch:
        test = watching.test
        return Watch(
            name=self.pinned.name,
            at=at,
            verdict="changed" if test.is_shown else "no change shown",
            judge=self.pinned.judge,
            model_answered=watching.model_answered,
            model_changed=watching.model_changed,
            pinned_at=self.pinned.pinned_at,
            questions=questions,
            asked=test.asked,
            in_flight=in_flight,
            unjudged=watching.unjudged,
            flips=watching.flips,
            asked_twice=watching.asked_twice,
            confirmed=watching.confirmed,
            reverted=watching.reverted,
            e_value=round(test.highest, 4),
            needed=round(test.needed, 4),
            false_alarms=self.options.false_alarms,
            noticeable=None if test.is_shown else watching.noticeable,
            shift=watching.shift,
            rewordings=rewordings,
            calls=sum(budget.spent.calls for budget in self.budgets),
            cost_usd=round(self._cost, 6),
            seed=self.seed,
        )


class _Taking:
    """Passes the answers on, warns of another model, and stops the run when a change is shown."""

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        self._has_warned = False
        self.run: Run | None = None

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Take the next answer."""
        watching = self._watching
        watching.put(item, outcome)
        if watching.model_changed and not self._has_warned:
            self._has_warned = True
            print_warning(f"the provider says that {watching.model_answered} answers; then it was {watching.then}")
        if watching.test.is_shown and self.run is not None:
            self.run.stop()


def _settle(file: Path) -> None:
    """Give the answers of a run that was stopped, because a change is shown, their final name."""
    for partial in file.parent.glob(f"{file.name}.*.partial"):
        partial.replace(file)
    for rest in file.parent.glob(f"{file.name}.*"):
        rest.unlink()
