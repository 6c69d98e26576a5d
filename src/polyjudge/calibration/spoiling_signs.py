"""Spoil a text by signs that are hard to see: lost marks, letters that look alike, signs without a shape."""

import unicodedata
from functools import lru_cache

from .fact_files import pairs
from .pieces import Piece, pieces, words
from .spoiling import Draft, Edit, Plan, plan_edits

_WITHOUT_WIDTH = "\u200b\u2060\ufeff"
_FOR_LEFT_TO_RIGHT = "\u202e\u200f\u202b\u2067"
_FOR_RIGHT_TO_LEFT = "\u202d\u200e\u202a\u2066"
_RIGHT_TO_LEFT = ("R", "AL")
_KANGXI = range(0x2F00, 0x2FD6)


def strip_diacritics(draft: Draft) -> Plan:
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


def homoglyphs(draft: Draft) -> Plan:
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


def zero_width(draft: Draft) -> Plan:
    """Put signs without a width inside words."""
    inside = [start for piece in words(draft.text) if piece.kind == "word" for start, _ in _places(piece)[1:]]
    edits = [Edit(place, place, draft.dice.pick(_WITHOUT_WIDTH)) for place in draft.dice.shuffled(inside)]
    return plan_edits(draft.text, edits, is_sure=True)


def bidi_marks(draft: Draft) -> Plan:
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
