"""A report as JSON, for programs; written language by language."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from polyjudge.files import card_row, readable_json

from .report import Report
from .trust import JudgeTrust
from .verdicts import Verdict

SCHEMA_VERSION = 1


def json_report(report: Report) -> Iterator[str]:
    """Yield the pieces of the report."""
    head = readable_json(_head(report), indent=1)
    yield head[: head.rindex("\n}")] + ",\n"
    yield ' "languageResults": [\n'
    yield from _joined(readable_json(row) for row, _ in report.rows())
    yield '\n ],\n "judgeScores": [\n'
    rows = ({"tier": name, **score} for _, scores in report.rows() for name, score in scores.items())
    yield from _joined(readable_json(row) for row in rows)
    yield "\n ]\n}\n"


def _joined(rows: Iterable[str]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f",\n  {row}" if number else f"  {row}"


def _head(report: Report) -> dict[str, Any]:
    interval = report.interval("PASS")
    head = {
        "schemaVersion": SCHEMA_VERSION,
        "timestamp": report.timestamp,
        **_named(report),
        "totalLanguages": report.total,
        "passedLanguages": report.count("PASS"),
        "failedLanguages": report.count("FAIL"),
        "conflictLanguages": report.count("CONFLICT"),
        "unreliableLanguages": report.count("UNRELIABLE"),
        "unjudgedLanguages": report.count("UNJUDGED"),
        "skippedLanguages": report.count("SKIPPED"),
        "passRate": report.count("PASS") / report.judged if report.judged else None,
        "passRateInterval": asdict(interval) if interval else None,
        "scriptFamilies": [
            {**asdict(row), "rate": row.rate, "interval": asdict(row.interval) if row.interval else None}
            for row in report.families()
        ],
        "trust": {name: _trusted(trust) for name, trust in report.trust.items()},
        "verdicts": [_verdict(verdict) for verdict in report.verdicts],
        "warnings": list(report.warnings),
        "skippedRows": report.skipped_rows,
    }
    own = (*head, "binding", "device", "languageResults", "judgeScores")
    return {**head, **{key: value for key, value in report.about.items() if key not in own}}


def _trusted(trust: JudgeTrust) -> dict[str, Any]:
    """Return the card of a judge, or why none counts."""
    return {"judge": trust.judge, "card": card_row(trust.card) if trust.card else None, "why": trust.why}


def _named(report: Report) -> dict[str, Any]:
    about = report.about
    return {
        "bindingUsed": about.get("bindingUsed", about.get("binding")),
        "deviceInfo": about.get("deviceInfo", about.get("device")),
        "model": about.get("model"),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "languageName": verdict.name,
        "languageCode": verdict.language,
        "status": verdict.status,
        "scriptOnly": verdict.script_only,
        "reason": verdict.reason,
        "scriptFamily": verdict.family,
        "mustHave": verdict.is_priority,
        "prompts": verdict.prompts,
        "scriptChecked": verdict.script_checked,
        "scriptPassed": verdict.script_passed,
        "tokensPerSecond": verdict.tokens_per_second,
        "disagreements": list(verdict.disagreements),
        "looksLike": verdict.looks_like,
        "problems": dict(verdict.problems),
        "trust": list(verdict.trust),
        "calibrated": verdict.is_calibrated,
    }
