"""File names that are safe on every system and tell similar names apart.

Plain names stay as they are. What could act as more than a name is written as the bytes of its UTF-8, such as `%2F` for
a slash; so is `%` itself, and no two texts are written alike. Names too long for a file system end in a hash.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256

_SAFE = frozenset("\u200c\u200d ()+,.:=@_'-")
"""What may stand in a name beside letters, marks and digits: two signs that some scripts need to join and part them."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)", re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_MOST_BYTES = 180
"""Leaves room for endings within the 255 bytes that file systems allow."""


def safe_names(names: Iterable[str], *, taken: Collection[str] = (), endings: Collection[str] = ()) -> dict[str, str]:
    """Return a file name for each text; `taken` are names, and `endings` ends of names, that mean something else.

    On some file systems case makes no difference. Of texts that differ in nothing else, those with capitals get a hash.
    """
    plain = {name: _kept_apart(safe_name(name), taken, endings) for name in names}
    counts = Counter(map(_folded, plain.values()))
    return {
        name: each if counts[_folded(each)] == 1 or _is_lower(each) else f"{each}~{_hash(name)[:8]}"
        for name, each in plain.items()
    }


def _folded(name: str) -> str:
    """Return what some file systems take a name for: without case, in one spelling, without invisible signs."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
    return "".join(letter for letter in decomposed if not _INVISIBLE.match(letter))


def _is_lower(name: str) -> bool:
    """Say whether a name is the plainest of those that are folded alike."""
    return _folded(name) == unicodedata.normalize("NFD", re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), name))


def safe_name(text: str) -> str:
    """Return a file name for one text."""
    written = "".join(_written(cluster) for cluster in _clusters(text))
    if written[:1] in (".", " ") or _RESERVED.match(written):
        written = _escaped(written[:1]) + written[1:]
    if written[-1:] in (".", " "):
        written = written[:-1] + _escaped(written[-1:])
    if len(written.encode()) > _MOST_BYTES:
        written = f"{_cut(written)}~{_hash(text)[:16]}"
    return written or "%"


def _clusters(text: str) -> Iterator[str]:
    """Yield characters with what may be composed with them: marks, and the later letters of a Korean syllable."""
    start = 0
    for place, letter in enumerate(text):
        if place and unicodedata.category(letter)[0] != "M" and not "\u1160" <= letter <= "\u11ff":
            yield text[start:place]
            start = place
    yield text[start:]


def _written(cluster: str) -> str:
    """Escape what is unsafe, and characters with another spelling which some file systems take for the same."""
    if unicodedata.normalize("NFC", cluster) != cluster:
        return _escaped(cluster)
    return "".join(letter if _is_safe(letter) else _escaped(letter) for letter in cluster)


def _is_safe(letter: str) -> bool:
    return letter in _SAFE or unicodedata.category(letter)[0] in "LMN"


def _kept_apart(name: str, taken: Collection[str], endings: Collection[str]) -> str:
    if name.casefold() in [each.casefold() for each in taken]:
        return _escaped(name[:1]) + name[1:]
    for ending in endings:
        if name.lower().endswith(ending.lower()):
            start = len(name) - len(ending)
            return name[:start] + _escaped(name[start]) + name[start + 1 :]
    return name


def _cut(name: str) -> str:
    start = name.encode()[: _MOST_BYTES - 17].decode(errors="ignore")
    return re.sub(r"%[0-9A-F]?$", "", start)


def _escaped(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode(errors="surrogatepass"))


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
