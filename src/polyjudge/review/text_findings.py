"""Adapt the findings of the checks of any text to messages, which are short and keep names."""

import re
from collections.abc import Collection
from typing import NamedTuple

from msgspec.structs import replace

from polyjudge.records.findings import Finding, Severity, TextCheck
from polyjudge.records.messages import Message
from polyjudge.text.segments import plain_words

from .accelerators import accelerator_mark
from .plain_text import PlainText, plain_text

OF_COPIES = {"source_copied", "untranslated", "untranslated_word"}
"""Findings that a translation into a variant of the same language cannot avoid."""
_ANOTHER_CHECK = {"placeholder_lost", "markup_lost", "url_lost", "url_added", "ellipsis_lost", "empty"}
"""Findings that the checks of messages make with the knowledge of the format."""
_SHORT_SOURCE = 60
_LABEL_WORDS = 3
"""Labels of so many words are often the same in many languages: names of products, formats and units."""
_CODE = re.compile(r"[\[\]|<>*=_{}/\\;@#]|--?\w|&\w+;|\.\w")
_QUOTES = "\"'“”„‘’«»「」`"
_SMALL = re.compile(r"[a-z]{2,}[.,:!?…]*")


class Part(NamedTuple):
    """A message with what several checks need of it."""

    message: Message
    mark: str
    """Of its shortcut."""
    plain: PlainText
    """The words of the translation."""
    source: str
    """The words of the source."""
    is_copy: bool
    """The translation has the words of the source."""


def made_part(message: Message) -> Part:
    """Return a message with its words."""
    mark = accelerator_mark(message.source)
    plain, source = plain_text(message.translation, mark), plain_text(message.source, mark).text
    is_copy = bool(source.strip()) and plain_words(plain.text) == plain_words(source)
    return Part(message, mark, plain, source, is_copy)


def copy_finding(part: Part) -> Finding | None:
    """Return what is to be said of a translation with the words of its source; None if they are names or codes."""
    source = part.source
    tokens = source.split()
    if len(tokens) <= _LABEL_WORDS and _CODE.search(part.plain.text + part.message.source):
        return None
    small = [token for token in tokens if _SMALL.fullmatch(token)]
    titles = [token for token in tokens if token.istitle() and len(token) >= _LABEL_WORDS]
    if ";" in source[:-1] or (len(tokens) == 1 and not titles) or not (small or titles):
        return None
    severity: Severity = "warn" if small and len(tokens) > 1 else "info"
    if len(tokens) > _LABEL_WORDS and 2 * len(small) > len(tokens):
        severity = "fail"
    return Finding("source_copied", severity, "The source was given back untranslated.")


def as_in_message(
    finding: Finding, part: Part, check: TextCheck, names: Collection[str], *, is_pooled: bool
) -> Finding | None:
    """Return a finding of a check of any text as it counts in a message; None if it does not.

    `names` are words of the source that other translations keep too; `is_pooled` if the language was identified from
    several messages of a file that is in its language as a whole.
    """
    kind = finding.kind
    if kind in _ANOTHER_CHECK or (kind == "markup_added" and finding.severity == "fail"):
        return None
    if kind == "cut_off" and not part.plain.ends_with_words:
        return None
    if kind == "number_lost" and part.message.is_exact:
        return None
    if kind == "wrong_script" and check.script.share is None:
        return None
    if kind in ("untranslated", "untranslated_word") or (kind == "mixed_script" and is_kept(finding, part)):
        return _left(finding, part, names)
    if finding.severity == "fail" and _is_doubtful(kind, part, is_pooled=is_pooled):
        return replace(finding, severity="warn")
    return finding


def is_kept(finding: Finding, part: Part) -> bool:
    """Say whether a finding is about one word that the source has too."""
    word = part.plain.text[finding.start : finding.end] if finding.start is not None else ""
    return bool(word) and word.isalnum() and word in part.source


def _left(finding: Finding, part: Part, names: Collection[str]) -> Finding | None:
    """Return a finding about words that were left, unless they are code, a list of endings, or names."""
    text, start, end = part.plain.text, finding.start or 0, finding.end or 0
    original = part.message.translation[part.plain.original(start) : part.plain.original(max(0, end - 1)) + 1]
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    if finding.kind != "untranslated":
        is_quoted = any(quote in around for quote in _QUOTES)
        is_part = text[start:end] in names or _CODE.search(text[max(0, start - 2) : end + 2]) is not None
        return None if is_quoted or is_part else finding
    is_list = original.count(",") + original.count(";") >= len(original.split()) - 1
    if _CODE.search(original) or is_list:
        return None
    return finding


def _is_doubtful(kind: str, part: Part, *, is_pooled: bool) -> bool:
    """Say whether what would fail in a text may well be right in the label of a program."""
    if kind == "wrong_language":
        return is_pooled
    if kind == "wrong_script":
        return _is_term_of_source(part)
    return kind == "wrong_length" and len(part.source) < _SHORT_SOURCE


def _is_term_of_source(part: Part) -> bool:
    """Say whether all words in Latin letters are those of the source, beside words of the language."""
    ours = plain_words(part.plain.text)
    latin, theirs = [word for word in ours if word.isascii()], set(plain_words(part.source))
    return len(latin) < len(ours) and all(word in theirs for word in latin)
