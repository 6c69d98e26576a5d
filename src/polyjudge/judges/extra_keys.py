"""Refuse a verdict that other keys of its object contradict, such as "final_score", "valid": false or "out_of": 10."""

import re
from collections.abc import Mapping
from typing import Any, cast

from polyjudge.text.numbers import plain_number

from .judged_text import ReplyContext, folded_key
from .number_words import with_digits
from .statement_words import has_word, key_words, normalise, pattern
from .verdict_objects import EXPECTED_KEYS, is_quoting_key, refuse

_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
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


def refuse_if_extra_keys_differ(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> None:
    """Raise an error if other keys contradict the wanted ones."""
    if (key := _rival_key(value, keys, context)) is not None:
        refuse(f"{key!r} gives another answer")
    if (key := _withdrawing_key(value, keys)) is not None:
        refuse(f"{key!r} withdraws the verdict")
    if (key := _other_scale(value, keys, context)) is not None:
        refuse(f"{key!r} states another scale")


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
        if (
            isinstance(stated, dict | list)
            or stated is None
            or key in EXPECTED_KEYS
            or (key in keys and other is value)
        ):
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
            if key not in keys and isinstance(each, dict) and not is_quoting_key(key):
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
        number = None if key in keys or key in EXPECTED_KEYS or isinstance(stated, bool) else plain_number(str(stated))
        if number is None or number[0] in {own[0], *(own[0] / part for part in _SMALLER_SCALES)}:
            continue
        name = _spaced(key)
        is_score = has_word(name, "score") or not key_words("score_names").isdisjoint(name.split())
        rest = pattern("changed", name, "keys").sub(" ", name)
        if rest == name:
            is_part = is_quoting_key(key) or has_word(name, "criteria", "measures", "drafts", language="keys")
            unknown += [key] if is_score and not is_part else []
        elif is_score or (not _LETTER.search(rest) and number[0] not in (0, context.scale.highest - own[0])):
            return key
    return unknown[0] if len(unknown) == 1 else None


def _withdrawing_key(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """Return a key that marks the verdict as a draft, an example, refused or void, such as "valid": false."""
    for key, stated in value.items():
        if key in keys or key in EXPECTED_KEYS:
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
        if (
            key in keys
            or key in EXPECTED_KEYS
            or _joined(key) not in key_words("scale_names")
            or isinstance(stated, bool)
        ):
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
