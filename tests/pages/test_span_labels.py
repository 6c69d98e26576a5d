"""Labels that mark errors: what is stored, what is refused, and what other commands make of it."""

import json
from pathlib import Path

import jsonschema
import pytest
import referencing
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.columns import AS_IT_IS
from polyjudge.formats.span_rows import read_spans as read_span_rows
from polyjudge.languages.table import language_table
from polyjudge.pages.labelling import Labelling, Task
from polyjudge.pages.sampling import LabelItem, Sample
from polyjudge.pages.span_labels import penalised, proposed_spans, read_spans
from polyjudge.records.codec import schema
from polyjudge.records.spans import ErrorSpan
from polyjudge.store.labels import LabelLog, read_labels
from polyjudge.text.difference import graphemes

TEXT = "น้ำ और 👩\u200d👧 e\u0301"
ITEM = LabelItem(id="1", language="th", source="two cats", output=TEXT, reference="", score=None, weight=1.0)


def labelling(scale="mqm", path="labels.jsonl", **more):
    sample = Sample({"1": ITEM}, {"th": [None]}, ())
    return Labelling(Task(sample, scale, 0, language_table(), **more), LabelLog(Path(path)))


def said(**more):
    return {"id": "1", "annotator": "Ada", **more}


@given(st.integers(0, len(TEXT) - 1), st.integers(1, len(TEXT)))
def test_places_are_widened_to_graphemes_and_have_their_words(start, length):
    end = min(start + length, len(TEXT))
    (span,) = read_spans([{"start": start, "end": end, "severity": "minor"}], ITEM)

    edges, place = {0}, 0
    for cluster in graphemes(TEXT):
        place += len(cluster)
        edges.add(place)
    assert {span.start, span.end} <= edges
    assert span.start <= start < end <= span.end
    assert TEXT[span.start : span.end] == span.text


@pytest.mark.parametrize(
    "span",
    [
        "text",
        {"start": 0, "end": 99, "severity": "minor"},
        {"start": 2, "end": 2, "severity": "minor"},
        {"start": True, "end": 2, "severity": "minor"},
        {"start": 0, "end": None, "severity": "minor"},
        {"start": 0, "end": 1, "severity": "bad"},
        {"start": 0, "end": 1, "severity": ["minor"]},
        {"start": 0, "end": 1, "severity": "minor", "side": "reference"},
        {"start": 0, "end": 1, "severity": "minor", "state": "proposed"},
        {"start": 0, "end": 1, "severity": "minor", "category": "x" * 3_000},
        {"start": 0, "end": 1, "severity": "minor", "explanation": 5},
    ],
)
def test_a_broken_span_is_refused_and_nothing_is_stored(span, in_folder):
    page = labelling()
    with pytest.raises(DataError):
        page.take(said(label=0, spans=[span]))
    with pytest.raises(DataError):
        page.take(said(label=0, spans=[{"start": 0, "end": 1, "severity": "minor"}] * 201))
    page.log.close()
    assert not Path("labels.jsonl").exists()


def test_the_score_of_marked_errors_is_minus_their_penalties_whatever_the_page_says(in_folder):
    page = labelling()
    spans = [
        {"start": 0, "end": 3, "severity": "major"},
        {"side": "source", "start": 0, "end": 3, "severity": "minor", "category": "accuracy/omission"},
        {"start": 0, "end": 1, "severity": "critical", "state": "rejected"},
    ]
    assert page.take(said(label=99, spans=spans))["label"] == -6
    assert penalised([ErrorSpan(text="", severity="critical")] * 2) == -25
    page.log.close()

    row = json.loads(Path("labels.jsonl").read_text(encoding="utf-8"))
    wanted, common = schema("label"), schema("outcome")
    registry = referencing.Registry().with_resource("outcome.schema.json", referencing.Resource.from_contents(common))
    jsonschema.Draft202012Validator(wanted, registry=registry).validate(row)
    assert [span.text for span in read_labels(Path("labels.jsonl"))[0].spans] == [TEXT[:3], "two", TEXT[:3]]


@pytest.mark.parametrize(
    ("given", "is_right"),
    [(0, True), (73.5, True), (100, True), (101, False), (-1, False), ("5", False), (True, False)],
)
def test_people_give_esa_scores_from_0_to_100(given, is_right, in_folder):
    page = labelling("esa")
    if is_right:
        assert page.take(said(label=given, spans=[]))["label"] == given
    else:
        with pytest.raises(DataError):
            page.take(said(label=given, spans=[]))
    page.log.close()


def test_marks_are_stored_before_the_label_and_come_back_for_the_same_person_alone(in_folder):
    page = labelling("esa")
    page.take(said(spans=[{"start": 0, "end": 3, "severity": "minor"}]))
    page.log.close()
    again = labelling("esa")
    (mine,), (other,) = again.overview("Ada")["items"], again.overview("Eve")["items"]
    again.log.close()
    assert (mine["label"], [span["text"] for span in mine["spans"]]) == (None, [TEXT[:3]])
    assert other["spans"] == []


def test_labels_of_another_kind_are_refused_and_old_files_are_read(in_folder):
    page = labelling("1-5")
    page.take(said(label=4))
    page.log.close()
    assert "spans" not in json.loads(Path("labels.jsonl").read_text(encoding="utf-8"))
    assert read_labels(Path("labels.jsonl"))[0].spans is None
    with pytest.raises(ConfigError, match="another scale"):
        labelling("mqm")
    page = labelling("mqm", "marks.jsonl")
    page.take(said(label=0, spans=[]))
    page.log.close()
    with pytest.raises(ConfigError, match="another scale"):
        labelling("1-5", "marks.jsonl")


def test_labels_feed_the_agreement_of_spans(in_folder, capsys):
    page = labelling()
    page.take(said(label=0, spans=[{"start": 0, "end": 3, "severity": "major"}]))
    page.take({**said(label=0, spans=[{"start": 0, "end": 3, "severity": "minor"}]), "annotator": "Eve"})
    page.log.close()
    found = read_span_rows(Path("labels.jsonl"), AS_IT_IS)
    assert [(each.annotator, [mark.start for mark in each.marks]) for each in found.annotations] == [
        ("Ada", [0]),
        ("Eve", [0]),
    ]
    assert found.refused == {}


def test_proposed_spans_are_those_of_the_results_that_stand_in_their_text(in_folder):
    spans = [
        {"text": "น้ำ", "start": 0, "end": 3, "severity": "minor", "state": "located"},
        {"text": "x", "start": 0, "end": 1, "severity": "minor", "state": "rejected"},
        {"text": "lost", "severity": "minor", "state": "proposed", "refusal": "not in the text"},
    ]
    Path("r.jsonl").write_text(json.dumps({"id": "1", "candidate": TEXT, "spans": spans}) + "\n", encoding="utf-8")
    proposed = proposed_spans(Path("r.jsonl"), {"1": ITEM}, AS_IT_IS)
    assert [span.text for span in proposed["1"]] == ["น้ำ"]
    page = labelling(proposed=proposed)
    assert [span["text"] for span in page.item("1")["proposed"]] == ["น้ำ"]
    page.log.close()


def test_showing_proposed_errors_needs_a_scale_with_errors(in_folder, capsys):
    Path("r.jsonl").write_text('{"id": "1", "candidate": "x", "score": 1}\n', encoding="utf-8")
    assert main(["label", "r.jsonl", "--show-proposed"]) == 2
    assert "--scale mqm" in capsys.readouterr().err


def test_what_is_said_of_an_error_is_kept_whatever_its_characters(in_folder):
    page = labelling()
    words = {"explanation": "\ud800 \x00 \u202e <b>", "correction": "é" * 2_000, "quote": "น้ำ"}
    page.take(said(label=0, spans=[{"start": 0, "end": 1, "severity": "minor", **words}]))
    with pytest.raises(DataError, match="at most 2,000"):
        page.take(said(label=0, spans=[{"start": 0, "end": 1, "severity": "minor", "correction": "é" * 2_001}]))
    page.log.close()

    [label] = read_labels(Path("labels.jsonl"))
    assert {name: getattr(label.spans[0], name) for name in words} == words
    assert Path("labels.jsonl").read_bytes().decode("utf-8")
