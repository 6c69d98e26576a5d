"""Judge the shards of a run on a Ray cluster, into a folder of Parquet parts."""

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from polyjudge.cache.address import shown
from polyjudge.cache.protocol import Cache, is_url
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError
from polyjudge.files.atomic import lock_folder
from polyjudge.folder_trust import PRIVATE_FOLDER, is_trusted_folder, make_folder
from polyjudge.formats.items import ItemSource
from polyjudge.judges.base import ItemWorker, bound, close_judge
from polyjudge.judges.cascade import Cascade
from polyjudge.judges.jury import Jury
from polyjudge.judges.offline import OfflineJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.models import user_models
from polyjudge.providers.services import chosen_addresses
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Caps, Event, Limits, Progressed, RayEngine, Resumed, Spent, Started, Warned
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.store.parquet import outcomes_in
from polyjudge.store.run_folder import RunFolder, RunIdentity, Shard

from .plan import Items, models_of, rubric_of
from .ray_cluster import RayCluster, need_ray, ray_cluster
from .ray_placement import ShardPlacing
from .shard_orders import ShardJob, Trouble, shares
from .shards import ShardedSurvey
from .stack import ProviderStack, judge_by_models, open_run_cache
from .summary import Tally


@dataclass(slots=True)
class RayRun:
    """One run over the shards of a folder."""

    source: ItemSource
    sharded: ShardedSurvey
    rubric: Rubric
    judges: Sequence[ModelName]
    output: Path
    cache: str
    """The path or URL of the cache that the workers share; empty if no model is used."""
    limits: Limits
    stop: StopToken
    emit: Callable[[Event], None]
    stoppable: Callable[[], AbstractContextManager[None]]
    """Makes the running loop reachable for stop requests, and starts the deadline."""
    spent: Spent
    engine: RayEngine = field(default_factory=RayEngine)
    repeats: int = 1
    refresh: bool = False
    reread: bool = False
    retry_failures: bool = False
    broken: list[str] = field(default_factory=list[str])
    """Files that cannot be judged, each with the reason."""

    def execute(self) -> Tally:
        """Judge the shards that are not judged yet; return the tally of all parts."""
        need_ray()
        if not joins_cluster() and not self.reread:
            self._open_judge_once()
        with lock_folder(self.output):
            folder = RunFolder(self.output, self._identity(), self.sharded.shards)
            cache = _shared_cache(self.cache, self.emit) if self.judges else ""
            self.broken += self.sharded.broken
            for file in self.broken:
                self.emit(Warned(f"{file}; the other files are judged meanwhile"))
            self._judge(folder, cache)
            tally = Tally(self.rubric)
            for file in folder.files:
                for language, outcome in outcomes_in(file):
                    tally.add(outcome, language)
            return tally

    def _judge(self, folder: RunFolder, cache: str) -> None:
        waiting = folder.start()
        for part in folder.damaged:
            self.emit(Warned(f"{part} is damaged or missing, and is written again"))
        fatal = None
        if waiting:
            with ray_cluster(self.engine.workers) as cluster:
                fatal = run_sync(self._place(folder, cache, cluster, waiting))
        elif not self.broken:
            folder.finish()
        if fatal is not None:
            kinds = {"missing": MissingExtraError, "config": ConfigError}
            raise kinds.get(fatal.kind, DataError)(fatal.message)

    async def _place(self, folder: RunFolder, cache: str, cluster: RayCluster, waiting: list[Shard]) -> Trouble | None:
        limits = self.limits
        slots = min(self.engine.workers or cluster.slots, len(waiting))
        job = self._shard_job(folder, cache)
        _refuse_apart(job.cache, cluster)
        parts = shares(slots, concurrency=limits.concurrency, rpm=limits.rpm, tpm=limits.tpm)
        caps = Caps(limits.max_calls, limits.max_tokens, limits.max_cost_usd)
        with self.stoppable():
            placing = ShardPlacing(cluster, job, parts, caps, self.stop, self.spent)
            await self._watch(folder, placing, waiting)
            return placing.fatal

    async def _watch(self, folder: RunFolder, placing: ShardPlacing, waiting: list[Shard]) -> None:
        count = self.sharded.survey.count
        done = count - sum(shard.items for shard in waiting)
        unjudged, left = folder.unjudged, {shard.name for shard in waiting}
        self.emit(Started(count))
        self.emit(Progressed(done, unjudged))
        self.emit(Resumed(done, count))

        def watch(more: int, more_unjudged: int) -> None:
            self.emit(Progressed(done + more, unjudged + more_unjudged))

        def warn(message: str) -> None:
            self.emit(Warned(message))

        async for report in placing.judge(waiting, watch, warn):
            left.discard(report.shard.name)
            if report.part is not None:
                folder.put(report.part)
                done, unjudged = done + report.part.rows, unjudged + report.part.unjudged
            elif report.trouble is not None:
                self.broken.append(report.trouble.message)
        if not left and not self.broken:
            folder.finish()

    def _open_judge_once(self) -> None:
        """Find out here, where the workers have the same keys, whether the judge can be opened."""
        judge = bound(judge_by_models(self.rubric, self.judges), ProviderStack())
        run_sync(close_judge(judge))

    def _identity(self) -> RunIdentity:
        judges, rubric = tuple(map(str, self.judges)), rubric_fingerprint(self.rubric)
        chosen = {name: sorted(values) for name, values in self.source.filters.items()}
        cut = [self.source.context, chosen, self.source.limit, self.engine.shard_rows]
        cache_mode = {"retry-failures": self.retry_failures, "reread": self.reread, "refresh": self.refresh}
        return RunIdentity(
            fingerprint=fingerprint([rubric, judges, self.repeats, cut], 12),
            cache_mode=next((name for name, given in cache_mode.items() if given), ""),
            rubric=self.rubric.name,
            rubric_fingerprint=rubric,
            judges=judges or ("offline",),
        )

    def _shard_job(self, folder: RunFolder, cache: str) -> ShardJob:
        make_folder(PRIVATE_FOLDER)  # here, where it is recorded as ours; a worker may be another user
        return ShardJob(
            rubric=self.rubric,
            judges=tuple(self.judges),
            repeats=self.repeats,
            context=None if self.source.context is None else tuple(self.source.context),
            filters=self.source.filters,
            default_context=tuple(self.source.default_context),
            table=self.source.table,
            output=self.output.resolve(),
            cache=cache,
            since=folder.started_at if self.refresh or self.retry_failures else "",
            replay=self.reread,
            keeps_results=self.retry_failures,
            price=self.limits.price,
            timeout_s=self.limits.timeout_s,
            folder=Path.cwd(),
            trusts_folder=is_trusted_folder(PRIVATE_FOLDER),
            needs_folder=user_models().is_file() or any(name.provider == "scripted" for name in self.judges),
            addresses=chosen_addresses(),
            host=socket.gethostname(),
        )


def refuse_unfit(
    items: Items, judge: ItemWorker, output: object, cache: Cache | JudgeCache | Path | str | None, *, batch: bool
) -> None:
    """Refuse a run that cannot be cut into shards for workers on other machines."""
    if not isinstance(items, ItemSource):
        raise ConfigError("Ray reads the items from files; give them as read_items(path)")
    if not isinstance(output, Path):
        raise ConfigError("Ray writes a folder of results; give one as output")
    if batch:
        raise ConfigError("batches are collected on one machine; use the local engine")
    if rubric_of(judge) is None:
        raise ConfigError("this judge cannot be used on Ray: only models with a rubric, or the checks, can")
    if isinstance(judge, OfflineJudge) and not judge.policy.changes_nothing:
        what = "Ray's workers do not support settings of checks or accepted findings"
        raise ConfigError(f"{what}. Use the local engine, or leave out the settings and the accepted findings")
    _refuse_judge(judge)
    if models_of(judge) and not isinstance(cache, str | Path):
        raise ConfigError("Ray needs a cache that the workers share: a path or a PostgreSQL URL")


def _refuse_judge(judge: ItemWorker) -> None:
    """Refuse a judge that the workers would ask in another way."""
    if isinstance(judge, Cascade):
        raise ConfigError("a cascade cannot run on Ray; use the local engine")
    members = judge.judges if isinstance(judge, Jury) else [judge]
    if any(isinstance(each, RubricJudge) and each.asker.wants_tokens for each in members):
        raise ConfigError("token probabilities are not supported on Ray; use the local engine")


def joins_cluster() -> bool:
    """Say whether the cluster exists already, with an environment of its own."""
    return os.environ.get("RAY_ADDRESS", "").strip() not in ("", "local")


def _shared_cache(cache: str, emit: Callable[[Event], None]) -> str:
    """Make sure that the cache can be used, and return where the workers find it: never with a password."""
    place = run_sync(_checked_place(cache, emit))
    if not is_url(place):
        return str(Path(place).resolve()) if place else ""
    _hand_over_password(cache)
    return shown(cache)


async def _checked_place(cache: str, emit: Callable[[Event], None]) -> str:
    opened = await open_run_cache(cache, emit=emit)
    if opened is None:
        return ""
    await opened.aclose()
    return opened.place


def _hand_over_password(url: str) -> None:
    """Give the password to the workers of this machine through the environment; it is not sent to others."""
    parts = urlsplit(url)
    password = unquote(parts.password or "") or parse_qs(parts.query).get("password", [""])[0]
    if password and joins_cluster():
        message = "the password in the cache's URL is not sent to Ray's workers"
        raise ConfigError(f"{message}: leave it out, and set PGPASSWORD in their environment and in yours")
    if password:
        os.environ["PGPASSWORD"] = password


def _refuse_apart(cache: str, cluster: RayCluster) -> None:
    """Refuse a cache that workers on several machines would each have for themselves."""
    if cache and not is_url(cache) and len(cluster.hosts) > 1:
        message = f"the cache {cache} is a file of one machine, but the cluster has {len(cluster.hosts)} machines"
        raise ConfigError(f"{message}; share a PostgreSQL cache: postgresql://…")
