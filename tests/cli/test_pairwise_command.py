"""`polyjudge pairwise A B` against a server on loopback: both orders are asked, and no reply is paid for twice."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from polyjudge.cli import main
from polyjudge.formats.systems import read_compared
from polyjudge.records.codec import schema

A = "A-text"


def answers(request):
    """Return both texts in the order in which they were shown."""
    return [part.split(">\n", 1)[1].split("\n</", 1)[0] for part in request.split("Answer ")[1:3]]


def better(request):
    """Prefer the text of A for even items, the other one for multiples of three, else say tie."""
    first, second = answers(request)
    number = int(first.rsplit(" ", 1)[1])
    wanted = A if number % 2 == 0 else "B-text" if number % 3 == 0 else ""
    verdict = "A" if wanted and first.startswith(wanted) else "B" if wanted and second.startswith(wanted) else "tie"
    return json.dumps({"verdict": verdict, "reason": f"item {number}"})


def always_first(_):
    return json.dumps({"verdict": "A", "reason": "It is first."})


def write(name, text, count=40, **more):
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "source", "language", *more, "candidate"])
        for place in range(count):
            own = [value(place) if callable(value) else value for value in more.values()]
            rows.writerow(
                [f"i{place}", f"Question {place}", "fr" if place < count // 2 else "th", *own, f"{text} {place}"]
            )


@pytest.fixture
def pairwise(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.verdict = better
    write("a.csv", A)
    write("b.csv", "B-text")

    def run(*options, a="a.csv", b="b.csv", judge="local/m"):
        return main(["pairwise", a, b, "--judge", judge, *options])

    return run


def rows_of(path="pairs.jsonl"):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_each_pair_is_asked_in_both_orders_and_is_one_row(pairwise, server, capsys):
    assert pairwise("--output", "pairs.jsonl", "--format", "json") == 0

    rows = rows_of()
    validator = jsonschema.Draft202012Validator(schema("outcome"))
    assert server.asked == 80
    assert [row["id"] for row in rows] == [f"i{place}" for place in range(40)]
    for place, row in enumerate(rows):
        validator.validate(row)
        expected = ("first", 1) if place % 2 == 0 else ("second", 0) if place % 3 == 0 else ("tie", 0.5)
        assert (row["verdict"], row["score"]) == expected
        assert [each["order"] for each in row["members"]] == ["given", "swapped"]
        assert {each["verdict"] for each in row["members"]} == {expected[0]}
        assert (row["candidate"], row["otherCandidate"]) == (f"{A} {place}", f"B-text {place}")
        assert (row["system"], row["otherSystem"], row["source"]) == ("a", "b", f"Question {place}")
        assert row["language"] == ("fr" if place < 20 else "th")
    found = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema("pairwise")).validate(found)
    assert (found["pairs"], found["judged"], found["inconsistent"]["value"]) == (40, 40, 0)
    [best, _] = found["ranking"]["overall"]["systems"]
    assert (best["system"], best["wins"], best["losses"], best["ties"]) == ("a", 20, 7, 13)


def test_the_prompt_has_the_language_and_the_source_and_not_the_systems(pairwise, server):
    assert pairwise("--limit", "1") == 0

    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    assert len(prompts) == 2
    assert all("Question 0" in prompt and "fr" in prompt for prompt in prompts)
    assert not any("otherSystem" in prompt or "otherCandidate" in prompt for prompt in prompts)
    assert sorted(answers(prompt)[0] for prompt in prompts) == [f"{A} 0", "B-text 0"]


def test_a_judge_that_goes_by_position_decides_nothing(pairwise, server, capsys):
    server.verdict = always_first

    assert pairwise("--output", "pairs.jsonl") == 0

    text = capsys.readouterr().out
    assert {row["verdict"] for row in rows_of()} == {"tie"}
    assert "No single best: a and b cannot all be distinguished." in text
    assert "Position bias: 100.0%" in text
    assert "The text shown first won 100.0%" in text


def test_the_page_is_that_of_a_ranking_with_what_is_known_of_the_judge(pairwise, server, capsys):
    server.verdict = always_first

    assert pairwise("--format", "html") == 0

    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>")
    assert "Ranking of 2 systems" in page
    assert 'id="judge"' in page
    assert "100.0%" in page[page.index('id="judge"') :]  # of the pairs got different answers


def test_a_refused_order_is_a_failure_and_never_a_preference(pairwise, server, capsys):
    server.verdict = lambda prompt: "I would rather not." if answers(prompt)[0] == "B-text 4" else better(prompt)

    assert pairwise("--output", "pairs.jsonl") == 0

    [failed] = [row for row in rows_of() if row["outcome"] == "failure"]
    assert (failed["id"], failed["kind"], failed["candidate"]) == ("i4", "unreadable", f"{A} 4")
    assert [each.get("order") for each in failed["members"]] == ["given", None]
    assert "39 of 40 judged; without a verdict: 1 unreadable." in capsys.readouterr().out


def test_too_many_failures_are_exit_3(pairwise, server, capsys):
    server.verdict = lambda _: "I would rather not."

    assert pairwise() == 3
    assert "100.0% of the items could not be judged" in capsys.readouterr().err


def test_its_rows_can_be_ranked_reported_and_compared_with_people(pairwise, capsys):
    assert pairwise("--output", "pairs.jsonl") == 0
    Path("labels.csv").write_text(
        "id,label\n" + "".join(f"{row['id']},{row['verdict']}\n" for row in rows_of()), encoding="utf-8"
    )
    capsys.readouterr()

    assert main(["rank", "pairs.jsonl", "--by", "none"]) == 0
    assert "20" in capsys.readouterr().out
    assert main(["report", "pairs.jsonl"]) == 0
    assert main(["calibrate", "agreement", "pairs.jsonl", "--labels", "labels.csv", "--format", "json"]) == 0
    found = read_compared([Path("pairs.jsonl")])
    assert (found.systems, float(found.share.sum())) == (("a", "b"), 20 + 13 / 2)


def test_texts_without_ids_are_paired_by_source(pairwise, in_folder, capsys):
    for name, text, order in (("a", A, range(4)), ("b", "B-text", [2, 0, 1])):
        lines = "".join(f"Question {place},{text} {place}\n" for place in order)
        Path(f"{name}.csv").write_text(f"source,candidate\n{lines}", encoding="utf-8")

    assert pairwise("--output", "pairs.jsonl") == 0

    assert [(row["candidate"], row["otherCandidate"]) for row in rows_of()] == [
        (f"{A} {place}", f"B-text {place}") for place in range(3)
    ]
    said = capsys.readouterr().err
    assert "the items have no common ids and are paired by source and language" in said
    assert "1 item of a.csv is not in the other table" in said


def test_results_of_score_are_paired_too(pairwise, server, in_folder):
    server.verdict = None
    for name in "ab":
        command = ["score", f"{name}.csv", "--rubric", "general", "--judge", "local/m", "--output", f"{name}.jsonl"]
        assert main(command) == 0
    server.verdict = better

    assert pairwise("--output", "pairs.jsonl", a="a.jsonl", b="b.jsonl") == 0

    assert Counter(row["verdict"] for row in rows_of()) == {"first": 20, "tie": 13, "second": 7}


def test_only_wanted_items_are_asked_about(pairwise, server):
    assert pairwise("--output", "pairs.jsonl", "--filter", "language=th", "--limit", "3") == 0

    assert [row["id"] for row in rows_of()] == ["i20", "i21", "i22"]
    assert server.asked == 6


def test_a_system_is_named_by_its_column(pairwise, in_folder):
    write("a.csv", A, system="ours")
    write("b.csv", "B-text", system="theirs")

    assert pairwise("--output", "pairs.jsonl", "--limit", "1") == 0

    assert [(row["system"], row["otherSystem"]) for row in rows_of()] == [("ours", "theirs")]


def test_documents_are_clusters(pairwise, in_folder, capsys):
    write("a.csv", A, document=lambda place: f"d{place // 4}")

    assert pairwise("--output", "pairs.jsonl", "--format", "json") == 0

    assert rows_of()[5]["cluster"] == "d1"
    assert json.loads(capsys.readouterr().out)["ranking"]["overall"]["clusters"] == 10


def test_a_jury_decides_together(pairwise, server, monkeypatch, capsys):
    server.speak = lambda model, prompt: always_first(prompt) if model == "biased" else better(prompt)

    assert pairwise("--output", "pairs.jsonl", judge="local/m,local/biased") == 0

    scores = [row["score"] for row in rows_of()]
    assert scores[:4] == [0.75, 0.5, 0.75, 0.25]
    assert "Position bias: 50.0%" in capsys.readouterr().out


def test_the_criteria_of_a_rubric_are_shown(pairwise, server):
    assert pairwise("--limit", "1", "--rubric", "translation") == 0

    assert "**grammar**" in server.bodies[0]["messages"][-1]["content"].casefold()


def test_without_an_output_the_first_message_says_that_preferences_are_not_kept(pairwise, server, capsys):
    assert pairwise() == 0

    found = capsys.readouterr()
    assert found.err.splitlines()[0] == (
        "polyjudge: warning: The preferences of single pairs are not kept. "
        "Give --output FILE to rank and report on them."
    )
    assert pairwise("--output", "pairs.jsonl") == 0
    assert "not kept" not in capsys.readouterr().err


def test_a_dry_run_asks_nothing(pairwise, server, capsys):
    assert pairwise("--dry-run", "--output", "pairs.jsonl") == 0

    assert server.asked == 0
    assert "calls:    80" in capsys.readouterr().out
    assert not Path("pairs.jsonl").exists()


def test_a_limit_of_calls_stops_and_the_same_command_resumes(pairwise, server, capsys):
    assert pairwise("--output", "pairs.jsonl", "--max-calls", "31", "--concurrency", "4") == 3
    assert "pairs were not judged" in capsys.readouterr().err
    assert pairwise("--output", "pairs.jsonl") == 0

    assert len(rows_of()) == 40
    assert server.asked == 80


def test_replies_are_kept_in_the_cache(pairwise, server):
    assert pairwise() == 0
    assert pairwise("--output", "pairs.jsonl") == 0

    assert server.asked == 80
    assert all(row["cached"] for row in rows_of())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"judge": "offline"}, "The judge 'offline' cannot compare two texts"),
        ({"b": "a.csv"}, "A and B are the same file"),
        ({"b": "c.csv"}, "no items in common with c.csv"),
        ({"b": "d.csv"}, "the source of item 'i1' is not that in d.csv"),
    ],
)
def test_what_cannot_be_compared_is_refused(pairwise, server, in_folder, capsys, options, said):
    Path("c.csv").write_text("id,candidate\nx,text\n")
    Path("d.csv").write_text("id,source,candidate\ni1,Something else,text\n")

    assert pairwise(**options) == 2

    assert said in capsys.readouterr().err
    assert server.asked == 0


@pytest.mark.slow
def test_a_killed_run_resumes_and_ends_as_an_undisturbed_one(pairwise, server, in_folder):
    write("a.csv", A, count=400)
    write("b.csv", "B-text", count=400)
    server.faults.latency_s = 0.01
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    pairs_at_once, kills, drawn = 8, 0, random.Random(3)

    def start(output, cache):
        command = [sys.executable, "-m", "polyjudge", "pairwise", "a.csv", "b.csv", "--judge", "local/m"]
        options = ["--output", output, "--cache", cache, "--concurrency", str(pairs_at_once)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen([*command, *options], env=environment, stdout=quiet, stderr=quiet)

    assert start("calm.jsonl", "calm.sqlite").wait() == 0
    server.asked = server.in_flight = 0
    for _ in range(5):
        process = start("killed.jsonl", "killed.sqlite")
        before = server.asked
        while process.poll() is None and server.asked == before:
            time.sleep(0.005)
        time.sleep(drawn.uniform(0, 0.08))
        kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start("killed.jsonl", "killed.sqlite").wait() == 0

    def verdicts(path):
        return [
            (row["id"], row["verdict"], row["score"], row["candidate"], row["otherCandidate"]) for row in rows_of(path)
        ]

    assert verdicts("killed.jsonl") == verdicts("calm.jsonl")
    # Of each pair, two replies are lost at most: one in flight, one that was not yet stored.
    assert kills > 0
    assert server.asked <= 800 + kills * 2 * pairs_at_once
    assert not list(in_folder.glob("*.partial"))
