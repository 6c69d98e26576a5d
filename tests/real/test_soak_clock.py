"""A clock that is set during a run: an hour back, a day ahead. Only the wall clock jumps, as in life."""

import json
from pathlib import Path

import pytest
from tests.loopback.vendor_server import Faults, Server, ServerThread
from tests.loopback.weather import http_date
from tests.real.soaking import IN_FLIGHT, Scoring, finished, held_back, wait_until, write_items

ITEMS = 400
JUMPS = ("-1h", "+1d", "-1d", "+0")


class Clock:
    """The wall clock of processes that are started with its environment."""

    def __init__(self, folder: Path, library: Path) -> None:
        self._file = folder / "clock"
        self.set("+0")
        self.environment = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # else threads wait for each other much too long
        }

    def set(self, offset: str) -> None:
        """Set it so far off."""
        new = self._file.with_suffix(".new")
        new.write_text(offset, encoding="ascii")
        new.replace(self._file)  # never seen half written


@pytest.fixture
def clock(tmp_path):
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        pytest.skip("needs libfaketime: apt-get install faketime")
    (tmp_path / "clock").mkdir()
    return Clock(tmp_path / "clock", found[0])


@pytest.fixture
def server():
    with ServerThread(Server(Faults(latency_s=0.02), keep_bodies=False)) as running:
        yield running


@pytest.fixture
def command(server, clock, tmp_path):
    write_items(tmp_path, ITEMS)
    for name in ("results", "cache"):
        (tmp_path / name).mkdir()
    output, cache = tmp_path / "results/r.jsonl", tmp_path / "cache/c.sqlite"
    return Scoring(server, tmp_path, output, cache, ("--timeout", "30"), clock.environment)


def test_jumps_in_the_middle_of_a_storm_stretch_no_wait_and_cost_nothing(command, server, clock):
    process, after = command.start(), 0
    for jump in JUMPS:
        after += ITEMS // (len(JUMPS) + 1)
        wait_until(lambda after=after: server.delivered.total() >= after, process)
        clock.set(jump)
        started = server.limited
        server.faults = Faults(latency_s=0.02, rate_limited=1.0, retry_after=http_date(1.0))
        wait_until(lambda started=started: server.limited >= started + 2, process)
        server.faults = Faults(latency_s=0.02)
    ended = finished(process)

    assert (ended.code, ended.error_lines) == (0, [])
    assert ended.summary["judged"] == ITEMS
    assert set(server.delivered.values()) == {1}
    assert all(0 <= row["durationMs"] < 30_000 for row in command.rows())
    days = {row["provenance"]["answeredAt"][:10] for row in command.rows()}
    assert len(days) >= 3, "the clock was not set at all"
    assert command.leftovers() == []


def test_a_refresh_that_is_resumed_after_the_clock_went_back_asks_nothing_twice(command, server, clock):
    assert command.run().code == 0
    server.delivered.clear()

    # Each time one item is held up, so that the replies about those behind it are in the cache alone.
    _kill_while_held_up(command, server, "item-0 ", until=7 * IN_FLIGHT)
    clock.set("-1h")
    _kill_while_held_up(command, server, "item-150 ", until=14 * IN_FLIGHT)
    ended = command.run("--refresh")

    assert (ended.code, ended.error_lines) == (0, [])
    assert ended.summary["judged"] == len(server.delivered) == ITEMS
    assert server.delivered.total() <= ITEMS + 2 * IN_FLIGHT
    assert command.leftovers() == []


def _kill_while_held_up(command, server, piece, *, until):
    """Kill a run when so many answers were delivered."""
    with held_back(server, lambda body: piece in json.dumps(body)):
        process = command.start("--refresh")
        wait_until(lambda: server.delivered.total() >= until, process)
        process.kill()
        finished(process)
