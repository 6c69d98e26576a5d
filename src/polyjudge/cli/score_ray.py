"""`polyjudge score … --engine ray`: shards of items, judged on a Ray cluster into a folder of results."""

import socket
import sys
from pathlib import Path

from polyjudge.cache.address import is_url
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files.atomic import only_run_in
from polyjudge.folder_trust import PRIVATE_FOLDER, is_trusted_folder, make_folder
from polyjudge.judges.base import close_judge
from polyjudge.providers.models import parse_price, user_models
from polyjudge.providers.services import chosen_addresses
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.runs import Caps, Spent
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.runs.ray_cluster import RayCluster, need_ray, ray_cluster
from polyjudge.runs.ray_placement import ShardPlacing
from polyjudge.runs.shard_orders import ShardJob, Trouble, shares
from polyjudge.runs.shards import ShardedSurvey
from polyjudge.runs.stack import open_judge
from polyjudge.runs.summary import Tally
from polyjudge.store.parquet import outcomes_in
from polyjudge.store.run_folder import RunFolder, RunIdentity, Shard
from polyjudge.text.display import harmless

from .items_trust import ItemsTrust
from .options import open_access
from .progress import ProgressShow
from .ray_options import joins_cluster, rows_in_shard, shared_cache
from .score_job import ScoreJob, explain_end
from .signals import Signals
from .stopping import Ended, until_stopped
from .summaries import print_summary, too_many_unjudged


def run_on_ray(job: ScoreJob, sharded: ShardedSurvey, trust: ItemsTrust) -> int:
    """Judge what is left to judge of a run, and sum up what all its parts hold."""
    options = job.options
    try:
        need_ray()
        if not joins_cluster() and not options.reread:
            _open_judge_once(job)
        with only_run_in(options.output):
            run = _Run(job, sharded)
            ended = run.judge()
            code = _finish(job, sharded, run, ended)
    except (MissingKeyError, MissingExtraError) as error:
        print(error, file=sys.stderr)
        return 3 if options.require_judge else 0
    if options.format == "text":
        trust.show(sys.stdout)
    broken = run.tell_of_broken()
    return broken if broken and not ended.early else code


def _finish(job: ScoreJob, sharded: ShardedSurvey, run: "_Run", ended: Ended[None]) -> int:
    """Print the summary of all parts; return the exit code."""
    options, summary = job.options, run.tally().summary(sharded.survey.count)
    print_summary(summary, run.spent, options, skipped=sharded.survey.skipped)
    if ended.cut_short(summary.not_reached):
        left = f"{summary.not_reached} of {summary.items} items are in shards that are not finished"
        return explain_end(Signals(ended.interrupted), ended.stop.error, left, options.output)
    if not summary.judged or summary.unjudged > options.max_unjudged * summary.items:
        return too_many_unjudged(summary.unjudged, summary.items)
    return 0


def _open_judge_once(job: ScoreJob) -> None:
    """Find out here, where the workers have the same keys, whether the judge can be opened."""
    judge = open_judge(job.rubric, job.judges, open_access(job.options, None, ""), repeats=job.options.repeats)
    run_sync(close_judge(judge))


def _identity(job: ScoreJob) -> RunIdentity:
    options, judges, rubric = job.options, tuple(map(str, job.judges)), rubric_fingerprint(job.rubric)
    chosen = {name: sorted(values) for name, values in job.source.filters.items()}
    cut = [job.source.context, chosen, options.limit, rows_in_shard(options)]
    given = [name for name in ("retry-failures", "reread", "refresh") if getattr(options, name.replace("-", "_"))]
    return RunIdentity(
        fingerprint=fingerprint([rubric, judges, options.repeats, cut], 12),
        asking=given[0] if given else "",
        rubric=job.rubric.name,
        rubric_fingerprint=rubric,
        judges=judges or ("offline",),
    )


class _Run:
    """One run over the shards of a folder of results."""

    def __init__(self, job: ScoreJob, sharded: ShardedSurvey) -> None:
        self.spent = Spent()
        self._job = job
        self._sharded = sharded
        self._folder = RunFolder(job.options.output, _identity(job), sharded.shards)
        self._cache = shared_cache(job.options) if job.judges else ""
        self._broken = list(sharded.broken)
        for file in self._broken:
            print(f"polyjudge: warning: {harmless(file)}; the other files are judged meanwhile", file=sys.stderr)

    def judge(self) -> Ended[None]:
        """Have all shards judged that are not yet."""
        waiting = self._folder.begin()
        for part in self._folder.damaged:
            print(f"polyjudge: {harmless(part)} is damaged or missing, and is made again", file=sys.stderr)
        if not waiting:
            self._end([])
            return Ended(None, StopToken(), interrupted=False)
        with ray_cluster(self._job.options.workers) as cluster:
            ended = run_sync(self._place(cluster, waiting))
        self._refuse(ended.result)
        return Ended(None, ended.stop, ended.interrupted)

    def tally(self) -> Tally:
        """Sum up all parts that are there, in the order of the items."""
        tally = Tally(self._job.rubric)
        for file in self._folder.files:
            for outcome in outcomes_in(file):
                tally.add(outcome)
        return tally

    def tell_of_broken(self) -> int:
        """Name the files that could not be judged; return the exit code for them."""
        for file in self._broken:
            print(f"polyjudge: {harmless(file)}", file=sys.stderr)
        if self._broken:
            told = "their items were not judged: mend the files, and the same command goes on with them"
            print(f"polyjudge: {told}", file=sys.stderr)
        return 2 if self._broken else 0

    async def _place(self, cluster: RayCluster, waiting: list[Shard]) -> "Ended[Trouble | None]":
        options = self._job.options
        slots = min(options.workers or cluster.slots, len(waiting))
        job = _shard_job(self._job, self._folder, self._cache)
        _refuse_apart(job.cache, cluster)
        parts = shares(slots, concurrency=options.concurrency, rpm=options.rpm, tpm=options.tpm)
        caps = Caps(options.max_calls, options.max_tokens, options.max_cost)

        async def work(stop: StopToken) -> Trouble | None:
            placing = ShardPlacing(cluster, job, parts, caps, stop)
            self.spent = placing.spent
            await self._watch(placing, waiting)
            return placing.fatal

        return await until_stopped(work, deadline_s=options.deadline)

    async def _watch(self, placing: ShardPlacing, waiting: list[Shard]) -> None:
        done = self._sharded.survey.count - sum(shard.items for shard in waiting)
        unjudged, left = self._folder.unjudged, {shard.name for shard in waiting}
        with ProgressShow(self._sharded.survey.count, placing.spent) as progress:
            progress.already = done

            def watch(more: int, more_unjudged: int) -> None:
                progress.reach(done + more, unjudged=unjudged + more_unjudged)

            def warn(message: str) -> None:
                progress.line(f"polyjudge: warning: {harmless(message)}")

            async for report in placing.judge(waiting, watch, warn):
                left.discard(report.shard.name)
                if report.part is not None:
                    self._folder.put(report.part)
                    done, unjudged = done + report.part.rows, unjudged + report.part.unjudged
                elif report.trouble is not None:
                    self._broken.append(report.trouble.message)
        self._end(left)

    def _end(self, left: "set[str] | list[str]") -> None:
        if not left and not self._broken:
            self._folder.finish()

    def _refuse(self, fatal: Trouble | None) -> None:
        """Raise what a worker found missing or wrong."""
        if fatal is not None:
            kinds = {"missing": MissingExtraError, "config": ConfigError}
            raise kinds.get(fatal.kind, DataError)(fatal.message)


def _shard_job(job: ScoreJob, folder: RunFolder, cache: str) -> ShardJob:
    options = job.options
    make_folder(PRIVATE_FOLDER)  # here, where it is recorded as ours; a worker may be another user on another machine
    return ShardJob(
        rubric=job.rubric,
        judges=tuple(job.judges),
        repeats=options.repeats,
        context=None if job.source.context is None else tuple(job.source.context),
        filters=job.source.filters,
        output=options.output.resolve(),
        cache=cache,
        since=folder.began if options.refresh or options.retry_failures else "",
        replay=options.reread,
        keeps_results=options.retry_failures,
        price=parse_price(options.price) if options.price else None,
        timeout_s=options.timeout,
        folder=Path.cwd(),
        trusts_folder=is_trusted_folder(PRIVATE_FOLDER),
        needs_folder=user_models().is_file() or any(name.provider == "scripted" for name in job.judges),
        addresses=chosen_addresses(),
        host=socket.gethostname(),
    )


def _refuse_apart(cache: str, cluster: RayCluster) -> None:
    """Refuse a cache that workers on several machines would each have for themselves."""
    if cache and not is_url(cache) and len(cluster.hosts) > 1:
        told = f"{cache} is a file of one machine, and the cluster has {len(cluster.hosts)}"
        raise ConfigError(f"{told}; share the cache with --cache postgresql://…")
