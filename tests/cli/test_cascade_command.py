"""`--cascade` on `score` and `pairwise`, against a server on loopback that gives token probabilities."""

import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.pages.sampling import Source, read_sample
from polyjudge.store.cascade_plans import read_plan

COUNT, LABELLED = 400, 200
LEAST = {"cheap": 0.5, "dear": 0.62}


def truth(place):
    return random.Random(f"truth {place}").random() < 0.5


def said(model, place):
    """Whether a model lets an item pass, and how sure it is: it is right as often as it says."""
    chance = random.Random(f"{model} {place}")
    sure = LEAST[model] + chance.random() * (0.999 - LEAST[model])
    return (truth(place) if chance.random() < sure else not truth(place)), sure


def speak(model, prompt):
    passes, sure = said(model, int(re.search(r"item-(\d+)", prompt)[1]))
    return json.dumps(
        {"score": 90 if passes else 10, "reason": f"ดี {sure:.6f}", "subscores": {"quality": 50}}, ensure_ascii=False
    )


def tokens(text):
    score, sure = json.loads(text)["score"], float(re.search(r"[01]\.\d+", text)[0])
    start, end = text.split(str(score), 1)
    return [(start, 0.0, {}), (str(score), math.log(sure), {str(100 - score): math.log(1 - sure)}), (end, 0.0, {})]


@pytest.fixture
def job(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.speak, server.tokens = speak, tokens
    rows = [{"id": f"i{place}", "candidate": f"item-{place} نص", "language": "ar"} for place in range(COUNT)]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labelled = sorted(random.Random(1).sample(range(COUNT), LABELLED))
    lines = [f"i{place},{'pass' if truth(place) else 'fail'}\n" for place in labelled]
    Path("labels.csv").write_text("id,label\n" + "".join(lines))
    return server


ARGUMENTS = ["score", "items.jsonl", "--rubric", "general", "--judge", "local/cheap,local/dear", "--output", "s.jsonl"]
LEARN = ["--cascade", "0.85", "--labels", "labels.csv", "--pass-from", "50"]


def rows(path="s.jsonl"):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def asked(server):
    return Counter(body["model"] for body in server.bodies)


def test_a_target_is_learnt_and_used_in_one_command(job, capsys):
    assert main([*ARGUMENTS, *LEARN]) == 0

    shown = capsys.readouterr()
    found = rows()
    answered = Counter(row.get("answeredBy", row.get("kind")) for row in found)
    assert answered.keys() == {"local/cheap", "local/dear", "abstained"}
    assert asked(job)["cheap"] == COUNT
    assert asked(job)["dear"] < COUNT
    assert f"answered: local/cheap {answered['local/cheap']} (" in shown.out
    assert f"abstained: {answered['abstained']} (" in shown.out
    assert "at least 85% agree with people: with a probability of 90%" in shown.out
    assert "to label: polyjudge label s.jsonl --items items.jsonl --filter kind=abstained" in shown.out
    right = [(row["score"] > 50) == truth(int(row["id"][1:])) for row in found if "score" in row]
    assert sum(right) / len(right) >= 0.85
    for row in found:
        if row.get("answeredBy") == "local/dear":
            assert len(row["members"]) == 2
        assert ("confidence" in row) is ("score" in row)
    plan = read_plan(Path("s.jsonl.cascade.json"))
    assert plan.rule.pass_from == 50
    assert not shown.err.count("no token probabilities")


def test_a_plan_is_used_again_and_nothing_is_paid_for_twice(job, capsys):
    assert main([*ARGUMENTS, *LEARN]) == 0
    before, first = job.asked, rows()
    assert main([*ARGUMENTS, "--cascade", "s.jsonl.cascade.json", "--force"]) == 0

    assert job.asked == before
    assert [row.get("answeredBy") for row in rows()] == [row.get("answeredBy") for row in first]
    assert "unjudged" not in capsys.readouterr().out


def test_an_abstention_is_neither_unjudged_nor_failed_and_can_be_labelled(job, capsys):
    assert main([*ARGUMENTS, *LEARN, "--max-unjudged", "0", "--format", "json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    abstained = [row for row in rows() if row.get("kind") == "abstained"]

    assert (summary["abstained"], summary["unjudged"]) == (len(abstained), 0)
    assert summary["judged"] == COUNT - len(abstained)
    assert summary["not_reached"] == 0
    assert "no judge was confident enough: local/cheap 0." in abstained[0]["reason"]
    assert main(["report", "s.jsonl"]) in (0, 1)
    shown = capsys.readouterr().out
    assert "abstained" in shown
    assert "Answered by: local/" in shown
    assert "Token probabilities: 10 " in shown
    assert main(["explain", "s.jsonl", "--item", abstained[0]["id"]]) == 0
    assert "abstained" in capsys.readouterr().out


def test_abstentions_stay_when_failures_are_retried(job, capsys):
    assert main([*ARGUMENTS, *LEARN]) == 0
    before, first = job.asked, rows()
    assert main([*ARGUMENTS, "--cascade", "s.jsonl.cascade.json", "--retry-failures"]) == 0

    assert job.asked == before
    assert [row.get("kind") for row in rows()] == [row.get("kind") for row in first]


def test_people_get_the_abstentions_to_label(job, capsys):
    assert main([*ARGUMENTS, *LEARN]) == 0
    abstained = {row["id"] for row in rows() if row.get("kind") == "abstained"}
    source = Source(
        Path("s.jsonl"), Path("items.jsonl"), None, table=language_table(), filters={"kind": frozenset(["abstained"])}
    )
    sample = read_sample(source, 1_000, 0)

    assert set(sample.items) == abstained
    with pytest.raises(ConfigError, match="no row has the column 'kinds'"):
        read_sample(replace(source, filters={"kinds": frozenset(["abstained"])}), 10, 0)
    with pytest.raises(ConfigError, match=r"no row has kind=refused. Values of kind: abstained"):
        read_sample(replace(source, filters={"kind": frozenset(["refused"])}), 10, 0)
    assert main(["report", "s.jsonl"]) == 0
    assert f"Let people label what the cascade left to them: {len(abstained)} items" in capsys.readouterr().out


def test_a_target_that_cannot_be_guaranteed_asks_about_the_labelled_items_only(job, capsys):
    assert main([*ARGUMENTS, "--cascade", "0.995", *LEARN[2:]]) == 1

    shown = capsys.readouterr()
    assert "99.5% cannot be guaranteed with 200 labels in the test. They guarantee" in shown.err
    assert "the remaining items were not judged" in shown.err
    assert asked(job)["cheap"] == LABELLED + 100
    assert not Path("s.jsonl").exists()


def test_a_dry_run_tells_the_most_that_can_be_asked(job, capsys):
    assert main([*ARGUMENTS, *LEARN, "--dry-run"]) == 0

    shown = capsys.readouterr()
    assert f"calls:    {2 * COUNT}" in shown.out
    assert "this is the maximum" in shown.err
    assert job.asked == 0


def test_the_limits_hold_for_learning_and_judging_together(job, capsys):
    assert main([*ARGUMENTS, *LEARN, "--max-calls", "650"]) == 3
    assert job.asked == 650
    assert main([*ARGUMENTS, *LEARN, "--max-calls", "650"]) == 0
    assert job.asked < 2 * COUNT


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cascade", "85"], "must be a share between 0 and 1, such as 0.85, not '85'"),
        (["--cascade", "plan.json"], "or an existing plan file"),
        (["--cascade", "labels.csv"], "labels.csv: not JSON, so not the plan of a cascade"),
        (["--cascade", "0.85"], "Give --labels, or the file of a plan"),
        (["--labels", "labels.csv"], "--labels is for --cascade SHARE"),
        (["--pass-from", "0"], "--pass-from is for --cascade SHARE"),
        (["--cascade", "0.85", "--labels", "labels.csv"], "Give --pass-from"),
        (["--cascade", "0.85", "--labels", "items.jsonl", "--pass-from", "50"], "items.jsonl"),
        (["--cascade", "0.85", "--labels", "others.csv", "--pass-from", "50"], "No label matches an item"),
        (["--cascade", "0.85", "--labels", "scores.csv"], "Give --tolerance, or --pass-from"),
        (["--cascade", "0.85", "--labels", "unequal.csv", "--pass-from", "50"], "'inclusionProbability'"),
        ([*LEARN, "--cache", "none"], "Leave out --cache none"),
        ([*LEARN, "--refresh"], "--refresh works with a plan only"),
        ([*LEARN, "--engine", "ray"], "one machine only"),
        ([*LEARN, "--judge", "offline", "--rubric", "translation"], "the judge 'offline' makes no calls"),
    ],
)
def test_wrong_use_is_exit_2_with_one_message(job, capsys, options, message):
    Path("others.csv").write_text("id,label\nx,pass\ny,fail\n")
    Path("scores.csv").write_text("id,label\ni1,20\ni2,85\n")
    Path("unequal.csv").write_text("id,label,inclusionProbability\ni1,pass,0.2\ni2,fail,0.4\n")
    assert main([*ARGUMENTS, *options]) == 2
    assert message in capsys.readouterr().err
    assert job.asked == 0


@pytest.mark.slow
def test_a_plan_is_refused_for_other_judges_rubrics_and_repeats(job, capsys):
    assert main([*ARGUMENTS, *LEARN]) == 0
    use = ["--cascade", "s.jsonl.cascade.json", "--force"]
    before = job.asked
    changes = [
        (
            ["--judge", "local/dear,local/cheap"],
            "the plan is for local/cheap → local/dear, not for local/dear → local/cheap",
        ),
        (["--judge", "local/cheap"], "not for local/cheap"),
        (["--rubric", "translation"], "another rubric or prompt"),
        (["--repeats", "3"], "learnt with repeats: 1, not 3"),
        (["--labels", "labels.csv"], "A plan has its thresholds already"),
        (["--tolerance", "1"], "--tolerance is for --cascade SHARE. A plan has its thresholds already"),
        (["--by-language"], "--by-language is for --cascade SHARE. A plan has its thresholds already"),
    ]
    for options, message in changes:
        capsys.readouterr()
        assert main([*ARGUMENTS, *use, *options]) == 2, options
        error = capsys.readouterr().err
        assert message in error
        assert main([*ARGUMENTS, *use, *options, "--dry-run"]) == 2, options
        assert capsys.readouterr().err == error
    assert job.asked == before


def test_a_plan_from_files_that_name_no_model_is_refused_in_a_dry_run_too(job, capsys):
    for name in ("small", "large"):
        lines = [f"i{place},{'pass' if said('cheap', place)[0] else 'fail'},0.9\n" for place in range(COUNT)]
        Path(f"{name}.csv").write_text("id,score,confidence\n" + "".join(lines))
    learn = ["calibrate", "cascade", "small.csv", "large.csv", "--labels", "labels.csv", "--confidence", "confidence"]
    assert main([*learn, "--target", "0.5", "--output", "plan.json"]) == 0
    for name in ("ours", "theirs"):
        Path(f"{name}.csv").write_text("id,candidate\ni1,item-1\n")
    judges = ["--judge", "local/cheap,local/dear"]
    for command in (ARGUMENTS, ["pairwise", "ours.csv", "theirs.csv", *judges, "--output", "p.jsonl"]):
        for extra in ([], ["--dry-run"]):
            capsys.readouterr()
            assert main([*command, "--cascade", "plan.json", *extra]) == 2
            error = capsys.readouterr().err
            assert "it was learnt from files that name no model (small, large)" in error
            assert "this is the maximum" not in error
    assert job.asked == 0


def test_languages_that_no_label_has_are_left_to_people(job, capsys):
    assert main([*ARGUMENTS, *LEARN]) == 0
    Path("items.jsonl").write_text(json.dumps({"id": "i1", "candidate": "item-1", "language": "th"}) + "\n")
    assert main([*ARGUMENTS, "--cascade", "s.jsonl.cascade.json", "--force"]) == 0
    assert rows()[0]["reason"] == "the cascade has no guarantee for the language 'th'"


@pytest.mark.slow
def test_repeats_say_how_sure_a_judge_is_where_tokens_do_not(job, capsys):
    job.tokens = None

    def flip(model, prompt):
        passes, sure = said(model, int(re.search(r"item-(\d+)", prompt)[1]))
        number = job.asked_for.total()
        passes = passes if random.Random(f"{number}").random() < sure else not passes
        return json.dumps({"score": 90 if passes else 10, "reason": "", "subscores": {"quality": 50}})

    job.speak = flip
    assert main([*ARGUMENTS, "--cascade", "0.7", *LEARN[2:], "--repeats", "5"]) == 0
    assert read_plan(Path("s.jsonl.cascade.json")).repeats == 5
    assert {row["confidence"] for row in rows() if "confidence" in row} <= {0.6, 0.8, 1.0}


def test_a_judge_of_which_nothing_shows_how_sure_it_is_is_refused(job, capsys):
    job.tokens = None
    assert main([*ARGUMENTS, *LEARN]) == 2
    shown = capsys.readouterr().err
    assert "no confidence for local/cheap" in shown


@pytest.mark.slow
def test_a_killed_run_resumes_without_paying_twice(job):
    job.faults.latency_s = 0.01
    command = [sys.executable, "-m", "polyjudge", *ARGUMENTS, *LEARN]
    for wanted in (150, 450, 620):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
        while job.asked < wanted and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert main([*ARGUMENTS, *LEARN]) == 0

    assert len(rows()) == COUNT
    different = {json.dumps([body["model"], body["messages"]]) for body in job.bodies}
    in_flight = 3 * 16
    assert job.asked <= len(different) + in_flight
    assert len(different) < 2 * COUNT


def in_pairs():
    """Write pairs of texts and labels of them, and return the command that asks about them."""
    for name in ("ours", "theirs"):
        lines = [{"id": f"i{place}", "candidate": f"{name} item-{place}", "language": "ar"} for place in range(COUNT)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    labels = Path("labels.csv").read_text().replace("pass", "first").replace("fail", "second")
    Path("labels.csv").write_text(labels)
    return ["pairwise", "ours.jsonl", "theirs.jsonl", "--judge", "local/cheap,local/dear", "--output", "p.jsonl"]


@pytest.mark.slow
def test_repeated_questions_about_pairs_agree_with_people_by_their_verdict(job, capsys):
    seen = Counter()

    def choose(model, prompt):
        """Prefer what people prefer, but once of three times depend on the order, which makes it a tie."""
        prefers_first = truth(int(re.search(r"item-(\d+)", prompt)[1]))
        shown_first = prompt.index("ours") < prompt.index("theirs")
        seen[model, prompt] += 1
        is_tie = not shown_first and seen[model, prompt] == 1
        return json.dumps({"verdict": "A" if (prefers_first == shown_first) != is_tie else "B", "reason": ""})

    job.speak, job.tokens = choose, None
    assert main([*in_pairs(), "--cascade", "0.85", "--labels", "labels.csv", "--repeats", "3"]) == 0

    [found] = read_plan(Path("p.jsonl.cascade.json")).groups.values()
    assert (found.answered[0], found.errors) == (found.labels, 0)
    assert {round(row["score"], 4) for row in rows("p.jsonl")} == {0.8333, 0.1667}


@pytest.mark.slow
def test_pairs_can_be_asked_as_a_cascade(job, capsys):
    def choose(model, prompt):
        place = int(re.search(r"item-(\d+)", prompt)[1])
        prefers_first, sure = said(model, place)
        shown_first = prompt.index("ours") < prompt.index("theirs")
        verdict = "A" if prefers_first == shown_first else "B"
        return json.dumps({"verdict": verdict, "reason": f"{sure:.6f}"})

    def choice(text):
        verdict, sure = json.loads(text)["verdict"], float(json.loads(text)["reason"])
        start, end = text.split(f'"{verdict}"', 1)
        other = "B" if verdict == "A" else "A"
        return [(f'{start}"', 0.0, {}), (verdict, math.log(sure), {other: math.log(1 - sure)}), (f'"{end}', 0.0, {})]

    job.speak, job.tokens = choose, choice
    assert main([*in_pairs(), "--cascade", "0.85", "--labels", "labels.csv"]) == 0

    found = rows("p.jsonl")
    assert {row.get("answeredBy", row.get("kind")) for row in found} == {"local/cheap", "local/dear", "abstained"}
    right = [(row["verdict"] == "first") == truth(int(row["id"][1:])) for row in found if "verdict" in row]
    assert sum(right) / len(right) >= 0.85
    assert main(["rank", "p.jsonl"]) == 0
