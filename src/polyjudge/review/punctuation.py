"""Punctuation of a message: the same kind of mark at the end as in its source, and the marks of the language."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from polyjudge.records.findings import Finding, Severity
from polyjudge.records.translation import Language

from .language_facts import base_of, language_facts

End = Literal["colon", "full stop", "question mark", "exclamation mark", "ellipsis", ""]
_CLOSING = "\"'”’»«“›)）]】」』>}*_ \t\n\u00a0\u202f\u200f\u200e\u2069"
_ENDS: tuple[tuple[End, str], ...] = (
    ("ellipsis", r"(?:\.{3,}|(?<=\w)\.{2}|…|⋯|‥|。{2,}|․{2,})"),
    ("colon", "[:：︓፡፦៖׃∶՝]"),
    ("question mark", "[?？؟፧⁇⁈]"),
    ("exclamation mark", "[!！]"),
    ("full stop", "[.。।॥۔։።។။｡．܁᙮།]"),
)
_ENDING: tuple[tuple[End, "re.Pattern[str]"], ...] = tuple(
    (name, re.compile(rf"{marks}\s*\Z")) for name, marks in _ENDS
)
_LONGEST_END = 20
_NO_QUESTION_MARKS = {"th", "lo", "km", "my", "bo", "ja", "zh", "yue"}
_ARMENIAN = re.compile("[՞՜]")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Za-z]|\b(?:etc|vs|Inc|Ltd|Corp|Co|Jr|No|min|max|sec|resp|approx|misc|addr|e\.g|i\.e))\.\Z"
)
_SENTENCE_WORDS = 3
"""A label of fewer words ends with a full stop only if its last word is an abbreviation."""
_SPANISH = {"?": "¿", "!": "¡"}
_SPANISH_END = re.compile(r"[?!](?=\s|$|[\"')\]»])")
_AROUND_WORDS = " \t\n\u00a0\"'“”’«»()"
"""What may be between a word and its mark: a placeholder that was taken out left spaces, perhaps in quotation marks."""
_BEFORE = 60


def punctuation_findings(text: str, source: str, language: Language, *, ends_alike: bool = True) -> Iterator[Finding]:
    """Find another kind of mark at the end, and marks that the language writes otherwise; both texts have only words.

    `ends_alike` says that neither ends with a placeholder, so that their ends can be compared.
    """
    base = base_of(language.tag)
    if ends_alike:
        yield from _changed_end(text, source, base)
    for place, mark, right, severity in _foreign_marks(text, source, base):
        message = f"{language.name} writes {right!r} and not {mark!r}."
        yield Finding("language_mark", severity, message, place, place + 1)
    if base == "es":
        yield from _spanish(text, source)
    yield from _quotes(text, source, language)


def end_of(text: str, base: str = "") -> End:
    """Return the kind of mark that a text ends with, before closing quotes and brackets."""
    end = text.rstrip(_CLOSING)
    if base == "el" and end.endswith((";", "\u037e")):
        return "question mark"
    if base == "hy" and (match := _ARMENIAN.search(end)):
        return "question mark" if match[0] == "՞" else "exclamation mark"
    if base == "hy" and end.endswith(":"):
        return "full stop"
    last = end[-_LONGEST_END:]
    for name, pattern in _ENDING:
        if pattern.search(last):
            return name
    return ""


def _changed_end(text: str, source: str, base: str) -> Iterator[Finding]:
    theirs, ours = end_of(source), end_of(text, base)
    if ours == theirs or not text.strip() or _is_accepted_end(theirs, ours, base):
        return
    if theirs == "full stop" and (
        len(source.split()) < _SENTENCE_WORDS or _ABBREVIATION.search(source.rstrip(_CLOSING))
    ):
        return
    if ours == "full stop" and _ABBREVIATION.search(text.rstrip(_CLOSING)):
        return
    is_weak = {theirs, ours} <= {"full stop", "exclamation mark", ""} or not theirs
    severity: Severity = "info" if is_weak else "warn"
    source_end = f"with {_article(theirs)}" if theirs else "without a mark"
    text_end = f"with {_article(ours)}" if ours else "without one"
    message = f"The source ends {source_end}, the translation {text_end}."
    yield Finding("end_mark_changed", severity, message)


def _is_accepted_end(theirs: End, ours: End, base: str) -> bool:
    """Say whether two ends are the same in a language, or are found by another check."""
    if theirs == "question mark":
        return True  # found as `question_lost`
    if (
        base in language_facts().without_stops
        and "" in (theirs, ours)
        and {theirs, ours} <= {"full stop", "exclamation mark", ""}
    ):
        return True
    if base == "hy" and {theirs, ours} == {"colon", "full stop"}:
        return True
    return base in _NO_QUESTION_MARKS and ours == "question mark"


def _article(end: End) -> str:
    return f"{'an' if end[0] in 'ae' else 'a'} {end}"


def _foreign_marks(text: str, source: str, base: str) -> Iterator[tuple[int, str, str, Severity]]:
    """Yield the first of each mark that the language writes otherwise, after a letter of its script."""
    for pattern, instead, severity in _patterns(base):
        seen = {mark for mark in ";," if source.count(mark) >= max(2, len(source.split()) // 3)}  # a list of keywords
        if end_of(source) != "full stop":
            seen.add(".")  # of an abbreviation
        for match in pattern.finditer(text):
            if match[0] not in seen:
                seen.add(match[0])
                yield match.start(), match[0], instead[match[0]], severity


@lru_cache(maxsize=256)
def _patterns(base: str) -> tuple[tuple[Any, Mapping[str, str], Severity], ...]:
    import regex  # loads slowly

    found = list[tuple[Any, Mapping[str, str], Severity]]()
    for each in language_facts().marks:
        if base in each.languages:
            letters = "".join(rf"\p{{sc={script}}}" for script in each.script.split())
            marks = "".join(map(re.escape, each.instead))
            # Not in an ellipsis, an abbreviation, a number, or a path.
            # Two spaces are a placeholder that was taken out.
            before = rf"[{letters}]{{2}}\p{{M}}*[)\"”»]?(?:\s{{2,}})?"
            pattern = regex.compile(rf"(?<={before})[{marks}](?![.\w/*?!)])")
            found.append((pattern, each.instead, each.severity))
    return tuple(found)


def _spanish(text: str, source: str) -> Iterator[Finding]:
    lacking = [mark for mark, start in _SPANISH.items() if mark in source and mark in text and start not in text]
    for match in _SPANISH_END.finditer(text) if lacking else ():
        mark, word = match[0], text[max(0, match.start() - _BEFORE) : match.start()].rstrip(_AROUND_WORDS)[-2:]
        if mark in lacking and len(word) > 1 and word.isalpha():
            message = f"In Spanish, what ends with {mark!r} starts with {_SPANISH[mark]!r}."
            yield Finding("language_mark", "warn", message, match.start(), match.end())
            return


def _quotes(text: str, source: str, language: Language) -> Iterator[Finding]:
    """Find English quotation marks that the source has too."""
    if "“" not in text or "”" not in text or "“" not in source:
        return
    base = base_of(language.tag)
    own = next(
        (each.marks for each in language_facts().quotes if language.tag in each.languages or base in each.languages), ""
    )
    if own:
        place = text.index("“")
        yield Finding("quotation_marks", "info", f"{language.name} writes {own}, not “ ”.", place, place + 1)
