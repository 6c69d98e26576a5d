"""Reports over small files that a test makes up."""

import json

import pytest

from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.languages.table import language_table
from polyjudge.reports.translation import Report


@pytest.fixture
def make_report(tmp_path):
    """Write languages and scores to disk and sum them up."""

    def make(languages, *, about=None, timestamp="2026-01-02T03:04:05Z", **scores):
        results = tmp_path / "results.json"
        results.write_text(json.dumps({**(about or {}), "results": languages}), encoding="utf-8")
        judged = {}
        for name, rows in scores.items():
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(rows), encoding="utf-8")
            judged[name] = TranslationScores(path)
        return Report(TranslationResults(results), judged, language_table(), timestamp=timestamp)

    return make
