"""The judge `offline`, which has no model: it scores only what the checks can find."""

from collections.abc import Iterator, Mapping
from typing import Any

from polyjudge.checks.reference import chrf, chrf_signature
from polyjudge.errors import ConfigError
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.findings import ScriptCheck, TextCheck
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, Provenance
from polyjudge.records.rubrics import Rubric
from polyjudge.records.translation import Language
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.verdicts.items import with_passed
from polyjudge.version import __version__

from . import base

MODEL = "checks-4"
"""The model name in every result; it changes with every change that can move a score."""
_NO_TRANSLATION = {"empty", "source_copied", "refusal", "repetition", "prompt_leak"}
_BROKEN_TEXT = {"empty", "repetition", "template_leak", "model_note", "code_fence", "broken_characters"}
_INCOMPLETE = {"untranslated", "untranslated_word", "cut_off", "missing_sentences", "wrong_length"} | {
    "number_changed",
    "number_lost",
    "placeholder_lost",
    "markup_lost",
    "url_lost",
    "mention_lost",
    "repetition",
}
_CHRF_SCORES = ((65.0, 5.0), (45.0, 4.0))
"""Agreement with a reference, and the score from there on; less agreement proves nothing, since wordings differ."""


def can_judge_offline(rubric: Rubric) -> bool:
    """Return whether the checks can judge by a rubric."""
    return {criterion.name for criterion in rubric.criteria} == {"script", "grammar", "coherence"}


class OfflineJudge:
    """Judges translations by script, language, degeneration and preservation, with the item's language and source."""

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync
    model = MODEL

    def __init__(self, rubric: Rubric, *, table: LanguageTable | None = None) -> None:
        if not can_judge_offline(rubric):
            message = f"the judge 'offline' cannot judge by {rubric.name!r}, only by script, grammar and coherence"
            raise ConfigError(message, option="rubric", value="translation")
        self.rubric = rubric
        self._table = table or language_table()
        from polyjudge.checks.checker import TextChecker  # here: every run imports this module, but few use it

        self._checker = TextChecker(self._table)
        self.fingerprint = rubric_fingerprint(rubric)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Judge an item of a run by its language."""
        return await self.outcome(item.candidate, {**item.context, "language": item.language}, repeat=repeat)

    async def outcome(
        self,
        candidate: str,
        context: Mapping[str, Any] | None = None,
        *,
        repeat: int = 0,  # noqa: ARG002 - the result is always the same
    ) -> Outcome:
        """Return the result of the checks for one candidate; its context must have the language."""
        fields = context or {}
        language = self._table.find(str(fields.get("language", "")), str(fields.get("language_name", "")))
        if language is None:
            return Failure(f"unknown language {fields.get('language', '')!r}", "bad_item", model=MODEL)
        source, reference = str(fields.get("source", "")), str(fields.get("reference", ""))
        check = self._checker.check(candidate, language, source=source, prompt=str(fields.get("prompt", "")))
        return with_passed(self.rubric, self._result(check, language, candidate, reference))

    def _result(self, check: TextCheck, language: Language, candidate: str, reference: str) -> Outcome:
        agreement = chrf(candidate, reference) if reference and candidate.strip() else None
        subscores = {
            "script": _script_score(check.script),
            "grammar": _grammar_score(check),
            "coherence": _coherence_score(check, agreement),
        }
        known = {name: score for name, score in subscores.items() if score is not None}
        if not known:
            return Failure("nothing to check: the text has neither letters nor problems", "bad_item", model=MODEL)
        is_sure = check.language.state != "unsure"
        return JudgeResult(
            score=sum(known.values()) / len(known),
            reason="; ".join(_reasons(check, language, agreement, [name for name in subscores if name not in known])),
            subscores=known,
            model=MODEL,
            flags={"isCorrectLanguage": check.language.state == "right"} if is_sure else {},
            parse_method="checks",
            provenance=Provenance(
                provider="offline",
                model=MODEL,
                model_answered=MODEL,
                rubric=self.rubric.name,
                rubric_fingerprint=self.fingerprint,
                prompt_sha256=prompt_sha256(candidate),
                parameters={} if agreement is None else {"chrf": chrf_signature()},
                polyjudge_version=__version__,
            ),
        )


def _script_score(script: ScriptCheck) -> float | None:
    """Return the score of the script; None for a text without letters, such as a number."""
    if script.state == "fail":
        return 1.0 if script.share is None or script.share < 0.2 else 2.0
    if any(problem.kind == "broken_characters" for problem in script.problems):
        return 2.0
    if script.state == "warn":
        return 3.0
    return None if script.state == "unknown" else 5.0


def _grammar_score(check: TextCheck) -> float | None:
    """Return a low score if there is no sentence at all, else None: no check can judge the grammar of a sentence."""
    kinds = _failing(check)
    if kinds & _BROKEN_TEXT:
        return 1.0 if kinds & {"empty", "repetition"} else 2.0
    return None


def _failing(check: TextCheck) -> set[str]:
    return {problem.kind for problem in check.problems if problem.severity == "fail"}


def _coherence_score(check: TextCheck, agreement: float | None) -> float | None:
    failing = _failing(check)
    if failing & _NO_TRANSLATION:
        return 1.0
    if check.language.state == "wrong" or check.script.state == "fail" or failing & {*_INCOMPLETE, "unclear_language"}:
        return 2.0
    if any(problem.kind in _INCOMPLETE for problem in check.problems):
        return 3.0
    return next((score for least, score in _CHRF_SCORES if agreement is not None and agreement >= least), None)


def _reasons(check: TextCheck, language: Language, agreement: float | None, unknown: list[str]) -> Iterator[str]:
    for problem in check.problems:
        yield f"{problem.kind.replace('_', ' ')}: {problem.message}"
    if not check.problems:
        yield "the checks found no problem"
    if check.language.state == "unsure":
        yield f"the checks cannot determine whether it is {language.name}"
    if agreement is not None:
        yield f"chrF++ {agreement:.0f} against the reference"
    if unknown:
        yield f"{' and '.join(unknown)} cannot be judged without a model"
