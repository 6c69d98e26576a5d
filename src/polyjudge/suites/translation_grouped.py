"""Judge several languages in one call, and measure how much that changes scores."""

import random
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from polyjudge.concurrency.pool import Slots, StopToken, in_order
from polyjudge.formats.translation_scores import ScoresFile, prompt_score
from polyjudge.judges.asking import ProviderSource
from polyjudge.judges.base import ModelAddresses
from polyjudge.judges.grouped import BatchRow, GroupedJudge
from polyjudge.judges.shared_calls import SharedCalls
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
"""Names of measured values in a scores file."""
_MAX_FLIPPED = 0.2
"""Largest share of rows that may pass alone and fail in a group, or the reverse."""
_SIZES = range(2, 11)
"""Possible numbers of languages in a call."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How tasks are grouped and how the effect is measured."""

    size: int = 8
    """Languages in a call."""
    control_share: float = 0.05
    """Share of rows that are also judged alone."""
    tolerance: float = 0.5
    """Mean distance between grouped and single scores, in points, above which groups are halved."""
    seed: int = 0


@dataclass(slots=True)
class Drift:
    """How much judging in groups changes the scores."""

    batch_size: int = 1
    """Languages in a call, after halving."""
    rows_from_batches: int = 0
    """Rows from a call about several languages; the others were judged alone."""
    empty_batches: int = 0
    """Calls about several languages without a usable row."""
    compared: int = 0
    """Rows judged both ways at that size."""
    mean_distance: float | None = None
    """Mean difference between the two, over all dimensions."""
    flipped: int = 0
    """Rows that pass one way and fail the other."""
    tolerance: float = 0.5
    tried: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Larger sizes that changed the scores too much."""

    def restart(self, batch_size: int, tolerance: float) -> None:
        """Reset the measurement, for `batch_size` languages in a call."""
        self.batch_size, self.tolerance = batch_size, tolerance
        self.rows_from_batches = self.empty_batches = self.compared = self.flipped = 0
        self.mean_distance, self.tried = None, []

    @property
    def is_too_far(self) -> bool:
        """Whether grouping changes scores by more than the tolerance, or flips too many verdicts."""
        if self.mean_distance is None:
            return False
        return self.mean_distance > self.tolerance or self.flipped > max(1, _MAX_FLIPPED * self.compared)

    def as_row(self) -> dict[str, Any]:
        """Return the row of a scores file."""
        return {_NAMES.get(name, name): value for name, value in asdict(self).items() if value not in (None, [])}


class GroupedTranslationJudge:
    """Judges tasks in calls about several languages, and measures in `drift` how much that changes the scores.

    The first task of a group makes the call, and the others wait for it. `prepare` judges a seeded sample both alone
    and in its groups; while the two differ too much, it halves the size and judges those groups again.
    """

    def __init__(self, judge: GroupedJudge, tasks: Sequence[Task], options: BatchOptions) -> None:
        self._judge = judge
        self._tasks = {task.id: task for task in tasks}
        self._options = options
        self.drift = Drift()
        """Complete when all tasks are judged; shared with the copies that `bind` returns."""
        self._settled: dict[str, Outcome] = {}
        self._groups: list[list[Task]] = []
        self._group_of: dict[str, int] = {}
        self._calls = SharedCalls[dict[str, Outcome]](None)

    @property
    def rubric(self) -> Rubric:
        """The rubric of all languages, without additional questions."""
        return self._judge.rubric

    @property
    def models(self) -> ModelAddresses:
        """The model with its address."""
        return self._judge.models

    @property
    def fingerprint(self) -> str:
        """Identifies the prompts, and which tasks share one."""
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
        """Determine the size of the groups by judging a sample both ways."""
        self._calls = SharedCalls[dict[str, Outcome]](concurrency if isinstance(concurrency, Slots) else None)
        self._settled, self._groups, self._judge.empty_batches = {}, [], 0
        tasks = list(self._tasks.values())
        languages = len({id(task.language) for task in tasks})
        self.drift.restart(min(self._options.size, languages), self._options.tolerance)
        count = max(1, round(self._options.control_share * len(tasks)))
        controls = set(random.Random(self._options.seed).sample(tasks, min(count, len(tasks))))
        try:
            await self._settle(tasks, controls, _Limits(concurrency, stop))
            if not stop.requested:
                groups = batches_of(tasks, self.drift.batch_size)
                self._groups = [group for group in groups if not controls & set(group)]
                self._group_of = {task.id: number for number, group in enumerate(self._groups) for task in group}
                await self._resume(dict(stored), _Limits(concurrency, stop))
        finally:
            self.drift.empty_batches = self._judge.empty_batches

    def settled(self, item: Item) -> Outcome | None:
        """Return the outcome of a task that `prepare` judged."""
        return self._settled.get(item.id)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - one call per group
        """Judge a task with its group."""
        if (outcome := self._settled.get(item.id)) is not None:
            return outcome
        return (await self._group_outcomes(self._group_of[item.id]))[item.id]

    async def aclose(self) -> None:
        """Close connections."""
        await self._judge.aclose()

    async def _settle(self, tasks: Sequence[Task], controls: set[Task], limits: "_Limits") -> None:
        """Judge the controls alone and in groups; halve the size while grouping changes the scores too much."""
        drift, rows = self.drift, dict[Task, BatchRow]()
        singles = {task: outcome async for task, outcome in self._alone(controls, limits)}
        while not limits.stop.requested:
            groups = [group for group in batches_of(tasks, drift.batch_size) if controls & set(group)]
            rows = {task: row async for task, row in self._grouped(groups, limits)}
            if len(singles) < len(controls) or len(rows) < sum(map(len, groups)):
                rows = {}  # stopped: rows whose drift is not measured must not be stored
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

    async def _resume(self, stored: Mapping[str, RunOutcome], limits: "_Limits") -> None:
        """Count the groups that an earlier run has judged, and judge again those that it did not complete."""
        interrupted: list[int] = []
        for number, group in enumerate(self._groups):
            known = [stored[task.id] for task in group if task.id in stored]
            if len(known) == len(group):
                self._count_stored(group, known)
            elif known:
                interrupted.append(number)
        async with aclosing(
            in_order(self._group_outcomes, interrupted, concurrency=limits.concurrency, stop=limits.stop)
        ) as answers:
            async for _ in answers:
                pass

    def _count_stored(self, group: Sequence[Task], outcomes: Sequence[RunOutcome]) -> None:
        items = [task.batch_item() for task in group]
        alone = [
            _prompt_hash(each) == prompt_sha256(self._judge.prompt_alone(item))
            for each, item in zip(outcomes, items, strict=True)
        ]
        results = [isinstance(outcome, JudgeResult) for outcome in outcomes]
        self.drift.rows_from_batches += sum(
            is_result and not was for is_result, was in zip(results, alone, strict=True)
        )
        if all(alone) and self._judge.shares_a_call(items):
            self._judge.note_empty_batches(1)

    async def _group_outcomes(self, number: int) -> dict[str, Outcome]:
        """Return the outcomes of a group: the first task makes the call, the others wait and lend their slots."""
        return await self._calls.answer(number, lambda: self._asked(self._groups[number]))

    async def _asked(self, group: Sequence[Task]) -> dict[str, Outcome]:
        try:
            rows = await self._judge.rows([task.batch_item() for task in group])
        finally:
            self.drift.empty_batches = self._judge.empty_batches
        self.drift.rows_from_batches += sum(row.from_batch for row in rows)
        return {task.id: row.outcome for task, row in zip(group, rows, strict=True)}

    def _alone(self, tasks: Iterable[Task], limits: "_Limits") -> AsyncGenerator[tuple[Task, Outcome]]:
        async def one(task: Task) -> tuple[Task, Outcome]:
            return task, await self._judge.alone(task.batch_item())

        ordered = sorted(tasks, key=lambda task: task.id)
        return in_order(one, ordered, concurrency=limits.concurrency, stop=limits.stop)

    async def _grouped(
        self, groups: Sequence[Sequence[Task]], limits: "_Limits"
    ) -> AsyncGenerator[tuple[Task, BatchRow]]:
        async def one(group: Sequence[Task]) -> list[tuple[Task, BatchRow]]:
            rows = await self._judge.rows([task.batch_item() for task in group])
            return list(zip(group, rows, strict=True))

        async with aclosing(in_order(one, groups, concurrency=limits.concurrency, stop=limits.stop)) as judged:
            async for pairs in judged:
                for pair in pairs:
                    yield pair


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits of `prepare`: concurrent calls, and the stop token."""

    concurrency: int | Slots
    stop: StopToken


def _prompt_hash(outcome: RunOutcome) -> str:
    return outcome.provenance.prompt_sha256 if outcome.provenance is not None else ""


def judge_of_failures(rubric: Rubric, names: Sequence[ModelName], tasks: Sequence[Task], scores: Path) -> LanguageJudge:
    """Return the judge that retries the failures of a scores file alone, with the prompt hashes of its groups."""
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
    """Group tasks into calls of at most `size` languages, with one prompt of each language."""
    batches: list[list[Task]] = []
    rows: dict[int, list[Task]] = defaultdict(list)
    seen = Counter[int]()
    for task in tasks:  # by the order within the language: the indexes of a sample have gaps
        rows[seen[id(task.language)]].append(task)
        seen[id(task.language)] += 1
    for row in rows.values():
        count = -(-len(row) // size)
        # Split evenly, so that the last call does not have a single language.
        batches += [row[number * len(row) // count : (number + 1) * len(row) // count] for number in range(count)]
    return batches


def _compare(drift: Drift, singles: Outcomes, batched: Outcomes) -> None:
    """Measure the differences of rows judged both ways; `batched` are the outcomes of groups."""
    distances: list[float] = []
    drift.compared = drift.flipped = 0
    for task, single in singles.items():
        other = batched.get(task)
        if isinstance(single, JudgeResult) and isinstance(other, JudgeResult):
            drift.compared += 1
            distances += [abs(value - other.subscores[name]) for name, value in single.subscores.items()]
            drift.flipped += scores_pass(prompt_score(0, single)) != scores_pass(prompt_score(0, other))
    drift.mean_distance = round(fmean(distances), 4) if distances else None
