"""Disks that are full or read-only, from the start or in the middle: one line says so, and what was paid is kept."""

import pytest
from tests.loopback.vendor_server import Faults, Server, ServerThread
from tests.real.disks import in_memory, on_a_device
from tests.real.soaking import IN_FLIGHT, check_refused, check_whole, finished, halted, scoring_on

ITEMS = 500
MIDDLE = 150
PLACES = ("cache", "results", "both")
NO_ROOM = ("the disk is full", "No space left on device")
READ_ONLY = ("Read-only file system", "cannot be written", "cannot be opened", "the disk is full or failing")


@pytest.fixture
def server():
    with ServerThread(Server(Faults(latency_s=0.01), keep_bodies=False)) as running:
        yield running


@pytest.mark.parametrize(("place", "size"), [("cache", "400k"), ("results", "256k"), ("both", "512k")])
def test_a_disk_that_fills_up_stops_the_run_and_with_room_it_goes_on(server, tmp_path, place, size):
    run = scoring_on(tmp_path, server, place, ITEMS)
    with in_memory(tmp_path / "disk", f"size={size}") as disk:
        check_refused(run.run(), NO_ROOM)
        assert 0 < server.delivered.total() < ITEMS

        disk.make_room()
        check_whole(run, run.run(), paid=_paid_where_full(place))


@pytest.mark.parametrize("place", PLACES)
def test_a_disk_that_is_full_at_the_start_costs_nothing_and_is_no_hindrance_later(server, tmp_path, place):
    run = scoring_on(tmp_path, server, place, ITEMS)
    with in_memory(tmp_path / "disk", "size=256k") as disk:
        disk.fill()
        check_refused(run.run(), NO_ROOM)
        assert server.asked == 0

        disk.make_room()
        check_whole(run, run.run(), paid=range(ITEMS, ITEMS + 1))


def test_a_refresh_that_found_the_disk_full_asks_again_when_there_is_room(server, tmp_path):
    run = scoring_on(tmp_path, server, "results", ITEMS)
    with in_memory(tmp_path / "disk", "size=4m") as disk:
        assert run.run().code == 0
        disk.fill()
        check_refused(run.run("--refresh"), NO_ROOM)

        disk.make_room()
        check_whole(run, run.run("--refresh"), paid=range(2 * ITEMS, 2 * ITEMS + 1))


@pytest.mark.parametrize("place", PLACES)
def test_a_read_only_file_system_is_refused_before_the_first_call(server, tmp_path, place):
    run = scoring_on(tmp_path, server, place, ITEMS)
    with in_memory(tmp_path / "disk", "ro"):
        check_refused(run.run(), READ_ONLY)

    assert server.asked == 0


@pytest.mark.parametrize("place", ["cache", "results"])
def test_a_file_system_that_turns_read_only_stops_the_run_and_what_was_kept_is_kept(server, tmp_path, place):
    run = scoring_on(tmp_path, server, place, ITEMS)
    with on_a_device(tmp_path / "disk", tmp_path / "image") as disk:
        with halted(run, MIDDLE) as process:
            disk.turn_read_only()
        check_refused(finished(process), READ_ONLY)
    with on_a_device(tmp_path / "disk", tmp_path / "image"):
        check_whole(run, run.run(), paid=_paid_where_full(place))


def _paid_where_full(place: str) -> range:
    """How many answers are paid for in all: where there is room for the cache, what is in flight is not lost either."""
    return range(ITEMS, ITEMS + (1 if place == "results" else IN_FLIGHT + 1))
