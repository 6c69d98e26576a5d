"""The real evaluation frameworks judge answers; polyjudge reads their files as their own APIs do."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.formats.framework_results import check_promptfoo, check_rows, rows
from tests.loopback.vendor_server import Server, ServerThread
from tests.real.framework_runs import answer

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".venv" / "frameworks"
PROGRAMS = Path(__file__).with_name("frameworks")
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("frameworks")


@pytest.fixture(scope="module")
def environment(folder):
    """The variables of a program that asks a model on loopback, and writes only into this folder."""
    with ServerThread(Server(speak=answer)) as server:
        own = {"HOME": str(folder), "HF_HOME": str(folder / "hf"), "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo")}
        address = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{server.url}/v1"}
        yield {**os.environ, **QUIET, **own, **address}


def run(command, environment, *, codes=(0,)):
    done = subprocess.run(
        [*map(str, command)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in codes, done.stdout + done.stderr
    return done


def ran(name, environment, folder):
    """Run the program of a framework in the framework's environment; return the folder that it wrote into."""
    python = TOOLS / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{name} is not installed in {TOOLS.relative_to(ROOT)}; `make test-real` does that")
    written = folder / name
    written.mkdir()
    run([python, PROGRAMS / f"{name}_run.py", written], environment)
    return written


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def inspect_folder(environment, folder):
    return ran("inspect", environment, folder)


def test_an_inspect_log_in_json_is_read_as_inspect_reads_it(inspect_folder):
    check_rows(rows(inspect_folder / "log.json"), read_json(inspect_folder / "expected.json"))


def test_an_eval_file_is_read_by_each_command_in_the_environment_of_inspect(inspect_folder, environment, folder):
    log, other = inspect_folder / "log.eval", inspect_folder / "log.json"
    as_json, judge = f"--format json --output {folder}", "--rubric general --judge scripted/replies.jsonl --cache none"
    commands = (
        f"report {log} {as_json}/report.json",
        f"compare {log} {other} --score subscores.partial {as_json}/compared.json",
        f"calibrate agreement {log} --labels {log} --label extra.metadata.human {as_json}/agreement.json",
        f"score {log} {judge} --output {folder}/judged.jsonl",
    )
    reply = json.dumps({"text": json.dumps({"score": 3, "reason": "read"})})
    (inspect_folder / "replies.jsonl").write_text(f"{reply}\n", encoding="utf-8")
    code = "import json, sys; from pathlib import Path; from polyjudge.cli import main"
    code += "; from polyjudge.formats.row_files import rows_of; log, *commands = json.loads(sys.argv[1])"
    code += "; codes = [main(each) for each in commands]; rows = [row for _, row in rows_of(Path(log))]"
    code += "; Path('rows.json').write_text(json.dumps([codes, rows]))"
    given = json.dumps([str(log), *(command.split() for command in commands)])
    run(["env", "-C", inspect_folder, TOOLS / "inspect" / "bin" / "python", "-c", code, given], environment)

    codes, found = read_json(inspect_folder / "rows.json")
    assert codes == [0, 0, 0, 0]
    check_rows(found, read_json(inspect_folder / "expected.json"))
    assert {name: read_json(folder / "report.json")["statuses"][name] for name in ("PASS", "FAIL")} == {
        "PASS": 4,
        "FAIL": 2,
    }
    assert read_json(folder / "agreement.json")["items"] == 2
    assert len((folder / "judged.jsonl").read_text(encoding="utf-8").splitlines()) == 6


def test_a_report_of_pydantic_evals_is_read_as_its_cases_and_failures_are(environment, folder):
    written = ran("pydantic_evals", environment, folder)
    found = rows(written / "report.json")
    check_rows(found, read_json(written / "expected.json"))
    assert {row["system"] for row in found} == {"small model"}


def test_a_test_run_of_deepeval_is_read_as_its_results_are(environment, folder):
    written = ran("deepeval", environment, folder)
    found, expected = rows(written / "run.json"), read_json(written / "expected.json")
    check_rows(found, expected)
    passed = {row["id"]: row.get("passed") for row in found if row["outcome"] == "result"}
    assert passed == {row["id"]: row["passed"] for row in expected["rows"] if not row["failed"]}


def test_samples_of_lm_eval_are_read_with_each_filter_and_their_means_are_those_of_the_results(environment, folder):
    written = ran("lm_eval", environment, folder)
    [samples] = written.glob("out/*/samples_*.jsonl")
    found = rows(samples)
    check_rows(found, read_json(written / "expected.json"))
    assert {row["system"] for row in found} == {"gpt-small"}


def test_results_of_promptfoo_give_the_counts_that_promptfoo_shows(environment, folder):
    program = TOOLS / "promptfoo" / "node_modules" / ".bin" / "promptfoo"
    if not program.exists():
        pytest.skip(f"promptfoo is not installed in {TOOLS.relative_to(ROOT)}; `make test-real` does that with npm")
    path = folder / "out.json"
    command = [program, "eval", "--config", PROGRAMS / "promptfooconfig.yaml", "--output", path, "--repeat", "2"]
    run(
        [*command, "--no-cache", "--no-progress-bar", "--no-table"], environment, codes=(100,)
    )  # 100: some tests failed
    check_promptfoo(path)
