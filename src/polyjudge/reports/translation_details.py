"""The texts of each language as the page loads them, in parts."""

from collections.abc import Iterator, Mapping
from typing import Any

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import TextCheck
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, Status
from polyjudge.verdicts.translation import Verdict, has_scores, scores_pass

from .page import ITEMS_IN_A_PART, STYLES, cut, finding_rows, marked
from .translation import Report
from .translation_blocks import judge_name, judge_note
from .translation_figures import LanguageFigures, rules_of

_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_LONGEST_RAW = 20_000
_FIRST: dict[Status, int] = {"FAIL": 0, "UNJUDGED": 1}


def translation_details(report: Report) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield the texts of each language in parts, the failed ones first; the page loads them when they are opened."""
    checker, place = TextChecker(report.table, policy=report.policy), 0
    for (verdict, language, scores), figures in zip(report.details(), report.figures, strict=True):
        if report.only_failures and verdict.status in ("PASS", "CHECKED", "SKIPPED"):
            continue
        checks = checker.check_outputs(language)
        by_index = {name: {each.index: each for each in score.prompts} for name, score in scores.items()}
        total = len(language.prompts)
        statuses: list[Status] = [_status(index, checks[index], verdict, by_index) for index in range(total)]
        order = sorted(range(total), key=[_FIRST.get(status, 2) for status in statuses].__getitem__)
        for part, start in enumerate(range(0, total, ITEMS_IN_A_PART)):
            chosen = order[start : start + ITEMS_IN_A_PART]
            items = [
                _item(index, total, statuses[index], language.prompts[index], checks[index], by_index)
                for index in chosen
            ]
            notes = list(_notes(verdict, figures, scores)) if part == 0 else []
            about = {**_about(language, report.table), "total": total, "unit": "outputs", "notes": notes}
            yield place, part, {**about, "items": items}
        place += 1


def _about(language: LanguageResult, table: LanguageTable) -> dict[str, str]:
    known = table.find(language.language_code, language.language_name)
    name = one_line(language.language_name, _LONGEST_NAME)
    return {"name": name, "tag": known.tag if known else "", "direction": known.direction if known else "auto"}


def _status(
    index: int, check: TextCheck | None, verdict: Verdict, scores: Mapping[str, Mapping[int, PromptScore]]
) -> Status:
    """Return the status of one output: what the checks and the judges say about it alone."""
    judging = [name for name, score in verdict.scores.items() if score.judge != OFFLINE]
    own = [scores[name][index] for name in judging if index in scores.get(name, {})]
    if (check is not None and check.fails) or any(scores_pass(each) is False for each in own):
        return "FAIL"
    if not own:
        return "CHECKED" if check is not None else "UNJUDGED"
    return "PASS" if any(map(scores_pass, own)) else "UNJUDGED"


def _notes(verdict: Verdict, figures: LanguageFigures, scores: Mapping[str, LanguageScore]) -> Iterator[str]:
    notes = [f"Why {verdict.status}: {verdict.reason}"] if verdict.reason else []
    notes += list(rules_of(verdict, figures))
    notes += [f"Trust: {note}" for note in verdict.trust]
    notes += [f"{judge_name(name, score)}: {judge_note(score)}" for name, score in scores.items()]
    yield from (one_line(note, _LONGEST_NOTE) for note in notes)


def _item(
    index: int,
    total: int,
    status: Status,
    prompt: PromptResult,
    check: TextCheck | None,
    scores: Mapping[str, Mapping[int, PromptScore]],
) -> dict[str, Any]:
    findings = check.problems if check else ()
    category = one_line(prompt.category, _LONGEST_NAME)
    given = {name: rows[index] for name, rows in scores.items() if index in rows}
    return {
        "title": f"Output {index + 1} of {total}{f': {category}' if category else ''}",
        "status": status,
        "style": STYLES[status],
        "scores": " · ".join(points for score in given.values() if (points := score_points(score))),
        "source": cut(prompt.source_text),
        "output": marked(prompt.generated_output, findings) if prompt.generated_output.strip() else [],
        "reference": cut(prompt.reference),
        "findings": finding_rows(findings),
        "judges": [[name, one_line(score_text(score), _LONGEST_NOTE)] for name, score in given.items()],
        "raw": [[f"Raw reply of {name}", cut(score.raw[:_LONGEST_RAW])] for name, score in given.items() if score.raw],
    }


def score_points(score: PromptScore) -> str:
    """Return the scores of one output in one line; empty if there are none."""
    if score.error or not has_scores(score):
        return ""
    named = (("script", score.script_score), ("grammar", score.grammar_score), ("meaning", score.coherence_score))
    parts = [f"{name} {value:g}" for name, value in named if value is not None]
    if score.is_correct_language is not None:
        parts.append(f"language {'yes' if score.is_correct_language else 'no'}")
    return ", ".join(parts)


def score_text(score: PromptScore) -> str:
    """Return what a judge says about one output: its scores and its words."""
    if score.error:
        return f"no verdict: {score.error}"
    points = score_points(score) or "no score"
    return f"{points}. {score.notes}" if score.notes else points
