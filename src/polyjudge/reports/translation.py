"""Compute the verdicts and figures of a report on a translator's output; the texts stay on disk."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from polyjudge.checks.checker import TextChecker
from polyjudge.checks.many_texts import ManyTexts
from polyjudge.checks.policy import CheckPolicy
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.spill import Spilled, SpillFile
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.languages.table import LANGUAGE, LanguageMatcher, LanguageTable
from polyjudge.records.findings import Finding, TextCheck
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult
from polyjudge.verdicts.translation import (
    Verdict,
    family_totals,
    language_verdict,
    script_ok,
    totals,
)
from polyjudge.verdicts.trust import JudgeTrust

from .tallies import Origins
from .translation_figures import LanguageFigures, language_figures

Findings = tuple[Finding, ...] | None
"""What the checks found in an output; None if they do not know its language."""


def fails_checks(findings: Findings) -> bool:
    """Return whether any finding fails an output."""
    return any(each.severity == "fail" for each in findings or ())


_Stored = tuple[LanguageResult, Spilled[PromptResult], Spilled[Findings]]
"""A language without its texts; the texts; the findings in each. The latter are on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageDetails:
    """A language with all its texts, which are in memory if they are few."""

    verdict: Verdict
    figures: LanguageFigures
    language: LanguageResult
    scores: Mapping[str, LanguageScore]
    """By judge."""
    findings: Sequence[Findings]
    """Of each output."""


class Report:
    """The verdicts and totals of a results file and its judge scores; texts stay on disk."""

    def __init__(
        self,
        results: TranslationResults,
        scores: Mapping[str, TranslationScores],
        table: LanguageTable,
        *,
        timestamp: str,
        trust: Mapping[str, JudgeTrust] | None = None,
        policy: CheckPolicy | None = None,
        filters: Mapping[str, frozenset[str]] | None = None,
        only_failures: bool = False,
        progress: Callable[[LanguageResult], None] = lambda _: None,
        jobs: int = 1,
    ) -> None:
        """Read all files; `only_failures` lists in detail only what does not pass; `jobs` are processes that check."""
        self.timestamp, self.path, self.judges = timestamp, results.path, tuple(scores)
        self.filters, self.only_failures = dict(filters or {}), only_failures
        self.origins = Origins()
        """The judges, and what their replies cost."""
        self._texts, self._scores = SpillFile(), scores
        self.trust, self.table = dict(trust or {}), table
        """The trust in each judge, and the table of languages."""
        self.policy, self.accepted = policy or CheckPolicy(), 0
        """Which checks run, and how many findings the project has accepted."""
        entries = list(self._entries(results, progress, jobs))
        self.about = dict(results.about)
        self.warnings = (*results.problems, *(problem for each in scores.values() for problem in each.problems))
        self.skipped_rows = results.skipped + sum(each.skipped for each in scores.values())
        """The number of unusable parts of the files; `warnings` describe the first of them."""
        entries.sort(key=lambda entry: (not entry[0].is_priority, entry[0].name.casefold()))
        self.verdicts = tuple(verdict for verdict, *_ in entries)
        """Priority languages first, then by name."""
        self.figures = tuple(figures for _, figures, _ in entries)
        """The figures of each verdict's outputs."""
        self.totals, self.families = totals(self.verdicts), family_totals(self.verdicts)
        """Of all languages, and by script family, the largest first."""
        self._stored = [stored for *_, stored in entries]

    def lists(self, verdict: Verdict) -> bool:
        """Return whether a verdict is listed in detail: all are, or with `only_failures` those that do not pass."""
        return not self.only_failures or verdict.status not in ("PASS", "CHECKED", "SKIPPED")

    def uncalibrated(self) -> list[str]:
        """Return the languages with judge scores for which no judge is calibrated."""
        judged = [verdict for verdict in self.verdicts if any(not score.error for score in verdict.scores.values())]
        return [verdict.name for verdict in judged if not verdict.is_calibrated]

    def details(self) -> Iterator[LanguageDetails]:
        """Yield each language with its texts and scores in the order of the verdicts, one in memory at a time."""
        for place in range(len(self.verdicts)):
            yield self.details_at(place)

    def details_at(self, place: int) -> LanguageDetails:
        """Return the texts, the scores and the findings of one of the verdicts' languages."""
        language, prompts, findings = self._stored[place]
        return LanguageDetails(
            verdict=self.verdicts[place],
            figures=self.figures[place],
            language=replace(language, prompts=prompts.short()),
            scores=self._given(language),
            findings=findings.short(),
        )

    def languages(self) -> Iterator[LanguageResult]:
        """Yield each language with its texts in the order of the verdicts."""
        return (replace(language, prompts=prompts.short()) for language, prompts, _ in self._stored)

    def scores(self) -> Iterator[Mapping[str, LanguageScore]]:
        """Yield the scores of each language by judge, in the order of the verdicts."""
        return (self._given(language) for language, *_ in self._stored)

    def _given(self, language: LanguageResult) -> dict[str, LanguageScore]:
        """Return the scores of a language by judge."""
        found = {n: each.find(language.language_code, language.language_name) for n, each in self._scores.items()}
        return {name: score for name, score in found.items() if score is not None}

    def _entries(
        self, results: TranslationResults, progress: Callable[[LanguageResult], None], jobs: int
    ) -> Iterator[tuple[Verdict, LanguageFigures, _Stored]]:
        """Yield the verdict on each selected language, its figures, and its stored texts."""
        matcher, checker = LanguageMatcher(self.table), TextChecker(self.table, policy=self.policy)
        is_empty = True
        selected = (language for language in results if is_selected(language, self.filters, matcher))
        for language, checks in ManyTexts(checker, jobs).checked(selected):
            is_empty = False
            yield self._judged(language, checks)
            progress(language)
        if is_empty:
            close = matcher.suggestions(self.filters.get(LANGUAGE, ()))
            raise DataError(f"no language is left after filtering.{close}", path=results.path)

    def _judged(
        self, language: LanguageResult, checks: Sequence[TextCheck | None]
    ) -> tuple[Verdict, LanguageFigures, _Stored]:
        """Return the verdict on a language, its figures, and its texts with script checks and findings, on disk.

        Each output is checked once.
        """
        scores = self._given(language)
        prompts, findings = Spilled[PromptResult](file=self._texts), Spilled[Findings](file=self._texts)
        for prompt, check in zip(language.prompts, checks, strict=True):
            self.accepted += 0 if check is None else len(check.accepted)
            prompts.append(replace(prompt, script_validation_passed=script_ok(prompt, check)))
            findings.append(None if check is None else check.problems)
        for score in scores.values():
            for prompt in score.prompts:
                if prompt.provenance is not None:
                    self.origins.add(prompt.provenance)
        summaries = {name: replace(score, prompts=()) for name, score in scores.items()}
        verdict = language_verdict(language, checks, summaries, self.table, self.trust)
        stored = replace(language, prompts=()), prompts.close(), findings.close()
        return verdict, language_figures(language, checks, scores), stored


def is_selected(language: LanguageResult, filters: Mapping[str, frozenset[str]], matcher: LanguageMatcher) -> bool:
    """Return whether a language has one of the values that each filter allows."""
    own = {
        "language": (language.language_code, language.language_name),
        "family": (language.script_family,),
        "priority": (language.priority,),
    }
    unknown = next((name for name in filters if name not in own), None)
    if unknown is not None:
        raise ConfigError(f"Translations cannot be filtered by {unknown!r}. Use one of {', '.join(own)}.")
    return all(
        any(value in allowed or (name == LANGUAGE and matcher.is_among(value, allowed)) for value in own[name])
        for name, allowed in filters.items()
    )
