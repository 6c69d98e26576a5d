"""What a report over 100,000 outputs in 70 languages takes, with scores of every output."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from polyjudge.languages import language_table

TEXT = "Entschuldigung, wo ist der nächste Bahnhof? Ich möchte gern in die Altstadt fahren, Nummer {}."
SCORE = {"scriptScore": 5, "grammarScore": 4, "coherenceScore": 4, "isCorrectLanguage": True, "notes": "Natural."}


def run() -> None:
    print("report: 70 languages, every output with its score")
    with tempfile.TemporaryDirectory() as name:
        for outputs in (1_000, 10_000, 100_000):
            results, scores = _write(Path(name), outputs)
            for form in ("markdown", "json"):
                cpu, wall, memory = _report(Path(name), results, scores, form)
                print(f"  {outputs:7,} outputs, {form:8} {cpu:5.1f} s CPU, {wall:5.1f} s, {memory:4.0f} MB")


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


def _report(folder: Path, results: Path, scores: Path, form: str) -> tuple[float, float, float]:
    command = [sys.executable, "-m", "polyjudge", "report", "--results", str(results), "--full-judge", str(scores)]
    begun = time.perf_counter()
    process = subprocess.Popen([*command, "--format", form, "--output", str(folder / f"report.{form}")])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss / 1024
