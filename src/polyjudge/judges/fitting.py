"""Find the wanted keys in a JSON value: under slightly different names, inside wrappers, or encoded as a string."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from . import strict_json
from .judged_text import folded_key

_PLACEHOLDER = re.compile(r"<[^<>]*>")
_WRAPPERS = {
    *("answer", "arguments", "assessment", "data", "evaluation", "final", "input", "judgement", "judgment"),
    *("output", "parameters", "response", "result", "results", "review", "verdict"),
}
_RENEWING_KEY = re.compile("correct|revis|final|amend|updat|verdict|overall|adjust", re.IGNORECASE)
_QUOTING_KEY = re.compile(
    "candidate|claim|quot|example|inject|attempt|hypothe|draft|previous|original|user|prompt|instruct|request|expected"
    "|reference|source|sample|template|schema|format|reject|wrong|ignor|fake|invalid|baseline|correct|revis|amend"
    "|(?:^|_)(?:not|if|other|self|would|could|old)(?:_|$)",
    re.IGNORECASE,
)


def whole_object(text: str, wanted: tuple[str, ...], unpackings: int = 2) -> dict[str, Any] | None:
    """Return the object that `text` is from end to end, also inside a list or written as a JSON string."""
    try:
        value = strict_json.decode(text)
        if isinstance(value, str) and unpackings:
            return whole_object(value.strip(), wanted, unpackings - 1)
        if isinstance(value, list) and len(cast(list[object], value)) == 1:
            value = cast(list[object], value)[0]
        return fitting(cast(dict[str, Any], value), wanted) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def fitting(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the object if it has the wanted keys, or the only one inside its wrappers that does."""
    named = _with_wanted_names(value, wanted)
    if _has(named, wanted):
        return named
    inner = [each for each in map(partial(_with_wanted_names, wanted=wanted), _wrapped(value)) if _has(each, wanted)]
    return inner[0] if len(inner) == 1 else None


def is_placeholder(value: object) -> bool:
    """Say whether a value only explains the form, as in `{"score": "<0-100>"}`."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def is_answer_key(key: str) -> bool:
    """Say whether an object under this key is an answer, as opposed to a quotation, a draft or a part."""
    return key.casefold() in _WRAPPERS or _RENEWING_KEY.search(key) is not None


def is_quoting_key(key: str) -> bool:
    """Say whether an object under this key is said to be a quotation, a draft, an example or someone else's."""
    return _QUOTING_KEY.search(key) is not None


def own_answers(value: dict[str, Any], keys: tuple[str, ...]) -> dict[str, object]:
    """Return what an object itself says under the wanted keys."""
    for name in value:  # most objects inside another one have no such key
        if name in keys or not name.isascii() or name.strip().casefold() in keys:
            named = _with_wanted_names(value, keys)
            return {key: named[key] for key in keys if key in named and not is_placeholder(named[key])}
    return {}


def nested_answers(value: object, keys: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """Yield what a value, and the objects inside it, say under the wanted keys."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            yield from own_answers(mapping, keys).items()
            waiting += mapping.values()
        elif isinstance(each, list):
            waiting += cast(list[object], each)


def _with_wanted_names(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the object with "Score" called "score", where only one key can be meant."""
    missing = {folded_key(key): key for key in wanted if key not in value}
    if not missing:  # most judges write the names as they were asked to
        return value
    meant = [key for key in value if folded_key(key) in missing]
    if len({folded_key(key) for key in meant}) != len(meant):
        return value
    return {missing[folded_key(key)] if key in meant else key: each for key, each in value.items()}


def _has(value: dict[str, Any], wanted: tuple[str, ...]) -> bool:
    """Say whether all wanted keys are there, and not all of them as placeholders."""
    for key in wanted:
        if key not in value:
            return False
    return not wanted or not all(is_placeholder(value[key]) for key in wanted)


def _wrapped(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects inside wrappers such as {"result": …} or {"name": "submit", "arguments": …}."""
    found: list[dict[str, Any]] = []
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += cast(list[object], each)
        elif isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            found.append(mapping)
            waiting += [inner for key, inner in mapping.items() if _is_wrapper(key, is_only=len(mapping) == 1)]
            waiting += [_arguments(mapping)]
    return found[1:]


def _arguments(call: dict[str, Any]) -> object:
    """Return the arguments of a tool call that are written as a JSON string."""
    written = call.get("arguments")
    if not isinstance(written, str) or not ("name" in call or "function" in call):
        return None
    try:
        return strict_json.decode(written.strip())
    except (ValueError, RecursionError):
        return None


def _is_wrapper(key: str, *, is_only: bool) -> bool:
    return key.casefold() in _WRAPPERS or (is_only and _QUOTING_KEY.search(key) is None)
