"""Files that an earlier version wrote are read, and runs that it left unfinished are resumed."""

import json
import re
import shutil
from pathlib import Path

import pytest

from polyjudge import RubricJudge, Run, ScriptedProvider, read_items
from polyjudge.cache.maintenance import export_entries
from polyjudge.cli import main
from polyjudge.formats.fixtures import read_fixtures
from polyjudge.formats.translation_scores import TranslationScores, write_translation_scores
from polyjudge.records.outcomes import Failure, JudgeResult, item_row
from polyjudge.store.run_file import read_outcomes
from polyjudge.store.trust_cards import card_row, read_card, update_card

FOLDERS = sorted((Path(__file__).parent / "golden").glob("written-by-*"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def earlier(request, in_folder):
    """A copy of the files, as the working folder."""
    return shutil.copytree(request.param, in_folder, dirs_exist_ok=True)


SCORE = ["score", "items.jsonl", "--rubric", "general", "--judge", "scripted/recording.jsonl", "--max-unjudged", "1"]
SCORE += ["--context", "source"]  # the language was not part of the prompt


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def renamed(row):
    """Return a row of an outcome or of a cache under the keys that are written today: `parseMethod` was `rung`."""
    changed = {"parseMethod" if key == "rung" else key: value for key, value in row.items()}
    nested = {key: renamed(value) for key, value in changed.items() if isinstance(value, dict)}
    members = {"members": list(map(renamed, row["members"]))} if "members" in row else {}
    return {**changed, **nested, **members}


def without_times(row):
    """Return a row without its times and versions, and without the texts that are written today."""
    row = {name: value for name, value in row.items() if name not in ("candidate", "source")}
    provenance = {**row["provenance"], "answeredAt": "", "cached": False, "polyjudgeVersion": ""}
    return {**row, "durationMs": 0, "cached": False, "provenance": provenance}


def calls(printed):
    """Return how many calls a command says that it made."""
    [found] = re.findall(r"asked:? +(\d+) call", printed.out + printed.err)
    return int(found)


def test_a_finished_run_is_read_and_written_the_same(earlier):
    items = {item.id: item for item in read_items(earlier / "items.jsonl")}

    found = list(read_outcomes(earlier / "finished.jsonl"))

    assert [type(outcome) for _, outcome in found] == [JudgeResult, Failure, Failure, *[JudgeResult] * 3]
    assert found[3][1].reason == "two terms are wrong: \ud800"
    assert [item_row(items[name], outcome) for name, outcome in found] == list(
        map(renamed, rows(earlier / "finished.jsonl"))
    )


def test_the_members_of_a_jury_are_read_and_written_the_same(earlier):
    found = dict(read_outcomes(earlier / "repeated.jsonl"))

    assert [type(member) for member in found["item-0"].members] == [JudgeResult] * 2
    assert [type(member) for member in found["item-1"].members] == [Failure] * 2
    items = list(read_items(earlier / "items.jsonl"))[:2]
    assert [item_row(item, found[item.id]) for item in items] == list(map(renamed, rows(earlier / "repeated.jsonl")))


def test_a_cache_answers_and_is_exported_the_same(earlier, capsys):
    assert list(export_entries(earlier / "cache.sqlite")) == list(map(renamed, rows(earlier / "export.jsonl")))

    assert main([*SCORE, "--cache", "cache.sqlite", "--output", "again.jsonl"]) == 0

    assert calls(capsys.readouterr()) == 1  # the refusal, which no cache keeps
    again, before = rows(earlier / "again.jsonl"), map(renamed, rows(earlier / "finished.jsonl"))
    assert list(map(without_times, again)) == list(map(without_times, before))


def test_a_stopped_run_is_resumed(earlier, capsys):
    [partial] = earlier.glob("stopped.jsonl.*.partial")
    before = partial.read_bytes()

    assert main([*SCORE, "--cache", "none", "--output", "stopped.jsonl"]) == 0

    assert calls(capsys.readouterr()) == 3
    assert not list(earlier.glob("stopped.jsonl.*"))
    assert (earlier / "stopped.jsonl").read_bytes().startswith(before)
    resumed, undisturbed = rows(earlier / "stopped.jsonl"), rows(earlier / "finished.jsonl")
    assert [without_times(renamed(row)) for row in resumed] == [without_times(renamed(row)) for row in undisturbed]


@pytest.mark.parametrize("has_rows", [True, False], ids=["with rows", "with a start marker only"])
def test_a_run_that_was_stopped_before_the_judge_saw_the_language_is_resumed_without_it(earlier, capsys, has_rows):
    if not has_rows:
        [partial] = earlier.glob("stopped.jsonl.*.partial")
        partial.unlink()

    assert main([*SCORE[:-2], "--cache", "none", "--output", "stopped.jsonl"]) == 0

    printed = capsys.readouterr()
    assert calls(printed) == (3 if has_rows else 6)
    assert "resuming a run of an earlier version, whose prompts do not name the language" in printed.err
    assert not list(earlier.glob("stopped.jsonl.*"))
    resumed, undisturbed = rows(earlier / "stopped.jsonl"), rows(earlier / "finished.jsonl")
    assert [without_times(renamed(row)) for row in resumed] == [without_times(renamed(row)) for row in undisturbed]


def test_only_the_failures_of_a_finished_run_are_retried_with_the_prompts_that_it_had(earlier, capsys):
    before = rows(earlier / "finished.jsonl")
    failed = [row["id"] for row in before if row["outcome"] == "failure"]

    assert main([*SCORE[:-2], "--cache", "none", "--output", "finished.jsonl", "--retry-failures"]) == 0

    printed = capsys.readouterr()
    assert calls(printed) == len(failed) == 2
    assert "its failures get the same prompts" in printed.err
    kept = [without_times(renamed(row)) for row in before if row["id"] not in failed]
    after = rows(earlier / "finished.jsonl")
    assert [without_times(renamed(row)) for row in after if row["id"] not in failed] == kept


def test_a_run_that_this_version_starts_shows_the_language(earlier, capsys):
    [partial] = earlier.glob("stopped.jsonl.*.partial")

    main([*SCORE[:-2], "--cache", "none", "--output", "new.jsonl"])

    assert "earlier version" not in capsys.readouterr().err
    assert partial.exists()
    [first, *_] = rows(earlier / "new.jsonl")
    assert first["provenance"]["promptSha256"] != rows(earlier / "finished.jsonl")[0]["provenance"]["promptSha256"]


def test_rows_that_waited_for_a_slow_item_are_not_asked_for_again(earlier):
    asked = []

    def answer(request):
        asked.append(request)
        return json.dumps({"score": 10, "reason": "late"})

    # Without a model's name, a judge with a provider of its own was then taken for opus.
    judge = RubricJudge("general", model="opus", provider=ScriptedProvider(answer, name="slow"))
    summary = Run(read_items("items.jsonl", context=["source"]), judge, output="ahead.jsonl", cache=None).execute()

    assert summary.status == "finished"
    done = [row["score"] for row in rows(earlier / "ahead.jsonl")]
    assert done == [70, 10, *[70] * (len(done) - 2)]
    assert len(asked) == 1
    assert not list(earlier.glob("ahead.jsonl.*"))


PERTURB = ["calibrate", "perturb", "--judge", "scripted/even.jsonl", "--filter", "language=fr", "--types", "drop_words"]
PERTURB += ["--severities", "1", "--cache", "none"]


def test_a_trust_card_is_read_and_written_the_same(earlier):
    card = read_card(earlier / "card.json")

    assert card.languages["fr"].verdict == "not enough data"
    assert card_row(card) == json.loads((earlier / "card.json").read_text(encoding="utf-8"))
    assert update_card(earlier / "card.json", lambda known: known or card) == card


def test_a_stopped_calibration_is_resumed(earlier, capsys):
    assert main([*PERTURB, "--card", "other.json", "--answers", "stopped-answers.jsonl"]) == 0

    assert calls(capsys.readouterr()) == 6
    assert not list(earlier.glob("stopped-answers.jsonl.*"))
    measured, before = (read_card(earlier / name).perturbations for name in ("other.json", "card.json"))
    assert measured == before


def test_scores_of_a_translator_are_read_and_written_the_same(earlier):
    path = earlier / "results-quick-judge.json"

    write_translation_scores(earlier / "again.json", TranslationScores(path))

    assert (earlier / "again.json").read_bytes() == path.read_bytes()


QUICK = ["translation", "quick", "results.json", "--judge", "scripted/even.jsonl", "--cache", "none"]


def test_a_stopped_translation_run_is_resumed(earlier, capsys):
    assert main([*QUICK, "--output", "stopped-quick.json"]) == 0

    assert calls(capsys.readouterr()) == 1
    [score] = TranslationScores(earlier / "stopped-quick.json")
    assert (score.script_score, score.judged, score.unjudged) == (4, 3, 0)


def test_a_stopped_generation_is_resumed(earlier, capsys):
    command = ["translation", "generate", "--translator", "scripted/even.jsonl", "--languages", "fr,de"]

    assert main([*command, "--output", "stopped-generated.json", "--cache", "none"]) == 0

    assert calls(capsys.readouterr()) == 32
    assert not list(earlier.glob("stopped-generated.json.*"))


def test_captured_fixtures_are_read_and_pass(earlier):
    found = read_fixtures(earlier / "captured.tsv").fixtures

    assert [(case.case_id, case.expected_output) for case in found] == [
        ("a", "The red house."),
        ("b", "keep ＡＢＣ 12"),
    ]
    assert main(["regression", "run", "--fixtures", "captured.tsv", "--command", "cat"]) == 0
