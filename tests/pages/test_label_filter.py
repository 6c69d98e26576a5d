"""Only some items are labelled: by language, and by any column of the texts."""

import json

import pytest

from polyjudge.errors import PolyjudgeError
from polyjudge.languages.table import language_table
from polyjudge.pages.sampling import Source, read_sample


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def chosen(filters, results, items=None):
    wanted = {name: frozenset(values) for name, values in filters.items()}
    sample = read_sample(Source(results, items, table=language_table(), filters=wanted), 100, 0)
    return sorted(sample.items)


@pytest.fixture
def results(tmp_path):
    """The rows of a run, with their texts."""
    rows = []
    for language in ("de", "th"):
        for number in range(3):
            row = {"schemaVersion": 1, "id": f"{language}-{number}", "outcome": "result", "score": number, "reason": ""}
            rows.append({**row, "passed": number > 0, "language": language, "candidate": "x", "model": "m"})
    return write(tmp_path / "r.jsonl", rows)


@pytest.mark.parametrize("name", ["de", "German", "Deutsch"])
def test_a_language_is_chosen_by_its_tag_and_by_its_names(results, name):
    assert chosen({"language": [name]}, results) == ["de-0", "de-1", "de-2"]


def test_rows_are_chosen_by_any_of_their_columns(results):
    assert chosen({"passed": ["false"]}, results) == ["de-0", "th-0"]
    assert chosen({"passed": ["false"], "language": ["th"]}, results) == ["th-0"]
    assert len(chosen({"language": ["th", "de"]}, results)) == 6


def test_the_estimate_and_the_weights_are_those_of_the_chosen_items(results):
    filters = {"language": frozenset({"th"})}
    sample = read_sample(Source(results, table=language_table(), filters=filters), 2, 0)

    assert (sample.total, list(sample.scores)) == (3, ["th"])
    assert sum(item.weight for item in sample.items.values()) == pytest.approx(3)


def test_a_column_of_the_items_that_score_judged_is_found_there(tmp_path, results):
    rows = [{"id": f"{tag}-{n}", "candidate": "x", "topic": f"t{n}"} for tag in ("de", "th") for n in range(3)]
    items = write(tmp_path / "items.jsonl", rows)

    assert chosen({"topic": ["t1"], "language": ["Thai"]}, results, items) == ["th-1"]


def test_translations_are_chosen_by_language_only(tmp_path):
    given = [
        {"languageName": name, "languageCode": tag, "prompts": [{"sourceText": "a", "generatedOutput": "b"}] * 2}
        for name, tag in (("Thai", "th"), ("German", "de"))
    ]
    (tmp_path / "t.json").write_text(json.dumps(given), encoding="utf-8")

    assert chosen({"language": ["th"]}, tmp_path / "t.json") == ["th:0", "th:1"]
    with pytest.raises(PolyjudgeError, match="only by language"):
        chosen({"topic": ["x"]}, tmp_path / "t.json")


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"language": ["fr"]}, "no item matches language=fr. Its languages: de, th"),
        ({"topic": ["x"]}, "no column 'topic'. Found: .*candidate"),
    ],
    ids=str,
)
def test_what_could_be_chosen_instead_is_named(results, filters, words):
    with pytest.raises(PolyjudgeError, match=words):
        chosen(filters, results)
