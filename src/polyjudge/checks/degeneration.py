"""Output that is no translation in any language: copied, looping, cut off, leaked, refused, far too long or short."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from unicodedata import category

from polyjudge.records.findings import Finding
from polyjudge.text.segments import Word, plain_words, prose, words

_SIGNS_LOOKED_AT = 40_000
_REPEATS = 4
"""A part that comes so many times in a row is a loop, when it fills much of the text."""
_SAME_SIGNS = re.compile(r"(\S)\1{9,}")
"""A letter that stands so often is a loop; a line of dashes takes more."""
_SIGN_REPEATS = 50
_PERIODS_TRIED = 4
_FEWEST_WORDS = 6
"""Fewer may be talk: no, no, no, no!"""
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff]{10}|.{30}")
_FEWEST_SIGNS = 10
"""Where single signs are compared, a shorter loop may be laughter: 哈哈哈哈."""
_MORE_THAN_SOURCE = 3
_MUCH = 0.3
_UNTRANSLATED_WORDS = 3
_LONGEST_NAME = 3
_LEAKED_WORDS = 5
_ORDER_OF_MAGNITUDE = 10
_SHORTEST_JUDGED = 10
_ENDS = ".!?。！？।॥؟۔։።។။…"
_DANGLING = ",;:-–—(（[「『„‚、，،؛"
_QUOTES = "“‘«»"
"""Each opens in some languages and closes in others."""
_BEFORE = " \n\t*_\"'“«„"
_LABEL = re.compile(r"^[^\S\n]*\w[^\n:：]{0,30}[:：]", re.MULTILINE)
_MOST_PLACES = 50
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_ENDS_THERE = {(";", "el"), (":", "am")}
"""Marks that end a sentence in one language: the Greek question mark, the Ethiopic full stop as it is typed."""
_NO_END_MARKS = {"th", "lo"}
"""Languages that end sentences without a mark."""


def copied(text: str, source: str) -> Iterator[Finding]:
    """Find the source given back as it is, and parts of it left as they were."""
    theirs, ours, found = plain_words(prose(source)), plain_words(prose(text)), words(prose(text))
    if not ours or not theirs:
        return
    if ours == theirs:
        may_be_name = len(found) == 1 or (len(found) <= _LONGEST_NAME and all(word.text.istitle() for word in found))
        if len(theirs) > 1 or source.strip().casefold() == text.strip().casefold():
            yield Finding("source_copied", "warn" if may_be_name else "fail", "the text is the source as it was")
        return
    for first, last in _shared_runs(ours, theirs, _UNTRANSLATED_WORDS):
        run = found[first:last]
        small = sum(not word.text[:1].isupper() for word in run)  # names stand in any language
        if small > 1:
            start, end = run[0].start, run[-1].end
            message = f"{text[start:end]!r} is left from the source"
            yield Finding("untranslated", "fail" if small > 2 else "warn", message, start, end)


def leaked(text: str, source: str, prompt: str) -> Iterator[Finding]:
    """Find marks of chat templates, the prompt itself, talk about the task, and refusals."""
    yield from islice(_marks(text, source), _MOST_PLACES)
    _, preambles, refusals = _leaks()
    begun, theirs = text.lstrip(_BEFORE), source.lstrip(_BEFORE)
    offset = len(text) - len(begun)
    if (match := refusals.match(begun)) and not refusals.match(theirs):
        yield Finding("refusal", "fail", f"the model declined: {match[0]!r}", offset, offset + match.end())
    if (match := preambles.match(begun)) and not preambles.match(theirs) and not _is_label(match[0], source):
        yield Finding("prompt_leak", "fail", f"talk about the task: {match[0]!r}", offset, offset + match.end())
    yield from islice(_prompt_parts(text, source, prompt), _MOST_PLACES)


def _marks(text: str, source: str) -> Iterator[Finding]:
    known = source.casefold()
    for match in _leaks()[0].finditer(text):
        mark = match[0].strip()
        if mark.casefold() not in known and not _is_label(mark, source):
            yield Finding("template_leak", "fail", f"{mark!r} belongs to a chat", match.start(), match.end())


def _is_label(mark: str, source: str) -> bool:
    """Say whether a mark such as `User:` may be the translation of a word before a colon in the source."""
    return mark.endswith(":") and _LABEL.search(source) is not None


def _prompt_parts(text: str, source: str, prompt: str) -> Iterator[Finding]:
    found, ours, theirs = words(text), plain_words(text), f" {' '.join(plain_words(source))} "
    for first, last in _shared_runs(ours, plain_words(prompt), _LEAKED_WORDS):
        start, end = found[first].start, found[last - 1].end
        if f" {' '.join(ours[first:last])} " not in theirs:
            yield Finding("prompt_leak", "fail", f"{text[start:end]!r} is from the prompt", start, end)


def looping(text: str, source: str = "") -> Iterator[Finding]:
    """Find a part that is repeated over and over."""
    loop, theirs = _longest_loop(text), _longest_loop(source)
    if loop is not None and (theirs is None or loop[2] > _MORE_THAN_SOURCE * theirs[2]):
        start, end, times = loop
        yield Finding("repetition", "fail", f"{text[start:end][:30]!r} … is repeated {times} times", start, end)


def cut_off(text: str, source: str, language: str = "") -> Iterator[Finding]:
    """Find a text that ends before it is over; only a warning, since it can be seen but not known."""
    end, begun = text.rstrip(), source.rstrip()
    if not end or not begun or begun[-1] not in _ENDS:
        return
    quotes = end.rstrip(f"\"'”’」』)）{_QUOTES}")
    if _dangles(end, language):
        yield Finding("cut_off", "warn", f"ends with {end[-1]!r}", len(end) - 1, len(end))
    elif category(quotes[-1:] or " ")[0] in "LM" and language.partition("-")[0] not in _NO_END_MARKS:
        sentences, theirs = _sentences(source), _sentences(text)
        if (sentences > 1 and theirs < sentences - 1) or (sentences > 1 and not theirs) or _ratio(text, source) < 0.5:
            yield Finding("cut_off", "warn", "ends in the middle of a sentence", len(end) - 1, len(end))


def _dangles(text: str, language: str) -> bool:
    if text[-1] in _QUOTES:
        return text[-2:-1].isspace() or text[-2:-1] in "([（"
    if (text[-1], language[:2]) in _ENDS_THERE:
        return False
    return text[-1] in _DANGLING


def length(text: str, source: str) -> Iterator[Finding]:
    """Find a text that is longer or shorter than its source by an order of magnitude."""
    if _weight(source) < _SHORTEST_JUDGED or not text.strip():
        return
    ratio = _ratio(text, source)
    if not 1 / _ORDER_OF_MAGNITUDE < ratio < _ORDER_OF_MAGNITUDE:
        yield Finding("wrong_length", "fail", f"{ratio:.2g} times as long as the source, as scripts compare")


def _sentences(text: str) -> int:
    return len(re.findall(rf"[{re.escape(_ENDS)}]+(?=\s|$|[\"'”’»」』)）])|[。！？।]", prose(text)))


def _ratio(text: str, source: str) -> float:
    return _weight(text) / max(_weight(source), 1.0)


def _weight(text: str) -> float:
    """Return the length of a text in letters of an alphabet; a sign of Chinese or a syllable of Korean says more."""
    return len(text) + 1.5 * len(_DENSE.findall(text))


def _shared_runs(ours: Sequence[str], theirs: Sequence[str], least: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of `ours` that stand in `theirs` too, word by word, at least so many words long."""
    parts = {tuple(theirs[place : place + least]) for place in range(len(theirs) - least + 1)}
    first = last = -1
    for place in range(len(ours) - least + 1):
        if tuple(ours[place : place + least]) in parts:
            if place > last:
                if last > first >= 0:
                    yield first, last
                first = place
            last = place + least
    if last > first >= 0:
        yield first, last


@lru_cache(maxsize=256)
def _longest_loop(text: str) -> tuple[int, int, int] | None:
    """Return where a loop begins and ends, and how often its part comes, or None."""
    for run in _SAME_SIGNS.finditer(text):
        times = run.end() - run.start()
        if run[1].isalpha() or times >= _SIGN_REPEATS:
            return run.start(), run.end(), times
    shown = text[:_SIGNS_LOOKED_AT].strip()
    found = words(text[:_SIGNS_LOOKED_AT])
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
    begun = 0
    for place in range(period, len(tokens) + 1):
        if place == len(tokens) or tokens[place] != tokens[place - period]:
            if place - begun >= _REPEATS * period:
                yield begun, place
            begun = place - period + 1


def _signs(found: Sequence[Word]) -> list[Word]:
    """Return the single signs of words that are as long as a sentence because nothing parts them."""
    if not any(_UNPARTED.search(word.text) for word in found):
        return []
    return [Word(sign, word.start + place) for word in found for place, sign in enumerate(word.text)]


@lru_cache(maxsize=1)
def _leaks() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    known = tomllib.loads((files("polyjudge.checks") / "leaks.toml").read_text(encoding="utf-8"))
    marks, preambles, refusals = (
        re.compile("|".join(f"(?:{pattern})" for pattern in known[name]), re.IGNORECASE | re.MULTILINE)
        for name in ("template", "preamble", "refusal")
    )
    return marks, preambles, refusals
