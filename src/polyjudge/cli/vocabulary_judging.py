"""The second phase of `polyjudge vocabulary`: judges say what each answer is worth, and every reply is kept at once."""

import argparse
import os
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import ConfigError
from polyjudge.files.atomic import read_timestamp, write_timestamp
from polyjudge.files.names import safe_name
from polyjudge.formats.vocabulary import JudgementLog
from polyjudge.judges.word import WordJudge
from polyjudge.judges.word_verdicts import WordWording
from polyjudge.providers.models import model_table
from polyjudge.providers.registry import is_provider
from polyjudge.records.requests import ModelName
from polyjudge.records.vocabulary import Judgement, WordRecord
from polyjudge.runs.stack import ProviderStack
from polyjudge.suites.vocabulary import WordTask
from polyjudge.suites.vocabulary_judging import WordQuestion, judge_answers, settled_judgement
from polyjudge.text.display import one_line

from .options import add_cache_options, add_call_options, add_judge_options, at_least, judge_names
from .progress import ProgressShow
from .vocabulary_job import Job

_USUAL_JUDGE = "gpt-5"


def add_word_judging_options(parser: argparse.ArgumentParser, *, timeout_s: float | None = None) -> None:
    """Add the options of the actions that ask judges."""
    told = f"the first judge's verdicts count, others show whether it can be believed; default: openai/{_USUAL_JUDGE}"
    add = parser.add_argument_group("judge").add_argument
    add_judge_options(add, default="", told=f"{told}, or JUDGE_MODEL")
    most = "most tokens of a judge's reply; default: 512 for a local model, 4096 for others, more where it thinks first"
    add("--max-judge-tokens", type=at_least(1), metavar="N", help=most)
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)
    parser.add_argument("--show-prompt", metavar="WORD", help="print what is asked about a word and stop")
    parser.add_argument("--retry-failures", action="store_true", help="ask again about what was left without a verdict")
    parser.set_defaults(timeout=timeout_s)


def word_judges(options: argparse.Namespace) -> list[ModelName]:
    """Return who judges: `--judge`, else the environment's JUDGE_MODEL, of OpenAI unless it names another provider."""
    if not options.judge:
        named = os.environ.get("JUDGE_MODEL", "").strip() or _USUAL_JUDGE
        options.judge = ",".join(_with_provider(name.strip()) for name in named.split(","))
    if options.judge_model == "":
        raise ConfigError("--judge-model names no model")
    names = judge_names(options)
    if not names:
        raise ConfigError("the judge 'offline' cannot tell whether a definition is right; name a model with --judge")
    return names


def _with_provider(name: str) -> str:
    is_known = name.partition("/")[0] in ("", "offline") or name in model_table().aliases
    is_known = is_known or is_provider(name.partition("/")[0])
    return name if is_known else f"openai/{name}"


@dataclass(frozen=True, slots=True)
class Judging:
    """Who is asked about which answers, and what is known already."""

    wording: WordWording
    judges: Mapping[str, WordJudge]
    addresses: Mapping[str, str]
    """Where each judge is asked."""
    access: ProviderStack
    log: JudgementLog
    options: argparse.Namespace
    run: str
    """When the asking was begun."""

    def known(self) -> dict[str, Judgement]:
        """Return what was judged earlier and counts."""
        kept, options = self.log.kept(), self.options
        if options.refresh:
            return {key: each for key, each in kept.items() if each.run == self.run}
        if options.retry_failures:
            return {key: each for key, each in kept.items() if each.verdict in ("correct", "incorrect")}
        return kept

    def questions(self, job: Job, tasks: Sequence[WordTask], *, supposing: bool = False) -> list[WordQuestion]:
        """Return every answer with every judge; `supposing` puts the reference in place of answers that are missing."""
        records = [(task, job.record(task)) for task in tasks]
        return [
            WordQuestion(
                f"{safe_name(judge)}/{job.records.name(task.model, task.entry.word, task.prompt)}",
                task,
                judge,
                _supposed(task.entry.answer, task.model, task.entry.word) if supposing and record is None else record,
                self.addresses[judge],
            )
            for judge in self.judges
            for task, record in records
        ]

    def is_settled(self, job: Job) -> bool:
        """Say whether every answer has its judgement."""
        known = self.known()
        return all(
            settled_judgement(question, self.wording, known.get(question.id)) is not None
            for question in self.questions(job, job.tasks)
        )


def _supposed(answer: str, model: str, word: str) -> WordRecord:
    return WordRecord(model=model, word=word, prompt="", response=answer, reference_definition=answer, timestamp="")


def judging_began(options: argparse.Namespace) -> str:
    """Return when the asking was begun: a run that asks all anew, and was stopped, must know what is its own."""
    note = _again_note(options)
    return read_timestamp(note) if options.refresh and note.exists() else utc_now()


def _again_note(options: argparse.Namespace) -> Path:
    """Return where it is noted that all is judged anew."""
    return options.output / ".judging-again"


async def judge_all(judging: Judging, job: Job, stop: StopToken) -> list[Judgement]:
    """Judge what is not known; when all of it is there, it is put in order with what was judged earlier."""
    options, found = judging.options, list[Judgement]()
    questions = judging.questions(job, job.tasks, supposing=options.dry_run)
    is_verbose, is_real = os.environ.get("VERBOSE") == "1", not options.dry_run
    known = judging.known()
    if options.refresh and is_real:
        write_timestamp(_again_note(options), judging.run)
    with ProgressShow(len(questions), judging.access.meter.spent, shown=is_real, wrong="without verdict") as progress:
        judged = judge_answers(
            judging.judges,
            questions,
            judging.wording,
            known=known,
            concurrency=options.concurrency,
            stop=stop,
            run=judging.run,
            done=judging.log.append,
        )
        async with aclosing(judged):
            async for each in judged:
                found.append(each)
                if is_verbose and is_real:
                    progress.line(_line(each))
                wrong = each.verdict not in ("correct", "incorrect")
                progress.advance(unjudged=wrong, current=f"{each.model}: {each.word}")
    if is_real and len(found) == len(questions):
        found = _with_earlier(judging, job, found)
        judging.log.finish(found)
        _again_note(options).unlink(missing_ok=True)
    return found


def _with_earlier(judging: Judging, job: Job, found: Sequence[Judgement]) -> list[Judgement]:
    """Return judgements with those of earlier runs on the rest of the suite, as far as they still fit the answers."""
    today, kept = {each.id: each for each in found}, judging.log.kept()
    rows: list[Judgement] = []
    for question in judging.questions(job, job.every_task):
        row = today.get(question.id)
        if row is None and question.id in kept:
            row = settled_judgement(question, judging.wording, kept[question.id])
        rows += [row] if row is not None else []
    return rows


def _line(each: Judgement) -> str:
    told = f"{each.verdict} ({each.reason})" if each.reason else each.verdict
    return one_line(f"{each.model} · {each.word} · {each.prompt.upper()} · {each.judge}: {told}", 300)
