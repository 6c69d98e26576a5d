"""Judge one shard in a Ray worker."""

import asyncio
import os
import socket
import warnings
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from copy import copy
from dataclasses import dataclass, field

from polyjudge.cache.postgres_connection import UnreachableCacheError
from polyjudge.cache.protocol import Cache, open_cache
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import (
    CapReachedError,
    ConfigError,
    DataError,
    MissingExtraError,
    MissingKeyError,
    PolyjudgeError,
    StoppedError,
)
from polyjudge.folder_trust import TRUST_VARIABLE
from polyjudge.formats.items import ItemSource
from polyjudge.formats.row_files import rows_of
from polyjudge.judges.base import as_item_judge, close_judge
from polyjudge.providers.budget import Budget
from polyjudge.providers.services import use_addresses
from polyjudge.records.outcomes import Failure, Item, RunOutcome, item_row, read_outcome_row
from polyjudge.store.parquet import write_parquet_rows
from polyjudge.store.run_folder import ResultsPart, sha256_of
from polyjudge.version import __version__

from .execution import judge_in_order
from .plan import stored_results
from .ray_cluster import Notify
from .shard_orders import PROTOCOL, ShardNote, ShardOrder, ShardReport, Trouble, TroubleKind
from .shards import shard_digest
from .stack import ProviderStack, judge_by_models, open_judge

_NOTIFY_EVERY_S = 0.5
_WAIT_S, _PAUSE_S = 60.0, 1.0


def score_shard(order: ShardOrder, notify: Notify) -> ShardReport:
    """Judge a shard and write its results; errors are part of the report."""
    meter, part, trouble = Budget(order.caps), None, None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        try:
            _settle_in(order)
            part = run_sync(_Scoring(order, notify, meter).run())
        except PolyjudgeError as error:
            trouble = _trouble(error, order)
    messages = tuple(dict.fromkeys(str(warning.message) for warning in warned))
    return ShardReport(order.shard, part, meter.spent, trouble, messages)


def _settle_in(order: ShardOrder) -> None:
    """Prepare this process for the run: check versions and folders, and set the same addresses."""
    job, host = order.job, socket.gethostname()
    if order.protocol != PROTOCOL:
        asked = f"protocol {order.protocol} (polyjudge {order.version})"
        raise ConfigError(
            f"{host}: polyjudge {__version__} uses protocol {PROTOCOL}, the run needs {asked}. Install the same "
            "release on all machines."
        )
    use_addresses(job.addresses)
    for folder in (order.shard.path.parent, job.output, *([job.folder] if job.needs_folder else [])):
        if not folder.is_dir():
            raise ConfigError(f"{host} has no folder {str(folder)!r}: all workers must see it, on shared storage")
    if job.folder.is_dir():
        os.chdir(job.folder)
    if job.trusts_folder:
        os.environ[TRUST_VARIABLE] = str(job.folder)


def _trouble(error: PolyjudgeError, order: ShardOrder) -> Trouble:
    if isinstance(error, StoppedError):
        return Trouble("capped" if isinstance(error, CapReachedError) else "unusable", str(error))
    if isinstance(error, MissingKeyError | MissingExtraError):
        return Trouble("missing", f"{error}\n(for Ray's workers{_elsewhere(order)}: in the environment they run in)")
    kind: TroubleKind = "files"
    if isinstance(error, ConfigError):
        kind = "config"
    elif isinstance(error, DataError) and error.path == order.shard.path:
        kind = "items"
    return Trouble(kind, f"{error}{_elsewhere(order)}")


def _elsewhere(order: ShardOrder) -> str:
    """Name the machine, unless it is the one on which the command was given."""
    host = socket.gethostname()
    return "" if host == order.job.host else f" on {host}"


class _UnfinishedError(Exception):
    """Prevents an incomplete part from being stored."""


@dataclass(slots=True)
class _Scoring:
    order: ShardOrder
    notify: Notify
    meter: Budget
    stop: StopToken = field(default_factory=StopToken)
    done: int = 0
    unjudged: int = 0

    async def run(self) -> ResultsPart | None:
        """Return the part that was written; None if it was stopped."""
        order, job = self.order, self.order.job
        shard = order.shard
        place = (shard.items, shard.start, shard.rows, shard.earlier)
        source = ItemSource(shard.path, job.context, job.filters, *place, job.table, job.default_context)
        if shard_digest(iter(source)) != order.shard.fingerprint:
            raise DataError("the file was changed since the run started; run the command again", path=order.shard.path)
        try:
            async with self._reporting():
                return await self._write(source)
        except _UnfinishedError:
            if self.stop.error is not None:
                raise self.stop.error from None
            return None

    async def _write(self, source: ItemSource) -> ResultsPart:
        shard, job = self.order.shard, self.order.job
        path = job.output / f"{shard.name}.parquet"
        criteria, flags = [each.name for each in job.rubric.criteria], [each.name for each in job.rubric.flags]
        async with self._cache() as cache:
            with write_parquet_rows(path, criteria, flags) as rows:
                async with aclosing(self._outcomes(source, cache)) as outcomes:
                    async for item, outcome in outcomes:
                        rows.append(item_row(item, outcome, with_texts=True))
                        self.done += 1
                        self.unjudged += isinstance(outcome, Failure)
                if self.done < shard.items:
                    raise _UnfinishedError
        return ResultsPart(
            file=path.name,
            rows=self.done,
            judged=self.done - self.unjudged,
            unjudged=self.unjudged,
            sha256=sha256_of(path),
            items_file=shard.path.name,
            items_line=shard.start.line,
            items_fingerprint=shard.fingerprint,
        )

    async def _outcomes(self, source: ItemSource, cache: Cache | None) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        order, job = self.order, self.order.job
        access = ProviderStack(
            cache=cache,
            since=job.since,
            replay=job.replay,
            concurrency=order.share.concurrency,
            rpm=order.share.rpm,
            tpm=order.share.tpm,
            price=job.price,
            meter=self.meter,
            timeout_s=job.timeout_s,
        )
        judge = open_judge(job.rubric, job.judges, access, repeats=job.repeats)
        known = _known(order, source)
        scored = judge_in_order(
            as_item_judge(judge).judge, source, concurrency=order.share.concurrency, stop=self.stop, known=known
        )
        try:
            async with aclosing(scored):
                async for item, outcome in scored:
                    yield item, outcome
        finally:
            await close_judge(judge)

    @asynccontextmanager
    async def _cache(self) -> AsyncGenerator[Cache | None]:
        """Open the cache; it was reachable when the run started, so wait if it is not reachable now."""
        place, replay, left_s = self.order.job.cache, self.order.job.replay, _WAIT_S
        cache: Cache | None = None
        while place and cache is None:
            try:
                cache = await open_cache(place, read_only=replay)
            except UnreachableCacheError:
                if left_s <= 0:
                    raise
                if self.stop.requested:
                    raise _UnfinishedError from None
                await asyncio.sleep(_PAUSE_S)
                left_s -= _PAUSE_S
        try:
            yield cache
        finally:
            if cache is not None:
                await cache.aclose()

    @asynccontextmanager
    async def _reporting(self) -> AsyncGenerator[None]:
        """Report the progress regularly, and stop when asked to."""
        reporting = asyncio.create_task(self._report_progress())
        try:
            yield
        finally:
            reporting.cancel()
            with suppress(asyncio.CancelledError):
                await reporting

    async def _report_progress(self) -> None:
        before: float | None = None
        while True:
            grace_s = await self.notify(ShardNote(self.done, self.unjudged, copy(self.meter.spent)))
            if grace_s is not None and (before is None or grace_s < before):
                self.stop.request(grace_s=grace_s)
                before = grace_s
            await asyncio.sleep(_NOTIFY_EVERY_S)


def _known(order: ShardOrder, source: ItemSource) -> Mapping[str, RunOutcome]:
    """Return the outcomes that the results already have."""
    job, path = order.job, order.job.output / f"{order.shard.name}.parquet"
    if not job.keeps_results or not path.is_file():
        return {}
    try:
        kept = [read_outcome_row(row) for _, row in rows_of(path) if not isinstance(row, str)]
    except DataError:
        return {}  # a damaged part is made again from the cache
    return stored_results(kept, source, judge_by_models(job.rubric, job.judges))
