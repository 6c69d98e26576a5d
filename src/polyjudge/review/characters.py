"""Characters that are not seen, doubled words, and texts that are too long."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any
from unicodedata import name as name_of
from unicodedata import normalize

from polyjudge.records.findings import Finding, Severity
from polyjudge.records.translation import Language
from polyjudge.text.segments import words

from .language_facts import base_of, language_facts

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u115f\u1160\u3164]")
_JOINERS = "\u200c\u200d"
_WITH_JOINERS = {"Arab", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh", "Mymr", "Khmr"}
_OPENING = {"\u202a": "\u202c", "\u202b": "\u202c", "\u202d": "\u202c", "\u202e": "\u202c"} | dict.fromkeys(
    "\u2066\u2067\u2068", "\u2069"
)
_EMOJI_JOINED = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")
_SHORTEST = 2


def character_findings(text: str, source: str, language: Language) -> Iterator[Finding]:
    """Find invisible characters that the language does not need, and marks of direction that are not closed."""
    if text.isascii():
        return
    for match in _INVISIBLE.finditer(text):
        char, place = match[0], match.start()
        if char not in source and not _is_needed(char, place, text, language):
            message = f"Invisible character: {name_of(char, 'unassigned').lower()} (U+{ord(char):04X})."
            yield Finding("invisible_character", "warn", message, place, place + 1)
            break
    open_marks = list[str]()
    for char in text:
        if char in _OPENING:
            open_marks.append(char)
        elif char in "\u202c\u2069" and open_marks and _OPENING[open_marks[-1]] == char:
            open_marks.pop()
    if open_marks and not any(mark in source for mark in open_marks):
        message = f"Bidirectional control is not closed: {name_of(open_marks[-1]).lower()}."
        yield Finding("invisible_character", "warn", message)


def _is_needed(char: str, place: int, text: str, language: Language) -> bool:
    if char in _JOINERS:
        around = text[max(0, place - 2) : place + 3]
        return not _WITH_JOINERS.isdisjoint(language.scripts) or _EMOJI_JOINED.search(around) is not None
    if char == "\u200b":
        return base_of(language.tag) in language_facts().without_spaces
    return language.direction == "rtl" and char not in "\ufeff\u2060\u115f\u1160\u3164"


def doubled_words(text: str, source: str, language: Language) -> Iterator[Finding]:
    """Find a doubled word; `text` has only words."""
    base, facts = base_of(language.tag), language_facts()
    severity: Severity = "info" if base in facts.repeat_words else "warn"
    allowed = facts.side_by_side.get(base, ())
    found = words(text)
    for first, second in pairwise(found):
        plain = first.text.casefold()
        if plain != second.text.casefold() or len(plain) < _SHORTEST or plain in allowed:
            continue
        is_joined = "-" in (text[max(0, first.start - 1) : first.start], text[second.end : second.end + 1])
        gap = text[first.end : second.start]
        # Two spaces are a placeholder that was taken out, or stand between a name and what is said of it.
        if not is_joined and len(gap) == 1 and gap.isspace() and gap != "\n":
            is_of_source = re.search(r"\b(\w+)\s+\1\b", source, re.IGNORECASE) is not None
            if (
                not is_of_source
                and first.text.isupper() == second.text.isupper()
                and not (first.text.islower() and second.text.istitle())
            ):
                message = f"Repeated word: {first.text} {second.text}."
                yield Finding("doubled_word", severity, message, first.start, second.end)
                return


def length_findings(text: str, max_length: int | None) -> Iterator[Finding]:
    """Find a text that is longer than allowed: as the reader counts it, or only with its combining characters."""
    if max_length is None or len(text) <= max_length:
        return
    points = len(normalize("NFC", text))
    seen = len(_graphemes().findall(text))
    if seen > max_length:
        message = f"Too long: {seen} characters; at most {max_length} are allowed."
        yield Finding("too_long", "fail", message, min(max_length, len(text)), len(text))
    elif points > max_length:
        message = f"Too long: {points} code points of {seen} characters; at most {max_length} are allowed."
        yield Finding("too_long", "warn", message)


@lru_cache(maxsize=1)
def _graphemes() -> Any:
    import regex  # loads slowly, and few files have limits

    return regex.compile(r"\X")
