"""Whether an object gives a second answer beside the wanted one, or uses another scale."""

import re
from collections.abc import Mapping
from typing import Any, cast

from polyjudge.text.numbers import plain_number

from .judged_text import ReplyContext, folded_key
from .number_words import with_digits
from .statement_words import has_word, key_words, normalise, pattern

_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_EXPECTED = {"reason", "subscores"}
"""Keys beside the wanted ones that every judge is asked for; they are no rivals."""
_WITHDRAWN = re.compile(
    "refus|invalid|draft|example|placeholder|supersed|void|withdr|retract|provisional|sample|cancel|abstain|dummy|pending",
    re.IGNORECASE,
)
_HOLDING = re.compile(
    r"(?:^|_)(?:valid|final|real|own|confirmed|graded|scored|evaluated|is_?valid|is_?final)$", re.IGNORECASE
)
_STATUS = re.compile("status|state|kind|type|stage", re.IGNORECASE)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def has_extra_keys(value: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    """Say whether an object has keys that no judge is asked for."""
    return any(key not in keys and key not in _EXPECTED for key in value)


def rival_key(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> str | None:
    """Return a key that gives another answer than a wanted key does, such as "final_score" beside "score".

    A subscore that is given again beside the subscores, with another value, is a rival too.
    """
    subscores = value.get("subscores")
    if isinstance(subscores, Mapping):
        parts = {folded_key(str(name)): part for name, part in cast(Mapping[object, object], subscores).items()}
        for key, stated in value.items():
            if key not in keys and folded_key(key) in parts and _differs(parts[folded_key(key)], stated, context):
                return key
    return contradicting_key(value, value, keys, context)


def contradicting_key(
    value: Mapping[str, Any], other: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext
) -> str | None:
    """Return a key of another object that means a wanted key, by whatever name, and differs from the verdict."""
    for key, stated in other.items():
        if isinstance(stated, dict | list) or stated is None or key in _EXPECTED or (key in keys and other is value):
            continue
        for wanted in keys:
            if wanted in value and _may_mean(key, wanted) and _differs(value[wanted], stated, context):
                return key
    return None


def withdrawing_key(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
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


def other_scale(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> str | None:
    """Return a key that states another scale than the one in use, such as "out_of": 10 on a scale to 100."""
    for key, stated in value.items():
        if key in keys or key in _EXPECTED or _joined(key) not in key_words("scale_names") or isinstance(stated, bool):
            continue
        numbers = [float(each) for each in _DIGITS.findall(with_digits(normalise(str(stated))))]
        if numbers and max(numbers) != context.scale.highest:
            return key
    return None


def _may_mean(key: str, wanted: str) -> bool:
    """Say whether a key is another name of a wanted one."""
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
    if not key.isascii() and pattern("score").search(normalise(key)):  # "最终得分", "修正後スコア"
        return True
    parts = [part for part in re.split(r"[\s_-]+", normalise(key)) if part]
    others = [part for part in parts if not pattern("score").fullmatch(part)]
    return len(others) < len(parts) and all(has_word(part, "final", "correction", "revision") for part in others)


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
