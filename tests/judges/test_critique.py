"""Critiques are read more loosely than verdicts, and say how."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.judges.critique import parse_critique


@pytest.mark.parametrize(
    ("text", "fields", "read_as"),
    [
        ('{"score": 70, "reason": "thin"}', {"score": 70.0, "reason": "thin"}, "json"),
        ('{"score": 170, "reason": "thin"}', {"score": 100.0, "reason": "thin"}, "json"),
        ('{"score": -3}', {"score": 0.0}, "json"),
        (
            '{"score": 70, "subscores": {"depth": 300}, "final": true}',
            {"score": 70.0, "subscores": {"depth": 100.0}, "final": True},
            "json",
        ),
        ("Score: 70\nCritique: thin in the middle", {"score": 70.0, "reason": "thin in the middle"}, "lines"),
        ("Critique: thin\nin the middle\nScore: 70", {"score": 70.0, "reason": "thin\nin the middle"}, "lines"),
        ("**Score:** 70/100", {"score": 70.0}, "lines"),
        ("Score: 20, no.\nScore: 70", {"score": 70.0}, "lines"),
        ("Score: 700", {"score": 100.0}, "lines"),
        ("Score: ٧٠", {"score": 70.0}, "lines"),
        ("Critique: no number at all", {"reason": "no number at all"}, "lines"),
        ("I would give it 70.", {"score": 70.0}, "number"),
        ("70/100", {"score": 70.0}, "number"),
        ("<think>maybe 20?</think> 70", {"score": 70.0}, "number"),
        ("7 out of 10", {}, "nothing"),
        ("Score: 7/10", {}, "nothing"),
        ("version2 of it", {}, "nothing"),
        ("", {}, "nothing"),
    ],
)
def test_a_critique_is_read_one_way_and_says_which(text, fields, read_as):
    critique = parse_critique(text)

    assert critique == fields
    assert critique.read_as == read_as
    assert critique.score == fields.get("score")
    assert critique.reason == fields.get("reason", "")


@given(st.text(max_size=200))
def test_any_text_gives_a_critique_with_a_score_of_the_scale_or_none(text):
    score = parse_critique(text).score

    assert score is None or 0 <= score <= 100
