"""Time a run against a server that refuses some calls, compared with a bare client that honours Retry-After."""

import asyncio
import os
import random
import sys
import tempfile
import time
from dataclasses import replace

import aiohttp
from tests.loopback.vendor_server import Faults, Server, ServerThread

from polyjudge import Item, Limits, RubricJudge, Run

CASES = {
    "1% of answers ask to wait five seconds": (Faults(rate_limited=0.01, retry_after="5", latency_s=0.05), 16),
    "5% rate limits, 2% server errors": (
        Faults(rate_limited=0.05, server_error=0.02, retry_after="1", latency_s=0.05),
        16,
    ),
    "the same, 64 calls in flight": (
        Faults(rate_limited=0.05, server_error=0.02, retry_after="1", latency_s=0.1),
        64,
    ),
}
ITEMS = [Item(str(number), f"text {number}") for number in range(2000)]


def run() -> None:
    """Print the seconds of both clients and their ratio."""
    for name, (faults, concurrency) in CASES.items():
        with (
            ServerThread(Server(replace(faults), keep_bodies=False)) as server,
            tempfile.TemporaryDirectory() as folder,
        ):
            os.environ["LOCAL_OPENAI_BASE_URL"] = f"{server.url}/v1"
            start = time.perf_counter()
            asyncio.run(_bare(f"{server.url}/v1/chat/completions", concurrency))
            bare = time.perf_counter() - start
            judge, limits = RubricJudge("general", model="local/m"), Limits(concurrency=concurrency)
            start = time.perf_counter()
            Run(ITEMS, judge, output=f"{folder}/r.jsonl", cache=f"{folder}/c.sqlite", limits=limits).execute()
            own = time.perf_counter() - start
        sys.stdout.write(f"{name}: bare client {bare:.1f} s, Run {own:.1f} s, ratio {own / bare:.2f}\n")


async def _bare(url: str, concurrency: int) -> None:
    items = iter(ITEMS)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for item in items:
                body = {"model": "m", "messages": [{"role": "user", "content": f"bare {item.candidate}"}]}
                wait_s = 0.5
                while (named := await _try(session, url, body)) is not None:
                    await asyncio.sleep(float(named) if named else random.uniform(wait_s / 2, wait_s))
                    wait_s *= 2

        await asyncio.gather(*(work() for _ in range(concurrency)))


async def _try(session: aiohttp.ClientSession, url: str, body: dict[str, object]) -> str | None:
    """Return None for an answer, and the server's Retry-After for a refusal."""
    async with session.post(url, json=body) as response:
        await response.read()
        return None if response.status == 200 else response.headers.get("Retry-After", "")
