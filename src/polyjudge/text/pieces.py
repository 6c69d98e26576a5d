"""Split a text into words, sentences and graphemes, in every script."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, TypeVar, cast

from .difference import graphemes
from .segments import PLACEHOLDER, TAG, URL, prose

Kind = Literal["word", "fixed", "space", "mark"]

_KEPT = 64
"""Texts whose pieces are remembered: each is spoiled in many ways, one after the other."""
_JOINS_NEXT = re.compile("[\u0a4d\u0ccd\u0dca\u1039\u17d2]\u200d?$")
"""Signs that put the next consonant under or into this one, in scripts that Unicode's rule of clusters leaves out."""
_JOINS_LAST = re.compile("[\u102b\u102c\u1038\u1062-\u1064\u1067-\u106d\u1083\u1087-\u108c]")
"""Burmese signs that never stand alone, and that the rule of clusters takes for letters."""
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
"""Over one letter for each sign; in Japanese a word ends where kana end, in Thai never after a vowel's first half."""
_END = re.compile(
    r"(?:[.!?…]+[\"'”’»)\]›]*(?=\s|$)|[。！？｡]+[”’」』）\"']*|[؟۔।॥።።។៕။։፧]+[\"'”’»)\]]*|፡፡|\n+)",
)
_GREEK_END = re.compile(r"[.!?;…\u037e]+[\"'”’»)]*(?=\s|$)|\n+")
_CLAUSE_END = re.compile(r"[,;:،؛፣፤–—](?=\s)|[、，；：၊]")
_SHORT_WORD = re.compile(r"(?:^|[\s(\"'«„“])((?:\w\.)*\w{1,2})\.$")
"""With a capital, as Dr. or U.S., it ends no sentence, or seldom."""
_SPACES = re.compile(r"\s*")
_LAST_MARKS = re.compile(r"[.!?…。！？｡؟۔।॥።፡។៕။։፧]+[\"'”’»」』)]*$")
_SPACED_CLAUSES = re.compile("[\u0e01-\u0e2e\u0e81-\u0eae]")
_RISKY_PATTERN = (
    r"[\p{RI}\u200d\r\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]|\p{GCB=Prepend}|(?:^|[\p{C}\p{Z}])[\p{M}\u0e33\u0eb3]"
    r"|[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d](?![\p{L}\p{M}\u200c])"
)


class HasStart(Protocol):
    """What begins at a place in a text."""

    @property
    def start(self) -> int:
        """The place."""
        ...


Placed = TypeVar("Placed", bound=HasStart)


class Piece(NamedTuple):
    """A word, a stretch that is no prose (an address, a placeholder, markup), white space, or a single mark."""

    kind: Kind
    text: str
    start: int
    clusters: tuple[str, ...]
    spaced: bool = True
    """Whether it is of a script with spaces between words."""

    @property
    def end(self) -> int:
        """The place after it."""
        return self.start + len(self.text)

    @property
    def is_word(self) -> bool:
        """Whether it is moved, dropped and repeated as a word is."""
        return self.kind in ("word", "fixed")


class Sentence(NamedTuple):
    """A sentence, or a clause, and what parts it from the next."""

    text: str
    start: int
    gap: str

    @property
    def end(self) -> int:
        """The place after it, before what parts it from the next."""
        return self.start + len(self.text)


@lru_cache(maxsize=_KEPT)
def clusters(text: str) -> tuple[str, ...]:
    """Return the signs of a text; a consonant written under another belongs to it."""
    found: list[str] = []
    joins = False
    for sign in graphemes(text):
        if (joins and sign[0].isalpha()) or (found and _JOINS_LAST.match(sign) and found[-1][0].isalpha()):
            found[-1] += sign
        else:
            found.append(sign)
        joins = len(sign) > 1 and _JOINS_NEXT.search(sign) is not None
    return tuple(found)


@lru_cache(maxsize=_KEPT)
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text; put together they are the text again."""
    signs = clusters(text)
    letters = _letters(text, signs)
    found: list[Piece] = []
    start = 0
    for match in _PIECE.finditer(letters):
        own = signs[match.start() : match.end()]
        piece = "".join(own)
        found.append(Piece(cast(Kind, match.lastgroup), piece, start, own, match[0][0] not in "HKTVUA"))
        start += len(piece)
    return tuple(found)


@lru_cache(maxsize=_KEPT)
def words(text: str) -> tuple[Piece, ...]:
    """Return the words of a text, and with them the stretches that are no prose."""
    return tuple(piece for piece in pieces(text) if piece.is_word)


def within(found: Sequence[Placed], start: int, end: int) -> Sequence[Placed]:
    """Return those that begin from one place on and before another; they stand in their order."""
    first = bisect_left(found, start, key=lambda each: each.start)
    return found[first : bisect_left(found, end, lo=first, key=lambda each: each.start)]


def _letters(text: str, signs: tuple[str, ...]) -> str:
    """Return one letter for each sign that says what it is."""
    fixed = {place: "F" if place == match.start() else "f" for match in _FIXED.finditer(text) for place in _span(match)}
    found: list[str] = []
    start = 0
    for sign in signs:
        found.append(fixed.get(start) or _letter(sign[0], "\u103a" in sign[1:3]))
        start += len(sign)
    return "".join(found)


def _span(match: re.Match[str]) -> range:
    return range(match.start(), match.end())


@lru_cache(maxsize=8192)
def _letter(sign: str, ends_syllable: bool) -> str:
    if sign.isspace():
        return "S"
    if sign.isdecimal():
        return "N"
    if sign.isalpha():
        match = _UNSPACED.match(sign)
        return "L" if match is None else "A" if ends_syllable else str(match.lastgroup)
    return _INSIDE_WORD.get(sign) or _INSIDE_NUMBER.get(sign) or "P"


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text; if there is but one, its clauses."""
    pattern = _GREEK_END if re.search("[α-ω]", text) else _END
    found = _cut(text, _sentence_ends(text, pattern))
    if len(found) < 2 and _SPACED_CLAUSES.search(text):
        found = _cut(text, ((match.start(), match.end()) for match in re.finditer(r"\s+", text)))
    if len(found) < 2:
        found = _cut(text, ((match.start(), match.end()) for match in _CLAUSE_END.finditer(prose(text))))
        found[-1:] = [_without_end(each) for each in found[-1:]]
    return found


def _without_end(clause: Sentence) -> Sentence:
    """Return a clause whose mark at the end belongs to the sentence, not to it."""
    end = _LAST_MARKS.search(clause.text)
    if end is None or not end.start():
        return clause
    return Sentence(clause.text[: end.start()], clause.start, end[0] + clause.gap)


def whole_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text, be it but one."""
    pattern = _GREEK_END if re.search("[α-ω]", text) else _END
    return _cut(text, _sentence_ends(text, pattern))


def _sentence_ends(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(prose(text)):
        following = text[match.end() : match.end() + 8].strip()
        short = _SHORT_WORD.search(text[max(0, match.end() - 8) : match.end()])
        if not following[:1].islower() and not (short and short[1][0].isupper()):
            yield match.end(), match.end()


def _cut(text: str, gaps: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> list[Sentence]:
    """Cut a text at gaps, each of which takes in the white space after it."""
    places = _boundaries(text)
    found: list[Sentence] = []
    start = len(text) - len(text.lstrip())
    for end, after in gaps:
        begin = _SPACES.match(text, after).end()  # pyright: ignore[reportOptionalMemberAccess]  # it matches nothing too
        if start < end and end in places and begin in places and text[start:end].strip():
            found.append(Sentence(text[start:end], start, text[end:begin]))
            start = begin
    rest = text[start:].rstrip()
    if rest:
        found.append(Sentence(rest, start, text[start + len(rest) :]))
    return found


@lru_cache(maxsize=4)
def _boundaries(text: str) -> frozenset[int]:
    place, found = 0, {0}
    for sign in clusters(text):
        place += len(sign)
        found.add(place)
    return frozenset(found)


@lru_cache(maxsize=_KEPT)
def may_join(text: str) -> bool:
    """Say whether signs of a text may grow together when what stands between them goes."""
    import regex  # here, because it takes a while to load and most commands do without

    return regex.search(_RISKY_PATTERN, text) is not None


def is_unspaced(sign: str) -> bool:
    """Say whether a sign is of a script that has no spaces between words."""
    return _UNSPACED.match(sign) is not None
