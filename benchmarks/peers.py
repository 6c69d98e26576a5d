"""The cost of a judged item in other frameworks, polyjudge and bare clients, on one server in one run.

Each framework judges the same items in its plain way, 64 at once, cache and telemetry off (`peer_scripts`). It is
installed under `.venv/peers` the first time: some 2 GB, most of them promptfoo's.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from benchmarks.measuring import AT_ONCE, Cost, FailedRun, Server, bare_cost, score_cost, write_items
from benchmarks.peer_table import PEERS, Peer, install, peer_cost
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import render_prompt

ITEMS = 2_000
ROUNDS = 2
STARTS = 3
LATENCY_S = 0.05
LIMIT_S = 900
LONG_S = 20
"""Runs that take longer are measured once."""
SERVER = "benchmarks.peer_server"


@dataclass(frozen=True, slots=True)
class Work:
    """The items, the judge and the server."""

    items: Path
    prompt: Path
    url: str
    folder: Path
    cached: bool = False
    limit_s: float = LIMIT_S


@dataclass(slots=True)
class Way:
    """One way to judge items, and its measurements."""

    name: str
    cost: Callable[[Work], Cost]
    cached_items: int = 0
    first: Cost | None = None
    many: Cost | None = None
    slow: Cost | None = None
    again: Cost | None = None
    most_in_flight: int = 0
    trouble: str = ""


@dataclass(slots=True)
class Bench:
    """Items, prompt and the scratch folders of one run."""

    folder: Path
    prompt: Path = field(init=False)

    def __post_init__(self) -> None:
        self.prompt = self.folder / "prompt.json"
        self.prompt.write_text(json.dumps(_prompt()), encoding="utf-8")

    def work(self, way: Way, count: int, url: str, *, cached: bool = False, limit_s: float = LIMIT_S) -> Work:
        items = self.folder / f"items-{count}.jsonl"
        own = self.folder / "".join(letter if letter.isalnum() else "-" for letter in way.name)
        own.mkdir(exist_ok=True)
        if not items.exists():
            write_items(self.folder, count)
        return Work(items, self.prompt, url, own, cached, limit_s)


def run() -> None:
    print(f"peers: {ITEMS:,} items, {AT_ONCE} in flight; least of {ROUNDS} runs, of {STARTS} for the first item")
    with tempfile.TemporaryDirectory() as name:
        bench, ways = Bench(Path(name)), all_ways()
        with Server(0.0, SERVER) as url:
            _each(ways, "the first item", lambda way: _start(bench, way, url))
            for number in range(ROUNDS):
                _each(ways, f"all items, round {number + 1}", lambda way: _many(bench, way, url))
            _each(ways, "again, from its cache", lambda way: _again(bench, way, url))
        with Server(LATENCY_S, SERVER) as url:
            for number in range(ROUNDS):
                title = f"all items at {LATENCY_S * 1000:.0f} ms, round {number + 1}"
                _each(ways, title, lambda way: _slow(bench, way, url))
    _show(ways)


def _each(ways: list[Way], title: str, measure: Callable[[Way], Cost | None]) -> None:
    print(title)
    for way in ways:
        _measured(way, measure)


def all_ways() -> list[Way]:
    """Return the bare clients, polyjudge's providers, and the frameworks, installed; or why one is not."""
    pairs = [("aiohttp", "local/m"), ("openai", "openai/gpt-5")]
    pairs += [("anthropic", "anthropic/claude-sonnet-4-6"), ("google", "google/gemini-2.5-pro")]
    ways = [way for bare, judge in pairs for way in (_bare_way(bare), _our_way(judge))]
    for peer in PEERS:
        way = _peer_way(peer)
        _measured(way, lambda _, peer=peer: install(peer))
        ways.append(way)
    return ways


def _bare_way(client: str) -> Way:
    return Way(f"bare {client}", lambda work: bare_cost(client, work.items, work.url))


def _our_way(judge: str) -> Way:
    def cost(work: Work) -> Cost:
        return score_cost(work.folder, judge, work.items, work.url, cache="kept.sqlite" if work.cached else "")

    return Way(f"polyjudge {judge.split('/')[0]}", cost, cached_items=ITEMS)


def _peer_way(peer: Peer) -> Way:
    def cost(work: Work) -> Cost:
        given = [str(work.items), str(work.prompt), work.url, *(["cached"] if work.cached else [])]
        return peer_cost(peer, given, work.folder, work.limit_s)

    return Way(peer.title, cost, peer.cached_items)


def _measured(way: Way, measure: Callable[[Way], Cost | None]) -> None:
    if way.trouble:
        return
    try:
        cost = measure(way)
    except FailedRun as error:
        way.trouble = str(error)
        print(f"  {way.name}: {way.trouble}", flush=True)
        return
    if cost:
        cpu, wall, memory = cost
        print(f"  {way.name:34} {cpu:6.2f} s CPU, {wall:6.2f} s, {memory:4.0f} MB", flush=True)


def _start(bench: Bench, way: Way, url: str) -> Cost:
    way.first = min(way.cost(bench.work(way, 1, url)) for _ in range(STARTS))
    return way.first


def _many(bench: Bench, way: Way, url: str) -> Cost | None:
    if way.many and way.many.wall_s > LONG_S:
        return None
    asked_of(url)
    cost = way.cost(bench.work(way, ITEMS, url))
    way.many = min(cost, way.many or cost)
    asked, _ = asked_of(url)
    if asked != ITEMS:
        raise FailedRun(f"asked {asked:,} times about {ITEMS:,} items")
    return cost


def _again(bench: Bench, way: Way, url: str) -> Cost | None:
    if not way.cached_items:
        return None
    work = bench.work(way, way.cached_items, url, cached=True)
    way.cost(work)
    asked_of(url)
    way.again = way.cost(work)
    asked, _ = asked_of(url)
    if asked:
        raise FailedRun(f"asked {asked:,} times about items that it had asked about before")
    return way.again


def _slow(bench: Bench, way: Way, url: str) -> Cost | None:
    if way.slow and way.slow.wall_s > LONG_S:
        return None
    asked_of(url)
    cost = way.cost(bench.work(way, ITEMS, url))
    way.slow = min(cost, way.slow or cost, key=lambda one: one.wall_s)
    _, most = asked_of(url)
    way.most_in_flight = max(most, way.most_in_flight)
    return cost


def asked_of(url: str) -> tuple[int, int]:
    """Return the number of requests since the last call, and the maximum number in flight."""
    with urlopen(f"{url}/counts") as reply:
        counts = json.load(reply)
    return counts["asked"], counts["most_in_flight"]


def _prompt() -> dict[str, object]:
    rubric = load_rubric("general")
    text = render_prompt(rubric, "«candidate»", {"source": "«source»"})
    return {"text": text, "criteria": [f"{one.name}: {one.description}" for one in rubric.criteria]}


def _show(ways: list[Way]) -> None:
    ideal = ITEMS * LATENCY_S / AT_ONCE
    titles = [f"{ITEMS:,} items", "first item, CPU s", "CPU s per 1,000, start-up included", "beside bare aiohttp"]
    titles += ["each further 1,000", "memory", f"time at {LATENCY_S * 1000:.0f} ms, ideal {ideal:.1f} s"]
    titles += ["beside the ideal", "in flight", "each further 1,000 from its cache"]
    print(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|")
    for way in ways:
        print(f"| {way.name} | {_cells(way, ideal, ways[0].many)} |")


def _cells(way: Way, ideal: float, base: Cost | None) -> str:
    if way.trouble or not (way.first and way.many and way.slow and base):
        return f"did not run: {way.trouble}"
    cells = [f"{way.first.cpu_s:.2f}", f"{way.many.cpu_s / ITEMS * 1000:.2f}", f"{way.many.cpu_s / base.cpu_s:.1f}"]
    cells += [_further(way.many, way.first, ITEMS), f"{way.many.memory_mb:.0f} MB", f"{way.slow.wall_s:.1f} s"]
    cells += [f"{way.slow.wall_s / ideal:.1f}", str(way.most_in_flight)]
    return " | ".join([*cells, _further(way.again, way.first, way.cached_items) if way.again else "–"])


def _further(cost: Cost, first: Cost, count: int) -> str:
    return f"{(cost.cpu_s - first.cpu_s) / (count - 1) * 1000:.2f}"
