"""`polyjudge score --engine ray` on a real Ray cluster, with a real PostgreSQL: nothing lost, nothing paid twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import jsonschema
import pytest
from tests.real.ray_nodes import RayNodes, parent_of, working_on

from polyjudge.formats.items import rows_of
from polyjudge.records.codec import schema

pytest.importorskip("ray", reason="ray is not installed")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
ROOT = Path(__file__).parent.parent.parent
ROWS, FILES, IN_FLIGHT, WORKERS = 20_000, 8, 64, 4


class Vendor:
    """The server in a process of its own, so that it does not wait for the tests."""

    def __init__(self, latency_s: float) -> None:
        command = [sys.executable, "-m", "tests.loopback.vendor_server", str(latency_s)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{self._process.stdout.readline().strip()}"

    @property
    def asked(self) -> int:
        with urlopen(f"{self.url}/counts") as answer:
            return json.load(answer)["asked"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def vendor():
    server = Vendor(0.02)
    yield server
    server.close()


@pytest.fixture(scope="module")
def nodes():
    cluster = RayNodes()
    yield cluster
    cluster.close()


@pytest.fixture
def start(in_folder, vendor):
    """Start a run in a process of its own; `on` is the cluster that it joins."""
    started = []

    def run(items, *options, on=None, judge="local/m"):
        environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{vendor.url}/v1", **(on.environment if on else {})}
        command = [sys.executable, "-m", "polyjudge", "score", str(items), "--rubric", "general", "--judge", judge]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*command, *options], env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process):
    """Return exit code, stdout and stderr, without the lines that show progress."""
    out, err = process.communicate(timeout=240)
    message = [line for line in err.splitlines() if " done, " not in line]
    return process.returncode, out, "\n".join(message)


def save_items(folder, rows, files):
    folder.mkdir()
    each = rows // files
    for number in range(files):
        items = [
            {"id": f"i{place}", "candidate": f"item-{place} ข้อความ", "source": "text", "language": "th"}
            for place in range(number * each, (number + 1) * each)
        ]
        parquet.write_table(pyarrow.Table.from_pylist(items), folder / f"{number}.parquet", row_group_size=1000)
    return folder


def without_times(path):
    for _, row in rows_of(path):
        message = {name: value for name, value in row.items() if name not in ("durationMs", "cached")}
        origin = row["provenance"]
        yield {**message, "provenance": {name: origin[name] for name in origin if name not in _CHANGING}}


_CHANGING = ("answeredAt", "attempts", "cached")


def wait_until(holds, process):
    while not holds():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def test_twenty_thousand_rows_through_a_killed_worker_a_restarted_database_and_damaged_files(
    start, vendor, nodes, postgres, in_folder
):
    items, before = save_items(in_folder / "items", ROWS, FILES), vendor.asked
    whole = (items / "5.parquet").read_bytes()
    (items / "5.parquet").write_bytes(whole[:-1000])
    in_flight = ["--concurrency", str(IN_FLIGHT)]
    on_ray = ["--engine", "ray", "--workers", str(WORKERS), "--cache", postgres.new_database(), "--output", "many"]

    run = start(items, *in_flight, *on_ray, on=nodes)
    wait_until(lambda: vendor.asked > before + ROWS / 5, run)
    os.kill(working_on()[0], signal.SIGKILL)
    wait_until(lambda: vendor.asked > before + ROWS / 2, run)
    postgres.restart()
    code, out, err = ended(run)

    assert (code, f"{ROWS - ROWS // FILES} of {ROWS - ROWS // FILES} judged" in out) == (2, True), err
    assert "was lost; its shard is judged again" in err
    assert f"{items}/5.parquet: cannot be read as Parquet" in err
    assert "These files were not judged. Correct them and run the same command again." in err

    (items / "5.parquet").write_bytes(whole)
    part = in_folder / "many" / "part-00001.parquet"
    part.write_bytes(part.read_bytes()[:-1000])
    code, out, err = ended(start(items, *in_flight, *on_ray, on=nodes))

    assert (code, err.splitlines()) == (
        0,
        [
            "polyjudge: warning: part-00001.parquet is damaged or missing, and is written again",
            "polyjudge: resuming: 15000 of 20000 already done",
        ],
    )
    assert vendor.asked - before <= ROWS + IN_FLIGHT // WORKERS
    manifest = json.loads((in_folder / "many" / "manifest.json").read_text(encoding="utf-8"))
    jsonschema.validate(manifest, schema("results-manifest"))
    assert (manifest["finished"], manifest["rows"], len(manifest["parts"])) == (True, ROWS, FILES)

    assert ended(start(items, *in_flight, "--cache", "one.sqlite", "--output", "one.jsonl"))[0] == 0
    assert list(without_times(Path("many"))) == list(without_times(Path("one.jsonl")))


def test_a_run_with_a_cluster_of_its_own_says_what_a_run_on_one_machine_says(start, in_folder, vendor):
    items, before = save_items(in_folder / "items", 600, 3), vendor.asked
    options = ["--format", "json", "--cache", "shared.sqlite"]
    on_ray = ["--engine", "ray", "--workers", "2", "--shard-rows", "150", "--output", "many"]

    run = start(items, *options, *on_ray, "--concurrency", "2")
    wait_until(lambda: vendor.asked > before + 20, run)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to the workers too
    code, out, err = ended(run)
    assert (code, json.loads(out)["not_reached"] > 0) == (130, True)
    assert "stopping; calls in flight have 5 seconds to finish" in err
    assert "Run the same command again to resume." in err
    assert working_on() == []

    code, out, err = ended(start(items, *options, *on_ray))
    assert (code, err) == (0, "")
    assert vendor.asked == before + 600
    code, alone, _ = ended(start(items, *options, "--output", "one.jsonl"))
    different = {"cached", "spent"}
    kept, once = json.loads(out), json.loads(alone)
    assert {name: kept[name] for name in kept if name not in different} == {
        name: once[name] for name in once if name not in different
    }
    assert sorted(file.name for file in Path("many").iterdir()) == [
        "manifest.json",
        *(f"part-0000{file}-0000{piece}.parquet" for file in range(3) for piece in range(2)),
    ]


def test_a_cap_holds_over_all_workers_and_the_run_goes_on_later(start, in_folder, vendor, nodes):
    items, before = save_items(in_folder / "items", 400, 4), vendor.asked
    options = ["--engine", "ray", "--cache", "shared.sqlite", "--output", "many"]

    code, _, err = ended(start(items, *options, "--max-calls", "150", on=nodes))

    assert (code, vendor.asked - before) == (3, 150)
    assert "stopped after 150 calls, the most allowed" in err
    code, out, _ = ended(start(items, *options, on=nodes))
    assert (code, "400 of 400 judged" in out, vendor.asked - before) == (0, True, 400)


def test_keys_that_the_workers_lack_are_named_and_end_with_3(start, in_folder, nodes, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k-not-for-ray")  # here and not on the workers
    items = save_items(in_folder / "items", 4, 1)
    options = ["--engine", "ray", "--output", "many"]

    code, out, err = ended(start(items, *options, on=nodes, judge="openai/gpt-5"))

    assert (code, out) == (3, "")
    assert "OPENAI_API_KEY not set" in err
    assert "Ray's workers" in err


def test_a_lost_machine_is_done_without(start, in_folder, vendor, nodes):
    """The last one here: afterwards the cluster has one machine less."""
    items, before = save_items(in_folder / "items", 2000, 4), vendor.asked
    run = start(items, "--engine", "ray", "--cache", "shared.sqlite", "--output", "many", on=nodes)
    wait_until(lambda: vendor.asked > before + 200 and len(working_on()) == WORKERS, run)
    for process in (*(each for each in working_on() if parent_of(each) == nodes.second_node), nodes.second_node):
        os.kill(process, signal.SIGKILL)

    code, out, err = ended(run)

    assert (code, "2000 of 2000 judged" in out) == (0, True), err
    assert "was lost; its shard is judged again" in err
    assert vendor.asked - before <= 2000 + 16
