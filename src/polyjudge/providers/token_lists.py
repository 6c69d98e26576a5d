"""Read the tokens of a reply with their log probabilities, in the forms of OpenAI's and Google's APIs.

They are an addition to a reply that is complete without them: where they are not as documented, there are none.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from polyjudge.records.codec import Number
from polyjudge.records.requests import Token

_MALFORMED = (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError)


def tokens_in(lists: Sequence[object]) -> tuple[Token, ...]:
    """Return the tokens of the parts of a text, in OpenAI's form; none unless each part has them."""
    try:
        rows = [row for each in lists for row in _rows(each)]
        return tuple(_token(_named(row), map(_named, row.get("top_logprobs") or ())) for row in rows)
    except _MALFORMED:
        return ()


def gemini_tokens(result: object) -> tuple[Token, ...]:
    """Return the tokens of a candidate, in Google's form."""
    try:
        given = cast(Mapping[str, Any], result)
        chosen, top = _rows(given["chosenCandidates"]), _rows(given["topCandidates"])
        pairs = zip(chosen, top, strict=True)
        return tuple(_token(_candidate(row), map(_candidate, _rows(each["candidates"]))) for row, each in pairs)
    except _MALFORMED:
        return ()


def _rows(given: object) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not given:
        raise TypeError("not a list of tokens")
    return cast(list[Mapping[str, Any]], given)


def _named(row: Mapping[str, Any]) -> tuple[str, Number]:
    """Return a token by its bytes if there are any: the text of a part of a character is a replacement for it."""
    raw: object = row.get("bytes")
    if isinstance(raw, list) and raw:
        return bytes(cast(list[int], raw)).decode(errors="surrogateescape"), _number(row["logprob"])
    return _text(row["token"]), _number(row["logprob"])


def _candidate(row: Mapping[str, Any]) -> tuple[str, Number]:
    return _text(row.get("token", "")), _number(row.get("logProbability", 0.0))  # Google leaves out empty and 0


def _token(chosen: tuple[str, Number], top: Iterable[tuple[str, Number]]) -> Token:
    text, logprob = chosen
    others: dict[str, Number] = {}
    for name, value in top:
        if name != text and value > others.get(name, -math.inf):
            others[name] = value
    return Token(text, logprob, others)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _number(value: object) -> Number:
    """Return a log probability; one just above 0 is a rounding error."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError("not a log probability")
    return min(value, 0.0)
