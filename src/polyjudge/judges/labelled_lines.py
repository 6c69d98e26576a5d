"""Read `Score: 85` and its kin: the last resort for judges that cannot write JSON, and a check on those that can."""

import re
from functools import lru_cache

_AFTER_VALUE = re.compile(r"(?<=[\w])[.。।]\Z")
_EMPHASIS = " \t*_`#|•\"'“”«»"
_MARKUP = _EMPHASIS + "-–—"
"""What may precede a label or follow a value. A dash before a value may be its sign and is kept."""
_SIGN = re.compile(r"\A[-−–－](?=\d)")
_QUOTED = ">＞"
"""A line that begins so quotes another text."""
_BEFORE_LABEL = "my|the|final|overall|total|revised|corrected|updated"


def labelled_values(text: str, key: str) -> list[str]:
    """Return what follows `key:` on lines that begin with it, first line first, without markup.

    Every dash that directly precedes a digit is a minus sign; other dashes before a value are kept as they are, so
    that `Score: — 85` is no number.
    """
    return [_value(match[1]) for match in _line_of(key).finditer(text)]


def last_line_is_labelled(text: str, key: str) -> bool:
    """Say whether the text ends in the line of a label, so that its value may be cut off."""
    return bool(labelled_values(text.rstrip().rpartition("\n")[2], key))


def without_lines(text: str, keys: tuple[str, ...]) -> str:
    """Return the text without the lines of some labels."""
    for key in keys:
        text = _line_of(key).sub("", text)
    return text


def _value(written: str) -> str:
    bare = written.lstrip(_EMPHASIS).rstrip(_MARKUP)
    return _SIGN.sub("-", _AFTER_VALUE.sub("", bare))


@lru_cache(maxsize=256)
def _line_of(key: str) -> re.Pattern[str]:
    # "scriptScore" and "script_score" are written by judges as "Script score".
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key).split(" ")
    label = r"[ _]?".join(map(re.escape, words))
    marks, emphasis = re.escape(_MARKUP), re.escape(_EMPHASIS)
    return re.compile(
        rf"^(?![ \t]*[{_QUOTED}])[{marks}]*(?:(?:{_BEFORE_LABEL})[ _]+)*{label}[{marks}]*[:：=|][{emphasis}]*([^\n]*)$",
        re.IGNORECASE | re.MULTILINE,
    )
