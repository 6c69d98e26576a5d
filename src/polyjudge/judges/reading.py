"""Read a judge's reply: one ladder, from the strictest reading to the loosest, and the result says which rung held.

    schema      the provider held the reply to a schema, and the whole of it is the object asked for
    json        the whole reply is JSON
    unwrapped   it is, once reasoning and a code fence are taken off
    embedded    the last object with the wanted keys, among other text
    repaired    broken JSON that can mean only one thing
    lines       `Score: 85` on lines of their own (only for judges, which know what they want)

The last verdict counts, since judges think aloud and quote the candidate first. A reply that holds two
different verdicts with no telling which is meant is unreadable: no verdict is better than a wrong one.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.text import plain_number

from .asides import without_asides
from .labelled_lines import labelled_values
from .repairing import mentions, repair_object
from .scanning import Span, find_objects

_PLACEHOLDER = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class JudgeJson:
    """The object found in a reply, and how it was found."""

    value: dict[str, Any]
    rung: str
    repaired: bool = False


def parse_judge_json(text: str, wanted: Iterable[str] = ()) -> dict[str, Any]:
    """Return the judge's JSON object; the last one that has the `wanted` keys counts."""
    return read_judge_json(text, wanted).value


def read_judge_json(
    text: str, wanted: Iterable[str] = (), *, schema_enforced: bool = False, cut_off: bool = False
) -> JudgeJson:
    """Return the judge's JSON object with the rung it was found on; without one, raise `UnreadableReplyError`.

    A reply known to be `cut_off` that goes on with another brace after its verdict may have been about to change it.
    """
    keys = tuple(wanted)
    try:
        return _climb(text, keys, schema_enforced, cut_off)
    except _UnreadableError as error:
        raise UnreadableReplyError(f"{error}: {_shortened(text)}", text=text) from None


def read_reply(
    text: str,
    wanted: Iterable[str],
    *,
    on_lines: Iterable[str] | None = None,
    also: Iterable[str] = (),
    schema_enforced: bool = False,
    cut_off: bool = False,
) -> JudgeJson:
    """Return what a judge wrote under the `wanted` keys as JSON, else on labelled lines.

    Args:
        text: The reply.
        wanted: Keys that the JSON object must have.
        on_lines: Labels that must be there when lines are read, where they differ from `wanted`.
        also: Labels that are taken from lines when they are there.
        schema_enforced: The provider says that it held the reply to a schema.
        cut_off: The provider says that the reply ended for want of room.
    """
    keys = tuple(wanted)
    try:
        return read_judge_json(text, keys, schema_enforced=schema_enforced, cut_off=cut_off)
    except UnreadableReplyError:
        answer = without_asides(text)
        needed = keys if on_lines is None else tuple(on_lines)
        lines = {key: values[-1] for key in (*needed, *also) if (values := labelled_values(answer, key))}
        if mentions(answer, keys) or not all(lines.get(key) for key in needed):
            raise
        return JudgeJson(dict(lines), "lines")


class _UnreadableError(ValueError):
    """Why a reply cannot be read; becomes the public error, which carries the whole text."""


def _climb(text: str, wanted: tuple[str, ...], schema_enforced: bool, cut_off: bool) -> JudgeJson:
    stripped = text.strip().lstrip("\ufeff").strip()
    if (whole := _whole(stripped, wanted)) is not None:
        return JudgeJson(whole, "schema" if schema_enforced else "json")
    answer = without_asides(stripped).strip()
    if not answer:
        raise _UnreadableError("the reply is empty" if not stripped else "the reply holds nothing but reasoning")
    inner = _unfenced(answer)
    if inner != stripped and (whole := _whole(inner, wanted)) is not None:
        return JudgeJson(whole, "unwrapped")
    return _embedded(answer, wanted, cut_off)


def _whole(text: str, wanted: tuple[str, ...], unpackings: int = 2) -> dict[str, Any] | None:
    """Return the object that `text` is from end to end, also inside a list or written as a JSON string."""
    try:
        value = _strict(text)
        if isinstance(value, str) and unpackings:
            return _whole(value.strip(), wanted, unpackings - 1)
        if isinstance(value, list) and len(cast(list[object], value)) == 1:
            value = cast(list[object], value)[0]
        return _fitting(cast(dict[str, Any], value), wanted) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _embedded(answer: str, wanted: tuple[str, ...], cut_off: bool) -> JudgeJson:
    later: list[Span] = []
    for start, end in reversed(find_objects(answer)):
        value = _fitting(_strict_object(answer[start:end]), wanted) if _may_hold(answer, start, end, wanted) else None
        if value is not None:
            rest = _without(later, answer, end)
            if cut_off and "{" in rest:
                raise _UnreadableError("the reply was cut off in another object after this verdict")
            return _unless_overruled(value, rest, wanted or tuple(value))
        later.append((start, end))
    if (repaired := repair_object(answer, wanted or _guessed_keys(answer))) is not None:
        return JudgeJson(repaired, "repaired", repaired=True)
    if (unescaped := _whole(f'"{answer}"', wanted)) is not None:
        return JudgeJson(unescaped, "repaired", repaired=True)
    keys = " and ".join(map(repr, wanted))
    raise _UnreadableError(f"no JSON object with {keys}" if wanted else "no JSON object")


def _may_hold(text: str, start: int, end: int, wanted: tuple[str, ...]) -> bool:
    """Say whether an object can have the wanted keys at all, before the trouble of parsing it."""
    return all(text.find(key, start, end) >= 0 for key in wanted)


def _without(spans: list[Span], text: str, start: int) -> str:
    """Return the text from `start` on, less the given spans, which come last one first."""
    pieces: list[str] = []
    for span_start, span_end in reversed(spans):
        pieces.append(text[start:span_start])
        start = span_end
    return "".join([*pieces, text[start:]])


def _unless_overruled(value: dict[str, Any], rest: str, keys: tuple[str, ...]) -> JudgeJson:
    """Return the object found, unless a later verdict, broken or in words, says otherwise."""
    if mentions(rest, (*keys, *value)):
        repaired = repair_object(rest, keys)
        if repaired is None:
            raise _UnreadableError("the last verdict is broken beyond repair")
        return JudgeJson(repaired, "repaired", repaired=True)
    for key in keys:
        if (line := labelled_values(rest, key)) and _differs(value[key], line[-1]):
            raise _UnreadableError(f"{key!r} is {value[key]!r} in the JSON and {line[-1]!r} after it")
    return JudgeJson(value, "embedded")


def _differs(value: object, written: str) -> bool:
    """Say whether a line after the verdict gives a number other than the verdict's."""
    number = plain_number(written)
    own = plain_number(str(value)) if not isinstance(value, bool) else None
    return number is not None and own is not None and number[0] != own[0]


def _fitting(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the object if it has the wanted keys, or the only different one inside it that does."""
    if _has(value, wanted):
        return value
    inner = {json.dumps(each, sort_keys=True): each for each in _inner_objects(value) if _has(each, wanted)}
    return next(iter(inner.values())) if len(inner) == 1 else None


def _has(value: dict[str, Any], wanted: tuple[str, ...]) -> bool:
    """Say whether all wanted keys are there, and not as the form being explained: `{"score": "<0-100>"}`."""
    if not all(key in value for key in wanted):
        return False
    return not wanted or not all(_PLACEHOLDER.fullmatch(str(value[key])) for key in wanted)


def _inner_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects inside a value; what stands in an echoed JSON Schema is no answer."""
    found: list[dict[str, Any]] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += cast(list[object], each)
        elif isinstance(each, dict) and not ("properties" in each and "type" in each):
            found.append(cast(dict[str, Any], each))
            waiting += cast(dict[str, object], each).values()
    return found


def _guessed_keys(text: str) -> tuple[str, ...]:
    """Return the keys that tell a verdict, for callers that did not say what they want."""
    return next((keys for keys in (("score",), ("verdict",)) if mentions(text, keys)), ())


def _unfenced(text: str) -> str:
    """Return what stands in the code fence around the whole text, or the text itself."""
    if not (text.startswith("```") and text.endswith("```") and len(text) > 6):
        return text
    first_line, _, rest = text[3:-3].partition("\n")
    names_a_language = re.fullmatch(r"\s*\w*\s*", first_line) is not None
    return (rest if names_a_language else text[3:-3]).strip()


def _strict_object(text: str) -> dict[str, Any]:
    try:
        return cast(dict[str, Any], _strict(text))
    except ValueError as error:
        raise _UnreadableError(str(error)) from None


def _strict(text: str) -> object:
    return json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_doubles)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is too large")
    return value


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        for key, each in pairs:
            if json.dumps(each) != json.dumps(value[key]):
                raise ValueError(f"{key!r} is given twice with different values")
    return value


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:120] + " … " + text[-60:])
