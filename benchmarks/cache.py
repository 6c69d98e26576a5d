"""The cost of storing a reply, at the start and the end of a hundred thousand, and of finding one."""

import asyncio
import tempfile
import time
from pathlib import Path

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.providers.caching import once
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.requests import Reply

ENTRIES, STEP, AT_ONCE = 100_000, 10_000, 64
REPLY = Reply(text='{"score": 80, "reason": "' + "good " * 60 + '"}', model="m")


def run() -> None:
    print(f"cache: {ENTRIES:,} replies kept durably, {AT_ONCE} calls in flight")
    with tempfile.TemporaryDirectory() as folder:
        with JudgeCache(Path(folder) / "cache.sqlite") as cache:
            costs = [asyncio.run(_keep(cache, start)) for start in range(0, ENTRIES, STEP)]
            print(f"  first {STEP:,}: {costs[0]:6.1f} us each; last {STEP:,}: {costs[-1]:6.1f} us each")
            print(f"  last / first: {costs[-1] / costs[0]:.2f}; worst tenth / first: {max(costs) / costs[0]:.2f}")
            print(f"  found again: {_find(cache):6.1f} us each")
        with JudgeCache(Path(folder) / "single.sqlite") as cache:
            print(f"  one at a time, each with its own wait for the disk: {_put_singly(cache):6.1f} us each")


async def _keep(cache: JudgeCache, start: int) -> float:
    async def ask() -> Reply:
        return REPLY

    places = asyncio.Semaphore(AT_ONCE)

    async def keep(number: int) -> None:
        async with places:
            await once(cache.replies, _key(number), ask)

    started = time.perf_counter()
    await asyncio.gather(*(keep(number) for number in range(start, start + STEP)))
    return (time.perf_counter() - started) / STEP * 1e6


def _find(cache: JudgeCache) -> float:
    started = time.perf_counter()
    for number in range(0, ENTRIES, 10):
        assert cache.get_reply(_key(number)) is not None
    return (time.perf_counter() - started) / (ENTRIES // 10) * 1e6


def _put_singly(cache: JudgeCache, count: int = 2_000) -> float:
    started = time.perf_counter()
    for number in range(count):
        cache.put(_key(number), JudgeResult(1.0, "good"))
    return (time.perf_counter() - started) / count * 1e6


def _key(number: int) -> str:
    return JudgeCache.hash_key("m", "p", str(number))
