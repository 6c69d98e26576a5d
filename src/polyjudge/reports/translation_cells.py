"""The cells of the map of languages: one for each dimension, with a colour, a text and an interval."""

from polyjudge.records.rubrics import Scale
from polyjudge.records.translation import LanguageScore
from polyjudge.verdicts.items import OFFLINE
from polyjudge.verdicts.translation import PASSING_SCORE, Verdict, has_scores, is_enough

from .page import Cell
from .tallies import Scores
from .translation_figures import LanguageFigures
from .wording import number_range

_SCALE = Scale(1, 5)
_NO_JUDGE = Cell(text="–", style="na")


def language_cells(verdict: Verdict, figures: LanguageFigures) -> list[Cell]:
    """Return the cells of a language: script, language, grammar, meaning, checks."""
    script = _score_cell(verdict, figures, "script")
    return [
        _share(verdict.script_passed, verdict.script_checked) if script.text in ("–", "?") else script,
        _language(verdict, figures),
        _score_cell(verdict, figures, "grammar"),
        _score_cell(verdict, figures, "coherence"),
        _share(verdict.checked_outputs - verdict.failing_outputs, verdict.checked_outputs),
    ]


def _share(passed: int, checked: int) -> Cell:
    if not checked:
        return _NO_JUDGE
    share = passed / checked
    style = "v5" if passed == checked else "v3" if is_enough(passed, checked) else "v2" if share >= 0.5 else "v1"
    return Cell(text=f"{passed:,}/{checked:,}", style=style, value=f"{share:.4f}")


def _language(verdict: Verdict, figures: LanguageFigures) -> Cell:
    answers = [score.is_correct_language for score in _judging(verdict) if score.is_correct_language is not None]
    if verdict.status == "CONFLICT":
        return Cell(text="≠", style="cf", value="0", interval=f"check: {verdict.looks_like}")
    if False in answers:
        return Cell(text="no", style="v2", value="0")
    return _share(verdict.checked_outputs - figures.wrong_language, verdict.checked_outputs)


def _score_cell(verdict: Verdict, figures: LanguageFigures, dimension: str) -> Cell:
    """Return the lowest score of the judges, which decides."""
    judging = _judging(verdict)
    if not judging:
        return _NO_JUDGE
    values = [value for score in judging if (value := _value(score, dimension)) is not None and not score.error]
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


def _value(score: LanguageScore, dimension: str) -> float | None:
    named = {"script": score.script_score, "grammar": score.grammar_score, "coherence": score.coherence_score}
    return named[dimension]


def _intervals(scores: list[Scores]) -> str:
    """Return the mean, interval and number of the scores of each judge."""
    parts: list[str] = []
    for each in scores:
        interval = number_range(each.interval(_SCALE), 1)
        parts.append(f"{each.mean or 0:.1f}{f' {interval}' if interval else ''}, n = {each.count:,}")
    return "; ".join(parts)
