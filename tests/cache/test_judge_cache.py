"""The cache stores results and replies, asks each question once, and stores no failure."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import warnings
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.cache.entries import Entry
from polyjudge.cache.sqlite import JudgeCache, SqliteCache
from polyjudge.errors import CacheError, RefusedError, TransientError
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.caching import once
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult, Provenance
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import RubricCriterion

ANY_TEXT = st.text(alphabet=st.characters())  # lone surrogates and NUL included
REPLY = '{"score": 80, "reason": "good"}'


@pytest.fixture
def cache(tmp_path):
    with JudgeCache(tmp_path / "deep" / "cache.sqlite") as opened:
        yield opened


@given(
    key=ANY_TEXT.filter(lambda key: key.isprintable()),
    result=st.builds(
        JudgeResult,
        score=st.floats(0, 100),
        reason=ANY_TEXT,
        subscores=st.dictionaries(ANY_TEXT, st.floats(0, 100)),
        model=ANY_TEXT.filter(str.isprintable),
        duration_ms=st.integers(0, 10**9),
        verdict=ANY_TEXT,
        raw=ANY_TEXT,
        members=st.just((JudgeResult(1.0, "x"), Failure("no", "refused"))),
        provenance=st.none()
        | st.just(
            Provenance(provider="p", model="m", rubric="r", rubric_fingerprint="f", prompt_sha256="0", cost_usd=0.5)
        ),
    ),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stored_result_is_returned_unchanged_but_marked_as_cached(cache, key, result):
    cache.put(key, result)

    back = cache.get(key)

    assert back is not None
    assert back.cached
    assert (back.score, back.reason, back.subscores, back.members) == (
        result.score, result.reason, result.subscores, result.members,
    )  # fmt: skip
    assert (back.model, back.raw, back.provenance) == (result.model, result.raw, result.provenance)


def test_a_miss_is_none_and_a_second_put_replaces_the_first(cache):
    assert cache.get("key") is None
    cache.put("key", JudgeResult(1.0, "first"))
    cache.put("key", JudgeResult(2.0, "second"))

    result = cache.get("key")
    assert result is not None
    assert result.reason == "second"


def test_a_reply_and_a_result_can_have_the_same_key(cache):
    cache.put("key", JudgeResult(1.0, "result"))
    cache.put_reply("key", Reply(text="reply", model="m", parameters={"a": [1]}, dropped=("t",)))

    result, reply = cache.get("key"), cache.get_reply("key")
    assert result is not None
    assert reply == Reply(text="reply", model="m", parameters={"a": [1]}, dropped=("t",), cached=True)
    assert result.reason == "result"


def test_a_stored_entry_is_found_after_opening_again(tmp_path):
    with JudgeCache(tmp_path / "c.sqlite") as first:
        first.put("key", JudgeResult(1.0, "stored"))
    with JudgeCache(str(tmp_path / "c.sqlite")) as second:
        result = second.get("key")
    assert result is not None
    assert result.reason == "stored"


def test_a_judge_asks_once_and_marks_the_second_answer_as_cached(tmp_path):
    asked = []
    provider = ScriptedProvider(lambda request: asked.append(request) or REPLY)
    judge = RubricJudge([RubricCriterion("a", "b")], cache_db=tmp_path / "c.sqlite", provider=provider)

    first, second = judge.score_sync("text"), judge.score_sync("text")

    assert len(asked) == 1
    assert (first.cached, second.cached) == (False, True)
    assert second.provenance is not None
    assert second.provenance.cached
    assert (first.score, first.provenance.answered_at) == (second.score, second.provenance.answered_at)


class Asked:
    """A question that takes a while, and counts how often it is asked."""

    count = 0

    async def __call__(self):
        self.count += 1
        await asyncio.sleep(0.03)
        return Reply(text="answer", model="m")


def test_many_concurrent_tasks_ask_the_same_question_once(cache):
    ask = Asked()

    async def all_at_once():
        return await asyncio.gather(*(once(cache.replies, "key", ask) for _ in range(50)))

    replies = asyncio.run(all_at_once())

    assert ask.count == 1
    assert sum(not reply.cached for reply in replies) == 1


def test_two_caches_in_one_process_on_one_file_ask_once(tmp_path):
    ask = Asked()

    async def both():
        with JudgeCache(tmp_path / "c.sqlite") as one, JudgeCache(tmp_path / "c.sqlite") as two:
            await asyncio.gather(*(once(cache.replies, "key", ask) for cache in (one, two) for _ in range(5)))

    asyncio.run(both())

    assert ask.count == 1


def test_a_claim_is_exclusive_until_its_block_ends(tmp_path):
    async def claim_twice(one: SqliteCache, two: SqliteCache):
        async with one.claim("key") as first, one.claim("key") as again, two.claim("key") as second:
            during = (first, again, second)
        async with two.claim("key") as after:
            return during, after

    one, two = SqliteCache(tmp_path / "c.sqlite"), SqliteCache(tmp_path / "c.sqlite")
    assert asyncio.run(claim_twice(one, two)) == ((True, False, False), True)
    one.close()
    two.close()


def test_an_entry_stored_by_another_cache_between_two_reads_is_found(tmp_path):
    async def never() -> Reply:
        raise AssertionError("the reply is stored")

    async def read_both(cache: JudgeCache, other: JudgeCache) -> tuple[Reply, int]:
        other.put_reply("first", Reply(text=REPLY, model="m"))
        await once(cache.replies, "first", never)
        await once(cache.replies, "first", never)  # the last read found a reply, so this is a snapshot read
        other.put_reply("second", Reply(text="another", model="m"))
        found = await once(cache.replies, "second", never)
        await once(cache.replies, "first", never)
        await asyncio.sleep(0)
        with closing(sqlite3.connect(cache.path, timeout=0)) as third:  # no snapshot is open any more
            return found, third.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    path = tmp_path / "cache.sqlite"
    with JudgeCache(path) as cache, JudgeCache(path) as other:
        found, busy = asyncio.run(read_both(cache, other))

    assert (found.text, busy) == ("another", 0)


def test_after_an_error_nothing_is_stored_and_the_next_caller_asks(cache):
    answers = iter([TransientError("busy"), RefusedError("no"), Reply(text="at last", model="m")])

    async def ask():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    for error in (TransientError, RefusedError):
        with pytest.raises(error):
            asyncio.run(once(cache.replies, "key", ask))
        assert cache.get_reply("key") is None
    assert asyncio.run(once(cache.replies, "key", ask)).text == "at last"


@pytest.mark.parametrize("finish", ["length", "refusal"])
def test_cut_off_and_declined_replies_are_not_stored(cache, finish):
    async def ask():
        return Reply(text="half", model="m", finish=finish)

    assert asyncio.run(once(cache.replies, "key", ask)).text == "half"
    assert cache.get_reply("key") is None


def test_a_cancelled_question_can_be_asked_again(cache):
    async def never():
        await asyncio.Event().wait()
        raise AssertionError

    async def ask():
        return Reply(text="answer", model="m")

    async def cancel_and_ask():
        task = asyncio.create_task(once(cache.replies, "key", never))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await once(cache.replies, "key", ask)

    assert asyncio.run(cancel_and_ask()).text == "answer"


def test_a_reply_is_stored_even_if_its_caller_is_cancelled_during_the_write(tmp_path):
    path = tmp_path / "c.sqlite"
    with JudgeCache(path) as cache:

        async def ask():
            return Reply(text="paid for", model="m")

        async def cancel_while_writing():
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            tasks = [asyncio.create_task(once(cache.replies, f"key-{number}", ask)) for number in range(20)]
            await asyncio.sleep(0.1)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            other.execute("ROLLBACK")
            other.close()
            return await asyncio.wait_for(once(cache.replies, "afterwards", ask), 20)

        assert asyncio.run(cancel_while_writing()).text == "paid for"
        assert all(cache.get_reply(f"key-{number}") for number in range(20))


FORK_AND_DIE = """
import asyncio, os, signal, sys
from polyjudge import JudgeCache
from polyjudge.providers.caching import once

async def main():
    async def ask():
        if os.fork() == 0:
            os.close(1)
            signal.pause()
        print("asking", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    await once(JudgeCache(sys.argv[1]).replies, "key", ask)

asyncio.run(main())
"""


def test_a_killed_process_releases_its_claims_although_its_child_is_alive(tmp_path):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK_AND_DIE, str(tmp_path / "c.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b"asking\n"
        process.wait()

        async def ask():
            return Reply(text="answer", model="m")

        try:
            with JudgeCache(tmp_path / "c.sqlite") as cache:
                assert asyncio.run(asyncio.wait_for(once(cache.replies, "key", ask), 20)).text == "answer"
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_concurrent_writes_share_commits(tmp_path):
    """Measured in bytes written, because a commit writes whole pages."""
    if not Path("/proc/self/io").exists():
        pytest.skip("this system does not count the bytes that a process writes")
    with JudgeCache(tmp_path / "together.sqlite") as cache:
        together = asyncio.run(_put(cache, 0, 500))
    with JudgeCache(tmp_path / "singly.sqlite") as cache:
        before = _bytes_written()
        for number in range(500):
            cache.put_reply(JudgeCache.hash_key("m", "p", str(number)), Reply(text=REPLY * 10, model="m"))
        singly = (_bytes_written() - before) / 500

    assert together < singly / 3


def test_many_threads_may_use_one_cache(cache):
    def work(name):
        for number in range(50):
            cache.put(f"{name}-{number}", JudgeResult(number, name))
            assert cache.get(f"{name}-{number}").reason == name

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(cache.get(f"t{name}-{number}") for name in range(8) for number in range(50))


def test_a_closed_cache_raises_on_every_use(tmp_path):
    cache = JudgeCache(tmp_path / "c.sqlite")
    cache.close()
    cache.close()

    asked = []

    async def ask():
        asked.append(1)
        return Reply(text="x", model="m")

    with pytest.raises(CacheError, match="the cache is closed"):
        cache.put("key", JudgeResult(1.0, ""))
    with pytest.raises(CacheError, match="the cache is closed"):
        cache.get("key")
    with pytest.raises(CacheError, match="the cache is closed"):
        asyncio.run(once(cache.replies, "key", ask))
    assert asked == []


def test_a_cache_deleted_during_use_is_created_again_with_one_warning(tmp_path):
    with JudgeCache(tmp_path / "c.sqlite") as cache:
        cache.put("before", JudgeResult(1.0, ""))
        for file in tmp_path.glob("c.sqlite*"):
            file.unlink()
        with pytest.warns(UserWarning, match="was deleted") as warned:
            cache.put("after", JudgeResult(2.0, ""))
            assert cache.get("after") is not None
            assert cache.get("before") is None
    assert len(warned) == 1


def test_an_entry_that_cannot_be_read_counts_as_missing(cache):
    cache.replies.write(Entry("reply", "key", "", "m", "2026", '{"text": 5}'))

    with pytest.warns(UserWarning, match="entry key cannot be read"):
        assert cache.get_reply("key") is None


def test_a_replay_reads_and_never_writes(tmp_path):
    path = tmp_path / "c.sqlite"
    with JudgeCache(path) as cache:
        cache.put("key", JudgeResult(1.0, "stored"))
    before = path.read_bytes()

    with JudgeCache(path, read_only=True) as replay:
        assert replay.get("key") is not None
        with pytest.raises(CacheError, match="open read-only"):
            replay.put("other", JudgeResult(1.0, ""))

    assert path.read_bytes() == before
    with pytest.raises(CacheError, match="nothing to replay"):
        JudgeCache(tmp_path / "absent.sqlite", read_only=True)


ASK_A_THOUSAND = """
import asyncio, os, sys
from polyjudge import JudgeCache, Reply
from polyjudge.providers.caching import once

async def main(path, log):
    cache = JudgeCache(path)
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def ask(number):
        async def answer():
            os.write(file, f"{number}\\n".encode())
            await asyncio.sleep(0.002)
            return Reply(text=f"answer {number}", model="m")
        reply = await once(cache.replies, f"question-{number}", answer)
        assert reply.text == f"answer {number}"

    places = asyncio.Semaphore(32)
    async def bounded(number):
        async with places:
            await ask(number)
    await asyncio.gather(*(bounded(number) for number in range(1000)))
    cache.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_two_processes_with_the_same_thousand_questions_ask_each_once(tmp_path):
    log = tmp_path / "asked.log"
    command = [sys.executable, "-c", ASK_A_THOUSAND, str(tmp_path / "c.sqlite"), str(log)]

    processes = [subprocess.Popen(command) for _ in range(2)]

    assert [process.wait() for process in processes] == [0, 0]
    asked = log.read_text(encoding="utf-8").split()
    assert len(asked) == 1000
    assert len(set(asked)) == 1000


FORK_AND_USE = """
import os, sys
from polyjudge import JudgeCache, JudgeResult
cache = JudgeCache(sys.argv[1])
cache.put("parent", JudgeResult(1.0, "from the parent"))
child = os.fork()
if child == 0:
    assert cache.get("parent") is not None
    cache.put("child", JudgeResult(2.0, "from the child"))
    cache.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert cache.get("child").reason == "from the child"
cache.put("again", JudgeResult(3.0, ""))
"""


def test_a_forked_child_can_use_its_parents_cache(tmp_path):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK_AND_USE, str(tmp_path / "c.sqlite")]

    assert subprocess.run(command, check=False, timeout=60).returncode == 0


@pytest.mark.slow
def test_the_write_cost_of_an_entry_hardly_grows_up_to_a_hundred_thousand_entries(tmp_path):
    """Measured in bytes written, which does not depend on the load of the machine.

    At the start an entry costs less, because a small file has few pages.
    """
    if not Path("/proc/self/io").exists():
        pytest.skip("this system does not count the bytes that a process writes")
    with JudgeCache(tmp_path / "c.sqlite") as cache:
        costs = [asyncio.run(_put(cache, start, 10_000)) for start in range(0, 100_000, 10_000)]

    assert costs[-1] < 1.5 * costs[5]


async def _put(cache: JudgeCache, start: int, count: int) -> float:
    reply = Reply(text=REPLY * 10, model="m")

    async def ask() -> Reply:
        return reply

    before = _bytes_written()
    for number in range(start, start + count, 500):
        keys = [JudgeCache.hash_key("m", "p", str(each)) for each in range(number, number + 500)]
        await asyncio.gather(*(once(cache.replies, key, ask) for key in keys))
    return (_bytes_written() - before) / count


def _bytes_written() -> int:
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


def test_a_cache_that_was_not_closed_causes_no_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        JudgeCache(tmp_path / "c.sqlite").put("key", JudgeResult(1.0, json.dumps(1)))


def test_a_refreshed_reply_is_not_asked_for_again_after_the_clock_was_set_back(tmp_path):
    since = "2999-01-01T00:00:00.000Z"  # the run started before the clock was corrected

    async def ask():
        return Reply(text="answer", model="m")

    with JudgeCache(tmp_path / "c.sqlite") as cache:
        cache.put_reply("key", Reply(text="old", model="m"))
        assert asyncio.run(once(cache.replies, "key", ask, since=since)).text == "answer"
        assert cache.get_reply("key", since=since) is not None
