"""Find the wanted keys in the objects of a reply, and refuse an object that contradicts them.

The wanted keys may have slightly different names, be inside wrappers such as a tool call, or be encoded as a string.
A key with another score, under any name, makes the verdict unclear.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NoReturn, cast

from msgspec import Struct

from .judged_text import ReplyContext, folded_key
from .plain_reasons import has_plain_reason
from .reply_text import decode

_PLACEHOLDER = re.compile(r"<[^<>]*>")
_WRAPPERS = {
    *("answer", "args", "arguments", "assessment", "content", "data", "evaluation", "final", "function"),
    *("function_call", "functioncall", "input", "judgement", "judgment", "message", "output", "parameters", "params"),
    *("parts", "payload", "response", "result", "results", "review", "tool_call", "tool_calls", "tool_input"),
    *("tool_use", "toolcall", "toolcalls", "tooluse", "verdict"),
}
_RENEWING_KEY = re.compile("correct|revis|final|amend|updat|verdict|overall|adjust", re.IGNORECASE)
_QUOTING_KEY = re.compile(
    "candidate|claim|quot|example|inject|attempt|hypothe|draft|previous|original|user|prompt|instruct|request|expected"
    "|reference|source|sample|template|schema|format|reject|wrong|ignor|fake|invalid|baseline|correct|revis|amend"
    "|(?:^|_)(?:not|if|other|self|would|could|old)(?:_|$)",
    re.IGNORECASE,
)


EXPECTED_KEYS = {"reason", "subscores"}
"""Other keys that every judge is asked for, which cannot contradict the wanted ones."""


class NoVerdictError(ValueError):
    """The reply has no verdict; the caller adds the text of the reply."""


class Query(Struct, frozen=True):
    """The keys that a verdict must have, and the context of the question."""

    wanted: tuple[str, ...]
    context: ReplyContext
    cut_off: bool = False

    def keys(self, value: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys whose values make up a verdict."""
        return self.wanted or tuple(value)

    def answers(self, value: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys of the answer, without those of its explanation."""
        return self.wanted or tuple(key for key in ("score", "verdict") if key in value)

    @property
    def is_judging(self) -> bool:
        """Whether the reply is from a judge, and not any text with JSON in it."""
        return bool(self.context.judged)

    def is_echo(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is also in the judged text."""
        return self.context.has_object(value)


def whole_object(text: str, wanted: tuple[str, ...], unpackings: int = 2) -> dict[str, Any] | None:
    """Return the object that is the whole text, also inside a list or encoded as a JSON string."""
    try:
        value = decode(text)
        if isinstance(value, str) and unpackings:
            return whole_object(value.strip(), wanted, unpackings - 1)
        if isinstance(value, list) and len(cast(list[object], value)) == 1:
            value = cast(list[object], value)[0]
        return fitting(cast(dict[str, Any], value), wanted) if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def fitting(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the object with the wanted keys: this one, or the only one inside its wrappers."""
    named = _with_wanted_names(value, wanted)
    if _has(named, wanted):
        return named
    inner = [each for each in map(partial(_with_wanted_names, wanted=wanted), _wrapped(value)) if _has(each, wanted)]
    return inner[0] if inner and all(each == inner[0] for each in inner) else None


def is_placeholder(value: object) -> bool:
    """Return whether a value only explains the form, as in `{"score": "<0-100>"}`."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


@lru_cache(maxsize=256)
def _is_answer_key(key: str) -> bool:
    """Return whether an object under this key is an answer, not a quotation, a draft or a part."""
    return key.casefold() in _WRAPPERS or _RENEWING_KEY.search(key) is not None


@lru_cache(maxsize=256)
def is_quoting_key(key: str) -> bool:
    """Return whether an object under this key is a quotation, a draft, an example or of someone else."""
    return _QUOTING_KEY.search(key) is not None


def _own_answers(value: dict[str, Any], keys: tuple[str, ...]) -> dict[str, object]:
    """Return the values of the wanted keys of an object itself."""
    for name in value:  # most objects inside another one have no such key
        if name in keys or not name.isascii() or name.strip().casefold() in keys:
            named = _with_wanted_names(value, keys)
            return {key: named[key] for key in keys if key in named and not is_placeholder(named[key])}
    return {}


def nested_answers(value: object, keys: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """Yield the values of the wanted keys of an object, and of those inside it."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            yield from _own_answers(mapping, keys).items()
            pending += mapping.values()
        elif isinstance(each, list):
            pending += cast(list[object], each)


def _with_wanted_names(value: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    """Return the object with "Score" renamed to "score", if there is only one such key."""
    missing = {folded_key(key): key for key in wanted if key not in value}
    if not missing:  # most judges use the exact names
        return value
    similar = [key for key in value if folded_key(key) in missing]
    if len({folded_key(key) for key in similar}) != len(similar):
        return value
    return {missing[folded_key(key)] if key in similar else key: each for key, each in value.items()}


def _has(value: dict[str, Any], wanted: tuple[str, ...]) -> bool:
    """Return whether an object has all wanted keys, not all of them with placeholders."""
    for key in wanted:
        if key not in value:
            return False
    return not wanted or not all(map(is_placeholder, map(value.get, wanted)))


def _wrapped(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects inside wrappers such as {"result": …} or {"name": "submit", "arguments": "{…}"}."""
    found: list[dict[str, Any]] = []
    pending: list[object] = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending += cast(list[object], each)
        elif isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            found.append(mapping)
            pending += [inner for key, inner in mapping.items() if _is_wrapper(key, is_only=len(mapping) == 1)]
            pending += [_decoded(inner) for key, inner in mapping.items() if key.casefold() in _WRAPPERS]
    return found[1:]


def _decoded(written: object) -> object:
    """Return the arguments of a tool call that are encoded as a JSON string."""
    try:
        return decode(written.strip()) if isinstance(written, str) and written.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def _is_wrapper(key: str, *, is_only: bool) -> bool:
    return key.casefold() in _WRAPPERS or (is_only and _QUOTING_KEY.search(key) is None)


def checked(value: dict[str, Any], query: Query) -> dict[str, Any]:
    """Return the verdict; raise an error if it contradicts itself, with a second score or another scale."""
    keys = query.answers(value)
    if any(key not in keys and key not in EXPECTED_KEYS for key in value):
        from .extra_keys import refuse_if_extra_keys_differ  # here, because most verdicts have no other keys

        refuse_if_extra_keys_differ(value, keys, query.context)
    for key, answer in _inner_answers(value, keys):
        if differs(answer, value.get(key)):
            refuse("an object inside the verdict gives another answer")
    if not has_plain_reason(value, keys, query.context):
        from .statements import contradicting_reason  # here, because most reasons are plain

        if (sentence := contradicting_reason(value, keys, query.context)) is not None:
            refuse(f"the verdict contradicts itself: {sentence[:80]!r}")
    return value


def _inner_answers(value: Mapping[str, Any], keys: tuple[str, ...]) -> list[tuple[str, object]]:
    """Return the values of the wanted keys in objects inside a verdict, without quotations and parts."""
    answers: list[tuple[str, object]] = []
    parts: list[dict[str, object]] = []
    pending = [value]
    for inner in pending:
        for key, each in inner.items():
            if key in keys or not isinstance(each, dict | list):
                continue
            if _is_answer_key(key):
                answers += nested_answers(cast(object, each), keys)
            elif isinstance(each, dict) and not is_quoting_key(key):
                part = cast(dict[str, Any], each)
                pending.append(part)
                if own := _own_answers(part, keys):
                    parts.append(own)
    if len(parts) == 1:  # several are the criteria, each with its own score
        answers += parts[0].items()
    return answers


def refuse_if_list(text: str, query: Query) -> None:
    """Raise an error for a reply that is a list of objects with different answers."""
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return
    objects = [cast(dict[str, object], each) for each in cast(list[object], value) if isinstance(each, dict)]
    answers = [dict(nested_answers(each, query.wanted)) if query.wanted else each for each in objects]
    answers = [each for each in answers if each]
    if any(each != answers[0] for each in answers[1:]):
        refuse("the reply is a list of different verdicts")


def differs(value: object, other: object) -> bool:
    """Return whether two values of a key are different answers."""
    if isinstance(value, str) and isinstance(other, str):
        return folded_key(value) != folded_key(other)
    return value != other


def refuse(reason: str) -> NoReturn:
    """Raise the error of a reply without a verdict."""
    raise NoVerdictError(reason)
