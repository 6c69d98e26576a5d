"""Perturbations of letters, and with characters that are hard to see."""

import unicodedata
from functools import lru_cache
from itertools import islice, pairwise

from polyjudge.text.pieces import Piece, pieces, words

from .edits import Draft, Edit, EditPlan, apart, plan_edits, share
from .facts import pairs

_MAX_DROPPED = 0.5
_MAX_MISTYPED = 0.5
_OTHERS_READ = 5
_MIN_LETTERS = 6
"""With fewer letters of a kind in the text, neighbours in the Unicode block are used too."""
_ALPHABET_NEIGHBOURS = 8
_MIN_LONG_WORD = 4
"""In words of at least this many letters the first is not swapped, as in real typing errors."""
_FIRST_SYLLABLE, _LAST_SYLLABLE = 0xAC00, 0xD7A3
_VOWELS, _FINALS = 21, 28


def drop_letters(draft: Draft) -> EditPlan:
    """Delete letters."""
    letters = draft.random.shuffled(_letters(draft.text))
    wanted = letters[: share(len(letters), _MAX_DROPPED)]
    return plan_edits(draft.text, [Edit(start, start + len(cluster), "") for start, cluster in wanted], is_sure=True)


def swap_letters(draft: Draft) -> EditPlan:
    """Swap neighbouring letters of a word."""
    edits: list[Edit] = []
    for piece in words(draft.text):
        letters = _letter_clusters(piece) if piece.kind == "word" else []
        if len(letters) >= _MIN_LONG_WORD:
            letters = letters[1:]
        edits += [
            Edit(start, after + len(other), other + cluster)
            for (start, cluster), (after, other) in pairwise(letters)
            if after == start + len(cluster) and cluster != other
        ]
    return plan_edits(draft.text, apart(draft.random.shuffled(edits)))


def typos(draft: Draft) -> EditPlan:
    """Replace letters by others of the same script; combining vowels and marks stay."""
    letters = draft.random.shuffled(_letters(draft.text))
    wanted = letters[: share(len(letters), _MAX_MISTYPED)]
    seen = _seen_letters(draft)
    return plan_edits(
        draft.text, [Edit(start, start + len(cluster), _mistyped(cluster, seen, draft)) for start, cluster in wanted]
    )


def _mistyped(cluster: str, seen: dict[str, list[str]], draft: Draft) -> str:
    base = cluster[0]
    if _FIRST_SYLLABLE <= ord(base) <= _LAST_SYLLABLE:
        return _other_syllable(base, draft) + cluster[1:]
    others = [letter for letter in seen[_kind(cluster)] if letter != base]
    if len(others) < _MIN_LETTERS:
        others += [letter for letter in _neighbours(base) if letter not in others]
    return draft.random.pick(others) + cluster[1:] if others else cluster


def _other_syllable(syllable: str, draft: Draft) -> str:
    """Return a Hangul syllable with its first consonant or its vowel changed."""
    rest, final = divmod(ord(syllable) - _FIRST_SYLLABLE, _FINALS)
    first, vowel = divmod(rest, _VOWELS)
    if draft.random.below(2):
        vowel = (vowel + 1 + draft.random.below(_VOWELS - 1)) % _VOWELS
    else:
        first = (first + 1 + draft.random.below(18)) % 19
    return chr(_FIRST_SYLLABLE + (first * _VOWELS + vowel) * _FINALS + final)


def _seen_letters(draft: Draft) -> dict[str, list[str]]:
    """Return the letters used in the text and in other texts of its language, sorted, by kind."""
    texts = (draft.text, *draft.context.others[:_OTHERS_READ])
    found: dict[str, set[str]] = {}
    for text in texts:
        for _, cluster in _letters(text):
            found.setdefault(_kind(cluster), set()).add(cluster[0])
    return {kind: sorted(letters) for kind, letters in found.items()}


@lru_cache(maxsize=8192)
def _kind(cluster: str) -> str:
    """Return what a letter and its replacement must share: script, case, and whether it has marks."""
    marked = len(cluster) > 1 and cluster[0] < "\uac00"
    name, _, rest = unicodedata.name(cluster[0], "").partition(" ")
    script = f"{name} VOWEL" if rest.startswith(("VOWEL", "CHARACTER SARA")) else name.partition("-")[0]
    return f"{script} {unicodedata.category(cluster[0])} {marked}"


@lru_cache(maxsize=1024)
def _neighbours(letter: str) -> tuple[str, ...]:
    """Return letters of the same kind that are close in the Unicode block."""
    near = [ord(letter) + step * side for step in range(1, 3 * _ALPHABET_NEIGHBOURS) for side in (1, -1)]
    letters = (chr(code) for code in near if 0 < code < 0x110000)
    return tuple(islice((each for each in letters if _kind(each) == _kind(letter)), _ALPHABET_NEIGHBOURS))


@lru_cache(maxsize=64)
def _letters(text: str) -> tuple[tuple[int, str], ...]:
    """Return the letters of words with their offsets."""
    return tuple(letter for piece in words(text) if piece.kind == "word" for letter in _letter_clusters(piece))


def _letter_clusters(piece: Piece) -> list[tuple[int, str]]:
    return [(start, cluster) for start, cluster in _clusters(piece) if cluster[0].isalpha()]


def _clusters(piece: Piece) -> list[tuple[int, str]]:
    """Return the grapheme clusters of a piece with their offsets."""
    found: list[tuple[int, str]] = []
    start = piece.start
    for cluster in piece.clusters:
        found.append((start, cluster))
        start += len(cluster)
    return found


_ZERO_WIDTH = "\u200b\u2060\ufeff"
_FOR_LEFT_TO_RIGHT = "\u202e\u200f\u202b\u2067"
_FOR_RIGHT_TO_LEFT = "\u202d\u200e\u202a\u2066"
_RIGHT_TO_LEFT = ("R", "AL")
_KANGXI = range(0x2F00, 0x2FD6)


def strip_diacritics(draft: Draft) -> EditPlan:
    """Remove diacritics, as a lossy encoding does."""
    clusters = [letter for piece in words(draft.text) if piece.kind == "word" for letter in _clusters(piece)]
    letters = [(start, cluster, _plain(cluster)) for start, cluster in clusters]
    edits = [Edit(start, start + len(cluster), plain) for start, cluster, plain in letters if plain != cluster]
    return plan_edits(draft.text, draft.random.shuffled(edits))


@lru_cache(maxsize=8192)
def _plain(cluster: str) -> str:
    if not cluster[0].isalpha():
        return cluster
    parts = unicodedata.normalize("NFD", cluster)
    kept = "".join(part for part in parts if unicodedata.category(part)[0] != "M")
    if kept == parts:
        return pairs("plain_letters").get(cluster, cluster)
    return unicodedata.normalize("NFC", kept)


def homoglyphs(draft: Draft) -> EditPlan:
    """Replace characters by others that look alike."""
    alike = _homoglyphs()
    edits = [
        Edit(piece.start + index, piece.start + index + 1, alike[char])
        for piece in pieces(draft.text)
        if piece.kind in ("word", "mark")
        for index, char in enumerate(piece.text)
        if char in alike
    ]
    return plan_edits(draft.text, draft.random.shuffled(edits))


@lru_cache(maxsize=1)
def _homoglyphs() -> dict[str, str]:
    kangxi = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in _KANGXI}
    return {**kangxi, **pairs("homoglyphs")}


def zero_width(draft: Draft) -> EditPlan:
    """Insert zero-width characters into words."""
    inside = [start for piece in words(draft.text) if piece.kind == "word" for start, _ in _clusters(piece)[1:]]
    edits = [Edit(start, start, draft.random.pick(_ZERO_WIDTH)) for start in draft.random.shuffled(inside)]
    return plan_edits(draft.text, edits, is_sure=True)


def bidi_marks(draft: Draft) -> EditPlan:
    """Insert characters before words that change the writing direction."""
    starts = [piece.start for piece in words(draft.text)]
    directions = [unicodedata.bidirectional(char) for char in draft.text[:200] if char.isalpha()]
    is_right_to_left = 2 * sum(each in _RIGHT_TO_LEFT for each in directions) > len(directions)
    marks = _FOR_RIGHT_TO_LEFT if is_right_to_left else _FOR_LEFT_TO_RIGHT
    edits = [Edit(start, start, draft.random.pick(marks)) for start in draft.random.shuffled(starts)]
    return plan_edits(draft.text, edits, is_sure=True)
