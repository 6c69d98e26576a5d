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
from functools import partial
from itertools import islice
from typing import Any, cast

from polyjudge.errors import UnreadableReplyError

from .asides import without_asides
from .contradictions import contradicting_line, contradicting_object
from .labelled_lines import labelled_values, last_line_is_labelled
from .repairing import mentions, repair_object, unclosed_part
from .scanning import Span, find_objects

_PLACEHOLDER = re.compile(r"<[^<>]*>")
_ENDS_WITH_KEY = re.compile(r'"[^"\n]*"[ \t]*:[ \t]*\Z')
_MOST_KEYS = 64
"""Keys of a verdict that are looked for after it; a constant, so that time stays linear."""
_WRAPPERS = {
    *("answer", "arguments", "assessment", "data", "evaluation", "final", "input", "judgement", "judgment"),
    *("output", "parameters", "response", "result", "results", "review", "verdict"),
}


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
        lines = {key: values for key in (*needed, *also) if (values := labelled_values(answer, key))}
        if mentions(answer, keys) or not all(_is_settled(key, lines.get(key, []), answer, cut_off) for key in needed):
            raise
        return JudgeJson({key: values[-1] for key, values in lines.items()}, "lines")


def _is_settled(key: str, values: list[str], answer: str, cut_off: bool) -> bool:
    """Say whether lines give a key one value: not several different ones, and not one that may be cut."""
    if cut_off and last_line_is_labelled(answer, key):
        return False
    return len(set(values)) == 1 and bool(values[0])


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
    spans = find_objects(answer)
    for place in reversed(range(len(spans))):
        start, end = spans[place]
        if not _may_hold(answer, start, end, wanted):
            continue
        value = _fitting(_strict_object(answer[start:end]), wanted)
        if value is not None:
            keys = wanted or tuple(value)
            _refuse_if_quoted(answer, spans[: place + 1], value, keys)
            rest = _without(spans[place + 1 :], answer, end)
            if cut_off and "{" in rest:
                raise _UnreadableError("the reply was cut off in another object after this verdict")
            for later_start, later_end in spans[place + 1 :]:
                _refuse_if_revised(answer[later_start:later_end], value, wanted)
            return _unless_overruled(value, rest, keys)
    # Sound objects that name a wanted key have been looked at above, and hold no verdict.
    settled = [span for span in spans if any(f'"{key}"' in answer[span[0] : span[1]] for key in wanted)]
    return _mended(_without(settled, answer, 0), wanted)


def _mended(answer: str, wanted: tuple[str, ...]) -> JudgeJson:
    """Return what a broken reply can only mean."""
    found = repair_object(answer, wanted)
    if found is not None:
        value, end = found
        _refuse_if_contradicted(value, wanted, answer[end:])
        return JudgeJson(value, "repaired", repaired=True)
    if (unescaped := _whole(f'"{answer}"', wanted)) is not None:
        return JudgeJson(unescaped, "repaired", repaired=True)
    keys = " and ".join(map(repr, wanted))
    raise _UnreadableError(f"no JSON object with {keys}" if wanted else "no JSON object")


def _may_hold(text: str, start: int, end: int, wanted: tuple[str, ...]) -> bool:
    """Say whether an object can have the wanted keys at all, before the trouble of parsing it."""
    piece = text[start:end].casefold()
    return all(key.casefold() in piece for key in wanted)


def _without(spans: list[Span], text: str, start: int) -> str:
    """Return the text from `start` on, less the given spans."""
    pieces: list[str] = []
    for span_start, span_end in spans:
        pieces.append(text[start:span_start])
        start = span_end
    return "".join([*pieces, text[start:]])


def _refuse_if_quoted(answer: str, spans: list[Span], value: dict[str, Any], keys: tuple[str, ...]) -> None:
    """Refuse an object that stands inside a larger broken one, or in the middle of a line after another verdict."""
    start = spans[-1][0]
    before = _without(spans[:-1], answer[:start], 0)
    around = unclosed_part(before)
    if mentions(around, keys) or _ENDS_WITH_KEY.search(around):
        raise _UnreadableError("the verdict may be a quotation inside a broken one")
    if answer[:start].rpartition("\n")[2].strip(" \t`"):
        _refuse_if_contradicted(value, keys, before)


def _refuse_if_revised(text: str, value: dict[str, Any], wanted: tuple[str, ...]) -> None:
    """Refuse a verdict of which a later object changes a part."""
    if any(f'"{key}"' in text for key in wanted):
        later = _strict_object(text)
        key = contradicting_object(value, later, wanted)
        if key is not None and not _is_placeholder(later[key]):
            raise _UnreadableError(f"{key!r} is changed by a later object")


def _refuse_if_contradicted(value: dict[str, Any], keys: tuple[str, ...], text: str) -> None:
    line = contradicting_line(value, keys, text)
    if line is not None:
        raise _UnreadableError(f"the JSON and the line {line!r} say different things")


def _unless_overruled(value: dict[str, Any], rest: str, keys: tuple[str, ...]) -> JudgeJson:
    """Return the object found, unless a later verdict, broken or in words, says otherwise."""
    if mentions(rest, islice((*keys, *value), _MOST_KEYS)):
        found = repair_object(rest, keys)
        if found is None:
            raise _UnreadableError("the last verdict is broken beyond repair")
        _refuse_if_contradicted(found[0], keys, rest[found[1] :])
        return JudgeJson(found[0], "repaired", repaired=True)
    _refuse_if_contradicted(value, keys, rest)
    return JudgeJson(value, "embedded")


def _fitting(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the object if it has the wanted keys, or the only one inside its wrappers that does."""
    named = _with_wanted_names(value, wanted)
    if _has(named, wanted):
        return named
    inner = [each for each in map(partial(_with_wanted_names, wanted=wanted), _wrapped(value)) if _has(each, wanted)]
    return inner[0] if len(inner) == 1 else None


def _with_wanted_names(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the object with "Score" called "score", where only one key can be meant."""
    missing = {key.casefold(): key for key in wanted if key not in value}
    if not missing:  # most judges write the names as they were asked to
        return value
    meant = [key for key in value if key.casefold() in missing]
    if len({key.casefold() for key in meant}) != len(meant):
        return value
    return {missing[key.casefold()] if key in meant else key: each for key, each in value.items()}


def _has(value: dict[str, Any], wanted: tuple[str, ...]) -> bool:
    """Say whether all wanted keys are there, and not as the form being explained: `{"score": "<0-100>"}`."""
    for key in wanted:
        if key not in value:
            return False
    return not wanted or not all(_is_placeholder(value[key]) for key in wanted)


def _is_placeholder(value: object) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def _wrapped(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that stand inside wrappers such as {"result": …} or {"name": "submit", "arguments": …}."""
    found: list[dict[str, Any]] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += cast(list[object], each)
        elif isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            found.append(mapping)
            waiting += [inner for key, inner in mapping.items() if len(mapping) == 1 or key.casefold() in _WRAPPERS]
    return found[1:]


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
    value, end = _STRICT.raw_decode(text) if text[:1] in "{[" else (None, -1)
    return value if end == len(text) else _STRICT.decode(text)


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


# Made once: with these options `json.loads` would make one for every reply.
_STRICT = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_without_doubles)


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:120] + " … " + text[-60:])
