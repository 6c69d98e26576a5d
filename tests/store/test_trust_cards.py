"""Trust cards on disk are complete, never lost, and never used for another judge."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.errors import DataError
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
from polyjudge.records.codec import from_json
from polyjudge.store.trust_cards import card_path, card_row, expiry, find_card, read_card, update_card

JUDGE = JudgeIdentity(
    provider="claude-code",
    model="opus",
    rubric="translation",
    rubric_fingerprint="0123456789abcdef",
    prompt_sha256="aa" * 32,
    model_answered="opus-2026-01",
)
RESULT = MonotonicityResult(
    perturbation="drop_words",
    language="th",
    texts=9,
    unjudged=2,
    auc=Figure(0.9, 0.8, 1.0),
    drop=Figure(0.5, 0.4, 0.6),
    rank_correlation=Figure(-0.9, -1.0, -0.8),
    violations=Figure(0.0, 0.0, 0.1),
    noticed_from=Figure(0.25, 0.25, None),
    verdict="reliable",
    languages={"reliable": 3},
    curve=(CurvePoint(severity=0.0, score=Figure(0.9, 0.8, 1.0)), CurvePoint(severity=1.0, score=Figure(0.1))),
)
FULL = TrustCard(
    judge=JUDGE,
    updated_at="2026-01-02T03:04:05Z",
    polyjudge_version="1.2.3",
    languages={
        "th": LanguageTrust(
            verdict="unreliable",
            discrimination=Figure(0.5, 0.4, 0.59),
            texts=5,
            comparisons=25,
            measured_at="2026-01-02",
            perturbations={"drop_words": RESULT},
            false_alarms=Figure(0.0, 0.0, 0.4),
            agreement={"spearman": Figure(0.3)},
            labels=12,
        ),
        "": LanguageTrust(),
    },
    perturbations={"drop_words": RESULT},
    controls={"nfc": ControlResult(control="nfc", texts=5, false_alarms=Figure(0.2), shift=Figure(-0.01))},
    effects={
        "position": Effect(name="position", about="order", size=Figure(0.5), count=8, by_language={"th": Figure(1)})
    },
    agreement={"kappa": Figure(0.4, 0.3, 0.5)},
    labels=40,
    runs=({"kind": "perturb", "texts": 5, "deep": {"a": [1, None, "ü"]}},),
)


def test_a_card_survives_a_round_trip(tmp_path):
    path = tmp_path / "card.json"
    update_card(path, lambda _: FULL)

    assert read_card(path) == FULL


def test_the_folder_of_a_card_is_created(tmp_path):
    path = tmp_path / "a" / "b" / "card.json"

    assert update_card(path, lambda card: FULL if card is None else replace(FULL, labels=0)) == FULL
    assert [each.name for each in path.parent.iterdir()] == ["card.json"]


@settings(max_examples=40)
@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_any_name_of_a_judge_or_language_survives_a_round_trip(tmp_path_factory, provider, model, language):
    path = tmp_path_factory.mktemp("card") / "card.json"
    judge = replace(JUDGE, provider=provider, model=model)
    card = TrustCard(judge=judge, updated_at="", languages={language: LanguageTrust(texts=3)})
    update_card(path, lambda _: card)

    assert read_card(path) == card


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_the_file_of_a_card_never_leaves_its_folder(tmp_path_factory, provider, model, rubric):
    folder = tmp_path_factory.mktemp("cards")
    path = card_path(replace(JUDGE, provider=provider, model=model, rubric=rubric), folder)

    assert path.parent == folder
    assert path.name.endswith(".json")
    assert len(path.name.encode()) < 255


DAMAGED = {
    "empty": b"",
    "cut": b'{"schemaVersion": 1, "judge": {',
    "no text": b"\xff\xfe\x00\x01",
    "null": b"null",
    "list": b"[]",
    "number": b"1",
    "text": b'"card"',
    "no version": b"{}",
    "older": b'{"schemaVersion": 0}',
    "newer": b'{"schemaVersion": 2}',
    "version in words": b'{"schemaVersion": "1"}',
    "no judge": b'{"schemaVersion": 1, "updatedAt": ""}',
    "judge is text": b'{"schemaVersion": 1, "updatedAt": "", "judge": "opus"}',
    "foreign": b'{"schemaVersion": 1, "id": "a", "outcome": "result", "score": 3, "reason": ""}',
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "deep and open": b'{"schemaVersion": 1, "runs": ' + b"[" * 200_000,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_or_foreign_file_is_an_error_with_its_path(tmp_path, name):
    path = tmp_path / "card.json"
    path.write_bytes(DAMAGED[name])

    with pytest.raises(DataError, match=r"card\.json") as caught:
        read_card(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("languages", []),
        ("languages", {"th": {"verdict": "perfect"}}),
        ("languages", {"th": {"texts": 1.5}}),
        ("perturbations", {"typos": {"perturbation": "typos"}}),
        ("agreement", {"kappa": 0.5}),
        ("runs", {"a": 1}),
        ("labels", "many"),
        ("updatedAt", 5),
    ],
)
def test_a_field_of_the_wrong_type_is_an_error_with_file_and_field(tmp_path, field, value):
    path = tmp_path / "card.json"
    path.write_text(json.dumps({**card_row(FULL), field: value}), encoding="utf-8")

    with pytest.raises(DataError, match=rf"card\.json.*{field}"):
        read_card(path)


def test_a_number_of_thousands_of_digits_is_an_error_with_the_file(tmp_path):
    path = tmp_path / "card.json"
    path.write_text('{"schemaVersion": 1, "labels": ' + "9" * 5000 + "}")

    with pytest.raises(DataError, match=r"card\.json"):
        read_card(path)


def test_the_message_about_a_huge_value_is_short(tmp_path):
    path = tmp_path / "card.json"
    path.write_text(json.dumps({"schemaVersion": 1, "updatedAt": "", "judge": "x" * 1_000_000}))

    with pytest.raises(DataError) as caught:
        read_card(path)
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999"])
def test_nan_and_infinity_are_errors(tmp_path, value):
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_row(FULL)).replace("0.59", value))

    with pytest.raises(DataError):
        read_card(path)


def test_a_missing_file_and_a_folder_are_errors(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            read_card(path)


def test_unknown_keys_are_ignored(tmp_path):
    path = tmp_path / "card.json"
    path.write_text(json.dumps({**card_row(FULL), "colour": "blue"}), encoding="utf-8")

    assert read_card(path) == FULL


def test_a_failed_change_does_not_change_the_card(tmp_path):
    path = tmp_path / "card.json"
    update_card(path, lambda _: FULL)

    def fail(_):
        raise DataError("no")

    with pytest.raises(DataError):
        update_card(path, fail)
    assert read_card(path) == FULL
    assert [each.name for each in tmp_path.iterdir()] == ["card.json"]


def test_a_damaged_card_is_not_replaced(tmp_path):
    path = tmp_path / "card.json"
    path.write_text("{")

    with pytest.raises(DataError):
        update_card(path, lambda _: FULL)
    assert path.read_text() == "{"


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(DataError, match="cannot be written"):
        update_card(tmp_path / "file" / "card.json", lambda _: FULL)


ADDING = """
import sys
from msgspec.structs import replace
from pathlib import Path
from polyjudge.store.trust_cards import update_card
from polyjudge.records.calibration import JudgeIdentity, LanguageTrust, TrustCard
path, name = Path(sys.argv[1]), sys.argv[2]
empty = TrustCard(judge=JudgeIdentity(provider="p", model="m", rubric="r", rubric_fingerprint="f"), updated_at="")
for number in range(40):
    def change(card):
        found = card or empty
        return replace(found, languages={**found.languages, f"{name}-{number}": LanguageTrust(texts=number)})
    update_card(path, change)
"""


def test_concurrent_updates_of_a_card_are_not_lost(tmp_path):
    path = tmp_path / "card.json"
    running = [subprocess.Popen([sys.executable, "-c", ADDING, str(path), name]) for name in ("a", "b", "c")]

    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert set(read_card(path).languages) == {f"{name}-{number}" for name in "abc" for number in range(40)}


# Expiry


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("provider", "codex", "the judge was claude-code/opus, now codex/opus"),
        ("model", "sonnet", "the judge was claude-code/opus, now claude-code/sonnet"),
        ("rubric_fingerprint", "f" * 16, "the rubric has changed"),
        ("prompt_sha256", "bb" * 32, "the prompt has changed"),
        ("model_answered", "opus-2026-02", "the model that answers was opus-2026-01, now opus-2026-02"),
    ],
)
def test_a_card_expires_when_any_property_of_the_judge_changes(field, value, message):
    other = replace(JUDGE, **{field: value})

    assert expiry(JUDGE, other) == message
    assert expiry(other, JUDGE)


@pytest.mark.parametrize("field", ["rubric_fingerprint", "prompt_sha256", "model_answered"])
def test_unknown_properties_of_a_judge_count_as_unchanged(field):
    unknown = replace(JUDGE, **{field: ""})

    assert expiry(JUDGE, unknown) == ""
    assert expiry(unknown, JUDGE) == ""


def test_a_renamed_rubric_with_the_same_questions_is_the_same_judge():
    assert expiry(JUDGE, replace(JUDGE, rubric="translations")) == ""


def test_a_card_is_found_in_its_folder(tmp_path):
    update_card(card_path(JUDGE, tmp_path), lambda _: FULL)
    found = find_card(JUDGE, tmp_path)

    assert (found.card, found.why) == (FULL, "")


def test_without_a_card_or_folder_nothing_is_found_or_expired(tmp_path):
    for folder in (tmp_path, tmp_path / "none"):
        found = find_card(JUDGE, folder)
        assert (found.card, found.path) == (None, None)
        assert found.why
        assert "expired" not in found.why


def test_a_card_of_an_older_rubric_with_the_same_name_is_mentioned(tmp_path):
    update_card(card_path(JUDGE, tmp_path), lambda _: FULL)
    found = find_card(replace(JUDGE, rubric_fingerprint="fedcba9876543210"), tmp_path)

    assert (found.card, found.why) == (None, "its card has expired: the rubric has changed")


def test_a_card_of_another_judge_is_not_used(tmp_path):
    update_card(card_path(JUDGE, tmp_path), lambda _: FULL)

    for other in (replace(JUDGE, model="sonnet"), replace(JUDGE, provider="codex"), replace(JUDGE, rubric="other")):
        found = find_card(other, tmp_path)
        assert found.card is None
        assert "expired" not in found.why


@pytest.mark.parametrize(
    ("field", "value"), [("prompt_sha256", "bb" * 32), ("model_answered", "opus-2026-02"), ("model", "sonnet")]
)
def test_a_given_card_expires_like_any_other(tmp_path, field, value):
    path = tmp_path / "mine.json"
    update_card(path, lambda _: FULL)
    found = find_card(replace(JUDGE, **{field: value}), path=path)

    assert found.card is None
    assert found.why.startswith("its card has expired: the ")


def test_a_given_card_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"none\.json"):
        find_card(JUDGE, path=tmp_path / "none.json")


def test_no_card_is_mentioned_for_a_jury_with_a_long_name(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    jury = replace(JUDGE, provider="jury", model="+".join(f"provider/model-{number}" for number in range(20)))

    assert "expired" not in find_card(jury, tmp_path).why


def test_two_judges_never_share_a_file():
    judges = [
        JUDGE,
        replace(JUDGE, model="Opus"),
        replace(JUDGE, model="opus/x"),
        replace(JUDGE, model="opus x"),
        replace(JUDGE, rubric_fingerprint="1123456789abcdef"),
        replace(JUDGE, rubric="translation2"),
    ]

    assert len({card_path(judge) for judge in judges}) == len(judges)


def test_a_card_row_is_read_by_its_record():
    row = card_row(FULL)

    assert row.pop("schemaVersion") == 1
    assert set(row) <= set(TrustCard.__struct_encode_fields__)
    assert from_json(TrustCard, row) == FULL


def test_a_card_with_the_verdicts_of_earlier_versions_is_read(tmp_path):
    written = tmp_path / "card.json"
    update_card(written, lambda _: FULL)
    words = written.read_text(encoding="utf-8").replace("unreliable", "insensitive").replace("reliable", "sensitive")
    written.write_text(words, encoding="utf-8")

    card = read_card(written)

    assert "insensitive" in words
    assert "reliable" not in words
    assert card.languages["th"].verdict == "unreliable"
    assert card.languages["th"].perturbations["drop_words"].languages == {"reliable": 3}
