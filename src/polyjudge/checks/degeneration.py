"""Output that is no translation in any language: copied, looping, cut off, far too long or too short."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from unicodedata import category

from polyjudge.records.findings import Finding, Severity
from polyjudge.text.segments import Word, plain_words, prose, running_text, shared_runs, words

_CHARACTERS_LOOKED_AT = 40_000
_REPEATS = 4
"""A part that comes so many times in a row is a loop, when it fills much of the text."""
_SAME_CHARACTERS = re.compile(r"(\S)\1{9,}")
_STRETCHED = re.compile(r"(\w)\1\1")
"""A word that is written longer for effect, `nooo`: its translation may be stretched as well."""
_SIGN_REPEATS = 50
"""Minimum repetitions of a character that is not a letter, because a row of dashes is no loop."""
_PERIODS_TRIED = 4
_FEWEST_WORDS = 6
"""Fewer may be talk: no, no, no, no!"""
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff]{10}|.{30}")
_FEWEST_SIGNS = 10
"""Where single characters are compared, a shorter loop may be laughter: 哈哈哈哈."""
_MORE_THAN_SOURCE = 3
_MUCH = 0.3
_UNTRANSLATED_WORDS = 3
_LONGEST_NAME = 3
_LONGEST_ABBREVIATION = 3
_SHORTEST_JUDGED = 10
_ORDER_OF_MAGNITUDE = 10
_LENGTHS = ((20, 0.0, 3.5), (40, 0.3, 2.8), (100, 0.5, 2.3))
"""From so many letters of source on, shorter or longer than this many times the usual length is wrong."""
_ENDS = ".!?。！？।॥؟۔։።។။…"
_DANGLING = ",;:-–—(（[「『„‚、，،؛"
_QUOTES = "“‘«»"
"""Each opens in some languages and closes in others."""
_OPENING = "\"'“‘„«「『*_([（"
_CODE = re.compile(r"[\[\]|<>*=_{}/\\]")
_KEY = re.compile(r"[a-z]+(?:[-_.][a-z]+)+\Z")
"""A source that is a key and not a text: translator-credits."""
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_ENDS_THERE = {(";", "el"), (":", "am")}
"""Marks that end a sentence in one language: the Greek question mark, the Ethiopic full stop as it is typed."""
_NO_END_MARKS = {"th", "lo"}
"""Languages that end sentences without a mark."""


def copied(text: str, source: str) -> Iterator[Finding]:
    """Find the source given back as it is, and parts of it that are not translated."""
    plain = running_text(text)
    theirs, ours = plain_words(running_text(source)), plain_words(plain)
    if not ours or not theirs:
        return
    found = words(plain)
    if ours == theirs:
        if all(_is_symbol(word.text) for word in found) and len(found) + len(text) > 2:
            return
        is_name = (
            text.count("-") != source.count("-")
            or len(found) == 1
            or (len(found) <= _LONGEST_NAME and all(map(_may_be_name, found)))
        )
        if len(theirs) > 1 or source.strip().casefold() == text.strip().casefold():
            yield Finding("source_copied", "warn" if is_name else "fail", "The source was given back untranslated.")
        return
    for first, last in shared_runs(ours, theirs, _UNTRANSLATED_WORDS):
        run = found[first:last]
        small = sum(not word.text[:1].isupper() for word in run)  # names are the same in any language
        if small > 1:
            start, end = run[0].start, run[-1].end
            is_title = 2 * small <= len(run) + 1 or text[start - 1 : start] in tuple(_OPENING)
            is_code = _CODE.search(text, start, end) is not None or text[start:end].count(",") >= len(run) - 1
            severity: Severity = "fail" if small > 2 and not is_title and not is_code else "warn"
            yield Finding("untranslated", severity, f"Left untranslated: {text[start:end]!r}.", start, end)


def _is_symbol(word: str) -> bool:
    """Say whether a word is a formula, a unit or a code: HCl, CH3, mol, F."""
    return len(word) < 3 or any(letter.isdigit() or letter.isupper() for letter in word[1:])


def _may_be_name(word: Word) -> bool:
    return word.text.istitle() or len(word.text) <= _LONGEST_ABBREVIATION


def looping(text: str, source: str = "") -> Iterator[Finding]:
    """Find a part that is repeated over and over."""
    loop = _longest_loop(text)
    theirs = None if loop is None else _longest_loop(source)
    if loop is None or (theirs is not None and loop[2] <= _MORE_THAN_SOURCE * theirs[2]):
        return
    start, end, times = loop
    if end - start == times and (_STRETCHED.search(source) or 3 * text[start] in source):
        return
    yield Finding("repetition", "fail", f"Repeated {times} times: {text[start:end][:30]!r}.", start, end)


def cut_off(text: str, source: str, language: str = "") -> Iterator[Finding]:
    """Find a text that ends before its source does; a warning, because it can be suspected but not known."""
    end, theirs = text.rstrip(), source.rstrip()
    if not end or not theirs or theirs[-1] not in _ENDS:
        return
    place = len(end) - 1
    quotes = end.rstrip(f"\"'”’」』)）{_QUOTES}")
    if _dangles(end, language):
        yield Finding(
            "cut_off", "warn", f"The text ends with {end[-1]!r}, the source with {theirs[-1]!r}.", place, place + 1
        )
    elif category(quotes[-1:] or " ")[0] in "LM" and language.partition("-")[0] not in _NO_END_MARKS:
        count = _sentences(source)
        if (count > 1 and _sentences(text) < max(count - 1, 1)) or _ratio(text, source) < 0.5:
            yield Finding("cut_off", "warn", "The text ends in the middle of a sentence.", place, place + 1)


def _dangles(text: str, language: str) -> bool:
    if text[-1] in _QUOTES:
        return text[-2:-1].isspace() or text[-2:-1] in "([（"
    if (text[-1], language[:2]) in _ENDS_THERE:
        return False
    return text[-1] in _DANGLING


def length(text: str, source: str) -> Iterator[Finding]:
    """Find a text that is much longer or shorter than a translation of its source usually is."""
    size = _weight(source)
    if size < _SHORTEST_JUDGED or not text.strip() or _KEY.match(source):
        return
    ratio = _ratio(text, source)
    limits = [1 / _ORDER_OF_MAGNITUDE, _ORDER_OF_MAGNITUDE]
    for least, shortest, longest in _LENGTHS:
        if size >= least:
            limits = [max(limits[0], shortest), min(limits[1], longest)]
    if not limits[0] < ratio < limits[1]:
        much = "shorter" if ratio < 1 else "longer"
        yield Finding("wrong_length", "fail", f"Much {much} than expected: {ratio:.0%} of the usual length.")


def _sentences(text: str) -> int:
    return len(re.findall(rf"[{re.escape(_ENDS)}]+(?=\s|$|[\"'”’»」』)）])|[。！？।]", prose(text)))


def _ratio(text: str, source: str) -> float:
    return _weight(text) / max(_weight(source), 1.0)


def _weight(text: str) -> float:
    """Return the length of a text in letters of an alphabet; a sign of Chinese or a syllable of Korean says more."""
    return len(text) + 1.5 * len(_DENSE.findall(text))


@lru_cache(maxsize=256)
def _longest_loop(text: str) -> tuple[int, int, int] | None:
    """Return where a loop begins and ends, and how often its part comes, or None."""
    for run in _SAME_CHARACTERS.finditer(text):
        times = run.end() - run.start()
        if run[1].isalpha() or times >= _SIGN_REPEATS:
            return run.start(), run.end(), times
    shown = text[:_CHARACTERS_LOOKED_AT].strip()
    found = words(text[:_CHARACTERS_LOOKED_AT])
    return _loop_of(found, len(shown), _FEWEST_WORDS) or _loop_of(_signs(found), len(shown), _FEWEST_SIGNS)


def _loop_of(tokens: Sequence[Word], whole: int, fewest: int) -> tuple[int, int, int] | None:
    best: tuple[int, int, int] | None = None
    texts = [token.text for token in tokens]
    for period in _periods(texts):
        for first, last in _periodic_runs(texts, period):
            start, end = tokens[first].start, tokens[last - 1].end
            is_longer = best is None or end - start > best[1] - best[0]
            if is_longer and last - first >= fewest and end - start >= _MUCH * whole:
                best = start, end, (last - first) // period
    return best


def _periods(tokens: Sequence[str]) -> list[int]:
    """Return how far apart the same three tokens come again most often: what a loop shows by."""
    seen: dict[tuple[str, ...], int] = {}
    gaps: Counter[int] = Counter()
    for place in range(len(tokens) - 2):
        part = (tokens[place], tokens[place + 1], tokens[place + 2])
        if part in seen:
            gaps[place - seen[part]] += 1
        seen[part] = place
    return [period for period, count in gaps.most_common(_PERIODS_TRIED) if count > 1 or period == 1]


def _periodic_runs(tokens: Sequence[str], period: int) -> Iterator[tuple[int, int]]:
    start = 0
    for place in range(period, len(tokens) + 1):
        if place == len(tokens) or tokens[place] != tokens[place - period]:
            if place - start >= _REPEATS * period:
                yield start, place
            start = place - period + 1


def _signs(found: Sequence[Word]) -> list[Word]:
    """Return the single signs of words that are as long as a sentence because nothing parts them."""
    if not any(_UNPARTED.search(word.text) for word in found):
        return []
    return [Word(sign, word.start + place) for word in found for place, sign in enumerate(word.text)]
