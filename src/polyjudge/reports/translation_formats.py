"""The formats of translation reports and trust cards."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import to_builtins

from polyjudge.checks.policy import CheckPolicy
from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.json_lines import readable_json
from polyjudge.formats.columns import AS_IT_IS, TableOptions
from polyjudge.formats.translation_results import TranslationResults, language_pieces
from polyjudge.formats.translation_scores import TranslationScores, score_pieces
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.calibration import TrustCard
from polyjudge.records.translation import LanguageResult
from polyjudge.store.trust_cards import card_row, identity_in, trust_in
from polyjudge.verdicts.translation import Totals, Verdict, status_fields

from .blocks import html_page, markdown, plain_text
from .calibration import card_blocks, card_json, judge_title
from .translation import Report
from .translation_blocks import translation_blocks
from .translation_page import translation_page
from .translation_summary import report_comments, report_headline, report_steps
from .wording import Commands, plain

SCHEMA_VERSION = 1


def report(
    results: Path | str,
    *,
    quick_judge: Path | str | None = None,
    full_judge: Path | str | None = None,
    cards: Sequence[Path | str] = (),
    table: TableOptions = AS_IT_IS,
    policy: CheckPolicy | None = None,
    filters: Mapping[str, frozenset[str]] | None = None,
    only_failures: bool = False,
    progress: Callable[[LanguageResult], None] = lambda _: None,
    jobs: int = 1,
) -> Report:
    """Read a results file and the scores of judges, and return verdicts and totals.

    `quick_judge` and `full_judge` are the scores of `translation quick` and `translation full`; `cards` are trust
    cards, by default the judges' own; `table` says how a table is read, `policy` which checks run and which findings
    are accepted. `filters` select languages by language, family or priority, and `only_failures` lists only those that
    do not pass in detail. Texts are checked in as many processes as there are `jobs`. `render_report` turns the report
    into text.
    """
    given = {"quick": quick_judge, "full": full_judge}
    scores = {name: TranslationScores(Path(path)) for name, path in given.items() if path is not None}
    for each in scores.values():
        if not each.holds_scores:
            raise DataError(
                "no judge scores found. Give the scores of translation quick or translation full", path=each.path
            )
    return Report(
        TranslationResults(Path(results), table),
        scores,
        language_table(),
        timestamp=utc_now(),
        trust={name: trust_in(identity_in(each), [Path(card) for card in cards]) for name, each in scores.items()},
        policy=policy,
        filters=filters,
        only_failures=only_failures,
        progress=progress,
        jobs=jobs,
    )


def render_report(report: Report, format: Literal["markdown", "text", "json", "html"] = "markdown") -> Iterator[str]:
    """Render a report in a format, in pieces."""
    return FORMATS[format](report)


_NO_COMMANDS = Commands()


class Renderer(Protocol):
    """Renders a report, with the commands that it can name as next steps."""

    def __call__(self, report: Report, commands: Commands = _NO_COMMANDS, /) -> Iterator[str]:
        """Yield the pieces of the report."""
        ...


def json_report(report: Report, commands: Commands = _NO_COMMANDS) -> Iterator[str]:
    """Yield the pieces of the report."""
    head = readable_json(_head(report, commands), indent=1)
    yield head[: head.rindex("\n}")] + ",\n"
    yield ' "languageResults": [\n'
    yield from _joined(language_pieces(each) for each in report.languages())
    yield '\n ],\n "judgeScores": [\n'
    scores = ((name, score) for each in report.scores() for name, score in each.items())
    yield from _joined(score_pieces(score, tier=name) for name, score in scores)
    yield "\n ]\n}\n"


def _joined(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield ",\n  " if number else "  "
        yield from row


def _head(report: Report, commands: Commands) -> dict[str, Any]:
    found, about = report.totals, report.about
    head = {
        "schemaVersion": SCHEMA_VERSION,
        "timestamp": report.timestamp,
        "headline": plain(report_headline(report)),
        "next": [{"text": step.text, "command": step.command} for step in report_steps(report, commands)],
        "bindingUsed": about.get("bindingUsed", about.get("binding")),
        "deviceInfo": about.get("deviceInfo", about.get("device")),
        "model": about.get("model"),
        "totalLanguages": found.languages,
        "passedLanguages": found.without_failure,  # the founding field: PASS and CHECKED
        "checkedLanguages": found.counts["CHECKED"],
        "failedLanguages": found.counts["FAIL"],
        "conflictLanguages": found.counts["CONFLICT"],
        "unreliableLanguages": found.counts["UNRELIABLE"],
        "unjudgedLanguages": found.counts["UNJUDGED"],
        "skippedLanguages": found.counts["SKIPPED"],
        "passRate": found.rate,
        "passRateInterval": to_builtins(found.rate_interval) if found.rate_interval else None,
        "statuses": dict(found.counts),
        "scriptFamilies": [_family(family, each) for family, each in report.families.items()],
        "trust": {
            name: {"judge": trust.judge, "card": card_row(trust.card) if trust.card else None, "why": trust.why}
            for name, trust in report.trust.items()
        },
        "sameComments": report_comments(report),
        "verdicts": [_verdict(verdict) for verdict in report.verdicts],
        "warnings": list(report.warnings),
        "skippedRows": report.skipped_rows,
        "acceptedFindings": report.accepted,
    }
    own = (*head, "binding", "device", "languageResults", "judgeScores")
    return {**head, **{key: value for key, value in about.items() if key not in own}}


def _family(family: str, found: Totals) -> dict[str, Any]:
    return {
        "family": family,
        "languages": found.languages,
        "passed": found.without_failure,
        "failed": found.counts["FAIL"],
        "other": found.languages - found.without_failure - found.counts["FAIL"],
        "rate": found.rate,
        "interval": to_builtins(found.rate_interval) if found.rate_interval else None,
        "statuses": dict(found.counts),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        **status_fields(verdict),
        "scriptFamily": verdict.family,
        "mustHave": verdict.is_priority,
        "prompts": verdict.prompts,
        "scriptChecked": verdict.script_checked,
        "scriptPassed": verdict.script_passed,
        "tokensPerSecond": verdict.tokens_per_second,
        "disagreements": list(verdict.disagreements),
        "looksLike": verdict.looks_like,
        "checkedOutputs": verdict.checked_outputs,
        "failingOutputs": verdict.failing_outputs,
        "problems": dict(verdict.problems),
        "trust": list(verdict.trust),
        "calibrated": verdict.is_calibrated,
    }


def _markdown(report: Report, commands: Commands = _NO_COMMANDS) -> Iterator[str]:
    return markdown(translation_blocks(report, commands))


def _text(report: Report, commands: Commands = _NO_COMMANDS) -> Iterator[str]:
    return plain_text(translation_blocks(report, commands))


FORMATS: dict[str, Renderer] = {
    "markdown": _markdown,
    "text": _text,
    "json": json_report,
    "html": translation_page,
}

CARD_FORMATS: dict[str, Callable[[TrustCard, LanguageTable], Iterator[str]]] = {
    "text": lambda card, table: plain_text(card_blocks(card, table)),
    "markdown": lambda card, table: markdown(card_blocks(card, table)),
    "json": lambda card, _: card_json(card),
    "html": lambda card, table: html_page(f"Trust card of {judge_title(card)}", card_blocks(card, table)),
}
