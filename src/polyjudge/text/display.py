"""Show untrusted text safely, without control characters or direction marks."""

import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyjudge.records.translation import Language

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """Replace characters that act on a terminal, or that files cannot contain, by escapes."""
    if text.isprintable():  # as most texts are, and quick to see
        return text
    return _ACTING.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, longest: int) -> str:
    """Return a text harmless, on one line, cut with an ellipsis to at most `longest` characters."""
    line = " ".join(harmless(text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def isolated(text: str) -> str:
    """Isolate right-to-left text, so that it does not reorder the line around it."""
    has_rtl = not text.isascii() and any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in text)
    return f"\u2068{text}\u2069" if has_rtl else text


SHOWN_AT_ONCE = 20_000
"""Characters of a text that are sent together; browsers hang on lines of a million characters."""


def text_part(text: str, language: "Language | None", start: int) -> dict[str, Any]:
    """Return part of a text in pieces, with language, direction and script; the browser guesses unknown ones."""
    first = max(0, min(start, len(text)))
    end = min(len(text), first + SHOWN_AT_ONCE)
    return {
        "lang": language.tag if language else "",
        "dir": language.direction if language else "auto",
        "script": language.scripts[0] if language else "",
        "pieces": pieces(text[first:end]),
        "end": end,
        "total": len(text),
    }


def pieces(text: str) -> list[list[str]]:
    """Split a text into pieces to show unchanged, and code points of characters that would act or be invisible."""
    if harmless(text) == text:
        return [["text", text]] if text else []
    found: list[list[str]] = []
    for acts, chars in groupby(text, key=lambda char: harmless(char) != char):
        if acts:
            found += [["code", f"U+{ord(char):04X}"] for char in chars]
        else:
            found.append(["text", "".join(chars)])
    return found
