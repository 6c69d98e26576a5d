"""Two texts side by side on a terminal, with what differs marked."""

import sys
import unicodedata

from polyjudge.text.difference import Part, difference, shown

_COLOURS: dict[Part, str] = {"removed": "\x1b[31;7m", "added": "\x1b[32;7m", "same": ""}
_MARKS: dict[Part, tuple[str, str]] = {"removed": ("[-", "-]"), "added": ("{+", "+}"), "same": ("", "")}
_INDENT = "    "


def print_difference(expected: str, actual: str) -> None:
    """Print the expected and the actual text; marked by colour on a terminal, by brackets elsewhere."""
    found = difference(expected, actual)
    for name, parts in (("expected", found.expected), ("actual  ", found.actual)):
        text = "".join(_marked(part, text) for part, text in parts)
        print(f"{_INDENT}{name}  {_isolated(text)}".replace("\n", f"\n{_INDENT}          "))
    for note in found.notes:
        print(f"{_INDENT}{note}")


def _marked(part: Part, text: str) -> str:
    if part == "same":
        return shown(text, keep_joiners=True)
    if sys.stdout.isatty():
        return f"{_COLOURS[part]}{shown(text)}\x1b[0m"
    before, after = _MARKS[part]
    return f"{before}{shown(text)}{after}"


def _isolated(text: str) -> str:
    """Keep right-to-left text from turning the line around it."""
    is_turned = any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)
    return f"\u2068{text}\u2069" if is_turned else text
