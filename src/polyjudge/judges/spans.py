"""Ask a judge where a text is wrong: error spans, each located in its text or refused, and the score that follows."""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from polyjudge.errors import ConfigError, UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.outcomes import Failure, JudgeResult, Outcome
from polyjudge.records.requests import ModelName, Reply
from polyjudge.records.rubrics import Rubric, SpanRules
from polyjudge.records.spans import VERIFICATION, ErrorSpan, SpanSeverity, SpanSide, annotator_name
from polyjudge.rubrics.loading import check_rubric, load_rubric
from polyjudge.rubrics.penalties import penalty_of
from polyjudge.rubrics.prompts import PromptRenderer, answer_schema, judged_texts, rubric_fingerprint
from polyjudge.text.quotes import locate
from polyjudge.verdicts.items import with_passed
from polyjudge.verdicts.span_consensus import check_consensus, joint_spans

from . import base
from .asking import Asker, ProviderSource, Question, Reading
from .judged_text import ReplyContext
from .parsing import read_judge_json
from .rubric import read_number
from .span_checks import SpanVerifier, checked_span

MOST_SPANS = 200
"""Errors in one reply; a reply with more is no annotation of a text."""
_NAMED = 5
_SIDES: Mapping[str, SpanSide] = {
    **dict.fromkeys(("output", "translation", "target", "candidate"), "output"),
    "source": "source",
}


class SpanJudge:
    """Asks a model to mark the errors in a text, and locates each of them.

    The result's `spans` are those that the judge proposed: `located` ones have their place in the text or in the
    source, others the reason why they have none. Our own checks confirm or reject what they can decide, and so does
    the verifier, if there is one. Only spans that have a place and are not rejected count in the score.

    Args:
        rubric: A rubric with rules for spans, by default `mqm`; or the name of one.
        model: An alias, by default "opus", or "provider/model". With `provider` it is passed on unchanged.
        system: System prompt.
        cache_db: SQLite file, or URL of PostgreSQL, that stores all replies.
        provider: Used instead of the provider in the model's name.
        max_tokens: Maximum tokens of a reply; None for the provider's own limit.
        verifier: A second judge that confirms or rejects each span without knowing what was said about it; by default
            the model that the rubric names, if it names one.
    """

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync
    judge = base.judge

    def __init__(
        self,
        rubric: Rubric | str = "mqm",
        model: str | ModelName = "",
        system: str = "",
        cache_db: Path | str | None = None,
        provider: Provider | None = None,
        max_tokens: int | None = None,
        verifier: SpanVerifier | None = None,
    ) -> None:
        self.rubric = load_rubric(rubric) if isinstance(rubric, str) else rubric
        check_rubric(self.rubric)
        self._rules = span_rules(self.rubric)
        if self._rules.consensus is not None:
            check_consensus(self._rules.consensus)
        self._renderer = PromptRenderer(self.rubric)
        self._schema = answer_schema(self.rubric)
        self.verifier = verifier or (SpanVerifier(self._rules.verifier, cache_db) if self._rules.verifier else None)
        self.fingerprint = rubric_fingerprint(self.rubric)
        self.asker = Asker(model, system=system, cache_db=cache_db, provider=provider, max_tokens=max_tokens)
        self.model = self.asker.given_model

    @property
    def models(self) -> base.ModelAddresses:
        """The judge's model with its address; that of the verifier is a part of the rubric."""
        return (self.asker.model(),)

    def bind(self, source: ProviderSource) -> "SpanJudge":
        """Return this judge with its providers opened by a run."""
        bound = copy(self)
        bound.asker = self.asker.bind(source)
        bound.verifier = self.verifier.bind(source) if self.verifier is not None else None
        return bound

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the errors of one candidate and its score, or a failure with its reason."""
        fields = context or {}
        question = Question(
            self.build_prompt(candidate, context), self._schema, self.rubric.name, self.fingerprint, repeat
        )
        read = partial(self._read, candidate=candidate, context=fields)
        outcome = await self.asker.outcome(question, read)
        if isinstance(outcome, JudgeResult) and self.verifier is not None and any(map(counts, outcome.spans)):
            spans, second = await self.verifier.verdicts(outcome.spans, candidate, fields, repeat)
            failed = f"\nNot verified: {second.reason}" if isinstance(second, Failure) else ""
            score = outcome.score if self.rubric.overall else self._score(spans)
            outcome = replace(outcome, spans=spans, score=score, reason=reason_of(spans) + failed, members=(second,))
        return with_passed(self.rubric, outcome)

    async def aclose(self) -> None:
        """Close the providers' connections; the next question opens new ones."""
        await self.asker.aclose()
        if self.verifier is not None:
            await self.verifier.aclose()

    def joint(self, outcome: JudgeResult, candidate: str, context: Mapping[str, Any] | None = None) -> JudgeResult:
        """Return the result of several judges of spans with their spans combined, and the score that follows."""
        fields = context or {}
        source, language = str(fields.get("source", "")), str(fields.get("language", ""))
        spans = joint_spans(proposals(outcome), candidate, source, language, self._rules.consensus)
        score = outcome.score if self.rubric.overall else self._score(spans)
        return replace(outcome, spans=spans, score=score, reason=reason_of(spans))

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        return self._renderer.render(candidate, context)

    def _read(self, reply: Reply, candidate: str, context: Mapping[str, Any]) -> Reading:
        wanted = ["errors", "score"] if self.rubric.overall else ["errors"]
        found = read_judge_json(
            reply.text,
            wanted,
            schema_enforced=reply.schema_enforced,
            cut_off=reply.finish == "length",
            context=ReplyContext(judged_texts(candidate, context), self.rubric.scale),
        )
        if found.repaired:  # a list that was cut off has lost errors, and nothing shows how many
            raise UnreadableReplyError("the list of errors is not valid JSON", text=reply.text)
        try:
            proposed = self._proposed(found.value["errors"])
            stated = read_number(found.value["score"], self.rubric.scale, "score") if self.rubric.overall else None
        except ValueError as error:
            raise UnreadableReplyError(str(error), text=reply.text) from None
        source = str(context.get("source", ""))
        spans = _without_repeated([_located(span, before, candidate, source) for span, before in proposed])
        spans = tuple(checked_span(span, candidate, source) for span in spans)
        return {
            "score": self._score(spans) if stated is None else stated,
            "reason": reason_of(spans),
            "parse_method": found.parse_method,
            "spans": spans,
        }

    def _score(self, spans: Sequence[ErrorSpan]) -> float:
        """Return the highest score less the penalties of the spans that count, but not below the scale."""
        total = sum(penalty_of(span.category, span.severity, self._rules.penalties) for span in spans if counts(span))
        return max(float(self.rubric.scale.lowest), self.rubric.scale.highest - round(total, 9))

    def _proposed(self, errors: object) -> list[tuple[ErrorSpan, str]]:
        """Return the spans of a reply, each with the words before it; raise `ValueError` for anything else."""
        if not isinstance(errors, list):
            raise ValueError(f"'errors' must be a list, not {str(errors)[:80]!r}")
        entries = cast(list[object], errors)
        if len(entries) > MOST_SPANS:
            raise ValueError(f"{len(entries)} errors; at most {MOST_SPANS} can be right in one text")
        return [self._one(entry, number) for number, entry in enumerate(entries, start=1)]

    def _one(self, entry: object, number: int) -> tuple[ErrorSpan, str]:
        if not isinstance(entry, dict):
            raise ValueError(f"error {number} is not an object")
        fields = {str(key).strip().casefold(): value for key, value in cast(dict[object, object], entry).items()}
        texts = {
            name: _text(fields.get(name), name, number) for name in ("text", "before", "explanation", "correction")
        }
        severity = _text(fields.get("severity"), "severity", number).strip().casefold()
        if severity not in self._rules.severities:
            raise ValueError(
                f"error {number}: the severity {severity[:40]!r} is not {', '.join(self._rules.severities)}"
            )
        side = _SIDES.get(_text(fields.get("in"), "in", number).strip().casefold() or "output")
        if side is None:
            raise ValueError(f"error {number}: 'in' must be output or source")
        span = ErrorSpan(
            text=texts["text"],
            severity=cast(SpanSeverity, severity),
            side=side,
            category=self._category(_text(fields.get("category"), "category", number)),
            explanation=texts["explanation"].strip(),
            correction=texts["correction"].strip(),
            state="proposed",
        )
        return span, texts["before"]

    def _category(self, given: str) -> str:
        """Return a category as the rubric writes it; one that it does not have stays as the judge wrote it."""
        folded = given.strip().casefold()
        names = [criterion.name for criterion in self.rubric.criteria]
        for name in names:
            if name.casefold() == folded or name.casefold().rpartition("/")[2] == folded:
                return name
        return given.strip()


def span_rules(rubric: Rubric) -> SpanRules:
    """Return the rules of a rubric for error spans."""
    if rubric.spans is None:
        raise ConfigError(f"the rubric {rubric.name!r} is not for error spans; use mqm or esa", option="rubric")
    return rubric.spans


def proposals(outcome: JudgeResult) -> dict[str, tuple[ErrorSpan, ...]]:
    """Return the spans of each member of a jury, by name; those of a member that was asked repeatedly, by repeat."""
    found: dict[str, tuple[ErrorSpan, ...]] = {}
    for each in outcome.members:
        origin = each.provenance
        if isinstance(each, Failure) or (origin is not None and origin.rubric == VERIFICATION):
            continue  # a second judge only confirms
        named = annotator_name(origin.provider, origin.model, origin.repeat) if origin else each.model or "judge"
        own = proposals(each) or {named: each.spans}
        for name, spans in own.items():
            number = 0
            while (unique := f"{name} ({number + 1})" if number else name) in found:
                number += 1
            found[unique] = spans
    return found


def counts(span: ErrorSpan) -> bool:
    """Return whether a span counts in a score: it has a place, and nothing rejected it."""
    return span.counts


def reason_of(spans: Sequence[ErrorSpan]) -> str:
    """Return the errors in words."""
    counted = [span for span in spans if counts(span)]
    lines = [_described(span) for span in counted[:_NAMED]]
    if len(counted) > _NAMED:
        lines.append(f"{len(counted) - _NAMED} more")
    refused = Counter(span.refusal for span in spans if span.refusal)
    lines += [f"not counted: {number} proposed, {why}" for why, number in sorted(refused.items())]
    rejected = sum(span.state == "rejected" for span in spans)
    if rejected:
        lines.append(f"not counted: {rejected} rejected")
    return "; ".join(lines) if counted else "; ".join(["no errors", *lines])


def _described(span: ErrorSpan) -> str:
    where = " in the source" if span.side == "source" else ""
    named = " ".join(filter(None, [span.severity, span.category]))
    return f"{named}: {span.text[:60]!r}{where}{f' ({span.explanation})' if span.explanation else ''}"


def _text(value: object, name: str, number: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"error {number}: {name!r} must be a text, not {str(value)[:40]!r}")
    return unicodedata.normalize("NFC", value) if name not in ("text", "before") else value


def _located(span: ErrorSpan, before: str, candidate: str, source: str) -> ErrorSpan:
    """Return a span at its place in its text, or with the reason why it has none."""
    text, other = (candidate, source) if span.side == "output" else (source, candidate)
    found = locate(span.text, text, before=before, other=other)
    if found.start is None:
        return replace(span, refusal=found.refusal)
    marked = text[found.start : found.end]
    quote = span.text if span.text != marked else ""
    return replace(
        span, text=marked, start=found.start, end=found.end, state="located", method=found.method, quote=quote
    )


def _without_repeated(spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    """Return the spans by place, each place and category once, with the highest severity that was given to it."""
    order = ("minor", "major", "critical")
    kept: dict[object, ErrorSpan] = {}
    for number, span in enumerate(spans):
        key = number if span.start is None else (span.side, span.start, span.end, span.category)
        if key not in kept or order.index(span.severity) > order.index(kept[key].severity):
            kept[key] = span
    return sorted(kept.values(), key=lambda span: (span.start is None, span.side, span.start or 0, span.end or 0))
