"""What an earlier run of `translation quick` or `full` left unjudged is asked for again, and nothing else."""

import json

import pytest

from polyjudge.cli import main


@pytest.fixture
def results(in_folder, server, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    texts = {"en": "Where is the station, please?", "de": "Wo ist der Bahnhof, bitte?", "fr": "Où est la gare, merci ?"}
    rows = [
        {
            "languageName": tag,
            "languageCode": tag,
            "prompts": [{"sourceText": "Where?", "generatedOutput": f"{text} {number}"} for number in range(3)],
        }
        for tag, text in texts.items()
    ]
    path = in_folder / "results.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


GOOD = json.dumps({"reason": "", "subscores": {"script": 5, "grammar": 5, "coherence": 5}, "isCorrectLanguage": True})


@pytest.mark.parametrize("action", ["quick", "full"])
def test_only_what_was_unjudged_is_asked_again(action, results, server, capsys):
    command = ["translation", action, str(results), "--judge", "local/m", "--max-unjudged", "0.9"]
    command += ["--filter", "language=en,de,fr", *(["--batch-size", "1"] if action == "full" else [])]
    server.verdict = lambda prompt: "no idea" if " 1\n" in prompt else GOOD
    main(command)
    scores = results.with_name(f"results-{action}-judge.json")
    first, asked = json.loads(scores.read_text(encoding="utf-8")), server.asked
    server.verdict = lambda _: GOOD

    assert main([*command, "--retry-failures"]) == 0
    second = json.loads(scores.read_text(encoding="utf-8"))
    assert sum(row["unjudged"] for row in first) == server.asked - asked > 0
    assert [row["unjudged"] for row in second] == [0] * len(second)
    assert {prompt["raw"] for row in first for prompt in row["prompts"] if prompt.get("error")} == {"no idea"}


def test_without_scores_of_an_earlier_run_there_is_nothing_to_retry(results, capsys):
    assert main(["translation", "quick", str(results), "--judge", "local/m", "--retry-failures"]) == 2
    assert "needs the scores of an earlier run" in capsys.readouterr().err


def test_a_table_of_no_action_is_refused(results, in_folder, capsys):
    (in_folder / "polyjudge.toml").write_text("[translation.quik]\nsamples = 1\n", encoding="utf-8")

    assert main(["translation", "check", str(results)]) == 2
    assert "[translation.quik] is no action of translation" in capsys.readouterr().err


def test_a_file_of_results_is_never_set_aside_as_a_damaged_cache(results, capsys):
    before = results.read_bytes()

    assert main(["translation", "quick", str(results), "--judge", "local/m", "--cache", str(results)]) == 2
    assert "is no cache by its name" in capsys.readouterr().err
    assert results.read_bytes() == before
