"""Decide the status of a language from checks, scores and trust in the judge."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Literal

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import TextCheck
from polyjudge.records.translation import Language, LanguageResult, LanguageScore

from .items import PASSING_SCORE, scores_pass
from .trust import JudgeTrust, measured_by, trust_notes, untrusted

Status = Literal["PASS", "FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", "SKIPPED"]
STATUSES: tuple[Status, ...] = ("PASS", "FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", "SKIPPED")
NEEDED_SHARE = 0.8
"""Of the prompts, in the right script; with more than the rest sure to be in another language there is a conflict."""
_FAR_APART = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One language in a report."""

    language: str
    """Tag, as the file gives it."""
    name: str
    family: str
    is_priority: bool
    status: Status
    script_only: bool = False
    """No judge was asked, so it passes or fails on script alone."""
    reason: str = ""
    prompts: int = 0
    script_checked: int = 0
    """Prompts whose script the file or the check says something of."""
    script_passed: int = 0
    tokens_per_second: float | None = None
    scores: Mapping[str, LanguageScore] = field(default_factory=dict[str, LanguageScore])
    """What each judge says of the language as a whole."""
    disagreements: tuple[str, ...] = ()
    looks_like: str = ""
    """The language that the check is sure of instead, where it is sure of one in too many prompts."""
    failing_outputs: int = 0
    """Outputs with a problem that is more than a warning."""
    trust: tuple[str, ...] = ()
    """What is known of each judge in this language, where it has a card."""
    is_calibrated: bool = False
    """One of its judges is known to tell good texts from spoiled ones in it."""
    problems: Mapping[str, int] = field(default_factory=dict[str, int])
    """Kinds of problems that the checks found, and in how many prompts."""


class VerdictMaker:
    """Makes up its mind about languages, one after the other."""

    def __init__(self, table: LanguageTable, trust: Mapping[str, JudgeTrust] | None = None) -> None:
        self._table = table
        self._trust = trust or {}
        self._checker = TextChecker(table)

    def checks(self, language: LanguageResult) -> list[TextCheck | None]:
        """Return what the checks say of each prompt; None where the table does not know the language."""
        known = self._table.find(language.language_code, language.language_name)
        return [
            self._checker.check(each.generated_output, known, source=each.source_text, prompt=each.prompt)
            if known
            else None
            for each in language.prompts
        ]

    def verdict(
        self, language: LanguageResult, checks: Sequence[TextCheck | None], scores: Mapping[str, LanguageScore]
    ) -> Verdict:
        """Return the verdict on one language by its script, its judges, and the check of its language."""
        script = [script_ok(language, index, check) for index, check in enumerate(checks)]
        found = self._other_language(checks)
        rates = [each.tokens_per_second for each in language.prompts if each.tokens_per_second is not None]
        known = self._table.find(language.language_code, language.language_name)
        tag = language.language_code or language.language_name
        judging = [name for name, score in scores.items() if scores_pass(score) is not None]
        status, reason = _status(script, scores, found)
        if not _is_by_script(script):
            status, reason = self._relied_on(tag, scores, status, reason)
        return Verdict(
            language=language.language_code,
            name=language.language_name,
            family=self._table.family(language.script_family, language.language_code, language.language_name),
            is_priority=is_must_have(language.priority),
            status=status,
            script_only=not scores and status in ("PASS", "FAIL"),
            reason=reason,
            prompts=len(language.prompts),
            script_checked=len(script) - script.count(None),
            script_passed=script.count(True),
            tokens_per_second=fmean(rates) if rates else None,
            scores=scores,
            disagreements=tuple(_disagreements(scores, found, known)),
            looks_like=found,
            failing_outputs=sum(check is not None and check.fails for check in checks),
            trust=tuple(trust_notes(self._trust, list(scores), tag, self._table)),
            is_calibrated=measured_by(self._trust, judging, tag, self._table),
            problems=Counter(kind for check in checks if check for kind in {each.kind for each in check.problems}),
        )

    def _relied_on(
        self, tag: str, scores: Mapping[str, LanguageScore], status: Status, reason: str
    ) -> tuple[Status, str]:
        """Return a state that hangs on judges as one that cannot be relied on, where they are blind in the language."""
        passing = {"PASS": True, "FAIL": False}.get(status)
        deciding = [name for name, score in scores.items() if passing is not None and scores_pass(score) is passing]
        why = untrusted(self._trust, deciding, tag, self._table)
        return ("UNRELIABLE", why) if why else (status, reason)

    def _other_language(self, checks: Sequence[TextCheck | None]) -> str:
        wrong = [check.language.found for check in checks if check is not None and check.language.state == "wrong"]
        if not wrong or is_enough(len(checks) - len(wrong), len(checks)):
            return ""
        (tag, _), *_ = Counter(wrong).most_common(1)
        found = self._table.find(tag)
        return found.name if found else tag


def is_enough(part: int, whole: int) -> bool:
    """Say whether a part is at least the share that is needed; in whole numbers, since 0.8 is none that a float has."""
    return 100 * part >= round(100 * NEEDED_SHARE) * whole


def is_must_have(priority: str) -> bool:
    """Say whether a priority is the highest, however it is spelled: `must-have`, `mustHave`, `must have`."""
    return "".join(letter for letter in priority.casefold() if letter.isalpha()) == "musthave"


def script_ok(language: LanguageResult, index: int, check: TextCheck | None) -> bool | None:
    """Say whether a prompt passes the script check: as the file says or, where it does not, as our own check does.

    None where the file does not say and the language is not known.
    """
    given = language.prompts[index].script_validation_passed
    if given is not None or check is None:
        return given
    return check.script.state != "fail"


def _is_by_script(script: Sequence[bool | None]) -> bool:
    """Say whether the script alone decides, so that it matters little what judges are worth."""
    return not is_enough(script.count(True), script.count(True) + script.count(False))


def _status(script: Sequence[bool | None], scores: Mapping[str, LanguageScore], other: str) -> tuple[Status, str]:
    if not script:
        return "SKIPPED", "no usable prompt"
    passed, failed = script.count(True), script.count(False)
    if _is_by_script(script):
        return "FAIL", f"wrong script in {failed} of {passed + failed} outputs"
    if scores:
        return _judged_status(scores, other)
    return ("PASS", "") if passed else ("UNJUDGED", "nobody says what script it should be in")


def _judged_status(scores: Mapping[str, LanguageScore], other: str) -> tuple[Status, str]:
    passing = {name: scores_pass(score) for name, score in scores.items()}
    failing = [name for name, passed in passing.items() if passed is False]
    if failing:
        return "FAIL", "; ".join(f"{name}: {_shortfall(scores[name])}" for name in failing)
    if all(passed is None for passed in passing.values()):
        return "UNJUDGED", next((score.error for score in scores.values() if score.error), "no score")
    if other:
        return "CONFLICT", f"a judge passes it, but the check is sure that it is {other}"
    return "PASS", ""


def _shortfall(score: LanguageScore) -> str:
    named = {"script": score.script_score, "grammar": score.grammar_score, "coherence": score.coherence_score}
    low = [f"{name} {value:g}/5" for name, value in named.items() if value is not None and value < PASSING_SCORE]
    return ", ".join([*low, *(["wrong language"] if score.is_correct_language is False else [])])


def _disagreements(scores: Mapping[str, LanguageScore], other: str, known: Language | None) -> list[str]:
    found: list[str] = []
    judged = {name: score for name, score in scores.items() if scores_pass(score) is not None}
    for first, second in pairwise(judged):
        one, two = judged[first], judged[second]
        if scores_pass(one) != scores_pass(two):
            found.append(f"{first} says {_word(one)}, {second} says {_word(two)}")
        pairs = {
            "script": (one.script_score, two.script_score),
            "grammar": (one.grammar_score, two.grammar_score),
            "coherence": (one.coherence_score, two.coherence_score),
        }
        for dimension, (left, right) in pairs.items():
            if left is not None and right is not None and abs(left - right) >= _FAR_APART:
                found.append(f"{dimension}: {first} {left:g}, {second} {right:g}")
    for name, score in judged.items():
        if other and score.is_correct_language:
            wanted = known.name if known else "the right language"
            found.append(f"{name} says that it is {wanted}, the check is sure that it is {other}")
    return found


def _word(score: LanguageScore) -> str:
    return "PASS" if scores_pass(score) else "FAIL"
