"""Judge the answers about words, and store the judgements."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.files.atomic import read_timestamp, write_timestamp
from polyjudge.files.names import safe_name
from polyjudge.formats.vocabulary import JUDGEMENTS_FILE, JudgementLog
from polyjudge.judges.jury import Panel
from polyjudge.judges.word_verdicts import WordJudge, WordWording, read_word_verdict
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Failure, FailureKind, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.vocabulary import Judgement, WordRecord, WordState
from polyjudge.store.run_file import asked_again

from .vocabulary import Job, WordTask

_Counts = Callable[[Judgement], bool]
"""Returns whether a judgement of an earlier run counts."""


@dataclass(frozen=True, slots=True)
class WordQuestion:
    """One answer for one judge."""

    id: str
    """The id of the question, which is the same in every run."""
    task: WordTask
    judge: str
    record: WordRecord | None
    """None if the model was not asked."""
    base_url: str = ""
    """The address of the judge."""

    def prompt(self, wording: WordWording) -> str:
        """Return the prompt to the judge."""
        return self.task.judge_prompt(wording, (self.record and self.record.response) or "")


@dataclass(frozen=True, slots=True)
class WordJudging:
    """The answers of a job, the judges and their wording."""

    job: Job
    wording: WordWording
    judges: Mapping[str, str]
    """The judges with their addresses."""
    assumes_answers: bool = False
    """Use the reference for a missing answer, to estimate the cost."""

    def panel(self, questions: Sequence[WordQuestion], max_tokens: int | None = None) -> Panel:
        """Return the panel of all judges."""
        judges = {name: WordJudge(self.wording, name, max_tokens=max_tokens) for name in self.judges}
        judge_of = {question.id: question.judge for question in questions}
        return Panel(judges, lambda item: judge_of[item.id], needs_judge=True)

    def questions(self, tasks: Sequence[WordTask]) -> list[WordQuestion]:
        """Return a question for every answer and judge."""
        records = [(task, self._record(task)) for task in tasks]
        return [
            WordQuestion(f"{safe_name(judge)}/{self.job.name(task)}", task, judge, record, address)
            for judge, address in self.judges.items()
            for task, record in records
        ]

    def is_settled(self, kept: Mapping[str, Judgement], *, retry_failures: bool) -> bool:
        """Return whether every answer has a judgement."""
        questions, counts = self.questions(self.job.tasks), _counting(retry_failures=retry_failures)
        return len(settled_outcomes(questions, self.wording, kept, counts)) == len(questions)

    def _record(self, task: WordTask) -> WordRecord | None:
        record, entry = self.job.record(task), task.entry
        if record is not None or not self.assumes_answers:
            return record
        return WordRecord(
            model=task.model,
            word=entry.word,
            prompt="",
            response=entry.answer,
            reference_definition=entry.answer,
            timestamp="",
        )


def _counting(*, retry_failures: bool = False, run: str = "") -> _Counts:
    """Return which judgements of earlier runs count: all but failures that are asked again, or those of one run."""
    retried = asked_again(retries_failures=retry_failures)

    def counts(judgement: Judgement) -> bool:
        return _failure_kind(judgement) not in retried and run in ("", judgement.run)

    return counts


def _failure_kind(judgement: Judgement) -> FailureKind | None:
    """Return the kind of failure that a judgement is, or None for a verdict."""
    if judgement.verdict == "error":
        return judgement.failure or "transient"
    return "unreadable" if judgement.verdict == "undetermined" else None


def settled_outcomes(
    questions: Sequence[WordQuestion], wording: WordWording, kept: Mapping[str, Judgement], counts: _Counts
) -> dict[str, Outcome]:
    """Return the outcomes that need no call, by question id."""
    known = {key: judgement for key, judgement in kept.items() if counts(judgement)}
    found = {each.id: _settled(each, wording, known.get(each.id)) for each in questions}
    return {key: outcome for key, outcome in found.items() if outcome is not None}


def _settled(question: WordQuestion, wording: WordWording, known: Judgement | None) -> Outcome | None:
    """Return an outcome without a call: for no answer, an empty one, or a stored reply of the judge."""
    record = question.record
    if record is None or record.response is None:
        return Failure(
            "the model was not asked about this word. Run polyjudge vocabulary generate"
            if record is None
            else record.error or "no answer",
            "bad_item",
        )
    if not record.response.strip():
        return JudgeResult(0.0, "the answer is empty; no judge was asked", verdict="incorrect")
    if known is None or known.provenance is None:
        return None
    asked, prompt = known.provenance, question.prompt(wording)
    if asked.base_url != question.base_url or asked.prompt_sha256 != prompt_sha256(prompt):
        return None
    if known.verdict == "error":
        return Failure(known.reason, known.failure or "transient", known.raw, asked.model_answered, asked)
    reading = read_word_verdict(known.raw, wording, prompt)  # the rules of parsing may have changed
    if reading.verdict == "undetermined":
        return Failure(reading.problem, "unreadable", known.raw, asked.model_answered, asked)
    score = float(reading.verdict == "correct")
    return JudgeResult(
        score, "", model=asked.model_answered, cached=True, verdict=reading.verdict, raw=known.raw, provenance=asked
    )


def judgement_of(question: WordQuestion, outcome: Outcome, wording: WordWording, run: str) -> Judgement:
    """Return the judgement of an outcome; `run` is the start time of the run that made the call."""
    if isinstance(outcome, Failure) and outcome.kind == "bad_item":
        return _judgement(question, "error", stage="generation", reason=outcome.reason)
    if isinstance(outcome, Failure) and outcome.kind != "unreadable":
        failed = _judgement(question, "error", stage="judging", reason=outcome.reason)
        return replace(failed, failure=outcome.kind, raw=outcome.raw, run=run, provenance=outcome.provenance)
    if outcome.provenance is None:
        return _judgement(question, "incorrect", reason=outcome.reason)
    reading = read_word_verdict(outcome.raw, wording, question.prompt(wording))
    read = _judgement(question, reading.verdict, reason=reading.problem)
    return replace(read, contradictory=reading.contradictory, raw=outcome.raw, run=run, provenance=outcome.provenance)


def _judgement(
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


def earlier_judgements(folder: Path) -> dict[str, Judgement]:
    """Return the judgements of earlier runs in a folder, finished or not, by id."""
    return JudgementLog(folder / JUDGEMENTS_FILE, read_only=True).stored()


class JudgementStore:
    """Stores the outcomes of judges as judgements as they arrive: their file serves as the run file.

    Judgements of earlier runs count if they answer the same question at the same address; with `refresh` only those
    since the start marker of this run, with `retry_failures` only verdicts. Valid judgements on the rest of the suite
    are kept. With `read_only` nothing is written.
    """

    def __init__(
        self,
        judging: WordJudging,
        folder: Path,
        *,
        refresh: bool = False,
        retry_failures: bool = False,
        read_only: bool = False,
    ) -> None:
        self._judging = judging
        self._marker = folder / ".judging-again"
        has_marker = refresh and self._marker.exists()
        self.started_at = read_timestamp(self._marker) if has_marker else utc_now()
        self._is_new = refresh and not has_marker and not read_only
        self._kept = earlier_judgements(folder)
        self._log = JudgementLog(folder / JUDGEMENTS_FILE, read_only=read_only)
        if self._is_new:
            write_timestamp(self._marker, self.started_at)
        self.questions = judging.questions(judging.job.tasks)
        self._by_id = {question.id: question for question in self.questions}
        counts = _counting(retry_failures=retry_failures, run=self.started_at if refresh else "")
        self._settled = settled_outcomes(self.questions, judging.wording, self._kept, counts)
        self._found = dict[str, Judgement]()
        self._waiting = dict[int, RunOutcome]()
        self.judgements = list[Judgement]()
        """All judgements of the finished file, sorted."""

    def items(self) -> list[Item]:
        """Return the items of all questions."""
        return [Item(question.id, question.prompt(self._judging.wording)) for question in self.questions]

    def judgement(self, item: Item) -> Judgement:
        """Return the judgement of an item that has an outcome."""
        return self._found[item.id]

    def stored(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield nothing: stored outcomes may be in any order, so `ahead` returns them."""
        return iter(())

    def ahead(self) -> Mapping[str, RunOutcome]:
        """Return the outcomes that need no call."""
        return self._settled

    def append(self, item: Item, outcome: RunOutcome) -> None:
        """Write the row of an item, unless `append_ahead` has."""
        if item.id in self._found or not isinstance(outcome, JudgeResult | Failure):
            return
        is_known = outcome is self._settled.get(item.id)
        run = self._kept[item.id].run if is_known and item.id in self._kept else self.started_at
        judgement = judgement_of(self._by_id[item.id], outcome, self._judging.wording, run)
        self._found[item.id] = judgement
        if not is_known and judgement.provenance is not None:
            self._log.append(judgement)

    def append_ahead(self, item: Item, outcome: RunOutcome) -> int:
        """Write the row of an item out of order; return the position for `read_ahead`."""
        self.append(item, outcome)
        self._waiting[len(self._found)] = outcome
        return len(self._found)

    def read_ahead(self, position: int) -> RunOutcome:
        """Return an outcome that was written out of order."""
        return self._waiting.pop(position)

    def finish(self) -> None:
        """Write the judgements in order, with the valid ones of earlier runs on the rest of the suite."""
        rest = self._judging.questions(self._judging.job.every_task)
        others = settled_outcomes(
            [each for each in rest if each.id in self._kept], self._judging.wording, self._kept, _counting()
        )
        for each in rest:
            if each.id in self._found:
                self.judgements.append(self._found[each.id])
            elif each.id in others:
                run = self._kept[each.id].run
                self.judgements.append(judgement_of(each, others[each.id], self._judging.wording, run))
        self._log.finish(self.judgements)
        self._marker.unlink(missing_ok=True)

    def discard_if_empty(self) -> None:
        """Remove the start marker of this run if it asked nothing."""
        if self._is_new:
            self._marker.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; it is removed if nothing was written to it."""
        self._log.close()
