"""File names that are safe on every system and distinct for distinct texts.

Plain names do not change. Unsafe characters, and `%` itself, are percent-encoded in UTF-8, such as `%2F` for a slash.
Names that are too long for a file system end in a hash.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256

_SAFE = frozenset("\u200c\u200d ()+,.:=@_'-")
"""Characters that are allowed beside letters, marks and digits; the first two are needed in some scripts."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)", re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_MAX_BYTES = 180
"""Leaves room for suffixes within the 255 bytes that file systems allow."""


def safe_names(names: Iterable[str], *, taken: Collection[str] = (), endings: Collection[str] = ()) -> dict[str, str]:
    """Return a file name for each text, avoiding the names `taken` and names with one of the `endings`.

    Some file systems ignore case. Of texts that differ only in case, those with capitals get a hash.
    """
    plain = {name: _made_distinct(safe_name(name), taken, endings) for name in names}
    counts = Counter(map(_folded, plain.values()))
    return {
        name: each if counts[_folded(each)] == 1 or _is_lower(each) else f"{each}~{_hash(name)[:8]}"
        for name, each in plain.items()
    }


def _folded(name: str) -> str:
    """Return a name as some file systems compare it: without case, in one normal form, without invisible characters."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
    return "".join(letter for letter in decomposed if not _INVISIBLE.match(letter))


def _is_lower(name: str) -> bool:
    """Return whether a name is the lower-case form of those with the same folded form."""
    return _folded(name) == unicodedata.normalize("NFD", re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), name))


def safe_name(text: str) -> str:
    """Return a file name for one text."""
    encoded = "".join(_encode_cluster(cluster) for cluster in _clusters(text))
    if encoded[:1] in (".", " ") or _RESERVED.match(encoded):
        encoded = _percent_encoded(encoded[:1]) + encoded[1:]
    if encoded[-1:] in (".", " "):
        encoded = encoded[:-1] + _percent_encoded(encoded[-1:])
    if len(encoded.encode()) > _MAX_BYTES:
        start = encoded.encode()[: _MAX_BYTES - 17].decode(errors="ignore")
        encoded = f"{re.sub(r'%[0-9A-F]?$', '', start)}~{_hash(text)[:16]}"
    return encoded or "%"


def _clusters(text: str) -> Iterator[str]:
    """Yield characters with their marks, and Korean syllables with their later letters."""
    start = 0
    for position, letter in enumerate(text):
        if position and unicodedata.category(letter)[0] != "M" and not "\u1160" <= letter <= "\u11ff":
            yield text[start:position]
            start = position
    yield text[start:]


def _encode_cluster(cluster: str) -> str:
    """Encode unsafe characters, and those that some file systems normalize."""
    if unicodedata.normalize("NFC", cluster) != cluster:
        return _percent_encoded(cluster)
    return "".join(
        letter if letter in _SAFE or unicodedata.category(letter)[0] in "LMN" else _percent_encoded(letter)
        for letter in cluster
    )


def _made_distinct(name: str, taken: Collection[str], endings: Collection[str]) -> str:
    if name.casefold() in [each.casefold() for each in taken]:
        return _percent_encoded(name[:1]) + name[1:]
    for ending in endings:
        if name.lower().endswith(ending.lower()):
            start = len(name) - len(ending)
            return name[:start] + _percent_encoded(name[start]) + name[start + 1 :]
    return name


def _percent_encoded(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode(errors="surrogatepass"))


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()
