"""Judge several languages in one call, and measure how far that changes scores."""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from copy import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from polyjudge.concurrency.pool import Slots, StopToken, in_order
from polyjudge.formats.translation_scores import ScoresFile, prompt_score
from polyjudge.judges.base import ModelAddresses
from polyjudge.judges.binding import ProviderSource
from polyjudge.judges.grouped import BatchRow, GroupedJudge
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.verdicts.translation import scores_pass

from .translation import LanguageJudge, Task

Outcomes = dict[Task, Outcome]
_NAMES = {
    "batch_size": "batchSize",
    "rows_from_batches": "rowsFromBatches",
    "empty_batches": "emptyBatches",
    "mean_distance": "meanDistance",
}
"""Of what is measured, as a scores file has them."""
_MOST_FLIPPED = 0.2
"""Share of rows that may pass one way and fail the other."""
_SIZES = range(2, 11)
"""Languages that a call can be about."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How batches are made and watched."""

    size: int = 8
    """Languages in a call."""
    control_share: float = 0.05
    """Rows that are judged alone as well."""
    tolerance: float = 0.5
    """Mean distance between batched and single scores, in points of the scale, beyond which batches are halved."""
    seed: int = 0


@dataclass(slots=True)
class Drift:
    """How far judging in batches moves the scores."""

    batch_size: int = 1
    """Languages in a call, in the end."""
    rows_from_batches: int = 0
    """Rows that came from a call about several languages; the others were asked for alone."""
    empty_batches: int = 0
    """Calls about several languages that brought no usable row."""
    compared: int = 0
    """Rows judged both ways, at that size."""
    mean_distance: float | None = None
    """Between the two, over all dimensions."""
    flipped: int = 0
    """Rows that pass one way and fail the other."""
    tolerance: float = 0.5
    tried: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Larger sizes that moved the scores too far."""

    def restart(self, batch_size: int, tolerance: float) -> None:
        """Forget what was measured: the judging starts again, with so many languages in a call."""
        self.batch_size, self.tolerance = batch_size, tolerance
        self.rows_from_batches = self.empty_batches = self.compared = self.flipped = 0
        self.mean_distance, self.tried = None, []

    @property
    def is_too_far(self) -> bool:
        """The two ways differ by more than the tolerance, or turn too many verdicts around."""
        if self.mean_distance is None:
            return False
        return self.mean_distance > self.tolerance or self.flipped > max(1, _MOST_FLIPPED * self.compared)

    def as_row(self) -> dict[str, Any]:
        """Return it as it stands in a scores file."""
        return {_NAMES.get(name, name): value for name, value in asdict(self).items() if value not in (None, [])}


class GroupedTranslationJudge:
    """Judges tasks in calls about several languages, and measures in `drift` how far that moves the scores.

    The first task of a group asks for all of it, and the others wait for the answer. In the preparation, a seeded
    sample is judged alone, and also in its groups. While the two differ too much the size is halved and those groups
    are judged again; the rest is judged at the size that held.
    """

    def __init__(self, judge: GroupedJudge, tasks: Sequence[Task], options: BatchOptions) -> None:
        self._judge = judge
        self._tasks = {task.id: task for task in tasks}
        self._options = options
        self.drift = Drift()
        """Complete when all tasks are judged; the same for the judge that a run has bound to its providers."""
        self._slots: Slots | None = None
        self._settled: dict[str, Outcome] = {}
        self._groups: list[list[Task]] = []
        self._group_of: dict[str, int] = {}
        self._answers: dict[int, asyncio.Future[dict[str, Outcome]]] = {}

    @property
    def rubric(self) -> Rubric:
        """The rubric of all languages; some are asked one question more."""
        return self._judge.rubric

    @property
    def models(self) -> ModelAddresses:
        """The model that is asked, with its address."""
        return self._judge.models

    @property
    def fingerprint(self) -> str:
        """Changes when the prompts do, or which tasks share one."""
        options = self._options
        return f"{self._judge.fingerprint} {options.size} {options.control_share} {options.tolerance} {options.seed}"

    def bind(self, source: ProviderSource) -> "GroupedTranslationJudge":
        """Return this judge with its provider opened by a run."""
        bound = copy(self)
        bound._judge = self._judge.bind(source)
        return bound

    async def prepare(
        self, stored: Iterable[tuple[str, RunOutcome]], *, concurrency: int | Slots, stop: StopToken
    ) -> None:
        """Find the size of the groups, by judging a sample in both ways."""
        self._slots = concurrency if isinstance(concurrency, Slots) else None
        self._settled, self._groups, self._answers, self._judge.empty_batches = {}, [], {}, 0
        tasks = list(self._tasks.values())
        languages = len({id(task.language) for task in tasks})  # more than there are cannot be in a call
        self.drift.restart(min(self._options.size, languages), self._options.tolerance)
        controls = self._controls(tasks)
        try:
            await self._settle(tasks, controls, _Pace(concurrency, stop))
            if not stop.requested:
                groups = batches_of(tasks, self.drift.batch_size)
                self._groups = [group for group in groups if not controls & set(group)]
                self._group_of = {task.id: number for number, group in enumerate(self._groups) for task in group}
                await self._resume(dict(stored), _Pace(concurrency, stop))
        finally:
            self.drift.empty_batches = self._judge.empty_batches

    def settled(self, item: Item) -> Outcome | None:
        """Return the outcome of a task that was judged in the preparation."""
        return self._settled.get(item.id)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - a group is asked once
        """Judge a task with its group."""
        if (outcome := self._settled.get(item.id)) is not None:
            return outcome
        return (await self._answer(self._group_of[item.id]))[item.id]

    async def aclose(self) -> None:
        """Close connections."""
        await self._judge.aclose()

    async def _settle(self, tasks: Sequence[Task], controls: set[Task], pace: "_Pace") -> None:
        """Judge the controls alone and in groups, in smaller ones while those move the scores too far."""
        drift, rows = self.drift, dict[Task, BatchRow]()
        singles = {task: outcome async for task, outcome in self._alone(controls, pace)}
        while not pace.stop.requested:
            groups = [group for group in batches_of(tasks, drift.batch_size) if controls & set(group)]
            rows = {task: row async for task, row in self._grouped(groups, pace)}
            if len(singles) < len(controls) or len(rows) < sum(map(len, groups)):
                rows = {}  # a stop: rows whose effect is not measured yet must not be kept
                break
            _compare(drift, singles, {task: row.outcome for task, row in rows.items() if row.from_batch})
            if drift.batch_size == 1 or not drift.is_too_far:
                break
            drift.tried.append({"batchSize": drift.batch_size, "meanDistance": drift.mean_distance})
            drift.batch_size //= 2
            rows = {}
        judged_alone = {task: single for task, single in singles.items() if isinstance(single, JudgeResult)}
        outcomes: Outcomes = {task: row.outcome for task, row in rows.items()} | judged_alone
        self._settled = {task.id: outcome for task, outcome in outcomes.items()}
        drift.rows_from_batches = sum(row.from_batch for task, row in rows.items() if task not in judged_alone)

    async def _resume(self, stored: Mapping[str, RunOutcome], pace: "_Pace") -> None:
        """Count the groups that an earlier run has judged, and ask again for those that it was interrupted in."""
        broken_off: list[int] = []
        for number, group in enumerate(self._groups):
            known = [stored[task.id] for task in group if task.id in stored]
            if len(known) == len(group):
                self._count_stored(group, known)
            elif known:
                broken_off.append(number)
        async with aclosing(
            in_order(self._answer, broken_off, concurrency=pace.concurrency, stop=pace.stop)
        ) as answers:
            async for _ in answers:
                pass

    def _count_stored(self, group: Sequence[Task], outcomes: Sequence[RunOutcome]) -> None:
        items = [task.batch_item() for task in group]
        alone = [
            _prompt_of(each) == prompt_sha256(self._judge.prompt_alone(item))
            for each, item in zip(outcomes, items, strict=True)
        ]
        results = [isinstance(outcome, JudgeResult) for outcome in outcomes]
        self.drift.rows_from_batches += sum(
            is_result and not was for is_result, was in zip(results, alone, strict=True)
        )
        if all(alone) and self._judge.shares_a_call(items):
            self._judge.note_empty_batches(1)

    async def _answer(self, number: int) -> dict[str, Outcome]:
        """Return the outcomes of a group: the first task asks, and the others wait while other tasks are judged."""
        if (answer := self._answers.get(number)) is not None:
            with nullcontext() if self._slots is None or answer.done() else self._slots.lent():
                return await asyncio.shield(answer)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_take_note)
        group = self._groups[number]
        try:
            rows = await self._judge.rows([task.batch_item() for task in group])
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                answer.cancel()
            else:
                answer.set_exception(error)
            raise
        finally:
            self.drift.empty_batches = self._judge.empty_batches
        self.drift.rows_from_batches += sum(row.from_batch for row in rows)
        answer.set_result({task.id: row.outcome for task, row in zip(group, rows, strict=True)})
        return answer.result()

    def _controls(self, tasks: Sequence[Task]) -> set[Task]:
        count = max(1, round(self._options.control_share * len(tasks)))
        return set(random.Random(self._options.seed).sample(list(tasks), min(count, len(tasks))))

    def _alone(self, tasks: Iterable[Task], pace: "_Pace") -> AsyncGenerator[tuple[Task, Outcome]]:
        async def one(task: Task) -> tuple[Task, Outcome]:
            return task, await self._judge.alone(task.batch_item())

        ordered = sorted(tasks, key=lambda task: task.id)
        return in_order(one, ordered, concurrency=pace.concurrency, stop=pace.stop)

    async def _grouped(self, groups: Sequence[Sequence[Task]], pace: "_Pace") -> AsyncGenerator[tuple[Task, BatchRow]]:
        async def one(group: Sequence[Task]) -> list[tuple[Task, BatchRow]]:
            rows = await self._judge.rows([task.batch_item() for task in group])
            return list(zip(group, rows, strict=True))

        async with aclosing(in_order(one, groups, concurrency=pace.concurrency, stop=pace.stop)) as judged:
            async for pairs in judged:
                for pair in pairs:
                    yield pair


@dataclass(frozen=True, slots=True)
class _Pace:
    """How many calls the preparation may make at once, and when it is to end."""

    concurrency: int | Slots
    stop: StopToken


def _take_note(answer: "asyncio.Future[dict[str, Outcome]]") -> None:
    """Take the error of a group that no other task waits for: the one that asked raises it."""
    if not answer.cancelled():
        answer.exception()


def _prompt_of(outcome: RunOutcome) -> str:
    return outcome.provenance.prompt_sha256 if outcome.provenance is not None else ""


def judge_of_failures(rubric: Rubric, names: Sequence[ModelName], tasks: Sequence[Task], scores: Path) -> LanguageJudge:
    """Return the judge that asks alone about each failure in a scores file, and knows the prompts of its groups."""
    judge, hashes = GroupedJudge(rubric, ""), defaultdict[str, set[str]](set)
    judged = {item_id for item_id, _ in ScoresFile(scores, [], "").rows()}
    earlier = [task for task in tasks if task.id in judged]
    for group in (group for size in _SIZES for group in batches_of(earlier, size)):
        distinct = {item.id: item for item in (task.batch_item() for task in group)}
        prompt = prompt_sha256(judge.prompt(list(distinct.values())))
        for task in group:
            hashes[task.id].add(prompt)
    return LanguageJudge(rubric, names, tasks, prompts_in_groups=hashes)


def batches_of(tasks: Sequence[Task], size: int) -> list[list[Task]]:
    """Return the tasks in calls of so many languages, one prompt of each; no call has a language twice."""
    batches: list[list[Task]] = []
    rows: dict[int, list[Task]] = defaultdict(list)
    seen = Counter[int]()
    for task in tasks:  # by its turn among those of its language: in a sample, places in the file have gaps
        rows[seen[id(task.language)]].append(task)
        seen[id(task.language)] += 1
    for row in rows.values():
        count = -(-len(row) // size)
        # Evenly, so that the last call is not left with one language alone.
        batches += [row[number * len(row) // count : (number + 1) * len(row) // count] for number in range(count)]
    return batches


def _compare(drift: Drift, singles: Outcomes, batched: Outcomes) -> None:
    """Measure how far the rows that were judged both ways lie apart; `batched` are those that came from batches."""
    distances: list[float] = []
    drift.compared = drift.flipped = 0
    for task, single in singles.items():
        other = batched.get(task)
        if isinstance(single, JudgeResult) and isinstance(other, JudgeResult):
            drift.compared += 1
            distances += [abs(value - other.subscores[name]) for name, value in single.subscores.items()]
            drift.flipped += scores_pass(prompt_score(0, single)) != scores_pass(prompt_score(0, other))
    drift.mean_distance = round(fmean(distances), 4) if distances else None
