"""Repair slightly broken JSON that has only one possible meaning.

Judges write trailing commas, single or typographic quotes, comments, raw line breaks, digits of other scripts, and
incomplete objects. All other deviations are errors, such as a key given twice with different values, or a number at the
end of the text that may be incomplete.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polyjudge.text.numbers import fold_digits, plain_number

_BLANK = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*[\s\S]*?\*/)*")
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.){0,1000}+"|(?P<comment>//[^\n]*|#[^\n]*|/\*(?:(?!\*/)[\s\S]){0,500}\*/)')
_ENDS_WITH_KEY = re.compile(r'"[^"\n]*"[ \t]*:[ \t]*\Z')
_CLOSING_QUOTES = {  # each opening mark and what may close it
    '"': '"',
    "'": "'",
    "`": "`",
    "＂": "＂",
    "“": "”“",
    "”": "”",
    "„": "“”",
    "‘": "’‘",
    "’": "’",
    "«": "»",
    "「": "」",
}
_IDENTIFIER = re.compile(r"[^\W\d][\w-]*")
_WORD = re.compile(r"[^\s,，}\]｝:：]+")
_AFTER_STRING = re.compile(r"\s*(?:[,，:：}\]｝]|\Z|//|/\*|#|\n)")
_QUOTED_KEY = re.compile(r'"[^\W\d][\w -]{0,40}"\s*[:：]')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}
_NO_NUMBERS = {"nan", "infinity", "inf"}
_COMMAS, _COLONS, _OPEN, _CLOSE = ",，", ":：", "{｛", "}｝"
_BRACES = re.compile("[{｛}｝]")
_STRINGS_AND_BRACES = re.compile(r'"(?:[^"\\\n]|\\.){0,1000}+"|[{｛}｝]')
_INSIDE = r'"(?:[^"\\]|\\.){0,200}+"|[^{}"]{1,200}+'
_TO_ITS_END = rf"(?:{_INSIDE}|\{{(?:{_INSIDE}){{0,50}}+\}}){{0,100}}+[}}｝]"
"""From a value to the brace that closes its object, over strings and objects; bounded, so that time is linear."""
_DEEPEST = 32
_ATTEMPTS = 8
"""Opening braces before a wanted key that are tried; a constant, so that time is linear."""
_LONGEST = 32_768
"""Maximum characters of a reply that is repaired."""


class BrokenJson(ValueError):  # noqa: N818 - turned into our own error by the caller
    """The text cannot be parsed even leniently, or has several possible meanings."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """An object parsed from broken JSON, and its position in the text."""

    value: dict[str, Any]
    start: int
    end: int


def repair_object(text: str, wanted: tuple[str, ...]) -> Repaired | None:
    """Return the only object with the wanted keys in a broken text, or None."""
    if len(text) > _LONGEST:
        return None
    if not wanted:
        return _only_object(text)
    places = [place for key in wanted for place in _key_places(text, key)]
    if len(places) != len(wanted):
        return None
    first, start = min(places), len(text)
    for _ in range(_ATTEMPTS):
        start = max(text.rfind(brace, 0, min(start, first)) for brace in _OPEN)
        if start < 0:
            return None
        found = _read(text, start, wanted)
        if found is not None and all(key in found.value for key in wanted):
            return found
    return None


def _only_object(text: str) -> Repaired | None:
    """Return the only object of a text if its keys are unknown, or None."""
    start = min((place for brace in _OPEN if (place := text.find(brace)) >= 0), default=-1)
    found = _read(text, start) if start >= 0 else None
    if found is None or not found.value or any(brace in text[found.end :] for brace in _OPEN):
        return None
    return found


def _read(text: str, start: int, exact_keys: tuple[str, ...] = ()) -> Repaired | None:
    reader = _Reader(text, start, exact_keys)
    try:
        return Repaired(reader.read_object(), start, reader.place)
    except BrokenJson:
        return None


def comments(text: str) -> str:
    """Return the comments in a broken object, one per line."""
    return "\n".join(match[0].strip("/*# \t") for match in _COMMENT.finditer(text) if match["comment"])


def ends_with_key(text: str) -> bool:
    """Return whether `text` ends with a key and a colon, without a value."""
    return _ENDS_WITH_KEY.search(text) is not None


def mentions(text: str, keys: Iterable[str]) -> bool:
    """Return whether `text` has one of `keys` as a key after an opening brace."""
    first = min((place for brace in _OPEN if (place := text.find(brace)) >= 0), default=-1)
    return first >= 0 and any(place > first for key in keys for place in _key_places(text, key))


def unclosed_part(text: str) -> str:
    """Return the text from the first unclosed brace on, or an empty text.

    Braces in strings do not count; but if a quotation mark is missing, strings are unknown, so both are tried.
    """
    return text[min(_unclosed(text, _BRACES), _unclosed(text, _STRINGS_AND_BRACES)) :]


def _unclosed(text: str, marks: re.Pattern[str]) -> int:
    """Return the position of the first unclosed brace, or the end of the text."""
    depth, start = 0, -1
    for match in marks.finditer(text):
        if match[0] in _OPEN:
            start = match.start() if depth == 0 else start
            depth += 1
        elif depth and match[0] in _CLOSE:
            depth -= 1
    return start if depth else len(text)


def _key_places(text: str, key: str) -> list[int]:
    """Return the ends of `key` as a key with a value, unlike in `{"score": <0-100>}`, which explains the form.

    If such an object is not closed, it may be a verdict that was cut off, about a text such as `<b>`.
    """
    return [match.end() for match in _key_pattern(key).finditer(text)]


@lru_cache(maxsize=256)
def _key_pattern(key: str) -> re.Pattern[str]:
    quotes = re.escape("".join({*_CLOSING_QUOTES, *"".join(_CLOSING_QUOTES.values())}))
    quote = f"[{quotes}]"
    name = re.escape(key)
    described = r"<[^<>\n]{1,200}>"
    form = rf"(?:{quote}{described}[^{quotes}\n]{{0,200}}+{quote}|{described}|\.\.\.|…){_TO_ITS_END}"
    return re.compile(rf"(?:{quote}{name}{quote}|[{{｛,，]\s*{name})(?=\s*[:：](?!\s*(?:{form})))")


class _Reader:
    """Parses one broken object from its opening brace."""

    def __init__(self, text: str, start: int, exact_keys: tuple[str, ...]) -> None:
        self.text = text
        self.exact_keys = exact_keys
        """Keys whose value must be complete; an incomplete reason is accepted."""
        self.place = start
        self.depth = 0
        self.cut_text = False
        """The text ended inside a string."""

    def read_object(self) -> dict[str, Any]:
        self._go_deeper()
        value: dict[str, Any] = {}
        while not self._at_end_of(_CLOSE):
            key = self._key()
            if not self._passed_colon():
                break  # cut off before its value: only the pairs before it are kept
            new = self._value()
            if self.cut_text and not isinstance(new, dict | list) and key in self.exact_keys:
                break  # the complete text may differ
            if key in value and json.dumps(value[key]) != json.dumps(new):
                raise BrokenJson(f"{key!r} is given twice with different values")
            value[key] = new
            self._separator(_CLOSE)
        self.depth -= 1
        return value

    def _array(self) -> list[Any]:
        self._go_deeper()
        values: list[Any] = []
        while not self._at_end_of("]"):
            values.append(self._value())
            self._separator("]")
        self.depth -= 1
        return values

    def _go_deeper(self) -> None:
        self.place += 1
        self.depth += 1
        if self.depth > _DEEPEST:
            raise BrokenJson("nested too deeply")

    def _at_end_of(self, closers: str) -> bool:
        """Skip the closing bracket; return whether there was one, or the text ends here."""
        if not self._skip_blank():
            return True
        if self.text[self.place] in closers:
            self.place += 1
            return True
        return False

    def _separator(self, closers: str) -> None:
        before = self.place
        if not self._skip_blank():
            return
        mark = self.text[self.place]
        if mark in _COMMAS:
            self.place += 1
        elif mark not in closers and "\n" not in self.text[before : self.place] and not self._is_at_key_after_number():
            raise BrokenJson("neither a comma nor the end after a value")

    def _is_at_key_after_number(self) -> bool:
        """Return whether only the comma is missing, as in `"score": 80 "reason": …`."""
        is_after_number = re.search(r"[0-9]\s+\Z", self.text[max(0, self.place - 40) : self.place]) is not None
        return is_after_number and _QUOTED_KEY.match(self.text, self.place) is not None

    def _key(self) -> str:
        if self._next() in _CLOSING_QUOTES:
            return self._string()
        if match := _IDENTIFIER.match(self.text, self.place):
            self.place = match.end()
            return match[0]
        raise BrokenJson("expected a key")

    def _passed_colon(self) -> bool:
        if self._skip_blank() and self._next() not in _COLONS:
            raise BrokenJson("a key without a colon")
        self.place += 1
        return self._skip_blank()

    def _value(self) -> Any:
        mark = self._next()
        if mark in _OPEN:
            return self.read_object()
        if mark == "[":
            return self._array()
        if mark in _CLOSING_QUOTES:
            return self._string()
        return self._bare()

    def _bare(self) -> Any:
        match = _WORD.match(self.text, self.place)
        if match is None or match.end() == len(self.text):
            raise BrokenJson("a value is missing, or may be cut off")
        self.place = match.end()
        word = fold_digits(match[0])
        if word.lower() in _LITERALS:
            return _LITERALS[word.lower()]
        if word.lower().lstrip("+-") in _NO_NUMBERS:
            raise BrokenJson(f"{word} is not a number")
        number = plain_number(word)
        if number is None and not _IDENTIFIER.fullmatch(word):
            raise BrokenJson(f"{word!r} is not a value")
        return number[0] if number and number[1] is None else word

    def _string(self) -> str:
        closers = _CLOSING_QUOTES[self.text[self.place]]
        stop = re.compile(f"[{re.escape(closers)}\\\\]")
        pieces: list[str] = []
        place = self.place + 1
        while match := stop.search(self.text, place):
            pieces.append(self.text[place : match.start()])
            if match[0] == "\\":
                piece, place = self._escape(match.end())
                pieces.append(piece)
            elif _AFTER_STRING.match(self.text, match.end()):
                self.place = match.end()
                return _with_pairs_joined("".join(pieces))
            else:
                pieces.append(match[0])  # a quotation mark inside the text that was not escaped
                place = match.end()
        self.place = len(self.text)
        self.cut_text = True
        return _with_pairs_joined("".join(pieces) + self.text[place:])

    def _escape(self, place: int) -> tuple[str, int]:
        """Return the character of the escape at `place`, and where it ends."""
        digits = self.text[place + 1 : place + 5]
        if self.text[place : place + 1] == "u" and re.fullmatch("[0-9a-fA-F]{4}", digits):
            return chr(int(digits, 16)), place + 5
        mark = self.text[place : place + 1]
        return _ESCAPES.get(mark, mark), place + 1

    def _next(self) -> str:
        if not self._skip_blank():
            raise BrokenJson("cut off")
        return self.text[self.place]

    def _skip_blank(self) -> bool:
        """Skip white space and comments; return whether any text is left."""
        blank = _BLANK.match(self.text, self.place)
        self.place = blank.end() if blank else self.place
        return self.place < len(self.text)


def _with_pairs_joined(text: str) -> str:
    """Join surrogate pairs that were escaped separately, as JSON does."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
