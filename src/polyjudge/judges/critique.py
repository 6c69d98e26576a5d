"""Read a critique: looser than a verdict, because a critique with no readable score is still worth having."""

import re
from typing import Any, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.text import fold_digits

from .asides import without_asides
from .reading import parse_judge_json

_SCORE = re.compile(r"\bScore\b[*_` ]*[:：=][*_` ]*([+-]?\d+(?:\.\d+)?)(?:[ ]*/[ ]*(\d+))?(?![\d.]*\d)", re.IGNORECASE)
_CRITIQUE = re.compile(
    r"\b(?:Critique|Reason)\b[*_` ]*[:：](?P<text>.*?)(?=\bScore\b[*_` ]*[:：=]|\Z)", re.DOTALL | re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:[ ]*/[ ]*100\b)?(?![\w]|\.\d)")


class Critique(dict[str, Any]):
    """What a critique says, under the judge's own keys; `read_as` says how it was read."""

    def __init__(self, fields: dict[str, Any], read_as: str) -> None:
        super().__init__(fields)
        self.read_as = read_as
        """'json', 'lines', 'number', or 'nothing' when there was nothing to read."""

    @property
    def score(self) -> float | None:
        """The score from 0 to 100, if the critique gives one."""
        value = self.get("score")
        return value if isinstance(value, float) else None

    @property
    def reason(self) -> str:
        """The critique in words."""
        return str(self.get("reason", ""))


def parse_critique(text: str) -> Critique:
    """Read JSON, else `Score: N` and `Critique: …` lines, else a lone number; numbers are clamped to 0–100."""
    try:
        return Critique(_clamped_values(parse_judge_json(text)), "json")
    except UnreadableReplyError:
        answer = fold_digits(without_asides(text))
    if lines := _labelled(answer):
        return Critique(lines, "lines")
    numbers = _NUMBER.findall(answer)
    if len(numbers) == 1:
        return Critique({"score": _clamped(float(numbers[0].partition("/")[0]))}, "number")
    return Critique({}, "nothing")


def _labelled(text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    scores = [match[1] for match in _SCORE.finditer(text) if match[2] in (None, "100")]
    if scores:
        fields["score"] = _clamped(float(scores[-1]))
    critiques = [match["text"] for match in _CRITIQUE.finditer(text)]
    if critiques:
        fields["reason"] = critiques[-1].strip(" \t\n*_`")
    return fields


def _clamped(number: float) -> float:
    return max(0.0, min(100.0, float(number)))


def _clamped_values(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: _clamped_value(value) for key, value in fields.items()}


def _clamped_value(value: object) -> object:
    if isinstance(value, dict):
        return _clamped_values(cast(dict[str, Any], value))
    return _clamped(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
