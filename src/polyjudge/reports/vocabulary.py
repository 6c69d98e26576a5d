"""The numbers of a vocabulary test, and its `summary.json`."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from msgspec import Struct

from polyjudge.records.calibration import Interval
from polyjudge.records.codec import to_json
from polyjudge.records.vocabulary import Judgement, PromptName
from polyjudge.statistics.agreement import cohen_kappa, exact_agreement, krippendorff_alpha
from polyjudge.statistics.intervals import benjamini_hochberg, mcnemar_exact, wilson_interval

PROMPTS: tuple[PromptName, ...] = ("a", "b")
DECIDED = ("correct", "incorrect")


@dataclass(frozen=True, slots=True)
class Figures:
    """What a judge made of one model's answers to one prompt."""

    correct: int
    incorrect: int
    undetermined: int
    generation_errors: int
    judging_errors: int
    contradictory: int
    """Of the undetermined, those where the judge's reply contradicts itself."""

    @property
    def judged(self) -> int:
        """Answers with a verdict."""
        return self.correct + self.incorrect

    @property
    def errors(self) -> int:
        """Answers that were not given, or that could not be judged."""
        return self.generation_errors + self.judging_errors

    @property
    def total(self) -> int:
        """Words that were to be judged."""
        return self.judged + self.undetermined + self.errors

    @property
    def percent(self) -> float | None:
        """Correct answers in a hundred of those judged."""
        return self.correct / self.judged * 100 if self.judged else None

    @property
    def interval(self) -> Interval | None:
        """Where the percentage lies with 95% confidence, by Wilson's score."""
        rate = wilson_interval(self.correct, self.judged)
        return rate and Interval(rate.low * 100, rate.high * 100)


class Comparison(Struct, frozen=True):
    """Two models on the same words: those that both were judged on."""

    first: str
    second: str
    prompt: PromptName
    words: int
    only_first: int
    """Words that only the first model knew."""
    only_second: int
    p: float
    """Of McNemar's exact test."""
    adjusted_p: float
    """The same, with all comparisons of the prompt in mind (Benjamini and Hochberg)."""


class HardWord(Struct, frozen=True):
    """A word that most of the models that were judged on it missed."""

    word: str
    category: str
    prompt: PromptName
    missed_by: tuple[str, ...]
    judged: int


class JudgeAgreement(Struct, frozen=True):
    """How far two judges agree over the answers that both gave a verdict on."""

    first: str
    second: str
    items: int
    exact: float | None
    kappa: float | None
    """Cohen's."""
    alpha: float | None
    """Krippendorff's, nominal."""


class VocabularyReport:
    """Judgements of one run, summed up; the first judge's count, the others show whether it can be believed."""

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
        """The judge whose verdicts count."""
        return self.judges[0] if self.judges else ""

    def figures(self, judge: str, model: str, prompt: PromptName, category: str | None = None) -> Figures:
        """Return what a judge made of a model's answers, all or those of one category."""
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
        """Compare every two models on the words that both were judged on."""
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
        """Return how far every two judges agree."""
        return [self._agreement(first, second) for first, second in combinations(self.judges, 2)]

    def _compared(self, judge: str, prompt: PromptName) -> list[Comparison]:
        known = {model: self._verdicts(judge, model, prompt) for model in self.models}
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

    def _verdicts(self, judge: str, model: str, prompt: PromptName) -> dict[str, bool]:
        rows = self._rows[judge, model, prompt]
        return {row.word: row.verdict == "correct" for row in rows if row.verdict in DECIDED}

    def _agreement(self, first: str, second: str) -> JudgeAgreement:
        pairs: list[tuple[str, str]] = []
        for model in self.models:
            for prompt in self.prompts:
                one, other = ({row.word: row for row in self._rows[judge, model, prompt]} for judge in (first, second))
                both = [(one[word], other[word]) for word in one if word in other]
                pairs += [
                    (a.verdict, b.verdict)
                    for a, b in both
                    # What no judge was asked about, such as an empty answer, says nothing of their agreement.
                    if a.verdict in DECIDED and b.verdict in DECIDED and a.provenance and b.provenance
                ]
        return JudgeAgreement(
            first, second, len(pairs), exact_agreement(pairs), cohen_kappa(pairs), krippendorff_alpha(pairs)
        )


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
        "agreement": [to_json(each) for each in report.agreements()],
        "comparisons": [to_json(each) for each in report.comparisons(judge)],
        "hard_words": [to_json(each) for each in report.hard_words(judge)],
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
