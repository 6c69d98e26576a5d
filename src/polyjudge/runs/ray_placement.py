"""Assign shards to Ray workers and collect their results."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import CapReachedError, StoppedError, UnusableError
from polyjudge.records.runs import Caps, Spent
from polyjudge.store.run_folder import Shard

from .ray_cluster import Finished, Work
from .shard_orders import Allowance, ShardJob, ShardNote, ShardOrder, ShardReport, Share, Trouble, add_spent
from .shard_worker import score_shard

_LOOK_EVERY_S = 0.5
_GRACE_S = 5.0
_OVERTIME_S = 10.0
"""After the grace, how long to wait for reports before all work is ended."""
_MOST_LOSSES = 10
"""A shard that loses its worker as often as that is the reason itself."""


class Cluster(Protocol):
    """Somewhere to place work."""

    def place(self, name: str, work: Work, order: Any) -> None:
        """Have some work done."""
        ...

    async def finished(self, wait_s: float) -> list[Finished]:
        """Return what has ended."""
        ...

    async def notes(self, grace_s: float | None) -> Mapping[str, Any]:
        """Return the last note of each piece of work; with `grace_s`, tell them to stop."""
        ...

    def kill(self) -> None:
        """End all work at once."""
        ...


@dataclass(frozen=True, slots=True)
class _Placed:
    shard: Shard
    share: Share
    grant: Caps


class ShardPlacing:
    """Places the shards of one run on a cluster."""

    def __init__(
        self, cluster: Cluster, job: ShardJob, shares: Sequence[Share], caps: Caps, stop: StopToken, spent: Spent
    ) -> None:
        self.spent = spent  # what all shards have used, also the unfinished ones
        self.fatal: Trouble | None = None
        """Why the run cannot continue, if something is missing or wrong."""
        self._cluster = cluster
        self._job = job
        self._free = list(shares)
        self._allowance = Allowance(caps)
        self._stop = stop
        self._settled = Spent()
        self._placed: dict[str, _Placed] = {}
        self._notes: dict[str, ShardNote] = {}
        self._losses: Counter[str] = Counter()
        self._round = _Round()
        self._grace_s: float | None = None
        self._kill_at: float | None = None
        stop.on_request(self._on_stop)

    async def judge(
        self, shards: Sequence[Shard], watch: Callable[[int, int], None], warn: Callable[[str], None]
    ) -> AsyncIterator[ShardReport]:
        """Yield the report of each shard as it ends; `watch` gets the done and unjudged items of the running ones."""
        waiting = deque(shards)
        while self._placed or (waiting and not self._stop.requested):
            self._place(waiting)
            if not self._placed:
                break
            for ended in await self._cluster.finished(_LOOK_EVERY_S):
                placed = self._placed.pop(ended.name)
                report = self._settle(placed, ended, warn)
                if report.part is not None or (report.trouble and report.trouble.kind == "items"):
                    yield report
                else:
                    waiting.appendleft(placed.shard)
            await self._update(watch)

    def _place(self, waiting: deque[Shard]) -> None:
        """Place shards on free workers; if none can be placed and none is running, the run is over."""
        if self._round.is_over and not self._placed and not self._stop.requested:
            if self._round.made_no_call:
                self._stop.request(CapReachedError(self._allowance.why))
            self._round = _Round(is_last=not self._round.calls)
        while waiting and self._free and not self._stop.requested and self._round.takes_more(len(self._placed)):
            grant = self._allowance.grant(1 if self._round.is_last else min(len(self._free), len(waiting)))
            if grant is None:
                break
            placed = _Placed(waiting.popleft(), self._free.pop(0), grant)
            self._placed[placed.shard.name] = placed
            order = ShardOrder(job=self._job, shard=placed.shard, share=placed.share, caps=grant)
            self._cluster.place(placed.shard.name, score_shard, order)
        if waiting and not self._placed and not self._stop.requested:
            self._stop.request(CapReachedError(self._allowance.why))

    def _settle(self, placed: _Placed, ended: Finished, warn: Callable[[str], None]) -> ShardReport:
        self._free.append(placed.share)
        last = self._notes.pop(ended.name, ShardNote())
        if ended.is_lost:
            # What it used is not known; its last note is a lower bound.
            self._allowance.lose(placed.grant)
            add_spent(self._settled, last.spent)
            self._lost(placed.shard, warn)
            return ShardReport(placed.shard, None, last.spent)
        report: ShardReport = ended.report
        self._allowance.settle(placed.grant, report.spent)
        add_spent(self._settled, report.spent)
        self._round.calls += report.spent.calls
        for warning in report.warnings:
            warn(warning)
        if report.trouble is not None:
            self._handle(report.trouble)
        return report

    def _handle(self, trouble: Trouble) -> None:
        if trouble.kind == "capped":
            self._round.is_over = True
        elif trouble.kind == "unusable":
            self._stop.request(UnusableError(trouble.message), grace_s=_GRACE_S)
        elif trouble.kind != "items":
            self.fatal = self.fatal or trouble
            self._stop.request(StoppedError(trouble.message), grace_s=_GRACE_S)

    def _lost(self, shard: Shard, warn: Callable[[str], None]) -> None:
        if self._stop.requested:
            return
        self._losses[shard.name] += 1
        if self._losses[shard.name] < _MOST_LOSSES:
            warn(f"the worker that judged {shard.name} was lost; its shard is judged again")
            return
        message = f"the worker of {shard.name} was lost {_MOST_LOSSES} times. Check its memory, and Ray's logs"
        self._stop.request(StoppedError(message), grace_s=_GRACE_S)

    async def _update(self, watch: Callable[[int, int], None]) -> None:
        notes = await self._cluster.notes(self._grace_s)
        self._notes = {name: notes.get(name, self._notes.get(name, ShardNote())) for name in self._placed}
        total = Spent()
        for spent in (self._settled, *(note.spent for note in self._notes.values())):
            add_spent(total, spent)
        for name in Spent.__struct_fields__:
            setattr(self.spent, name, getattr(total, name))
        running = self._notes.values()
        watch(sum(note.done for note in running), sum(note.unjudged for note in running))
        if self._kill_at is not None and asyncio.get_running_loop().time() > self._kill_at:
            self._cluster.kill()

    def _on_stop(self, grace_s: float | None) -> None:
        self._grace_s = _GRACE_S if grace_s is None else grace_s
        self._kill_at = asyncio.get_running_loop().time() + self._grace_s + _OVERTIME_S


@dataclass(slots=True)
class _Round:
    """The time until a shard has used up its grant; the running shards then finish, and the rest is divided again.

    After a round in which no shard could make a call comes the last one: one shard is granted the whole rest.
    """

    is_last: bool = False
    is_over: bool = False
    calls: int = 0

    @property
    def made_no_call(self) -> bool:
        return self.is_last and not self.calls

    def takes_more(self, placed: int) -> bool:
        return not self.is_over and not (self.is_last and placed)
