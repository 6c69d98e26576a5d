"""Error spans in reports: marks that hold in every script, overlaps, escapes, counts, and what does not count."""

import json
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.files.json_lines import row_line
from polyjudge.records.outcomes import Item, JudgeResult, item_row
from polyjudge.records.spans import ErrorSpan
from polyjudge.reports.page_items import PageItem, marked, part_row
from polyjudge.reports.span_marks import bracketed, marked_line, span_marks, span_notes, spans_of, split_at_marks
from polyjudge.text.difference import graphemes
from polyjudge.text.display import harmless

SCRIPTS = st.text(
    st.sampled_from("ab 1<>&`*[]⟦⟧" + "ء\u064eبنا" + "กรุมู" + "नमस्ते" + "温かい" + "👩\u200d👧🇩🇪e\u0301\r\n"), max_size=40
)
SEVERITY = st.sampled_from(("minor", "major", "critical"))


@st.composite
def marked_texts(draw):
    text = draw(SCRIPTS)
    places = draw(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), SEVERITY), max_size=6))
    spans = tuple(
        ErrorSpan(text="x", severity=severity, start=min(one, other), end=max(one, other) + 1, category="a/b")
        for one, other, severity in places
    )
    return text, spans


def cluster_edges(text):
    edges, place = {0}, 0
    for cluster in graphemes(text):
        place += len(cluster)
        edges.add(place)
    return edges


@given(marked_texts())
def test_the_pieces_of_a_text_are_the_text_and_no_grapheme_is_cut(case):
    text, spans = case
    pieces = split_at_marks(text, span_marks(spans, text, "output"))

    assert "".join(piece[0] for piece in pieces) == harmless(text)
    assert all(
        mark.low in cluster_edges(text) and mark.high in cluster_edges(text)
        for mark in span_marks(spans, text, "output")
    )


@given(marked_texts())
def test_each_mark_covers_its_span_and_its_number_is_shown_once(case):
    text, spans = case
    marks = span_marks(spans, text, "output")
    pieces = split_at_marks(text, marks)

    shown = [number for piece in pieces if len(piece) > 2 for number in str(piece[2]).split()]
    assert sorted(shown) == sorted(str(mark.number) for mark in marks)
    for mark in marks:
        span = spans[mark.number - 1]
        assert mark.low <= span.start
        assert mark.high >= min(span.end, len(text))


@given(marked_texts())
def test_the_text_comes_back_from_its_brackets(case):
    text, spans = case
    shown = bracketed(text, spans, "output")
    without = re.sub(r"⟦\d+:|:\d+⟧", "", shown)

    assert without.replace(r"\u27e6", "⟦").replace(r"\u27e7", "⟧") == text
    marks = span_marks(spans, text, "output")
    assert [shown.count(f"⟦{mark.number}:") for mark in marks] == [1] * len(marks)
    assert [shown.count(f":{mark.number}⟧") for mark in marks] == [1] * len(marks)


def test_overlapping_spans_have_the_style_of_the_worst_and_say_that_they_are_several():
    spans = (
        ErrorSpan(text="b c", severity="minor", start=2, end=5),
        ErrorSpan(text="c d", severity="critical", start=4, end=7),
    )
    assert split_at_marks("a b c d e", span_marks(spans, "a b c d e", "output")) == [
        ["a "],
        ["b ", "minor"],
        ["c", "critical over", 1],
        [" d", "critical", 2],
        [" e"],
    ]
    assert bracketed("a b c d e", spans, "output") == "a ⟦1:b ⟦2:c:1⟧ d:2⟧ e"


def test_omissions_are_boxes_in_the_source_and_what_does_not_count_has_no_mark():
    spans = (
        ErrorSpan(text="two", severity="major", start=0, end=3, side="source", category="accuracy/omission"),
        ErrorSpan(text="cat", severity="major", start=4, end=7, side="source", category="source error"),
        ErrorSpan(text="dog", severity="major", start=0, end=3, state="rejected", verification="no <b>error</b>"),
        ErrorSpan(text="cow", severity="minor", state="proposed", refusal="not in the text"),
    )
    row = part_row([PageItem(title="1", status="FAIL", source="two cat", output="dog", spans=spans)])["items"][0]

    assert row["source"] == [["two", "gone", 1], [" "], ["cat", "src", 2]]
    assert row["output"] == "dog"
    assert [(each[0], each[2]) for each in row["spans"]] == [
        (1, "major"),
        (2, "major"),
        (0, "rejected"),
        (0, "refused"),
    ]
    assert row["spans"][3][-1] == "Refused: not in the text. It counts nothing."


def test_findings_are_numbered_after_the_spans():
    from polyjudge.records.findings import Finding

    span = ErrorSpan(text="one", severity="minor", start=0, end=3)
    finding = Finding(kind="loop", severity="fail", message="again", start=4, end=7)
    assert marked("one two", [finding], [span]) == [["one", "minor", 1], [" "], ["two", "critical", 2]]


def test_spans_of_people_stand_where_their_words_are():
    row = {
        "candidate": "We like soup",
        "source": "Wir mögen heiße Suppe",
        "spans": [
            {"start": 3, "end": 7, "severity": "Major", "category": None},
            {"start": 6, "end": 10, "text": "soup", "severity": "minor"},
            {"start": 0, "end": 2, "text": "bread", "severity": "minor"},
            {"sourceStart": 10, "sourceEnd": 15, "severity": "critical"},
            {"severity": "no-error"},
            {"start": "missing", "severity": "major"},
            "broken",
        ],
    }
    found = [(span.text, span.start, span.side, span.refusal) for span in spans_of(row)]
    assert found == [
        ("like", 3, "output", ""),
        ("soup", 8, "output", ""),
        ("bread", None, "output", "not in the text"),
        ("heiße", 10, "source", ""),
        ("", None, "output", ""),
    ]


def write_spans(*results):
    rows = [
        item_row(Item(str(place), text, {"source": "A <b>source</b>"}, "ar"), each)
        for place, (text, each) in enumerate(results)
    ]
    Path("run.jsonl").write_text("".join(map(row_line, rows)), encoding="utf-8")
    items = [
        {"id": str(place), "candidate": text, "source": "A <b>source</b>", "language": "ar"}
        for place, (text, _) in enumerate(results)
    ]
    Path("items.jsonl").write_text("".join(map(row_line, items)), encoding="utf-8")


def report(capsys, form, *more):
    assert main(["report", "run.jsonl", "--items", "items.jsonl", "--format", form, *more]) == 0
    return capsys.readouterr().out


def test_the_headline_counts_errors_by_severity_and_names_the_categories(in_folder, capsys):
    soup = ErrorSpan(
        text="البارد", severity="major", start=7, end=13, category="accuracy/mistranslation", explanation="<i>cold</i>"
    )
    lost = ErrorSpan(text="x", severity="minor", state="proposed", refusal="not in the text")
    write_spans(("الحساء البارد", JudgeResult(95, "r", spans=(soup, lost))), ("نص", JudgeResult(100, "no errors")))

    text = report(capsys, "text")
    assert "1 error: 1 major; most often accuracy/mistranslation (1)." in text
    assert "الحساء ⟦1:البارد:1⟧" in text
    assert "⟦1⟧ major, accuracy/mistranslation: “البارد” · <i>cold</i>" in text
    assert "Not counted: not in the text 1." in text
    assert r"\<i\>cold" in report(capsys, "markdown")
    found = json.loads(report(capsys, "json"))
    assert found["errors"] == [{"category": "accuracy/mistranslation", "severity": "major", "count": 1}]
    assert found["errorsNotCounted"] == {"not in the text": 1}
    page = report(capsys, "html")
    assert '<mark class="major">البارد</mark><sup class="n major" data-n="1">' in page
    assert "&lt;i&gt;cold&lt;/i&gt;" in page
    assert "<i>cold" not in page
    assert main(["explain", "run.jsonl", "--items", "items.jsonl", "--item", "0"]) == 0
    assert "⟦1:البارد:1⟧" in capsys.readouterr().out


def test_a_thousand_spans_of_a_long_text_are_shown_up_to_a_limit():
    text = "กา" * 5_000
    spans = [ErrorSpan(text="ก", severity="minor", start=place, end=place + 1) for place in range(0, 2_000, 2)]

    assert len(span_marks(spans, text, "output")) == 200
    assert len(span_notes(spans)) == 200


def test_of_a_long_text_the_start_and_what_is_around_every_mark_are_shown():
    text = "".join(f"word{number} " for number in range(1_000))
    spans = [
        ErrorSpan(text=word, severity="major", start=text.index(word), end=text.index(word) + len(word))
        for word in ("word5", "word500", "word999")
    ]

    line = marked_line(text, spans, "output", 600)

    assert line.startswith("word0 word1")
    for place, word in enumerate(("word5", "word500", "word999"), start=1):
        assert f"⟦{place}:{word}:{place}⟧" in line
    assert line.count(" … ") == 2
    assert len(line) + 120 > 600
    assert len(line) < 800
    assert marked_line(text[:300], spans[:1], "output", 600) == bracketed(text[:300], spans[:1], "output").strip()
    assert marked_line(text, [], "output", 600) == f"{text[:599].rstrip()}…"


def test_a_long_mark_is_shown_by_its_ends_and_many_marks_up_to_a_limit():
    text = "กา" * 3_000
    whole = ErrorSpan(text=text, severity="major", start=0, end=len(text))
    many = [ErrorSpan(text="ก", severity="minor", start=place, end=place + 2) for place in range(0, 6_000, 40)]

    line = marked_line(text, [whole], "output", 600)
    assert (line.startswith("⟦1:กา"), line.endswith("กา:1⟧"), line.count(" … ")) == (True, True, 1)
    crowded = marked_line(text, many, "output", 600)
    assert crowded.endswith("(125 more marks)")
    assert "⟦25:กา:25⟧" in crowded


@given(
    st.text(alphabet="aé น้า👩\u200d👧\u0301⟦", max_size=400),
    st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), max_size=6),
)
def test_every_mark_has_both_brackets_however_short_the_line(text, places):
    spans = [
        ErrorSpan(text="", severity="minor", start=start, end=start + length)
        for start, length in places
        if start + length <= len(text)
    ]

    line = marked_line(text, spans, "output", 40)

    for number, _ in enumerate(spans, start=1):
        assert line.count(f"⟦{number}:") == line.count(f":{number}⟧") == 1


def test_a_mark_behind_the_first_600_characters_is_shown_in_text_and_markdown(in_folder, capsys):
    text = "جملة طويلة. " * 100 + "الحساء البارد"
    start = text.index("البارد")
    write_spans(
        (text, JudgeResult(-5, "r", spans=(ErrorSpan(text="البارد", severity="major", start=start, end=start + 6),)))
    )

    for form in ("text", "markdown"):
        shown = report(capsys, form)
        assert "⟦1:البارد:1⟧" in shown
        assert " … " in shown
    assert main(["explain", "run.jsonl", "--items", "items.jsonl", "--item", "0"]) == 0
    assert "⟦1:البارد:1⟧" in capsys.readouterr().out
