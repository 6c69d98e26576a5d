"""The numbers of a translation report."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from polyjudge.files.spill import ScratchRows
from polyjudge.formats.translation_results import TranslationResults, language_row, read_language_row
from polyjudge.formats.translation_scores import TranslationScores, read_score_row, score_row
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Interval
from polyjudge.records.translation import LanguageResult, LanguageScore
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.verdicts.translation import STATUSES, Status, Verdict, VerdictMaker, script_ok
from polyjudge.verdicts.trust import JudgeTrust


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """The languages of one script family."""

    family: str
    languages: int
    passed: int
    failed: int
    """Failed or in conflict."""
    other: int
    """Unjudged, unreliable or skipped; left out of the rate."""

    @property
    def rate(self) -> float | None:
        """Share that passed of those with a verdict."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else None

    @property
    def interval(self) -> Interval | None:
        """Where the rate lies."""
        return wilson_interval(self.passed, self.passed + self.failed)


class Report:
    """A results file with its judge scores, summed up."""

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
        maker = VerdictMaker(table, self.trust)
        for language in results:
            verdict, checked = _judged(maker, language, scores)
            entries.append((verdict, self._texts.add([language_row(checked), _score_rows(language, scores)])))
            progress(language)
        self.about = dict(results.about)
        self.warnings = (*results.problems, *(problem for each in scores.values() for problem in each.problems))
        self.skipped_rows = results.skipped + sum(each.skipped for each in scores.values())
        """Parts of the files that could not be used; `warnings` name the first of them."""
        entries.sort(key=lambda entry: (not entry[0].is_priority, entry[0].name.casefold()))
        self.verdicts = tuple(verdict for verdict, _ in entries)
        """Priority languages first, then by name."""
        self._places = [place for _, place in entries]

    @property
    def total(self) -> int:
        """Languages in the file."""
        return len(self.verdicts)

    def count(self, status: Status) -> int:
        """Return how many languages are in a state."""
        return sum(verdict.status == status for verdict in self.verdicts)

    @property
    def judged(self) -> int:
        """Languages with a verdict, which rates are of; what is unjudged, unreliable or skipped is in none."""
        return self.count("PASS") + self.count("FAIL") + self.count("CONFLICT")

    def uncalibrated(self) -> list[str]:
        """Return the languages with judge scores in which no judge is known to tell good from spoiled."""
        judged = [verdict for verdict in self.verdicts if any(not score.error for score in verdict.scores.values())]
        return [verdict.name for verdict in judged if not verdict.is_calibrated]

    def interval(self, status: Status) -> Interval | None:
        """Return where the share of a state lies among the judged."""
        return wilson_interval(self.count(status), self.judged)

    def families(self) -> list[FamilyRow]:
        """Return the script families, the largest first."""
        rows: list[FamilyRow] = []
        for family in {verdict.family for verdict in self.verdicts}:
            counts = dict.fromkeys(STATUSES, 0)
            for verdict in self.verdicts:
                if verdict.family == family:
                    counts[verdict.status] += 1
            failed, other = (
                counts["FAIL"] + counts["CONFLICT"],
                counts["UNJUDGED"] + counts["SKIPPED"] + counts["UNRELIABLE"],
            )
            rows.append(FamilyRow(family or "unknown", sum(counts.values()), counts["PASS"], failed, other))
        return sorted(rows, key=lambda row: (-row.languages, row.family))

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
    maker: VerdictMaker, language: LanguageResult, scores: Mapping[str, TranslationScores]
) -> tuple[Verdict, LanguageResult]:
    """Return the verdict on a language, and the language with the script check filled in where it was missing."""
    checks = maker.checks(language)
    found = {name: each.find(language.language_code, language.language_name) for name, each in scores.items()}
    given = {name: replace(score, prompts=()) for name, score in found.items() if score is not None}
    prompts = tuple(
        replace(prompt, script_validation_passed=script_ok(language, index, checks[index]))
        for index, prompt in enumerate(language.prompts)
    )
    return maker.verdict(language, checks, given), replace(language, prompts=prompts)


def _score_rows(language: LanguageResult, scores: Mapping[str, TranslationScores]) -> dict[str, Any]:
    found = {name: each.find(language.language_code, language.language_name) for name, each in scores.items()}
    return {name: score_row(score) for name, score in found.items() if score is not None}
