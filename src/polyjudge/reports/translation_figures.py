"""Compute the figures of one language for its report: scores of single outputs, failed outputs, an example, a cause."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from polyjudge.files.text_files import read_toml
from polyjudge.records.findings import Finding, TextCheck
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.verdicts.items import OFFLINE
from polyjudge.verdicts.translation import PASSING_SCORE, Verdict, dimension_scores, has_scores, scores_pass

from .tallies import Comments, Scores
from .wording import share_bar, share_rule

_LONGEST_KEPT = 2_000
_MOST_PIPS = 20
DIMENSION_NAMES: Mapping[str, str] = {"script": "script", "grammar": "grammar", "coherence": "meaning"}
"""How reports call the dimensions of the rubric."""


def named_scores(score: LanguageScore | PromptScore) -> list[str]:
    """Return the known scores, each after the name of its dimension."""
    scores = dimension_scores(score).items()
    return [f"{DIMENSION_NAMES[name]} {value:g}" for name, value in scores if value is not None]


class OutputScores:
    """The scores of single outputs of a language by judges; of an output with several by one judge, the last."""

    def __init__(self, given: Mapping[str, LanguageScore], outputs: int) -> None:
        self._scores = {name: score.prompts for name, score in given.items()}
        self._places = {name: _places(prompts, outputs) for name, prompts in self._scores.items()}

    @property
    def judges(self) -> int:
        """The number of judges."""
        return len(self._scores)

    def of(self, index: int) -> dict[str, PromptScore]:
        """Return the scores of an output by judge."""
        places = ((name, places[index]) for name, places in self._places.items())
        return {name: self._scores[name][place] for name, place in places if place >= 0}


def _places(scores: Sequence[PromptScore], outputs: int) -> "array[int]":
    """Return the place of each output's score, -1 if it has none."""
    found = array("q", [-1]) * outputs
    for place, each in enumerate(scores):
        if 0 <= each.index < outputs:
            found[each.index] = place
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The output of a language that shows best why it fails, with long texts cut."""

    index: int
    prompt: PromptResult
    findings: tuple[Finding, ...]
    scores: Mapping[str, PromptScore]
    """By judge."""


@dataclass(slots=True)
class LanguageFigures:
    """The figures of one language."""

    pips: str = ""
    """One character for each of the first outputs: `v` passed, `x` failed, `?` no verdict."""
    failed: int = 0
    """Outputs that a check or a judge fails."""
    empty: int = 0
    judged: int = 0
    """Outputs with scores of a judge."""
    without_reply: int = 0
    """Outputs that a judge was asked about without a usable reply."""
    example: Example | None = None
    scores: dict[str, dict[str, Scores]] = field(default_factory=dict[str, dict[str, Scores]])
    """By judge and dimension."""
    comments: Comments = field(default_factory=Comments)
    """What judges say of single outputs."""
    wrong_language: int = 0
    """Outputs that the check is sure are in another language."""
    failing_kinds: Counter[str] = field(default_factory=Counter[str])
    """Kinds of findings that fail outputs."""


def language_figures(
    language: LanguageResult, checks: Sequence[TextCheck | None], given: Mapping[str, LanguageScore]
) -> LanguageFigures:
    """Return the figures of a language from its outputs, their checks and the judges' scores."""
    found, best = LanguageFigures(), (0.0, 0)
    by_prompt = OutputScores(given, len(language.prompts))
    judging = [name for name, score in given.items() if score.judge != OFFLINE]
    for index, (prompt, check) in enumerate(zip(language.prompts, checks, strict=True)):
        findings = check.problems if check else ()
        scores = by_prompt.of(index)
        failing = {each.kind for each in findings if each.severity == "fail"}
        if prompt.script_validation_passed is False:
            failing.add("wrong_script")
        own = {name: scores[name] for name in judging if name in scores}
        _add_scores(found, own)
        fails = bool(failing) or any(scores_pass(each) is False for each in own.values())
        found.failing_kinds.update(failing)
        found.failed += fails
        found.empty += not prompt.generated_output.strip()
        found.wrong_language += "wrong_language" in failing
        if len(found.pips) < _MOST_PIPS:
            found.pips += "x" if fails else "?" if own and not any(map(has_scores, own.values())) else "v"
        badness = (_badness(failing, own), -index)
        if fails and (found.example is None or badness > best):
            best, found.example = (
                badness,
                Example(index=index, prompt=_cut(prompt), findings=findings, scores={**scores, **own}),
            )
    return found


def _add_scores(found: LanguageFigures, scores: Mapping[str, PromptScore]) -> None:
    found.judged += any(map(has_scores, scores.values()))
    found.without_reply += bool(scores) and not any(map(has_scores, scores.values()))
    for name, score in scores.items():
        found.comments.add("" if score.error else score.notes)
        for dimension, value in dimension_scores(score).items():
            if value is not None and not score.error:
                found.scores.setdefault(name, {}).setdefault(dimension, Scores()).add(value)


def _badness(failing: set[str], scores: Mapping[str, PromptScore]) -> float:
    values = [value for score in scores.values() for value in dimension_scores(score).values() if value is not None]
    return 10.0 * bool(failing) - min(values, default=PASSING_SCORE)


def _cut(prompt: PromptResult) -> PromptResult:
    texts = {name: getattr(prompt, name)[:_LONGEST_KEPT] for name in ("source_text", "generated_output", "reference")}
    return replace(prompt, **texts, prompt="", extra={})


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of failure, and what to do next."""

    name: str
    kinds: tuple[str, ...]
    next: str


@lru_cache(maxsize=1)
def causes() -> tuple[Cause, ...]:
    """Return the causes, the most telling first."""
    data = read_toml(files("polyjudge.reports") / "causes.toml", path=Path("causes.toml"))
    rows: list[dict[str, Any]] = data["causes"]
    return tuple(Cause(row["name"], tuple(row["kinds"]), row["next"]) for row in rows)


OTHER_CAUSE = Cause("other findings", (), "Read the findings, below.")


def cause_of(verdict: Verdict, figures: LanguageFigures) -> Cause:
    """Return the cause of most findings that fail a language, or the dimension in which a judge scores it lowest."""
    checks_decide = verdict.passes_checks is False or verdict.status == "CONFLICT"
    counts = figures.failing_kinds if checks_decide else Counter(dict.fromkeys(_judged_kinds(verdict)[:1], 1))
    found = max(causes(), key=lambda cause: sum(counts[kind] for kind in cause.kinds))  # of equal ones, the first
    return found if any(counts[kind] for kind in found.kinds) else OTHER_CAUSE


def _judged_kinds(verdict: Verdict) -> list[str]:
    """Return the dimensions in which a judge fails a language, the lowest score first."""
    low: list[tuple[float, str]] = []
    for score in verdict.scores.values():
        low += [(0.0, "language")] if score.is_correct_language is False else []
        named = reversed(dimension_scores(score).items())  # of equal scores, the meaning counts most
        low += [(value, name) for name, value in named if value is not None and value < PASSING_SCORE]
    return [f"judge: {name}" for _, name in sorted(low, key=lambda each: each[0])]


def rules_of(verdict: Verdict, figures: LanguageFigures) -> Iterator[str]:
    """Yield each rule that was applied to a language, with its counts, in the order in which they decide."""
    if verdict.checked_outputs:
        yield f"Checks: {share_rule(verdict.failing_outputs, verdict.checked_outputs)}."
    for name, dimensions in figures.scores.items():
        for dimension, scores in dimensions.items():
            reached = sum(count for value, count in scores.values.items() if value >= PASSING_SCORE)
            what = f"{name}, {DIMENSION_NAMES[dimension]} of at least {PASSING_SCORE:g}"
            yield f"{what}: {share_bar(reached, scores.count)}."
    for name, score in verdict.scores.items():
        if score.judge != OFFLINE and score.is_correct_language is False:
            yield f"{name}: it says that too many outputs are in the wrong language."
