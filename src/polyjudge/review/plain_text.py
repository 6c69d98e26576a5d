"""The words of a message, without what a program puts in or takes out: placeholders, tags, entities, shortcuts."""

import re
from functools import lru_cache
from typing import NamedTuple

from polyjudge.text.segments import PLACEHOLDER, TAG

from .accelerators import IN_BRACKETS, accelerator_places

_MARKS = ("%", "{", "$", "<", "&", "\\", "#", "}")
"""Without one of these, a text has nothing to take out but a shortcut."""
_SELECTORS = r"\{\s*[\w$.]+\s*,\s*(?:plural|select|selectordinal)\s*,|(?:=\d+|(?<!\w)\w+)\s*\{(?=[^{}]*\})"
PROTECTED = re.compile(
    "|".join(
        [
            r"\{\{[^{}]*\}\}",  # i18next, Handlebars
            r"\$t\([^()]*\)",
            r"[%#$]\{\s*[\w.-]+\s*\}",  # Ruby and templates
            r"\{\s*[$-]?[\w.-]*\s*(?:![rsa])?(?::[^{}]*)?\}",  # Python, .NET, Fluent
            r"\{\s*[\w.]+\s*,\s*(?:number|date|time|spellout|ordinal|duration)\s*(?:,[^{}]*)?\}",
            r"\{\s*-?[A-Za-z][\w-]*\([^(){}]{0,300}\)\s*\}",  # functions and terms of Fluent
            r"\$[A-Za-z0-9_@]+\$|\$\d{1,2}\b",  # WebExtensions
            r"%\([\w ]+\)[-+#0 ]{0,3}\d{0,3}(?:\.\d{1,3})?[a-zA-Z]",
            r"%(?:\d{1,2}\$)?(?:[-+#0']|I(?!64|32)){0,3}(?:\*|\d{1,3})?(?:\.(?:\*|\d{1,3}))?(?:hh?|ll?|[zjtLq])?"
            r"[@sdifuxXoaAgGeEcCpSnmKD](?:(?![a-zA-Z])|(?=(?:st|nd|rd|th|[hmsx])\b))",
            r"%(?:<\w+>[-+0]{0,2}\d*[.]?\d*[sdifx]|<PRI\w{2,6}>|L?\d{1,2}|[nNO]\b|%)",  # Ruby, gettext, Qt
            r"%[-_^#EO0]{0,2}[aAbBcCdDeFgGhHIjklmMnprRsStTuUVwWxXyYzZP](?![a-zA-Z])",  # strftime
            r"</?g?x?\s?/?\d*\s?/?>|<!\[CDATA\[|\]\]>",
            r"&(?:[a-zA-Z]{2,8}|#\d{2,6}|#x[0-9a-fA-F]{2,6});",
            r"\\(?:[nrt\"'@?\\]|u[0-9a-fA-F]{4})",
            TAG.pattern,
            PLACEHOLDER.pattern,
        ]
    )
)
_ICU = re.compile(_SELECTORS)
_GAP = re.compile(" {3,}")
_BRACES = re.compile(r"[{}]|(?<![\w&])#(?![\w#])")
_KEPT = 4_096


class PlainText(NamedTuple):
    """The words of a message, and where they are in it."""

    text: str
    """What is taken out is replaced by spaces; a shortcut within a word is left out."""
    places: tuple[int, ...] = ()
    """For each character, and for the end, the offset in the message; empty if all are the same."""
    ends_with_words: bool = True
    """The message does not end with a placeholder or a tag."""

    def original(self, offset: int) -> int:
        """Return the offset in the message of one in the text."""
        return self.places[min(offset, len(self.places) - 1)] if self.places else offset


@lru_cache(maxsize=_KEPT)
def plain_text(message: str, mark: str = "") -> PlainText:
    """Return the words of a message whose shortcut has a mark."""
    text = message
    if any(each in text for each in _MARKS):
        text = _without_protected(text)
    if mark and mark in text:
        text = IN_BRACKETS.sub(_blank, text)
        left_out = set(accelerator_places(text, mark))
    else:
        left_out = set[int]()
    if "   " in text:  # of what was taken out, two spaces are left: its length says nothing
        left_out.update(place for match in _GAP.finditer(text) for place in range(match.start() + 2, match.end()))
    labelled = IN_BRACKETS.sub("", message) if mark else message
    ends = labelled.rstrip()[-1:] == text.rstrip()[-1:]
    if not left_out:
        return PlainText(text, (), ends)
    kept = [place for place in range(len(text)) if place not in left_out]
    return PlainText("".join(text[place] for place in kept), (*kept, len(text)), ends)


def _without_protected(text: str) -> str:
    if "{" in text and _ICU.search(text):
        text = _ICU.sub(_blank, PROTECTED.sub(_blank, text))
        return _BRACES.sub(" ", text)
    return PROTECTED.sub(_blank, text)


def _blank(match: "re.Match[str]") -> str:
    return " " * len(match[0])
