"""`polyjudge check TEXT --language L`: run all checks on one text and show what each of them saw."""

import argparse
import sys
from typing import Any

from polyjudge.checks.accepted import fingerprint
from polyjudge.checks.catalogue import anchor, known_findings, track_record
from polyjudge.checks.checker import TextChecker, reference_agreement
from polyjudge.checks.evidence import Evidence, evidence_of
from polyjudge.checks.policy import CheckPolicy
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.json_lines import readable_json
from polyjudge.languages.table import language_table
from polyjudge.records.findings import CheckedText, Finding, TextCheck
from polyjudge.text.display import one_line

from .check_options import add_check_options
from .checking import policy_of, print_accepted
from .output import print_table

_STDIN = "-"
_AROUND = 25
_LONGEST_LINE = 300


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("text", metavar="TEXT", help="the text to check; - reads it from stdin")
    add("--language", required=True, metavar="NAME", help="the language that the text should be in: its tag or name")
    add("--source", default="", metavar="TEXT", help="the text that it translates; without one, fewer checks are run")
    add("--reference", default="", metavar="TEXT", help="a reference translation; needs polyjudge[metrics]")
    add("--prompt", default="", metavar="TEXT", help="the prompt of the model, to detect parts of it in the text")
    add_check_options(add)
    add("--format", choices=["text", "json"], default="text", help="output format; default: %(default)s")


def run(options: argparse.Namespace) -> int:
    """Check the text, and show the findings and the evidence."""
    table, policy = language_table(), policy_of(options)
    language = table.find(options.language)
    if language is None:
        close = table.suggestion(options.language)
        message = f"{options.language!r} is not in the language table. Give a tag or name, or add a row.{close}"
        raise ConfigError(message, option="language")
    checked = CheckedText(
        text=_read_stdin() if options.text == _STDIN else options.text,
        language=language,
        source=options.source,
        prompt=options.prompt,
        reference=options.reference,
    )
    checker = TextChecker(table, policy=policy)
    found = checker.check_text(checked, [*reference_agreement(checked.text, checked.reference)])
    evidence = evidence_of(checked, found, table, policy)
    if options.format == "json":
        print(readable_json(_as_row(checked, found, evidence, policy), indent=1))
    else:
        _show(checked, found, evidence)
    print_accepted(policy, len(found.accepted), warn_of_unused=False)
    return 1 if found.fails else 0


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"stdin is not UTF-8 text ({error.reason} at byte {error.start})") from None


def _show(checked: CheckedText, found: TextCheck, evidence: list[Evidence]) -> None:
    for finding in found.problems:
        print(one_line(f"{finding.severity.upper()} {finding.kind}: {_sentence(finding)}", _LONGEST_LINE))
        if finding.start is not None:
            print(f"  {one_line(_quote(checked.text, finding), _LONGEST_LINE)}")
        notes = [track_record(finding), f"finding {fingerprint(finding, checked)}"]
        print(f"  {'; '.join(filter(None, notes))}")
    if not found.problems:
        print(f"No findings in this {checked.language.name} text.")
    print_table(("Check", "Outcome", "Evidence"), [(each.check, each.outcome, each.detail) for each in evidence])


def _sentence(finding: Finding) -> str:
    """Say in one sentence what was found, where, and why it matters."""
    known = known_findings().get(finding.kind)
    what = finding.message.removesuffix(".")
    where = "" if finding.start is None else f" (characters {finding.start} to {finding.end})"
    why = "" if known is None else f"; {known.matters[0].lower()}{known.matters[1:].removesuffix('.')}"
    return f"{what}{where}{why}."


def _quote(text: str, finding: Finding) -> str:
    start, end = finding.start or 0, finding.end or 0
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return (
        f"{'…' if start > _AROUND else ''}{before}[{text[start:end]}]{after}{'…' if end + _AROUND < len(text) else ''}"
    )


def _as_row(checked: CheckedText, found: TextCheck, evidence: list[Evidence], policy: CheckPolicy) -> dict[str, Any]:
    return {
        "language": checked.language.tag,
        "fails": found.fails,
        "findings": [_finding_row(finding, checked) for finding in found.problems],
        "accepted": [
            {**_finding_row(finding, checked), "reason": policy.accepted.reason_for(fingerprint(finding, checked))}
            for finding in found.accepted
        ],
        "checks": [{"check": each.check, "outcome": each.outcome, "evidence": each.detail} for each in evidence],
        "scriptShare": found.script.share,
        "languageFound": found.language.found,
        "languageConfidence": found.language.confidence,
    }


def _finding_row(finding: Finding, checked: CheckedText) -> dict[str, Any]:
    known = known_findings().get(finding.kind)
    return {
        "finding": fingerprint(finding, checked),
        "check": known.check if known else "",
        "kind": finding.kind,
        "severity": finding.severity,
        "message": finding.message,
        "start": finding.start,
        "end": finding.end,
        "matters": known.matters if known else "",
        "record": track_record(finding),
        "documentation": anchor(finding.kind) if known else "",
    }
