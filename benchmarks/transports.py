"""The bare SDKs over each transport that they officially take, in turns; needs the extras of the three providers."""

import tempfile
from pathlib import Path

from benchmarks.bare_clients import CLIENTS
from benchmarks.measuring import Server, bare_cost, show, write_items

ITEMS = 2_000
ROUNDS = 5


def run() -> None:
    print(f"transports: {ITEMS:,} items, 64 in flight, a server without latency; CPU with start-up, least of {ROUNDS}")
    with tempfile.TemporaryDirectory() as name, Server() as url:
        many, one = (write_items(Path(name), count) for count in (ITEMS, 1))
        rounds = [{client: bare_cost(client, many, url) for client in CLIENTS} for _ in range(ROUNDS)]
        for client in CLIENTS:
            first = bare_cost(client, one, url)
            show(f"{client}, one item", first, 1)
            show(client, min(each[client] for each in rounds), ITEMS, beside=min(each["aiohttp"] for each in rounds))
