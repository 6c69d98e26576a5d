"""Find the wanted keys in the objects of a reply, and refuse an object that contradicts them.

The wanted keys may have slightly different names, be inside wrappers such as a tool call, or be encoded as a string.
A key with another score, under any name, makes the verdict unclear.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, NoReturn, cast

from msgspec import Struct

from polyjudge.text.numbers import plain_number

from .judged_text import ReplyContext, folded_key
from .number_words import with_digits
from .reply_text import decode
from .statement_words import has_word, key_words, normalise, pattern
from .statements import contradicting_reason

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
def _is_quoting_key(key: str) -> bool:
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


_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_EXPECTED = {"reason", "subscores"}
"""Other keys that every judge is asked for, which cannot contradict the wanted ones."""
_WITHDRAWN = re.compile(
    "refus|invalid|draft|example|placeholder|supersed|void|withdr|retract|provisional|sample|cancel|abstain|dummy|pending",
    re.IGNORECASE,
)
_HOLDING = re.compile(
    r"(?:^|_)(?:valid|final|real|own|confirmed|graded|scored|evaluated|is_?valid|is_?final)$", re.IGNORECASE
)
_STATUS = re.compile("status|state|kind|type|stage", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_LETTER = re.compile(r"[^\W\d_]")
_SMALLER_SCALES = (10, 20, 25, 100)
"""Divisors that convert a score to a scale to 10, 5, 4 or 1."""


def _has_extra_keys(value: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    """Return whether an object has keys that no judge is asked for."""
    return any(key not in keys and key not in _EXPECTED for key in value)


def _rival_key(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> str | None:
    """Return a key that gives another answer than a wanted key, such as "final_score" beside "score".

    This includes a subscore that is repeated beside the subscores with another value.
    """
    subscores = value.get("subscores")
    if isinstance(subscores, Mapping):
        parts = {folded_key(str(name)): part for name, part in cast(Mapping[object, object], subscores).items()}
        for key, stated in value.items():
            if key not in keys and folded_key(key) in parts and _differs(parts[folded_key(key)], stated, context):
                return key
    return contradicting_key(value, value, keys, context) or _inner_score(value, keys, context)


def contradicting_key(
    value: Mapping[str, Any], other: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext
) -> str | None:
    """Return a key of another object that has the meaning of a wanted key, and differs from the verdict."""
    for key, stated in other.items():
        if isinstance(stated, dict | list) or stated is None or key in _EXPECTED or (key in keys and other is value):
            continue
        for wanted in keys:
            if wanted in value and _may_mean(key, wanted) and _differs(value[wanted], stated, context):
                return key
    return _other_score(value, other, keys, context) if "score" in keys else None


def _inner_score(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> str | None:
    """Return a key of an object inside the verdict with a changed score, such as "after_penalty"."""
    pending = [value]
    for inner in pending:
        for key, each in inner.items():
            if key not in keys and isinstance(each, dict) and not _is_quoting_key(key):
                part = cast(dict[str, Any], each)
                pending.append(part)
                found = _other_score(value, part, keys, context)
                if found and has_word(_spaced(found), "changed", language="keys"):
                    return found
    return None


def _other_score(
    value: Mapping[str, Any], other: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext
) -> str | None:
    """Return a key with a compound name and another score, such as "score_after_penalty" or "curved_score".

    Several such keys are the scores of criteria, unless their names indicate a change.
    """
    own, unknown = plain_number(str(value.get("score"))), list[str]()
    if own is None:
        return None
    for key, stated in other.items():
        number = None if key in keys or key in _EXPECTED or isinstance(stated, bool) else plain_number(str(stated))
        if number is None or number[0] in {own[0], *(own[0] / part for part in _SMALLER_SCALES)}:
            continue
        name = _spaced(key)
        is_score = has_word(name, "score") or not key_words("score_names").isdisjoint(name.split())
        rest = pattern("changed", name, "keys").sub(" ", name)
        if rest == name:
            is_part = _is_quoting_key(key) or has_word(name, "criteria", "measures", "drafts", language="keys")
            unknown += [key] if is_score and not is_part else []
        elif is_score or (not _LETTER.search(rest) and number[0] not in (0, context.scale.highest - own[0])):
            return key
    return unknown[0] if len(unknown) == 1 else None


def _withdrawing_key(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """Return a key that marks the verdict as a draft, an example, refused or void, such as "valid": false."""
    for key, stated in value.items():
        if key in keys or key in _EXPECTED:
            continue
        if isinstance(stated, bool):
            if (stated and _WITHDRAWN.search(key)) or (not stated and _HOLDING.search(key)):
                return key
        elif isinstance(stated, str) and _STATUS.search(key) and _WITHDRAWN.search(stated):
            return key
    return None


def _other_scale(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> str | None:
    """Return a key that states another scale than the one in use, such as "out_of": 10 on a scale to 100."""
    for key, stated in value.items():
        if key in keys or key in _EXPECTED or _joined(key) not in key_words("scale_names") or isinstance(stated, bool):
            continue
        numbers = [float(each) for each in _DIGITS.findall(with_digits(normalise(str(stated))))]
        if numbers and max(numbers) != context.scale.highest:
            return key
    return None


def _may_mean(key: str, wanted: str) -> bool:
    """Return whether a key may be another name of a wanted one."""
    if _joined(key) == _joined(wanted):
        return True
    words, own, renewing = _words(key), _words(wanted), key_words("renewing")
    if words - renewing and words - renewing == own - renewing:
        return True
    others = key_words(f"{wanted}_names") if wanted in ("score", "verdict") else frozenset[str]()
    if others and words and words <= renewing | others | own:
        return True
    if wanted != "score":
        return False
    if not key.isascii() and has_word(normalise(key), "score"):  # "最终得分", "修正後スコア"
        return not has_word(_spaced(key), "criteria", language="keys")
    parts = [part for part in re.split(r"[\s_-]+", normalise(key)) if part]
    others = [part for part in parts if not pattern("score", part).fullmatch(part)]
    return len(others) < len(parts) and all(has_word(part, "final", "correction", "revision") for part in others)


def _spaced(key: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[\s_-]+", " ", normalise(key)).casefold()


def _joined(key: str) -> str:
    return re.sub(r"[\W_]", "", folded_key(key))


def _words(key: str) -> set[str]:
    return {folded_key(word) for word in _WORDS.findall(normalise(key)) if not word.isdecimal()}


def _differs(own: object, other: object, context: ReplyContext) -> bool:
    if isinstance(own, bool) or isinstance(other, bool):
        return isinstance(own, bool) and isinstance(other, bool) and own != other
    number, rival = plain_number(str(own)), plain_number(str(other))
    if number is not None:
        return rival is not None and rival[0] != number[0]
    if isinstance(own, str) and not context.labels:
        return False
    labels = {folded_key(label) for label in context.labels}
    return folded_key(str(other)) in labels and folded_key(str(other)) != folded_key(str(own))


def checked(value: dict[str, Any], query: Query) -> dict[str, Any]:
    """Return the verdict; raise an error if it contradicts itself, with a second score or another scale."""
    keys = query.answers(value)
    if _has_extra_keys(value, keys):
        _refuse_if_extra_keys_differ(value, keys, query)
    for key, answer in _inner_answers(value, keys):
        if differs(answer, value.get(key)):
            refuse("an object inside the verdict gives another answer")
    if (sentence := contradicting_reason(value, keys, query.context)) is not None:
        refuse(f"the verdict contradicts itself: {sentence[:80]!r}")
    return value


def _refuse_if_extra_keys_differ(value: dict[str, Any], keys: tuple[str, ...], query: Query) -> None:
    """Raise an error if other keys contradict the wanted ones."""
    if (key := _rival_key(value, keys, query.context)) is not None:
        refuse(f"{key!r} gives another answer")
    if (key := _withdrawing_key(value, keys)) is not None:
        refuse(f"{key!r} withdraws the verdict")
    if (key := _other_scale(value, keys, query.context)) is not None:
        refuse(f"{key!r} states another scale")


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
            elif isinstance(each, dict) and not _is_quoting_key(key):
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
