"""Read `Score: 85` and its kin: the last resort for judges that cannot write JSON."""

import re
from functools import lru_cache

_AFTER_NUMBER = re.compile(r"(?<=\d)[.。।]\Z")
_MARKUP = " \t*_`#>|•-–—\"'“”«»"


def labelled_values(text: str, key: str) -> list[str]:
    """Return what stands after `key:` on lines that begin with it, first line first, markup taken off."""
    return [_AFTER_NUMBER.sub("", match[1].strip(_MARKUP)) for match in _line_of(key).finditer(text)]


@lru_cache(maxsize=256)
def _line_of(key: str) -> re.Pattern[str]:
    # "scriptScore" and "script_score" are written by judges as "Script score".
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", key).split(" ")
    label = r"[ _]?".join(map(re.escape, words))
    marks = re.escape(_MARKUP)
    return re.compile(rf"^[{marks}]*{label}[{marks}]*[:：=][{marks}]*([^\n]*)$", re.IGNORECASE | re.MULTILINE)
