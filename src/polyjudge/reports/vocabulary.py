"""Compute and render the report on a word test, and its `summary.json`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from msgspec import Struct

from polyjudge.records.calibration import Interval
from polyjudge.records.codec import to_json
from polyjudge.records.vocabulary import Judgement, PromptName
from polyjudge.statistics.agreement import cohen_kappa, exact_agreement, krippendorff_alpha
from polyjudge.statistics.intervals import benjamini_hochberg, mcnemar_exact, wilson_interval

from .blocks import Block, Heading, Lines, Table

PROMPTS: tuple[PromptName, ...] = ("a", "b")
DECIDED = ("correct", "incorrect")


@dataclass(frozen=True, slots=True)
class Figures:
    """A judge's verdicts on one model's answers to one prompt."""

    correct: int
    incorrect: int
    undetermined: int
    generation_errors: int
    judging_errors: int
    contradictory: int
    """Undetermined verdicts because the judge's reply contradicts itself."""

    @property
    def judged(self) -> int:
        """Answers with a verdict."""
        return self.correct + self.incorrect

    @property
    def errors(self) -> int:
        """Words without an answer, or without a judgement."""
        return self.generation_errors + self.judging_errors

    @property
    def total(self) -> int:
        """All words."""
        return self.judged + self.undetermined + self.errors

    @property
    def percent(self) -> float | None:
        """The percentage of correct answers among those judged."""
        return self.correct / self.judged * 100 if self.judged else None

    @property
    def interval(self) -> Interval | None:
        """The 95% interval of the percentage (Wilson)."""
        rate = wilson_interval(self.correct, self.judged)
        return rate and Interval(rate.low * 100, rate.high * 100)


class Comparison(Struct, frozen=True):
    """Two models on the words that both were judged on."""

    first: str
    second: str
    prompt: PromptName
    words: int
    only_first: int
    """Words that only the first model knew."""
    only_second: int
    p: float
    """The p-value of McNemar's exact test."""
    adjusted_p: float
    """The p-value adjusted over all comparisons of the prompt (Benjamini-Hochberg)."""


class HardWord(Struct, frozen=True):
    """A word that most models missed, of those judged on it."""

    word: str
    category: str
    prompt: PromptName
    missed_by: tuple[str, ...]
    judged: int


class JudgeAgreement(Struct, frozen=True):
    """The agreement of two judges over the answers with a verdict of both."""

    first: str
    second: str
    items: int
    exact: float | None
    kappa: float | None
    """Cohen's kappa."""
    alpha: float | None
    """Krippendorff's alpha on a nominal scale."""


class VocabularyReport:
    """The judgements of one run: the first judge decides, the others show how far they agree with it."""

    def __init__(self, judgements: Iterable[Judgement]) -> None:
        rows = list(judgements)
        self.judges = list(dict.fromkeys(row.judge for row in rows))
        self.models = list(dict.fromkeys(row.model for row in rows))
        self.prompts: list[PromptName] = [name for name in PROMPTS if any(row.prompt == name for row in rows)]
        self.categories = list(dict.fromkeys(row.category for row in rows if row.category))
        self._rows: dict[tuple[str, str, PromptName], list[Judgement]] = defaultdict(list)
        for row in rows:
            self._rows[row.judge, row.model, row.prompt].append(row)

    @property
    def judge(self) -> str:
        """The first judge, whose verdicts decide."""
        return self.judges[0] if self.judges else ""

    def figures(self, judge: str, model: str, prompt: PromptName, category: str | None = None) -> Figures:
        """Return the verdicts on a model's answers, all or of one category."""
        rows = [each for each in self._rows[judge, model, prompt] if category in (None, each.category)]
        counts = Counter(row.verdict for row in rows)
        errors = Counter(row.stage for row in rows if row.verdict == "error")
        return Figures(
            correct=counts["correct"],
            incorrect=counts["incorrect"],
            undetermined=counts["undetermined"],
            generation_errors=errors["generation"],
            judging_errors=counts["error"] - errors["generation"],
            contradictory=sum(row.contradictory for row in rows),
        )

    def all_figures(self, judge: str) -> list[Figures]:
        """Return the figures of a judge for every model and prompt."""
        return [self.figures(judge, model, prompt) for model in self.models for prompt in self.prompts]

    def comparisons(self, judge: str) -> list[Comparison]:
        """Compare all pairs of models on the words that both were judged on."""
        return [each for prompt in self.prompts for each in self._compared(judge, prompt)]

    def hard_words(self, judge: str) -> list[HardWord]:
        """Return the words that most models miss, the hardest first."""
        found: list[HardWord] = []
        for prompt in self.prompts:
            by_word: dict[str, list[Judgement]] = defaultdict(list)
            for model in self.models:
                for row in self._rows[judge, model, prompt]:
                    if row.verdict in DECIDED:
                        by_word[row.word].append(row)
            for word, rows in by_word.items():
                missed = tuple(row.model for row in rows if row.verdict == "incorrect")
                if 2 * len(missed) > len(rows):
                    found.append(HardWord(word, rows[0].category, prompt, missed, len(rows)))
        return sorted(found, key=lambda each: (-len(each.missed_by) / each.judged, -each.judged, each.prompt))

    def agreements(self) -> list[JudgeAgreement]:
        """Return the agreement of all pairs of judges."""
        return [self._agreement(first, second) for first, second in combinations(self.judges, 2)]

    def _compared(self, judge: str, prompt: PromptName) -> list[Comparison]:
        known = {
            model: {
                row.word: row.verdict == "correct" for row in self._rows[judge, model, prompt] if row.verdict in DECIDED
            }
            for model in self.models
        }
        pairs = list(combinations(self.models, 2))
        counts: list[tuple[int, int, int]] = []
        for first, second in pairs:
            shared = [(known[first][word], known[second][word]) for word in known[first] if word in known[second]]
            counts.append((len(shared), shared.count((True, False)), shared.count((False, True))))
        p_values = [mcnemar_exact(only_first, only_second) for _, only_first, only_second in counts]
        return [
            Comparison(first, second, prompt, *count, p, adjusted)
            for (first, second), count, p, adjusted in zip(
                pairs, counts, p_values, benjamini_hochberg(p_values), strict=True
            )
        ]

    def _agreement(self, first: str, second: str) -> JudgeAgreement:
        pairs: list[tuple[str, str]] = []
        for model in self.models:
            for prompt in self.prompts:
                one, other = ({row.word: row for row in self._rows[judge, model, prompt]} for judge in (first, second))
                both = [(one[word], other[word]) for word in one if word in other]
                pairs += [
                    (a.verdict, b.verdict)
                    for a, b in both
                    # Verdicts without a call, such as on an empty answer, do not count as agreement.
                    if a.verdict in DECIDED and b.verdict in DECIDED and a.provenance and b.provenance
                ]
        return JudgeAgreement(
            first, second, len(pairs), exact_agreement(pairs), cohen_kappa(pairs), krippendorff_alpha(pairs)
        )


SCHEMA_VERSION = 1


def vocabulary_summary(report: VocabularyReport, *, generated_at: str) -> dict[str, Any]:
    """Return the summary: the first judge's figures under `models`, those of each judge under `judges`."""
    judge = report.judge
    return {
        "schemaVersion": SCHEMA_VERSION,
        "generated_at": generated_at,
        "judge_model": judge.partition("/")[2] or judge,
        "judge_provider": judge.partition("/")[0],
        "models": _models(report, judge),
        "judges": {name: {"models": _models(report, name)} for name in report.judges},
        "agreement": [to_json(each) for each in report.agreements()],
        "comparisons": [to_json(each) for each in report.comparisons(judge)],
        "hard_words": [to_json(each) for each in report.hard_words(judge)],
    }


def _models(report: VocabularyReport, judge: str) -> dict[str, Any]:
    rows = {model: _prompt(report, judge, model, "a") for model in report.models}
    if "b" in report.prompts:
        rows = {model: {**row, "prompt_b": _prompt(report, judge, model, "b")} for model, row in rows.items()}
    return rows


def _prompt(report: VocabularyReport, judge: str, model: str, prompt: PromptName) -> dict[str, Any]:
    by_category = {name: report.figures(judge, model, prompt, name) for name in report.categories}
    row = _figures(report.figures(judge, model, prompt))
    return {**row, "categories": {name: _figures(each) for name, each in by_category.items()}} if by_category else row


def _figures(figures: Figures) -> dict[str, Any]:
    interval = figures.interval
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
        "interval": interval and {"low": round(interval.low, 1), "high": round(interval.high, 1)},
    }


_HEADER = ("Model", "% Correct (Prompt A)", "% Correct (Prompt B)")
_HARD_WORDS_SHOWN = 20
_COMPARISONS_SHOWN = 30
_ALPHA = 0.05
"""Adjusted p-values below this are called a difference."""


def vocabulary_blocks(report: VocabularyReport) -> Iterator[Block]:
    """Yield the report: percentages of the judged answers, and the answers that could not be judged."""
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
    cells: list[str] = []
    for prompt in PROMPTS:
        percent = report.figures(judge, model, prompt).percent
        cells.append("" if prompt not in report.prompts else "–" if percent is None else f"{percent:.1f}")
    return model, *cells


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
    rows: list[tuple[str, ...]] = []
    for model, prompt in product(report.models, report.prompts):
        each = report.figures(report.judge, model, prompt)
        counts = map(str, (each.correct, each.incorrect, each.undetermined, each.errors, each.total))
        interval = "–" if each.interval is None else f"{each.interval.low:.1f}% to {each.interval.high:.1f}%"
        rows.append((model, prompt.upper(), *counts, interval))
    header = ("Model", "Prompt", "Correct", "Incorrect", "Undetermined", "Errors", "Words", "95% interval")
    yield Table(header, tuple(rows), numbers=(2, 3, 4, 5, 6))


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
        header = ("Prompt", "First", "Second", "Words", "Only first", "Only second", "p", "Adjusted p", "Result")
        yield Table(header, tuple(map(_comparison, shown)), numbers=(3, 4, 5, 6, 7))
        if len(found) > len(shown):
            yield Lines((f"and {len(found) - len(shown)} more with higher p-values; all are in the summary",))


def _comparison(each: Comparison) -> tuple[str, ...]:
    better = each.first if each.only_first > each.only_second else each.second
    result = f"{better} knows more" if each.adjusted_p < _ALPHA else "no clear difference"
    counts = map(str, (each.words, each.only_first, each.only_second))
    return each.prompt.upper(), each.first, each.second, *counts, f"{each.p:.3g}", f"{each.adjusted_p:.3g}", result


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
