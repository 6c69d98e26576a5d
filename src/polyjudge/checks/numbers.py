"""Compare the numbers of a text with those of its source, however a language writes them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from polyjudge.records.findings import Finding
from polyjudge.text.numbers import fold_digits
from polyjudge.text.segments import running_text

_NUMBER = re.compile(
    r"((?<!\d)[012]?\d(?::|\s?[hH]\s?)[0-5]\d(?![\d:])"  # a time: 7:55, 7h55
    r"|[1-9]\d?(?:,\d\d){1,6},\d{3}(?!\d)"  # 12,34,567, as in India
    r"|[1-9]\d{0,2}(?:[.,٬'’\u00a0\u202f ]\d{3}){1,9}(?!\d)|\d+)(?:[.,](\d+))?"
)
_IS_TIME = re.compile("[:hH]")
_HALF = re.compile(r"(\d{1,2})\s?[時时點点]半")
"""Half past, in Chinese and Japanese."""
_DATE = re.compile(r"(?<![\d.])(\d{1,2})\. ?(1[0-2]|0?[1-9])\.(?= ?\d{4}(?!\d)|(?![\d\w]))")
"""A day and a month, as in 12.6.2023: the month may be written in words."""
_NO_ZERO = re.compile(r"(?<![\w.])\.(?=\d)")
_HAN_SCALES = {"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12}
_HAN_COMPOUND = re.compile(
    r"(?:\d[\d,.]*[十百千万萬億亿兆]+){2,}(?:\d+(?![\d月日]))?|\d[\d,.]*[万萬億亿兆]\d+(?![\d月日])"
)
_HAN_DIGITS = {
    sign: value
    for value, signs in enumerate(("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_HAN_NUMBER = re.compile("[〇零一二两兩三四五六七八九十百千]+")
_AFTERNOON = re.compile(r"\d\s?p\.?\s?m\b", re.IGNORECASE)
_MONTH = re.compile(r"\s?(?:月|월)")
_OTHER_UNITS = re.compile(
    r"[\s-]?(?:\"|″|”|in\b|inch|ft\b|foot|feet|yards?\b|yds?\b|(?:nautical )?miles?\b|mi\b|mph\b"
    r"|pounds?\b|lbs?\b|oz\b|ounces?\b|gallons?\b|gal\b"
    r"|acres?\b|°?\s?F\b|degrees?|градус|fahrenheit|fuß"
    r"|zoll|meilen|pies\b|pulgadas|millas|libras|pieds|pouces|milles|фут|дюйм|мил[ьяие]"
    r"|フィート|インチ|マイル|ヤード|ポンド|エーカー|英尺|英寸|英里|磅|华氏|華氏)",
    re.IGNORECASE,
)
"""Units that a translation into another country's language may convert."""
_WRITTEN_OUT = 12
"""Numbers up to this one are often written as words."""
_LAST_YEAR = 2100
_BUDDHIST = 543
"""Years that Thai, Lao and Khmer calendars are ahead."""


class _Number(NamedTuple):
    """A number of a text."""

    plain: str
    """Without what groups digits, and with a point for decimals."""
    parts: tuple[str, ...]
    """Its runs of digits: a time or a date is divided by other signs in other languages."""
    is_scaled: bool = False
    """A word such as *million* follows."""
    is_free: bool = False
    """A translation may change it: a month's number, or an amount in inches, feet, miles or pounds."""

    @property
    def digits(self) -> str:
        """What stays when it is counted in thousands or millions."""
        return self.plain.replace(".", "").strip("0")


def lost_numbers(text: str, source: str) -> Iterator[Finding]:
    """Find numbers of the source that the text does not have.

    One number in the place of another is a failure. A number that is missing may be written in words: a warning.
    """
    wanted, given = _numbers(source), _numbers(text)
    if not wanted or [each.plain for each in wanted] == [each.plain for each in given]:
        return
    by_clock = bool(_AFTERNOON.search(source) or _AFTERNOON.search(text))
    lost, added = _differing(wanted, given, by_clock=by_clock)
    in_words = _han_numbers(text)
    lost = [each for each in lost if each.plain not in in_words and not each.is_free]
    is_swap = len(lost) == 1 and len(added) == 1 and not added[0].is_free and _are_alike(lost[0], added[0])
    if is_swap or (by_clock and lost and len(added) == 1):
        yield Finding(
            "number_changed", "fail", f"Number changed: {':'.join(each.plain for each in lost)} → {added[0].plain}."
        )
        return
    for number in sorted({each.plain for each in lost}):
        if added or not (number.isdigit() and len(number) < 3 and int(number) <= _WRITTEN_OUT):
            yield Finding("number_lost", "warn", f"Number missing: {number}.")


def number_texts(text: str) -> list[str]:
    """Return the numbers of a text, written without what groups digits."""
    return [each.plain for each in _numbers(text)]


def _are_alike(lost: _Number, added: _Number) -> bool:
    """Say whether one number is in the other's place: of as many digits, of the same digits, or instead of a time."""
    same_size = len(lost.plain.partition(".")[0]) == len(added.plain.partition(".")[0])
    return same_size or lost.digits == added.digits or ":" in lost.plain


def _differing(
    wanted: Sequence[_Number], given: Sequence[_Number], *, by_clock: bool
) -> tuple[list[_Number], list[_Number]]:
    """Return the numbers of each text that the other does not have in any form."""
    lost, added = _unmatched(wanted, given), _unmatched(given, wanted)
    parted, others = _in_parts(lost, added, by_clock), _in_parts(added, lost, by_clock)
    same, also = set(_in_parts(parted, others, by_clock)), set(_in_parts(others, parted, by_clock))
    lost, added = [each for each in lost if each not in same], [each for each in added if each not in also]
    lost, added = _not_rescaled(lost, added), _not_rescaled(added, lost)
    return _not_rewritten(lost, added, given), _not_rewritten(added, lost, wanted)


@lru_cache(maxsize=256)
def _numbers(text: str) -> tuple[_Number, ...]:
    bare = fold_digits(running_text(text))
    if "." in bare:
        bare = _NO_ZERO.sub("0.", _DATE.sub(r"\1 \2月 ", bare))
    if "半" in bare:
        bare = _HALF.sub(r"\1:30", bare)
    found = list[_Number]()
    if not bare.isascii():
        for match in _HAN_COMPOUND.finditer(bare):
            found.append(_compound(match[0]))
        if found:
            bare = _HAN_COMPOUND.sub(lambda match: " " * len(match[0]), bare)
    found += [_number(match, bare) for match in _NUMBER.finditer(bare) if not _is_in_a_name(bare, match.start())]
    return tuple(found)


def _is_in_a_name(text: str, start: int) -> bool:
    """Say whether digits belong to a name or a formula: ESP32, CHCl3."""
    before = text[start - 1 : start]
    return before == "_" or (before.isascii() and before.isalpha())


def _number(match: re.Match[str], text: str) -> _Number:
    parts = tuple(part.lstrip("0") or "0" for part in re.findall(r"\d+", match[0]))
    if _IS_TIME.search(match[0]):
        return _Number(f"{parts[0]}:{parts[1]:0>2}", parts[:2])
    whole = re.sub(r"\D", "", match[1]).lstrip("0") or "0"
    rest = (match[2] or "").rstrip("0")
    is_scaled = _scale_word().match(text, match.end()) is not None
    is_month = _MONTH.match(text, match.end()) is not None
    is_free = is_month or _OTHER_UNITS.match(text, match.end()) is not None
    return _Number(f"{whole}.{rest}" if rest else whole, parts, is_scaled, is_free)


def _compound(text: str) -> _Number:
    """Return the number that Chinese and Japanese write in parts: 4億5千万."""
    total, group = Decimal(0), Decimal(0)
    for digits, scales in re.findall(r"(\d[\d,.]*)([十百千万萬億亿兆]*)", text):
        small = sum(_HAN_SCALES[scale] for scale in scales if _HAN_SCALES[scale] < 4)
        large = max((_HAN_SCALES[scale] for scale in scales if _HAN_SCALES[scale] >= 4), default=0)
        group += Decimal(digits.replace(",", "").rstrip(".") or 0) * 10**small
        if large:
            total, group = total + group * 10**large, Decimal(0)
    plain = format((total + group).normalize(), "f")
    return _Number(plain, (plain,), is_scaled=True)


def _han_numbers(text: str) -> set[str]:
    """Return the numbers that are written in Chinese characters: 二十五."""
    if text.isascii():
        return set()
    return {str(_han_value(match[0])) for match in _HAN_NUMBER.finditer(text)}


def _han_value(text: str) -> int:
    if not any(sign in _HAN_SCALES for sign in text):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in text[:20]))
    total, digit = 0, 0
    for sign in text:
        if sign in _HAN_SCALES:
            total, digit = total + (digit or 1) * 10 ** _HAN_SCALES[sign], 0
        else:
            digit = _HAN_DIGITS[sign]
    return total + digit


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


def _not_rewritten(numbers: Sequence[_Number], others: Sequence[_Number], given: Sequence[_Number]) -> list[_Number]:
    """Leave out times without a colon (0500), decades (1970s as the 70s) and years of two digits (1981-87)."""
    parts = {part for number in given for part in number.parts}
    values = {int(number.plain) for number in others if number.plain.isdigit() and len(number.plain) < 5}
    minutes = [value for value in values if value < 60]
    clocks = {100 * hour + minute for hour in minutes if hour < 24 for minute in (*minutes, 0)}
    return [each for each in numbers if not _is_rewritten(each.plain, parts, values, clocks)]


def _is_rewritten(plain: str, parts: set[str], values: set[int], clocks: set[int]) -> bool:
    if ":" in plain:
        return int(plain.replace(":", "")) in values or (plain.endswith(":00") and plain[:-3] in parts)
    if not plain.isdigit() or len(plain) > 4:
        return False
    number = int(plain)
    hour, minute = divmod(number, 100)
    if len(plain) > 2 and hour < 24 and minute < 60 and {str(hour), str(minute)} <= parts:
        return True
    if number in clocks and len(plain) > 2 and hour < 24:
        return True
    is_decade, is_century = number % 10 == 0 and minute in values, not minute and hour + 1 in values
    if 1000 < number < _LAST_YEAR and (is_decade or is_century):
        return True
    if 1000 < number < _LAST_YEAR + _BUDDHIST and not values.isdisjoint((number + _BUDDHIST, number - _BUDDHIST)):
        return True
    years = [value for value in values if 1000 < value < _LAST_YEAR]
    return number < 100 and any(value % 100 == number for value in years)


@lru_cache(maxsize=1)
def _scale_word() -> re.Pattern[str]:
    lines = (files("polyjudge.checks") / "scale_words.txt").read_text(encoding="utf-8").splitlines()
    known = [re.escape(word) for line in lines if not line.startswith("#") for word in line.split()]
    return re.compile(rf"[kK](?![A-Za-z])|[\s\u00a0-]{{0,2}}(?:{'|'.join(known)})", re.IGNORECASE)
