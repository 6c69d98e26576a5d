"""Read the .properties files of Java."""

import re
from collections.abc import Iterator

from .content import text_of, well_formed
from .entries import Entry, Problems

_KEY = re.compile(r"((?:[^\\\s:=]|\\.)*+)[ \t\f]*+(?:[:=][ \t\f]*+)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*+\\\Z")
_SPACE = " \t\f"


def read_properties(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the texts of a file in UTF-8, or else in the encoding that Java used before it."""
    lines = text_of(content, path, otherwise="latin-1").split("\n")
    comments, number = list[str](), 0
    while number < len(lines):
        line, start = lines[number].lstrip(_SPACE), number + 1
        number += 1
        if not line:
            comments = []
        elif line[0] in "#!":
            comments.append(line[1:].strip())
        else:
            parts = [line]
            while parts[-1][-1:] == "\\" and _CONTINUED.search(parts[-1]) and number < len(lines):
                parts[-1] = parts[-1][:-1]
                parts.append(lines[number].lstrip(_SPACE))
                number += 1
            yield _entry("".join(parts), start, comments, problems)
            comments = []


def _entry(line: str, number: int, comments: list[str], problems: Problems) -> Entry:
    match = _KEY.match(line)
    assert match is not None, "the pattern matches the empty text"
    if _BAD_ESCAPE.search(line):
        problems.add(number, "has \\u without four digits of a character")
    return Entry(key=_plain(match[1]), text=_plain(line[match.end() :]), line=number, comment="\n".join(comments))


_BAD_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9A-Fa-f]{4})")


def _plain(text: str) -> str:
    return well_formed(_ESCAPE.sub(_unescaped, text)) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16) or 0xFFFD)
    return _ESCAPED.get(match[2], match[2])
