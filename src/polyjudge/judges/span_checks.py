"""Verify error spans: by our own checks, and by a second judge that does not know what was said about them."""

import unicodedata
from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from polyjudge.checks.numbers import lost_numbers, number_texts
from polyjudge.errors import UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Outcome
from polyjudge.records.requests import Reply
from polyjudge.records.spans import VERIFICATION, ErrorSpan
from polyjudge.rubrics.prompts import FENCE_NOTE, fence, fill_template, judged_texts, render_context

from . import base
from .asking import Asker, ProviderSource, Question, Reading
from .choice import read_prompt
from .judged_text import ReplyContext
from .parsing import read_judge_json

_AROUND = 40
_CACHED_TEXTS = 4


def checked_span(span: ErrorSpan, candidate: str, source: str) -> ErrorSpan:
    """Return a located span, confirmed or rejected where the texts themselves decide."""
    if span.state != "located":
        return span
    if span.correction and _plain(span.correction) == _plain(span.text):
        return _rejected(span, "the correction is the marked text")
    category, words = span.category.casefold(), _plain(span.text).casefold()
    ours, theirs = _folded(candidate), _folded(source)
    if "untranslated" in category and span.side == "output" and source:
        if words in theirs:
            return _confirmed(span, "the source has these words")
        return _rejected(span, "the source does not have these words")
    if "omission" in category and span.side == "source" and ours.count(words) >= theirs.count(words):
        return _rejected(span, "the text has these words")
    if category.endswith("number") and span.side == "output" and source:
        return _checked_number(span, candidate, source)
    return span


def _checked_number(span: ErrorSpan, candidate: str, source: str) -> ErrorSpan:
    """Confirm an error in a number that the source does not have; reject one where all numbers are the same."""
    marked, theirs = number_texts(span.text), _numbers(source)
    if not marked:
        return span
    if _are_numbers_lost(candidate, source):
        is_other = any(number not in theirs for number in marked)
        return _confirmed(span, "the source has another number") if is_other else span
    return _rejected(span, "the source has these numbers, too") if theirs.issuperset(marked) else span


def _confirmed(span: ErrorSpan, why: str) -> ErrorSpan:
    return replace(span, state="confirmed", verification=f"checks: {why}")


def _rejected(span: ErrorSpan, why: str) -> ErrorSpan:
    return replace(span, state="rejected", verification=f"checks: {why}")


# Texts are the same for all spans of a reply, and may be long.


@lru_cache(maxsize=_CACHED_TEXTS)
def _folded(text: str) -> str:
    return _plain(text).casefold()


@lru_cache(maxsize=_CACHED_TEXTS)
def _numbers(text: str) -> frozenset[str]:
    return frozenset(number_texts(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _are_numbers_lost(candidate: str, source: str) -> bool:
    return any(lost_numbers(candidate, source))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


class SpanVerifier:
    """Asks a model about each located span whether there is an error in it, without severity and explanation.

    Args:
        model: An alias, or "provider/model". With `provider` it is passed on unchanged.
        cache_db: SQLite file, or URL of PostgreSQL, that stores all replies.
        provider: Used instead of the provider in the model's name.
    """

    models = property(base.models)
    aclose = base.aclose

    def __init__(self, model: str = "", cache_db: Path | str | None = None, provider: Provider | None = None) -> None:
        self._template = read_prompt(VERIFICATION)
        self.fingerprint = fingerprint([self._template], 16)
        self.asker = Asker(model, cache_db=cache_db, provider=provider)
        self.model = self.asker.given_model

    def bind(self, source: ProviderSource) -> "SpanVerifier":
        """Return this verifier with its provider opened by a run."""
        bound = copy(self)
        bound.asker = self.asker.bind(source)
        return bound

    async def verdicts(
        self, spans: Sequence[ErrorSpan], candidate: str, context: Mapping[str, Any], repeat: int = 0
    ) -> tuple[tuple[ErrorSpan, ...], Outcome]:
        """Return the spans, confirmed or rejected, and the outcome of the question; a failure changes no span."""
        asked = {number: span for number, span in enumerate(spans, start=1) if span.state == "located"}
        if not asked:
            return tuple(spans), Failure("nothing to verify", "not_recorded")
        found: dict[int, tuple[bool, str]] = {}

        def read(reply: Reply) -> Reading:
            found.update(_read_verdicts(reply, set(asked), judged_texts(candidate, context)))
            share = sum(is_error for is_error, _ in found.values()) / len(found)
            return {"score": share, "reason": f"{len(found)} verified", "parse_method": "json"}

        prompt = self.build_prompt(asked, candidate, context)
        outcome = await self.asker.outcome(Question(prompt, _schema(), VERIFICATION, self.fingerprint, repeat), read)
        if isinstance(outcome, Failure):
            return tuple(spans), outcome
        return tuple(self._with_verdict(span, found.get(place)) for place, span in enumerate(spans, start=1)), outcome

    def build_prompt(self, spans: Mapping[int, ErrorSpan], candidate: str, context: Mapping[str, Any]) -> str:
        """Return the prompt that would be sent."""
        source = str(context.get("source", ""))
        listed = "\n".join(_shown(number, span, candidate, source) for number, span in spans.items())
        filled = fill_template(
            self._template, context=render_context(context), candidate=fence(candidate), spans=listed
        )
        return f"{FENCE_NOTE}\n\n{filled}"

    def _with_verdict(self, span: ErrorSpan, verdict: tuple[bool, str] | None) -> ErrorSpan:
        if verdict is None:
            return span
        is_error, reason = verdict
        said = f"{self.asker.name}: {reason}" if reason else str(self.asker.name)
        return replace(span, state="confirmed" if is_error else "rejected", verification=said)


def _shown(number: int, span: ErrorSpan, candidate: str, source: str) -> str:
    text = candidate if span.side == "output" else source
    start, end = span.start or 0, span.end or 0
    around = f"{text[max(0, start - _AROUND) : start]}[[{text[start:end]}]]{text[end : end + _AROUND]}"
    where = "in the translation" if span.side == "output" else "in the source, as something left out or wrong there"
    return f"{number}. {where}:\n{fence(around)}"


def _schema() -> dict[str, Any]:
    properties = {"number": {"type": "integer"}, "is_error": {"type": "boolean"}, "reason": {"type": "string"}}
    verdict = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    verdicts = {"verdicts": {"type": "array", "items": verdict}}
    return {"type": "object", "properties": verdicts, "required": ["verdicts"], "additionalProperties": False}


def _read_verdicts(reply: Reply, asked: set[int], judged: tuple[str, ...]) -> dict[int, tuple[bool, str]]:
    """Return the verdict on each span; a reply that leaves out one, or decides one twice, is unreadable."""
    found = read_judge_json(
        reply.text,
        ["verdicts"],
        schema_enforced=reply.schema_enforced,
        cut_off=reply.finish == "length",
        context=ReplyContext(judged),
    )
    rows: object = found.value["verdicts"]
    verdicts: dict[int, tuple[bool, str]] = {}
    for row in cast(list[object], rows) if isinstance(rows, list) else []:
        fields = cast(dict[str, object], row) if isinstance(row, dict) else {}
        number, is_error = fields.get("number"), fields.get("is_error")
        if not isinstance(number, int) or not isinstance(is_error, bool) or number not in asked:
            shown = repr(cast(object, row))[:80]
            raise UnreadableReplyError(f"{shown} is not a verdict on one of the marked spans", text=reply.text)
        reason = str(fields.get("reason") or "")
        if verdicts.setdefault(number, (is_error, reason))[0] != is_error:
            raise UnreadableReplyError(f"two verdicts on span {number}", text=reply.text)
    missing = sorted(asked - verdicts.keys())
    if missing:
        raise UnreadableReplyError(f"no verdict on span {', '.join(map(str, missing))}", text=reply.text)
    return verdicts
