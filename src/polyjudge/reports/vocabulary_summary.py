"""The summary of a word test, as `summary.json` holds it: the founding keys, and more beside them."""

from dataclasses import asdict
from typing import Any

from polyjudge.records import PromptName
from polyjudge.statistics import Interval

from .vocabulary import Figures, VocabularyReport

SCHEMA_VERSION = 1


def vocabulary_summary(report: VocabularyReport, *, generated_at: str) -> dict[str, Any]:
    """Return the summary: what the first judge says stands under `models`, what each says under `judges`."""
    judge = report.judge
    return {
        "schemaVersion": SCHEMA_VERSION,
        "generated_at": generated_at,
        "judge_model": judge.partition("/")[2] or judge,
        "judge_provider": judge.partition("/")[0],
        "models": _models(report, judge),
        "judges": {name: {"models": _models(report, name)} for name in report.judges},
        "agreement": [asdict(each) for each in report.agreements()],
        "comparisons": [asdict(each) for each in report.comparisons(judge)],
        "hard_words": [asdict(each) for each in report.hard_words(judge)],
    }


def _models(report: VocabularyReport, judge: str) -> dict[str, Any]:
    return {model: _model(report, judge, model) for model in report.models}


def _model(report: VocabularyReport, judge: str, model: str) -> dict[str, Any]:
    row = _prompt(report, judge, model, "a")
    return {**row, "prompt_b": _prompt(report, judge, model, "b")} if "b" in report.prompts else row


def _prompt(report: VocabularyReport, judge: str, model: str, prompt: PromptName) -> dict[str, Any]:
    by_category = {name: report.figures(judge, model, prompt, name) for name in report.categories}
    row = _figures(report.figures(judge, model, prompt))
    return {**row, "categories": {name: _figures(each) for name, each in by_category.items()}} if by_category else row


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "correct": figures.correct,
        "total": figures.total,
        "judged": figures.judged,
        "incorrect": figures.incorrect,
        "undetermined": figures.undetermined,
        "contradictory": figures.contradictory,
        "errors": figures.errors,
        "generation_errors": figures.generation_errors,
        "judging_errors": figures.judging_errors,
        "percent": None if figures.percent is None else round(figures.percent, 1),
        "interval": _rounded(figures.interval),
    }


def _rounded(interval: Interval | None) -> dict[str, float] | None:
    return interval and {"low": round(interval.low, 1), "high": round(interval.high, 1)}
