"""Adapt the findings of the checks of any text to messages, which are short and keep names."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from polyjudge.checks.completeness import usual_length_share
from polyjudge.checks.language_signs import neighbours_of
from polyjudge.checks.script import FAILING_SHARE, is_accepted
from polyjudge.records.findings import Finding, Severity, TextCheck
from polyjudge.records.messages import Message
from polyjudge.records.translation import Language
from polyjudge.text.segments import plain_words, word_texts

from .accelerators import accelerator_mark
from .language_facts import base_of
from .placeholder_checks import has_alternatives
from .plain_text import PlainText, plain_text

OF_COPIES = {"source_copied", "untranslated", "untranslated_word"}
"""Findings that a translation into a variant of the same language cannot avoid."""
_ANOTHER_CHECK = {"placeholder_lost", "markup_lost", "url_lost", "url_added", "ellipsis_lost", "empty"}
"""Findings that the checks of messages make with the knowledge of the format."""
_SHORT_SOURCE = 60
_LABEL_WORDS = 3
"""Labels of so many words are often the same in many languages: names of products, formats and units."""
_LONG_SOURCE = 400
_WHOLE = 0.75
"""Share of the usual length from which a text that lacks its last mark is not cut off."""
_FEW_LETTERS, _FEW_LETTERS_OF_NEAR = 12, 25
"""Texts with fewer may be names; those that look like a neighbour of their language often are in it."""
_ENOUGH_LETTERS, _ENOUGH_LETTERS_OF_SOURCE, _ENOUGH_LETTERS_OF_NEAR = 25, 40, 80
"""From so many letters on, another language is certain. Words of the source are kept in many languages.

Of 134 messages of Django, Wagtail, GTK, GLib and coreutils that looked like another language, three were in one.
"""
_DENSE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\d_]{3}")
_FORM_OF_WARNING = {"extra_lines", "repetition"}
"""Lines break at other places in another language, and labels repeat terms."""
_DOUBTFUL = {"cut_off", "number_lost", "wrong_script", "model_note", "template_leak"}
OF_LENGTH = {"wrong_length", "missing_sentences"}
_EXAMPLE = re.compile(r"\be\.g|\bexample", re.IGNORECASE)
_CODE = re.compile(r"[\[\]|<>*=_{}/\\;@#]|--?\w|&\w+;|[.:]\w|\(\)")
_NAMES = re.compile(r"[\w -]*")
_GAP = re.compile(r"[ \t]{2,}")
_QUOTES = "\"'“”„‘’«»「」`"
_SMALL = re.compile(r"[a-z]{2,}[.,:!?…]*")


class FileFacts(NamedTuple):
    """What the findings in a message need of its file."""

    names: Collection[str]
    """Words of the source that other translations keep too."""
    letters: Mapping[int, int]
    """How many letters show the language of texts that were identified together, by the identity of the result."""
    pooled: Collection[int]
    """Results for several texts of a file that is in its language as a whole."""
    near: Collection[str]
    """Languages that short texts are confused with."""
    source: str
    """The first part of the tag of the language of the sources."""
    language: Language

    def is_near(self, tag: str) -> bool:
        """Say whether a language is easily confused with that of the file."""
        return base_of(tag) in self.near


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
    return Finding("source_copied", severity, "Not translated: the output is a copy of the source.")


def as_in_message(finding: Finding, part: Part, check: TextCheck, file: "FileFacts") -> Finding | None:
    """Return a finding of a check of any text as it counts in a message; None if it does not."""
    kind = finding.kind
    if kind in OF_LENGTH and has_alternatives(part.message):
        return None
    if kind in _ANOTHER_CHECK or (kind == "markup_added" and finding.severity == "fail"):
        return None
    if kind in _DOUBTFUL and _is_doubtful(finding, part, check):
        return None
    if kind in ("untranslated", "untranslated_word") or (kind == "mixed_script" and is_kept(finding, part)):
        return _left(finding, part, file.names)
    if kind == "wrong_language":
        return replace(finding, severity=_language_severity(part, check, file))
    if finding.severity == "warn" and (kind in _FORM_OF_WARNING or (kind == "wrong_length" and _is_long_label(part))):
        return replace(finding, severity="info")
    if finding.severity == "fail" and _is_uncertain(kind, part, check, file):
        return replace(finding, severity="warn")
    return finding


def _is_doubtful(finding: Finding, part: Part, check: TextCheck) -> bool:
    """Say whether what is wrong in a text is usual in a message."""
    words = part.plain.text[finding.start : finding.end].strip()
    if finding.kind == "cut_off":
        is_whole = usual_length_share(part.plain.text, part.source) >= _WHOLE
        return is_whole or not part.plain.ends_with_words
    if finding.kind == "number_lost":
        return part.message.is_exact
    if finding.kind == "wrong_script":
        share = check.script.share
        # The sign of a unit has one letter, and without the source nothing says that more is wanted.
        is_sign = share is not None and share >= FAILING_SHARE and not part.source and finding.severity == "warn"
        return share is None or is_sign or (bool(part.source) and not _WORD.search(part.source))
    if finding.kind == "model_note":
        is_of_source = ":" in part.message.source or "note" in part.message.source.casefold()
        return words.endswith((":", "：")) and is_of_source
    return words.startswith("[") and "[" in part.message.source


def _is_long_label(part: Part) -> bool:
    """Say whether a translation of a short source is longer than usual, as an explanation of a term is."""
    return len(part.source) < _SHORT_SOURCE and usual_length_share(part.plain.text, part.source) > 1


def _is_uncertain(kind: str, part: Part, check: TextCheck, file: "FileFacts") -> bool:
    """Say whether what fails in a text may well be right in a message."""
    if kind == "wrong_script":
        share = 1 if check.script.share is None else check.script.share
        if share >= FAILING_SHARE:
            return _is_letter_beside_names(part, file.language)
        return not _is_phrase_of_another(part, file.language)
    if kind == "wrong_length":
        return len(part.source) < _SHORT_SOURCE
    if kind == "cut_off":
        return all(each.kind not in OF_LENGTH for each in check.problems)
    if kind in ("number_lost", "number_changed"):
        # Help has examples, which are those of the language.
        return len(part.source) > _LONG_SOURCE or _EXAMPLE.search(part.source) is not None
    return kind == "unclear_language"


def _language_severity(part: Part, check: TextCheck, file: "FileFacts") -> Severity:
    """Return how sure it is that a text is in another language, by the letters that show it."""
    place = id(check.language)
    is_near = file.is_near(check.language.found)
    letters = file.letters.get(place, 0) or own_letters(part)
    if place in file.pooled or letters < (_FEW_LETTERS_OF_NEAR if is_near else _FEW_LETTERS):
        return "info"
    if is_near:
        return "fail" if letters >= _ENOUGH_LETTERS_OF_NEAR else "warn"
    is_source = base_of(check.language.found) == file.source
    return "fail" if letters >= (_ENOUGH_LETTERS_OF_SOURCE if is_source else _ENOUGH_LETTERS) else "warn"


def near_languages(language: Language) -> frozenset[str]:
    """Return the languages that short texts of a language are confused with, by the first parts of their tags."""
    label = language.detector or language.tag
    return frozenset(map(base_of, (label, *neighbours_of(label), *language.inseparable)))


def own_letters(part: Part) -> int:
    """Return the letters of the words that the source does not have; a sign of Chinese says as much as three."""
    theirs = set(plain_words(part.source))
    own = "".join(word for word in plain_words(part.plain.text) if word not in theirs)
    return len(own) + 2 * len(_DENSE.findall(own))


def is_kept(finding: Finding, part: Part) -> bool:
    """Say whether a finding is about one word that the source has too."""
    word = part.plain.text[finding.start : finding.end] if finding.start is not None else ""
    return bool(word) and not word.isspace() and word in part.source


def _left(finding: Finding, part: Part, names: Collection[str]) -> Finding | None:
    """Return a finding about words that were left, unless they are code, a list of endings, or names."""
    text, start, end = part.plain.text, finding.start or 0, finding.end or 0
    original = part.message.translation[slice(*_place(finding, part))]
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    if finding.kind != "untranslated":
        is_quoted = any(quote in around for quote in _QUOTES) or _is_marked_up(finding, part)
        is_part = text[start:end] in names or _CODE.search(text[max(0, start - 2) : end + 2]) is not None
        if is_quoted or is_part or _is_defined(finding, part):
            return None
        # One word is mostly a term that has no other name, such as "phishing".
        return finding if len(text[start:end].split()) > 1 else replace(finding, severity="info")
    is_list = original.count(",") + original.count(";") >= len(original.split()) - 1
    if _CODE.search(original) or is_list:
        return None
    return finding


def _is_marked_up(finding: Finding, part: Part) -> bool:
    """Say whether a word is all that a tag has: `<code>href</code>`."""
    text, start, end = part.message.translation, *_place(finding, part)
    return text[max(0, start - 1) : start] == ">" and text[end : end + 1] == "<"


def _place(finding: Finding, part: Part) -> tuple[int, int]:
    """Return where the message has what a finding has in its words."""
    place = part.plain.original
    return place(finding.start or 0), place(max(0, (finding.end or 0) - 1)) + 1


def _is_defined(finding: Finding, part: Part) -> bool:
    """Say whether a word is at the start of a line, and explained behind a gap: `  append    append mode`."""
    text, start, end = part.message.translation, *_place(finding, part)
    line = text.rfind("\n", 0, start) + 1
    return _GAP.match(text, end) is not None and _NAMES.fullmatch(text, line, start) is not None


def _is_letter_beside_names(part: Part, language: Language) -> bool:
    """Say whether a text is a sign of the language beside names that the source has too: `SAS 키`."""
    ours = word_texts(part.plain.text)
    return len(ours) > 1 and sum(len(word) for word in ours if is_accepted(word, language)) == 1


def _is_phrase_of_another(part: Part, language: Language) -> bool:
    """Say whether a text has so much in another script that it is no name or term: a few words are.

    Beside words of the language, those with a capital are names, and those of the source are terms that were kept.
    """
    ours = [word for word in word_texts(part.plain.text) if word[:1].isalpha()]
    others = [word for word in ours if not is_accepted(word, language)]
    if len(others) < len(ours):
        theirs = set(plain_words(part.source))
        others = [word for word in others if word == word.lower() and word.casefold() not in theirs]
    caseless = sum(len(word) for word in others if word == word.upper() and word == word.lower())
    return len(others) > _LABEL_WORDS or caseless >= _FEW_LETTERS
