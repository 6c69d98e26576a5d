"""Is anything missing from a translation: its end, sentences in it, or most of its length?"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import category

from msgspec.structs import replace

from polyjudge.records.findings import Finding, Severity
from polyjudge.text.segments import prose

_SHORTEST_JUDGED = 10
_ORDER_OF_MAGNITUDE = 10
_LENGTHS = ((20, 0.0, 3.5), (40, 0.3, 2.8), (100, 0.5, 2.3))
"""From so many letters of source on, shorter or longer than this many times the usual length is wrong."""
_SHORTENED, _LENGTHENED = (120, 0.7), (30, 1.8)
"""From so many letters of source on, less or more than these shares of the usual length are unusual: a warning."""
_ENDS = ".!?。！？।॥؟۔։።။។…"
_DANGLING = ",;:-–—（(［「『„‚、，،؛"
_QUOTES = "“‘«»"
"""Each opens in some languages and closes in others."""
_LONGEST_END = 12
"""Characters that an abbreviation at the end of a text may have."""
_CLOSED = "」』"
"""Before these, Japanese and Chinese write no full stop."""
_KEY = re.compile(r"[a-z]+(?:[-_.][a-z]+)+\Z")
"""A source that is a key and not a text: translator-credits."""
_KEYWORDS = 3
"""A source with so many semicolons is a list of keywords, to which a translator adds others."""
_DENSE = (
    (re.compile("[\u3400-\u9fff]"), 2.2),
    (re.compile("[\uac00-\ud7af]"), 1.4),
    (re.compile("[\u3040-\u30ff]"), 1.0),
    (re.compile("[\u1200-\u139f]"), 0.5),
    (re.compile("[\u0590-\u05ff]"), 0.25),
    (re.compile("[\u0b80-\u0bff\u1000-\u109f\u1780-\u17ff]"), -0.15),
    (re.compile("[\u0300-\u036f]"), -1.0),
)
"""Characters that say more or less than a letter of an alphabet, and how many letters more.

Chinese, Korean, kana, Ethiopic, Hebrew; Tamil, Burmese and Khmer, which write one syllable with several; accents.
"""
_ANY_DENSE = re.compile(f"[{''.join(signs.pattern.strip('[]') for signs, _ in _DENSE)}]")
_SENTENCE_END = re.compile(rf"(?<![{re.escape(_ENDS)}])[{re.escape(_ENDS)}]++(?=\s|$|[\"'”’“‘»«」』)）])|[。！？।]")
_NO_END = re.compile(
    r"(?:\.\.|․․|…)[.…․]*|(?:^|(?<=\n))[ \t]{0,8}(?:\d{1,3}|[A-Za-z])\.(?=\s)"
    r"|\b(?:etc|vs|approx|No|Nr|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|[A-Za-z](?:\.[A-Za-z]){1,4})\.(?=\s{0,2}(?:$|[a-z\d,;]))"
)
"""Points that end no sentence: a pause, the number of a list, an abbreviation."""
_ENDS_THERE = {(";", "el"), (":", "am"), (":", "hy")}
"""Marks that end a sentence in one language: the Greek question mark, Ethiopic and Armenian full stops as typed."""
_NO_END_MARKS = {"th", "lo"}
"""Languages that end sentences without a mark."""
_FEWEST_SENTENCES = 4
_MISSING: tuple[tuple[int, float, float, Severity], ...] = (
    (6, 0.7, 0.95, "fail"),
    (4, 0.9, 0.7, "fail"),
    (6, 0.8, 1.0, "warn"),
    (4, 0.9, 0.85, "warn"),
)
"""From so many sentences on, and with at most these shares of the sentences and of the usual length, some are missing.

A text with fewer sentences that is as long as usual has joined some.
"""
_ALSO_MISSING = {"missing_sentences", "wrong_length", "number_lost", "question_lost"}
_CACHED_TEXTS = 256
"""Cached texts: several checks ask for their length, and a source occurs in every language."""
_SHORT_AND_CUT = 0.85
"""With less than this share of the usual length, a text that ends in the middle of a sentence was surely cut off."""


def cut_off(text: str, source: str, language: str = "") -> Iterator[Finding]:
    """Find a text that ends before its source does; a warning where it can be suspected but not known."""
    end, theirs = text.rstrip(), source.rstrip()
    if not end or not _ends_sentence(theirs[-_LONGEST_END:]):
        return
    place = len(end) - 1
    quotes = end.rstrip(f"\"'”’」』)）{_QUOTES}")
    if _dangles(end, language):
        yield Finding(
            "cut_off", "warn", f"The text ends with {end[-1]!r}, the source with {theirs[-1]!r}.", place, place + 1
        )
    elif (
        end[-1] not in _CLOSED
        and category(quotes[-1:] or " ")[0] in "LM"
        and language.partition("-")[0] not in _NO_END_MARKS
    ):
        count, given, ratio = sentence_count(source), sentence_count(text), usual_length_share(text, source)
        if (count > 1 and given < count) or ratio < 0.5:
            severity: Severity = "fail" if count > 1 and ratio < _SHORT_AND_CUT else "warn"
            yield Finding("cut_off", severity, "The text ends in the middle of a sentence.", place, place + 1)


@lru_cache(maxsize=_CACHED_TEXTS)
def _ends_sentence(end: str) -> bool:
    return _NO_END.sub("", end)[-1:] in tuple(_ENDS)


def _dangles(text: str, language: str) -> bool:
    if text[-1] in _QUOTES:
        return text[-2:-1].isspace() or text[-2:-1] in "([（"
    if (text[-1], language[:2]) in _ENDS_THERE:
        return False
    return text[-1] in _DANGLING


def corroborated(found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of a text; an end within a sentence is sure where something else is missing as well."""
    is_incomplete = any(each.kind in _ALSO_MISSING for each in found)
    for each in found:
        yield replace(each, severity="fail") if each.kind == "cut_off" and is_incomplete else each


def missing_sentences(text: str, source: str, language: str = "") -> Iterator[Finding]:
    """Find a text of several sentences that is shorter than its source and has fewer of them."""
    count = sentence_count(source) if len(source) > 10 * _FEWEST_SENTENCES else 0
    if count < _FEWEST_SENTENCES or language.partition("-")[0] in _NO_END_MARKS:
        return
    given, ratio = sentence_count(text), usual_length_share(text, source)
    for fewest, share, shortened, severity in _MISSING:
        if count >= fewest and 0 < given <= share * count and ratio < shortened:
            message = f"The source has {count} sentences, the text {given}."
            yield Finding("missing_sentences", severity, message)
            return


def length(text: str, source: str) -> Iterator[Finding]:
    """Find a text that is much longer or shorter than a translation of its source usually is."""
    size = _weight(source)
    if size < _SHORTEST_JUDGED or not text.strip() or _KEY.match(source) or source.count(";") >= _KEYWORDS:
        return
    ratio = usual_length_share(text, source)
    limits = [1 / _ORDER_OF_MAGNITUDE, _ORDER_OF_MAGNITUDE]
    for least, shortest, longest in _LENGTHS:
        if size >= least:
            limits = [max(limits[0], shortest), min(limits[1], longest)]
    longer = "shorter" if ratio < 1 else "longer"
    if not limits[0] < ratio < limits[1]:
        yield Finding("wrong_length", "fail", f"Much {longer} than expected: {ratio:.0%} of the usual length.")
    elif (size >= _SHORTENED[0] and ratio < _SHORTENED[1]) or (size >= _LENGTHENED[0] and ratio > _LENGTHENED[1]):
        yield Finding("wrong_length", "warn", f"{longer.capitalize()} than expected: {ratio:.0%} of the usual length.")


@lru_cache(maxsize=_CACHED_TEXTS)
def sentence_count(text: str) -> int:
    """Return how many sentences a text has, by the marks that end them."""
    return len(_SENTENCE_END.findall(_NO_END.sub(" ", prose(text))))


def usual_length_share(text: str, source: str) -> float:
    """Return how long a text is, as a share of the usual length of a translation of its source."""
    return _weight(text) / max(_weight(source), 1.0)


@lru_cache(maxsize=_CACHED_TEXTS)
def _weight(text: str) -> float:
    """Return the length of a text in letters of an alphabet; a sign of Chinese or a syllable of Korean says more."""
    if not _ANY_DENSE.search(text):
        return len(text)
    return len(text) + sum(more * len(signs.findall(text)) for signs, more in _DENSE)
