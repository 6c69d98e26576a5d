"""What the soak is made of: `polyjudge score` as a process of its own, and what it left behind."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.loopback.vendor_server import Server

from polyjudge.cache.maintenance import export_entries, verify

IN_FLIGHT = 16
TIMEOUT_S = 120.0
"""When a test gives up waiting; nothing that works takes nearly as long."""


@dataclass(frozen=True)
class Finished:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def error_lines(self) -> list[str]:
        """What it said on stderr, but for how far it was."""
        return [line for line in self.err.splitlines() if " done, " not in line and " resuming: " not in line]


@dataclass(frozen=True)
class Scoring:
    """One command, over the items of a folder, that can be run again and again."""

    server: Server
    folder: Path
    output: Path
    cache: Path
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ("-m", "polyjudge")

    def start(self, *more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, *self.program, "score", str(self.folder / "items.jsonl"), "--rubric", "general"]
        where = ["--output", str(self.output), "--cache", str(self.cache), "--format", "json"]
        asked = ["--judge", "local/m", "--concurrency", str(IN_FLIGHT), *self.options, *more]
        environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{self.server.url}/v1", **self.environment}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*command, *where, *asked], env=environment, cwd=self.folder, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, *more: str) -> Finished:
        return finished(self.start(*more))

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.output.read_text(encoding="utf-8").splitlines()]

    def kept(self) -> set[str]:
        """The keys of what the cache holds; every entry is sound."""
        assert verify(self.cache).problems == ()
        return {entry["key"] for entry in export_entries(self.cache)}

    def leftovers(self) -> list[str]:
        """Files beside the results and the cache that should be gone when a run is whole."""
        wanted = {self.output.name, "items.jsonl", *(f"{self.cache.name}{end}" for end in ("", "-claims"))}
        return sorted({file.name for at in (self.output, self.cache) for file in at.parent.iterdir()} - wanted)


def write_items(folder: Path, count: int) -> None:
    rows = ({"id": f"i{number}", "candidate": f"item-{number} ", "language": "th"} for number in range(count))
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def scoring_on(folder: Path, server: Server, place: str, items: int) -> Scoring:
    """Return the command whose `cache` or `results` lie in the folder `disk`, or `both`, or none of them."""
    write_items(folder, items)
    for name in ("disk", "cache", "results"):
        (folder / name).mkdir(exist_ok=True)
    output, cache = (folder / ("disk" if place in (name, "both") else name) for name in ("results", "cache"))
    return Scoring(server, folder, output / "r.jsonl", cache / "c.sqlite")


def check_refused(ended: Finished, reasons: Iterable[str]) -> None:
    """See that a run ended with one line that names the trouble."""
    assert ended.code == 2, ended
    [line] = ended.error_lines
    assert line.startswith("polyjudge: ")
    assert any(reason in line for reason in reasons), line
    assert ended.out == ""


def check_whole(run: Scoring, ended: Finished, *, paid: range) -> None:
    """See that all is done in the end, nothing is left lying about, and so much was paid for it."""
    items = ended.summary["items"]
    assert (ended.code, ended.error_lines) == (0, [])
    assert [(row["id"], row["outcome"]) for row in run.rows()] == [(f"i{number}", "result") for number in range(items)]
    assert run.leftovers() == []
    assert len(run.kept()) == items
    assert run.server.delivered.total() in paid, run.server.delivered.total()


def finished(process: "subprocess.Popen[str]") -> Finished:
    """Wait for a run, and see that whatever it says is no traceback and no leak."""
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"the run does not end; it said {out}{err}") from None
    for sign in ("Traceback", "Unclosed", "never retrieved", "never awaited", "was destroyed", "Exception ignored"):
        assert sign not in out + err, err
    return Finished(process.returncode, out, err)


@contextmanager
def held_back(server: Server, wanted: Callable[[dict[str, Any]], bool]) -> Generator[None]:
    """Hold answers to some questions back inside a block, until the test lets them be sent.

    What is wanted is asked of the body of each question, again until it is answered.
    """
    usual, inside = server._trouble, True

    async def trouble(request: Any, body: dict[str, Any], model: str) -> Any:
        message = await usual(request, body, model)
        while inside and wanted(body):  # noqa: ASYNC110 - the other side is a thread
            await asyncio.sleep(0.01)
        return message

    server._trouble = trouble
    try:
        yield
    finally:
        inside, server._trouble = False, usual


@contextmanager
def halted(run: Scoring, answers: int, *options: str) -> Generator["subprocess.Popen[str]"]:
    """Give a run that has got exactly so many more answers; it gets no other before the block ends."""
    server = run.server
    until = server.delivered.total() + answers
    with held_back(server, lambda _: server.delivered.total() >= until):
        process = run.start(*options)
        wait_until(lambda: server.delivered.total() >= until, process)
        yield process


def wait_until(holds: Callable[[], bool], process: "subprocess.Popen[str] | None" = None) -> None:
    """Wait for something that comes soon, at the latest when the process ends."""
    end = time.monotonic() + TIMEOUT_S
    while not holds() and (process is None or process.poll() is None):
        assert time.monotonic() < end, "what was waited for does not come"
        time.sleep(0.002)
