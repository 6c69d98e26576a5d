"""The judge `offline`, which has no model: it scores only what the checks can find."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from polyjudge.checks.reference import chrf, chrf_signature
from polyjudge.errors import ConfigError
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.findings import ScriptCheck, TextCheck
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, Provenance
from polyjudge.records.rubrics import Rubric
from polyjudge.records.translation import Language
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.verdicts.items import with_passed
from polyjudge.version import __version__

from . import base

if TYPE_CHECKING:
    from polyjudge.checks.policy import CheckPolicy

MODEL = "checks-4"
"""The model name in every result of all checks; it changes with every change that can move a score."""
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
_WRONG = {"wrong_script", "wrong_language", "unclear_language"}
_CHRF_SCORES = ((65.0, 5.0), (45.0, 4.0))
"""Agreement with a reference, and the score from there on; less agreement proves nothing, since wordings differ."""


def offline_model(policy: "CheckPolicy | None" = None) -> str:
    """Return the model name of the judge: that of all checks, with a digest of the policy if it changes anything."""
    digest = policy.digest if policy is not None else ""
    return f"{MODEL}-{digest}" if digest else MODEL


def offline_judge(setup: "tuple[Rubric, CheckPolicy | None]") -> "OfflineJudge":
    """Return the judge for a rubric and a policy, as other processes make it."""
    rubric, policy = setup
    return OfflineJudge(rubric, policy=policy)


def can_judge_offline(rubric: Rubric) -> bool:
    """Return whether the checks can judge by a rubric."""
    return {criterion.name for criterion in rubric.criteria} == {"script", "grammar", "coherence"}


class OfflineJudge:
    """Judges translations by script, language, degeneration and preservation, with the item's language and source.

    A `policy` chooses the checks, sets severities and accepts findings; the model name then has a digest of it.
    """

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync

    def __init__(
        self, rubric: Rubric, *, table: LanguageTable | None = None, policy: "CheckPolicy | None" = None
    ) -> None:
        if not can_judge_offline(rubric):
            message = f"the judge 'offline' cannot judge by {rubric.name!r}, only by script, grammar and coherence"
            raise ConfigError(message, option="rubric", value="translation")
        self.rubric = rubric
        self._table = table or language_table()
        from polyjudge.checks.checker import TextChecker  # here: every run imports this module, but few use it
        from polyjudge.checks.policy import CheckPolicy

        self.policy = policy or CheckPolicy()
        self.model = offline_model(policy)
        self._checker = TextChecker(self._table, policy=self.policy)
        self._rubric_fingerprint = rubric_fingerprint(rubric)
        self.fingerprint = fingerprint([self._rubric_fingerprint, self.model], 16)

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
            return Failure(f"unknown language {fields.get('language', '')!r}", "bad_item", model=self.model)
        source, reference = str(fields.get("source", "")), str(fields.get("reference", ""))
        check = self._checker.check(candidate, language, source=source, prompt=str(fields.get("prompt", "")))
        return with_passed(self.rubric, self._result(check, language, candidate, reference))

    def _result(self, check: TextCheck, language: Language, candidate: str, reference: str) -> Outcome:
        is_compared = reference and candidate.strip() and self.policy.wants("reference_agreement", "reference")
        agreement = chrf(candidate, reference) if is_compared else None
        findings = _Counted(check, self.policy)
        subscores = {
            "script": _script_score(check.script),
            "grammar": findings.grammar(),
            "coherence": findings.coherence(agreement),
        }
        known = {name: score for name, score in subscores.items() if score is not None}
        if not known:
            return Failure(
                "nothing to score: the text has no letters, and the checks found nothing", "bad_item", model=self.model
            )
        is_sure, is_wanted = check.language.state != "unsure", self.policy.wants("wrong_language", "language")
        is_accepted = any(each.kind == "wrong_language" for each in check.accepted)
        unsure_of = language.name if is_wanted and not is_sure and not is_accepted else ""
        unknown = [name for name in subscores if name not in known]
        return JudgeResult(
            score=sum(known.values()) / len(known),
            reason="; ".join(_reasons(check, agreement, unknown, unsure_of=unsure_of)),
            subscores=known,
            model=self.model,
            flags={"isCorrectLanguage": check.language.state == "right"} if is_sure and is_wanted else {},
            parse_method="checks",
            provenance=Provenance(
                provider="offline",
                model=self.model,
                model_answered=self.model,
                rubric=self.rubric.name,
                rubric_fingerprint=self._rubric_fingerprint,
                prompt_sha256=prompt_sha256(candidate),
                parameters={} if agreement is None else {"chrf": chrf_signature()},
                polyjudge_version=__version__,
            ),
        )


def _script_score(script: ScriptCheck) -> float | None:
    """Return the score of the script; None for a text without letters, such as a number."""
    if script.state == "fail":
        return 1.0 if script.share is None or script.share < 0.2 else 2.0
    if any(problem.kind == "broken_characters" and problem.severity == "fail" for problem in script.problems):
        return 2.0
    if script.state == "warn":
        return 3.0
    return None if script.state == "unknown" else 5.0


class _Counted:
    """The findings of a text by their severity, and those whose severity the project has set."""

    def __init__(self, check: TextCheck, policy: "CheckPolicy") -> None:
        self._check = check
        self._failing = {each.kind for each in check.problems if each.severity == "fail"}
        self._warned = {each.kind for each in check.problems if each.severity == "warn"}
        self._set_to_fail = {kind for kind in self._failing if policy.setting_of(kind) == "fail"}
        self._set_to_warn = {kind for kind in self._warned if policy.setting_of(kind) == "warn"}

    def grammar(self) -> float | None:
        """Return a low score if there is no sentence at all, else None: no check can judge the grammar of one."""
        if kinds := self._failing & _BROKEN_TEXT:
            return 1.0 if kinds & {"empty", "repetition"} else 2.0
        return 3.0 if self._set_to_warn & _BROKEN_TEXT else None

    def coherence(self, agreement: float | None) -> float | None:
        """Return a low score for what is lost or wrong, a high one for agreement with a reference, else None."""
        failing = self._failing
        if failing & _NO_TRANSLATION:
            return 1.0
        is_wrong = self._check.language.state == "wrong" or self._check.script.state == "fail"
        if is_wrong or failing & {*_INCOMPLETE, "unclear_language"} or self._set_to_fail:
            return 2.0
        if self._warned & _INCOMPLETE or self._set_to_warn & (_NO_TRANSLATION | _WRONG):
            return 3.0
        return next((score for least, score in _CHRF_SCORES if agreement is not None and agreement >= least), None)


def _reasons(check: TextCheck, agreement: float | None, unknown: list[str], *, unsure_of: str) -> Iterator[str]:
    for problem in check.problems:
        yield f"{problem.kind.replace('_', ' ')}: {problem.message}"
    if not check.problems:
        yield "the checks found no problem"
    if check.accepted:
        count = len(check.accepted)
        yield f"{count} accepted {'finding does' if count == 1 else 'findings do'} not count"
    if unsure_of:
        yield f"the checks cannot determine whether it is {unsure_of}"
    if agreement is not None:
        yield f"chrF++ {agreement:.0f} against the reference"
    if unknown:
        yield f"{' and '.join(unknown)} cannot be judged without a model"
