"""What the page shows of each language: the cells of the map, and its texts, which the page loads in parts."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from math import ceil
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.rubrics import Scale
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptScore
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, STATUSES, Status
from polyjudge.verdicts.translation import PASSING_SCORE, Verdict, dimension_scores, has_scores, is_enough, scores_pass

from .page import Cell
from .page_items import ITEMS_IN_A_PART, PageItem, items_of_a_group, left_out_note, part_row
from .tallies import Scores
from .translation import Findings, LanguageDetails, Report, fails_checks
from .translation_blocks import judge_name, judge_note
from .translation_figures import LanguageFigures, OutputScores, named_scores, rules_of
from .wording import number_range

_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_SCALE = Scale(1, 5)
_NO_JUDGE = Cell(text="–", style="na")
_CODES = {status: code for code, status in enumerate(STATUSES)}
_FIRST = tuple(
    frozenset(_CODES[status] for status in each)
    for each in (("FAIL",), ("UNJUDGED",), tuple(each for each in STATUSES if each not in ("FAIL", "UNJUDGED")))
)
"""The order of outputs by their status."""


def language_cells(verdict: Verdict, figures: LanguageFigures) -> list[Cell]:
    """Return the cells of a language: script, language, grammar, meaning, checks."""
    script = _score_cell(verdict, figures, "script")
    return [
        _share_cell(verdict.script_passed, verdict.script_checked) if script.text in ("–", "?") else script,
        _language_cell(verdict, figures),
        _score_cell(verdict, figures, "grammar"),
        _score_cell(verdict, figures, "coherence"),
        _share_cell(verdict.checked_outputs - verdict.failing_outputs, verdict.checked_outputs),
    ]


def _share_cell(passed: int, checked: int) -> Cell:
    if not checked:
        return _NO_JUDGE
    share = passed / checked
    style = "v5" if passed == checked else "v3" if is_enough(passed, checked) else "v2" if share >= 0.5 else "v1"
    return Cell(text=f"{passed:,}/{checked:,}", style=style, value=f"{share:.4f}")


def _language_cell(verdict: Verdict, figures: LanguageFigures) -> Cell:
    answers = [score.is_correct_language for score in _judging(verdict) if score.is_correct_language is not None]
    if verdict.status == "CONFLICT":
        return Cell(text="≠", style="cf", value="0", interval=f"check: {verdict.looks_like}")
    if False in answers:
        return Cell(text="no", style="v2", value="0")
    return _share_cell(verdict.checked_outputs - figures.wrong_language, verdict.checked_outputs)


def _score_cell(verdict: Verdict, figures: LanguageFigures, dimension: str) -> Cell:
    """Return the lowest score of the judges, which decides."""
    judging = _judging(verdict)
    if not judging:
        return _NO_JUDGE
    given = (dimension_scores(score)[dimension] for score in judging if not score.error)
    values = [value for value in given if value is not None]
    if not values:
        return Cell(text="?" if not any(map(has_scores, judging)) else "–", style="ask")
    lowest, all_scores = min(values), [each[dimension] for each in figures.scores.values() if dimension in each]
    if verdict.status == "UNRELIABLE":
        return Cell(text=f"({lowest:g})", style="un", value=f"{lowest:g}", interval=_intervals(all_scores))
    style = f"v{max(1, min(5, int(lowest)))}"
    below = lowest >= PASSING_SCORE and any(min(each.values) < PASSING_SCORE for each in all_scores if each.values)
    text = f"{lowest:g}"
    return Cell(text=text, style=style, value=text, interval=_intervals(all_scores), is_below_once=below)


def _judging(verdict: Verdict) -> list[LanguageScore]:
    return [score for score in verdict.scores.values() if score.judge != OFFLINE]


def _intervals(scores: list[Scores]) -> str:
    """Return the mean, interval and number of the scores of each judge."""
    parts: list[str] = []
    for each in scores:
        interval = number_range(each.interval(_SCALE), 1)
        parts.append(f"{each.mean or 0:.1f}{f' {interval}' if interval else ''}, n = {each.count:,}")
    return "; ".join(parts)


def translation_details(report: Report) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield the texts of each language in parts, the failed ones first; the page loads them when they are opened."""
    most = outputs_of_a_language(report)
    listed = [place for place, verdict in enumerate(report.verdicts) if report.lists(verdict)]
    for row, place in enumerate(listed):
        found = report.details_at(place)
        total, scores = len(found.language.prompts), OutputScores(found.scores, len(found.language.prompts))
        codes = bytearray(
            _CODES[_status(found.findings[each], found.verdict, scores.of(each))] for each in range(total)
        )
        order = islice(chain.from_iterable(_having(codes, first) for first in _FIRST), most)
        about = {**_about(found.language, report.table), "total": min(most, total), "unit": "outputs"}
        for part in range(ceil(min(most, total) / ITEMS_IN_A_PART)):
            chosen = islice(order, ITEMS_IN_A_PART)
            items = (_item(each, found, STATUSES[codes[each]], scores.of(each)) for each in chosen)
            yield row, part, {**about, "notes": list(_notes(found, most)) if part == 0 else [], **part_row(items)}


def outputs_of_a_language(report: Report) -> int:
    """Return how many outputs of each language the page shows, those that fail first."""
    listed = [verdict.prompts for verdict in report.verdicts if report.lists(verdict)]
    return items_of_a_group(sum(listed), len(listed))


def _having(codes: bytearray, wanted: frozenset[int]) -> Iterator[int]:
    return (index for index, code in enumerate(codes) if code in wanted)


def _about(language: LanguageResult, table: LanguageTable) -> dict[str, str]:
    known = table.find(language.language_code, language.language_name)
    name = one_line(language.language_name, _LONGEST_NAME)
    return {"name": name, "tag": known.tag if known else "", "direction": known.direction if known else "auto"}


def _status(findings: Findings, verdict: Verdict, given: Mapping[str, PromptScore]) -> Status:
    """Return the status of one output: what the checks and the judges say about it alone."""
    own = [score for name, score in given.items() if verdict.scores[name].judge != OFFLINE]
    if fails_checks(findings) or any(scores_pass(each) is False for each in own):
        return "FAIL"
    if not own:
        return "CHECKED" if findings is not None else "UNJUDGED"
    return "PASS" if any(map(scores_pass, own)) else "UNJUDGED"


def _notes(found: LanguageDetails, most: int) -> Iterator[str]:
    verdict = found.verdict
    notes = [f"Why {verdict.status}: {verdict.reason}"] if verdict.reason else []
    notes += filter(None, [left_out_note(most, verdict.prompts)])
    notes += list(rules_of(verdict, found.figures))
    notes += [f"Trust: {note}" for note in verdict.trust]
    notes += [f"{judge_name(name, score)}: {judge_note(score)}" for name, score in found.scores.items()]
    yield from (one_line(note, _LONGEST_NOTE) for note in notes)


def _item(index: int, found: LanguageDetails, status: Status, given: Mapping[str, PromptScore]) -> PageItem:
    prompt, total = found.language.prompts[index], len(found.language.prompts)
    category = one_line(prompt.category, _LONGEST_NAME)
    return PageItem(
        title=f"Output {index + 1} of {total}{f': {category}' if category else ''}",
        status=status,
        source=prompt.source_text,
        output=prompt.generated_output,
        reference=prompt.reference,
        findings=found.findings[index] or (),
        judges=[(name, score_points(score), score_words(score)) for name, score in given.items()],
        raw=[(f"Raw reply of {name}", score.raw) for name, score in given.items() if score.raw],
    )


def score_points(score: PromptScore) -> str:
    """Return the scores of one output in one line; empty if there are none."""
    if score.error or not has_scores(score):
        return ""
    parts = named_scores(score)
    if score.is_correct_language is not None:
        parts.append(f"language {'yes' if score.is_correct_language else 'no'}")
    return ", ".join(parts)


def score_words(score: PromptScore) -> str:
    """Return what a judge says about one output without its scores: its words, or why there is no score."""
    if score.error:
        return f"no verdict: {score.error}"
    return score.notes or ("" if has_scores(score) else "no score")


def score_text(score: PromptScore) -> str:
    """Return what a judge says about one output: its scores and its words."""
    return ". ".join(filter(None, (score_points(score), score_words(score))))
