"""Compare the numbers of a text with those of its source, however a language writes them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from polyjudge.records.findings import Finding, Severity
from polyjudge.text.numbers import fold_digits
from polyjudge.text.segments import running_text

_NUMBER = re.compile(
    r"(?=\d)((?<!\d)[012]?\d(?::|\s?[hH]\s?)[0-5]\d(?![\d:])"  # a time: 7:55, 7h55
    r"|[1-9]\d?(?:,\d\d){1,6},\d{3}(?!\d)"  # 12,34,567, as in India
    r"|[1-9]\d{0,2}(?:[.,٬'’\u00a0\u202f ]\d{3}){1,9}(?!\d)|\d+)(?:[.,](\d+))?"
)
_DIGITS = re.compile(r"\d+")
_IS_TIME = re.compile("[:hH]")
_HALF = re.compile(r"(\d{1,2})\s?[時时點点]半")
"""Half past, in Chinese and Japanese."""
_DATE = re.compile(r"(?=\d)(?<![\d.])(\d{1,2})\. ?(1[0-2]|0?[1-9])\.(?= ?\d{4}(?!\d)|(?![\d\w]))")
"""A day and a month, as in 12.6.2023: the month may be written in words."""
_NO_ZERO = re.compile(r"[.,](?=\d)(?:(?<=^.)|(?<=[\s(\[$€£¥–-].))")
_HAN_SCALES = {
    sign: zeros
    for zeros, signs in {1: "十십", 2: "百백", 3: "千천", 4: "万萬만", 8: "億亿억", 12: "兆조"}.items()
    for sign in signs
}
_HAN_COMPOUND = re.compile(
    r"\d[\d,.]*[十百千万萬億亿兆십백천만억조]+(?:\s?\d[\d,.]*[十百千万萬億亿兆십백천만억조]+)+(?:\d+(?![\d月日]))?"
    r"|\d[\d,.]*[万萬億亿兆]\d+(?![\d月日])"
)
_HAN_DIGITS = {
    sign: value
    for value, signs in enumerate(("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_HAN_NUMBER = re.compile("[〇零一二两兩三四五六七八九十百千]+")
_ROMAN = re.compile(
    r"\b(?=(?:[IVXLCDM]{2,15}|[VX])[eèmr]{0,3}\b)M{0,3}(?:C[MD]|D?C{0,3})"
    r"(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})(?<=[IVXLCDM])(?=[eèmr]{0,3}\b)"
)
_ROMAN_FIGURES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_AFTERNOON = re.compile(r"\d\s?p\.?\s?m\b", re.IGNORECASE)
_MONTH = re.compile(r"\s?(?:月|월)")
_OTHER_UNITS = re.compile(
    r"(?:st|nd|rd|th)[\s-]floor\b"
    r"|[\s-]?(?:\"|″|”|in\b|inch|ft\b|foot|feet|yards?\b|yds?\b|(?:nautical )?miles?\b|mi\b|mph\b"
    r"|pounds?\b|lbs?\b|oz\b|ounces?\b|gallons?\b|gal\b"
    r"|acres?\b|°?\s?F\b|degrees?|градус|fahrenheit|fuß"
    r"|zoll|meilen|pies\b|pulgadas|millas|libras|pieds|pouces|milles|фут|дюйм|мил[ьяие]"
    r"|フィート|インチ|マイル|ヤード|ポンド|エーカー|英尺|英寸|英里|磅|华氏|華氏)",
    re.IGNORECASE,
)
"""Units that a translation into another country's language may convert, and floors, which are counted from 0 or 1."""
_DEGREES = re.compile(r"\s?(?:[°º]|degrees?\b|grados?\b|Grad\b|stup|град|度|℃)")
_A_DEGREE = 9
"""Of Celsius, in ninths of a degree of Fahrenheit: what rounding may change."""
_CLOCK_DIGITS = 4
_WRITTEN_OUT = 12
"""Numbers up to this one are often written as words."""
_MANY = 3
"""So many different numbers are not all written in words: a part of the text is missing or invented."""
_LAST_YEAR = 2100
_CALENDARS = (543, 621, 622, 1911)
"""Years between calendars: Buddhist, as in Thailand; Persian; of the Republic, as in Taiwan."""
_LONGEST_CALENDAR = 2700
_FROM_SUNRISE = re.compile(r"\bsaa\b|ሰዓት", re.IGNORECASE)
"""Where hours are counted from six o'clock, in Swahili and Amharic."""
_RANGE = re.compile(r"\s?(?:[-–—~～]|\w{1,3})\s?\d[\d.,]*")
"""To another number, after which the word for thousands or millions follows for both."""


class _Number(NamedTuple):
    """A number of a text."""

    plain: str
    """Without what groups digits, and with a point for decimals."""
    parts: tuple[str, ...]
    """Its runs of digits: a time or a date is divided by other signs in other languages."""
    is_scaled: bool = False
    """A word such as *million* follows."""
    is_clock: bool = False
    """Four digits that may be a time: 0500."""
    is_degrees: bool = False
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
    clock = (12,) if _AFTERNOON.search(source) or _AFTERNOON.search(text) else ()
    if clock and (_FROM_SUNRISE.search(text) or _FROM_SUNRISE.search(source)):
        clock = (6, 12)
    lost, added = _differing(wanted, given, clock=clock)
    in_words = _han_numbers(text) | _roman_numbers(text)
    lost = [each for each in lost if each.plain not in in_words and not each.is_free]
    is_pair = bool(lost) and len(added) == 1 and not added[0].is_free
    if is_pair and not _is_half_to(lost[0], added[0]) and (clock or (len(lost) == 1 and _are_alike(lost[0], added[0]))):
        yield Finding(
            "number_changed", "fail", f"Number changed: {':'.join(each.plain for each in lost)} → {added[0].plain}."
        )
        return
    missing = sorted({each.plain for each in lost if added or not _is_written_out(each.plain)})
    severity: Severity = "fail" if len(missing) >= _MANY else "warn"
    for number in missing:
        yield Finding("number_lost", severity, f"Number missing: {number}.")


def number_texts(text: str) -> list[str]:
    """Return the numbers of a text, written without what groups digits."""
    return [each.plain for each in _numbers(text)]


def _is_half_to(lost: _Number, added: _Number) -> bool:
    """Say whether a time is half an hour before the other number: 2:30 as half of the third hour."""
    hour, _, minute = lost.plain.partition(":")
    return minute == "30" and added.plain.isdigit() and (int(added.plain) - int(hour)) % 12 == 1


def _is_written_out(number: str) -> bool:
    return number.isdigit() and len(number) < 3 and int(number) <= _WRITTEN_OUT


def _are_alike(lost: _Number, added: _Number) -> bool:
    """Say whether one number is in the other's place: of as many digits, of the same digits, or instead of a time."""
    same_size = len(lost.plain.partition(".")[0]) == len(added.plain.partition(".")[0])
    return same_size or lost.digits == added.digits or ":" in lost.plain


def _differing(
    wanted: Sequence[_Number], given: Sequence[_Number], *, clock: Sequence[int]
) -> tuple[list[_Number], list[_Number]]:
    """Return the numbers of each text that the other does not have in any form."""
    lost, added = _unmatched(wanted, given), _unmatched(given, wanted)
    parted, others = _in_parts(lost, added, clock), _in_parts(added, lost, clock)
    same, also = set(_in_parts(parted, others, clock)), set(_in_parts(others, parted, clock))
    lost, added = [each for each in lost if each not in same], [each for each in added if each not in also]
    lost, added = _not_rescaled(lost, added), _not_rescaled(added, lost)
    return _not_rewritten(lost, added, given), _not_rewritten(added, lost, wanted)


@lru_cache(maxsize=256)
def _numbers(text: str) -> tuple[_Number, ...]:
    bare = fold_digits(running_text(text))
    if "." in bare or "," in bare:
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
    parts = tuple(part.lstrip("0") or "0" for part in _DIGITS.findall(match[0]))
    if _IS_TIME.search(match[0]):
        return _Number(f"{parts[0]}:{parts[1]:0>2}", parts[:2])
    whole = "".join(_DIGITS.findall(match[1])).lstrip("0") or "0"
    rest = (match[2] or "").rstrip("0")
    range_end = _RANGE.match(text, match.end())
    ends = [match.end(), *([range_end.end()] if range_end else [])]
    is_scaled = any(_scale_word().match(text, end) for end in ends)
    is_month = _MONTH.match(text, match.end()) is not None
    is_free = is_month or _OTHER_UNITS.match(text, match.end()) is not None
    return _Number(
        f"{whole}.{rest}" if rest else whole,
        parts,
        is_scaled,
        len(match[0]) == _CLOCK_DIGITS and match[0].isdigit() and int(match[0]) < 2400,
        _DEGREES.match(text, match.end()) is not None,
        is_free,
    )


def _compound(text: str) -> _Number:
    """Return the number that Chinese and Japanese write in parts: 4億5千万."""
    total, group = Decimal(0), Decimal(0)
    for digits, scales in re.findall(r"(\d[\d,.]*)([十百千万萬億亿兆십백천만억조]*)", text):
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


def _roman_numbers(text: str) -> set[str]:
    """Return the numbers that are written in Roman figures, as centuries are in many languages: XXI."""
    return {str(_roman_value(match[0])) for match in _ROMAN.finditer(text)}


def _roman_value(text: str) -> int:
    values = [_ROMAN_FIGURES[sign] for sign in text]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


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


def _in_parts(numbers: Sequence[_Number], others: Sequence[_Number], clock: Sequence[int]) -> list[_Number]:
    """Return the numbers whose parts the others have, too: 7:55 is 7.55, and by the clock 3:30 pm is 15.30."""
    theirs = {part for number in others for part in number.parts}
    if clock:
        theirs |= {hour for part in theirs for hour in _other_hour(part, clock)} | {"0"}
    return [number for number in numbers if theirs.issuperset(number.parts)]


def _other_hour(part: str, shifts: Sequence[int]) -> set[str]:
    return {str(int(part) + sign * shift) for shift in shifts for sign in (1, -1)} if len(part) < 3 else set()


def _not_rescaled(numbers: Sequence[_Number], others: Sequence[_Number]) -> list[_Number]:
    """Leave out those that the others have in another unit: 30,000 as 30 thousand, 20.4 million as 2040万."""
    scaled = {number.digits for number in others if number.is_scaled}
    plain = {number.digits for number in others}
    return [each for each in numbers if each.digits not in (plain if each.is_scaled else scaled)]


def _not_rewritten(numbers: Sequence[_Number], others: Sequence[_Number], given: Sequence[_Number]) -> list[_Number]:
    """Leave out times without a colon (0500), decades (1970s as the 70s), years of two digits (1981-87), shares."""
    parts = {part for number in given for part in number.parts}
    values = {
        int(number.plain): number.is_clock for number in others if number.plain.isdigit() and len(number.plain) < 5
    }
    return [
        each
        for each in numbers
        if not _is_rewritten(each, parts, values) and not any(_are_converted(each, other) for other in others)
    ]


def _are_converted(one: _Number, other: _Number) -> bool:
    """Say whether one is a share or an amount and the other the same in percent or cents, or degrees on both scales."""
    if ":" in one.plain or ":" in other.plain:
        return False
    amount, amount_there = Decimal(one.plain), Decimal(other.plain)
    least, most = sorted((amount, amount_there))
    if least < 1 and 100 * least == most:
        return True
    is_warm = one.is_degrees or other.is_degrees
    return is_warm and min(abs(9 * least - 5 * (most - 32)), abs(9 * most - 5 * (least - 32))) < _A_DEGREE


def _is_rewritten(each: _Number, parts: set[str], values: Mapping[int, bool]) -> bool:
    """Say whether a number is among others in another form; of the others it is known which may be times: 0500."""
    plain = each.plain
    if ":" in plain:
        return int(plain.replace(":", "")) in values or (plain.endswith(":00") and plain[:-3] in parts)
    if not plain.isdigit() or len(plain) > 4:
        return False
    number = int(plain)
    hour, minute = divmod(number, 100)
    if len(plain) > 2 and hour < 24 and minute < 60 and {str(hour), str(minute)} <= parts:
        return True
    if (each.is_clock and (hour in values if not minute else {hour, minute} <= values.keys())) or values.get(
        100 * number
    ):
        return True
    is_decade, is_century = number % 10 == 0 and minute in values, not minute and hour + 1 in values
    if 1000 < number < _LAST_YEAR and (is_decade or is_century):
        return True
    if any(1000 < max(number, other) < _LONGEST_CALENDAR and abs(number - other) in _CALENDARS for other in values):
        return True
    return number < 100 and any(1000 < value < _LAST_YEAR and value % 100 == number for value in values)


@lru_cache(maxsize=1)
def _scale_word() -> re.Pattern[str]:
    lines = (files("polyjudge.checks") / "scale_words.txt").read_text(encoding="utf-8").splitlines()
    known = [re.escape(word) for line in lines if not line.startswith("#") for word in line.split()]
    return re.compile(rf"[kK](?![A-Za-z])|[\s\u00a0-]{{0,2}}(?:{'|'.join(known)})", re.IGNORECASE)
