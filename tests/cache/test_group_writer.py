"""Entries written in one iteration of a loop are committed together, also at the end of the loop."""

import asyncio
import sqlite3
from contextlib import closing

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.providers.caching import once
from polyjudge.records.requests import Reply


async def answer():
    return Reply(text="yes", model="m")


def count_entries(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM entries").fetchone()[0]


def test_more_entries_than_fit_into_one_statement_are_stored(tmp_path):
    async def run():
        with JudgeCache(path) as cache:
            await asyncio.gather(*(once(cache.replies, f"{number:064x}", answer) for number in range(6_000)))

    path = tmp_path / "c.sqlite"
    asyncio.run(run())

    assert count_entries(path) == 6_000


def test_closing_stores_replies_of_the_last_loop_iteration(tmp_path):
    async def run(cache):
        waiting = [asyncio.ensure_future(once(cache.replies, f"{number:064x}", answer)) for number in range(20)]
        await asyncio.sleep(0)  # all have their answer, and none was written yet
        cache.close()
        await asyncio.gather(*waiting)

    path = tmp_path / "c.sqlite"
    asyncio.run(run(JudgeCache(path)))

    assert count_entries(path) == 20


def test_two_loops_in_two_threads_share_a_writer(tmp_path):
    async def run(first):
        replies = await asyncio.gather(
            *(once(cache.replies, f"{number:064x}", answer) for number in range(first, first + 300))
        )
        return [reply.text for reply in replies]

    async def both():
        return await asyncio.gather(*(asyncio.to_thread(asyncio.run, run(first)) for first in (0, 1_000)))

    path = tmp_path / "c.sqlite"
    with JudgeCache(path) as cache:
        assert asyncio.run(both()) == [["yes"] * 300] * 2

    assert count_entries(path) == 600
