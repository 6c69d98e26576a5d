"""Show text that others wrote without letting it act: no control codes, no changes of direction."""

import re

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
