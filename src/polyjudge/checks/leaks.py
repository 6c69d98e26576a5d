"""Find what a model writes beside the text: chat tokens, parts of the prompt, fences, notes, refusals."""

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.resources import files
from itertools import islice

from polyjudge.records.findings import Finding, Severity
from polyjudge.text.segments import plain_words, running_text, shared_runs, vocabulary, word_texts, words

_LEAKED_WORDS = 5
_MOST_PLACES = 50
_FENCE = "```"
_BEFORE = " \n\t*_\"'“«„`"
_LABEL = re.compile(r"^[^\S\n]*\w[^\n:：]{0,30}[:：]", re.MULTILINE)
_BOUNDARY = re.compile(r"(?=[.!?:。！？\s])(?:[.!?:][\"'”’»)\]]{0,3}\s+|[。！？]+|\n+|\s{2,}|\s[-–—*•]\s)")
_WORDS_OF_REMARK = 3
_ENGLISH = re.compile(
    r"\b(?:the|this|that|is|are|was|has|have|be|you|i|it|here|to|of|for|with|if|let|me|your|my|and)\b", re.IGNORECASE
)
"""Words of which every remark has one; without one, the identifier need not be asked."""
_FEW_SENTENCES = 3
"""A source with more may well be translated as several paragraphs."""
_FEWEST_ADDED = 16
"""Letters beside an address or a mention that are more than a word or two."""
_MARKED = re.compile(r"[@＠#＃]\S+")
_HEADING = re.compile(r"[^\n.!?。:：]{2,80}[:：]")
_BEFORE_REMARK = " \n\t.!?。！？(（*`"
_TOKEN_MARK = re.compile(r"[<\[#:▁]")


def leaked(text: str, source: str, prompt: str) -> Iterator[Finding]:
    """Find chat tokens, the prompt itself, talk about the task, and refusals."""
    yield from islice(_tokens(text, source), _MOST_PLACES)
    start, theirs = text.lstrip(_BEFORE), source.lstrip(_BEFORE)
    offset = len(text) - len(start)
    refusals, preambles = _pattern("refusal"), _pattern("preamble")
    if (match := refusals.match(start)) and not refusals.match(theirs):
        message = f"The model refused: {match[0]!r}."
        yield Finding("refusal", "fail", message, offset, offset + match.end())
    elif (match := preambles.match(start)) and not preambles.match(theirs) and not _is_label(match[0], source):
        message = f"Remark by the model about the task: {match[0]!r}."
        yield Finding("prompt_leak", "fail", message, offset, offset + match.end())
    elif (found := _remark(text, source) or _announcement(text, source) or _added_words(text, source)) is not None:
        yield found
    if _FENCE in text and _FENCE not in source:
        place = text.index(_FENCE)
        yield Finding("code_fence", "fail", "Code fence (```) that is not in the source.", place, place + 3)
    yield from islice(_prompt_parts(text, source, prompt), _MOST_PLACES)


def remarks_in_english(text: str, source: str, is_english: Callable[[str], bool]) -> Iterator[Finding]:
    """Find the first or last sentence of a translation that is in English and not from the source.

    Models talk about their work in English, whatever the language of the translation.
    """
    found, known = word_texts(text), vocabulary(source)
    if not any("".join(ends).isascii() for ends in (found[:_WORDS_OF_REMARK], found[-_WORDS_OF_REMARK:])):
        return
    for start, end in _first_and_last(text):
        found = word_texts(text[start:end])
        own = [word for word in found if word.casefold() not in known]
        if len(found) < _WORDS_OF_REMARK or 2 * len(own) <= len(found):
            continue
        if _ENGLISH.search(text, start, end) and is_english(" ".join(found)):
            yield _remark_at(text, start, end)
            return


def _first_and_last(text: str) -> list[tuple[int, int]]:
    """Return where the first and the last sentence are, if there are several."""
    cuts = [match.end() for match in _BOUNDARY.finditer(text.rstrip())]
    starts, ends = [0, *cuts], [*cuts, len(text)]
    sentences = [(start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip()]
    return [sentences[0], sentences[-1]] if len(sentences) > 1 else []


def added_lines(text: str, source: str) -> Iterator[Finding]:
    """Find paragraphs and lines where the source has one line: models write notes of their own."""
    plain = text.strip()
    if "\n" not in plain or "\n" in source.strip() or len(word_texts(source)) < _WORDS_OF_REMARK:
        return
    place = text.index("\n", len(text) - len(text.lstrip()))
    is_short = len(_BOUNDARY.findall(source)) < _FEW_SENTENCES
    severity: Severity = "fail" if is_short and "\n\n" in plain else "warn"
    lines = len(list(filter(str.strip, plain.splitlines())))
    yield Finding("extra_lines", severity, f"The source has one line, the text {lines}.", place, place + 1)


def _remark_at(text: str, start: int, end: int) -> Finding:
    said = text[start:end].lstrip(_BEFORE_REMARK)
    start, said = end - len(said), said.strip()
    message = f"Remark by the model: {said[:60]!r}."
    return Finding("model_note", "fail", message, start, end)


def _tokens(text: str, source: str) -> Iterator[Finding]:
    if not _TOKEN_MARK.search(text):
        return
    known = source.casefold()
    for match in _pattern("template").finditer(text):
        token = match[0].strip()
        if token.casefold() not in known and not _is_label(token, source):
            message = f"Chat template token {token!r} in the output."
            yield Finding("template_leak", "fail", message, match.start(), match.end())


def _is_label(token: str, source: str) -> bool:
    """Say whether a token such as `User:` may be the translation of a word before a colon in the source."""
    return token.endswith(":") and _LABEL.search(source) is not None


def _remark(text: str, source: str) -> Finding | None:
    """Return the first note or remark of the model after its translation."""
    if not source.strip():
        return None
    match = None
    if (":" in text or "：" in text) and ":" not in source and "：" not in source:
        match = _pattern("note").search(text)
    if match is None and _may_be_talk(text) and not _pattern("subject").search(source):
        match = _pattern("talk").search(text)
    if match is None or match[0].casefold() in source.casefold():
        return None
    return _remark_at(text, match.start(), match.end())


def _announcement(text: str, source: str) -> Finding | None:
    """Return a heading that speaks of a translation, in any language: `Ecco la traduzione:`."""
    match = _HEADING.match(text)
    subject = _pattern("subject")
    if match is None or not source.strip() or not subject.search(match[0]) or subject.search(source):
        return None
    return _remark_at(text, match.start(), match.end())


def _added_words(text: str, source: str) -> Finding | None:
    """Return the words beside an address or a mention that is the whole source: there is nothing to translate."""
    if not word_texts(source) or "#" in source or word_texts(running_text(source)):
        return None
    found = words(_MARKED.sub(lambda match: " " * len(match[0]), running_text(text)))
    if sum(len(word.text) for word in found) < _FEWEST_ADDED or "".join(source.split()) == "".join(text.split()):
        return None
    start, end = found[0].start, found[-1].end
    return Finding(
        "model_note", "fail", f"Added text: {text[start:end][:60]!r}. The source has no words to translate.", start, end
    )


def _prompt_parts(text: str, source: str, prompt: str) -> Iterator[Finding]:
    if not prompt:
        return
    found, ours, theirs = words(text), plain_words(text), f" {' '.join(plain_words(source))} "
    for first, last in shared_runs(ours, plain_words(prompt), _LEAKED_WORDS):
        start, end = found[first].start, found[last - 1].end
        if f" {' '.join(ours[first:last])} " not in theirs:
            yield Finding("prompt_leak", "fail", f"Part of the prompt in the output: {text[start:end]!r}.", start, end)


def _may_be_talk(text: str) -> bool:
    plain = text.casefold()
    return any(word in plain for word in _lists()["talk_words"])


@lru_cache(maxsize=8)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in _lists()[name]), re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=1)
def _lists() -> dict[str, list[str]]:
    return tomllib.loads((files("polyjudge.checks") / "leaks.toml").read_text(encoding="utf-8"))
