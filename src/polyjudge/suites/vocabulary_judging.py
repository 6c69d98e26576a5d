"""Have judges say whether models know their words."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.judges.word import WordJudge
from polyjudge.judges.word_verdicts import WordWording, read_word_verdict
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Failure, Outcome
from polyjudge.records.vocabulary import Judgement, WordRecord, WordState

from .vocabulary import WordTask


@dataclass(frozen=True, slots=True)
class WordQuestion:
    """One answer that one judge is asked about."""

    id: str
    """A name that stays the same from run to run."""
    task: WordTask
    judge: str
    record: WordRecord | None
    """None where the model was not asked."""
    base_url: str = ""
    """Where the judge is asked."""

    def prompt(self, wording: WordWording) -> str:
        """Return what the judge is asked."""
        return self.task.judge_prompt(wording, (self.record and self.record.response) or "")


def judge_answers(
    judges: Mapping[str, WordJudge],
    questions: Sequence[WordQuestion],
    wording: WordWording,
    *,
    known: Mapping[str, Judgement],
    concurrency: int,
    stop: StopToken,
    run: str = "",
    done: Callable[[Judgement], None] = lambda _: None,
) -> AsyncGenerator[Judgement]:
    """Yield a judgement for each question, in order; those that are `known` are not asked again.

    `done` is told of each answer as it comes, ahead of its turn.
    """

    async def one(question: WordQuestion) -> Judgement:
        settled = settled_judgement(question, wording, known.get(question.id))
        if settled is not None:
            return settled
        outcome = await judges[question.judge].outcome(question.prompt(wording))
        judgement = replace(_judgement(question, outcome, wording), run=run)
        done(judgement)
        return judgement

    return in_order(one, questions, concurrency=concurrency, stop=stop)


def settled_judgement(question: WordQuestion, wording: WordWording, known: Judgement | None) -> Judgement | None:
    """Return the judgement that needs no asking: no answer, an empty one, or the judge's reply is at hand."""
    record = question.record
    if record is None or record.response is None:
        reason = "the model was not asked" if record is None else record.error or "no answer"
        return _bare(question, "error", stage="generation", reason=reason)
    if not record.response.strip():
        return _bare(question, "incorrect", reason="the answer is empty; no judge was asked")
    return None if known is None else _read_again(question, wording, known)


def _read_again(question: WordQuestion, wording: WordWording, known: Judgement) -> Judgement | None:
    """Return what a kept reply says, where it answers this very question; how replies are read may have changed."""
    asked = known.provenance
    if known.verdict == "error" or asked is None or asked.base_url != question.base_url:
        return None
    if asked.prompt_sha256 != prompt_sha256(question.prompt(wording)):
        return None
    return replace(_read(question, known.raw, wording), run=known.run, provenance=asked)


def _judgement(question: WordQuestion, outcome: Outcome, wording: WordWording) -> Judgement:
    if isinstance(outcome, Failure) and outcome.kind != "unreadable":
        failed = _bare(question, "error", stage="judging", reason=outcome.reason)
        return replace(failed, raw=outcome.raw, provenance=outcome.provenance)
    return replace(_read(question, outcome.raw, wording), provenance=outcome.provenance)


def _read(question: WordQuestion, raw: str, wording: WordWording) -> Judgement:
    reading = read_word_verdict(raw, wording, question.prompt(wording))
    return replace(
        _bare(question, reading.verdict, reason=reading.problem), contradictory=reading.contradictory, raw=raw
    )


def _bare(
    question: WordQuestion, verdict: WordState, *, reason: str, stage: Literal["", "generation", "judging"] = ""
) -> Judgement:
    task = question.task
    return Judgement(
        id=question.id,
        model=task.model,
        word=task.entry.word,
        prompt=task.prompt,
        judge=question.judge,
        verdict=verdict,
        category=task.entry.category,
        stage=stage,
        reason=reason,
    )
