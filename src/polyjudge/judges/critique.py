"""Parse a critique more leniently than a verdict, because a critique without a score is still useful."""

import re
from collections.abc import Mapping
from typing import Any, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.text.numbers import fold_digits, plain_number

from .json_repair import mentions
from .judged_text import ReplyContext
from .parsing import parse_judge_json
from .reply_text import first_turn, labelled_values, without_lines, without_reasoning
from .statements import contradicting_statement, without_quoted_lines
from .verdict_selection import without_objects

_CRITIQUE = re.compile(
    r"^[*_`#\- \t]*(?:Critique|Reason)[*_` \t]*[:：](?P<text>.*?)(?=^[*_`#\- \t]*Score[*_` \t]*[:：=]|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"(?<![\w.,/])(?<!\d[-–—])[+-]?\d+(?:\.\d+)?(?:[ ]?/[ ]?100)?(?![\w/%]|[-–—.,]\d)")
_DASH_BEFORE_DIGIT = re.compile(r"(?<![\w\d])[–](?=\d)")
_DEEPEST = 3
"""Levels at which numbers are clamped: the object, its subscores, and lists in them."""


class Critique(dict[str, Any]):
    """The fields of a critique, under the judge's own keys."""

    def __init__(self, fields: dict[str, Any], read_as: str) -> None:
        super().__init__(fields)
        self.read_as = read_as
        """How it was parsed: 'json', 'lines', 'number', or 'nothing' if no field was found."""

    @property
    def score(self) -> float | None:
        """The score from 0 to 100, if there is one."""
        value = self.get("score")
        return value if isinstance(value, float) else None

    @property
    def reason(self) -> str:
        """The text of the critique."""
        return str(self.get("reason", ""))


def parse_critique(text: str, *, judged: tuple[str, ...] = ()) -> Critique:
    """Parse JSON, else `Score: N` and `Critique: …` lines, else a single number; numbers are clamped to 0–100.

    Args:
        text: The reply.
        judged: The texts in the prompt; a score quoted from them is not the judge's own.
    """
    context = ReplyContext(judged)
    answer = _DASH_BEFORE_DIGIT.sub("-", fold_digits(without_reasoning(first_turn(text))))
    lines = _labelled(answer, context)
    # JSON without a score is used only if no line has a score.
    for wanted in (("score",), ()) if "score" not in lines else (("score",),):
        try:
            return Critique(_read_fields(parse_judge_json(text, wanted, context=context)), "json")
        except UnreadableReplyError:
            continue
    if mentions(answer, ("score",)):  # JSON that could not be parsed: its score may differ from lines and numbers
        lines.pop("score", None)
        return Critique(lines, "lines" if lines else "nothing")
    if lines:
        return Critique(lines, "lines")
    numbers = _NUMBER.findall(answer)
    if len(numbers) == 1 and not labelled_values(answer, "score"):
        return Critique({"score": _clamped(float(numbers[0].partition("/")[0]))}, "number")
    return Critique({}, "nothing")


def _labelled(text: str, context: ReplyContext) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    values = [value for value in labelled_values(text, "score") if not context.has_line("score", value)]
    numbers = [number for value in values if (number := _number(value)) is not None]
    critiques = [match["text"] for match in _CRITIQUE.finditer(text)]
    if len(set(numbers)) == 1 and not _is_contradicted(numbers[0], text, context):
        fields["score"] = _clamped(numbers[0])
    if critiques:
        fields["reason"] = critiques[-1].strip(" \t\n*_`")
    return fields


def _is_contradicted(score: float, text: str, context: ReplyContext) -> bool:
    """Return whether the text besides the score and the critique states another score."""
    prose = without_lines(without_quoted_lines(without_objects(text), context), ("score",))
    return contradicting_statement({"score": score}, ("score",), _CRITIQUE.sub("", prose), context) is not None


def _number(written: str) -> float | None:
    """Return a score without a scale, or out of 100; None for another scale."""
    parts = plain_number(written)
    return None if parts is None or parts[1] not in (None, 100.0) else parts[0]


def _read_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = {key: _clamped_value(value) for key, value in fields.items()}
    if isinstance(read.get("score"), str):
        number = _number(read["score"])
        return read if number is None else {**read, "score": _clamped(number)}
    return read


def _clamped(number: float) -> float:
    return float(max(0, min(100, number)))


def _clamped_value(value: object, depth: int = 0) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _clamped(value)
    if depth < _DEEPEST and isinstance(value, dict):
        return {key: _clamped_value(each, depth + 1) for key, each in cast(dict[str, object], value).items()}
    if depth < _DEEPEST and isinstance(value, list):
        return [_clamped_value(each, depth + 1) for each in cast(list[object], value)]
    return value
