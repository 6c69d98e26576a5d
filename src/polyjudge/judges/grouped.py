"""Judge several candidates in one call."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from polyjudge.concurrency.pool import together
from polyjudge.errors import EmptyBatchesError, UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.outcomes import Failure, JudgeResult, Outcome
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.prompts import (
    FENCE_NOTE,
    PromptRenderer,
    answer_schema,
    fence,
    fill_template,
    render_context,
    rubric_fingerprint,
)
from polyjudge.verdicts.items import with_passed

from . import base
from .base import Asker, Question, Reading
from .binding import ProviderSource
from .choosing import Query, checked
from .judged_text import ReplyContext, judged_texts
from .parsing import JudgeJson, read_judge_json
from .reply_text import decode, first_turn, unfenced, without_reasoning
from .rubric import RubricJudge, read_verdict

_MOST_EMPTY = 2
"""Calls without a usable row after which no further one is made, unless each item may be asked about alone."""


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One candidate of a batch."""

    candidate: str
    context: Mapping[str, Any]
    question: str = ""
    """What is to be asked about this one in particular."""

    @property
    def id(self) -> str:
        """A name that says nothing: a judge cannot guess it, and cannot take it for another's."""
        parts = [self.candidate, sorted((str(key), str(value)) for key, value in self.context.items())]
        return sha256(json.dumps(parts).encode()).hexdigest()[:8]


class BatchRow(NamedTuple):
    """The outcome of one item, and whether it is a row of a call about several."""

    outcome: Outcome
    from_batch: bool


class GroupedJudge:
    """Asks about several candidates at once, and about those alone that came back amiss.

    A model that cannot keep to the ids would be asked about every item alone, at many times the price. After two calls
    without a usable row that is an `EmptyBatchesError`.

    Args:
        rubric: What to score.
        model: As for `RubricJudge`.
        provider: Who answers, instead of the provider that the model's name stands for.
        allow_single: Ask alone for what batches do not answer, however many of them have no usable row.
    """

    def __init__(
        self, rubric: Rubric, model: str, *, provider: Provider | None = None, allow_single: bool = False
    ) -> None:
        self.empty_batches = 0
        """Calls about several items that brought no usable row."""
        self._allow_single = allow_single
        self.rubric = rubric
        self.model = model
        self.fingerprint = rubric_fingerprint(rubric)
        self._renderer = PromptRenderer(rubric)
        self.asker = Asker(model, provider=provider)
        self._provider = provider
        self._alone: dict[str, RubricJudge] = {}

    models = property(base.models)

    def bind(self, source: ProviderSource) -> "GroupedJudge":
        """Return this judge with its provider opened by a run."""
        name = self.asker.name
        provider = source.open(name) if self._provider is None else source.around(self._provider, name)
        return GroupedJudge(self.rubric, name.model, provider=provider, allow_single=self._allow_single)

    async def outcomes(self, items: Sequence[BatchItem]) -> list[Outcome]:
        """Return one outcome for each item, in order; rows missing, doubled or unreadable are asked for alone."""
        return [row.outcome for row in await self.rows(items)]

    async def rows(self, items: Sequence[BatchItem]) -> list[BatchRow]:
        """Return what `outcomes` does, with where each outcome comes from."""
        distinct = _by_id(items)
        if distinct is None:
            return [BatchRow(each, from_batch=False) for each in await together(map(self.alone, items))]
        if len(distinct) == 1:
            return [BatchRow(await self.alone(items[0]), from_batch=False)] * len(items)
        question = Question(
            self.prompt(list(distinct.values())), _schema(self.rubric), self.rubric.name, self.fingerprint
        )
        found: dict[str, JudgeResult] = {}

        def read(reply: Reply) -> Reading:
            judged = tuple(text for item in distinct.values() for text in judged_texts(item.candidate, item.context))
            found.update(read_rows(self.rubric, reply, set(distinct), judged))
            return {"score": 0.0, "reason": "", "rung": ""}

        whole = await self.asker.outcome(question, read)
        if isinstance(whole, Failure) and whole.kind not in ("unreadable", "refused"):
            return [BatchRow(whole, from_batch=False)] * len(items)
        if not found:
            self.note_empty_batches(1)
        amiss = [item for item_id, item in distinct.items() if item_id not in found]
        again = await together(self.alone(item) for item in amiss)
        rows = {item_id: BatchRow(_stamped(result, whole), from_batch=True) for item_id, result in found.items()}
        rows |= {item.id: BatchRow(outcome, from_batch=False) for item, outcome in zip(amiss, again, strict=True)}
        return [rows[item.id] for item in items]

    def shares_a_call(self, items: Sequence[BatchItem]) -> bool:
        """Say whether these items are asked about in one call; a single one, or two with one id, are not."""
        return len(_by_id(items) or ()) > 1

    def note_empty_batches(self, count: int) -> None:
        """Count calls that brought no usable row; after two of them, no further one is made."""
        self.empty_batches += count
        if count and self.empty_batches >= _MOST_EMPTY and not self._allow_single:
            told = "none of their rows had a known id, once, with a verdict that can be read"
            raise EmptyBatchesError(
                f"{self.model} gave {self.empty_batches} unusable replies about several items: {told}"
            )

    async def alone(self, item: BatchItem) -> Outcome:
        """Return the outcome of one item asked about by itself."""
        return await self._judge_alone(item).outcome(item.candidate, item.context)

    def prompt_alone(self, item: BatchItem) -> str:
        """Return the prompt that would be sent about one item by itself."""
        return self._judge_alone(item).build_prompt(item.candidate, item.context)

    def _judge_alone(self, item: BatchItem) -> RubricJudge:
        if item.question not in self._alone:
            rubric = with_question(self.rubric, item.question)
            self._alone[item.question] = RubricJudge(rubric, model=self.model, provider=self._provider)
        return self._alone[item.question]

    def prompt(self, items: Sequence[BatchItem]) -> str:
        """Return the prompt that would be sent about several items."""
        template = (files("polyjudge.judges") / "prompts" / "batch.txt").read_text(encoding="utf-8")
        note = FENCE_NOTE.replace("{", "{{").replace("}", "}}")
        return fill_template(
            f"{note}\n\n{template}",
            criteria=self._renderer.criteria,
            items="\n\n".join(map(_item_text, items)),
            subscores_schema=self._renderer.subscores_form,
            flags_schema="".join(f', "{flag.name}": <true or false>' for flag in self.rubric.flags),
        )

    async def aclose(self) -> None:
        """Close connections; the next question opens new ones."""
        await self.asker.aclose()
        for judge in self._alone.values():
            await judge.aclose()


def _by_id(items: Sequence[BatchItem]) -> dict[str, BatchItem] | None:
    """Return the items by their ids; None if two have the same id, by chance or because their texts were made to."""
    distinct = {item.id: item for item in items}
    return None if any(item != distinct[item.id] for item in items) else distinct


def with_question(rubric: Rubric, question: str) -> Rubric:
    """Return a rubric that asks one thing more, before the form of the answer."""
    if not question:
        return rubric
    before, mark, after = rubric.instruction.rpartition("Respond with JSON")
    escaped = question.replace("{", "{{").replace("}", "}}")
    return replace(rubric, instruction=f"{before}{escaped}\n\n{mark}{after}" if mark else f"{after}\n\n{escaped}")


def read_rows(rubric: Rubric, reply: Reply, wanted: set[str], judged: tuple[str, ...] = ()) -> dict[str, JudgeResult]:
    """Return the rows of a reply that have one of the ids, once, and can be read; rows of a judged text are no rows."""
    context = ReplyContext(judged, rubric.scale)
    found = _find_rows(reply, context)
    objects = [cast(dict[str, Any], row) for row in found.value["rows"] if isinstance(row, dict)]
    times = Counter(str(row.get("id")) for row in objects)
    keys = tuple(key for key in answer_schema(rubric)["properties"] if key != "reason")
    results: dict[str, JudgeResult] = {}
    for row in objects:
        item_id = str(row.get("id"))
        if item_id in wanted and times[item_id] == 1 and not context.has_object(row):
            try:
                row_found = JudgeJson(checked(row, Query(keys, context)), found.rung, found.repaired)
                results[item_id] = with_passed(rubric, JudgeResult(**read_verdict(rubric, row_found)))
            except (ValueError, KeyError):  # no verdict in this row: it is asked for again, like a missing one
                continue
    return results


def _find_rows(reply: Reply, context: ReplyContext) -> JudgeJson:
    """Return the object with the rows; a bare list of them, in a fence perhaps, is taken as well."""
    bare = unfenced(without_reasoning(first_turn(reply.text)).strip())
    if bare.startswith("[") and bare.endswith("]"):
        try:
            return JudgeJson({"rows": decode(bare)}, "unwrapped")
        except (ValueError, RecursionError):
            pass
    is_cut = reply.finish == "length"
    enforced = reply.schema_enforced
    found = read_judge_json(reply.text, ["rows"], schema_enforced=enforced, cut_off=is_cut, context=context)
    if not isinstance(found.value["rows"], list):
        raise UnreadableReplyError("the rows are no list", text=reply.text)
    return found


def _item_text(item: BatchItem) -> str:
    asked = f"\n{item.question}" if item.question else ""
    return f"## Candidate {item.id}{asked}{render_context(item.context)}\n\nCandidate:\n{fence(item.candidate)}"


def _schema(rubric: Rubric) -> dict[str, Any]:
    row = answer_schema(rubric)
    properties = {"id": {"type": "string"}, **row["properties"]}
    each = {**row, "properties": properties, "required": list(properties)}
    rows = {"type": "array", "items": each}
    return {"type": "object", "properties": {"rows": rows}, "required": ["rows"], "additionalProperties": False}


def _stamped(result: JudgeResult, whole: Outcome) -> Outcome:
    """Return a row's result with where the whole reply came from; a reply that failed has no rows."""
    if isinstance(whole, Failure):
        return whole
    return replace(
        result, model=whole.model, duration_ms=whole.duration_ms, cached=whole.cached, provenance=whole.provenance
    )
