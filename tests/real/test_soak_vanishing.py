"""Files and folders that are deleted or overwritten during a run."""

import shutil
from collections import Counter

import pytest
from tests.loopback.vendor_server import Faults, Server, ServerThread
from tests.real.soaking import check_refused, check_whole, finished, halted, scoring_on

ITEMS = 500
MIDDLE = 150


@pytest.fixture
def server():
    with ServerThread(Server(Faults(latency_s=0.01), keep_bodies=False)) as running:
        yield running


@pytest.fixture
def run(server, tmp_path):
    return scoring_on(tmp_path, server, "none", ITEMS)


def test_deleting_the_folder_of_results_during_a_run_loses_no_reply(run, server):
    ended = _run_with_change(run, lambda: shutil.rmtree(run.output.parent))
    check_refused(ended, ["No such file or directory"])

    check_whole(run, run.run(), paid=range(ITEMS, ITEMS + 1))


@pytest.mark.parametrize("suffixes", [("",), ("", "-wal", "-shm", "-claims")])
def test_a_cache_that_is_deleted_during_a_run_does_not_stop_it(run, server, suffixes):
    ended = _run_with_change(run, lambda: [file.unlink(missing_ok=True) for file in _files(run, suffixes)])

    [warning] = ended.error_lines
    assert ended.code == 0
    assert "was deleted" in warning
    assert [row["outcome"] for row in run.rows()] == ["result"] * ITEMS
    assert set(server.delivered.values()) == {1}
    assert ITEMS - MIDDLE <= len(run.kept()) < ITEMS


@pytest.mark.parametrize(
    ("suffixes", "damage"), [(("",), "garbage"), (("", "-wal"), "garbage"), (("", "-wal"), "empty")]
)
def test_a_cache_that_is_overwritten_during_a_run_is_quarantined(run, server, suffixes, damage):
    def overwrite():
        for file in _files(run, suffixes):
            _damage(file, damage)

    before: Counter[str] = Counter()
    for ends in (lambda: _run_with_change(run, overwrite), run.run):
        ended = ends()
        assert ended.code == 0, ended
        assert all("is quarantined" in line or "counts as missing" in line for line in ended.error_lines), ended
        assert [row["outcome"] for row in run.rows()] == ["result"] * ITEMS
        # Nothing twice in one run; in the second only what is lost.
        assert set((server.delivered - before).values()) <= {1}
        before = server.delivered.copy()
    assert len(run.kept()) == ITEMS


def _run_with_change(run, meddle):
    """Return how a run ended whose files were changed while it was running."""
    with halted(run, MIDDLE) as process:
        meddle()
    return finished(process)


def _files(run, suffixes):
    return [run.cache.with_name(f"{run.cache.name}{suffix}") for suffix in suffixes]


def _damage(path, damage):
    size = path.stat().st_size
    with path.open("r+b") as file:
        if damage == "empty":
            file.truncate(0)
        else:
            file.write(b"\x05garbage" * (size // 8))
