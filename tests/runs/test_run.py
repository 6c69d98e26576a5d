"""A run from Python: judged, stored, resumed, stopped, and summed up."""

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from polyjudge import JudgeCache, Limits, Run, RunSummary, ScriptedProvider, read_items
from polyjudge.errors import ConfigError, DataError, ForeignFileError, TransientError, UnusableError
from polyjudge.judges.choice import BinaryJudge
from polyjudge.judges.jury import Jury, Panel
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.records.outcomes import Failure, Generated, Item, JudgeResult
from polyjudge.records.requests import Origin
from polyjudge.records.runs import Finished, ItemFinished, Resumed, Retried, Started, Warned
from polyjudge.store.run_file import read_outcomes

ITEMS = [Item(f"i{number}", f"candidate {number}", language="de") for number in range(40)]


class Counting:
    """Answers with the number in the prompt, and counts the calls; some calls fail or wait first."""

    def __init__(self, *, fails=(), slow=(), stop_after=None):
        self.calls = 0
        self.run = None
        self.fails, self.slow, self.stop_after = set(fails), set(slow), stop_after

    def __call__(self, request):
        self.calls += 1
        if self.stop_after is not None and self.calls == self.stop_after and self.run is not None:
            self.run.stop()
        number = int(request.prompt.rsplit("candidate ", 1)[1].split("\n")[0].split("<")[0])
        if number in self.fails:
            self.fails.discard(number)
            return "no idea"
        return json.dumps({"score": number, "reason": "so", "subscores": {}})


class Slow:
    """A provider that takes some time, as every real one does."""

    def __init__(self, answer):
        self._scripted = ScriptedProvider(answer)
        self.origin = self._scripted.origin

    async def complete(self, request):
        await asyncio.sleep(0.001)
        return await self._scripted.complete(request)


def judge(answer):
    return RubricJudge("general", provider=ScriptedProvider(answer))


@pytest.fixture
def folder(in_folder):
    return in_folder


def test_a_run_without_an_output_returns_scores_costs_and_rows(folder):
    events = []
    run = Run(ITEMS, judge(Counting()), cache=None)

    summary = run.execute(events.append)

    assert isinstance(summary, RunSummary)
    assert (summary.status, summary.mean, summary.spent.calls) == ("finished", 19.5, 40)
    assert [item.id for item, _ in summary.outcomes()] == [item.id for item in ITEMS]
    assert [outcome.score for _, outcome in summary.outcomes()] == list(range(40))
    assert isinstance(events[0], Started)
    assert isinstance(events[1], Resumed)
    assert sum(isinstance(event, ItemFinished) for event in events) == 40
    assert events[-1] == Finished("finished")
    assert not list(folder.iterdir())


def test_an_output_is_a_run_file_and_a_finished_run_is_done_again_from_the_cache(folder):
    answer = Counting()

    Run(ITEMS, judge(answer), output="scores.jsonl").execute()
    again = Run(ITEMS, judge(answer), output="scores.jsonl").execute()

    assert answer.calls == 40
    assert again.scores.cached == 40
    assert [item_id for item_id, _ in read_outcomes(folder / "scores.jsonl")] == [item.id for item in ITEMS]


@pytest.mark.parametrize("cache", [None, "cache.sqlite"])
def test_a_stopped_run_is_resumed_and_asks_nothing_twice(folder, cache):
    answer = Counting(stop_after=15)
    slow = RubricJudge("general", provider=Slow(answer))
    answer.run = Run(ITEMS, slow, output="scores.jsonl", cache=cache, limits=Limits(concurrency=4))

    first = answer.run.execute()
    events = []
    second = Run(ITEMS, judge(answer), output="scores.jsonl", cache=cache).execute(events.append)

    assert (first.status, second.status) == ("stopped", "finished")
    assert 0 < first.scores.not_reached < 40
    assert answer.calls == 40
    assert events[0] == Started(40)
    assert [event.done for event in events if isinstance(event, Resumed)] == [40 - first.scores.not_reached]
    assert [outcome.score for _, outcome in second.outcomes()] == list(range(40))


def test_a_stop_from_another_thread_ends_the_run(folder):
    judged = threading.Event()

    class SlowJudge:
        async def judge(self, item, *, repeat=0):
            await asyncio.sleep(0.01)
            judged.set()
            return JudgeResult(1.0, "")

    items = [Item(str(number), "x") for number in range(10_000)]
    run = Run(items, SlowJudge(), output="scores.jsonl", cache=None)
    threading.Thread(target=lambda: judged.wait() and run.stop()).start()

    summary = run.execute()

    assert summary.status == "stopped"
    assert 0 < summary.scores.not_reached < 10_000


def test_caps_hold_for_a_judge_that_was_built_with_its_own_provider(folder):
    answer = Counting()

    summary = Run(ITEMS, judge(answer), cache=None, limits=Limits(max_calls=7)).execute()

    assert (summary.status, answer.calls) == ("capped", 7)
    assert "7 calls" in str(summary.stopped_by)


def test_a_deadline_is_a_cap(folder):
    class SlowJudge:
        async def judge(self, item, *, repeat=0):
            await asyncio.sleep(0.05)
            return JudgeResult(1.0, "")

    run = Run([Item(str(number), "") for number in range(1000)], SlowJudge(), cache=None, limits=Limits(deadline_s=0.2))

    summary = run.execute()

    assert summary.status == "capped"
    assert "deadline" in str(summary.stopped_by)


def test_an_estimate_asks_nothing_and_writes_nothing(folder):
    answer = Counting()

    estimate = Run(ITEMS, judge(answer), output="scores.jsonl", repeats=2).estimate()

    assert (estimate.calls, estimate.cached, answer.calls) == (80, 0, 0)
    assert not list(folder.iterdir())


def test_failures_alone_are_asked_again_where_that_is_wanted(folder):
    answer = Counting(fails=[3, 9])
    first = Run(ITEMS, judge(answer), output="scores.jsonl", limits=Limits(max_unjudged=0.5)).execute()

    second = Run(ITEMS, judge(answer), output="scores.jsonl", retry_failures=True).execute()

    assert (first.failures, second.failures) == ({"unreadable": 2}, {})
    assert answer.calls == 42
    with pytest.raises(ConfigError, match="needs the output of an earlier run"):
        Run(ITEMS, judge(answer), retry_failures=True)


def test_too_many_items_without_a_verdict_are_a_status_of_their_own(folder):
    summary = Run(ITEMS[:4], judge(Counting(fails=[0, 1])), cache=None).execute()

    assert (summary.status, summary.scores.unjudged) == ("unjudged", 2)


def test_a_jury_and_repeats_are_bound_to_the_run(folder):
    answers = [Counting(), Counting()]
    jury = Jury([judge(answer) for answer in answers])

    summary = Run(ITEMS[:5], jury, cache=None, repeats=3).execute()

    assert [answer.calls for answer in answers] == [15, 15]
    assert summary.spent.calls == 30
    [outcome, *_] = [outcome for _, outcome in summary.outcomes()]
    assert [len(member.members) for member in outcome.members] == [3, 3]


def test_a_binary_judge_runs_too(folder):
    binary = BinaryJudge(["good", "bad"], provider=ScriptedProvider(lambda _: '{"verdict": "good", "reason": ""}'))

    summary = Run(ITEMS[:3], binary, output="scores.jsonl").execute()

    assert (summary.mean, summary.spent.calls) == (1.0, 3)


def test_a_judge_of_ones_own_needs_one_method(folder):
    class Length:
        async def judge(self, item, *, repeat=0):
            return JudgeResult(float(len(item.candidate)), item.language)

    summary = Run(ITEMS[:2], Length(), cache=None).execute()

    assert [(outcome.score, outcome.reason) for _, outcome in summary.outcomes()] == [(11.0, "de"), (11.0, "de")]


def test_a_stream_yields_in_order_and_what_is_stored_first(folder):
    async def collect(run, *, at_most=None):
        found = []
        async for item, outcome in run.stream():
            found.append((item.id, outcome.score))
            if len(found) == at_most:
                break
        return found

    answer = Counting()
    some = asyncio.run(collect(Run(ITEMS, judge(answer), output="scores.jsonl"), at_most=10))
    every = asyncio.run(collect(Run(ITEMS, judge(answer), output="scores.jsonl")))

    assert some == every[:10]
    assert every == [(f"i{number}", float(number)) for number in range(40)]
    assert answer.calls == 40


def test_a_run_works_inside_a_running_loop(folder):
    async def inside():
        return Run(ITEMS[:3], judge(Counting()), cache=None).execute()

    assert asyncio.run(inside()).status == "finished"


def _append(path):
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": "late", "candidate": "candidate 7"}\n')


def _rewrite(path):
    before = path.stat()
    path.write_text(path.read_text(encoding="utf-8").replace("candidate 39", "candidate 93"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _empty(path):
    path.write_text("", encoding="utf-8")


def _write_again(path):
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")


def _run_in_which(path, change, text="candidate"):
    """Run over a file that is changed when its first item is judged."""
    rows = [json.dumps({"id": item.id, "candidate": item.candidate, "source": text}) for item in ITEMS]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    class Changing(Counting):
        def __call__(self, request):
            if not self.calls:
                change(path)
            return super().__call__(request)

    return Run(read_items(path), judge(Changing()), output="scores.jsonl").execute()


@pytest.mark.parametrize("change", [_append, _rewrite, _empty])
@pytest.mark.parametrize("length", [1, 150_000])
def test_items_that_are_changed_during_the_run_are_noticed(folder, change, length):
    summary = _run_in_which(folder / "items.jsonl", change, "x" * length)

    assert summary.status == "items_changed"
    assert "the file was changed during the run" in str(summary.stopped_by)
    assert not (folder / "scores.jsonl").exists()
    assert list(folder.glob("scores.jsonl.*.partial"))


@pytest.mark.parametrize("change", [_write_again, Path.touch, Path.unlink])
@pytest.mark.parametrize("length", [1, 150_000])
def test_a_file_that_has_the_same_items_is_not_taken_for_changed(folder, change, length):
    assert _run_in_which(folder / "items.jsonl", change, "x" * length).status == "finished"


def test_a_slow_item_does_not_stall_the_others_and_its_successors_wait_on_disk(folder):
    release, started = asyncio.Event(), []

    class OneSlow:
        async def judge(self, item, *, repeat=0):
            started.append(item.id)
            if item.id == "0":
                await release.wait()
            elif item.id == "1999":
                release.set()
            return JudgeResult(float(item.id), "x" * 100)

    items = [Item(str(number), "") for number in range(2000)]
    run = Run(items, OneSlow(), output="scores.jsonl", cache=None, limits=Limits(concurrency=4))

    summary = run.execute()

    assert len(started) == 2000
    assert [outcome.score for _, outcome in summary.outcomes()] == [float(number) for number in range(2000)]
    assert not list(folder.glob("*.ahead"))


def test_without_a_cache_what_waits_for_a_slow_item_survives_a_stop(folder):
    asked = []

    class FirstNever:
        def __init__(self, run_holder):
            self.holder = run_holder

        async def judge(self, item, *, repeat=0):
            asked.append(item.id)
            if item.id == "0" and self.holder:
                await asyncio.sleep(3600)
            if item.id == "50" and self.holder:
                self.holder[0].stop(grace_s=0.0)
            return JudgeResult(float(item.id), "")

    items, holder = [Item(str(number), "") for number in range(60)], []
    run = Run(items, FirstNever(holder), output="scores.jsonl", cache=None, limits=Limits(concurrency=4))
    holder.append(run)
    assert run.execute().status == "stopped"
    first = set(asked)
    asked.clear()

    summary = Run(items, FirstNever([]), output="scores.jsonl", cache=None).execute()

    assert summary.status == "finished"
    assert len(first & set(asked)) <= 4  # what was in flight when it was stopped


def test_a_retry_is_an_event(folder):
    class Busy:
        origin = ScriptedProvider(lambda _: "").origin

        def __init__(self):
            self.tries = 0

        async def complete(self, request):
            self.tries += 1
            if self.tries == 1:
                raise TransientError("busy", retry_after_s=0.01)
            return await ScriptedProvider(Counting()).complete(request)

    events = []
    Run(ITEMS[:1], RubricJudge("general", provider=Busy()), cache=None).execute(events.append)

    [retried] = [event for event in events if isinstance(event, Retried)]
    assert (retried.reason, retried.attempt) == ("busy", 1)


def test_what_polyjudge_did_not_write_is_not_replaced(folder):
    (folder / "scores.jsonl").write_text("my notes\n", encoding="utf-8")

    with pytest.raises(ForeignFileError):
        Run(ITEMS, judge(Counting()), output="scores.jsonl", cache=None).execute()
    assert (folder / "scores.jsonl").read_text(encoding="utf-8") == "my notes\n"


def test_two_items_with_one_id_and_no_items_are_errors(folder):
    with pytest.raises(DataError, match="duplicate item id 'i0'"):
        Run([ITEMS[0], ITEMS[0]], judge(Counting())).plan()
    with pytest.raises(DataError, match="no items to judge"):
        Run([], judge(Counting())).plan()


def test_an_open_cache_is_used_and_left_open(folder):
    answer = Counting()
    with JudgeCache("own.sqlite") as cache:
        Run(ITEMS[:2], judge(answer), cache=cache).execute()
        Run(ITEMS[:2], judge(answer), cache=cache).execute()

    assert answer.calls == 2


class Writing:
    """Writes a text about each item; about some of them the model fails for a while."""

    def __init__(self, fails=()):
        self.fails, self.asked = set(fails), []

    async def judge(self, item, *, repeat=0):
        self.asked.append(item.id)
        if item.id in self.fails:
            return Failure("busy", "transient")
        return Generated(f"about {item.candidate}", "m", reasoning="hm", finish="stop")


def test_a_run_stores_generated_texts_and_is_resumed(folder):
    items = ITEMS[:4]
    stopped = Writing(fails={"i1"})
    first = Run(items, stopped, output="texts.jsonl", cache=None, limits=Limits(max_unjudged=0.5)).execute()
    (folder / "texts.jsonl").rename(folder / f"texts.jsonl.{Run(items, Writing()).plan().fingerprint}.partial")
    again = Writing()

    second = Run(items, again, output="texts.jsonl", cache=None).execute()

    assert (first.status, first.scores.judged, first.scores.unjudged, first.mean) == ("finished", 3, 1, None)
    assert again.asked == ["i1"]
    assert (second.status, second.scores.judged, second.scores.not_reached) == ("finished", 4, 0)
    assert [outcome for _, outcome in second.outcomes()] == [
        Generated(f"about candidate {number}", "m", reasoning="hm", finish="stop") for number in range(4)
    ]


def unusable(_):
    raise UnusableError("the key was rejected")


def sided(item):
    return item.id.partition("/")[0]


@pytest.mark.parametrize("needs_judge", [False, True])
def test_a_panel_drops_a_judge_that_becomes_unusable_and_warns_of_it(folder, needs_judge):
    refused, events = Counting(), []
    judges = {"good": judge(Counting()), "bad": judge(lambda request: refused(request) and unusable(request))}
    items = [Item(f"{name}/{number}", f"candidate {number}") for name in judges for number in range(5)]
    panel = Panel(judges, sided, needs_judge=needs_judge)

    run = Run(items, panel, cache=None, limits=Limits(concurrency=1, max_unjudged=0.5))
    summary = run.execute(events.append)

    assert (summary.status, summary.scores.judged, summary.failures) == ("finished", 5, {"provider_error": 5})
    assert refused.calls == 1
    assert [event.message for event in events if isinstance(event, Warned)] == [
        "bad is not asked again: the key was rejected"
    ]


def test_a_panel_without_a_judge_left_stops_the_run_if_it_needs_one(folder):
    items = [Item(f"bad/{number}", f"candidate {number}") for number in range(5)]
    panel = Panel({"bad": judge(unusable)}, sided, needs_judge=True)

    summary = Run(items, panel, cache=None, limits=Limits(concurrency=1)).execute()

    assert (summary.status, summary.scores.not_reached) == ("capped", 5)
    assert "the key was rejected" in str(summary.stopped_by)


class Prepared:
    """Works before the first item, which may fail or take long."""

    def __init__(self, work):
        self.work, self.stored, self.judged = work, None, 0

    async def prepare(self, stored, *, concurrency, stop):
        self.stored = [item_id for item_id, _ in stored]
        await self.work(stop)

    async def judge(self, item, *, repeat=0):
        self.judged += 1
        return JudgeResult(1.0, "")


async def nothing(_):
    pass


async def no_server(_):
    raise UnusableError("no server")


def test_a_judge_works_before_the_first_item_and_may_end_the_run_there(folder):
    ready, without = Prepared(nothing), Prepared(no_server)

    assert Run(ITEMS, ready, cache=None).execute().status == "finished"
    stopped = Run(ITEMS, without, output="scores.jsonl", cache=None).execute()

    assert (ready.stored, ready.judged) == ([], 40)
    assert (stopped.status, str(stopped.stopped_by), without.judged) == ("capped", "no server", 0)
    assert not list(folder.iterdir())


class Shelf:
    """A store in memory that has some outcomes from earlier."""

    def __init__(self, known):
        self.started_at, self.known, self.rows, self.is_finished = "", known, [], False

    def stored(self):
        return iter(())

    def ahead(self):
        return self.known

    def append(self, item, outcome):
        self.rows.append(item.id)

    def finish(self):
        self.is_finished = True

    def discard_if_empty(self):
        pass

    def close(self):
        pass


def test_a_store_of_the_caller_decides_what_is_asked_and_what_is_counted(folder):
    answer, store = Counting(), Shelf({item.id: JudgeResult(1.0, "") for item in ITEMS[:30]})

    estimate = Run(ITEMS, judge(answer), output=store, cache=None).estimate()
    summary = Run(ITEMS, judge(answer), output=store, cache=None, retry_failures=True).execute()

    assert (estimate.calls, answer.calls, summary.status) == (10, 10, "finished")
    assert store.rows == [item.id for item in ITEMS]
    assert store.is_finished


def test_a_call_is_tried_as_often_as_the_run_says(folder):
    tries = []

    class Failing:
        origin = Origin("failing")

        async def complete(self, request):
            tries.append(request.prompt)
            raise TransientError("busy")

    policy = RetryPolicy(attempts=2, first_wait_s=0.001)
    summary = Run(ITEMS[:1], RubricJudge("general", provider=Failing()), cache=None, retries=policy).execute()

    assert len(tries) == 2
    assert summary.failures == {"transient": 1}
