"""Have judges say whether models know their words, and store what they say as the file of judgements."""

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
from polyjudge.judges.word import WordJudge
from polyjudge.judges.word_verdicts import WordWording, read_word_verdict
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.vocabulary import Judgement, WordRecord, WordState

from .vocabulary import Job, WordTask

_Known = Callable[[Judgement], bool]
"""Says whether a judgement of an earlier run counts."""


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


@dataclass(frozen=True, slots=True)
class WordJudging:
    """Who is asked about the answers of a job, and in which words."""

    job: Job
    wording: WordWording
    judges: Mapping[str, str]
    """The judges, each with its address."""
    supposing: bool = False
    """Put the reference in the place of an answer that is missing, for an estimate."""

    def panel(self, questions: Sequence[WordQuestion], max_tokens: int | None = None) -> Panel:
        """Return the judges side by side."""
        judges = {name: WordJudge(self.wording, name, max_tokens=max_tokens) for name in self.judges}
        judge_of = {question.id: question.judge for question in questions}
        return Panel(judges, lambda item: judge_of[item.id], needs_judge=True)

    def questions(self, tasks: Sequence[WordTask]) -> list[WordQuestion]:
        """Return every answer with every judge."""
        records = [(task, self._record(task)) for task in tasks]
        return [
            WordQuestion(f"{safe_name(judge)}/{self.job.name(task)}", task, judge, record, address)
            for judge, address in self.judges.items()
            for task, record in records
        ]

    def is_settled(self, kept: Mapping[str, Judgement], *, retry_failures: bool) -> bool:
        """Say whether every answer has its judgement."""
        questions, counts = self.questions(self.job.tasks), _is_verdict if retry_failures else _any
        return len(settled_outcomes(questions, self.wording, kept, counts)) == len(questions)

    def _record(self, task: WordTask) -> WordRecord | None:
        record, entry = self.job.record(task), task.entry
        if record is not None or not self.supposing:
            return record
        return WordRecord(
            model=task.model,
            word=entry.word,
            prompt="",
            response=entry.answer,
            reference_definition=entry.answer,
            timestamp="",
        )


def _any(_: Judgement) -> bool:
    return True


def _is_verdict(judgement: Judgement) -> bool:
    return judgement.verdict in ("correct", "incorrect")


def settled_outcomes(
    questions: Sequence[WordQuestion], wording: WordWording, kept: Mapping[str, Judgement], counts: _Known
) -> dict[str, Outcome]:
    """Return the outcomes that need no call, by the ids of their questions."""
    known = {key: judgement for key, judgement in kept.items() if counts(judgement)}
    found = {each.id: _settled(each, wording, known.get(each.id)) for each in questions}
    return {key: outcome for key, outcome in found.items() if outcome is not None}


def _settled(question: WordQuestion, wording: WordWording, known: Judgement | None) -> Outcome | None:
    """Return the outcome that needs no call: there is no answer, an empty one, or the judge's reply is at hand."""
    record = question.record
    if record is None or record.response is None:
        return Failure("the model was not asked" if record is None else record.error or "no answer", "bad_item")
    if not record.response.strip():
        return JudgeResult(0.0, "the answer is empty; no judge was asked", verdict="incorrect")
    if known is None or known.verdict == "error" or known.provenance is None:
        return None
    asked, prompt = known.provenance, question.prompt(wording)
    if asked.base_url != question.base_url or asked.prompt_sha256 != prompt_sha256(prompt):
        return None
    reading = read_word_verdict(known.raw, wording, prompt)  # how replies are read may have changed
    if reading.verdict == "undetermined":
        return Failure(reading.problem, "unreadable", known.raw, asked.model_answered, asked)
    score = float(reading.verdict == "correct")
    return JudgeResult(
        score, "", model=asked.model_answered, cached=True, verdict=reading.verdict, raw=known.raw, provenance=asked
    )


def judgement_of(question: WordQuestion, outcome: Outcome, wording: WordWording, run: str) -> Judgement:
    """Return the judgement that an outcome is; `run` is when the run that asked was started."""
    if isinstance(outcome, Failure) and outcome.kind == "bad_item":
        return _bare(question, "error", stage="generation", reason=outcome.reason)
    if isinstance(outcome, Failure) and outcome.kind != "unreadable":
        failed = _bare(question, "error", stage="judging", reason=outcome.reason)
        return replace(failed, raw=outcome.raw, run=run, provenance=outcome.provenance)
    if outcome.provenance is None:
        return _bare(question, "incorrect", reason=outcome.reason)
    reading = read_word_verdict(outcome.raw, wording, question.prompt(wording))
    read = _bare(question, reading.verdict, reason=reading.problem)
    return replace(read, contradictory=reading.contradictory, raw=outcome.raw, run=run, provenance=outcome.provenance)


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


def kept_judgements(folder: Path) -> dict[str, Judgement]:
    """Return what earlier runs in a folder left, finished or not, by id; a file that cannot be read is an error."""
    return JudgementLog(folder / JUDGEMENTS_FILE, read_only=True).kept()


class JudgementStore:
    """Stores the outcomes of judges as judgements, each as soon as it is there: their file is the run file.

    Judgements of earlier runs count if they answer the same question at the same address. With `refresh` only those of
    this run do, since its start marker, and with `retry_failures` only verdicts. What was paid for and is no part of
    this run is kept. With `read_only` nothing is written.
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
        self._kept = kept_judgements(folder)
        self._log = JudgementLog(folder / JUDGEMENTS_FILE, read_only=read_only)
        if self._is_new:
            write_timestamp(self._marker, self.started_at)
        self.questions = judging.questions(judging.job.tasks)
        self._by_id = {question.id: question for question in self.questions}
        counts = self._is_own if refresh else _is_verdict if retry_failures else _any
        self._settled = settled_outcomes(self.questions, judging.wording, self._kept, counts)
        self._found = dict[str, Judgement]()
        self._waiting = dict[int, RunOutcome]()
        self.judgements = list[Judgement]()
        """All judgements of the finished file, in order."""

    def items(self) -> list[Item]:
        """Return the questions to the judges."""
        return [Item(question.id, question.prompt(self._judging.wording)) for question in self.questions]

    def judgement(self, item: Item) -> Judgement:
        """Return the judgement of an item that has its outcome."""
        return self._found[item.id]

    def stored(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield nothing: all that is known need not be in the order of the items."""
        return iter(())

    def ahead(self) -> Mapping[str, RunOutcome]:
        """Return the outcomes that need no call."""
        return self._settled

    def append(self, item: Item, outcome: RunOutcome) -> None:
        """Write the row of an item, unless that was done when its outcome came."""
        if item.id in self._found or not isinstance(outcome, JudgeResult | Failure):
            return
        is_known = outcome is self._settled.get(item.id)
        run = self._kept[item.id].run if is_known and item.id in self._kept else self.started_at
        judgement = judgement_of(self._by_id[item.id], outcome, self._judging.wording, run)
        self._found[item.id] = judgement
        if not is_known and judgement.provenance is not None:
            self._log.append(judgement)

    def append_ahead(self, item: Item, outcome: RunOutcome) -> int:
        """Write the row of an item ahead of its turn; return where `read_ahead` finds the outcome."""
        self.append(item, outcome)
        self._waiting[len(self._found)] = outcome
        return len(self._found)

    def read_ahead(self, position: int) -> RunOutcome:
        """Return an outcome that came ahead of its turn."""
        return self._waiting.pop(position)

    def finish(self) -> None:
        """Write the judgements in order, with those of earlier runs on the rest of the suite that still fit."""
        rest = self._judging.questions(self._judging.job.every_task)
        others = settled_outcomes(
            [each for each in rest if each.id in self._kept], self._judging.wording, self._kept, _any
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
        """Remove the start marker of a run that asked nothing."""
        if self._is_new:
            self._marker.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; it is removed if nothing was written to it."""
        self._log.close()

    def _is_own(self, judgement: Judgement) -> bool:
        return judgement.run == self.started_at
