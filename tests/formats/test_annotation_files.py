"""Error spans written as MQM, ESA and Pearmut files are read back as they were."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.formats.annotation_files import write_annotations
from polyjudge.formats.annotations import rating_row
from polyjudge.formats.converting import RowsToConvert
from polyjudge.formats.error_spans import mqm_score

DATA = Path(os.environ.get("POLYJUDGE_DATA", "/nowhere")) / "esa_mqm_dev"
NAMES = {"mqm": "en-th.mqm.tsv", "esa": "esa.csv", "pearmut": "annotations.jsonl"}
WORDS = st.text(
    st.sampled_from("ab ,\"'#;" + "بنا\u064e" + "กรุมู" + "नमस्ते" + "温かい" + "👩\u200d👧🇩🇪"), min_size=1, max_size=20
)


def read(path):
    return [dict(row) for row in RowsToConvert(path)]


def converted(rows, folder, form):
    source = folder / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    output = folder / NAMES[form]
    notes = write_annotations(RowsToConvert(source), output, form)
    return read(output), notes


@st.composite
def ratings(draw, form):
    text, source = draw(WORDS), draw(WORDS)
    spans = []
    for _ in range(draw(st.integers(0, 3))):
        first, last = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        span = {
            "severity": draw(st.sampled_from(("minor", "major", "critical"))),
            "category": draw(st.sampled_from(("Accuracy/Omission", "Style"))),
        }
        if draw(st.booleans()):
            span |= {"start": None, "end": None, "text": None}
        else:
            span |= {"start": first, "end": last, "text": None if form == "esa" else text[first:last]}
        spans.append(span)
    index = draw(st.integers(0, 9))
    label = mqm_score(spans) if form == "mqm" else float(draw(st.integers(1, 100)))
    texts = {} if form == "esa" else {"candidate": text, "source": source}
    extra = {"system": "s1", "index": str(index), "type": "TGT", "complete": "False", "started": "1", "ended": "2"}
    name, more = {
        "mqm": (f"en-th/{index}", {"extra": {"doc_id": "4"}}),
        "esa": (f"d1/{index}", {"extra": extra}),
        "pearmut": (f"en-th-{index}", {"extra": {"item_i": index}}),
    }[form]
    return rating_row(
        name,
        draw(st.sampled_from(("Ann", "Bằng"))),
        label,
        spans,
        system="s1",
        document="d1",
        **texts,
        language="th",
        languagePair="en-th",
        **more,
    )


@pytest.mark.parametrize("form", NAMES)
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_written_is_read_back_equal_in_every_script(form, data):
    rows = data.draw(
        st.lists(ratings(form), min_size=1, max_size=4, unique_by=lambda row: (row["annotator"], row["id"]))
    )
    with tempfile.TemporaryDirectory() as folder:
        found, notes = converted(rows, Path(folder), form)
    key = lambda row: (row["annotator"], row["id"])  # noqa: E731
    assert sorted(found, key=key) == sorted(rows, key=key)
    assert notes == []


def test_spans_of_a_judge_are_written_without_those_that_do_not_count(tmp_path):
    spans = [
        {
            "text": "x",
            "start": 0,
            "end": 1,
            "severity": "major",
            "category": "a",
            "state": "confirmed",
            "explanation": "why",
        },
        {"text": "y", "start": 1, "end": 2, "severity": "major", "state": "rejected"},
        {"text": "z", "severity": "major", "state": "proposed", "refusal": "ambiguous"},
        {"text": "ab", "start": 0, "end": 2, "side": "source", "severity": "minor", "category": "Omission"},
    ]
    row = {"id": "1", "annotator": "Ann", "candidate": "xy", "source": "abc", "label": 3, "spans": spans}
    found, _ = converted([row], tmp_path, "mqm")
    assert [(span["start"], span.get("sourceText"), span.get("comment")) for span in found[0]["spans"]] == [
        (0, None, "why"),
        (None, "ab", None),
    ]


def test_what_was_said_of_an_error_is_kept_by_every_format(tmp_path):
    said = {"explanation": "خطأ\nin two lines", "correction": "حساء"}
    span = {"text": "b", "severity": "minor", "start": 1, "end": 2, "side": "output", "state": "located", **said}
    row = {"id": "1", "languagePair": "en-th", "candidate": "abc", "source": "x", "annotator": "Ada"}
    row |= {"label": -1.0, "labelFrom": "spans", "spans": [span]}

    comments = {form: converted([row], tmp_path, form)[0][0]["spans"][0] for form in NAMES}

    assert comments["mqm"]["comment"] == "خطأ in two lines; correction: حساء"
    for form in ("esa", "pearmut"):
        assert {name: comments[form][name] for name in said} == said


def test_what_a_format_cannot_have_is_left_out_and_said(tmp_path):
    good = {"id": "1", "annotator": "A", "candidate": "x", "source": "s", "label": 1, "spans": []}
    rows = [
        good,
        {**good, "id": "2", "candidate": "a\tb"},
        {**good, "id": "3", "candidate": "<v>"},
        {"id": "4", "label": 2, "candidate": "x"},
    ]
    found, notes = converted(rows, tmp_path, "mqm")
    assert [row["id"] for row in found] == ["en-th/1"]
    assert len(notes) == 3
    with pytest.raises(DataError, match="no row has error spans"):
        converted([{"id": "4", "label": 2, "candidate": "x"}], tmp_path / ".." / tmp_path.name, "esa")


def test_a_table_whose_name_would_give_other_languages_is_refused(tmp_path):
    row = {
        "id": "1",
        "annotator": "A",
        "candidate": "x",
        "source": "s",
        "label": 1,
        "spans": [],
        "languagePair": "en-de",
    }
    with pytest.raises(DataError, match=r"en-de\.mqm\.tsv"):
        converted([row], tmp_path, "mqm")


def test_the_command_asks_for_the_suffix_by_which_a_file_is_recognised(in_folder, capsys):
    Path("rows.jsonl").write_text(json.dumps({"id": "1", "candidate": "x", "spans": []}) + "\n", encoding="utf-8")
    assert main(["convert", "rows.jsonl", "out.csv", "--to", "pearmut"]) == 2
    assert ".jsonl" in capsys.readouterr().err
    assert main(["convert", "rows.jsonl", "out.jsonl", "--to", "pearmut"]) == 0


@pytest.mark.skipif(not DATA.is_dir(), reason="POLYJUDGE_DATA is not set")
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("mqm_ted_ende.tsv", "mqm"),
        ("esa_wmt24_wave2_encs.csv", "esa"),
        ("appraise_mqm_wmt23_ende.scores.csv", "esa"),
        ("pearmut_annotations.sample.jsonl", "pearmut"),
    ],
)
def test_published_files_are_the_same_after_writing_them(name, form, tmp_path):
    output = tmp_path / {"mqm": "mqm_ende.tsv", "esa": "x.csv", "pearmut": "x.jsonl"}[form]
    assert write_annotations(RowsToConvert(DATA / name), output, form) == []
    assert read(output) == read(DATA / name)
