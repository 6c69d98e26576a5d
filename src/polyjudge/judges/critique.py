"""Read a critique: looser than a verdict, because a critique with no readable score is still worth having."""

import re
from collections.abc import Mapping
from typing import Any, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.text import fold_digits, plain_number

from .asides import without_asides
from .labelled_lines import labelled_values
from .reading import parse_judge_json

_CRITIQUE = re.compile(
    r"^[*_`#\- \t]*(?:Critique|Reason)[*_` \t]*[:：](?P<text>.*?)(?=^[*_`#\- \t]*Score[*_` \t]*[:：=]|\Z)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"(?<![\w.,/])[+-]?\d+(?:\.\d+)?(?:[ ]?/[ ]?100)?(?![\w/]|[.,]\d)")
_DEEPEST = 3
"""How deep numbers are clamped: the object, its subscores, and lists in them."""


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
    answer = fold_digits(without_asides(text))
    lines = _labelled(answer)
    # JSON with a score comes first; without one it comes after lines that have one.
    for wanted in (("score",), ()) if "score" not in lines else (("score",),):
        try:
            return Critique(_read_fields(parse_judge_json(text, wanted)), "json")
        except UnreadableReplyError:
            continue
    if lines:
        return Critique(lines, "lines")
    numbers = _NUMBER.findall(answer)
    if len(numbers) == 1:
        return Critique({"score": _clamped(float(numbers[0].partition("/")[0]))}, "number")
    return Critique({}, "nothing")


def _labelled(text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    numbers = [number for value in labelled_values(text, "score") if (number := _score(value)) is not None]
    if numbers:
        fields["score"] = numbers[-1]
    critiques = [match["text"] for match in _CRITIQUE.finditer(text)]
    if critiques:
        fields["reason"] = critiques[-1].strip(" \t\n*_`")
    return fields


def _score(written: str) -> float | None:
    """Return a score that stands alone, or out of 100; of another scale it means something else."""
    parts = plain_number(written)
    return None if parts is None or parts[1] not in (None, 100.0) else _clamped(parts[0])


def _read_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = {key: _clamped_value(value) for key, value in fields.items()}
    if isinstance(read.get("score"), str):
        number = _score(read["score"])
        return read if number is None else {**read, "score": number}
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
