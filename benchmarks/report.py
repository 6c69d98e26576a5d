"""The cost of a report on 100,000 outputs in 70 languages, with scores of every output."""

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Cost, cost_of, show
from polyjudge.languages.table import language_table

TEXT = "Entschuldigung, wo ist der nächste Bahnhof? Ich möchte gern in die Altstadt fahren, Nummer {}."
SCORE = {"scriptScore": 5, "grammarScore": 4, "coherenceScore": 4, "isCorrectLanguage": True, "notes": "Natural."}


def run() -> None:
    print("report: 70 languages, every output with its score")
    with tempfile.TemporaryDirectory() as name:
        for outputs in (1_000, 10_000, 100_000):
            for form in ("markdown", "json"):
                show(f"{outputs:7,} outputs, {form}", measured_report(Path(name), outputs, form), outputs)


def measured_report(folder: Path, outputs: int, form: str) -> Cost:
    results, scores = _write(folder, outputs)
    command = [sys.executable, "-m", "polyjudge", "report", "--results", str(results), "--full-judge", str(scores)]
    return cost_of([*command, "--format", form, "--output", str(folder / f"report.{form}")], {}, folder)


def _write(folder: Path, outputs: int) -> tuple[Path, Path]:
    results, scores = folder / f"results-{outputs}.json", folder / f"scores-{outputs}.json"
    languages, each = list(language_table())[:70], outputs // 70
    with results.open("w", encoding="utf-8") as file, scores.open("w", encoding="utf-8") as judged:
        for number, language in enumerate(languages):
            prompts = [
                {"category": "c", "sourceText": f"Where is it, number {place}?", "generatedOutput": TEXT.format(place)}
                for place in range(each)
            ]
            row = {"languageName": language.name, "languageCode": language.tag, "prompts": prompts}
            score = {**SCORE, "languageName": language.name, "languageCode": language.tag}
            score["prompts"] = [{"index": place, **SCORE} for place in range(each)]
            for target, value in ((file, row), (judged, score)):
                target.write(("[\n" if not number else ",\n") + json.dumps(value, ensure_ascii=False))
        for target in (file, judged):
            target.write("\n]\n")
    return results, scores
