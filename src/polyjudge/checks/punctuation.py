"""Compare the punctuation of a text with that of its source: marks that were doubled, and questions that are none."""

import re
from collections.abc import Iterator

from polyjudge.records.findings import Finding, Severity
from polyjudge.text.segments import running_text

_DOUBLED = re.compile(
    r"[,?!;\s](?:(?<=,)(?<![,.],)[,.](?![,.])|(?<=[?!])(?<![.?!].)\.(?![.\w])|(?<=;);|(?<=\w\s)[,.](?=\s|$))"
)
"""The first part alone is quick to look for; each of the others names the mark that it follows."""
_NEVER = {",,", ",."}
"""These are always mistakes; people in a hurry also write the others."""
_ELLIPSIS = re.compile(r"\.{2,}")
_QUESTION = re.compile("[?？؟፧՞⁇⁈]")
_ASKED = re.compile(r"[^\W\d_]\s?\?(?![?!])")
"""A question mark after a word; a row of marks, or one alone, is a mood."""
_QUESTIONS_THERE = {"el": re.compile("[;\u037e]"), "ja": re.compile(r"か(?!\w)"), "zh": re.compile("[吗嗎呢]")}
"""What asks in one language as well: the Greek mark, particles."""
_NO_QUESTION_MARKS = {"th", "lo", "km", "my", "bo", "am", "ti", "hy"}


_EMPHASIS = re.compile(r"(?<![\w*_])(\*{1,3}|__)(?=\S)[^*_\n]{1,80}(?<=\S)\1(?![\w*_])")
"""Words marked as Markdown does."""
_PAUSE = re.compile(r"\.\.|․․|…|。。|⋯|‥|・・")
_EMOJI = re.compile("[\U0001f300-\U0001f64f\U0001f680-\U0001faff\u2600-\u26ff]")


def changed_marks(text: str, source: str) -> Iterator[Finding]:
    """Find Markdown that the source does not have, and emoji and pauses of the source that the text lacks: warnings."""
    if ("*" in text or "__" in text) and (match := _EMPHASIS.search(text)) and match[1] not in source:
        message = f"Markdown that is not in the source: {match[0]!r}."
        yield Finding("markup_added", "warn", message, match.start(), match.end())
    if _PAUSE.search(source) and not _PAUSE.search(text):
        yield Finding("ellipsis_lost", "warn", "Ellipsis (…) missing: the source has one.")
    if not source.isascii():
        for emoji in sorted(set(_EMOJI.findall(source)) - set(_EMOJI.findall(text))):
            yield Finding("emoji_lost", "warn", f"Emoji missing: {emoji}.")


def broken_punctuation(text: str, source: str, language: str = "") -> Iterator[Finding]:
    """Find marks that no language writes one after the other, and a question of the source that the text lacks.

    Most are warnings: people write carelessly as well, and a question may be asked without its mark.
    """
    plain = _ELLIPSIS.sub(lambda match: " " * len(match[0]), running_text(text)) if ".." in text else running_text(text)
    if (match := _DOUBLED.search(plain)) and not _DOUBLED.search(_ELLIPSIS.sub(" ", source)):
        message = f"Invalid sequence of punctuation marks: {match[0]!r}."
        severity: Severity = "fail" if match[0] in _NEVER else "warn"
        yield Finding("doubled_punctuation", severity, message, match.start(), match.end())
    base = language.partition("-")[0]
    if "?" in source and base not in _NO_QUESTION_MARKS and not _QUESTION.search(text):
        there = _QUESTIONS_THERE.get(base)
        if _ASKED.search(running_text(source)) and not (there and there.search(text)):
            yield Finding("question_lost", "warn", "The source asks a question; the text has no question mark.")
