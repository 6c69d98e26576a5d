"""The cost of a report on up to 100,000 outputs in 70 languages (or POLYJUDGE_LANGUAGES), with scores of every output.

With POLYJUDGE_BEFORE, the `src` folder of another version, both versions run in turns.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measuring import ROOT, Cost, cost_of
from polyjudge.languages.table import language_table

COUNTS = [int(each) for each in os.environ.get("POLYJUDGE_ROWS", "1000,10000,100000").split(",")]
LANGUAGES = int(os.environ.get("POLYJUDGE_LANGUAGES", "70"))
ROUNDS = int(os.environ.get("POLYJUDGE_ROUNDS", "3"))
TEXT = "Entschuldigung, wo ist der nächste Bahnhof? Ich möchte gern in die Altstadt fahren, Nummer {}."
SCORE = {"scriptScore": 5, "grammarScore": 4, "coherenceScore": 4, "isCorrectLanguage": True, "notes": "Natural."}


_FORMS = ("markdown", "json", "html")


def run() -> None:
    versions = {"now": ROOT / "src"}
    if before := os.environ.get("POLYJUDGE_BEFORE"):
        versions = {"before": Path(before), **versions}
    print(f"report: {LANGUAGES} languages, every output with its score, the least of {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as name:
        for outputs in COUNTS:
            files = write_results(Path(name), outputs)
            for form in _FORMS:
                _show(f"{outputs:9,} outputs, {form}", _measured(Path(name), files, form, versions))


def _measured(
    folder: Path, files: tuple[Path, Path], form: str, versions: Mapping[str, Path]
) -> dict[str, tuple[Cost, float]]:
    """Return the cost of the cheapest round of each version, which take turns, and the megabytes of the report."""
    found: dict[str, list[tuple[Cost, float]]] = {each: [] for each in versions}
    for _ in range(ROUNDS):
        for each, path in versions.items():
            output = folder / f"report-{each}.{form}"
            cost = cost_of(_command(files, form, output), {"PYTHONPATH": str(path)}, folder)
            found[each].append((cost, output.stat().st_size / 1e6))
    return {each: min(costs) for each, costs in found.items()}


def _show(name: str, costs: Mapping[str, tuple[Cost, float]]) -> None:
    each = ", ".join(
        f"{version} {cost.cpu_s:5.1f} s CPU, {cost.memory_mb:4.0f} MB, file {size:5.1f} MB"
        for version, (cost, size) in costs.items()
    )
    ratio = f", {costs['now'][0].cpu_s / costs['before'][0].cpu_s:4.2f} x" if "before" in costs else ""
    print(f"  {name:28} {each}{ratio}", flush=True)


def measured_report(folder: Path, outputs: int, form: str) -> Cost:
    return cost_of(_command(write_results(folder, outputs), form, folder / f"report.{form}"), {}, folder)


def _command(files: tuple[Path, Path], form: str, output: Path) -> list[str]:
    results, scores = map(str, files)
    command = [sys.executable, "-m", "polyjudge", "report", "--results", results, "--full-judge", scores]
    return [*command, "--format", form, "--output", str(output), "--force"]


def write_results(folder: Path, outputs: int) -> tuple[Path, Path]:
    results, scores = folder / f"results-{outputs}.json", folder / f"scores-{outputs}.json"
    languages, each = list(language_table())[:LANGUAGES], outputs // LANGUAGES
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
