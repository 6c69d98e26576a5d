"""`polyjudge demo`: check and judge a packaged sample in over seventy languages, without a key or a network."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from polyjudge.calibration.cards import new_card, with_measurement
from polyjudge.calibration.measurement import calibrate_sync
from polyjudge.calibration.trials import TrialOptions
from polyjudge.checks.checker import TextChecker
from polyjudge.clock import utc_now
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError
from polyjudge.files.json_lines import read_json_lines
from polyjudge.files.ownership import own_fields
from polyjudge.formats.prompt_sets import load_prompt_set
from polyjudge.formats.reference_texts import sample_table, sample_texts
from polyjudge.formats.translation_results import TranslationResults, write_translation_results
from polyjudge.formats.translation_scores import TranslationScores, language_score, write_translation_scores
from polyjudge.judges.offline import OfflineJudge
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.calibration import TrustCard
from polyjudge.records.outcomes import Outcome
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult
from polyjudge.reports.blocks import plain_text
from polyjudge.reports.translation import Report
from polyjudge.reports.translation_blocks import translation_scorecard
from polyjudge.reports.wording import Commands
from polyjudge.rubrics.loading import load_rubric
from polyjudge.store.trust_cards import update_card
from polyjudge.suites.translation import MUST_HAVE, quick_choice, tasks_of
from polyjudge.text.display import harmless
from polyjudge.verdicts.trust import JudgeTrust

from .calibrate_perturb import run_notes
from .examples import example_files
from .options import add_force_option
from .report import write_report

_DATA = "demo_data"
_PERTURBATIONS = (
    *("echo_source", "untranslated_span", "wrong_language", "wrong_script", "loop", "truncate", "change_numbers"),
    *("shuffle_words", "typos", "negate", "swap_words", "nfd"),
)
"""Perturbations that the checks detect, some that they cannot detect, and a control."""


class PlantedFault(NamedTuple):
    """A planted error."""

    kind: str = ""
    output: str = ""
    source: str = ""
    """Instead of that of the sample, which has no mention or emoji to lose."""


Planted = dict[tuple[str, str], PlantedFault]
"""The planted errors, by language and category."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("polyjudge-demo"),
        metavar="DIR",
        help="folder for the files; default: %(default)s",
    )
    add_force_option(parser.add_argument)


def run(options: argparse.Namespace) -> int:
    """Check and judge the sample offline, write the report, and show the scorecard."""
    table, folder = language_table(), options.output
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--output {str(folder)!r} is a file. Give a folder.")
    results, scores, report_file = folder / "results.json", folder / "results-full-judge.json", folder / "report.md"
    page = report_file.with_suffix(".html")
    planted = _planted()
    languages = list(_languages(table, planted))
    about = {**own_fields(), "bindingUsed": "packaged sample", "model": "people and planted errors"}
    write_translation_results(results, about, languages, force=options.force)
    rubric = load_rubric("translation")
    judge = OfflineJudge(rubric, table=table)
    write_translation_scores(scores, run_sync(_judge(judge, languages, table)), force=options.force)
    card_file = folder / "card.json"
    card = _calibrate(judge, quick_choice(languages, table)[0], card_file)
    judged = {"full": TranslationScores(scores)}
    trust = {"full": JudgeTrust(f"{card.judge.provider}/{card.judge.model}", card)}
    report = Report(TranslationResults(results), judged, table, timestamp=utc_now(), trust=trust)
    commands = _commands(results, scores, card_file)
    write_report(report, "markdown", report_file, force=options.force, commands=commands)
    write_report(report, "html", page, force=options.force, commands=commands)
    _write_examples(folder)
    sys.stdout.writelines(plain_text(translation_scorecard(report, commands)))
    _show_faults(languages, planted, table)
    print("No model was asked. The checks look at neither grammar nor meaning, so no language is shown as PASS.")
    print(f"Report: {report_file}\nHTML report: {page}\nJudged results: {results}\nScores: {scores}")
    print(f"Trust card: {card_file} (to show it: polyjudge calibrate card {card_file})")
    print(f"To open the report in a browser: polyjudge view {folder}")
    print(f"To try the examples of --help and of the documentation: cd {quote(str(folder))}")
    return 0


def _write_examples(folder: Path) -> None:
    """Write the files that the examples of the help and the documentation read, except those that are there."""
    for packaged in example_files():
        content, path = packaged.read_bytes(), folder / packaged.name
        with suppress(FileExistsError):
            path.touch(0o777 if content.startswith(b"#!") else 0o666, exist_ok=False)
            path.write_bytes(content)


def _commands(results: Path, scores: Path, card: Path) -> Commands:
    """Return the commands that the report names as next steps."""
    files = f"{quote(str(results))} --full-judge {quote(str(scores))} --card {quote(str(card))}"
    judge = f"polyjudge translation full {quote(str(results))} --judge openai/gpt-5-mini"
    return Commands(judge=judge, explain=f"polyjudge explain {files} --language {{values}}")


def _planted() -> Planted:
    with as_file(files("polyjudge.cli") / _DATA / "faults.jsonl") as path:
        faults = [fault for _, fault in read_json_lines(path)]
    return {
        (fault["language"], fault["category"]): PlantedFault(fault["kind"], fault["output"], fault.get("source", ""))
        for fault in faults
    }


def _languages(table: LanguageTable, planted: Planted) -> Iterator[LanguageResult]:
    """Yield the sample with the planted errors, as a translator's results."""
    sources, rows = sample_table()
    prompts = load_prompt_set("travel")
    for tag, row in rows.items():
        language = table.find(tag)
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
                    source_text=fault.source or sources[category],
                    prompt=prompts.instruction(language.name, fault.source or sources[category]),
                    generated_output=fault.output if fault.kind else good,
                )
                for category, good in row.items()
                if good
                for fault in (planted.get((language.tag, category), PlantedFault()),)
            ),
        )


def _calibrate(judge: OfflineJudge, languages: list[LanguageResult], path: Path) -> TrustCard:
    """Measure whether the judge notices perturbed texts, with few languages and perturbations to be quick."""
    tags = {language.language_code for language in languages}
    texts = [text for text in sample_texts() if text.language in tags]
    measured = calibrate_sync(judge, texts, judge.rubric, TrialOptions(_PERTURBATIONS, severities=(1.0,)))
    card = new_card(None, identity_of_models([], judge.rubric), at=utc_now())
    return update_card(path, lambda _: with_measurement(card, measured, run_notes(measured, None)))


async def _judge(judge: OfflineJudge, languages: list[LanguageResult], table: LanguageTable) -> list[LanguageScore]:
    found = defaultdict[str, dict[int, Outcome]](dict)
    for task in tasks_of(languages, table):
        found[task.language.language_code][task.index] = await judge.judge(task.item(offline=True))
    return [language_score(language, found[language.language_code], "offline") for language in languages]


def _show_faults(languages: list[LanguageResult], planted: Planted, table: LanguageTable) -> None:
    """Compare the findings of the checks with the planted errors."""
    checker, hits, missed, false_alarms = TextChecker(table, plugins=()), 0, list[str](), list[str]()
    for language in languages:
        for prompt, check in zip(language.prompts, checker.check_outputs(language), strict=True):
            kind = planted.get((language.language_code, prompt.category), PlantedFault()).kind
            found = {problem.kind for problem in check.problems} if check else set[str]()
            place = f"{language.language_name}, {prompt.category}"
            if kind in found:
                hits += 1
            elif kind:
                missed.append(f"{place}: {kind}")
            elif found:
                false_alarms.append(f"{place}: {', '.join(sorted(found))}")
    clean = sum(len(language.prompts) for language in languages) - hits - len(missed)
    found = f"{hits} of {hits + len(missed)}"
    print(f"Planted faults found: {found}. False alarms: {len(false_alarms)} in {clean} clean outputs.")
    for line in (*missed, *false_alarms):
        print(f"  {harmless(line)}")
