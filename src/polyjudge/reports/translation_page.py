"""Render the translation report as an HTML page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any

from polyjudge.checks.checker import TextChecker
from polyjudge.files.atomic import readable_json
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import Finding, TextCheck
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.items import STATUSES, Status
from polyjudge.verdicts.translation import (
    NEEDED_SHARE,
    PASSING_SCORE,
    Totals,
    Verdict,
    is_enough,
    scores_pass,
    status_label,
)
from polyjudge.verdicts.trust import NOT_MEASURED, TRUST_VERDICTS

from .blocks import Block, Lines, Table, fill_page, for_script, shown
from .translation import (
    STATUS_NAMES,
    Report,
    count_note,
    judge_name,
    judge_note,
    report_facts,
    shown_statuses,
    trust_lines,
)

_ROW, _LEFT, _WIDTH, _RIGHT = 24, 150, 420, 250


def family_bars(families: Mapping[str, Totals]) -> Any:
    """Draw a bar for each script family, with its numbers."""
    from markupsafe import Markup

    height = _ROW * len(families) + 8
    total = _LEFT + _WIDTH + _RIGHT
    parts = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="Languages without failure by script family">'
        f'<svg viewBox="0 0 {total} {height}" width="{total}" height="{height}" role="img" '
        'aria-label="Share of languages that passed or were checked, by script family, with 95% intervals">'
    ]
    for index, (family, found) in enumerate(families.items()):
        parts += _bar(index, family, found)
    return Markup("\n".join([*parts, "</svg></div>"]))


def _bar(index: int, family: str, found: Totals) -> list[str]:
    """Draw one family: the share that passed, the share that was only checked, and the interval of their sum."""
    top = index * _ROW + 4
    middle = top + _ROW / 2
    name = escape(shown(family)[:60])
    parts = [
        f'<text x="{_LEFT - 8}" y="{middle + 4:.0f}" text-anchor="end">{name}</text>',
        f'<rect class="track" x="{_LEFT}" y="{top + 4}" width="{_WIDTH}" height="{_ROW - 8}"/>',
    ]
    interval = found.rate_interval
    if interval is None:
        label = f"no verdict on {found.languages}"
    else:
        start = float(_LEFT)
        for style, count in (("bar", found.counts["PASS"]), ("checked", found.counts["CHECKED"])):
            width = count / found.decided * _WIDTH
            if count:
                spot = f'x="{start:.1f}" y="{top + 4}" width="{width:.1f}" height="{_ROW - 8}"'
                parts.append(f'<rect class="{style}" {spot}/>')
            start += width
        low, high = _LEFT + interval.low * _WIDTH, _LEFT + interval.high * _WIDTH
        parts.append(f'<line class="range" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.0f}" y2="{middle:.0f}"/>')
        counts = [f"{found.counts[status]} {name}" for status, name in _BAR_NAMES.items() if found.counts[status]]
        label = f"{' and '.join(counts) or '0 passed'} of {found.decided} ({interval.low:.0%} to {interval.high:.0%})"
    return [*parts, f'<text class="soft" x="{_LEFT + _WIDTH + 8}" y="{middle + 4:.0f}">{label}</text>']


_BAR_NAMES: dict[Status, str] = {"PASS": "passed", "CHECKED": "checked"}
_ITEMS_IN_A_PART = 50
_LONGEST_TEXT = 20_000
_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_WARNINGS_SHOWN = 20
_STYLES: dict[Status, str] = {
    "PASS": "good",
    "CHECKED": "checked",
    "FAIL": "bad",
    "CONFLICT": "bad",
    "UNRELIABLE": "poor",
}
_SAFE_ANCHOR = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Cell:
    """One coloured cell; its text has the same information as its colour."""

    text: str
    style: str = ""
    value: str = ""
    """The sort key; empty comes last."""


def translation_page(report: Report) -> Iterator[str]:
    """Render the page; texts are read one language at a time."""
    content: dict[str, Any] = {
        "facts": [line.split(": ", 1) for line in report_facts(report) if ": " in line],
        "cards": list(_cards(report)),
        "trust": list(trust_lines(report)),
        "bars": family_bars(report.families),
        "comparisons": list(_comparisons(report)),
        "filters": _filters(report),
        "columns": _columns(report),
        "rows": (_row(report, index, verdict) for index, verdict in enumerate(report.verdicts)),
        "warnings": _warnings(report),
        "details": _details(report),
    }
    return fill_page("translation.html", "Translation report", content)


def _warnings(report: Report) -> list[str]:
    label = list(report.warnings[:_WARNINGS_SHOWN])
    more = report.skipped_rows - len(label)
    return [*label, f"and {more} more"] if more > 0 else label


def _cards(report: Report) -> Iterator[dict[str, Any]]:
    found = report.totals
    tested = found.languages - found.counts["SKIPPED"]
    yield {"count": tested, "name": "languages tested", "rate": "", "style": ""}
    for status in shown_statuses(found, ("PASS", "FAIL", "UNJUDGED")):
        count, interval = found.counts[status], found.interval(status)
        rate = f"{count / found.decided:.1%}, 95%: {interval.low:.1%} to {interval.high:.1%}" if interval else ""
        name = STATUS_NAMES[status].lower() + count_note(report, status)
        yield {"count": count, "name": name, "rate": rate, "style": _STYLES.get(status, "") if count else ""}


def _filters(report: Report) -> list[tuple[str, str, list[str]]]:
    verdicts = report.verdicts
    problems = sorted({kind for verdict in verdicts for kind in verdict.problems})
    families = sorted({one_line(verdict.family, _LONGEST_NAME) for verdict in verdicts if verdict.family})
    return [
        ("status", "Status", [status for status in STATUSES if report.totals.counts[status]]),
        ("family", "Script family", families),
        ("priority", "Priority", ["must-have", "standard"]),
        ("problems", "Problem", problems),
    ]


def _columns(report: Report) -> list[dict[str, Any]]:
    columns = [("Language", False), ("Status", False), ("Family", False), ("Right script", True)]
    for judge in report.judges:
        columns += [(f"{judge}: {name}", True) for name in ("script", "grammar", "coherence")]
        columns.append((f"{judge}: right language", False))
    if report.trust:
        columns.append(("Trust", False))
    return [{"name": name, "numeric": numeric} for name, numeric in (*columns, ("Problems", True))]


def _row(report: Report, index: int, verdict: Verdict) -> dict[str, Any]:
    known = report.table.find(verdict.language, verdict.name)
    return {
        "anchor": anchor_of(verdict, index),
        "name": one_line(verdict.name, _LONGEST_NAME),
        "native": known.native_name if known and known.native_name != verdict.name else "",
        "tag": known.tag if known else "",
        "direction": known.direction if known else "auto",
        "status": verdict.status,
        "family": one_line(verdict.family, _LONGEST_NAME),
        "priority": "must-have" if verdict.is_priority else "standard",
        "problems": sorted(verdict.problems),
        "cells": list(_cells(report, verdict)),
    }


def anchor_of(verdict: Verdict, index: int) -> str:
    """Return the anchor of a language: its tag if that is safe, else its number."""
    return verdict.language if _SAFE_ANCHOR.fullmatch(verdict.language) else f"n{index}"


def _cells(report: Report, verdict: Verdict) -> Iterator[Cell]:
    yield Cell(status_label(verdict), _STYLES.get(verdict.status, "none"), verdict.status)
    yield Cell(one_line(verdict.family, _LONGEST_NAME), "", verdict.family)
    yield _share(verdict.script_passed, verdict.script_checked)
    for judge in report.judges:
        score = verdict.scores.get(judge)
        values = (score.script_score, score.grammar_score, score.coherence_score) if score else (None, None, None)
        yield from map(_points, values)
        yield _flag(score.is_correct_language if score else None)
    if report.trust:
        yield _trust(verdict)
    count = sum(verdict.problems.values())
    yield Cell(str(count), "num poor" if count else "num", str(count))


def _share(passed: int, checked: int) -> Cell:
    if not checked:
        return Cell("–", "num none")
    share = passed / checked
    style = "good" if is_enough(passed, checked) else "poor" if share >= 0.5 else "bad"
    return Cell(f"{passed}/{checked}", f"num {style}", f"{share:.4f}")


def _points(value: float | None) -> Cell:
    if value is None:
        return Cell("–", "num none")
    style = "good" if value >= 4 else "fair" if value >= PASSING_SCORE else "poor" if value >= 2 else "bad"
    return Cell(f"{value:g}", f"num {style}", f"{value:g}")


def _flag(value: bool | None) -> Cell:
    return Cell("–", "none") if value is None else Cell("yes", "good", "yes") if value else Cell("no", "bad", "no")


def _trust(verdict: Verdict) -> Cell:
    """Return the best verdict on the language in the cards of the judges."""
    for word, style in zip(TRUST_VERDICTS, ("good", "bad", "none"), strict=True):
        if word in verdict.trust_words:
            return Cell(word, style, word)
    return Cell(NOT_MEASURED, "none")


def _comparisons(report: Report) -> Iterator[Block]:
    """Yield how often two judges, or a judge and the checks, give the same verdict on a language."""
    rows = [_pair_row(one, two, report) for one, two in combinations(report.judges, 2)]
    rows += [_checks_row(judge, report) for judge in report.judges if not _is_offline(judge, report)]
    if rows:
        header = (
            "Compared",
            "Languages",
            "Both pass",
            "Both fail",
            "Only the first passes",
            "Only the second passes",
            "Same",
        )
        yield Table(header, tuple(rows), (1, 2, 3, 4, 5, 6))
        needed = f"at least {NEEDED_SHARE:.0%} of its outputs must have no failing finding"
        yield Lines((f"For the checks to pass a language, {needed}.",))


def _is_offline(judge: str, report: Report) -> bool:
    """Return whether a judge is `offline`, which would be compared with itself."""
    return all(verdict.scores[judge].judge == "offline" for verdict in report.verdicts if judge in verdict.scores)


def _pair_row(one: str, two: str, report: Report) -> tuple[str, ...]:
    pairs = [
        (scores_pass(verdict.scores[one]), scores_pass(verdict.scores[two]))
        for verdict in report.verdicts
        if one in verdict.scores and two in verdict.scores
    ]
    return _counts(f"{one} and {two}", [(a, b) for a, b in pairs if a is not None and b is not None])


def _checks_row(judge: str, report: Report) -> tuple[str, ...]:
    pairs = [
        (scores_pass(verdict.scores[judge]), verdict.passes_checks)
        for verdict in report.verdicts
        if judge in verdict.scores and report.table.find(verdict.language, verdict.name)
    ]
    return _counts(f"{judge} and the checks", [(a, b) for a, b in pairs if a is not None and b is not None])


def _counts(name: str, pairs: Sequence[tuple[bool, bool]]) -> tuple[str, ...]:
    kinds = [(True, True), (False, False), (True, False), (False, True)]
    counts = [pairs.count(kind) for kind in kinds]
    interval = wilson_interval(counts[0] + counts[1], len(pairs))
    same = f"{(counts[0] + counts[1]) / len(pairs):.0%} [{interval.low:.0%}, {interval.high:.0%}]" if interval else "–"
    return (name, str(len(pairs)), *map(str, counts), same)


def _details(report: Report) -> Iterator[tuple[int, int, Any]]:
    """Yield the texts of each language in parts, which the page loads when they are opened."""
    checker = TextChecker(report.table)
    for number, (verdict, language, scores) in enumerate(report.details()):
        checks = checker.check_outputs(language)
        remarks = {name: {each.index: each for each in score.prompts} for name, score in scores.items()}
        total = len(language.prompts)
        for part, start in enumerate(range(0, total, _ITEMS_IN_A_PART)):
            chosen = range(start, min(start + _ITEMS_IN_A_PART, total))
            items = [_item(index, language.prompts[index], checks[index], remarks) for index in chosen]
            notes = _notes(verdict, scores) if part == 0 else []
            about = {**_about(language, report.table), "total": total, "notes": notes, "items": items}
            yield number, part, for_script(readable_json(about))


def _about(language: LanguageResult, table: LanguageTable) -> dict[str, str]:
    known = table.find(language.language_code, language.language_name)
    return {"tag": known.tag if known else "", "direction": known.direction if known else "auto"}


def _notes(verdict: Verdict, scores: dict[str, LanguageScore]) -> list[str]:
    notes = [f"Why: {verdict.reason}"] if verdict.reason else []
    notes += [f"Trust: {note}" for note in verdict.trust]
    notes += [f"{judge_name(name, score)}: {judge_note(score)}" for name, score in scores.items()]
    return [one_line(note, _LONGEST_NOTE) for note in notes]


def _item(
    index: int, prompt: PromptResult, check: TextCheck | None, scores: dict[str, dict[int, PromptScore]]
) -> dict[str, Any]:
    problems = check.problems if check else ()
    remarks = [f"{problem.kind.replace('_', ' ')}: {problem.message}" for problem in problems]
    remarks += [f"{name}: {_score_text(by_index[index])}" for name, by_index in scores.items() if index in by_index]
    return {
        "category": one_line(prompt.category, _LONGEST_NAME),
        "source": _cut(prompt.source_text),
        "output": marked(prompt.generated_output, problems) or [["(empty)", ""]],
        "reference": _cut(prompt.reference),
        "said": [one_line(line, _LONGEST_NOTE) for line in remarks],
    }


def _score_text(score: PromptScore) -> str:
    if score.error:
        return f"no verdict ({score.error})"
    named = (("script", score.script_score), ("grammar", score.grammar_score), ("coherence", score.coherence_score))
    points = ", ".join(f"{name} {value:g}" for name, value in named if value is not None)
    wrong = ", wrong language" if score.is_correct_language is False else ""
    return f"{points or 'no score'}{wrong}. {score.notes}"


def marked(text: str, problems: Sequence[Finding]) -> list[list[str]]:
    """Split a text into pieces, each with the kind of its problem; of overlapping problems, the first."""
    pieces: list[list[str]] = []
    index, end = 0, min(len(text), _LONGEST_TEXT)
    for problem in sorted(problems, key=lambda each: (each.start or 0, -(each.end or 0))):
        if problem.start is None or problem.end is None or not index <= problem.start < min(problem.end, end):
            continue
        pieces += [[harmless(text[index : problem.start]), ""]] if problem.start > index else []
        index = min(problem.end, end)
        pieces.append([harmless(text[problem.start : index]), problem.kind.replace("_", " ")])
    pieces += [[harmless(text[index:end]), ""]] if index < end else []
    if len(text) > end:
        pieces.append([f" … {len(text) - end:,} more characters", ""])
    return pieces


def _cut(text: str) -> str:
    more = f" … {len(text) - _LONGEST_TEXT:,} more characters" if len(text) > _LONGEST_TEXT else ""
    return harmless(text[:_LONGEST_TEXT]) + more
