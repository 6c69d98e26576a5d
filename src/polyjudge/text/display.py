"""Show untrusted text safely: without control codes or changes of direction."""

import re
from itertools import groupby
from typing import Any

from polyjudge.records.translation import Language

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def harmless(text: str) -> str:
    """Return `text` with every character that could act on a terminal, or that no file can hold, as its code point."""
    return _ACTING.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, longest: int) -> str:
    """Return `text` harmless, on one line, and cut with an ellipsis to at most `longest` characters."""
    line = " ".join(harmless(text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


SHOWN_AT_ONCE = 20_000
"""Characters of a text that are sent together; a browser stands still over a line of a million."""


def text_part(text: str, language: Language | None, start: int) -> dict[str, Any]:
    """Return part of a text in pieces, with how it is to be set; without a language the browser sees to that."""
    begin = max(0, min(start, len(text)))
    end = min(len(text), begin + SHOWN_AT_ONCE)
    return {
        "lang": language.tag if language else "",
        "dir": language.direction if language else "auto",
        "script": language.scripts[0] if language else "",
        "pieces": pieces(text[begin:end]),
        "end": end,
        "total": len(text),
    }


def pieces(text: str) -> list[list[str]]:
    """Return a text cut in two kinds of pieces: what is shown as it is, and names of what would act or not be seen."""
    if harmless(text) == text:
        return [["text", text]] if text else []
    found: list[list[str]] = []
    for acts, signs in groupby(text, key=lambda sign: harmless(sign) != sign):
        if acts:
            found += [["code", f"U+{ord(sign):04X}"] for sign in signs]
        else:
            found.append(["text", "".join(signs)])
    return found
