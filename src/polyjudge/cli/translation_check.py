"""`polyjudge translation check RESULTS`: check script, language, degeneration and preservation without a model."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from polyjudge.checks.checker import TextChecker
from polyjudge.checks.many_texts import ManyTexts
from polyjudge.checks.reference import Agreement, agreement
from polyjudge.errors import ConfigError
from polyjudge.extras import install_command
from polyjudge.files.json_lines import readable_json
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import own_fields
from polyjudge.files.spill import Spilled
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.translation_results import TranslationResults, write_translation_results
from polyjudge.languages.table import language_table
from polyjudge.records.codec import to_json
from polyjudge.records.findings import TextCheck
from polyjudge.records.translation import Language, LanguageResult, PromptResult
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.translation import (
    Verdict,
    counts_text,
    language_verdict,
    script_ok,
    status_fields,
    status_label,
    totals,
)

from .check_options import add_check_options, add_jobs_option, jobs_of
from .checking import policy_of, print_accepted
from .options import add_force_option, check_output
from .output import print_table, print_warning
from .progress import StatusLine
from .tables import RESULTS_HELP, add_table_options, input_of, table_options_of

_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("results", type=Path, metavar="RESULTS", help=RESULTS_HELP)
    add("--output", type=Path, metavar="FILE", help="file for the results with scriptValidationPassed and the findings")
    add_force_option(add)
    add("--correct", action="store_true", help="with --output, also replace existing values of scriptValidationPassed")
    add_check_options(add)
    add_jobs_option(add)
    add("--format", choices=["text", "json"], default="text", help="output format; default: %(default)s")
    add_table_options(parser.add_argument_group("table").add_argument)


@dataclass(slots=True)
class _Checked:
    """The findings in one language."""

    verdict: Verdict
    known: bool
    """The language is in the table."""
    script_passed: int = 0
    wrong_language: int = 0
    unsure: int = 0
    looks_like: str = ""
    disagreements: list[str] = field(default_factory=list[str])
    """Outputs for which the file's scriptValidationPassed differs from the check."""
    examples: list[str] = field(default_factory=list[str])
    accepted: int = 0
    """Findings that the project has accepted."""
    references: int = 0
    agreement: Agreement | None = None
    """With the references of the file, if it has any."""


def run(options: argparse.Namespace) -> int:
    """Check every output, print the findings, and write the file again if asked."""
    if options.output is not None:
        check_results_name(options.output)
        check_output(options.output, [], kind=FileKind.TRANSLATIONS, force=options.force)
    elif options.correct:
        raise ConfigError("--correct needs --output FILE.")
    given = table_options_of(options)
    path = input_of(options.results, given, uses_ids=False)
    policy = policy_of(options)
    checker = ManyTexts(TextChecker(language_table(), policy=policy), jobs_of(options))
    results, found = TranslationResults(path, given), list[_Checked]()
    if options.output is not None:
        results.about.update({**own_fields(), **_about(path, given)})
        languages = _checked(results, checker, found, correct=options.correct)
        write_translation_results(options.output, results.about, languages, force=options.force)
    else:
        for _ in _checked(results, checker, found, correct=False):
            pass
    if options.format == "json":
        print(readable_json([_as_row(each) for each in found], indent=1))
    else:
        _show(found)
    for problem in results.problems[:5]:
        print_warning(f"{harmless(problem)}")
    print_accepted(policy, sum(each.accepted for each in found))
    return 1 if totals(each.verdict for each in found).fails_gate else 0


def check_results_name(path: Path) -> None:
    """Refuse a file name that says another format than JSON, which is what is written."""
    if path.suffix.lower() in (".jsonl", ".csv", ".tsv", ".parquet"):
        raise ConfigError(f"--output {str(path)!r}: results are written as JSON. Give a .json file.")
    if path.is_dir():
        raise ConfigError(f"--output {str(path)!r} is a folder. Give a file.")


def _about(path: Path, given: TableOptions) -> dict[str, Any]:
    """Return the run's fields of a results file; they may follow the languages, so the whole file is read."""
    results = TranslationResults(path, given)
    for _ in results:
        pass
    return results.about


def _checked(
    results: TranslationResults, texts: ManyTexts, found: list[_Checked], *, correct: bool
) -> Iterator[LanguageResult]:
    """Yield each language as it is to be written, and collect the findings."""
    table = texts.checker.table
    with StatusLine() as status:
        for language, checks in texts.checked(results):
            known = table.find(language.language_code, language.language_name)
            prompts = Spilled(
                _with_check(*pair, correct=correct) for pair in zip(language.prompts, checks, strict=True)
            )
            written = replace(language, prompts=prompts.short())
            checked = _Checked(language_verdict(written, checks, {}, table), known is not None)
            for index, (prompt, check) in enumerate(zip(language.prompts, checks, strict=True)):
                if check is not None:
                    output_id = f"{language.language_code or language.language_name}:{index}"
                    _collect(checked, output_id, prompt, check)
            _compare(checked, language, known)
            found.append(checked)
            status.count("languages checked")
            yield written


def _compare(checked: _Checked, language: LanguageResult, known: Language | None) -> None:
    """Measure the agreement of the outputs with the references of the file."""
    pairs = [(each.generated_output, each.reference) for each in language.prompts if each.reference]
    checked.references = len(pairs)
    if pairs and known is not None:
        checked.agreement = agreement([text for text, _ in pairs], [reference for _, reference in pairs], known)


def _with_check(prompt: PromptResult, check: TextCheck | None, *, correct: bool) -> PromptResult:
    """Return an output with its findings and scriptValidationPassed; `correct` replaces an existing value."""
    if check is None:
        return prompt
    passed = check.script.state != "fail"
    states = {"script": check.script.state, "language": check.language.state, "found": check.language.found}
    return replace(
        prompt,
        script_validation_passed=passed if correct else script_ok(prompt, check),
        extra={**prompt.extra, "checks": {**states, "problems": [to_json(problem) for problem in check.problems]}},
    )


def _collect(checked: _Checked, output_id: str, prompt: PromptResult, check: TextCheck) -> None:
    passed, given = check.script.state != "fail", prompt.script_validation_passed
    checked.script_passed += passed
    checked.wrong_language += check.language.state == "wrong"
    checked.accepted += len(check.accepted)
    checked.unsure += check.language.state == "unsure"
    if check.language.state == "wrong":
        checked.looks_like = check.language.found
    if check.problems:
        checked.examples.append(f"output {output_id}: {check.problems[0].message}")
    if given is not None and given != passed:
        checked.disagreements.append(f"output {output_id}: {given} in the file, {passed} by the check")


def _show(found: list[_Checked]) -> None:
    rows = [
        (
            each.verdict.name,
            str(each.verdict.prompts),
            f"{each.script_passed}/{each.verdict.prompts}" if each.known else "–",
            str(each.wrong_language) if each.known else "–",
            str(each.unsure) if each.known else "–",
            _kinds(each.verdict),
            status_label(each.verdict),
        )
        for each in found
    ]
    header = ("Language", "Outputs", "Right script", "Wrong language", "Unsure", "Problems", "Status")
    print_table(header, rows, numbers=(1, 2, 3, 4))
    print(counts_text(totals(each.verdict for each in found)))
    _show_agreement(found)
    for title, lines in (
        ("Fails", [f"{each.verdict.name}: {each.verdict.reason}" for each in found if each.verdict.status == "FAIL"]),
        ("Problems", [f"{each.verdict.name}, {line}" for each in found for line in each.examples]),
        (
            "Disagreements with scriptValidationPassed",
            [f"{each.verdict.name}, {line}" for each in found for line in each.disagreements],
        ),
        ("Unknown languages, not checked", [each.verdict.name for each in found if not each.known]),
    ):
        if lines:
            print(f"{title}:")
            for line in lines[:_SHOWN]:
                print(f"  {one_line(line, 160)}")
            if len(lines) > _SHOWN:
                print(f"  and {len(lines) - _SHOWN} more; --format json lists all")


def _show_agreement(found: list[_Checked]) -> None:
    measured = [(each.verdict.name, each.agreement) for each in found if each.agreement is not None]
    if measured:
        rows = [
            (
                name,
                str(each.count),
                f"{each.chrf:.1f}",
                f"{each.bleu:.1f}",
                each.chrf_signature,
                each.bleu_signature,
            )
            for name, each in measured
        ]
        print_table(("Language", "References", "chrF++", "BLEU", "chrF++ as", "BLEU as"), rows, numbers=(1, 2, 3))
    elif any(each.references for each in found):
        install = install_command("metrics")
        print(f"polyjudge: To compare the outputs with the references, run: {install}", file=sys.stderr)


def _kinds(verdict: Verdict) -> str:
    return ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in sorted(verdict.problems.items()))


def _as_row(checked: _Checked) -> dict[str, Any]:
    verdict = checked.verdict
    return {
        **status_fields(verdict),
        "known": checked.known,
        "passed": {"CHECKED": True, "FAIL": False}.get(verdict.status),
        "prompts": verdict.prompts,
        "scriptPassed": checked.script_passed,
        "wrongLanguage": checked.wrong_language,
        "unsure": checked.unsure,
        "looksLike": checked.looks_like,
        "agreement": None if checked.agreement is None else asdict(checked.agreement),
        "problems": dict(verdict.problems),
        "examples": checked.examples,
        "disagreements": checked.disagreements,
    }
