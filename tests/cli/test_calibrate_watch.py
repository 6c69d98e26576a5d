"""`polyjudge calibrate watch` from the outside, with recorded judges."""

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import referencing

from polyjudge.cli import main
from polyjudge.records.codec import schema, schema_names

TEXTS = ["محطة", "สถานี", "estación", "駅", "gare"]
COUNT = 40


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def answer(score, number, **more):
    text = json.dumps({"score": score, "reason": "", "subscores": {"accuracy": score}})
    return {"contains": [f"<{number}>"], "text": text, **more}


def record(scores, **more):
    write("replies.jsonl", [answer(score, number, **more) for number, score in enumerate(scores)])


def watch(*arguments, code=0):
    assert main(["calibrate", "watch", *arguments]) == code


def found(capsys, *arguments, code=0):
    capsys.readouterr()
    watch(*arguments, "--format", "json", code=code)
    return json.loads(capsys.readouterr().out)


def fits(name, value):
    resources = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    registry = referencing.Registry().with_resources(resources)
    return jsonschema.Draft202012Validator(schema(name), registry=registry).is_valid(value)


@pytest.fixture
def scores():
    return [50 + number for number in range(COUNT)]


@pytest.fixture
def pinned(in_folder, scores, capsys):
    """Answers of a recorded judge, pinned as `scored`."""
    languages = {"language": "Thai"}, {"language": "ar"}, {}
    rows = [
        {"id": f"i{number}", "candidate": f"{TEXTS[number % 5]} <{number}>", **languages[number % 3]}
        for number in range(COUNT)
    ]
    write("items.jsonl", rows)
    record(scores)
    score = ["score", "items.jsonl", "--rubric", "general", "--judge", "scripted/replies.jsonl", "--cache", "none"]
    assert main([*score, "--output", "scored.jsonl"]) == 0
    watch("--from", "scored.jsonl")
    capsys.readouterr()
    return scores


def test_an_unchanged_judge_shows_no_change_and_the_report_says_what_would_have_been_noticed(pinned, capsys):
    watch("--fail-on-change")
    printed = capsys.readouterr()
    assert "Watch scored: no change shown" in printed.out
    assert f"{COUNT} of {COUNT} questions were asked" in printed.out
    assert (
        "the evidence is 1 of the 20 needed, which at most 1 of 20 watches of an unchanged judge reach" in printed.out
    )
    assert "points or more of the answers would have been noticed with 80% probability" in printed.out
    assert printed.err.count(f"asked {COUNT} calls") == 1


def test_a_changed_judge_is_noticed_after_a_few_questions_and_fails_the_command_if_asked(pinned, capsys):
    record([score - 20 for score in pinned])
    result = found(capsys, "--concurrency", "1", "--fail-on-change", code=1)
    assert result["verdict"] == "changed"
    assert result["asked"] < 10
    assert result["confirmed"] == result["askedTwice"] == result["flips"] == result["asked"]
    assert result["calls"] <= 2 * result["asked"] + 4
    assert result["shift"]["value"] == -20
    assert result["shift"].get("low") is None  # it would not hold: the watch ended when the change looked large
    assert result["eValue"] >= result["needed"] == 20
    watch("--format", "markdown", "--false-alarms", "0.03")
    printed = capsys.readouterr().out
    assert "the judge has changed" in printed
    assert "For an unchanged judge, at most 1 of 33 watches would reach 33.3" in printed
    assert fits("watch", result)
    assert fits("pinned-set", json.loads(Path(".polyjudge/watch/scored/pinned.json").read_text(encoding="utf-8")))
    history = Path(".polyjudge/watch/scored/history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["seed"] for row in history] == [0, 1]
    assert not list(Path(".polyjudge/watch/scored").glob("*.partial"))


@pytest.mark.parametrize("concurrency", ["1", "4", "20"])
def test_the_report_counts_the_questions_whose_paid_answers_came_after_the_decision(pinned, capsys, concurrency):
    record([score - 20 for score in pinned])
    result = found(capsys, "--concurrency", concurrency)
    assert result["calls"] == 2 * (result["asked"] + result["inFlight"])
    watch("--concurrency", "20")
    printed = capsys.readouterr().out
    assert "of 40 questions decided it." in printed
    assert "already in flight when the watch was decided: all " in printed


def test_noise_that_goes_back_to_the_old_answer_is_no_change(pinned, capsys):
    noisy = [answer(score + (10 if number % 2 else -10), number) for number, score in enumerate(pinned)]
    write("replies.jsonl", [*noisy, *(answer(score, number) for number, score in enumerate(pinned))])
    result = found(capsys)
    assert result["reverted"] == result["flips"] == COUNT
    assert result["verdict"] == "no change shown"
    assert result["confirmed"] == 0


def test_another_model_is_reported_at_once(pinned, capsys):
    record(pinned, model="new-model-2")
    watch("--fail-on-change")
    printed = capsys.readouterr()
    assert "the provider says that new-model-2 answers; then it was replies.jsonl" in printed.err
    assert "another model answers, and no change is shown" in printed.out


def test_a_watch_that_is_stopped_is_resumed_and_pays_only_for_the_rest(pinned, capsys):
    watch("--max-calls", "10", "--concurrency", "1", code=3)
    assert "30 of 40 questions were not asked" in (printed := capsys.readouterr().err)
    assert "Run the same command again to resume" in printed
    assert not Path(".polyjudge/watch/scored/history.jsonl").exists()
    result = found(capsys)
    assert result["calls"] == 30
    assert result["asked"] == COUNT


def test_a_watch_that_is_stopped_among_the_rewordings_does_not_ask_the_rest_again(pinned, capsys):
    watch("--rewordings", "1", "--max-calls", "50", "--concurrency", "1", code=3)
    assert "not all questions were asked in wording 1" in capsys.readouterr().err
    result = found(capsys, "--rewordings", "1")
    assert result["asked"] == COUNT
    assert result["calls"] == COUNT - 10
    assert result["rewordings"] == [{"number": 1, "asked": COUNT, "flips": 0}]


def test_rewordings_that_move_as_many_answers_as_time_are_reported(pinned, capsys):
    moved = [answer(score - 20, number) for number, score in enumerate(pinned)]
    for number, row in enumerate(moved):
        row["contains"].insert(0, "Please read everything")
        row["contains"].append(f"<{number}>")
    kept = [answer(score if number % 10 else score - 5, number) for number, score in enumerate(pinned)]
    write("replies.jsonl", [*moved, *kept])
    watch("--rewordings", "2")
    printed = capsys.readouterr().out
    assert "The same questions in other words" in printed
    assert "no more than the words do" in printed
    result = found(capsys, "--rewordings", "2")
    assert [each["flips"] for each in result["rewordings"]] == [COUNT, 0]


def test_answers_that_were_given_repeatedly_need_no_third_one(pinned, capsys):
    score = ["score", "items.jsonl", "--rubric", "general", "--judge", "scripted/replies.jsonl", "--cache", "none"]
    assert main([*score, "--repeats", "3", "--output", "repeated.jsonl"]) == 0
    watch("--from", "repeated.jsonl", "thrice")
    record([score - 20 for score in pinned])
    result = found(capsys, "thrice", "--concurrency", "1")
    assert result["verdict"] == "changed"
    assert result["asked"] == 3
    assert result["askedTwice"] == 0


def test_the_answers_of_a_jury_are_its_verdicts_one_for_each_repeat(pinned, capsys):
    second = [answer(score - 10 + 10 * turn, n) for turn in range(3) for n, score in enumerate(pinned)]
    write("second.jsonl", second)
    jury = ["--judge", "scripted/replies.jsonl,scripted/second.jsonl", "--cache", "none", "--repeats", "3"]
    assert main(["score", "items.jsonl", "--rubric", "general", *jury, "--output", "jury.jsonl"]) == 0
    watch("--from", "jury.jsonl")
    kept = json.loads(Path(".polyjudge/watch/jury/pinned.json").read_text(encoding="utf-8"))
    scores = [each["score"] for each in kept["questions"][0]["answers"]]
    assert [each - scores[0] for each in scores] == [0, 5, 10]
    write("second.jsonl", [answer(1, number) for number in range(COUNT)])
    assert found(capsys, "jury")["verdict"] == "changed"


def test_a_dry_run_counts_the_most_calls_and_writes_nothing(pinned, capsys):
    result = found(capsys, "--dry-run", "--rewordings", "1", "--questions", "10")
    assert result["items"] == 10
    assert result["calls"] == 30
    assert [path.name for path in Path(".polyjudge/watch/scored").iterdir()] == ["pinned.json"]


def test_a_dry_run_of_pinning_says_what_would_be_pinned_and_asked_and_writes_nothing(pinned, capsys):
    watch("--from", "scored.jsonl", "other", "--dry-run")
    printed = capsys.readouterr()
    assert "nothing is pinned. Would be pinned as 'other': 40 questions" in printed.err
    assert "A watch would ask 40 questions" in printed.err
    assert "calls:    80" in printed.out
    assert "cost:" in printed.out
    assert [path.name for path in Path(".polyjudge/watch").iterdir()] == ["scored"]
    watch("--from", "scored.jsonl", "scored", "--dry-run", code=2)
    assert "contains a pinned set of this name" in capsys.readouterr().err


def test_questions_without_a_verdict_do_not_count_and_too_many_end_the_watch(pinned, capsys):
    Path("replies.jsonl").write_text("", encoding="utf-8")
    watch(code=3)
    printed = capsys.readouterr().err
    assert "could not be judged" in printed
    assert "First reason" in printed
    record(pinned)
    assert found(capsys)["asked"] == COUNT  # the failures are asked again


def test_the_report_for_a_pipeline_has_a_failure_only_if_a_change_fails_the_command(pinned, capsys):
    record([score - 20 for score in pinned])
    for arguments, failures in (([], "0"), (["--fail-on-change"], "1")):
        capsys.readouterr()
        main(["calibrate", "watch", "--format", "junit", *arguments])
        suite = ElementTree.fromstring(capsys.readouterr().out.partition("\n")[2]).find("testsuite")
        assert suite is not None
        assert suite.get("failures") == failures


def test_without_a_key_the_reports_say_that_nothing_was_checked(pinned, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    rows = [json.loads(line) for line in Path("scored.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["provenance"].update(provider="openai", model="gpt-5-mini")
    write("remote.jsonl", rows)
    watch("--from", "remote.jsonl")
    watch("remote", "--fail-on-change", "--format", "junit", "--output", "j.xml")
    assert "no question was asked" in capsys.readouterr().err
    suite = ElementTree.parse("j.xml").getroot().find("testsuite")
    assert (suite.get("skipped"), suite.get("failures")) == ("1", "0")
    assert "OPENAI_API_KEY is not set" in suite.find("testcase/skipped").get("message")
    assert found(capsys, "remote")["verdict"] == "not checked"
    watch("remote", "--require-judge", code=3)
    assert "Watch remote: nothing was checked" in capsys.readouterr().out
    assert not Path(".polyjudge/watch/remote/history.jsonl").exists()


def test_too_few_questions_to_show_any_change_are_reported_before_they_are_asked(pinned, capsys):
    record([score - 20 for score in pinned])
    watch("--from", "scored.jsonl", "few", "--questions", "5")
    assert "5 questions can never show a change" in (printed := capsys.readouterr().err)
    assert "at least 6 are needed" in printed
    watch("few", "--fail-on-change", code=2)
    assert "--fail-on-change: 5 questions can never show a change" in (printed := capsys.readouterr().err)
    assert "asked" not in printed
    watch("scored", "--fail-on-change", "--questions", "5", code=2)
    assert "Ask more" in capsys.readouterr().err
    watch("few")
    assert "Pin the results of more items" in capsys.readouterr().err
    watch("--from", "scored.jsonl", "enough", "--questions", "6")
    assert "never" not in capsys.readouterr().err
    watch("enough", "--fail-on-change", code=1)


def test_items_whose_prompts_would_differ_are_left_out_and_counted(pinned, capsys):
    lines = Path("scored.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for count, words in ((1, "1 item is left out"), (2, "2 items are left out")):
        rows[count]["candidate"] = "changed since"
        write(f"changed-{count}.jsonl", rows)
        watch("--from", f"changed-{count}.jsonl")
        assert words in capsys.readouterr().err


def test_a_watch_asks_again_when_its_history_was_removed(pinned, capsys):
    watch()
    Path(".polyjudge/watch/scored/history.jsonl").unlink()
    assert found(capsys, "--questions", "9")["calls"] == 9


def test_each_watch_has_another_order_and_fewer_questions_can_be_asked(pinned, capsys):
    orders = []
    for _ in range(2):
        result = found(capsys, "--questions", "7")
        assert result["asked"] == result["questions"] == 7
        rows = Path(f".polyjudge/watch/scored/answers-{result['seed'] + 1}.jsonl").read_text(encoding="utf-8")
        orders.append([json.loads(row)["id"] for row in rows.splitlines()])
    assert orders[0] != orders[1]


def test_what_cannot_be_pinned_or_asked_is_explained(pinned, capsys):
    write("pairs.jsonl", [{"id": "a", "candidate": "x", "otherCandidate": "y", "outcome": "result", "score": 1}])
    write("bare.jsonl", [{"schemaVersion": 1, "id": "a", "outcome": "result", "score": 1, "reason": ""}])
    write("empty.jsonl", [])
    offline = ["--rubric", "translation", "--judge", "offline", "--output", "checks.jsonl"]
    main(["score", "items.jsonl", "--filter", "language=ar,th", *offline])
    first = json.loads(Path("scored.jsonl").read_text(encoding="utf-8").splitlines()[0])
    write("other-texts.jsonl", [{**first, "candidate": "changed since"}])
    own = {**first["provenance"], "rubric": "mine"}
    write("own-rubric.jsonl", [{**first, "provenance": own}])
    old = {**first["provenance"], "rubricFingerprint": "0" * 16}
    write("old-rubric.jsonl", [{**first, "provenance": old}])
    failed = {"schemaVersion": 1, "id": "a", "outcome": "failure", "reason": "no", "kind": "refused"}
    write("failed.jsonl", [failed])
    Path("table.csv").write_text("key,output\na,x\n", encoding="utf-8")
    Path("card.json").write_text('{\n "schemaVersion": 1\n}\n', encoding="utf-8")
    write("labels.jsonl", [{"id": "a", "label": 1, "labelledAt": "2026-11-19"}])
    wrong = {
        "--from table.csv": "a table with the columns key, output, without verdicts",
        "--from card.json": "card.json: one JSON document over several lines; expected a row for each text",
        "--from labels.jsonl": "contains labels by people, not results of score",
        "--from scored.jsonl": "contains a pinned set of this name",
        "--from pairs.jsonl p": "preferences between pairs",
        "--from bare.jsonl p": "the rows do not name the model",
        "--from checks.jsonl p": "the judge 'offline'",
        "--from empty.jsonl p": "empty.jsonl",
        "--from failed.jsonl p": "no row has a verdict that can be pinned. Give results of score with verdicts",
        "--from other-texts.jsonl p": "Give the items that were judged (--items)",
        "--from own-rubric.jsonl p": "Give --rubric FILE",
        "--from old-rubric.jsonl p": "is not the one of these verdicts",
        "--from absent.jsonl p": "absent.jsonl",
        "--from items.jsonl p": "items.jsonl",
        "scored.json": "Did you mean 'scored'?",
        "--rubric general": "--rubric is used only when answers are pinned. Add --from",
        "--rewordings 99": "there are only 4 other wordings",
        "--false-alarms 2": "must be a share",
        "--questions 0": "at least 1",
    }
    for arguments, message in wrong.items():
        capsys.readouterr()
        try:
            code = main(["calibrate", "watch", *arguments.split()])
        except SystemExit as error:
            code = error.code
        assert (code, message in (printed := capsys.readouterr().err)) == (2, True), (arguments, printed)
        assert "Traceback" not in printed


def test_damaged_lines_of_the_history_are_skipped_and_an_unfinished_one_is_resumed(pinned, capsys):
    history = Path(".polyjudge/watch/scored/history.jsonl")
    watch()
    history.write_text('{"schemaVersion": 1, "name": 3}\nno\n' + history.read_text(encoding="utf-8"), encoding="utf-8")
    capsys.readouterr()
    watch()
    warnings = capsys.readouterr().err
    assert "history.jsonl:1: cannot be used" in warnings
    assert "history.jsonl:2: is not JSON" in warnings
    rows = history.read_text(encoding="utf-8").splitlines(keepends=True)
    assert [json.loads(row)["seed"] for row in rows[2:]] == [0, 3], "no order is asked twice"
    history.write_text("".join(rows[:3]) + rows[3][:40], encoding="utf-8")
    assert found(capsys)["seed"] == 3


def test_a_damaged_pinned_set_is_reported_with_its_place(pinned, capsys):
    folder = Path(".polyjudge/watch/scored")
    (folder / "pinned.json").write_text("{}", encoding="utf-8")
    watch(code=2)
    assert "pinned.json: not a pinned set of version 1" in capsys.readouterr().err
    (folder / "pinned.json").write_text("no", encoding="utf-8")
    watch(code=2)
    assert "pinned.json: not JSON" in capsys.readouterr().err
