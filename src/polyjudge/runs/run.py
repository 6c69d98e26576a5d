"""A run: it judges items and owns everything between them and their outcomes."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from polyjudge.cache.protocol import Cache
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import Slots, StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import CapReachedError, ConfigError, DataError, StoppedError
from polyjudge.folder_trust import DEFAULT_CACHE
from polyjudge.formats.items import ItemList, ItemSource
from polyjudge.judges.base import ItemWorker, Judge, bound, close_judge
from polyjudge.providers.budget import Budget
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Caps, Estimate, Finished, Limits, RayEngine, RunStatus, Warned
from polyjudge.store.run_file import OutcomeStore, RunFile, read_outcomes

from .execution import Execution, Export, OnEvent, OutputFile, judge_in_order, prepare
from .plan import Items, Plan, former_run, make_plan, models_of, repeated, results_to_keep, retried_items, rubric_of
from .stack import PrivateReplies, ProviderStack, ignore, opened_cache
from .summary import RunSummary, Tally, TemporaryFolder

if TYPE_CHECKING:
    from .shards import ShardedSurvey

_GRACE_S = 5.0


class Run:
    """Judges items: it opens the cache and the providers, resumes, stores each outcome and returns a summary.

    `output` is the run file; an unfinished run of the same plan there is resumed. Without it the rows are kept in a
    temporary file as long as the summary is used. An `OutputFile` is written when all rows are there. `cache` is a
    path, a PostgreSQL URL, an open cache, or None; by default it is the cache of the working folder. Without one,
    `keep_replies` has the replies kept beside the output until that is finished. `refresh` makes calls that the
    cache could answer, `reread` parses the cached replies again and makes no call, and `retry_failures` judges only the
    failures in `output` again.
    `engine="ray"`, or a `RayEngine` with its own settings, judges shards on a Ray cluster, into a folder.
    `legacy_fingerprints` are those that earlier versions gave to this run: their unfinished files are resumed.
    An `OutcomeStore` as output decides itself which earlier outcomes count; `retries` is how often a call is tried.
    """

    _plan: Plan | None = None
    _sharded: "ShardedSurvey | None" = None
    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(
        self,
        items: Iterable[Item],
        judge: ItemWorker | Judge,
        *,
        output: Path | str | OutputFile | OutcomeStore | None = None,
        cache: Cache | JudgeCache | Path | str | None = DEFAULT_CACHE,
        fallback_cache: Path | None = None,
        limits: Limits | None = None,
        batch: bool = False,
        engine: RayEngine | Literal["local", "ray"] = "local",
        repeats: int = 1,
        refresh: bool = False,
        reread: bool = False,
        retry_failures: bool = False,
        force: bool = False,
        workspace: Path | None = None,
        exports: Sequence[Export] = (),
        legacy_fingerprints: Sequence[str] = (),
        retries: RetryPolicy | None = None,
        keep_replies: bool = False,
    ) -> None:
        self._items: Items = items if isinstance(items, ItemSource | ItemList) else ItemList(items)
        self.judge = repeated(judge, repeats)
        self._rubric = rubric_of(self.judge)
        self._output_file = output if isinstance(output, OutputFile) else None
        place = output.path if isinstance(output, OutputFile) else output
        self.output = Path(place) if isinstance(place, str) else place
        self.limits = limits = limits or Limits()
        self._cache, self._fallback_cache = cache, fallback_cache
        self._is_batch, self._repeats = batch, repeats
        self._ray = RayEngine() if engine == "ray" else engine if isinstance(engine, RayEngine) else None
        self._refresh, self._reread, self._retry_failures = refresh, reread, retry_failures
        self._force, self._workspace = force, workspace
        self._exports = (*exports, *([self._output_file] if self._output_file else []))
        self._legacy_fingerprints, self._retries = tuple(legacy_fingerprints), retries or RetryPolicy()
        is_private = keep_replies and cache is None and isinstance(self.output, Path)
        self._replies = PrivateReplies(cast(Path, self.output)) if is_private else None
        self._stop, self.budget = StopToken(), Budget(Caps(limits.max_calls, limits.max_tokens, limits.max_cost_usd))
        self._refuse_unfit()

    def _refuse_unfit(self) -> None:
        if self._retry_failures and self.output is None:
            raise ConfigError("retrying failures needs the output of an earlier run")
        if self._is_batch and self._cache is None:
            raise ConfigError("batches keep their replies in the cache; a run in batches needs one")
        if self._ray is not None:
            from .ray import refuse_unfit  # here, because most runs need none of it

            refuse_unfit(self._items, self.judge, self.output, self._cache, batch=self._is_batch)

    def plan(self) -> Plan:
        """Read the items once and return the plan of the run; no call is made."""
        if self._plan is None and self._retry_failures:
            self._items = retried_items(self._items, self.judge, self.output)
        if self._plan is None and self._ray is not None:
            from .shards import survey_shards  # here, because most runs need none of it

            self._sharded = survey_shards(cast(ItemSource, self._items), self._ray.shard_rows)
            found = self._sharded.survey
            self._plan = Plan(
                found.count, found.skipped, found.problems, found.languages, found.fingerprint, found.fingerprint
            )
        if self._plan is None:
            retried = self.output if self._retry_failures and isinstance(self.output, Path) else None
            how = {"repeats": self._repeats, "refresh": self._refresh, "reread": self._reread}
            plan_of = partial(make_plan, judge=self.judge, retried=retried, **how)
            self._items, self._plan = former_run(self._items, self.output, plan_of)
        return self._plan

    def estimate(self) -> Estimate:
        """Count the calls, tokens and cost of the run against the cache; no call is made, and nothing is written."""
        estimate = Estimate()
        run_sync(self._count(estimate))
        return estimate

    def execute(self, on_event: OnEvent = ignore) -> RunSummary:
        """Judge the remaining items, store them, and return the summary; it may be called in a running event loop."""
        engine = self._ray
        return run_sync(self.execute_async(on_event)) if engine is None else self._execute_on_ray(engine, on_event)

    async def execute_async(self, on_event: OnEvent = ignore) -> RunSummary:
        """Judge the remaining items, store them, and return the summary."""
        if self._ray is not None:
            return await asyncio.to_thread(self._execute_on_ray, self._ray, on_event)
        async with AsyncExitStack() as opened:
            execution, temporary = await self._open(opened, on_event)
            tally = Tally(self._rubric)
            async with aclosing(execution.outcomes()) as outcomes:
                async for item, outcome in outcomes:
                    tally.add(outcome, item.language)
            return self._summary(execution, tally, temporary)

    async def stream(self, on_event: OnEvent = ignore) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        """Yield each item with its outcome, in order; what is stored already comes first.

        The run is resumed from where the caller left the loop.
        """
        found: asyncio.Queue[tuple[Item, RunOutcome] | BaseException | None] = asyncio.Queue(maxsize=1)

        async def judge() -> None:
            try:
                async with aclosing(self._stream(on_event)) as outcomes:
                    async for pair in outcomes:
                        await found.put(pair)
            except Exception as error:  # noqa: BLE001 - it is raised where the results are taken
                await found.put(error)
            await found.put(None)

        # A task of its own: a caller that breaks off leaves this generator open, and only a task is ended in order.
        task = asyncio.create_task(judge())
        try:
            while (pair := await found.get()) is not None:
                if isinstance(pair, BaseException):
                    raise pair
                yield pair
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _stream(self, on_event: OnEvent) -> AsyncGenerator[tuple[Item, RunOutcome]]:
        async with AsyncExitStack() as opened:
            execution, _ = await self._open(opened, on_event)
            async with aclosing(execution.outcomes()) as outcomes:
                async for pair in outcomes:
                    yield pair
            if execution.status == "items_changed":
                raise self._changed()
            if execution.status == "capped" and self._stop.error is not None:
                raise self._stop.error

    def stop(self, *, grace_s: float = _GRACE_S) -> None:
        """Request a graceful stop, from any thread; in-flight calls may finish within the grace period."""
        if self._loop is None:
            self._stop.request(grace_s=grace_s)
            return
        with suppress(RuntimeError):  # the run has ended meanwhile
            # Also from the loop's own thread: it may be a signal handler, which runs in the middle of anything.
            self._loop.call_soon_threadsafe(partial(self._stop.request, grace_s=grace_s))

    async def _open(self, opened: AsyncExitStack, emit: OnEvent) -> tuple[Execution, TemporaryFolder | None]:
        """Open the cache, the store and the judge; all are closed again if one of them cannot be opened.

        `stop` and the deadline can end the execution from then on.
        """
        plan = self.plan()
        if plan.note:
            emit(Warned(plan.note))
        cache = await opened.enter_async_context(self._opened_cache(emit))
        temporary = TemporaryFolder() if self.output is None else None
        store = self._store(plan, temporary)
        opened.callback(store.close)
        try:
            stack = self._stack(cache, emit, since=store.started_at)
            if self._is_batch:
                stack = opened.enter_context(self._in_batches(stack, store.started_at))
            judge = bound(self.judge, stack)
            known = self._known()
        except ConfigError:
            store.discard_if_empty()
            self._leave_replies()
            raise
        concurrency = self.limits.concurrency
        execution = Execution(
            self._items, plan, stack, judge, store, self._stop, emit, concurrency, known, self._exports
        )
        opened.callback(lambda: self._leave_replies(is_finished=execution.status == "finished"))
        opened.enter_context(self._stoppable())
        return execution, temporary

    def _known(self) -> Mapping[str, RunOutcome]:
        """Return the results that are kept because only failures are judged again."""
        if not self._retry_failures or not isinstance(self.output, Path):
            return {}
        rows = self._output_file.rows() if self._output_file else read_outcomes(self.output)
        return results_to_keep(self.output, rows, self._items, self.judge)

    def _leave_replies(self, *, is_finished: bool = False) -> None:
        """Remove the private replies if they are no longer needed, or if there are none."""
        if self._replies is not None and (is_finished or not self.budget.spent.calls):
            self._replies.remove(is_finished=is_finished)

    @contextmanager
    def _stoppable(self) -> Generator[None]:
        """Let `stop` reach the running loop, and start the deadline."""
        self._loop = asyncio.get_running_loop()
        deadline, seconds = None, self.limits.deadline_s
        if seconds:
            reached = CapReachedError(f"stopped: the deadline of {seconds:g} seconds is reached")
            deadline = self._loop.call_later(seconds, partial(self._stop.request, reached, grace_s=_GRACE_S))
        try:
            yield
        finally:
            self._loop = None
            if deadline is not None:
                deadline.cancel()

    def _store(self, plan: Plan, temporary: TemporaryFolder | None) -> OutcomeStore:
        if temporary is not None:
            return RunFile(temporary.path / "rows.jsonl", plan.fingerprint)
        if isinstance(self.output, Path):
            return RunFile(
                self.output,
                plan.fingerprint,
                force=self._force,
                legacy=self._legacy_fingerprints,
                items=plan.items,
                is_exported=self._output_file is not None,
                retries_failures=self._output_file is not None and self._output_file.retries_failures,
                with_texts=self._output_file is None and self._rubric is not None,
            )
        return cast(OutcomeStore, self.output)

    def _opened_cache(self, emit: OnEvent, *, is_dry: bool = False) -> AbstractAsyncContextManager[Cache | None]:
        if self._replies is not None and not is_dry:
            return self._replies.opened(read_only=self._reread, emit=emit)
        return opened_cache(
            self._cache, read_only=self._reread, is_dry=is_dry, fallback=self._fallback_cache, emit=emit
        )

    def _stack(
        self, cache: Cache | None, emit: OnEvent, *, since: str, estimate: Estimate | None = None
    ) -> ProviderStack:
        limits = self.limits
        return ProviderStack(
            cache=cache,
            since=since if self._refresh or self._retry_failures else "",
            replay=self._reread,
            concurrency=limits.concurrency,
            rpm=limits.rpm,
            tpm=limits.tpm,
            price=limits.price,
            retries=self._retries,
            meter=self.budget,
            estimate=estimate,
            timeout_s=limits.timeout_s,
            workspace=self._workspace,
            at_batch_price=self._is_batch,
            slots=Slots(limits.concurrency),
            emit=emit,
        )

    @contextmanager
    def _in_batches(self, stack: ProviderStack, started_at: str) -> Generator[ProviderStack]:
        from polyjudge.batches.journal import BatchJournal  # here, because most runs need none of it
        from polyjudge.batches.provider import Batches

        journal = BatchJournal()
        with journal.writer_lock():
            yield replace(stack, batches=Batches(journal, started_at=started_at))

    async def _count(self, estimate: Estimate) -> None:
        """Ask everything of a provider that only counts."""
        plan = self.plan()
        async with AsyncExitStack() as opened:
            opened.enter_context(self._stoppable())
            cache = await opened.enter_async_context(self._opened_cache(ignore, is_dry=True))
            stack, output = self._stack(cache, ignore, since=utc_now(), estimate=estimate), self.output
            judge, slots = bound(self.judge, stack), stack.slots or self.limits.concurrency
            known = self._known() if output is None or isinstance(output, Path) else output.ahead()
            judged = judge_in_order(judge.judge, self._items, concurrency=slots, stop=self._stop, known=known)
            try:
                if hasattr(judge, "settled"):  # it asks already in the preparation
                    await prepare(judge, (), concurrency=slots, stop=self._stop)
                async with aclosing(judged):
                    counted = sum([1 async for _ in judged])
            finally:
                await close_judge(judge)
        if counted < plan.items:
            raise self._stop.error or StoppedError(f"not all of the {plan.items} items were counted")

    def _summary(self, execution: Execution, tally: Tally, temporary: TemporaryFolder | None) -> RunSummary:
        plan, store, status = execution.plan, execution.store, execution.status
        scores = tally.summary(plan.items)
        has_none = not scores.judged and not scores.abstained
        if status == "finished" and (has_none or scores.unjudged > self.limits.max_unjudged * plan.items):
            status = "unjudged"
        path = None
        is_exported = self._output_file is not None and execution.status == "finished"
        if isinstance(store, RunFile) and status != "items_changed" and not is_exported:
            path = store.path if store.path.exists() else store.partial
        return RunSummary(
            status=status,
            scores=scores,
            spent=self.budget.spent,
            skipped=plan.skipped,
            stopped_by=self._changed() if status == "items_changed" else self._stop.error,
            path=path,
            items=self._items,
            max_unjudged=self.limits.max_unjudged,
            temporary=temporary,
        )

    def _execute_on_ray(self, engine: RayEngine, emit: OnEvent) -> RunSummary:
        from .ray import RayRun  # here, because most runs need none of it

        plan = self.plan()
        run = RayRun(
            source=cast(ItemSource, self._items),
            sharded=cast("ShardedSurvey", self._sharded),
            rubric=cast(Rubric, self._rubric),
            judges=[name for name, _ in models_of(self.judge)],
            output=cast(Path, self.output),
            cache=str(self._cache or ""),
            limits=self.limits,
            stop=self._stop,
            emit=emit,
            stoppable=self._stoppable,
            repeats=self._repeats,
            refresh=self._refresh,
            reread=self._reread,
            retry_failures=self._retry_failures,
            engine=engine,
            spent=self.budget.spent,
        )
        scores = run.execute().summary(plan.items)
        status: RunStatus = "finished"
        if scores.not_reached and self._stop.requested:
            status = "stopped" if self._stop.error is None else "capped"
        elif not scores.judged or scores.unjudged > self.limits.max_unjudged * plan.items:
            status = "unjudged"
        emit(Finished(status))
        return RunSummary(
            status=status,
            scores=scores,
            spent=self.budget.spent,
            skipped=plan.skipped,
            stopped_by=self._stop.error,
            path=cast(Path, self.output),
            items=self._items,
            broken=tuple(run.broken),
            max_unjudged=self.limits.max_unjudged,
        )

    def _changed(self) -> DataError:
        path = self._items.path if isinstance(self._items, ItemSource) else ""
        kept = f" Progress is kept in {self.output}." if isinstance(self.output, Path) else ""
        return DataError(
            f"the file was changed during the run. Run the command again to judge its present content.{kept}", path=path
        )
