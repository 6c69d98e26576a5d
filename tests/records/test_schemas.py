"""The shipped JSON Schemas are those of the records."""

import json

import jsonschema
import pytest
import referencing
from docs.schemas import FOLDER, field_docstrings, schemas
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from polyjudge.formats.translation_scores import score_row
from polyjudge.providers.scripted import RecordedAnswer
from polyjudge.records.calibration import (
    ControlResult,
    CurvePoint,
    Effect,
    Figure,
    JudgeIdentity,
    LanguageTrust,
    MonotonicityResult,
    TrustCard,
)
from polyjudge.records.codec import schema, schema_names, to_json
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.translation import LanguageScore, PromptScore
from polyjudge.store.trust_cards import card_row


def fits(name, value):
    registry = referencing.Registry().with_resources(
        [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    )
    return jsonschema.Draft202012Validator(schema(name), registry=registry).is_valid(json.loads(json.dumps(value)))


def test_the_schemas_are_current():
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}

    assert written == schemas(), "run: make docs"


def test_the_docstring_of_a_field_is_its_description():
    assert field_docstrings(JudgeResult)["raw"] == "The unchanged reply."
    described = schema("outcome")["$defs"]["result"]["properties"]
    assert described["raw"] == {"type": "string", "description": "The unchanged reply."}
    assert described["weightedScore"]["type"] == ["number", "null"]


TEXT = st.text(max_size=5)
NUMBER = st.integers(0, 5) | st.floats(0, 5)
FIGURES = st.builds(Figure, *[st.none() | NUMBER] * 3)
MEASURED = st.builds(
    MonotonicityResult,
    perturbation=TEXT,
    texts=st.integers(0, 9),
    auc=FIGURES,
    verdict=st.sampled_from(["reliable", "unreliable", "not enough data", "sensitive", "insensitive"]),
    languages=st.dictionaries(TEXT, st.integers(0, 9), max_size=2),
    curve=st.lists(st.builds(CurvePoint, severity=st.floats(0, 1), score=FIGURES), max_size=2).map(tuple),
)
CARDS = st.builds(
    TrustCard,
    judge=st.builds(JudgeIdentity, provider=TEXT, model=TEXT, rubric=TEXT, rubric_fingerprint=TEXT),
    updated_at=TEXT,
    languages=st.dictionaries(TEXT, st.builds(LanguageTrust, discrimination=FIGURES), max_size=2),
    perturbations=st.dictionaries(TEXT, MEASURED, max_size=2),
    controls=st.dictionaries(TEXT, st.builds(ControlResult, control=TEXT, texts=st.integers(0, 9)), max_size=2),
    effects=st.dictionaries(TEXT, st.builds(Effect, name=TEXT, about=TEXT, size=FIGURES), max_size=2),
)
SCORE = st.none() | st.integers(1, 5) | st.floats(1, 5)
SCORES = {"script_score": SCORE, "grammar_score": SCORE, "coherence_score": SCORE, "notes": TEXT, "error": TEXT}
PROMPTS = st.builds(PromptScore, index=st.integers(0, 9), is_correct_language=st.none() | st.booleans(), **SCORES)
LANGUAGES = st.builds(
    LanguageScore,
    language_name=TEXT,
    means=st.dictionaries(TEXT, NUMBER, max_size=2),
    prompts=st.lists(PROMPTS, max_size=2).map(tuple),
    **SCORES,
)


@given(card=CARDS)
def test_every_trust_card_fits_its_schema(card):
    assert fits("trust-card", card_row(card))


@given(score=LANGUAGES)
def test_every_score_of_a_language_fits_its_schema(score):
    assert fits("translation-scores", [score_row(score)])


@pytest.mark.parametrize(
    ("answer", "is_valid"),
    [
        (RecordedAnswer("yes"), True),
        (RecordedAnswer("", prompt_sha256="ab" * 32, contains=("a", "b"), finish="length", input_tokens=3), True),
        (RecordedAnswer("no", error="transient"), True),
        (RecordedAnswer("no", prompt_sha256="ab"), False),
        (structs.replace(RecordedAnswer("no"), contains=(5,)), False),
    ],
)
def test_a_recorded_answer_fits_its_schema(answer, is_valid):
    assert fits("recording", to_json(answer)) == is_valid
    assert not fits("recording", {**to_json(answer), "reply": ""})
