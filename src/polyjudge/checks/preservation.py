"""What must survive a translation as it is: numbers, placeholders, markup, addresses."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from polyjudge.records.findings import Finding, ProblemKind, Severity
from polyjudge.text.numbers import fold_digits
from polyjudge.text.segments import PLACEHOLDER, TAG, URL, prose

_NUMBER = re.compile(
    r"([1-9]\d?(?:,\d\d){1,6},\d{3}(?!\d)"  # 12,34,567, as in India
    r"|[1-9]\d{0,2}(?:[.,٬'’\u00a0\u202f ]\d{3}){1,9}(?!\d)|\d+)(?:[.,](\d+))?"
)
_ANYTHING = re.compile(r"[\d{%<@$]|www\.|://")
_TAG_NAME = re.compile(r"</?[\w:-]+")
_AFTERNOON = re.compile(r"\d\s?p\.?\s?m\b", re.IGNORECASE)
_WRITTEN_OUT = 12
"""Numbers up to this one are often written as words."""


class _Number(NamedTuple):
    plain: str
    """Without what groups digits, and with a point for decimals."""
    parts: tuple[str, ...]
    """Its runs of digits: a time or a date is parted by other signs in other languages."""
    is_scaled: bool
    """A word such as *million* follows."""

    @property
    def digits(self) -> str:
        """What stays when it is counted in thousands or millions."""
        return self.plain.replace(".", "").strip("0")


def lost_parts(text: str, source: str) -> Iterator[Finding]:
    """Find parts of the source that the text should have and has not."""
    if not _ANYTHING.search(source) and not _ANYTHING.search(text):
        return
    for kind, parts, what in _EXACT:
        wanted, given = Counter(parts(source)), Counter(parts(text))
        for part in wanted - given:
            yield Finding(kind, "fail", f"{what} {part!r} is missing")
        if kind == "placeholder_lost":
            for part in given - wanted:
                yield Finding(kind, "fail", f"{what} {part!r} is not in the source")
    yield from _lost_numbers(text, source)


def _lost_numbers(text: str, source: str) -> Iterator[Finding]:
    wanted, given = _numbers(source), _numbers(text)
    if not wanted or [each.plain for each in wanted] == [each.plain for each in given]:
        return
    by_clock = bool(_AFTERNOON.search(source) or _AFTERNOON.search(text))
    lost, added = _unmatched(wanted, given), _unmatched(given, wanted)
    parted, theirs = _in_parts(lost, added, by_clock), _in_parts(added, lost, by_clock)
    same, also = set(_in_parts(parted, theirs, by_clock)), set(_in_parts(theirs, parted, by_clock))
    lost, added = [each for each in lost if each not in same], [each for each in added if each not in also]
    lost, added = _not_rescaled(lost, added), _not_rescaled(added, lost)
    severity: Severity = "fail" if added else "warn"
    others = ", ".join(sorted({number.plain for number in added}))
    instead = f"; {others} stands there" if added else ""
    for number in sorted({number.plain for number in lost}):
        if added or not (len(number) < 3 and number.isdigit() and int(number) <= _WRITTEN_OUT):
            yield Finding("number_lost", severity, f"the number {number} is missing{instead}")


@lru_cache(maxsize=256)
def _numbers(text: str) -> tuple[_Number, ...]:
    bare = fold_digits(prose(text))
    return tuple(_number(match, bare) for match in _NUMBER.finditer(bare))


def _number(match: re.Match[str], text: str) -> _Number:
    whole = re.sub(r"\D", "", match[1]).lstrip("0") or "0"
    rest = (match[2] or "").rstrip("0")
    parts = tuple(part.lstrip("0") or "0" for part in re.findall(r"\d+", match[0]))
    is_scaled = _scale_word().match(text, match.end()) is not None
    return _Number(f"{whole}.{rest}" if rest else whole, parts, is_scaled)


def _unmatched(numbers: Sequence[_Number], others: Sequence[_Number]) -> list[_Number]:
    left = Counter(number.plain for number in numbers) - Counter(number.plain for number in others)
    return [number for number in numbers if number.plain in left]


def _in_parts(numbers: Sequence[_Number], others: Sequence[_Number], by_clock: bool) -> list[_Number]:
    """Return the numbers whose parts the others have, too: 7:55 is 7.55, and by the clock 3:30 pm is 15.30."""
    theirs = {part for number in others for part in number.parts}
    if by_clock:
        theirs |= {hour for part in theirs for hour in _other_hour(part)}
    return [number for number in numbers if theirs.issuperset(number.parts)]


def _other_hour(part: str) -> set[str]:
    return {str(int(part) + 12), str(int(part) - 12)} if len(part) < 3 else set()


def _not_rescaled(numbers: Sequence[_Number], others: Sequence[_Number]) -> list[_Number]:
    """Leave out those that the others have in another unit: 30,000 as 30 thousand, 20.4 million as 2040万."""
    scaled = {number.digits for number in others if number.is_scaled}
    plain = {number.digits for number in others}
    return [each for each in numbers if each.digits not in (plain if each.is_scaled else scaled)]


def _tags(text: str) -> list[str]:
    """Return the tags by name: what stands in an attribute may well be translated."""
    names = (_TAG_NAME.match(tag) for tag in TAG.findall(text))
    return [f"{name[0].casefold()}>" for name in names if name]


@lru_cache(maxsize=1)
def _scale_word() -> re.Pattern[str]:
    lines = (files("polyjudge.checks") / "scale_words.txt").read_text(encoding="utf-8").splitlines()
    known = [re.escape(word) for line in lines if not line.startswith("#") for word in line.split()]
    return re.compile(rf"[\s\u00a0-]{{0,2}}(?:{'|'.join(known)})", re.IGNORECASE)


_EXACT: tuple[tuple[ProblemKind, Callable[[str], list[str]], str], ...] = (
    ("url_lost", URL.findall, "the address"),
    ("placeholder_lost", PLACEHOLDER.findall, "the placeholder"),
    ("markup_lost", _tags, "the mark"),
)
