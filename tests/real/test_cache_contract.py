"""What holds for a cache wherever it is kept: a file of this machine, and PostgreSQL."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.real.postgres import Postgres

from polyjudge.cache.maintenance import statistics_of
from polyjudge.cache.opening import open_cache
from polyjudge.cache.postgres import PostgresCache
from polyjudge.cache.protocol import Cache
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.errors import CacheError, RefusedError, TransientError
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import RubricCriterion

ANY_TEXT = st.text(alphabet=st.characters())  # lone surrogates and NUL included
LONG_AGO, FAR_AHEAD = "2020-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


@dataclass
class Place:
    """Where the cache of a test is."""

    name: str
    postgres: Postgres | None = None

    def open(self, **options):
        return JudgeCache(self.name, **options) if self.postgres is None else PostgresCache(self.name, **options)

    def run(self, statement: str) -> None:
        """Change what is kept behind the cache's back."""
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
    with place.open() as opened:
        yield opened


class Asked:
    """A question that counts how often it is asked, and takes its time."""

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


def test_both_are_caches(cache, place):
    opened: Cache = open_cache(place.name)
    assert type(opened) is type(cache)
    assert opened.place == place.name
    opened.close()


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
def test_a_reply_comes_back_as_it_was_put_but_for_being_cached(cache, key, reply):
    cache.put_reply(key, reply, provider="p")

    back = cache.get_reply(key)

    assert back is not None
    assert back.cached
    assert (back.text, back.reasoning, back.model) == (reply.text, reply.reasoning, reply.model)
    assert (back.parameters, back.dropped, back.cost_usd) == (reply.parameters, reply.dropped, reply.cost_usd)


def test_a_miss_is_none_and_a_second_put_replaces_the_first(cache):
    assert cache.get("key") is None
    assert cache.get_reply("key") is None
    cache.put("key", JudgeResult(1.0, "first"))
    cache.put("key", JudgeResult(2.0, "second"))

    assert cache.get("key").reason == "second"


def test_replies_and_results_do_not_meet_under_one_key(cache):
    cache.put("key", JudgeResult(1.0, "result"))
    cache.put_reply("key", Reply(text="reply", model="m"))

    assert cache.get("key").reason == "result"
    assert cache.get_reply("key") == Reply(text="reply", model="m", cached=True)


def test_what_was_put_is_there_for_the_next_opener(place):
    with place.open() as first:
        first.put_reply("key", Reply(text="kept", model="m"))
    with place.open() as second:
        assert second.get_reply("key").text == "kept"
        assert run(second.find("key")).text == "kept"
        assert run(second.find("another")) is None


def test_the_same_question_by_many_tasks_at_once_is_asked_once(cache):
    asked = Asked(wait_s=0.03)

    async def all_at_once():
        return await asyncio.gather(*(cache.once("key", asked) for _ in range(50)))

    replies = run(all_at_once())

    assert asked.times == 1
    assert sum(not reply.cached for reply in replies) == 1


def test_many_questions_at_once_are_asked_once_each(cache):
    asked = [Asked(Reply(text=str(number), model="m")) for number in range(700)]

    async def twice_each():
        return await asyncio.gather(*(cache.once(f"key-{number}", asked[number]) for number in [*range(700)] * 2))

    replies = run(twice_each())

    assert [reply.text for reply in replies] == [str(number) for number in range(700)] * 2
    assert {each.times for each in asked} == {1}


def test_two_caches_in_one_process_ask_once(place):
    asked = Asked(wait_s=0.03)

    async def both():
        with place.open() as one, place.open() as two:
            await asyncio.gather(*(cache.once("key", asked) for cache in (one, two) for _ in range(5)))

    run(both())

    assert asked.times == 1


def test_threads_with_loops_of_their_own_ask_once(cache):
    asked = Asked(wait_s=0.05)
    threads = [threading.Thread(target=lambda: run(cache.once("key", asked))) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert asked.times == 1


def test_many_threads_may_use_one_cache(cache):
    def work(name):
        for number in range(20):
            cache.put(f"{name}-{number}", JudgeResult(number, name))
            assert cache.get(f"{name}-{number}").reason == name

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(cache.get(f"t{name}-{number}") for name in range(6) for number in range(20))


def test_after_an_error_the_next_one_asks_and_nothing_is_kept(cache):
    asked = Asked(TransientError("busy"), RefusedError("no"), Reply(text="at last", model="m"))

    for error in (TransientError, RefusedError):
        with pytest.raises(error):
            run(cache.once("key", asked))
        assert cache.get_reply("key") is None
    assert run(cache.once("key", asked)).text == "at last"


def test_an_error_is_nobodys_but_the_askers(cache):
    asked = Asked(TransientError("busy"), Reply(text="answer", model="m"), wait_s=0.02)

    async def several():
        return await asyncio.gather(*(cache.once("key", asked) for _ in range(5)), return_exceptions=True)

    replies = run(several())

    assert asked.times == 2
    assert sum(isinstance(reply, TransientError) for reply in replies) == 1
    assert {reply.text for reply in replies if isinstance(reply, Reply)} == {"answer"}


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_cut_off_and_declined_replies_are_not_kept(cache, finish):
    asked = Asked(Reply(text="half", model="m", finish=finish))

    assert run(cache.once("key", asked)).text == "half"
    assert run(cache.once("key", asked)).text == "half"
    assert asked.times == 2
    assert cache.get_reply("key") is None


def test_older_replies_are_passed_over_asked_for_anew_and_replaced(cache):
    cache.put_reply("key", Reply(text="old", model="m"))

    assert run(cache.find("key", since=LONG_AGO)).text == "old"
    assert run(cache.find("key", since=FAR_AHEAD)) is None
    assert run(cache.once("key", Asked(), since=LONG_AGO)).text == "old"
    assert run(cache.once("key", Asked(), since=FAR_AHEAD)).text == "answer"
    assert run(cache.find("key", since=FAR_AHEAD)).text == "answer"  # also where the clock went back since
    assert cache.get_reply("key").text == "answer"


def test_a_cancelled_question_can_be_asked_again(cache):
    async def cancel_and_ask():
        task = asyncio.create_task(cache.once("key", never))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await cache.once("key", Asked())

    assert run(cancel_and_ask()).text == "answer"


def test_whoever_waits_asks_when_the_asker_is_cancelled(cache):
    async def cancel_the_first():
        first = asyncio.create_task(cache.once("key", never))
        await asyncio.sleep(0.05)
        second, third = (asyncio.create_task(cache.once("key", Asked())) for _ in range(2))
        await asyncio.sleep(0.02)
        second.cancel()  # waits, and never got to ask
        first.cancel()
        return await third

    assert run(cancel_the_first()).text == "answer"


def test_questions_cancelled_at_any_moment_can_be_asked_again(cache):
    """A claim may be on its way to a task that is cancelled just then; it must not be lost on the way."""

    async def cancel_at(moment_s: float, key: str):
        tasks = [asyncio.create_task(cache.once(key, never)) for _ in range(3)]
        await asyncio.sleep(moment_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    for number in range(40):
        asyncio.run(cancel_at(number / 10_000, f"key-{number}"))

    async def ask_all():
        return await asyncio.gather(*(cache.once(f"key-{number}", Asked()) for number in range(40)))

    assert {reply.text for reply in run(ask_all())} == {"answer"}


def test_a_caller_who_is_cancelled_while_a_reply_is_being_kept_loses_nothing(cache):
    async def cancel_while_writing():
        paid, is_paid = [], asyncio.Event()

        async def ask(key: str) -> Reply:
            paid.append(key)
            is_paid.set()
            return Reply(text="paid for", model="m")

        keys = [f"key-{number}" for number in range(50)]
        tasks = [asyncio.create_task(cache.once(key, partial(ask, key))) for key in keys]
        await is_paid.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return paid

    paid = run(cancel_while_writing())
    run(cache.once("afterwards", Asked()))

    assert paid
    assert all(cache.get_reply(key) for key in paid)


def test_an_entry_that_cannot_be_read_counts_as_missing_and_is_asked_for_anew(cache, place):
    cache.put_reply("key", Reply(text="fine", model="m"))
    place.run("update entries set value = replace(value, 'fine', 'fire')")

    with pytest.warns(UserWarning, match="entry key cannot be read and counts as missing: the checksum"):
        assert cache.get_reply("key") is None
    with pytest.warns(UserWarning, match="entry key cannot be read"):
        assert run(cache.once("key", Asked())).text == "answer"
    assert cache.get_reply("key").text == "answer"


def test_a_closed_cache_takes_nothing_and_says_so(place):
    cache = place.open()
    cache.close()
    cache.close()
    asked = Asked()

    with pytest.raises(CacheError, match="is closed"):
        cache.put("key", JudgeResult(1.0, ""))
    with pytest.raises(CacheError, match="is closed"):
        cache.get("key")
    with pytest.raises(CacheError, match="is closed"):
        run(cache.once("key", asked))
    assert asked.times == 0


def test_replaying_reads_and_never_writes_nor_asks(place):
    with pytest.raises(CacheError):
        place.open(read_only=True)
    with place.open() as cache:
        cache.put_reply("key", Reply(text="kept", model="m"))

    asked = Asked()
    with place.open(read_only=True) as replay:
        assert replay.get_reply("key").text == "kept"
        assert run(replay.find("key")).text == "kept"
        with pytest.raises(CacheError, match="open for replay"):
            replay.put("other", JudgeResult(1.0, ""))
        with pytest.raises(CacheError, match="open for replay"):
            run(replay.once("other", asked))
    assert asked.times == 0
    assert statistics_of(place.name).entries == 1


def test_a_judge_asks_once_and_says_that_the_second_answer_was_cached(place):
    asked = []
    provider = ScriptedProvider(lambda request: asked.append(request) or '{"score": 80, "reason": "good"}')
    judge = RubricJudge([RubricCriterion("a", "b")], cache_db=place.name, provider=provider)

    first, second = judge.score_sync("text"), judge.score_sync("text")

    assert len(asked) == 1
    assert (first.cached, second.cached) == (False, True)


def test_a_cache_left_open_is_closed_without_a_word(place):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        place.open().put("key", JudgeResult(1.0, ""))


SCRIPT = """
import asyncio, os, signal, sys
from polyjudge import Reply
from polyjudge.cache.opening import open_cache
"""

ASK_MANY = f"""{SCRIPT}
async def main(place, log):
    cache = open_cache(place)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(number):
        async def answer():
            os.write(file, f"{{number}}\\n".encode())
            await asyncio.sleep(0.002)
            return Reply(text=f"answer {{number}}", model="m")
        reply = await cache.once(f"question-{{number}}", answer)
        assert reply.text == f"answer {{number}}"

    places = asyncio.Semaphore(32)
    async def bounded(number):
        async with places:
            await ask(number)
    await asyncio.gather(*(bounded(number) for number in range(500)))
    cache.close()

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
    await open_cache(sys.argv[1]).once("key", ask)

asyncio.run(main())
"""


def test_a_killed_process_gives_its_questions_back_although_its_child_lives_on(place):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK_AND_DIE, place.name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"asking\n"
        process.wait()
        try:
            with place.open() as cache:
                assert run(cache.once("key", Asked())).text == "answer"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


FORK = f"""{SCRIPT}
cache = open_cache(sys.argv[1])
cache.put_reply("parent", Reply(text="from the parent", model="m"))
child = os.fork()
if child == 0:
    assert cache.get_reply("parent") is not None
    cache.put_reply("child", Reply(text="from the child", model="m"))
    cache.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert cache.get_reply("child").text == "from the child"
cache.put_reply("again", Reply(text="", model="m"))
"""


def test_a_forked_child_may_go_on_with_its_parents_cache(place):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK, place.name]

    assert subprocess.run(command, check=False, timeout=60).returncode == 0


def test_a_path_that_looks_like_another_url_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CacheError, match=r"a file or postgresql://…, not mysql://…"):
        open_cache("mysql://user:geheim@host/db")
    with pytest.raises(CacheError, match="is a file"):
        JudgeCache("postgresql://user:geheim@host/db")
    assert list(Path().iterdir()) == []
