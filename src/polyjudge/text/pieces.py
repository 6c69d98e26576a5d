"""Split a text into words, sentences and graphemes, in every script."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, TypeVar, cast

from .difference import graphemes
from .segments import PLACEHOLDER, TAG, URL, prose

Kind = Literal["word", "fixed", "space", "mark"]

_CACHED_TEXTS = 64
"""Cached texts: each is perturbed in many ways in turn."""
_JOINS_NEXT = re.compile("[\u0a4d\u0ccd\u0dca\u1039\u17d2]\u200d?$")
"""Characters that join the next consonant, in scripts that the cluster rule of Unicode does not cover."""
_JOINS_LAST = re.compile("[\u102b\u102c\u1038\u1062-\u1064\u1067-\u106d\u1083\u1087-\u108c]")
"""Burmese signs that never occur alone, but are letters by the cluster rule of Unicode."""
_FIXED = re.compile("|".join(f"(?:{each.pattern})" for each in (URL, TAG, PLACEHOLDER)), re.ASCII)
_BEFORE_CONSONANT = "เแโใไເແໂໃໄ"
_AFTER_CONSONANT = "ะาๅฯๆະາຯໆ"
_UNSPACED = re.compile(
    "(?P<H>[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
    "|(?P<K>[\u3041-\u309f])|(?P<T>[\u30a1-\u30ff\uff66-\uff9f])"
    f"|(?P<V>[{_BEFORE_CONSONANT}])|(?P<A>[{_AFTER_CONSONANT}])|(?P<U>[\u0e00-\u0eff\u1000-\u109f\uaa60-\uaa7f\u1780-\u17ff])"
)
"""Scripts without spaces between words: Han, Hiragana, Katakana, vowels before or after their consonant, the others."""
_INSIDE_WORD = {"'": "'", "’": "'", "ʼ": "'", "‘": "'", "·": "'", "-": "'", "\u2010": "'", "\u2011": "'"}
_INSIDE_NUMBER = dict.fromkeys(".,:/٫٬", ".")
_PIECE = re.compile(
    r"(?P<fixed>Ff*)|(?P<space>S+)"
    r"|(?P<word>[LN](?:[LN]|'(?=[LN])|(?<=N)\.(?=N))*"
    r"|H{3}(?![HK])|H{1,2}K{0,2}|T{1,8}K{0,2}|K{1,3}|V?(?:UA*){4}(?![UA])|V?(?:UA*){2,3}|V?UA*|[VA])"
    r"|(?P<mark>.)",
)
"""Matches one letter per cluster; a Japanese word ends with its kana, a Thai one never after a preceding vowel."""
_END = re.compile(
    r"(?:[.!?…]+[\"'”’»)\]›]*(?=\s|$)|[。！？｡]+[”’」』）\"']*|[؟۔।॥።።។៕။։፧]+[\"'”’»)\]]*|፡፡|\n+)",
)
_GREEK_END = re.compile(r"[.!?;…\u037e]+[\"'”’»)]*(?=\s|$)|\n+")
_CLAUSE_END = re.compile(r"[,;:،؛፣፤–—](?=\s)|[、，；：၊]")
_SHORT_WORD = re.compile(r"(?:^|[\s(\"'«„“])((?:\w\.)*\w{1,2})\.$")
"""With a capital, such as Dr. or U.S., it rarely ends a sentence."""
_SPACES = re.compile(r"\s*")
_LAST_MARKS = re.compile(r"[.!?…。！？｡؟۔।॥።፡។៕။։፧]+[\"'”’»」』)]*$")
_SPACED_CLAUSES = re.compile("[\u0e01-\u0e2e\u0e81-\u0eae]")
_RISKY_PATTERN = (
    r"[\p{RI}\u200d\r\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]|\p{GCB=Prepend}|(?:^|[\p{C}\p{Z}])[\p{M}\u0e33\u0eb3]"
    r"|[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d](?![\p{L}\p{M}\u200c])"
)


class HasStart(Protocol):
    """An object with an offset in a text."""

    @property
    def start(self) -> int:
        """The offset."""
        ...


Placed = TypeVar("Placed", bound=HasStart)


class Piece(NamedTuple):
    """A word, a span that is not prose (a URL, a placeholder, markup), white space, or a single mark."""

    kind: Kind
    text: str
    start: int
    clusters: tuple[str, ...]
    spaced: bool = True
    """Whether its script has spaces between words."""

    @property
    def end(self) -> int:
        """The offset after it."""
        return self.start + len(self.text)

    @property
    def is_word(self) -> bool:
        """Whether it counts as a word when words are moved, deleted or repeated."""
        return self.kind in ("word", "fixed")


class Sentence(NamedTuple):
    """A sentence or clause, with the gap before the next."""

    text: str
    start: int
    gap: str

    @property
    def end(self) -> int:
        """The offset after it, before the gap."""
        return self.start + len(self.text)


@lru_cache(maxsize=_CACHED_TEXTS)
def clusters(text: str) -> tuple[str, ...]:
    """Return the grapheme clusters of a text, with subjoined consonants in one cluster."""
    found: list[str] = []
    joins = False
    for cluster in graphemes(text):
        if (joins and cluster[0].isalpha()) or (found and _JOINS_LAST.match(cluster) and found[-1][0].isalpha()):
            found[-1] += cluster
        else:
            found.append(cluster)
        joins = len(cluster) > 1 and _JOINS_NEXT.search(cluster) is not None
    return tuple(found)


@lru_cache(maxsize=_CACHED_TEXTS)
def pieces(text: str) -> tuple[Piece, ...]:
    """Split a text into pieces, which together are the whole text."""
    found_clusters = clusters(text)
    letters = _kind_letters(text, found_clusters)
    found: list[Piece] = []
    start = 0
    for match in _PIECE.finditer(letters):
        own = found_clusters[match.start() : match.end()]
        piece = "".join(own)
        found.append(Piece(cast(Kind, match.lastgroup), piece, start, own, match[0][0] not in "HKTVUA"))
        start += len(piece)
    return tuple(found)


@lru_cache(maxsize=_CACHED_TEXTS)
def words(text: str) -> tuple[Piece, ...]:
    """Return the words of a text, including spans that are not prose."""
    return tuple(piece for piece in pieces(text) if piece.is_word)


def within(found: Sequence[Placed], start: int, end: int) -> Sequence[Placed]:
    """Return the elements of a sorted sequence that start from `start` to before `end`."""
    first = bisect_left(found, start, key=lambda each: each.start)
    return found[first : bisect_left(found, end, lo=first, key=lambda each: each.start)]


def _kind_letters(text: str, found_clusters: tuple[str, ...]) -> str:
    """Return one letter per cluster that encodes its kind."""
    fixed = {
        offset: "F" if offset == match.start() else "f"
        for match in _FIXED.finditer(text)
        for offset in range(*match.span())
    }
    found: list[str] = []
    start = 0
    for cluster in found_clusters:
        found.append(fixed.get(start) or _kind_letter(cluster[0], "\u103a" in cluster[1:3]))
        start += len(cluster)
    return "".join(found)


@lru_cache(maxsize=8192)
def _kind_letter(char: str, ends_syllable: bool) -> str:
    if char.isspace():
        return "S"
    if char.isdecimal():
        return "N"
    if char.isalpha():
        match = _UNSPACED.match(char)
        return "L" if match is None else "A" if ends_syllable else str(match.lastgroup)
    return _INSIDE_WORD.get(char) or _INSIDE_NUMBER.get(char) or "P"


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text, or the clauses of a single sentence."""
    found = whole_sentences(text)
    if len(found) < 2 and _SPACED_CLAUSES.search(text):
        found = _split(text, ((match.start(), match.end()) for match in re.finditer(r"\s+", text)))
    if len(found) < 2:
        found = _split(text, ((match.start(), match.end()) for match in _CLAUSE_END.finditer(prose(text))))
        found[-1:] = [_without_end(each) for each in found[-1:]]
    return found


def _without_end(clause: Sentence) -> Sentence:
    """Move the mark at the end of the last clause into its gap."""
    end = _LAST_MARKS.search(clause.text)
    if end is None or not end.start():
        return clause
    return Sentence(clause.text[: end.start()], clause.start, end[0] + clause.gap)


def whole_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text, without splitting a single one."""
    return _split(text, _sentence_ends(text))


def _sentence_ends(text: str) -> Iterator[tuple[int, int]]:
    pattern = _GREEK_END if re.search("[α-ω]", text) else _END
    for match in pattern.finditer(prose(text)):
        following = text[match.end() : match.end() + 8].strip()
        short = _SHORT_WORD.search(text[max(0, match.end() - 8) : match.end()])
        if not following[:1].islower() and not (short and short[1][0].isupper()):
            yield match.end(), match.end()


def _split(text: str, gaps: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> list[Sentence]:
    """Split a text at gaps, each extended by the white space after it."""
    offsets = _boundaries(text)
    found: list[Sentence] = []
    start = len(text) - len(text.lstrip())
    for end, after in gaps:
        next_start = _SPACES.match(text, after).end()  # pyright: ignore[reportOptionalMemberAccess]  # it also matches an empty text
        if start < end and end in offsets and next_start in offsets and text[start:end].strip():
            found.append(Sentence(text[start:end], start, text[end:next_start]))
            start = next_start
    rest = text[start:].rstrip()
    if rest:
        found.append(Sentence(rest, start, text[start + len(rest) :]))
    return found


@lru_cache(maxsize=4)
def _boundaries(text: str) -> frozenset[int]:
    offset, found = 0, {0}
    for cluster in clusters(text):
        offset += len(cluster)
        found.add(offset)
    return frozenset(found)


@lru_cache(maxsize=_CACHED_TEXTS)
def may_join(text: str) -> bool:
    """Return whether characters of a text may form a cluster when those between them are deleted."""
    import regex  # imported late: it is slow to load and most commands do not need it

    return regex.search(_RISKY_PATTERN, text) is not None


def is_unspaced(char: str) -> bool:
    """Return whether a character is of a script without spaces between words."""
    return _UNSPACED.match(char) is not None
