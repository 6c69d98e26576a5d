"""Strict JSON: no NaN, no infinity, and no key given twice with different values."""

import json
import math
import re
from typing import Any


def decode(text: str) -> object:
    """Return the value that `text` is from end to end; anything else is a `ValueError`."""
    value, end = _STRICT.raw_decode(text) if text[:1] in "{[" else (None, -1)
    return value if end == len(text) else _STRICT.decode(text)


def unfenced(text: str) -> str:
    """Return what is in the code fence around the whole text, or the text itself."""
    if not (text.startswith("```") and text.endswith("```") and len(text) > 6):
        return text
    first_line, _, rest = text[3:-3].partition("\n")
    names_a_language = re.fullmatch(r"\s*\w*\s*", first_line) is not None
    return (rest if names_a_language else text[3:-3]).strip()


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
