"""Whether the text around a verdict says something else than the verdict does."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from polyjudge.text.numbers import fold_digits, plain_number

from .judged_text import ReplyContext
from .labelled_lines import labelled_values

_MOST_KEYS = 64
"""A verdict with more keys is none of ours; a constant, so that time stays linear."""
_LEADING_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}
_LONGEST_LABEL = 40


def contradicting_line(
    value: Mapping[str, Any], keys: tuple[str, ...], text: str, context: ReplyContext | None = None
) -> str | None:
    """Return the labelled line in `text` that gives a key of the verdict another value, if there is one.

    Lines that are also in the judged text are quotations.
    """
    for key, own in _values(value, keys):
        for written in labelled_values(text, key):
            if _differs(own, written) and not (context and context.has_line(key, written)):
                return f"{key}: {written}"
    return None


def _values(value: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """Yield what the verdict says under the wanted keys, subscores one by one."""
    for key in keys[:_MOST_KEYS]:
        own = value.get(key)
        if isinstance(own, Mapping):
            yield from list(cast(Mapping[str, object], own).items())[:_MOST_KEYS]
        else:
            yield key, own


def _differs(own: object, written: str) -> bool:
    """Say whether a line gives another number, yes or no, or label; other words are comment and differ from nothing."""
    if isinstance(own, bool):
        first = re.split(r"\W", written.strip(), maxsplit=1)[0].casefold()
        return first in _YES_NO and _YES_NO[first] != own
    number = plain_number(str(own))
    if number is not None:
        leading = _LEADING_NUMBER.match(fold_digits(written))
        return leading is not None and float(leading[0]) != number[0]
    if isinstance(own, str) and 0 < len(own) <= _LONGEST_LABEL and 0 < len(written) <= _LONGEST_LABEL:
        return _plain(own) != _plain(written)
    return False


def _plain(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label).strip().casefold()
