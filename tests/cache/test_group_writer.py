"""What tasks write in one round of their loop is committed together, and nothing of it is lost at the end."""

import asyncio
import sqlite3
from contextlib import closing

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.providers.caching import once
from polyjudge.records.requests import Reply


async def answer():
    return Reply(text="yes", model="m")


def kept_in(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM entries").fetchone()[0]


def test_more_at_once_than_one_statement_can_hold(tmp_path):
    async def play():
        with JudgeCache(path) as cache:
            await asyncio.gather(*(once(cache.replies, f"{number:064x}", answer) for number in range(6_000)))

    path = tmp_path / "c.sqlite"
    asyncio.run(play())

    assert kept_in(path) == 6_000


def test_what_was_answered_in_the_last_round_of_a_loop_is_kept_by_closing(tmp_path):
    async def play(cache):
        waiting = [asyncio.ensure_future(once(cache.replies, f"{number:064x}", answer)) for number in range(20)]
        await asyncio.sleep(0)  # all have their answer, and none was handed over yet
        cache.close()
        await asyncio.gather(*waiting)

    path = tmp_path / "c.sqlite"
    asyncio.run(play(JudgeCache(path)))

    assert kept_in(path) == 20


def test_two_loops_in_two_threads_use_one_writer(tmp_path):
    async def play(first):
        replies = await asyncio.gather(
            *(once(cache.replies, f"{number:064x}", answer) for number in range(first, first + 300))
        )
        return [reply.text for reply in replies]

    async def both():
        return await asyncio.gather(*(asyncio.to_thread(asyncio.run, play(first)) for first in (0, 1_000)))

    path = tmp_path / "c.sqlite"
    with JudgeCache(path) as cache:
        assert asyncio.run(both()) == [["yes"] * 300] * 2

    assert kept_in(path) == 600
