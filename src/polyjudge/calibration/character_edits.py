"""Perturbations of letters and of characters that are hard to see."""

import unicodedata
from functools import lru_cache
from itertools import islice, pairwise

from polyjudge.text.pieces import Piece, pieces, words

from .edits import Draft, Edit, EditPlan, apart, plan_edits, share
from .facts import pairs

_MOST_DROPPED = 0.5
_MOST_MISTYPED = 0.5
_OTHERS_READ = 5
_FEWEST_LETTERS = 6
"""With fewer letters of a kind in the text, letters that stand beside them in the alphabet are taken too."""
_NEAR_IN_ALPHABET = 8
_LONGER_WORD = 4
"""In words of so many letters the first stays where it is: so people mistype."""
_FIRST_SYLLABLE, _LAST_SYLLABLE = 0xAC00, 0xD7A3
_VOWELS, _FINALS = 21, 28


def drop_letters(draft: Draft) -> EditPlan:
    """Leave letters out."""
    spots = draft.dice.shuffled(_letters(draft.text))
    wanted = spots[: share(len(spots), _MOST_DROPPED)]
    return plan_edits(draft.text, [Edit(start, start + len(sign), "") for start, sign in wanted], is_sure=True)


def swap_letters(draft: Draft) -> EditPlan:
    """Let neighbouring letters of a word change places."""
    pairs = [pair for piece in words(draft.text) if piece.kind == "word" for pair in _pairs(piece)]
    return plan_edits(draft.text, apart(draft.dice.shuffled(pairs)))


def _pairs(piece: Piece) -> list[Edit]:
    spots = _spots(piece)
    if len(spots) >= _LONGER_WORD:
        spots = spots[1:]
    return [
        Edit(start, after + len(other), other + sign)
        for (start, sign), (after, other) in pairwise(spots)
        if after == start + len(sign) and sign != other
    ]


def typos(draft: Draft) -> EditPlan:
    """Put other letters of the same script in the place of letters; vowels and marks that combine stay."""
    spots = draft.dice.shuffled(_letters(draft.text))
    wanted = spots[: share(len(spots), _MOST_MISTYPED)]
    seen = _seen_letters(draft)
    return plan_edits(
        draft.text, [Edit(start, start + len(sign), _mistyped(sign, seen, draft)) for start, sign in wanted]
    )


def _mistyped(sign: str, seen: dict[str, list[str]], draft: Draft) -> str:
    base = sign[0]
    if _FIRST_SYLLABLE <= ord(base) <= _LAST_SYLLABLE:
        return _other_syllable(base, draft) + sign[1:]
    others = [letter for letter in seen[_kind(sign)] if letter != base]
    if len(others) < _FEWEST_LETTERS:
        others += [letter for letter in _beside(base) if letter not in others]
    return draft.dice.pick(others) + sign[1:] if others else sign


def _other_syllable(syllable: str, draft: Draft) -> str:
    """Return a Hangul syllable with its first consonant or its vowel changed."""
    rest, final = divmod(ord(syllable) - _FIRST_SYLLABLE, _FINALS)
    first, vowel = divmod(rest, _VOWELS)
    if draft.dice.below(2):
        vowel = (vowel + 1 + draft.dice.below(_VOWELS - 1)) % _VOWELS
    else:
        first = (first + 1 + draft.dice.below(18)) % 19
    return chr(_FIRST_SYLLABLE + (first * _VOWELS + vowel) * _FINALS + final)


def _seen_letters(draft: Draft) -> dict[str, list[str]]:
    """Return the letters in use here, by kind and in the order of the alphabet."""
    texts = (draft.text, *draft.surroundings.others[:_OTHERS_READ])
    found: dict[str, set[str]] = {}
    for text in texts:
        for _, sign in _letters(text):
            found.setdefault(_kind(sign), set()).add(sign[0])
    return {kind: sorted(letters) for kind, letters in found.items()}


@lru_cache(maxsize=8192)
def _kind(sign: str) -> str:
    """Return what a letter must share with the one it takes the place of: script, case, and whether it bears marks."""
    marked = len(sign) > 1 and sign[0] < "\uac00"
    return f"{_script(sign[0])} {unicodedata.category(sign[0])} {marked}"


def _script(letter: str) -> str:
    name, _, rest = unicodedata.name(letter, "").partition(" ")
    return f"{name} VOWEL" if rest.startswith(("VOWEL", "CHARACTER SARA")) else name.partition("-")[0]


@lru_cache(maxsize=1024)
def _beside(letter: str) -> tuple[str, ...]:
    """Return letters that stand near one in its block of Unicode."""
    near = [ord(letter) + step * side for step in range(1, 3 * _NEAR_IN_ALPHABET) for side in (1, -1)]
    letters = (chr(code) for code in near if 0 < code < 0x110000)
    return tuple(islice((each for each in letters if _kind(each) == _kind(letter)), _NEAR_IN_ALPHABET))


@lru_cache(maxsize=64)
def _letters(text: str) -> tuple[tuple[int, str], ...]:
    """Return the letters of words, with their places."""
    return tuple(spot for piece in words(text) if piece.kind == "word" for spot in _spots(piece))


def _spots(piece: Piece) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    start = piece.start
    for sign in piece.clusters:
        if sign[0].isalpha():
            found.append((start, sign))
        start += len(sign)
    return found


_WITHOUT_WIDTH = "\u200b\u2060\ufeff"
_FOR_LEFT_TO_RIGHT = "\u202e\u200f\u202b\u2067"
_FOR_RIGHT_TO_LEFT = "\u202d\u200e\u202a\u2066"
_RIGHT_TO_LEFT = ("R", "AL")
_KANGXI = range(0x2F00, 0x2FD6)


def strip_diacritics(draft: Draft) -> EditPlan:
    """Take the marks off letters, as where an encoding has lost them."""
    spots = [(start, sign, _plain(sign)) for start, sign in _signs(draft.text)]
    edits = [Edit(start, start + len(sign), plain) for start, sign, plain in spots if plain != sign]
    return plan_edits(draft.text, draft.dice.shuffled(edits))


@lru_cache(maxsize=8192)
def _plain(sign: str) -> str:
    if not sign[0].isalpha():
        return sign
    parts = unicodedata.normalize("NFD", sign)
    kept = "".join(part for part in parts if unicodedata.category(part)[0] != "M")
    if kept == parts:
        return pairs("plain_letters").get(sign, sign)
    return unicodedata.normalize("NFC", kept)


def homoglyphs(draft: Draft) -> EditPlan:
    """Put signs in the place of others that look alike."""
    alike = _alike()
    edits = [
        Edit(piece.start + place, piece.start + place + 1, alike[sign])
        for piece in _prose_pieces(draft.text)
        for place, sign in enumerate(piece.text)
        if sign in alike
    ]
    return plan_edits(draft.text, draft.dice.shuffled(edits))


@lru_cache(maxsize=1)
def _alike() -> dict[str, str]:
    kangxi = {unicodedata.normalize("NFKC", chr(code)): chr(code) for code in _KANGXI}
    return {**kangxi, **pairs("homoglyphs")}


def zero_width(draft: Draft) -> EditPlan:
    """Put signs without a width inside words."""
    inside = [start for piece in words(draft.text) if piece.kind == "word" for start, _ in _places(piece)[1:]]
    edits = [Edit(place, place, draft.dice.pick(_WITHOUT_WIDTH)) for place in draft.dice.shuffled(inside)]
    return plan_edits(draft.text, edits, is_sure=True)


def bidi_marks(draft: Draft) -> EditPlan:
    """Put signs before words that turn the direction of writing."""
    places = [piece.start for piece in words(draft.text)]
    signs = _FOR_RIGHT_TO_LEFT if _is_right_to_left(draft.text) else _FOR_LEFT_TO_RIGHT
    edits = [Edit(place, place, draft.dice.pick(signs)) for place in draft.dice.shuffled(places)]
    return plan_edits(draft.text, edits, is_sure=True)


def _is_right_to_left(text: str) -> bool:
    directions = [unicodedata.bidirectional(sign) for sign in text[:200] if sign.isalpha()]
    return 2 * sum(each in _RIGHT_TO_LEFT for each in directions) > len(directions)


def _prose_pieces(text: str) -> list[Piece]:
    return [piece for piece in pieces(text) if piece.kind in ("word", "mark")]


def _signs(text: str) -> list[tuple[int, str]]:
    return [spot for piece in words(text) if piece.kind == "word" for spot in _places(piece)]


def _places(piece: Piece) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    start = piece.start
    for sign in piece.clusters:
        found.append((start, sign))
        start += len(sign)
    return found
