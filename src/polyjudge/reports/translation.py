"""The numbers of a translation report."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from polyjudge.checks.checker import TextChecker
from polyjudge.files.spill import ScratchRows
from polyjudge.formats.translation_results import TranslationResults, language_row, read_language_row
from polyjudge.formats.translation_scores import TranslationScores, read_score_row, score_row
from polyjudge.languages.table import LanguageTable
from polyjudge.records.translation import LanguageResult, LanguageScore
from polyjudge.verdicts.translation import Verdict, family_totals, language_verdict, script_ok, totals
from polyjudge.verdicts.trust import JudgeTrust


class Report:
    """Verdicts and totals of a results file and its judge scores; the texts stay on disk."""

    def __init__(
        self,
        results: TranslationResults,
        scores: Mapping[str, TranslationScores],
        table: LanguageTable,
        *,
        timestamp: str,
        trust: Mapping[str, JudgeTrust] | None = None,
        progress: Callable[[LanguageResult], None] = lambda _: None,
    ) -> None:
        self.timestamp = timestamp
        self.judges = tuple(scores)
        self._texts = ScratchRows()
        entries: list[tuple[Verdict, int]] = []
        self.trust = dict(trust or {})
        """Of each judge, how far it can be trusted."""
        self.table = table
        checker = TextChecker(table)
        for language in results:
            found = {name: each.find(language.language_code, language.language_name) for name, each in scores.items()}
            given = {name: score for name, score in found.items() if score is not None}
            verdict, checked = self._judged(language, given, checker)
            score_rows = {name: score_row(score) for name, score in given.items()}
            entries.append((verdict, self._texts.add([language_row(checked), score_rows])))
            progress(language)
        self.about = dict(results.about)
        self.warnings = (*results.problems, *(problem for each in scores.values() for problem in each.problems))
        self.skipped_rows = results.skipped + sum(each.skipped for each in scores.values())
        """Parts of the files that could not be used; `warnings` name the first of them."""
        entries.sort(key=lambda entry: (not entry[0].is_priority, entry[0].name.casefold()))
        self.verdicts = tuple(verdict for verdict, _ in entries)
        """Priority languages first, then by name."""
        self.totals = totals(self.verdicts)
        self.families = family_totals(self.verdicts)
        """Totals by script family, the largest first."""
        self._places = [place for _, place in entries]

    def uncalibrated(self) -> list[str]:
        """Return the languages with judge scores for which no judge is calibrated."""
        judged = [verdict for verdict in self.verdicts if any(not score.error for score in verdict.scores.values())]
        return [verdict.name for verdict in judged if not verdict.is_calibrated]

    def details(self) -> Iterator[tuple[Verdict, LanguageResult, dict[str, LanguageScore]]]:
        """Yield each language with all its texts and scores, in the order of the verdicts, one in memory at a time."""
        for verdict, (row, scores) in zip(self.verdicts, self.rows(), strict=True):
            yield verdict, read_language_row(row), {name: read_score_row(each) for name, each in scores.items()}

    def rows(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield what the files say of each language as they say it: the results, and each judge's scores."""
        for place in self._places:
            row, scores = self._texts.at(place)
            yield row, scores

    def _judged(
        self, language: LanguageResult, scores: Mapping[str, LanguageScore], checker: TextChecker
    ) -> tuple[Verdict, LanguageResult]:
        """Return the verdict on a language, and the language with the script check filled in where it was missing."""
        checks = checker.check_outputs(language)
        summaries = {name: replace(score, prompts=()) for name, score in scores.items()}
        prompts = tuple(
            replace(prompt, script_validation_passed=script_ok(prompt, check))
            for prompt, check in zip(language.prompts, checks, strict=True)
        )
        verdict = language_verdict(language, checks, summaries, self.table, self.trust)
        return verdict, replace(language, prompts=prompts)
