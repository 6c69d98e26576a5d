"""The report on a word test, as blocks: the founding table first, then what stands behind it."""

from collections.abc import Iterator

from polyjudge.records.vocabulary import PromptName

from .blocks import Block, Heading, Lines, Table
from .vocabulary import Comparison, Figures, VocabularyReport

_HEADER = ("Model", "% Correct (Prompt A)", "% Correct (Prompt B)")
_HARD_WORDS_SHOWN = 20
_COMPARISONS_SHOWN = 30
_CLEAR = 0.05
"""An adjusted p below this is called a difference."""


def vocabulary_blocks(report: VocabularyReport) -> Iterator[Block]:
    """Yield the report: percentages of those judged, and in plain sight what could not be."""
    for judge in report.judges:
        if len(report.judges) > 1:
            yield Heading(2, f"Judge {judge}")
        yield Table(_HEADER, tuple(_row(report, judge, model) for model in report.models), numbers=(1, 2))
        yield Lines(tuple(_unjudged(report, judge)))
    yield from _agreement(report)
    yield from _details(report)
    yield from _categories(report)
    yield from _comparisons(report)
    yield from _hard_words(report)


def _row(report: VocabularyReport, judge: str, model: str) -> tuple[str, ...]:
    return model, *(
        _percent(report.figures(judge, model, prompt)) if prompt in report.prompts else "" for prompt in ("a", "b")
    )


def _percent(figures: Figures) -> str:
    return "–" if figures.percent is None else f"{figures.percent:.1f}"


def _unjudged(report: VocabularyReport, judge: str) -> Iterator[str]:
    figures = [
        (model, prompt, report.figures(judge, model, prompt)) for model in report.models for prompt in report.prompts
    ]
    total, judged = sum(each.total for *_, each in figures), sum(each.judged for *_, each in figures)
    yield f"Judged by {judge}: {judged} of {total} answers."
    for model, prompt, each in figures:
        if each.judged < each.total:
            missing = f"{each.total - each.judged} of {each.total}"
            yield f"Not judged: {model}, prompt {prompt.upper()}: {missing} ({_why(each)})"


def _why(figures: Figures) -> str:
    kinds = {
        "undetermined": figures.undetermined - figures.contradictory,
        "undetermined, the judge contradicts itself": figures.contradictory,
        "not answered": figures.generation_errors,
        "judge failed": figures.judging_errors,
    }
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)


def _details(report: VocabularyReport) -> Iterator[Block]:
    yield Heading(3, "By model")
    rows = [_detail(report, model, prompt) for model in report.models for prompt in report.prompts]
    header = ("Model", "Prompt", "Correct", "Incorrect", "Undetermined", "Errors", "Words", "95% interval")
    yield Table(header, tuple(rows), numbers=(2, 3, 4, 5, 6))


def _detail(report: VocabularyReport, model: str, prompt: PromptName) -> tuple[str, ...]:
    figures = report.figures(report.judge, model, prompt)
    counts = (figures.correct, figures.incorrect, figures.undetermined, figures.errors, figures.total)
    interval = figures.interval
    told = "–" if interval is None else f"{interval.low:.1f}% to {interval.high:.1f}%"
    return model, prompt.upper(), *map(str, counts), told


def _categories(report: VocabularyReport) -> Iterator[Block]:
    if not report.categories:
        return
    yield Heading(3, "By category")
    rows = [
        (model, prompt.upper(), *(_share(report, model, prompt, name) for name in report.categories))
        for model in report.models
        for prompt in report.prompts
    ]
    yield Table(("Model", "Prompt", *report.categories), tuple(rows))


def _share(report: VocabularyReport, model: str, prompt: PromptName, category: str) -> str:
    figures = report.figures(report.judge, model, prompt, category)
    return f"{figures.correct} of {figures.judged}" if figures.judged else "–"


def _comparisons(report: VocabularyReport) -> Iterator[Block]:
    found = report.comparisons(report.judge)
    if found:
        yield Heading(3, "Models on the same words")
        clearest = sorted(found, key=lambda each: each.adjusted_p)[:_COMPARISONS_SHOWN]
        shown = found if len(found) <= _COMPARISONS_SHOWN else clearest
        header = ("Prompt", "First", "Second", "Words", "Only first", "Only second", "p", "Adjusted p", "Says")
        yield Table(header, tuple(map(_comparison, shown)), numbers=(3, 4, 5, 6, 7))
        if len(found) > len(shown):
            yield Lines((f"and {len(found) - len(shown)} more that are less clear; all are in the summary",))


def _comparison(each: Comparison) -> tuple[str, ...]:
    better = each.first if each.only_first > each.only_second else each.second
    says = f"{better} knows more" if each.adjusted_p < _CLEAR else "no clear difference"
    counts = map(str, (each.words, each.only_first, each.only_second))
    return each.prompt.upper(), each.first, each.second, *counts, f"{each.p:.3g}", f"{each.adjusted_p:.3g}", says


def _hard_words(report: VocabularyReport) -> Iterator[Block]:
    words = report.hard_words(report.judge)
    if words:
        yield Heading(3, "Words that most models miss")
        shown = words[:_HARD_WORDS_SHOWN]
        rows = [
            (each.word, each.prompt.upper(), f"{len(each.missed_by)} of {each.judged}", each.category or "–")
            for each in shown
        ]
        yield Table(("Word", "Prompt", "Missed by", "Category"), tuple(rows))
        if len(words) > len(shown):
            yield Lines((f"and {len(words) - len(shown)} more",))


def _agreement(report: VocabularyReport) -> Iterator[Block]:
    found = report.agreements()
    if found:
        yield Heading(3, "Do the judges agree?")
        rows = [
            (
                each.first,
                each.second,
                str(each.items),
                "–" if each.exact is None else f"{each.exact:.1%}",
                *("–" if value is None else f"{value:.2f}" for value in (each.kappa, each.alpha)),
            )
            for each in found
        ]
        header = ("First", "Second", "Answers", "Same verdict", "Cohen's kappa", "Krippendorff's alpha")
        yield Table(header, tuple(rows), numbers=(2, 3, 4, 5))
