"""Output that is no translation: the source given back, parts of it left, or a part that is repeated over and over."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from polyjudge.records.findings import Finding, Severity
from polyjudge.text.segments import Word, plain_words, running_text, shared_runs, word_texts, words

_CHARACTERS_LOOKED_AT = 40_000
_REPEATS = 4
"""A part that comes so many times in a row is a loop, when it fills much of the text."""
_OFTEN, _LONG_LOOP = 8, 60
"""A part that comes so many times, over so many characters, is a loop wherever it is."""
_SAME_CHARACTERS = re.compile(r"(\S)\1\1\1\1\1\1\1\1\1+")
"""Ten times or more; a counted repetition takes twice as long to look for."""
_STRETCHED = re.compile(r"(\w)\1\1")
"""A word that is written longer for effect, `nooo`: its translation may be stretched as well."""
_SIGN_REPEATS = 50
"""Minimum repetitions of a character that is not a letter, because a row of dashes is no loop."""
_PERIODS_TRIED = 4
_FEWEST_WORDS = 6
"""Fewer may be talk: no, no, no, no!"""
_COMPARED = 3
"""Words in a row that come again where there is a loop."""
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff]{10}|.{30}")
_SHORTEST_UNPARTED = 10
_FEWEST_SIGNS = 10
"""Where single characters are compared, a shorter loop may be laughter: 哈哈哈哈."""
_PHRASE = 7
"""Characters of a phrase in Chinese or Japanese."""
_MUCH_REPEATED = 0.03
"""Share of a text's phrases that came before in it."""
_FIRST_DENSE = "\u2e80"
_MORE_THAN_SOURCE = 3
_MUCH = 0.3
_UNTRANSLATED_WORDS = 3
_SHORTEST_KEPT = 4
"""Shorter words are alike in many languages."""
_LONGEST_NAME = 3
_LONGEST_ABBREVIATION = 3
_OPENING = "\"'“‘„«「『*_([（"
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"[\[\]|<>*=_{}/\\]")


def copied(text: str, source: str) -> Iterator[Finding]:
    """Find the source given back as it is, and parts of it that are not translated."""
    plain = running_text(text)
    theirs, ours = plain_words(running_text(source)), plain_words(plain)
    if not ours or not theirs:
        return
    if ours == theirs:
        found = words(plain)
        if all(_is_symbol(word.text) for word in found) and len(found) + len(text) > 2:
            return
        is_name = (
            text.count("-") != source.count("-")
            or len(found) == 1
            or _is_name(
                [word for word in found if not _is_symbol(word.text)], has_number=_DIGIT.search(text) is not None
            )
        )
        if len(theirs) > 1 or source.strip().casefold() == text.strip().casefold():
            yield Finding(
                "source_copied", "warn" if is_name else "fail", "Not translated: the output is a copy of the source."
            )
        return
    for first, last in shared_runs(ours, theirs, _UNTRANSLATED_WORDS):
        run = words(plain)[first:last]
        small = sum(not word.text[:1].isupper() for word in run)  # names are the same in any language
        if small > 1:
            start, end = run[0].start, run[-1].end
            is_title = 2 * small <= len(run) + 1 or text[start - 1 : start] in tuple(_OPENING)
            is_code = _CODE.search(text, start, end) is not None or _is_list(text[start:end], len(run))
            severity: Severity = "fail" if small > 2 and not is_title and not is_code else "warn"
            yield Finding("untranslated", severity, f"Left untranslated: {text[start:end]!r}.", start, end)


def _is_list(text: str, count: int) -> bool:
    """Say whether words stand in a list of keywords, which has those of the source as well."""
    return max(text.count(","), text.count(";")) >= count - 1


def kept_words(text: str, source: str) -> list[Word]:
    """Return the words that the source has too and that are no names: written small, and not short."""
    plain, known = running_text(text), _small_words(source)
    if known.isdisjoint(word_texts(plain)):
        return []
    return [word for word in words(plain) if word.text in known]


@lru_cache(maxsize=256)
def _small_words(source: str) -> frozenset[str]:
    found = word_texts(running_text(source))
    return frozenset(
        word for word in found if len(word) >= _SHORTEST_KEPT and word.islower() and not any(map(str.isdigit, word))
    )


def _is_symbol(word: str) -> bool:
    """Say whether a word is a formula, a unit or a code: HCl, CH3, mol, F."""
    return len(word) < 3 or any(letter.isdigit() or letter.isupper() for letter in word[1:])


def _is_name(found: Sequence[Word], *, has_number: bool) -> bool:
    """Say whether words may be a name: three in capitals, or with a number and small words between them."""
    content = [word for word in found if not has_number or len(word.text) > _LONGEST_ABBREVIATION]
    return len(content) <= _LONGEST_NAME and all(map(_may_be_name, content))


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


def repeated_phrases(text: str, source: str) -> Iterator[Finding]:
    """Find phrases of Chinese, Japanese or Korean that come again and again, in a text whose source repeats nothing.

    In alphabets, people repeat words as often as models do.
    """
    if text.isascii() or max(text) < _FIRST_DENSE:
        return
    repeated, first = _repeated_share(text[:_CHARACTERS_LOOKED_AT])
    if repeated > _MUCH_REPEATED and repeated > _MUCH_REPEATED + _repeated_share(source[:_CHARACTERS_LOOKED_AT])[0]:
        phrase = text[first : first + _PHRASE]
        yield Finding("repetition", "warn", f"Repeated phrases, such as {phrase!r}.", first, first + _PHRASE)


def _repeated_share(text: str) -> tuple[float, int]:
    """Return the share of the phrases of a text that came before, and where the first of them is."""
    count = len(text) - _PHRASE + 1
    seen, repeated, first = set[str](), 0, 0
    for place in range(max(0, count)):
        phrase = text[place : place + _PHRASE]
        if phrase in seen and not phrase.isspace():
            repeated, first = repeated + 1, first or place
        seen.add(phrase)
    return repeated / max(1, len(text)), first


@lru_cache(maxsize=256)
def _longest_loop(text: str) -> tuple[int, int, int] | None:
    """Return where a loop begins and ends, and how often its part comes, or None."""
    for run in _SAME_CHARACTERS.finditer(text):
        times = run.end() - run.start()
        if run[1].isalpha() or times >= _SIGN_REPEATS:
            return run.start(), run.end(), times
    shown = text[:_CHARACTERS_LOOKED_AT].strip()
    texts = word_texts(text[:_CHARACTERS_LOOKED_AT])
    is_unparted = any(_UNPARTED.search(word) for word in texts if len(word) >= _SHORTEST_UNPARTED)
    if not (_periods(texts) or (is_unparted and _periods("".join(texts)))):
        return None
    found = words(text[:_CHARACTERS_LOOKED_AT])
    loop = _loop_of(found, len(shown), _FEWEST_WORDS)
    return _loop_of(_signs(found), len(shown), _FEWEST_SIGNS) if loop is None and is_unparted else loop


def _loop_of(tokens: Sequence[Word], whole: int, fewest: int) -> tuple[int, int, int] | None:
    best: tuple[int, int, int] | None = None
    texts = [token.text for token in tokens]
    for period in _periods(texts):
        for first, last in _periodic_runs(texts, period):
            start, end = tokens[first].start, tokens[last - 1].end
            is_longer = best is None or end - start > best[1] - best[0]
            times = (last - first) // period
            is_much = end - start >= _MUCH * whole or (times >= _OFTEN and end - start >= _LONG_LOOP)
            if is_longer and last - first >= fewest and is_much:
                best = start, end, times
    return best


def _periods(tokens: Sequence[str]) -> list[int]:
    """Return how far apart the same three tokens come again most often: what a loop shows by."""
    if len(set(tokens)) > len(tokens) - _COMPARED:
        return []
    parts = list(zip(tokens, tokens[1:], tokens[2:], strict=False))
    if len(set(parts)) == len(parts):
        return []
    seen: dict[tuple[str, ...], int] = {}
    gaps: Counter[int] = Counter()
    for place, part in enumerate(parts):
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
    """Return the single signs of words."""
    return [Word(sign, word.start + place) for word in found for place, sign in enumerate(word.text)]
