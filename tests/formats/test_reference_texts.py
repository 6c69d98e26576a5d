"""Reference texts are read from translation results and from every format of rows."""

import json

import pytest

from polyjudge.errors import DataError
from polyjudge.formats.reference_texts import TextSource
from polyjudge.records.calibration import ReferenceText

ROWS = [
    {"id": "a", "candidate": "Guten Tag, wie geht es Ihnen?", "language": "de", "source": "Hello, how are you?"},
    {"id": "b", "candidate": "สวัสดีครับ สบายดีไหม", "language": "th", "source": "Hello, how are you?"},
]
EXPECTED = tuple(
    ReferenceText(id=row["id"], text=row["candidate"], language=row["language"], source=row["source"]) for row in ROWS
)


def lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def results(path, languages):
    path.write_text(json.dumps({"results": languages}, ensure_ascii=False), encoding="utf-8")
    return path


def prompt(output, **more):
    return {"category": "c", "sourceText": "Hello", "prompt": "Translate: Hello", "generatedOutput": output, **more}


def test_texts_are_read_from_json_lines(tmp_path):
    found = TextSource(lines(tmp_path / "t.jsonl", ROWS)).read()

    assert found.texts == EXPECTED
    assert (found.problems, found.skipped) == ((), 0)


@pytest.mark.parametrize(("name", "tab"), [("t.csv", ","), ("t.tsv", "\t")])
def test_texts_are_read_from_csv_and_tsv(tmp_path, name, tab):
    names = list(ROWS[0])
    quoted = [tab.join(f'"{row[each]}"' for each in names) for row in ROWS]
    (tmp_path / name).write_text("\n".join([tab.join(names), *quoted]) + "\n", encoding="utf-8")

    assert TextSource(tmp_path / name).read().texts == EXPECTED


def test_texts_are_read_from_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(ROWS), tmp_path / "t.parquet")

    assert TextSource(tmp_path / "t.parquet").read().texts == EXPECTED


def test_references_of_translation_results_are_used_before_outputs(tmp_path):
    path = results(
        tmp_path / "r.json",
        [
            {
                "languageName": "German",
                "languageCode": "de",
                "prompts": [prompt("Tach", reference="Guten Tag"), prompt("Hallo")],
            },
            {"languageName": "Thai", "prompts": [prompt("สวัสดี")]},
        ],
    )
    found = TextSource(path).read().texts

    assert [(text.id, text.text, text.language, text.source) for text in found] == [
        ("0", "Guten Tag", "de", "Hello"),
        ("1", "Hallo", "de", "Hello"),
        ("0", "สวัสดี", "Thai", "Hello"),
    ]


def test_a_column_can_be_chosen(tmp_path):
    path = lines(tmp_path / "t.jsonl", [{"id": "a", "candidate": "no", "better": "yes", "language": "en"}])

    assert [text.text for text in TextSource(path, "better").read().texts] == ["yes"]


def test_a_reference_replaces_a_missing_candidate_and_is_context_otherwise(tmp_path):
    rows = [
        {"id": "a", "candidate": "", "reference": "good"},
        {"id": "b", "candidate": "mine", "reference": "good", "context": "a shop"},
    ]
    first, second = TextSource(lines(tmp_path / "t.jsonl", rows)).read().texts

    assert (first.text, dict(first.context)) == ("good", {})
    assert (second.text, dict(second.context)) == ("mine", {"reference": "good", "context": "a shop"})


def test_rows_without_text_are_counted_and_the_first_are_reported(tmp_path):
    rows = [*({"id": str(number), "candidate": "  "} for number in range(8)), {"id": "x", "candidate": "fine"}]
    found = TextSource(lines(tmp_path / "t.jsonl", rows)).read()

    assert (len(found.texts), found.skipped, len(found.problems)) == (1, 8, 5)
    assert found.problems[0].endswith("t.jsonl:1: no text in 'candidate' or 'reference' or 'generatedOutput'")


def test_an_invalid_line_is_skipped_and_reported(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "candidate": "fine"}\n{"id": \n', encoding="utf-8")
    found = TextSource(path).read()

    assert (len(found.texts), found.skipped) == (1, 1)
    assert "t.jsonl:2" in found.problems[0]


def test_rows_can_be_filtered(tmp_path):
    path = lines(tmp_path / "t.jsonl", ROWS)

    assert TextSource(path, filters={"language": frozenset({"th"})}).read().texts == EXPECTED[1:]


def test_results_are_filtered_by_language(tmp_path):
    languages = [
        {"languageName": "German", "languageCode": "de", "prompts": [prompt("Hallo")]},
        {"languageName": "Thai", "languageCode": "th", "prompts": [prompt("สวัสดี")]},
    ]
    found = TextSource(results(tmp_path / "r.json", languages), filters={"language": frozenset({"th"})}).read()

    assert [text.language for text in found.texts] == ["th"]


def test_the_same_id_in_two_languages_is_not_a_duplicate(tmp_path):
    rows = [{"id": "a", "candidate": "ja", "language": "de"}, {"id": "a", "candidate": "oui", "language": "fr"}]

    assert len(TextSource(lines(tmp_path / "t.jsonl", rows)).read().texts) == 2


def test_a_duplicate_id_within_a_language_is_an_error_with_both_lines(tmp_path):
    rows = [{"id": "a", "candidate": "ja", "language": "de"}, {"id": "a", "candidate": "nein", "language": "de"}]

    with pytest.raises(DataError, match=r"t\.jsonl:2: duplicate id 'a', first at line 1"):
        TextSource(lines(tmp_path / "t.jsonl", rows)).read()


@pytest.mark.parametrize("content", ["", "\n", '{"id": "a", "candidate": ""}\n', '{"id": "a", "candidate": 5}\n'])
def test_a_file_without_texts_is_an_error_with_its_path(tmp_path, content):
    (tmp_path / "t.jsonl").write_text(content)

    with pytest.raises(DataError, match=r"t\.jsonl: no texts to perturb"):
        TextSource(tmp_path / "t.jsonl").read()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", b"{"),
        ("t.json", b"[]"),
        ("t.json", b"5"),
        ("t.json", b"[" * 50_000),
        ("t.jsonl", b"\xff\xfe"),
        ("t.parquet", b"no parquet"),
        ("t.xlsx", b"x"),
        ("t.csv", b""),
        ("t.csv", b'id,candidate\n"a'),
    ],
)
def test_a_damaged_or_foreign_file_is_an_error_with_its_path(tmp_path, name, content):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)

    with pytest.raises(DataError, match=name.replace(".", r"\.")):
        TextSource(tmp_path / name).read()


def test_a_missing_file_is_an_error_with_its_path(tmp_path):
    for name in ("none.jsonl", "none.json", "none.csv"):
        with pytest.raises(DataError, match="none"):
            TextSource(tmp_path / name).read()


def test_a_row_without_an_id_gets_one_from_its_content_wherever_it_is_in_the_file(tmp_path):
    rows = [{"candidate": "one"}, {"candidate": "two"}, {"candidate": "one"}]

    first = [text.id for text in TextSource(lines(tmp_path / "t.jsonl", rows)).read().texts]
    again = [text.id for text in TextSource(lines(tmp_path / "t.jsonl", rows[::-1])).read().texts]

    assert first[2] == f"{first[0]}-2"
    assert sorted(first) == sorted(again)
    assert first[1] == again[1]


def test_zero_is_a_valid_id(tmp_path):
    path = lines(tmp_path / "t.jsonl", [{"id": number, "candidate": f"text {number}"} for number in range(3)])

    assert [text.id for text in TextSource(path).read().texts] == ["0", "1", "2"]


def test_a_blank_reference_does_not_hide_an_output(tmp_path):
    languages = [{"languageName": "German", "languageCode": "de", "prompts": [prompt("Hallo", reference=" ")]}]

    assert [text.text for text in TextSource(results(tmp_path / "r.json", languages)).read().texts] == ["Hallo"]


def test_a_column_can_be_chosen_in_translation_results(tmp_path):
    languages = [{"languageName": "German", "languageCode": "de", "prompts": [prompt("Hallo", reference="Guten Tag")]}]
    path = results(tmp_path / "r.json", languages)

    assert [text.text for text in TextSource(path, "generatedOutput").read().texts] == ["Hallo"]
