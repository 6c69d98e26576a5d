"""An hour of trouble in a minute: every run ends in a stated way, every item has its row, nothing paid for is lost."""

import random
import signal
import time
from collections import Counter

import pytest
from tests.loopback.vendor_server import Faults, Server, ServerThread
from tests.loopback.weather import Weather, spells, timetable
from tests.real.soaking import IN_FLIGHT, Scoring, finished, halted, write_items

TIMEOUT_S = 1.0
ITEMS = 600
NO_ANSWER = {"transient", "provider_error"}


@pytest.fixture
def server():
    with ServerThread(Server(keep_bodies=False)) as running:
        yield running


@pytest.fixture
def scoring(tmp_path):
    """What makes the command for a server."""

    def make(server, *options, items=ITEMS):
        write_items(tmp_path, items)
        for name in ("results", "cache"):
            (tmp_path / name).mkdir(exist_ok=True)
        options = ("--timeout", str(TIMEOUT_S), *options)
        return Scoring(server, tmp_path, tmp_path / "results/r.jsonl", tmp_path / "cache/c.sqlite", options)

    return make


def test_an_hour_of_weather_leaves_each_item_judged_or_with_its_reason_and_nothing_paid_is_lost(scoring):
    hour = timetable(7, timeout_s=TIMEOUT_S)
    with Weather(Server(Faults(garbage=0.02), keep_bodies=False), hour, minute_s=0.2) as weather:
        run, server = scoring(weather.server, "--concurrency", "64", items=2400), weather.server
        ended = run.run()
        assert {spell.name for spell in spells(random.Random(), timeout_s=1)} <= set(weather.had)
        weather.clear()
        rows, kept, made = run.rows(), run.kept(), server.delivered + server.lost

        _check_that_every_item_has_its_row(rows, ended)
        assert ended.summary["spent"]["rate_limited"] > 0 < ended.summary["spent"]["lost_calls"]
        # Each answer that was made is kept, or the client knows that its call broke off.
        assert made.total() <= len(kept) + ended.summary["spent"]["lost_calls"]
        assert [row for row in rows if server.asked_for[_prompt(row)] > row["provenance"]["attempts"]] == []

        server.asked_for.clear()
        assert run.run("--reread").code == 0
        assert _answers(run.rows()) == _answers(rows)
        assert server.asked_for == Counter()

        assert run.run("--timeout", "30").code == 0
        assert set(server.asked_for) == {_prompt(row) for row in rows if row.get("kind") in NO_ANSWER}
        assert set(server.asked_for.values()) <= {1}
        assert run.leftovers() == []


def test_signals_at_any_time_of_an_hour_cost_no_more_than_what_is_in_flight(scoring):
    chance = random.Random(11)
    signals = chance.sample([signal.SIGKILL] * 5 + [signal.SIGTERM, signal.SIGINT, signal.SIGINT], 8)
    hour = timetable(11, timeout_s=TIMEOUT_S, wasteful=False)
    with Weather(Server(keep_bodies=False), hour, minute_s=0.2) as weather:
        run, server = scoring(weather.server, "--timeout", "3"), weather.server
        ways = [_signalled(run, chance.randrange(1, 60), number) for number in signals]
        weather.clear()
        ended = run.run()

    assert ways == [-number if number == signal.SIGKILL else 130 for number in signals]
    _check_that_every_item_has_its_row(run.rows(), ended)
    assert server.delivered.total() <= ITEMS + len(signals) * IN_FLIGHT
    assert run.leftovers() == []


def _signalled(run, answers, number):
    """Return how a run ended that was sent a signal after so many answers."""
    with halted(run, answers) as process:
        process.send_signal(number)
    ended = finished(process)
    if ended.code == 3:  # the server was gone when this one began, so it asked whether there is any
        assert "no answer from" in ended.err
        return _signalled(run, answers, number)
    return ended.code


def test_half_open_connections_end_each_item_by_its_time_outs(scoring, server):
    server.faults.half_open = 1.0
    run = scoring(server, "--timeout", "0.3", items=IN_FLIGHT)
    ended = run.run()

    assert (ended.code, len(ended.error_lines)) == (3, 1)
    assert {row["kind"] for row in run.rows()} == {"transient"}
    assert {row["provenance"]["attempts"] for row in run.rows()} == {5}
    assert all("took too long" in row["reason"] for row in run.rows())
    assert server.asked <= 5 * IN_FLIGHT


def test_half_open_connections_do_not_outlast_the_deadline(scoring, server):
    run = scoring(server, "--timeout", "300", "--deadline", "3", items=200)
    server.faults.half_open = 0.3
    started = time.monotonic()
    ended = run.run()

    assert time.monotonic() - started < 30
    assert ended.code == 3
    assert "the deadline" in ended.error_lines[0]
    server.faults.half_open = 0.0
    assert run.run().code == 0
    # What was answered before is not asked again.
    assert server.delivered.total() <= 200 + IN_FLIGHT
    assert run.leftovers() == []


def _check_that_every_item_has_its_row(rows, ended):
    assert [row["id"] for row in rows] == [f"i{number}" for number in range(ended.summary["items"])]
    unjudged = [row for row in rows if row["outcome"] == "failure"]
    assert all(row["reason"] and row["kind"] in {*NO_ANSWER, "unreadable"} for row in unjudged)
    assert all(row["score"] == int(row["id"][1:]) % 101 for row in rows if row["outcome"] == "result")
    assert all(row["durationMs"] >= 0 for row in rows if row["outcome"] == "result")
    assert ended.code == (0 if len(unjudged) <= 0.2 * len(rows) else 3)
    assert len(ended.error_lines) == (ended.code != 0)


def _prompt(row):
    return row["provenance"]["promptSha256"]


def _answers(rows):
    """What was said of each item of which anything was."""
    return [
        (row["id"], row["outcome"], row["raw"]) for row in rows if row.get("kind") not in {*NO_ANSWER, "not_recorded"}
    ]
