"""Read numbers in the digits of any script."""

import re
import unicodedata

_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,(?:\d{1,2}|\d{4,})")
_SIGNS = str.maketrans({"٫": ".", "．": ".", "／": "/", "∕": "/", "⁄": "/", "−": "-", "－": "-", "＋": "+"})
_NUMBER = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+|,[0-9])?)(?:\s*(?:/|out of)\s*([0-9]+(?:\.[0-9]+)?)|\s?(%))?")


def fold_digits(text: str) -> str:
    """Replace decimal digits and number signs of every script by those of ASCII."""
    if text.isascii():
        return text
    return _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text).translate(_SIGNS)


def with_decimal_point(text: str) -> str:
    """Return a number with a decimal point in place of its decimal comma; one before three digits is ambiguous."""
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text


def plain_number(text: str) -> tuple[float, float | None] | None:
    """Parse a text that is only a number, such as '85', '85/100' or '85%'; return the number and its maximum.

    A comma before a single digit is a decimal comma; before more digits it may separate thousands or two numbers.
    """
    match = _NUMBER.fullmatch(fold_digits(text).strip())
    if match is None:
        return None
    out_of = 100.0 if match[3] else float(match[2]) if match[2] else None
    return float(match[1].replace(",", ".")), out_of
