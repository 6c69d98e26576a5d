"""Texts that others wrote, as a page may show them: in pieces, with what cannot be seen named."""

from itertools import groupby
from typing import Any

from polyjudge.records import Language
from polyjudge.text import harmless

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
