"""Output that is no translation in any language: copied, looping, cut off, leaked, refused, far too long or short."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

from polyjudge.records import Problem

from .segments import Word, plain_words, prose, words

_LONGEST_PERIOD = 40
_TOKENS_LOOKED_AT = 20_000
_REPEATS = 4
"""A part that comes so many times in a row is a loop, when it fills much of the text."""
_LETTER_REPEATS = 10
_MUCH = 0.3
_UNTRANSLATED_WORDS = 3
_LEAKED_WORDS = 5
_ORDER_OF_MAGNITUDE = 10
_SHORTEST_JUDGED = 10
_ENDS = ".!?。！？।॥؟۔։።។။…"
_DANGLING = ",;:-–—(（[「『“‘«、，،؛"
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_NO_END_MARKS = {"th", "lo"}
"""Languages that end sentences without a mark."""


def copied(text: str, source: str) -> Iterator[Problem]:
    """Find the source given back as it is, and parts of it left as they were."""
    theirs, ours, found = plain_words(prose(source)), plain_words(prose(text)), words(prose(text))
    if not ours or not theirs:
        return
    if ours == theirs:
        if len(theirs) > 1 or source.strip().casefold() == text.strip().casefold():
            yield Problem("source_copied", "the text is the source as it was")
        return
    for first, last in _shared_runs(ours, theirs, _UNTRANSLATED_WORDS):
        run = found[first:last]
        if sum(word.text[:1].islower() for word in run) > 1:  # names stand in any language
            start, end = run[0].start, run[-1].end
            yield Problem("untranslated", f"{text[start:end]!r} is left from the source", "fail", start, end)


def leaked(text: str, source: str, prompt: str) -> Iterator[Problem]:
    """Find marks of chat templates, the prompt itself, talk about the task, and refusals."""
    marks, preambles, refusals = _leaks()
    for match in marks.finditer(text):
        if match[0].strip() not in source:
            yield Problem(
                "template_leak", f"{match[0].strip()!r} belongs to a chat", "fail", match.start(), match.end()
            )
    begun = text.lstrip(" \n\t*_\"'“")
    offset = len(text) - len(begun)
    if (match := refusals.match(begun)) and not refusals.match(source.lstrip()):
        yield Problem("refusal", f"the model declined: {match[0]!r}", "fail", offset, offset + match.end())
    if (match := preambles.match(begun)) and not preambles.match(source.lstrip()):
        yield Problem("prompt_leak", f"talk about the task: {match[0]!r}", "fail", offset, offset + match.end())
    yield from _prompt_parts(text, source, prompt)


def _prompt_parts(text: str, source: str, prompt: str) -> Iterator[Problem]:
    instruction = plain_words(prompt.replace(source, "\n") if source else prompt)
    found, ours, theirs = words(text), plain_words(text), plain_words(source)
    for first, last in _shared_runs(ours, instruction, _LEAKED_WORDS):
        start, end = found[first].start, found[last - 1].end
        if " ".join(ours[first:last]) not in " ".join(theirs):
            yield Problem("prompt_leak", f"{text[start:end]!r} is from the prompt", "fail", start, end)


def looping(text: str, source: str = "") -> Iterator[Problem]:
    """Find a part that is repeated over and over."""
    loop = _longest_loop(text)
    if loop is not None and _longest_loop(source) is None:
        start, end, times = loop
        yield Problem("repetition", f"{text[start:end][:30]!r} … is repeated {times} times", "fail", start, end)


def cut_off(text: str, source: str, language: str = "") -> Iterator[Problem]:
    """Find a text that ends before it is over; only a warning, since it can be seen but not known."""
    end, begun = text.rstrip(), source.rstrip()
    if not end or not begun or begun[-1] not in _ENDS:
        return
    quotes = end.rstrip("\"'”’»」』)）")
    if end[-1] in _DANGLING:
        yield Problem("cut_off", f"ends with {end[-1]!r}", "warn", len(end) - 1, len(end))
    elif quotes[-1:].isalpha() and language.partition("-")[0] not in _NO_END_MARKS:
        sentences, theirs = _sentences(source), _sentences(text)
        if (sentences > 1 and theirs < sentences - 1) or (sentences > 1 and not theirs) or _ratio(text, source) < 0.5:
            yield Problem("cut_off", "ends in the middle of a sentence", "warn", len(end) - 1, len(end))


def length(text: str, source: str) -> Iterator[Problem]:
    """Find a text that is longer or shorter than its source by an order of magnitude."""
    if _weight(source) < _SHORTEST_JUDGED or not text.strip():
        return
    ratio = _ratio(text, source)
    if not 1 / _ORDER_OF_MAGNITUDE < ratio < _ORDER_OF_MAGNITUDE:
        yield Problem("wrong_length", f"{ratio:.2g} times as long as the source, as scripts compare")


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
    run = re.search(rf"([^\W\d_])\1{{{_LETTER_REPEATS - 1},}}", text)
    if run is not None:
        return run.start(), run.end(), run.end() - run.start()
    tokens = _tokens(text)
    best: tuple[int, int, int] | None = None
    for period in range(1, min(_LONGEST_PERIOD, len(tokens) // _REPEATS) + 1):
        for first, last in _periodic_runs([token.text for token in tokens], period):
            times = (last - first) // period
            start, end = tokens[first].start, tokens[last - 1].end
            is_longer = best is None or end - start > best[1] - best[0]
            if is_longer and times >= _REPEATS and end - start >= _MUCH * len(text.strip()):
                best = start, end, times
    return best


def _periodic_runs(tokens: Sequence[str], period: int) -> Iterator[tuple[int, int]]:
    begun = 0
    for place in range(period, len(tokens) + 1):
        if place == len(tokens) or tokens[place] != tokens[place - period]:
            if place - begun >= _REPEATS * period:
                yield begun, place
            begun = place - period + 1


def _tokens(text: str) -> list[Word]:
    """Return words, or single signs where a word is as long as a sentence because nothing parts them."""
    found = words(text[: 4 * _TOKENS_LOOKED_AT])
    if found and max(len(word.text) for word in found) > 30:
        return [Word(sign, word.start + place) for word in found for place, sign in enumerate(word.text)]
    return list(found[:_TOKENS_LOOKED_AT])


@lru_cache(maxsize=1)
def _leaks() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    known = tomllib.loads((files("polyjudge.text") / "leaks.toml").read_text(encoding="utf-8"))
    marks, preambles, refusals = (
        re.compile("|".join(f"(?:{pattern})" for pattern in known[name]), re.IGNORECASE | re.MULTILINE)
        for name in ("template", "preamble", "refusal")
    )
    return marks, preambles, refusals
