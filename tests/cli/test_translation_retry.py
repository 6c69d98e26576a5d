"""`--retry-failures` of `translation quick` and `full` asks only for unjudged outputs of an earlier run."""

import json
import re

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


IDS = re.compile(r"^## Candidate ([0-9a-f]{8})$", re.MULTILINE)


def all_but_the_second(prompt):
    """Give good rows, and no verdict on an output that ends in 1."""
    ids = IDS.findall(prompt)
    if not ids:
        return "no idea" if " 1\n" in prompt else GOOD
    parts = re.split(IDS, prompt)[1:]
    found = {item_id: text for item_id, text in zip(parts[::2], parts[1::2], strict=True) if " 1\n" not in text}
    return json.dumps({"rows": [{"id": item_id, **json.loads(GOOD)} for item_id in found]})


def full(results, *options, judge="local/m"):
    command = ["translation", "full", str(results), "--judge", judge, "--max-unjudged", "0.9", "--allow-single"]
    return main([*command, *options])


@pytest.fixture
def partly_judged(results, server):
    """Scores of groups of three languages, of which one group has no verdict."""
    server.verdict = all_but_the_second
    full(results)
    server.verdict = lambda _: GOOD
    return results, server.asked


def append(results, text):
    rows = json.loads(results.read_text(encoding="utf-8"))
    outputs = [{"sourceText": "Where?", "generatedOutput": f"{text} {number}"} for number in range(3)]
    rows.append({"languageName": "it", "languageCode": "it", "prompts": outputs})
    results.write_text(json.dumps(rows), encoding="utf-8")


def test_results_of_groups_are_stored_and_failures_are_asked_alone(partly_judged, server):
    results, asked = partly_judged

    assert full(results, "--retry-failures") == 0
    assert server.asked - asked == 3


def test_an_added_language_changes_the_groups_and_not_the_stored_results(partly_judged, server):
    results, asked = partly_judged
    append(results, "Dov'è la stazione, per favore?")

    assert full(results, "--retry-failures") == 0
    assert server.asked - asked == 3 + 3


@pytest.mark.parametrize("options", [[], ["--batch-size", "1"]], ids=["groups", "alone"])
def test_the_result_of_a_changed_output_is_not_reused(options, results, server):
    server.verdict = lambda prompt: all_but_the_second(prompt) if IDS.search(prompt) else GOOD
    full(results, *options)
    asked = server.asked
    results.write_text(results.read_text(encoding="utf-8").replace("bitte? 0", "danke? 0"), encoding="utf-8")

    full(results, "--retry-failures", *options)
    # Asked about again with those whose prompt it was in; the third of its group was judged alone as well.
    assert server.asked - asked == (1 if options else 2)


def test_the_results_of_another_judge_are_refused(partly_judged, server, capsys):
    results, asked = partly_judged
    before = results.with_name("results-full-judge.json").read_bytes()

    assert full(results, "--retry-failures", judge="local/n") == 2
    assert "the results are from local/m, not from this judge" in capsys.readouterr().err
    assert results.with_name("results-full-judge.json").read_bytes() == before
    assert server.asked == asked
    assert not list(results.parent.glob("*.partial"))


def test_results_that_would_be_lost_are_refused(partly_judged, server, capsys):
    results, asked = partly_judged

    assert full(results, "--retry-failures", "--filter", "language=de") == 2
    assert "which is not among the items." in capsys.readouterr().err
    assert server.asked == asked


@pytest.mark.parametrize("options", [["--repeats", "2"], []])
@pytest.mark.parametrize("judge", ["local/m", "local/m,local/n"])
def test_the_results_of_juries_and_repeated_questions_are_stored(options, judge, results, server):
    server.verdict = lambda prompt: "no idea" if " 1\n" in prompt else GOOD
    full(results, "--batch-size", "1", *options, judge=judge)
    asked, calls_each = server.asked, (2 if options else 1) * (2 if "," in judge else 1)
    server.verdict = lambda _: GOOD

    assert full(results, "--retry-failures", "--batch-size", "1", *options, judge=judge) == 0
    assert server.asked - asked == 3 * calls_each


def test_results_of_the_checks_are_stored_too(results, capsys):
    full(results, judge="offline")
    first = results.with_name("results-full-judge.json").read_bytes()

    full(results, "--retry-failures", judge="offline")
    assert results.with_name("results-full-judge.json").read_bytes() == first


def test_scores_without_prompts_are_not_changed(partly_judged, server):
    results, asked = partly_judged
    scores = results.with_name("results-full-judge.json")
    rows = json.loads(scores.read_text(encoding="utf-8"))
    for prompt in (prompt for row in rows for prompt in row["prompts"]):
        del prompt["provenance"]
    scores.write_text(json.dumps(rows), encoding="utf-8")

    assert full(results, "--retry-failures") == 0
    assert server.asked - asked == 3


def test_without_scores_of_an_earlier_run_there_is_nothing_to_retry(results, capsys):
    assert main(["translation", "quick", str(results), "--judge", "local/m", "--retry-failures"]) == 2
    assert "needs earlier scores" in capsys.readouterr().err


def test_a_table_of_no_action_is_refused(results, in_folder, capsys):
    (in_folder / "polyjudge.toml").write_text("[translation.quik]\nsamples = 1\n", encoding="utf-8")

    assert main(["translation", "check", str(results)]) == 2
    assert "[translation.quik]: unknown action" in capsys.readouterr().err


def test_a_file_of_results_is_never_quarantined_as_a_damaged_cache(results, capsys):
    before = results.read_bytes()

    assert main(["translation", "quick", str(results), "--judge", "local/m", "--cache", str(results)]) == 2
    assert "a cache cannot end in" in capsys.readouterr().err
    assert results.read_bytes() == before
