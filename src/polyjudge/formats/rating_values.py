"""Read a rating from what a row says: a number, a word such as pass, or a preference."""

import math
from collections.abc import Iterable

from polyjudge.text.numbers import with_decimal_point

WORDS = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "correct", "good", "ok"), 1.0),
    **dict.fromkeys(("fail", "failed", "no", "false", "incorrect", "bad"), 0.0),
}
PREFERENCES = {"first": 1.0, "second": 0.0, "tie": 0.5}
_NO_RATING = {"", "none", "null", "nan", "n/a", "skip", "skipped", "cannot read this language", "unsure"}


def number_of(given: object) -> float | str | None:
    """Return a rating, None where there is none, or an error message."""
    if given is None:
        return None
    if isinstance(given, bool | int | float):
        return _finite(given)
    word = str(given).strip().casefold()
    if word in _NO_RATING:
        return None
    if word in WORDS:
        return WORDS[word]
    if word in PREFERENCES:
        return PREFERENCES[word]
    try:
        return _finite(float(with_decimal_point(word)))
    except ValueError:
        return f"invalid rating {str(given)[:40]!r}; expected a number, pass or fail"


def finite_number(given: object) -> float | None:
    """Return a number of JSON; None for any other value, and for one that is not finite or too large."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    found = _finite(given)
    return None if isinstance(found, str) else found


def word_of(given: Iterable[object]) -> str:
    """Return the first text, if it is a word and not a number; else an empty one."""
    text = next((each.strip() for each in given if isinstance(each, str) and each.strip()), "")
    is_word = isinstance(number_of(text), str) or text.casefold() in (*WORDS, *PREFERENCES)
    return text if is_word else ""


def _finite(number: float) -> float | str | None:
    try:
        return float(number) if math.isfinite(number) else None
    except OverflowError:
        return "invalid rating: the number is too large"
