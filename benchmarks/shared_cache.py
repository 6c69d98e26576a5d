"""What one PostgreSQL serves as the shared cache: judgements a second, CPU for each, and calls in flight.

Each process asks for replies that are not there yet, as the workers of a run do: it looks for the reply, claims the
question, looks again, waits as long as a model would, stores the reply and gives the claim back. The server
runs on this machine, and waits for its disk. Rates are those of all on the same cores; the
CPU of the server for a judgement is what can be carried over to another machine.
"""

import asyncio
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.real.postgres import Postgres

from polyjudge.cache.postgres import PostgresCache
from polyjudge.errors import PolyjudgeError
from polyjudge.providers.caching import once
from polyjudge.records.requests import Reply

JUDGEMENTS = int(os.environ.get("POLYJUDGE_ROWS", "8000"))
"""Of all processes together."""
PROCESSES = (1, 2, 4, 8)
AT_ONCE = 64
LATENCY_S = 0.05
SETTINGS = (
    ({}, 50, 46),
    ({}, 51, 46),
    ({"max_connections": "250"}, 50, 232),
    ({"max_connections": "110"}, 50, 232),
    ({"max_connections": "110"}, 50, 400),
    ({"max_connections": "110"}, 50, 800),
    ({"max_connections": "110", "max_locks_per_transaction": "512"}, 50, 800),
)
"""Settings of the server, nodes, and calls in flight of each: 2,300 and 11,600 in all are calls of 2 and 10 seconds."""
A_DAY = 100_000_000
SECONDS = 86_400
FALLBACK = Path(tempfile.gettempdir()) / "polyjudge-replies-without-a-server.sqlite"
REPLY = Reply(text='{"score": 80, "reason": "' + "good " * 60 + '"}', model="m")


class Load(NamedTuple):
    """What one process does."""

    url: str
    name: str
    judgements: int
    at_once: int
    latency_s: float


def run() -> None:
    try:
        server = Postgres()
    except pytest.skip.Exception as error:
        print(f"shared_cache: skipped, {error}")
        return
    try:
        server.start(fsync="on", max_connections="120")
        _rates(server)
        _in_flight(server)
    finally:
        server.remove()


def _rates(server: Postgres) -> None:
    print(f"shared cache: {JUDGEMENTS:,} new replies, {AT_ONCE} in flight a process, {LATENCY_S * 1000:.0f} ms a call")
    for processes in PROCESSES:
        url, before = server.new_database(), _server_cpu_s(server)
        loads = [Load(url, f"p{n}", JUDGEMENTS // processes, AT_ONCE, LATENCY_S) for n in range(processes)]
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            found = pool.map(_judge, loads)
        wall = max(end for *_, end in found) - min(start for _, _, start, _ in found)
        served = (_server_cpu_s(server) - before) / JUDGEMENTS * 1e6
        client = sum(cpu for cpu, *_ in found) / JUDGEMENTS * 1e6
        cores = A_DAY / SECONDS * served / 1e6
        each = f"CPU of each: server {served:4.0f} µs, clients {client:4.0f} µs"
        rate = f"{processes} processes: {JUDGEMENTS / wall:6,.0f} judgements a second"
        print(f"  {rate}; {each}; {A_DAY:,} a day take {cores:.2f} cores of the server", flush=True)


def _in_flight(server: Postgres) -> None:
    print("calls in flight of all nodes, each with its own connections, on a server with its usual settings otherwise")
    for settings, nodes, each in SETTINGS:
        server.restart(fsync="on", **{"max_connections": "100", **settings})
        named = ", ".join(f"{name} {value}" for name, value in settings.items()) or "as installed"
        print(
            f"  {named}; {nodes} x {each} = {nodes * each:,}: {_held(server.new_database(), nodes, each)}", flush=True
        )


def _held(url: str, nodes: int, each: int) -> str:
    """Claim as many questions at once as the nodes would, each over its own connections; return what happened."""

    async def claimed() -> str:
        caches = [PostgresCache(url, fallback=FALLBACK, outage_timeout_s=5) for _ in range(nodes)]
        held = asyncio.Barrier(each * nodes)

        async def ask() -> Reply:
            await held.wait()
            return REPLY

        async def one(cache: PostgresCache, number: int) -> None:
            await once(cache, f"{number:064x}", ask)

        tasks = [
            asyncio.create_task(one(cache, place * 10_000 + number))
            for place, cache in enumerate(caches)
            for number in range(each)
        ]
        try:
            async with asyncio.timeout(120):
                await asyncio.gather(*tasks)
            return "all were held at once"
        except (PolyjudgeError, TimeoutError) as error:
            return f"{type(error).__name__}: {error}"
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*(cache.aclose() for cache in caches), return_exceptions=True)

    return asyncio.run(claimed())


def _judge(load: Load) -> tuple[float, int, float, float]:
    """Make judgements; return the CPU, how many there were, and when they began and ended."""
    started, cpu = time.time(), time.process_time()
    asyncio.run(_judged(load))
    return time.process_time() - cpu, load.judgements, started, time.time()


async def _judged(load: Load) -> None:
    cache = PostgresCache(load.url, fallback=FALLBACK)
    numbers = iter(range(load.judgements))

    async def ask() -> Reply:
        await asyncio.sleep(load.latency_s)
        return REPLY

    async def work() -> None:
        for number in numbers:
            await once(cache, f"{load.name}-{number:060x}", ask)

    await asyncio.gather(*(work() for _ in range(load.at_once)))
    await cache.aclose()


def _server_cpu_s(server: Postgres) -> float:
    """Return the CPU of the server with its processes, those that have ended included."""
    tick = os.sysconf("SC_CLK_TCK")
    return sum(map(sum, _times(server.pid))) / tick


def _times(pid: int) -> Iterator[list[int]]:
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            fields = each.read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(each.parent.name) == pid:
                yield [int(time) for time in fields[11:15]]
            elif int(fields[1]) == pid:
                yield [int(time) for time in fields[11:13]]
