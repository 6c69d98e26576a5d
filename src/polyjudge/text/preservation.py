"""What must survive a translation as it is: numbers, placeholders, markup, addresses."""

import re
from collections import Counter
from collections.abc import Iterator

from polyjudge.records import Problem, ProblemKind, Severity

from .digits import fold_digits
from .segments import PLACEHOLDER, TAG, URL

_NUMBER = re.compile(r"\d+(?:[.,٬٫'’\u00a0\u202f ]\d{3})*(?:[.,٫]\d+)?")
_ANYTHING = re.compile(r"[\d{%<@$]|www\.|://")
_WRITTEN_OUT = 12
"""Numbers up to this one are often written as words."""


def lost_parts(text: str, source: str) -> Iterator[Problem]:
    """Find parts of the source that the text should have and has not."""
    if not _ANYTHING.search(source) and not _ANYTHING.search(text):
        return
    for kind, pattern, what in _EXACT:
        wanted, given = Counter(pattern.findall(source)), Counter(pattern.findall(text))
        for part in wanted - given:
            yield Problem(kind, f"{what} {part!r} is missing")
        if kind == "placeholder_lost":
            for part in given - wanted:
                yield Problem(kind, f"{what} {part!r} is not in the source")
    yield from _lost_numbers(text, source)


def _lost_numbers(text: str, source: str) -> Iterator[Problem]:
    wanted, given = _numbers(source), _numbers(text)
    if wanted == given:
        return
    added = given - wanted
    for number, value in sorted(wanted.items()):
        if number not in given or given[number] < value:
            small = number.isdigit() and int(number) <= _WRITTEN_OUT
            if small and not added:
                continue  # written as a word, most likely
            severity: Severity = "fail" if added else "warn"
            instead = f"; {', '.join(sorted(added))} stands there" if added else ""
            yield Problem("number_lost", f"the number {number} is missing{instead}", severity)


def _numbers(text: str) -> Counter[str]:
    """Return the numbers of a text without what groups digits, and with a point for decimals."""
    bare = PLACEHOLDER.sub(" ", URL.sub(" ", text))
    return Counter(_plain(match[0]) for match in _NUMBER.finditer(fold_digits(bare)))


def _plain(number: str) -> str:
    parts = re.split(r"[.,٬٫'’\u00a0\u202f ]", number)
    if len(parts) == 1:
        return number.lstrip("0") or "0"
    if all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3:
        return "".join(parts)  # groups of three; whether 1.234 means a thousand or not, both sides are read the same
    return "".join(parts[:-1]) + "." + parts[-1].rstrip("0")


_EXACT: tuple[tuple[ProblemKind, re.Pattern[str], str], ...] = (
    ("url_lost", URL, "the address"),
    ("placeholder_lost", PLACEHOLDER, "the placeholder"),
    ("markup_lost", TAG, "the mark"),
)
