"""`--token-probabilities` on `score` and `pairwise`, against a server on loopback and a recording."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main

REST = ', "reason": "fine", "subscores": {"quality": 80}}'


@pytest.fixture
def local(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.verdict = lambda _: '{"score": 80' + REST
    server.tokens = lambda _: [('{"score": ', 0.0, {}), ("80", -0.25, {"60": -1.75}), (REST, 0.0, {})]
    rows = [{"id": "i1", "candidate": "نص"}, {"id": "i2", "candidate": "ข้อความ"}]
    Path("i.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return server


def score(*options, rubric="general"):
    return main(["score", "i.jsonl", "--rubric", rubric, "--judge", "local/m", "--output", "s.jsonl", *options])


def rows(path="s.jsonl"):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_rows_have_the_expected_score_and_explain_shows_it(local, capsys):
    assert score("--token-probabilities") == 0

    shares = {"80": 0.817574, "60": 0.182426}
    assert [row["probabilities"] for row in rows()] == [pytest.approx(shares)] * 2
    assert [row["expectedScore"] for row in rows()] == pytest.approx([80 - 20 * 0.182426] * 2)
    assert rows()[0]["provenance"]["parameters"]["top_logprobs"] == 20
    assert main(["explain", "s.jsonl", "--item", "i1"]) == 0
    assert "Token probabilities: 80 81.8%, 60 18.2%" in capsys.readouterr().out
    assert main(["compare", "s.jsonl", "s.jsonl", "--score", "expectedScore"]) in (0, 2)
    assert "expectedScore" not in capsys.readouterr().err


def test_replies_without_token_probabilities_are_not_taken_for_replies_with_them(local):
    assert score() == 0
    assert (local.asked, "expectedScore" in rows()[0]) == (2, False)
    assert score("--token-probabilities", "--force") == 0
    assert (local.asked, "expectedScore" in rows()[0]) == (4, True)
    assert score("--token-probabilities", "--force") == 0
    assert score("--force") == 0
    assert (local.asked, "expectedScore" in rows()[0]) == (4, False)


def test_a_server_without_token_probabilities_is_named_once_and_scores_are_kept(local, capsys):
    local.tokens = None
    assert score("--token-probabilities") == 0

    assert capsys.readouterr().err.count("local/m returned no tokens, so its results have no token probabilities.") == 1
    assert [row["score"] for row in rows()] == [80, 80]


@pytest.mark.parametrize(
    ("options", "rubric", "message"),
    [
        (["--judge", "offline"], "translation", "the judge 'offline' has no token probabilities"),
        ([], "mqm", "judges of error spans have no token probabilities"),
        (["--engine", "ray"], "general", "--token-probabilities works on one machine only"),
    ],
)
def test_a_judge_that_cannot_have_them_is_refused(local, capsys, options, rubric, message):
    assert score("--token-probabilities", *options, rubric=rubric) == 2
    assert message in capsys.readouterr().err
    assert local.asked == 0


def test_both_orders_of_a_pair_have_them(local, capsys):
    local.verdict = lambda _: '{"verdict": "A", "reason": ""}'
    end = '", "reason": ""}'
    local.tokens = lambda _: [('{"verdict": "', 0.0, {}), ("A", -0.25, {"B": -1.75}), (end, 0.0, {})]
    Path("b.jsonl").write_text(Path("i.jsonl").read_text().replace("\\u", "\\u"), encoding="utf-8")
    arguments = ["i.jsonl", "b.jsonl", "--judge", "local/m", "--output", "p.jsonl", "--token-probabilities"]
    assert main(["pairwise", *arguments]) == 0

    first = rows("p.jsonl")[0]
    assert first["probabilities"] == pytest.approx({"first": 0.5, "second": 0.5})
    assert [each["probabilities"]["first"] for each in first["members"]] == pytest.approx([0.817574, 0.182426])


def test_a_recording_has_them_too(in_folder):
    tokens = [
        {"text": '{"score": ', "logprob": 0},
        {"text": "80", "logprob": -0.25, "others": {"60": -1.75}},
        {"text": REST, "logprob": 0},
    ]
    Path("r.jsonl").write_text(json.dumps({"text": '{"score": 80' + REST, "tokens": tokens}), encoding="utf-8")
    Path("i.jsonl").write_text(json.dumps({"id": "i1", "candidate": "x"}), encoding="utf-8")
    for options, found in ((["--token-probabilities"], True), (["--force"], False)):
        command = ["score", "i.jsonl", "--rubric", "general", "--judge", "scripted/r.jsonl", "--output", "s.jsonl"]
        assert main([*command, *options]) == 0
        assert ("expectedScore" in rows()[0]) is found
