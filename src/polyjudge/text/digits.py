"""Numbers as people of any script write them."""

import re
import unicodedata

_DIGIT = re.compile(r"\d")
_SIGNS = str.maketrans({"٫": ".", "．": ".", "／": "/", "∕": "/", "⁄": "/", "−": "-", "－": "-", "＋": "+"})
_NUMBER = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)(?:\s*(?:/|out of)\s*([0-9]+(?:\.[0-9]+)?))?")


def fold_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script written as 0 to 9, and signs of numbers likewise."""
    if text.isascii():
        return text
    return _DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text).translate(_SIGNS)


def plain_number(text: str) -> tuple[float, float | None] | None:
    """Read text that is nothing but a number, such as '85' or '85/100': the number, and what it is out of."""
    match = _NUMBER.fullmatch(fold_digits(text).strip())
    if match is None:
        return None
    return float(match[1]), float(match[2]) if match[2] else None
