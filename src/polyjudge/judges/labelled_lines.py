"""Read `Score: 85` and its kin: the last resort for judges that cannot write JSON, and a check on those that can."""

import re
from functools import lru_cache

_AFTER_VALUE = re.compile(r"(?<=[\w])[.。।]\Z")
_MARKUP = " \t*_`#|•-–—\"'“”«»"
_QUOTED = ">＞"
"""A line that begins so quotes somebody else."""
_BEFORE_LABEL = "my|the|final|overall|total|revised|corrected|updated"


def labelled_values(text: str, key: str) -> list[str]:
    """Return what stands after `key:` on lines that begin with it, first line first, markup taken off."""
    return [_AFTER_VALUE.sub("", match[1].strip(_MARKUP)) for match in _line_of(key).finditer(text)]


def last_line_is_labelled(text: str, key: str) -> bool:
    """Say whether the text ends in the line of a label, so that its value may be cut off."""
    return bool(labelled_values(text.rstrip().rpartition("\n")[2], key))


@lru_cache(maxsize=256)
def _line_of(key: str) -> re.Pattern[str]:
    # "scriptScore" and "script_score" are written by judges as "Script score".
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key).split(" ")
    label = r"[ _]?".join(map(re.escape, words))
    marks = re.escape(_MARKUP)
    return re.compile(
        rf"^(?![ \t]*[{_QUOTED}])[{marks}]*(?:(?:{_BEFORE_LABEL})[ _]+)*{label}[{marks}]*[:：=|][{marks}]*([^\n]*)$",
        re.IGNORECASE | re.MULTILINE,
    )
