"""A translator's results from a real Parquet file."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from polyjudge.formats.translation_results import TranslationResults, write_translation_results

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
PROMPTS = [
    {"category": "food", "sourceText": "Water", "generatedOutput": "水", "tokenCount": 1, "durationMs": 976},
    {"category": "food", "sourceText": "Bread", "generatedOutput": "", "tokenCount": 0, "durationMs": 4},
]
LANGUAGES = [
    {
        "languageName": "Chinese",
        "languageCode": "zh",
        "scriptFamily": "cjk",
        "priority": "mustHave",
        "prompts": PROMPTS,
    },
    {"languageName": "Thai", "languageCode": "th", "scriptFamily": "thai", "priority": "standard", "prompts": []},
]


def save(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_languages_and_single_prompts_are_read_from_parquet(tmp_path):
    flat = [
        {"languageCode": language["languageCode"], "languageName": language["languageName"], **each}
        for language in LANGUAGES
        for each in language["prompts"]
    ]
    parquet.write_table(pyarrow.Table.from_pylist(LANGUAGES), tmp_path / "languages.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(flat), tmp_path / "flat.parquet")

    languages = list(TranslationResults(tmp_path / "languages.parquet"))
    [chinese] = TranslationResults(tmp_path / "flat.parquet")

    assert languages == list(TranslationResults(save(tmp_path / "results.json", LANGUAGES)))
    assert chinese.prompts == languages[0].prompts


def test_parquet_types_without_a_json_type_become_text(tmp_path):
    row = {"languageCode": "es", "generatedOutput": "hola", "at": datetime(2026, 1, 2, tzinfo=UTC)}
    more = {"price": Decimal("1.50"), "raw": b"\xff", "nan": float("nan")}
    parquet.write_table(pyarrow.Table.from_pylist([{**row, **more}]), tmp_path / "rows.parquet")

    write_translation_results(tmp_path / "again.json", {}, TranslationResults(tmp_path / "rows.parquet"))

    [language] = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert language["prompts"][0]["at"].startswith("2026-01-02")
    assert (language["prompts"][0]["price"], language["prompts"][0]["nan"]) == ("1.50", None)
