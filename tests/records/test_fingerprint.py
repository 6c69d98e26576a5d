"""Fingerprints identify existing runs, cache entries and cards, so they must never change."""

import pytest

from polyjudge.cache.protocol import hash_key, request_key
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.judges.rubric import RubricJudge
from polyjudge.judges.word_verdicts import load_wording
from polyjudge.providers.scripted import RecordedAnswer, ScriptedProvider, identity_of
from polyjudge.records.calibration import Figure, JudgeIdentity
from polyjudge.records.fingerprint import canonical_json, fingerprint
from polyjudge.records.outcomes import Item
from polyjudge.records.requests import ModelName, Origin, Request
from polyjudge.records.rubrics import RubricCriterion

ORIGIN = Origin("openai", "https://x/v1")
SILENT = ScriptedProvider(lambda _: "")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, "c3452f409125359faf4f810ea104743b8621b54b6470c802482810e651d2913d"),
        ({"temperature": 0.0}, "a43ec38f62ea5b5330fbc785cd31413650511b9914d459fb71c068cccb866dc4"),
        ({"temperature": 0}, "a43ec38f62ea5b5330fbc785cd31413650511b9914d459fb71c068cccb866dc4"),
        (
            {"schema": {"a": [1, 2.0, ("x",)], "b": {"c": None}}},
            "0090b4a3cb984c54590fff15b018e26adf39e40a0c16d284538e0c4b926848ab",
        ),
        (
            {"system": "s", "max_tokens": 5, "repeat": 2, "temperature": 0.5},
            "12959d50da8492c694a86efc1e189b1af3f94d22cfda11edce047e615f280c0d",
        ),
    ],
)
def test_the_key_of_a_request_does_not_change(changes, key):
    assert request_key(ORIGIN, Request(prompt="p é \ud800", model="m", **changes)) == key


def test_the_fingerprints_of_records_do_not_change():
    known = JudgeIdentity(provider="p", model="m", rubric="r", rubric_fingerprint="f")
    answer = RecordedAnswer("a", contains=("b",), input_tokens=3)
    records = [Item("a", "b", {"k": "v"}), ModelName("a", "b"), Figure(1.0, None, 2), known, identity_of(answer)]

    assert fingerprint(records, 16) == "f3d1a77110265f38"
    assert canonical_json(Figure(1.0)) == '{"high":null,"low":null,"value":1}'


def test_the_fingerprints_of_judges_do_not_change():
    criterion = RubricCriterion("a", "b", 2, {1: "x", 5: "y"})

    assert RubricJudge([criterion], provider=SILENT).fingerprint == "b8dc276c86ba6bab"
    assert PairwiseJudge([RubricCriterion("a", "b")], provider=SILENT).fingerprint == "f571ed1b37d33262"
    assert fingerprint([load_wording("es")], 16) == "6c64ebcd10ee779e"
    assert (
        hash_key("m", "p", "c", x=RubricCriterion("a", "b"))
        == "f51edd553039e1b3dc678d8976b27baf9c6b728624aa5a705db1e69061bc3268"
    )
