"""`polyjudge translation check RESULTS`: script, language, degeneration and preservation, without a model."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from polyjudge.checks.reference import Agreement, agreement
from polyjudge.errors import ConfigError
from polyjudge.files.atomic import readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.formats.translation_results import TranslationResults, write_translation_results
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.codec import to_json
from polyjudge.records.findings import TextCheck
from polyjudge.records.translation import Language, LanguageResult, PromptResult
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.translation import VerdictMaker, is_enough

from .options import add_force_option, check_output
from .progress import CountShow
from .tables import print_table

_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("results", type=Path, metavar="RESULTS", help="what a translator wrote: JSON, JSONL, CSV, TSV or Parquet")
    add("--output", type=Path, metavar="FILE", help="write the results with scriptValidationPassed and what was found")
    add_force_option(add)
    add("--correct", action="store_true", help="with --output, put scriptValidationPassed right where it is there too")
    add("--format", choices=["text", "json"], default="text", help="default: %(default)s")


@dataclass(slots=True)
class _Findings:
    """What the checks say of one language."""

    name: str
    language: str
    known: bool
    prompts: int = 0
    script_passed: int = 0
    wrong_language: int = 0
    unsure: int = 0
    looks_like: str = ""
    problems: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[str] = field(default_factory=list[str])
    examples: list[str] = field(default_factory=list[str])
    references: int = 0
    agreement: Agreement | None = None
    """With the references, where there are any."""

    @property
    def passed(self) -> bool | None:
        """Whether at least 80% of the outputs are in the right script and none too many in another language."""
        if not self.known or not self.prompts:
            return None
        right = self.prompts - self.wrong_language
        return is_enough(self.script_passed, self.prompts) and is_enough(right, self.prompts)


def run(options: argparse.Namespace) -> int:
    """Check every output, say what was found, and write the file anew if asked."""
    if options.output is not None:
        check_results_name(options.output)
        check_output(options.output, [], force=options.force)
    elif options.correct:
        raise ConfigError("--correct needs an --output to write to")
    table, results, found = language_table(), TranslationResults(options.results), list[_Findings]()
    if options.output is not None:
        results.about.update({**own_fields(), **_about(options.results)})
        languages = _checked(results, table, found, correct=options.correct)
        write_translation_results(options.output, results.about, languages, force=options.force)
    else:
        for _ in _checked(results, table, found, correct=False):
            pass
    if options.format == "json":
        print(readable_json([_as_row(each) for each in found], indent=1))
    else:
        _show(found)
    for problem in results.problems[:5]:
        print(f"polyjudge: warning: {harmless(problem)}", file=sys.stderr)
    return 1 if any(each.passed is False for each in found) else 0


def check_results_name(path: Path) -> None:
    """Refuse a name by which results, which are written as JSON, could not be read again."""
    if path.suffix.lower() in (".jsonl", ".csv", ".tsv", ".parquet"):
        raise ConfigError(f"--output {str(path)!r}: results are written as JSON; name a .json file")
    if path.is_dir():
        raise ConfigError(f"--output {str(path)!r} is a folder")


def _about(path: Path) -> dict[str, Any]:
    """Return what the file says of the run; it may stand after the languages, so the file is read for it first."""
    results = TranslationResults(path)
    for _ in results:
        pass
    return results.about


def _checked(
    results: TranslationResults, table: LanguageTable, found: list[_Findings], *, correct: bool
) -> Iterator[LanguageResult]:
    """Yield each language as it is to be written, and note what was found."""
    maker = VerdictMaker(table)
    with CountShow("languages checked") as progress:
        for language in results:
            known = table.find(language.language_code, language.language_name)
            findings = _Findings(language.language_name, language.language_code, known is not None)
            found.append(findings)
            prompts = [
                _note(findings, index, prompt, check, correct)
                for index, (prompt, check) in enumerate(zip(language.prompts, maker.checks(language), strict=True))
            ]
            _compare(findings, language, known)
            progress.advance()
            yield replace(language, prompts=tuple(prompts))


def _compare(findings: _Findings, language: LanguageResult, known: Language | None) -> None:
    """Measure how far the outputs agree with the references that the file has."""
    pairs = [(each.generated_output, each.reference) for each in language.prompts if each.reference]
    findings.references = len(pairs)
    if pairs and known is not None:
        findings.agreement = agreement([text for text, _ in pairs], [reference for _, reference in pairs], known)


def _note(
    findings: _Findings, index: int, prompt: PromptResult, check: TextCheck | None, correct: bool
) -> PromptResult:
    findings.prompts += 1
    if check is None:
        return prompt
    passed = check.script.state != "fail"
    findings.script_passed += passed
    findings.wrong_language += check.language.state == "wrong"
    findings.unsure += check.language.state == "unsure"
    findings.problems.update({problem.kind for problem in check.problems})
    if check.language.state == "wrong":
        findings.looks_like = check.language.found
    if check.problems:
        findings.examples.append(f"output {index}: {check.problems[0].message}")
    given = prompt.script_validation_passed
    if given is not None and given != passed:
        findings.disagreements.append(f"output {index}: the file says {given}, the check {passed}")
    settled = passed if given is None or correct else given
    said = {"script": check.script.state, "language": check.language.state, "found": check.language.found}
    problems = [to_json(problem) for problem in check.problems]
    return replace(
        prompt,
        script_validation_passed=settled,
        extra={**prompt.extra, "checks": {**said, "problems": problems}},
    )


def _show(found: list[_Findings]) -> None:
    rows = [
        (
            each.name,
            str(each.prompts),
            f"{each.script_passed}/{each.prompts}" if each.known else "–",
            str(each.wrong_language) if each.known else "–",
            str(each.unsure) if each.known else "–",
            _kinds(each),
            {True: "ok", False: "FAIL", None: "not checked"}[each.passed],
        )
        for each in found
    ]
    header = ("Language", "Outputs", "Right script", "Wrong language", "Unsure", "Problems", "")
    print_table(header, rows, numbers=(1, 2, 3, 4))
    _show_agreement(found)
    for title, lines in (
        ("Problems", [f"{each.name}, {line}" for each in found for line in each.examples]),
        ("Disagreements with scriptValidationPassed", [f"{e.name}, {line}" for e in found for line in e.disagreements]),
        ("Not in the table of languages", [each.name for each in found if not each.known]),
    ):
        if lines:
            print(f"{title}:")
            for line in lines[:_SHOWN]:
                print(f"  {one_line(line, 160)}")
            if len(lines) > _SHOWN:
                print(f"  and {len(lines) - _SHOWN} more; --format json lists all")


def _show_agreement(found: list[_Findings]) -> None:
    measured = [(each.name, each.agreement) for each in found if each.agreement is not None]
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
        told = "the file has references; to measure the agreement: pip install 'polyjudge[metrics]'"
        print(f"polyjudge: {told}", file=sys.stderr)


def _kinds(findings: _Findings) -> str:
    return ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in sorted(findings.problems.items()))


def _as_row(findings: _Findings) -> dict[str, Any]:
    return {
        "languageName": findings.name,
        "languageCode": findings.language,
        "known": findings.known,
        "passed": findings.passed,
        "prompts": findings.prompts,
        "scriptPassed": findings.script_passed,
        "wrongLanguage": findings.wrong_language,
        "unsure": findings.unsure,
        "looksLike": findings.looks_like,
        "agreement": None if findings.agreement is None else asdict(findings.agreement),
        "problems": dict(findings.problems),
        "examples": findings.examples,
        "disagreements": findings.disagreements,
    }
