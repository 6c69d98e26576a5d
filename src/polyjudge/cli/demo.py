"""`polyjudge demo`: the main job on a packaged sample in over seventy languages; no key, no network."""

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.engine import Stop, run_sync
from polyjudge.files import (
    TranslationResults,
    TranslationScores,
    read_json_lines,
    write_translation_results,
    write_translation_scores,
)
from polyjudge.judges import OfflineJudge
from polyjudge.languages import LanguageTable, language_table
from polyjudge.records import LanguageResult, LanguageScore, Outcome, PromptResult
from polyjudge.reports import Report, VerdictMaker, plain_text, translation_scorecard
from polyjudge.rubrics import load_rubric
from polyjudge.suites import MUST_HAVE, judge_each, language_score, load_prompt_set, tasks_of
from polyjudge.text import harmless

from .report import write_report

_DATA = "demo_data"
Planted = dict[tuple[str, str], tuple[str, str]]
"""Kind and output of each planted fault, by language and category."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("polyjudge-demo"),
        metavar="DIR",
        help="folder for files; default: %(default)s",
    )


def run(options: argparse.Namespace) -> int:
    """Check and judge the sample offline, write the report, and show the scorecard."""
    table, folder = language_table(), options.output
    results, scores, report_file = folder / "results.json", folder / "results-full-judge.json", folder / "report.md"
    planted = _planted()
    languages = list(_languages(table, planted))
    about = {"bindingUsed": "packaged sample", "model": "people and planted faults"}
    write_translation_results(results, about, languages)
    write_translation_scores(scores, run_sync(_judge(languages, table)))
    judged = {"full": TranslationScores(scores)}
    report = Report(TranslationResults(results), judged, table, timestamp=utc_now())
    write_report(report, "markdown", report_file)
    sys.stdout.writelines(plain_text(translation_scorecard(report)))
    _show_faults(languages, planted, table)
    print("No model was asked: whether a sentence is good, the checks cannot see, and they say so.")
    print(f"Report: {report_file}\nWhat was judged: {results}\nScores: {scores}")
    return 0


def _planted() -> Planted:
    with as_file(files("polyjudge.cli") / _DATA / "faults.jsonl") as path:
        faults = [fault for _, fault in read_json_lines(path)]
    return {(fault["language"], fault["category"]): (fault["kind"], fault["output"]) for fault in faults}


def _languages(table: LanguageTable, planted: Planted) -> Iterator[LanguageResult]:
    """Yield the sample with the faults in it, as a translator's results."""
    text = (files("polyjudge.cli") / _DATA / "sample.tsv").read_text(encoding="utf-8")
    sources, *rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    prompts = load_prompt_set("travel")
    for row in rows:
        language = table.find(row.pop("tag"))
        if language is None:
            continue  # a user's own table may lack it
        yield LanguageResult(
            language_name=language.name,
            language_code=language.tag,
            script_family=language.family,
            priority="must-have" if language.tag in MUST_HAVE else "standard",
            prompts=tuple(
                PromptResult(
                    category=category,
                    source_text=sources[category],
                    prompt=prompts.instruction(language.name, sources[category]),
                    generated_output=planted.get((language.tag, category), ("", good))[1],
                )
                for category, good in row.items()
                if good
            ),
        )


async def _judge(languages: list[LanguageResult], table: LanguageTable) -> list[LanguageScore]:
    judge, found = OfflineJudge(load_rubric("translation"), table=table), defaultdict[str, dict[int, Outcome]](dict)
    outcomes = await judge_each(
        lambda task: (judge, task.plain_context()),
        tasks_of(languages, table),
        concurrency=8,
        stop=Stop(),
    )
    for task, outcome in outcomes.items():
        found[task.language.language_code][task.index] = outcome
    return [language_score(language, found[language.language_code], "offline") for language in languages]


def _show_faults(languages: list[LanguageResult], planted: Planted, table: LanguageTable) -> None:
    """Compare what the checks found with what was planted."""
    maker, hits, missed, accused = VerdictMaker(table), 0, list[str](), list[str]()
    for language in languages:
        for prompt, check in zip(language.prompts, maker.checks(language), strict=True):
            kind, _ = planted.get((language.language_code, prompt.category), ("", ""))
            found = {problem.kind for problem in check.problems} if check else set[str]()
            place = f"{language.language_name}, {prompt.category}"
            if kind in found:
                hits += 1
            elif kind:
                missed.append(f"{place}: {kind}")
            elif found:
                accused.append(f"{place}: {', '.join(sorted(found))}")
    clean = sum(len(language.prompts) for language in languages) - hits - len(missed)
    print(f"Planted faults found: {hits} of {hits + len(missed)}. Clean outputs accused: {len(accused)} of {clean}.")
    for line in (*missed, *accused):
        print(f"  {harmless(line)}")
