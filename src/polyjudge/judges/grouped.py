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
    judged_texts,
    render_context,
    rubric_fingerprint,
)
from polyjudge.verdicts.items import with_passed

from . import base
from .asking import Asker, ProviderSource, Question, Reading
from .judged_text import ReplyContext
from .parsing import JudgeJson, read_judge_json
from .reply_text import decode, first_turn, unfenced, without_reasoning
from .rubric import RubricJudge, read_verdict
from .verdict_objects import Query, checked

_MOST_EMPTY = 2
"""Calls without a usable row before the run stops, unless each item may be judged by itself."""


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One candidate of a batch."""

    candidate: str
    context: Mapping[str, Any]
    question: str = ""
    """An additional question about this candidate only."""

    @property
    def id(self) -> str:
        """A hash, which a judge cannot guess or confuse with another."""
        parts = [self.candidate, sorted((str(key), str(value)) for key, value in self.context.items())]
        return sha256(json.dumps(parts).encode()).hexdigest()[:8]


class BatchRow(NamedTuple):
    """The outcome of one item, and whether it is from a call about several items."""

    outcome: Outcome
    from_batch: bool


@dataclass(frozen=True, slots=True)
class GroupForm:
    """How several candidates are asked about."""

    template: str = "batch.txt"
    """The prompt, a file of `prompts`."""
    more: tuple[str, ...] = ()
    """Further texts of a row, such as a suggestion; each row is then kept as the raw reply of its result."""


class GroupedJudge:
    """Judges several candidates in one call, and those without a usable row each in a call of its own.

    With a model that does not return the ids, every item would need its own call, at many times the price. After two
    calls without a usable row, an `EmptyBatchesError` is raised.

    Args:
        rubric: The rubric.
        model: As for `RubricJudge`.
        provider: Used instead of the provider in the model's name.
        allow_single: Judge items one by one after any number of calls without a usable row.
        form: The prompt about several candidates, and what a row has beside its verdict. With further texts in a row,
            a single candidate is asked about in this form too.
    """

    def __init__(
        self,
        rubric: Rubric,
        model: str,
        *,
        provider: Provider | None = None,
        allow_single: bool = False,
        form: GroupForm | None = None,
    ) -> None:
        self.empty_batches = 0
        """Calls about several items without a usable row."""
        self._allow_single = allow_single
        self._form = form or GroupForm()
        self.rubric = rubric
        self.model = model
        self.fingerprint = rubric_fingerprint(rubric)
        self._renderer = PromptRenderer(rubric)
        self._template = (files("polyjudge.judges") / "prompts" / self._form.template).read_text(encoding="utf-8")
        self.asker = Asker(model, provider=provider)
        self._provider = provider
        self._alone: dict[str, RubricJudge] = {}

    models = property(base.models)

    def bind(self, source: ProviderSource) -> "GroupedJudge":
        """Return this judge with its provider opened by a run."""
        name = self.asker.name
        provider = source.open(name) if self._provider is None else source.around(self._provider, name)
        return GroupedJudge(
            self.rubric, name.model, provider=provider, allow_single=self._allow_single, form=self._form
        )

    async def outcomes(self, items: Sequence[BatchItem]) -> list[Outcome]:
        """Return the outcomes in the order of the items; those without a usable row are judged one by one."""
        return [row.outcome for row in await self.rows(items)]

    async def rows(self, items: Sequence[BatchItem]) -> list[BatchRow]:
        """Return the same outcomes as `outcomes`, and whether each is from a call about several items."""
        distinct = _by_id(items)
        if distinct is None:
            return [BatchRow(each, from_batch=False) for each in await together(map(self.alone, items))]
        if len(distinct) == 1 and not self._form.more:
            return [BatchRow(await self.alone(items[0]), from_batch=False)] * len(items)
        question = Question(
            self.prompt(list(distinct.values())),
            _schema(self.rubric, self._form.more),
            self.rubric.name,
            self.fingerprint,
        )
        found: dict[str, JudgeResult] = {}

        def read(reply: Reply) -> Reading:
            judged = tuple(text for item in distinct.values() for text in judged_texts(item.candidate, item.context))
            found.update(read_rows(self.rubric, reply, set(distinct), judged, keeps_rows=bool(self._form.more)))
            return {"score": 0.0, "reason": "", "parse_method": ""}

        whole = await self.asker.outcome(question, read)
        if isinstance(whole, Failure) and whole.kind not in ("unreadable", "refused"):
            return [BatchRow(whole, from_batch=False)] * len(items)
        if not found:
            self.note_empty_batches(1)
        missing = [item for item_id, item in distinct.items() if item_id not in found]
        single = await together(self.alone(item) for item in missing)
        rows = {item_id: BatchRow(_stamped(result, whole), from_batch=True) for item_id, result in found.items()}
        rows |= {item.id: BatchRow(outcome, from_batch=False) for item, outcome in zip(missing, single, strict=True)}
        return [rows[item.id] for item in items]

    def shares_a_call(self, items: Sequence[BatchItem]) -> bool:
        """Return whether these items are judged in one call; a single item, or items with the same id, are not."""
        return len(_by_id(items) or ()) > 1

    def note_empty_batches(self, count: int) -> None:
        """Count calls without a usable row; raise an error from the second one on."""
        self.empty_batches += count
        if count and self.empty_batches >= _MOST_EMPTY and not self._allow_single:
            raise EmptyBatchesError(
                f"{self.model} gave {self.empty_batches} unusable replies about several items: no row had a known id, "
                "exactly once, with a readable verdict"
            )

    async def alone(self, item: BatchItem) -> Outcome:
        """Return the outcome of one item that is judged by itself."""
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
        note = FENCE_NOTE.replace("{", "{{").replace("}", "}}")
        return fill_template(
            f"{note}\n\n{self._template}",
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
    """Return the items by their ids; None if two different items have the same id."""
    distinct = {item.id: item for item in items}
    return None if any(item != distinct[item.id] for item in items) else distinct


def with_question(rubric: Rubric, question: str) -> Rubric:
    """Return a rubric with an additional question, before the format of the answer."""
    if not question:
        return rubric
    before, mark, after = rubric.instruction.rpartition("Respond with JSON")
    escaped = question.replace("{", "{{").replace("}", "}}")
    return replace(rubric, instruction=f"{before}{escaped}\n\n{mark}{after}" if mark else f"{after}\n\n{escaped}")


def read_rows(
    rubric: Rubric, reply: Reply, wanted: set[str], judged: tuple[str, ...] = (), *, keeps_rows: bool = False
) -> dict[str, JudgeResult]:
    """Return the readable rows with a wanted id that occurs once; rows that are also in a judged text are ignored.

    `keeps_rows` stores each row as the raw reply of its result.
    """
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
                row_found = JudgeJson(checked(row, Query(keys, context)), found.parse_method, found.repaired)
                result = JudgeResult(**read_verdict(rubric, row_found), raw=json.dumps(row) if keeps_rows else "")
                results[item_id] = with_passed(rubric, result)
            except (ValueError, KeyError):  # a row without a verdict counts as missing
                continue
    return results


def _find_rows(reply: Reply, context: ReplyContext) -> JudgeJson:
    """Return the object with the rows, which may also be a list, with or without a code fence."""
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
        raise UnreadableReplyError("'rows' is not a list", text=reply.text)
    return found


def _item_text(item: BatchItem) -> str:
    question = f"\n{item.question}" if item.question else ""
    return f"## Candidate {item.id}{question}{render_context(item.context)}\n\nCandidate:\n{fence(item.candidate)}"


def _schema(rubric: Rubric, more: Sequence[str]) -> dict[str, Any]:
    row = answer_schema(rubric)
    properties = {"id": {"type": "string"}, **row["properties"], **{name: {"type": "string"} for name in more}}
    each = {**row, "properties": properties, "required": list(properties)}
    rows = {"type": "array", "items": each}
    return {"type": "object", "properties": {"rows": rows}, "required": ["rows"], "additionalProperties": False}


def _stamped(result: JudgeResult, whole: Outcome) -> Outcome:
    """Return a row's result with the provenance of the reply; if the call failed, its failure."""
    if isinstance(whole, Failure):
        return whole
    return replace(
        result, model=whole.model, duration_ms=whole.duration_ms, cached=whole.cached, provenance=whole.provenance
    )
