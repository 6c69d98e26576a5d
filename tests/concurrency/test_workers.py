"""Work spread over processes."""

import os
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path

import pytest
from tests.concurrency.chunk_work import (
    failing,
    killed_always,
    killed_once,
    of_which_process,
    times,
    warning,
)

from polyjudge.concurrency.workers import Workers, _quota, _quota_files, usable_cores
from polyjudge.errors import ConfigError, DataError


def in_chunks(items, size):
    return [items[start : start + size] for start in range(0, len(items), size)]


def done(prepare, setup, chunks, *, jobs, few=0):
    with Workers(prepare, setup, size=len, jobs=jobs, few=few) as workers:
        return list(workers.map(chunks))


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Workers import from where this process does, so that they find the functions of this file."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))


def test_results_come_in_the_order_of_the_chunks_with_any_number_of_processes():
    chunks = in_chunks(list(range(40)), 3)
    expected = [[7 * each for each in chunk] for chunk in chunks]

    for jobs in (1, 2, 3):
        assert done(times, 7, chunks, jobs=jobs) == expected


def test_the_first_items_are_done_here_and_the_others_by_other_processes():
    found = list(chain(*done(of_which_process, None, in_chunks(list(range(8)), 2), jobs=2, few=4)))

    assert found[:4] == [os.getpid()] * 4
    assert os.getpid() not in found[4:]


def test_with_one_job_no_process_is_started():
    assert done(of_which_process, None, [[1], [2]], jobs=1) == [[os.getpid()]] * 2


def test_chunks_are_taken_as_they_are_needed():
    taken = []

    def endless():
        while True:
            taken.append(len(taken))
            yield [len(taken)]

    with Workers(times, 1, size=len, jobs=2, few=0) as workers:
        results = workers.map(endless())
        assert [next(results) for _ in range(5)] == [[1], [2], [3], [4], [5]]
        assert len(taken) <= 5 + 2 * 24 + 1


def test_an_error_is_the_one_that_was_raised_with_its_place():
    with pytest.raises(DataError) as found:
        done(failing, ("data", 5), in_chunks(list(range(9)), 2), jobs=2)
    assert (str(found.value), found.value.line) == ("texts.csv:5: has no text", 5)

    with pytest.raises(ConfigError) as wrong:
        done(failing, ("config", 5), in_chunks(list(range(9)), 2), jobs=2)
    assert (wrong.value.option, wrong.value.value) == ("limit", "3")

    with pytest.raises(ZeroDivisionError, match="at 5"):
        done(failing, ("other", 5), in_chunks(list(range(9)), 2), jobs=2)


def test_a_warning_of_several_processes_is_shown_once():
    with pytest.warns(UserWarning, match="this check is old") as shown:
        found = done(warning, None, in_chunks(list(range(8)), 1), jobs=2)

    assert len(found) == 8
    assert len(shown) == 1


def test_the_chunk_of_a_killed_process_is_done_again(tmp_path):
    chunks = in_chunks(list(range(10)), 2)

    assert done(killed_once, str(tmp_path / "mark"), chunks, jobs=2) == chunks


def test_a_chunk_that_ends_each_process_is_one_clear_error():
    with pytest.raises(ConfigError, match="ended twice on the same texts, by signal 9") as found:
        done(killed_always, None, [[1], [2]], jobs=2)

    assert (found.value.option, found.value.value) == ("jobs", "1")


PROGRAM = """
import sys
from tests.concurrency.chunk_work import waiting
from polyjudge.concurrency.workers import Workers
with Workers(waiting, (sys.argv[1], float(sys.argv[2])), size=len, jobs=2, few=0) as workers:
    list(workers.map([1] for _ in range(10_000)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "seconds"),
    [
        (signal.SIGINT, 60),  # they are ended at once
        (signal.SIGTERM, 0.1),  # they end when they have done their chunk
        (signal.SIGKILL, 0.1),
    ],
)
def test_no_process_outlives_the_caller(tmp_path, number, seconds):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(seconds)]
    caller = subprocess.Popen(command, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL)
    until(lambda: len(list(tmp_path.iterdir())) == 2)

    caller.send_signal(number)

    assert caller.wait(10) == -number
    until(lambda: not any(Path(f"/proc/{each.name}").exists() for each in tmp_path.iterdir()))


def until(is_so):
    for _ in range(500):
        if is_so():
            return
        time.sleep(0.02)
    raise AssertionError("it did not become so in ten seconds")


def test_at_least_one_core_is_usable():
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


def test_the_cores_of_a_control_group_are_those_of_its_limit(tmp_path):
    root = tmp_path / "cgroup"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "cpu.max").write_text("150000 100000\n", encoding="utf-8")
    (root / "a" / "b" / "cpu.max").write_text("max 100000\n", encoding="utf-8")
    own = tmp_path / "own"
    own.write_text("0::/a/b\n", encoding="utf-8")

    assert [_quota(each) for each in _quota_files(own, root)] == [None, None, 1.5, None]


def test_a_limit_of_an_earlier_version_of_control_groups_counts(tmp_path):
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("400000\n", encoding="utf-8")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n", encoding="utf-8")

    assert next(_quota(each) for each in _quota_files(tmp_path / "none", tmp_path)) == 4.0
