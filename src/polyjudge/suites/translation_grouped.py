"""Judge several languages in one call, and measure how far that changes scores."""

import random
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.formats.translation_scores import prompt_score
from polyjudge.judges.base import Judge
from polyjudge.judges.grouped import BatchRow, GroupedJudge
from polyjudge.records.outcomes import JudgeResult, Outcome
from polyjudge.verdicts.translation import scores_pass

from .translation import Task

Done = Callable[[Task, Outcome], None]
"""Told of each outcome as it comes."""
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


async def judge_each(
    judge_for: Callable[[Task], tuple[Judge, Mapping[str, Any]]],
    tasks: Iterable[Task],
    *,
    concurrency: int,
    stop: StopToken,
    done: Done | None = None,
) -> Outcomes:
    """Judge every task by itself; `judge_for` says by whom, and what the judge is told."""

    async def one(task: Task) -> tuple[Task, Outcome]:
        judge, context = judge_for(task)
        return task, await judge.outcome(task.prompt.generated_output, context)

    outcomes: Outcomes = {}
    async with aclosing(in_order(one, tasks, concurrency=concurrency, stop=stop)) as judged:
        async for task, outcome in judged:
            outcomes[task] = outcome
            if done is not None:
                done(task, outcome)
    return outcomes


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

    batch_size: int
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

    @property
    def is_too_far(self) -> bool:
        """The two ways differ by more than the tolerance, or turn too many verdicts around."""
        if self.mean_distance is None:
            return False
        return self.mean_distance > self.tolerance or self.flipped > max(1, _MOST_FLIPPED * self.compared)

    def as_row(self) -> dict[str, Any]:
        """Return it as it stands in a scores file."""
        return {_NAMES.get(name, name): value for name, value in asdict(self).items() if value not in (None, [])}


class BatchRun:
    """One run in batches: a seeded sample is judged alone first, beside the batches it stands in.

    While the two differ too much the size is halved and those batches are judged again; the rest is judged at the size
    that held.
    """

    def __init__(
        self, judge: GroupedJudge, options: BatchOptions, *, concurrency: int, stop: StopToken, done: Done
    ) -> None:
        self._judge = judge
        self._options = options
        self._concurrency = concurrency
        self._stop = stop
        self._done = done

    async def judge(self, tasks: Sequence[Task]) -> tuple[Outcomes, Drift]:
        """Return the outcome of each task, and how far batches moved the scores."""
        controls = self._controls(tasks)
        singles = {task: outcome async for task, outcome in self._alone(controls)}
        languages = len({id(task.language) for task in tasks})  # more than there are cannot stand in a call
        drift = Drift(min(self._options.size, languages), tolerance=self._options.tolerance)
        rows: dict[Task, BatchRow] = {}
        while not self._stop.requested:
            batches = [batch for batch in batches_of(tasks, drift.batch_size) if controls & set(batch)]
            rows = {task: row async for task, row in self._batched(batches)}
            _compare(drift, singles, {task: row.outcome for task, row in rows.items() if row.from_batch})
            if drift.batch_size == 1 or not drift.is_too_far:
                break
            drift.tried.append({"batchSize": drift.batch_size, "meanDistance": drift.mean_distance})
            drift.batch_size //= 2
            rows = {}  # a stop that comes now must not leave the rows that were moved
        judged_alone = {task: single for task, single in singles.items() if isinstance(single, JudgeResult)}
        outcomes: Outcomes = {task: row.outcome for task, row in rows.items()} | judged_alone
        for task, outcome in outcomes.items():
            self._done(task, outcome)
        drift.rows_from_batches = sum(row.from_batch for task, row in rows.items() if task not in judged_alone)
        rest = [batch for batch in batches_of(tasks, drift.batch_size) if not controls & set(batch)]
        async with aclosing(self._batched(rest)) as judged:
            async for task, row in judged:
                outcomes[task] = row.outcome
                drift.rows_from_batches += row.from_batch
                self._done(task, row.outcome)
        drift.empty_batches = self._judge.empty_batches
        return outcomes, drift

    def _controls(self, tasks: Sequence[Task]) -> set[Task]:
        count = max(1, round(self._options.control_share * len(tasks)))
        return set(random.Random(self._options.seed).sample(list(tasks), min(count, len(tasks))))

    def _alone(self, tasks: Iterable[Task]) -> AsyncGenerator[tuple[Task, Outcome]]:
        async def one(task: Task) -> tuple[Task, Outcome]:
            return task, await self._judge.alone(task.batch_item())

        ordered = sorted(tasks, key=lambda task: task.id)
        return in_order(one, ordered, concurrency=self._concurrency, stop=self._stop)

    async def _batched(self, batches: Sequence[Sequence[Task]]) -> AsyncGenerator[tuple[Task, BatchRow]]:
        async def one(batch: Sequence[Task]) -> list[tuple[Task, BatchRow]]:
            rows = await self._judge.rows([task.batch_item() for task in batch])
            return list(zip(batch, rows, strict=True))

        async with aclosing(in_order(one, batches, concurrency=self._concurrency, stop=self._stop)) as judged:
            async for pairs in judged:
                for pair in pairs:
                    yield pair


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
