"""What holds for every cache: a file of this machine, and PostgreSQL."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import warnings
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.real.postgres import Postgres

from polyjudge.cache.maintenance import statistics_of
from polyjudge.cache.postgres import PostgresCache
from polyjudge.cache.protocol import Cache, cache_at, open_cache
from polyjudge.cache.sqlite import JudgeCache, SqliteCache
from polyjudge.errors import CacheError, RefusedError, TransientError
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.caching import once
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import RubricCriterion

ANY_TEXT = st.text(alphabet=st.characters())  # lone surrogates and NUL included
LONG_AGO, FAR_AHEAD = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


@dataclass
class Place:
    """Where the cache of a test is."""

    name: str
    postgres: Postgres | None = None

    def cache(self) -> Cache:
        return cache_at(self.name)

    @asynccontextmanager
    async def open(self, *, read_only: bool = False):
        cache = await open_cache(self.name, read_only=read_only)
        yield cache
        await cache.aclose()

    def run(self, statement: str) -> None:
        """Change the stored entries without the cache."""
        if self.postgres is not None:
            self.postgres.run(statement.replace("entries", "polyjudge_entries"), self.name)
            return
        connection = sqlite3.connect(self.name)
        connection.execute(statement)
        connection.commit()
        connection.close()


@pytest.fixture(params=["file", "PostgreSQL"])
def place(request, tmp_path):
    if request.param == "file":
        return Place(str(tmp_path / "cache.sqlite"))
    postgres = request.getfixturevalue("postgres")
    return Place(postgres.new_database(), postgres)


@pytest.fixture
def cache(place):
    opened = place.cache()
    yield opened
    run(opened.aclose())


class CountingAsker:
    """Answers after some time, and counts how often it was asked."""

    def __init__(self, *answers, wait_s: float = 0.0) -> None:
        self.times = 0
        self._answers = answers or (Reply(text="answer", model="m"),)
        self._wait_s = wait_s

    async def __call__(self) -> Reply:
        answer = self._answers[min(self.times, len(self._answers) - 1)]
        self.times += 1
        await asyncio.sleep(self._wait_s)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def never() -> Reply:
    await asyncio.Event().wait()
    raise AssertionError


def run(work):
    """Run, and fail instead of hanging."""
    return asyncio.run(asyncio.wait_for(work, 60))


def get(cache: Cache, key: str) -> Reply | None:
    return run(cache.get(key))


def put(cache: Cache, key: str, text: str) -> None:
    run(cache.put(key, Reply(text=text, model="m")))


def test_both_are_caches(cache, place):
    async def open_and_close():
        opened: Cache = await open_cache(place.name)
        assert type(opened) is type(cache) is (SqliteCache if place.postgres is None else PostgresCache)
        assert opened.place == place.name
        await opened.aclose()

    run(open_and_close())


@given(
    key=ANY_TEXT.filter(lambda key: key.isprintable()),
    reply=st.builds(
        Reply,
        text=ANY_TEXT,
        reasoning=ANY_TEXT,
        model=ANY_TEXT.filter(str.isprintable),
        parameters=st.dictionaries(ANY_TEXT, st.integers()),
        dropped=st.lists(ANY_TEXT).map(tuple),
        cost_usd=st.none() | st.floats(0, 1),
    ),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stored_reply_is_returned_unchanged_but_marked_as_cached(cache, key, reply):
    async def put_and_get():
        await cache.put(key, reply, provider="p")
        return await cache.get(key)

    back = run(put_and_get())

    assert back is not None
    assert back.cached
    assert (back.text, back.reasoning, back.model) == (reply.text, reply.reasoning, reply.model)
    assert (back.parameters, back.dropped, back.cost_usd) == (reply.parameters, reply.dropped, reply.cost_usd)


def test_a_miss_is_none_and_a_second_put_replaces_the_first(cache):
    assert get(cache, "key") is None
    put(cache, "key", "first")
    put(cache, "key", "second")

    assert get(cache, "key").text == "second"


def test_a_reply_and_a_result_can_have_the_same_key(cache, place):
    put(cache, "key", "reply")
    place.run("update entries set kind = 'result' where key = 'key'")
    assert get(cache, "key") is None
    put(cache, "key", "reply")

    assert get(cache, "key") == Reply(text="reply", model="m", cached=True)
    assert statistics_of(place.name).entries == 2


def test_a_stored_entry_is_found_after_opening_again(place):
    async def put_and_open_again():
        async with place.open() as first:
            await first.put("key", Reply(text="stored", model="m"))
        async with place.open() as second:
            return (await second.get("key")).text, await second.get("another")

    assert run(put_and_open_again()) == ("stored", None)


def test_many_concurrent_tasks_ask_the_same_question_once(cache):
    asked = CountingAsker(wait_s=0.03)

    async def all_at_once():
        return await asyncio.gather(*(once(cache, "key", asked) for _ in range(50)))

    replies = run(all_at_once())

    assert asked.times == 1
    assert sum(not reply.cached for reply in replies) == 1


def test_many_questions_at_once_are_asked_once_each(cache):
    asked = [CountingAsker(Reply(text=str(number), model="m")) for number in range(700)]

    async def twice_each():
        return await asyncio.gather(*(once(cache, f"key-{number}", asked[number]) for number in [*range(700)] * 2))

    replies = run(twice_each())

    assert [reply.text for reply in replies] == [str(number) for number in range(700)] * 2
    assert {each.times for each in asked} == {1}


def test_two_caches_in_one_process_ask_once(place):
    asked = CountingAsker(wait_s=0.03)

    async def both():
        async with place.open() as one, place.open() as two:
            await asyncio.gather(*(once(cache, "key", asked) for cache in (one, two) for _ in range(5)))

    run(both())

    assert asked.times == 1


def test_threads_with_loops_of_their_own_ask_once(cache):
    asked = CountingAsker(wait_s=0.05)
    threads = [threading.Thread(target=lambda: run(once(cache, "key", asked))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert asked.times == 1


def test_many_threads_may_use_one_cache(cache):
    async def work(name):
        for number in range(20):
            await cache.put(f"{name}-{number}", Reply(text=name, model="m"))
            assert (await cache.get(f"{name}-{number}")).text == name

    threads = [threading.Thread(target=lambda name=f"t{number}": run(work(name))) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(get(cache, f"t{name}-{number}") for name in range(6) for number in range(0, 20, 5))


def test_after_an_error_nothing_is_stored_and_the_next_caller_asks(cache):
    asked = CountingAsker(TransientError("busy"), RefusedError("no"), Reply(text="at last", model="m"))

    for error in (TransientError, RefusedError):
        with pytest.raises(error):
            run(once(cache, "key", asked))
        assert get(cache, "key") is None
    assert run(once(cache, "key", asked)).text == "at last"


def test_an_error_is_raised_only_for_the_task_that_asked(cache):
    asked = CountingAsker(TransientError("busy"), Reply(text="answer", model="m"), wait_s=0.02)

    async def several():
        return await asyncio.gather(*(once(cache, "key", asked) for _ in range(5)), return_exceptions=True)

    replies = run(several())

    assert asked.times == 2
    assert sum(isinstance(reply, TransientError) for reply in replies) == 1
    assert {reply.text for reply in replies if isinstance(reply, Reply)} == {"answer"}


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_cut_off_and_declined_replies_are_not_stored(cache, finish):
    asked = CountingAsker(Reply(text="half", model="m", finish=finish))

    assert run(once(cache, "key", asked)).text == "half"
    assert run(once(cache, "key", asked)).text == "half"
    assert asked.times == 2
    assert get(cache, "key") is None


def test_replies_older_than_since_are_asked_for_again_and_replaced(cache):
    put(cache, "key", "old")

    assert run(cache.get("key", since=LONG_AGO)).text == "old"
    assert run(cache.get("key", since=FAR_AHEAD)) is None
    assert run(once(cache, "key", CountingAsker(), since=LONG_AGO)).text == "old"
    assert run(once(cache, "key", CountingAsker(), since=FAR_AHEAD)).text == "answer"
    assert run(cache.get("key", since=FAR_AHEAD)).text == "answer"  # also if the clock was set back in the meantime
    assert get(cache, "key").text == "answer"


def test_a_cancelled_question_can_be_asked_again(cache):
    async def cancel_and_ask():
        task = asyncio.create_task(once(cache, "key", never))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await once(cache, "key", CountingAsker())

    assert run(cancel_and_ask()).text == "answer"


def test_a_waiting_task_asks_if_the_asking_one_is_cancelled(cache):
    async def cancel_the_first():
        first = asyncio.create_task(once(cache, "key", never))
        await asyncio.sleep(0.05)
        second, third = (asyncio.create_task(once(cache, "key", CountingAsker())) for _ in range(2))
        await asyncio.sleep(0.02)
        second.cancel()  # was waiting and has not asked
        first.cancel()
        return await third

    assert run(cancel_the_first()).text == "answer"


def test_a_question_cancelled_at_any_time_can_be_asked_again(cache):
    """A task can be cancelled while it is being given a claim; the claim must then be released."""

    async def cancel_at(delay_s: float, key: str):
        tasks = [asyncio.create_task(once(cache, key, never)) for _ in range(3)]
        await asyncio.sleep(delay_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    for number in range(40):
        asyncio.run(cancel_at(number / 10_000, f"key-{number}"))

    async def ask_all():
        return await asyncio.gather(*(once(cache, f"key-{number}", CountingAsker()) for number in range(40)))

    assert {reply.text for reply in run(ask_all())} == {"answer"}


def test_a_reply_is_stored_even_if_its_caller_is_cancelled_during_the_write(cache):
    async def cancel_while_writing():
        paid, is_paid = [], asyncio.Event()

        async def ask(key: str) -> Reply:
            paid.append(key)
            is_paid.set()
            return Reply(text="paid for", model="m")

        keys = [f"key-{number}" for number in range(50)]
        tasks = [asyncio.create_task(once(cache, key, partial(ask, key))) for key in keys]
        await is_paid.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return paid

    paid = run(cancel_while_writing())
    run(once(cache, "afterwards", CountingAsker()))

    assert paid
    assert all(get(cache, key) for key in paid)


def test_writes_in_progress_when_the_loop_ends_are_finished(cache, place):
    async def end_while_writing():
        await cache.connect()
        tasks = [asyncio.create_task(cache.put(f"key-{number}", Reply(text="", model="m"))) for number in range(700)]
        await asyncio.sleep(0)
        return len(tasks)

    assert run(end_while_writing()) == 700

    put(cache, "afterwards", "")
    assert statistics_of(place.name).entries == 701


def test_an_unreadable_entry_counts_as_missing_and_is_asked_for_again(cache, place):
    put(cache, "key", "fine")
    place.run("update entries set value = replace(value, 'fine', 'fire')")

    with pytest.warns(UserWarning, match="entry key cannot be read and counts as missing: checksum"):
        assert get(cache, "key") is None
    with pytest.warns(UserWarning, match="entry key cannot be read"):
        assert run(once(cache, "key", CountingAsker())).text == "answer"
    assert get(cache, "key").text == "answer"


def test_a_closed_cache_raises_on_every_use(place):
    asked = CountingAsker()

    async def use_it_closed():
        cache = await open_cache(place.name)
        await cache.aclose()
        await cache.aclose()
        with pytest.raises(CacheError, match="the cache is closed"):
            await cache.put("key", Reply(text="", model="m"))
        with pytest.raises(CacheError, match="the cache is closed"):
            await cache.get("key")
        with pytest.raises(CacheError, match="the cache is closed"):
            await once(cache, "key", asked)

    run(use_it_closed())
    assert asked.times == 0


def test_a_replay_reads_and_never_writes_or_asks(place):
    with pytest.raises(CacheError):
        run(open_cache(place.name, read_only=True))
    put(place.cache(), "key", "stored")
    asked = CountingAsker()

    async def replay_it():
        async with place.open(read_only=True) as replay:
            assert (await replay.get("key")).text == "stored"
            with pytest.raises(CacheError, match="open read-only"):
                await replay.put("other", Reply(text="", model="m"))
            with pytest.raises(CacheError, match="open read-only"):
                await once(replay, "other", asked)

    run(replay_it())
    assert asked.times == 0
    assert statistics_of(place.name).entries == 1


def test_a_judge_asks_once_and_marks_the_second_answer_as_cached(place):
    asked = []
    provider = ScriptedProvider(lambda request: asked.append(request) or '{"score": 80, "reason": "good"}')
    judge = RubricJudge([RubricCriterion("a", "b")], cache_db=place.name, provider=provider)

    first, second = judge.score_sync("text"), judge.score_sync("text")

    assert len(asked) == 1
    assert (first.cached, second.cached) == (False, True)


def test_a_cache_that_was_not_closed_causes_no_warning(place):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        put(place.cache(), "key", "stored")


SCRIPT = """
import asyncio, os, signal, sys
from polyjudge import Reply
from polyjudge.cache.protocol import cache_at, open_cache
from polyjudge.providers.caching import once
"""

ASK_MANY = f"""{SCRIPT}
async def main(place, log):
    cache = await open_cache(place)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(number):
        async def answer():
            os.write(file, f"{{number}}\\n".encode())
            await asyncio.sleep(0.002)
            return Reply(text=f"answer {{number}}", model="m")
        reply = await once(cache, f"question-{{number}}", answer)
        assert reply.text == f"answer {{number}}"

    places = asyncio.Semaphore(32)
    async def bounded(number):
        async with places:
            await ask(number)
    await asyncio.gather(*(bounded(number) for number in range(500)))
    await cache.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def test_several_processes_on_the_same_questions_ask_each_once(place, tmp_path):
    log = tmp_path / "asked.log"

    processes = [subprocess.Popen([sys.executable, "-c", ASK_MANY, place.name, str(log)]) for _ in range(3)]

    assert [process.wait(timeout=120) for process in processes] == [0, 0, 0]
    asked = log.read_text(encoding="utf-8").split()
    assert len(asked) == 500
    assert len(set(asked)) == 500


FORK_AND_DIE = f"""{SCRIPT}
async def main():
    async def ask():
        if os.fork() == 0:
            os.close(1)
            signal.pause()
        print("asking", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    await once(await open_cache(sys.argv[1]), "key", ask)

asyncio.run(main())
"""


def test_a_killed_process_releases_its_claims_although_its_child_is_alive(place):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK_AND_DIE, place.name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"asking\n"
        process.wait()
        try:
            assert run(once(place.cache(), "key", CountingAsker())).text == "answer"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


FORK_AND_USE = f"""{SCRIPT}
cache = cache_at(sys.argv[1])
def put(key, text):
    asyncio.run(cache.put(key, Reply(text=text, model="m")))
put("parent", "from the parent")
child = os.fork()
if child == 0:
    assert asyncio.run(cache.get("parent")) is not None
    put("child", "from the child")
    asyncio.run(cache.aclose())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert asyncio.run(cache.get("child")).text == "from the child"
put("again", "")
"""


FORK_INSIDE = f"""{SCRIPT}
async def main():
    cache = await open_cache(sys.argv[1])
    await cache.put("parent", Reply(text="from the parent", model="m"))
    async with cache.claim("claimed") as is_asker:
        assert is_asker
        child = os.fork()
        if child == 0:
            asyncio.events._set_running_loop(None)
            asyncio.run(use(cache))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert (await cache.get("child")).text == "from the child"
    await cache.put("again", Reply(text="", model="m"))

async def use(cache):
    assert await cache.get("parent") is not None
    await cache.put("child", Reply(text="from the child", model="m"))
    async with cache.claim("claimed") as is_asker:
        assert not is_asker  # the parent is

asyncio.run(main())
"""


@pytest.mark.parametrize("script", [FORK_AND_USE, FORK_INSIDE])
def test_a_forked_child_can_use_its_parents_cache(place, script):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, place.name]

    assert subprocess.run(command, check=False, timeout=60).returncode == 0


def test_a_path_that_looks_like_another_url_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CacheError, match=r"unsupported cache URL mysql://…"):
        cache_at("mysql://user:geheim@host/db")
    with pytest.raises(CacheError, match="needs a file path"):
        JudgeCache("postgresql://user:geheim@host/db")
    assert list(Path().iterdir()) == []
