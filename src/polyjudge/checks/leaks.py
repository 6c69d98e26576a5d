"""Find what a model writes beside the text: chat tokens, parts of the prompt, fences, notes, refusals."""

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from itertools import islice

from polyjudge.records.findings import Finding
from polyjudge.text.segments import plain_words, shared_runs, words

_LEAKED_WORDS = 5
_MOST_PLACES = 50
_FENCE = "```"
_BEFORE = " \n\t*_\"'“«„`"
_LABEL = re.compile(r"^[^\S\n]*\w[^\n:：]{0,30}[:：]", re.MULTILINE)
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
        message = f"Remark of the model about the task: {match[0]!r}."
        yield Finding("prompt_leak", "fail", message, offset, offset + match.end())
    elif (found := _remark(text, source)) is not None:
        yield found
    if _FENCE in text and _FENCE not in source:
        place = text.index(_FENCE)
        yield Finding("code_fence", "fail", "Code fence (```) that the source does not have.", place, place + 3)
    yield from islice(_prompt_parts(text, source, prompt), _MOST_PLACES)


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
    message = f"Remark of the model: {match[0].strip()[:60]!r}."
    return Finding("model_note", "fail", message, match.start(), match.end())


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
