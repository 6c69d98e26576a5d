"""People's ratings and error spans are read from the files of annotation tools."""

import json
import os
import tarfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.annotation_files import write_annotations
from polyjudge.formats.converting import RowsToConvert
from polyjudge.formats.error_spans import error_span, marked_span, mqm_score
from polyjudge.formats.row_files import rows_from
from polyjudge.rubrics.penalties import penalty_of

DATA = Path(os.environ.get("POLYJUDGE_DATA", "/nowhere")) / "esa_mqm_dev"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="POLYJUDGE_DATA is not set")
HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def read(path: Path) -> tuple[list[Mapping[str, Any]], list[str]]:
    found = [row for _, row, _ in rows_from(path)]
    return [row for row in found if not isinstance(row, str)], [row for row in found if isinstance(row, str)]


def write(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def mqm(system: str, rater: str, target: str, category: str, severity: str, source: str = "Hello.") -> str:
    return "\t".join((system, "d1", "1", "7", rater, source, target, category, severity))


def appraise(
    user: str, index: int, *, kind: str = "TGT", score: str = "70", spans: object = (), doc: str = "d#a"
) -> str:
    marked = json.dumps(list(spans) if isinstance(spans, tuple) else spans).replace('"', '""')
    return f'{user},a,{index},{kind},eng,deu,{score},{doc},False,"{marked}",1.0,2.0'


# MQM


def test_the_errors_of_one_person_in_a_text_are_one_row(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "mqm_ende.tsv",
        HEADER,
        mqm("a", "r1", "<v>Hallo</v> du.", "Accuracy/Mistranslation", "Major"),
        mqm("a", "r2", "Hallo du.", "No-error", "No-error"),
        mqm("a", "r1", "Hallo du<v>.</v>", "Fluency/Punctuation", "Minor"),
    )
    rows, problems = read(path)
    assert not problems
    assert [(row["annotator"], row["label"]) for row in rows] == [("r2", 0.0), ("r1", -5.1)]
    assert (rows[1]["id"], rows[1]["language"], rows[1]["candidate"]) == ("en-de/7", "de", "Hallo du.")
    assert [(span["start"], span["end"], span["text"]) for span in rows[1]["spans"]] == [(0, 5, "Hallo"), (8, 9, ".")]
    assert rows[0]["spans"] == []


@pytest.mark.parametrize(
    ("category", "severity", "weight"),
    [
        ("Accuracy/Omission", "Major", 5),
        ("Style/Awkward", "minor", 1),
        ("Fluency/Punctuation", "Minor", 0.1),
        ("Fluency/Punctuation", "Major", 5),
        ("Non-translation!", "Major", 25),
        ("Style/Awkward", "Neutral", 0),
        ("Source error", "Major", 0),
        ("source issue", "minor", 0),
        ("creative reinterpretation", "Major", 0),
        ("Accuracy/Mistranslation", "Critical", 25),
        ("punctuation", "Minor", 0.1),
        ("non_translation", "major", 25),
        ("creative_reinterpretation", "minor", 0),
        (None, "undecided", 0),
    ],
)
def test_errors_have_the_weights_of_wmt(category: str | None, severity: str, weight: float) -> None:
    assert mqm_score([{"category": category, "severity": severity}]) == -weight


def test_the_weight_of_a_category_and_severity_counts_before_that_of_the_severity() -> None:
    assert penalty_of("Style/Awkward", "minor", {"minor": 2, "minor style": 0.5}) == 0.5


def test_a_span_in_the_source_has_no_place_in_the_target() -> None:
    candidate, source, [span] = marked_span(
        "Hallo.", "Hello <v>you</v>.", severity="minor", category="Accuracy/Omission"
    )
    assert (candidate, source) == ("Hallo.", "Hello you.")
    assert (span["start"], span["end"], span["sourceStart"], span["sourceText"]) == (None, None, 6, "you")


def test_a_table_none_of_whose_rows_fits_its_header_is_refused_with_the_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "mqm_ende.tsv", HEADER, "a\td1\t7\tHello.\tHallo.\tSource error\tMinor\t")
    with pytest.raises(DataError, match=r"mqm_ende\.tsv:2: expected 9 fields .*found 8"):
        read(path)


def test_a_row_that_does_not_fit_is_left_out_and_never_shifted(tmp_path: Path) -> None:
    path = write(tmp_path, "mqm_ende.tsv", HEADER, "a\tshort", mqm("a", "r1", "Hallo.", "No-error", "No-error"))
    rows, problems = read(path)
    assert ([row["system"] for row in rows], problems) == (["a"], ["expected 9 fields, found 2"])


NEW_HEADER = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"


def of_2023(place: str, number: str, target: str, severity: str, *, doc: str = "d1", metadata: str = "{}") -> str:
    return "\t".join(("a", doc, place, number, "r1", "Hello.", target, "Accuracy/Addition", severity, metadata))


def test_tables_from_wmt23_on_have_a_row_for_each_segment(tmp_path: Path) -> None:
    lines = (
        of_2023("1", "4", "<v>Hallo</v>.", "Major", metadata='{"note":"x"}'),
        of_2023("1", "4", "Hallo<v>.</v>", "Minor", metadata='{"note":"y"}'),
        of_2023("2", "5", "Hallo.", "No-error"),
    )
    rows, problems = read(write(tmp_path, "mqm_ende.tsv", NEW_HEADER, *lines))
    assert ([(row["id"], row["label"]) for row in rows], problems) == ([("en-de/4", -6.0), ("en-de/5", 0.0)], [])
    assert [span["extra"]["metadata"] for span in rows[0]["spans"]] == ['{"note":"x"}', '{"note":"y"}']
    assert rows[1]["extra"] == {"docSegId": "2", "metadata": "{}"}


def test_a_number_that_several_segments_have_is_no_id(tmp_path: Path) -> None:
    lines = (of_2023("1", "0", "Hallo.", "Minor"), of_2023("2", "0", "Hallo.", "Minor"))
    rows, _ = read(write(tmp_path, "mqm_ende.tsv", NEW_HEADER, *lines))
    assert [row["id"] for row in rows] == ["en-de/d1/1", "en-de/d1/2"]
    lines = (mqm("a", "r1", "Hallo.", "Other", "Minor"), mqm("a", "r1", "Gruss.", "x", "Minor").replace("d1", "d2"))
    rows, _ = read(write(tmp_path, "mqm_ende.tsv", HEADER, *lines))
    assert [row["id"] for row in rows] == ["en-de/d1/1", "en-de/d2/1"]


def test_tables_with_the_names_of_wmt22_are_read(tmp_path: Path) -> None:
    header = "year source_lang target_lang document_id doc_segment_id system_id rater_id source reference candidate"
    line = "2022\ten\tzh\td1\t3\ta\tr1\tOne.\tR.\t<v>C</v>.\taccuracy/x\tmajor"
    [row], _ = read(write(tmp_path, "scores.tsv", "\t".join(f"{header} category severity".split()), line))
    assert (row["id"], row["system"], row["annotator"], row["label"]) == ("en-zh/d1/3", "a", "r1", -5.0)
    assert (row["candidate"], row["reference"], row["language"]) == ("C.", "R.", "zh")


def test_test_sentences_with_a_planted_error_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = (of_2023("1", "1", "Hallo.", "No-error"), of_2023("1", "1", "Hallo.", "HOTW-test"))
    [row], problems = read(write(tmp_path, "mqm_ende.tsv", NEW_HEADER, *lines))
    assert (row["spans"], row["label"], problems) == ([], 0.0, ["an attention check, left out"])


def test_quoted_fields_are_read_as_csv_and_other_quotation_marks_are_kept(tmp_path: Path) -> None:
    quoted = mqm("a", "r1", '"Er sagt ""<v>ja</v>""."', "Other", "Minor")
    [row], _ = read(write(tmp_path, "mqm_ende.tsv", HEADER, quoted))
    assert (row["candidate"], row["spans"][0]["start"]) == ('Er sagt "ja".', 9)
    plain = mqm("a", "r2", '"Ja"<v>,</v> sagt er.', "Other", "Minor", source='"Yes"')
    rows, _ = read(write(tmp_path, "mqm_ende.tsv", HEADER, quoted, plain))
    assert [row["candidate"] for row in rows] == ['"Er sagt ""ja""."', '"Ja", sagt er.']
    assert rows[1]["source"] == '"Yes"'


def test_an_error_with_two_places_counts_once_and_is_written_back(tmp_path: Path) -> None:
    line = mqm("a", "r1", "<v>Gib</v> es <v>auf</v>.", "Other", "Minor")
    path = write(tmp_path, "mqm_ende.tsv", HEADER, line)
    [row], _ = read(path)
    assert (row["candidate"], row["label"]) == ("Gib es auf.", -1.0)
    assert [(span["start"], span["end"], span["text"]) for span in row["spans"]] == [(0, 3, "Gib"), (7, 10, "auf")]
    write_annotations(RowsToConvert(path), tmp_path / "en-de.tsv", "mqm")
    assert read(tmp_path / "en-de.tsv")[0] == [row]


@pytest.mark.parametrize("target", ["Gib <v>es auf.", "Gib</v> es auf.", "<v>Gib <v>es</v></v> auf."])
def test_marks_that_are_no_pair_have_no_place(tmp_path: Path, target: str) -> None:
    [row], _ = read(write(tmp_path, "mqm_ende.tsv", HEADER, mqm("a", "r1", target, "Other", "Minor")))
    assert (row["candidate"], row["label"], row["spans"][0]["start"]) == ("Gib es auf.", -1.0, None)


def test_a_place_in_another_text_than_that_of_the_rating_is_not_taken(tmp_path: Path) -> None:
    lines = (mqm("a", "r1", "<v>Hallo</v> du.", "x", "Minor"), mqm("a", "r1", "Na hallo <v>du</v>.", "x", "Minor"))
    [row], _ = read(write(tmp_path, "mqm_ende.tsv", HEADER, *lines))
    assert [(span["start"], span["text"]) for span in row["spans"]] == [(0, "Hallo"), (None, "du")]


def a_folder(folder: Path, output: str, scores: str) -> Path:
    for name, text in (("sources", "One.\nTwo.\n"), ("system-outputs/en-de", output), ("human-scores", scores)):
        (folder / name).mkdir(parents=True)
        file = {"sources": "en-de.txt", "human-scores": "en-de.mqm.seg.score"}.get(name, "a.txt")
        (folder / name / file).write_text(text, encoding="utf-8")
    return folder


def test_a_folder_whose_files_have_other_numbers_of_segments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the output of a has 1 segments, other files have 2"):
        read(a_folder(tmp_path / "short", "Eins.\n", "a\t1\na\t2\n"))
    rows, _ = read(a_folder(tmp_path / "whole", "Eins.\n\n", "a\t1\na\tNone\n"))
    assert [(row["id"], row.get("candidate"), row["label"]) for row in rows] == [
        ("en-de/1", "Eins.", 1.0),
        ("en-de/2", None, None),
    ]


def test_an_invalid_score_in_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"en-de\.mqm\.seg\.score:2: invalid score 'x'"):
        read(a_folder(tmp_path / "whole", "Eins.\nZwei.\n", "a\t1\na\tx\n"))


# Spans


@given(st.text(min_size=1, max_size=30), st.data())
def test_inclusive_and_exclusive_ends_mark_the_same_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    marked = {"severity": "minor", "text": text}
    exclusive = error_span(start, end, inclusive=False, **marked)
    assert error_span(start, end - 1, inclusive=True, **marked) == exclusive
    assert exclusive["text"] == text[start:end]


def test_an_omission_has_no_place() -> None:
    span = error_span("missing", "missing", text="Hallo", severity="major", inclusive=True)
    assert (span["start"], span["end"], span["text"]) == (None, None, None)


# Appraise


def test_ends_in_appraise_are_the_last_character(tmp_path: Path) -> None:
    span = {"start_i": 0, "end_i": 4, "severity": "minor", "error_type": None}
    rows, _ = read(write(tmp_path, "scores.csv", appraise("u1", 3, spans=[span])))
    assert (rows[0]["spans"][0]["start"], rows[0]["spans"][0]["end"]) == (0, 5)
    assert (rows[0]["id"], rows[0]["label"], rows[0]["language"], rows[0]["system"]) == ("d/3", 70.0, "de", "a")


def test_attention_checks_and_tutorials_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = (
        appraise("u1", 1, doc="ende-tutorial1"),
        appraise("u1", 2, kind="BAD", doc="d#a#bad1"),
        appraise("u1", 3),
    )
    rows, problems = read(write(tmp_path, "scores.csv", *lines))
    assert ([row["id"] for row in rows], problems) == (
        ["d/3"],
        ["a tutorial row, left out", "an attention check, left out"],
    )


def test_of_two_ratings_by_one_person_the_last_counts(tmp_path: Path) -> None:
    lines = (appraise("u1", 3, score="10"), appraise("u2", 3, score="20"), appraise("u1", 3, score="30"))
    rows, problems = read(write(tmp_path, "scores.csv", *lines))
    assert [(row["annotator"], row["label"]) for row in rows] == [("u2", 20.0), ("u1", 30.0)]
    assert problems == ["rated again by the same person in line 3, which counts"]


def test_a_campaign_whose_scores_are_all_0_gets_them_from_its_spans(tmp_path: Path) -> None:
    span = {"start_i": 0, "end_i": 4, "severity": "major", "error_type": ["Accuracy", "Mistranslation"]}
    lines = (appraise("u1", 3, score="0", spans=[span]), appraise("u1", 4, score="0"))
    rows, _ = read(write(tmp_path, "scores.csv", *lines))
    assert [(row["label"], row["labelFrom"]) for row in rows] == [(-5.0, "spans"), (0.0, "spans")]
    assert rows[0]["spans"][0]["category"] == "Accuracy/Mistranslation"


def test_a_rating_without_a_score_has_no_label_where_others_have_one(tmp_path: Path) -> None:
    lines = (appraise("u1", 3, score=""), appraise("u1", 4, score="70"), appraise("u1", 5, score="nan"))
    rows, problems = read(write(tmp_path, "scores.csv", *lines))
    assert [(row["id"], row["label"]) for row in rows] == [("d/3", None), ("d/4", 70.0)]
    assert problems == ["expected a score as a number"]


@pytest.mark.parametrize("score", ["None", "-1", "70.5"])
def test_a_campaign_is_recognised_by_its_first_row(tmp_path: Path, score: str) -> None:
    line = appraise("u1", 3, score=score).replace("u1,a,", 'u1,"a, b",')
    row = read(write(tmp_path, "scores.csv", line, appraise("u1", 4)))[0][0]
    assert (row["label"], row["system"]) == (None if score == "None" else float(score), "a, b")


@pytest.mark.parametrize("place", [(5, 2), (-3, 2)])
def test_a_place_that_no_text_has_is_none(tmp_path: Path, place: tuple[int, int]) -> None:
    span = {"start_i": place[0], "end_i": place[1], "severity": "minor"}
    [row], _ = read(write(tmp_path, "scores.csv", appraise("u1", 3, spans=[span])))
    [found] = row["spans"]
    assert (found["start"], found["end"], found["recordedPlace"]) == (None, None, list(place))


def test_the_items_of_a_campaign_are_texts_to_be_judged(tmp_path: Path) -> None:
    shared = {"mqm": [], "targetID": "t.a", "sourceText": "Hello.", "itemType": "TGT"}
    items = [
        {**shared, "documentID": "d#a", "targetText": "Hallo.", "itemID": 7},
        {**shared, "documentID": "d#a#bad1", "targetText": "Hal.", "itemID": 8, "itemType": "BAD"},
        {**shared, "documentID": "x-tutorial1", "targetText": "Hal.", "itemID": 9},
    ]
    batch = [{"items": items, "task": {"sourceLanguage": "eng", "targetLanguage": "deu"}}]
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(batch), encoding="utf-8")
    [row], problems = read(path)
    assert (row["id"], row["candidate"], row["source"], row["language"]) == ("d/7/a", "Hallo.", "Hello.", "de")
    assert "label" not in row
    assert len(problems) == 2


# Pearmut


def saved(path: Path, *scores: float | None, item_id: str = "en-de-0") -> Path:
    texts = {f"s{place}": "Hallo." for place, _ in enumerate(scores)}
    rated = {f"s{place}": {"score": score, "error_spans": []} for place, score in enumerate(scores)}
    item = {"item_id": item_id, "src": "Hello.", "tgt": texts}
    line = {"annotation": [rated], "item": [item], "user_id": "u1", "item_i": 0}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


def test_a_text_that_was_skipped_has_no_score_if_others_have_one(tmp_path: Path) -> None:
    rows, _ = read(saved(tmp_path / "esa.jsonl", 70, None))
    assert [(row["label"], row.get("labelFrom")) for row in rows] == [(70, None), (None, None)]
    rows, _ = read(saved(tmp_path / "mqm.jsonl", None, None))
    assert [(row["label"], row.get("labelFrom")) for row in rows] == [(0.0, "spans"), (0.0, "spans")]


def test_the_document_in_an_item_of_wmt_is_known(tmp_path: Path) -> None:
    [row], _ = read(saved(tmp_path / "esa.jsonl", 70, item_id="cs-de_DE_#_edu_#_edu02178_#_0"))
    assert (row["document"], row["language"]) == ("cs-de_DE_#_edu_#_edu02178", "de-DE")


def test_each_system_of_a_pearmut_annotation_is_a_row(tmp_path: Path) -> None:
    span = {"start_i": 0, "end_i": 4, "severity": "minor", "category": None}
    line = {
        "annotation": [{"a": {"score": 60, "error_spans": [span]}, "b": {"score": 90, "error_spans": []}}],
        "item": [{"item_id": "en-de-0", "src": "Hello.", "tgt": {"a": "Hallo.", "b": "Guten Tag."}, "note": "n"}],
        "user_id": "u1",
        "item_i": 0,
    }
    rows, _ = read(write(tmp_path, "saved.jsonl", json.dumps(line)))
    assert [(row["system"], row["label"], row["candidate"]) for row in rows] == [
        ("a", 60, "Hallo."),
        ("b", 90, "Guten Tag."),
    ]
    assert rows[0]["spans"][0]["text"] == "Hallo"
    assert (rows[0]["annotator"], rows[0]["language"], rows[0]["extra"]["note"]) == ("u1", "de", "n")


def test_a_pearmut_campaign_has_a_row_for_each_text(tmp_path: Path) -> None:
    item = {"item_id": "en-de-0", "src": "Hello.", "tgt": {"a": "Hallo.", "b": "Guten Tag."}}
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps({"campaign_id": "c", "data": [[[item]]]}), encoding="utf-8")
    rows, _ = read(path)
    assert [(row["id"], row["system"], row["candidate"]) for row in rows] == [
        ("en-de-0/a", "a", "Hallo."),
        ("en-de-0/b", "b", "Guten Tag."),
    ]


# mt-metrics-eval and WMT


def test_a_rating_may_be_followed_by_its_rater(tmp_path: Path) -> None:
    error = {"start": 2, "end": 5, "category": "style", "severity": "minor", "is_source_error": False}
    lines = (f"a\t{json.dumps({'errors': [error]})}\tr2", "a\tNone\tNone")
    rows, problems = read(write(tmp_path, "en-de.mqm.merged.seg.rating", *lines))
    assert [(row["annotator"], row["label"]) for row in rows] == [("r2", -1.0), ("merged", None)]
    assert not problems


def test_scores_of_wmt20_are_separated_by_spaces(tmp_path: Path) -> None:
    rows, _ = read(write(tmp_path, "zh-en.mqm.sys.score", "a.832 2.5", "ref None"))
    assert [(row["system"], row["label"]) for row in rows] == [("a.832", 2.5), ("ref", None)]


def test_the_name_of_a_rating_is_no_language_pair(tmp_path: Path) -> None:
    [row], _ = read(write(tmp_path, "en-de.da-sqm.seg.score", "a\t70.5"))
    assert (row["id"], row["language"], row["label"]) == ("en-de/1", "de", 70.5)


def test_scores_of_domains_name_their_domain(tmp_path: Path) -> None:
    rows, _ = read(write(tmp_path, "en-de.mqm.domain.score", "news\ta\t-1.5", "news\tb\tNone"))
    assert [(row["id"], row["domain"], row["label"]) for row in rows] == [
        ("en-de/news", "news", -1.5),
        ("en-de/news", "news", None),
    ]


def test_ends_in_ratings_of_mt_metrics_eval_are_kept(tmp_path: Path) -> None:
    error = {"start": 2, "end": 5, "category": "style", "severity": "minor", "score": 1.0, "is_source_error": False}
    path = write(tmp_path, "en-de.mqm.rater1.seg.rating", f"a\t{json.dumps({'errors': [error]})}", "a\tNone")
    rows, _ = read(path)
    assert [(row["annotator"], row["label"]) for row in rows] == [("rater1", -1.0), ("rater1", None)]
    assert (rows[0]["spans"][0]["start"], rows[0]["spans"][0]["end"]) == (2, 5)


def test_outputs_and_automatic_scores_of_wmt25_meet_by_paragraph(tmp_path: Path) -> None:
    document = "en-cs_CZ_#_news_#_d1"
    output = {"doc_id": document, "hypothesis": "Ahoj.\n\nDobrý den.", "paragraphs_match": True}
    scores = {"language_pair": "en-cs_CZ", "domain": "news", "document_id": "d1", "metric_scores": {"M": [0.5, 0.7]}}
    outputs, _ = read(write(tmp_path, "sys.jsonl", json.dumps(output)))
    automatic, _ = read(write(tmp_path, "auto.jsonl", json.dumps(scores)))
    assert [row["id"] for row in outputs] == [row["id"] for row in automatic] == [f"{document}/1", f"{document}/2"]
    assert [row["candidate"] for row in outputs] == ["Ahoj.", "Dobrý den."]
    assert [row["score"] for row in automatic] == [0.5, 0.7]


def test_a_table_with_some_of_the_same_columns_is_read_as_a_table(tmp_path: Path) -> None:
    row = {"doc_id": "d1", "hypothesis": "Hallo.", "reference": "Hallo!"}
    assert read(write(tmp_path, "mine.jsonl", json.dumps(row)))[0] == [row]


# Published files


@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "left_out"),
    [
        ("appraise_batch_esa_wmt23_ende.json", 4, 8),
        ("appraise_esa_wmt23_ende.scores.csv", 125, 25),
        ("appraise_mqm_wmt23_ende.scores.csv", 124, 26),
        ("appraise_tutorial_cs-en.esa.json", 0, 6),
        ("esa_wmt24_wave2_encs.csv", 270, 30),
        ("mqm_ted_ende.avg_seg_scores.tsv", 300, 0),
        ("mtme_wmt23_en-de.da-sqm.seg.score", 300, 0),
        ("mtme_wmt23_en-de.mqm.domain.score", 52, 0),
        ("mtme_wmt23_en-de.mqm.merged.seg.rating", 300, 0),
        ("mtme_wmt23_en-de.mqm.sys.score", 13, 0),
        ("mtme_wmt23_zh-en.mqm.rater1.seg.rating", 200, 0),
        ("pearmut_annotations.sample.jsonl", 6, 0),
        ("pearmut_campaign.sample.json", 2, 0),
        ("wmt25_automatic_scores_CUNI-MH-v2.en-cs.jsonl", 103, 0),
        ("wmt25_systems_CUNI-MH-v2.en-cs.jsonl", 103, 0),
        ("wmt26_systems_CUNI-MH-v3.jsonl", 8, 0),
    ],
)
def test_published_files_are_read_unchanged(name: str, rows: int, left_out: int) -> None:
    found, problems = read(DATA / name)
    assert (len(found), len(problems)) == (rows, left_out)
    assert len({(row["id"], row.get("system"), row.get("annotator")) for row in found}) == rows


@needs_data
def test_mqm_scores_averaged_over_raters_are_those_that_wmt_published() -> None:
    ours: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for row in read(DATA / "mqm_ted_ende.tsv")[0]:
        ours[row["id"], row["system"]].append(row["label"])
    published = {(row["id"], row["system"]): row["label"] for row in read(DATA / "mqm_ted_ende.avg_seg_scores.tsv")[0]}
    common = ours.keys() & published.keys()
    assert len(common) == 18
    assert {key: fmean(ours[key]) for key in common} == pytest.approx({key: published[key] for key in common})


@needs_data
def test_the_spans_of_wmt23_give_its_scores_of_every_segment() -> None:
    rows, _ = read(DATA / "mtme_wmt23_en-de.mqm.merged.seg.rating")
    rated = {row["id"]: row for row in rows if row["label"] is not None}
    archive = DATA.parent / "wmt23_mqm_meta.tar.gz"
    with tarfile.open(archive) as files:
        scores = files.extractfile(next(name for name in files.getnames() if name.endswith("en-de.mqm.seg.score")))
        lines = [line.split("\t") for line in scores.read().decode().splitlines() if line.startswith("ONLINE-Y\t")]
    published = {f"en-de/{place}": score for place, (_, score) in enumerate(lines, start=1)}
    assert len(rated) == 260
    assert {key: mqm_score(row["spans"]) for key, row in rated.items()} == {
        key: pytest.approx(float(published[key])) for key in rated
    }


@needs_data
def test_spans_of_pearmut_end_where_words_end() -> None:
    rows, _ = read(DATA / "pearmut_annotations.sample.jsonl")
    ends = [(row["candidate"], span["end"]) for row in rows for span in row["spans"]]
    at_word_end = [text[end - 1].isalnum() and not text[end : end + 1].isalnum() for text, end in ends]
    one_less = [text[end - 2].isalnum() and not text[end - 1 : end].isalnum() for text, end in ends]
    assert sum(at_word_end) / len(ends) > 0.8 > 0.4 > sum(one_less) / len(ends)


@needs_data
def test_a_published_table_with_other_columns_than_its_header_is_refused() -> None:
    with pytest.raises(DataError, match=r":2: expected 9 fields .*found 8"):
        read(DATA / "mqm_newstest2020_zhen.source-errors.tsv")
