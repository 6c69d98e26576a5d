"""Spoil whom and what a text speaks of: its names are replaced by others."""

import re
from functools import lru_cache

from .fact_files import fact, several
from .pieces import Piece, is_unspaced, pieces, whole_sentences, within, words
from .spoiling import Draft, Edit, Plan, apart, plan_edits
from .terms import find_terms

_CAPITAL_NOUNS = ("de",)
"""Languages that write every noun with a capital, so that it says nothing of a name."""
_OTHERS_READ = 20
_SHORTEST = 2
_FEWEST_SOUNDS = 3
_SOUNDS = str.maketrans({"q": "k", "c": "k", "w": "v", "b": "v", "p": "f", "z": "s", "d": "t", "g": "k", "j": "s"})
_MUTE = re.compile(r"[aeiouyh'`\W\d_]+")


def swap_names(draft: Draft) -> Plan:
    """Put other names in the place of names."""
    language = draft.surroundings.language
    countries = several(fact("places", language).get("places", ""))
    places = list(find_terms(draft.text, countries, with_endings=True))
    edits = [Edit(each.start, each.end, _other(draft, each.term, countries)) for each in places]
    names = _names(draft)
    known = tuple(sorted({piece.text for piece in names} | _names_of_others(draft)))
    for piece in names:
        same = tuple(name for name in known if _is_ascii_like(name, piece.text))
        others = same if len(same) > 1 else (*same, *countries)
        edits.append(Edit(piece.start, piece.end, _other(draft, piece.text, others)))
    return plan_edits(draft.text, draft.dice.shuffled(apart(edits)))


def _other(draft: Draft, name: str, among: tuple[str, ...]) -> str:
    others = [other for other in among if other != name]
    return draft.dice.pick(others) if others else name


def _is_ascii_like(one: str, two: str) -> bool:
    """Say whether two names are both in Latin letters, or both not."""
    return one[0].isascii() == two[0].isascii()


def _names(draft: Draft) -> list[Piece]:
    """Return the words of the text that are names as far as can be told."""
    has_capital_nouns = draft.surroundings.language.partition("-")[0] in _CAPITAL_NOUNS
    capital = () if has_capital_nouns else _capitalised(draft.text)
    places = {piece.start for piece in capital}
    source = frozenset(piece.text for piece in _capitalised(draft.surroundings.source))
    sounds = frozenset(_sounds(name) for name in source) - {""}
    taken = [
        piece
        for piece in words(draft.text)
        if piece.kind == "word" and piece.start not in places and _is_of_source(piece, source, sounds)
    ]
    return sorted([*capital, *taken], key=lambda piece: piece.start)


def _is_of_source(piece: Piece, source: frozenset[str], sounds: frozenset[str]) -> bool:
    """Say whether a word stands in the source as a name, or sounds like one in a script without capitals."""
    if piece.text in source:
        return True
    first = piece.text[0]
    if not sounds or first.isascii() or first.lower() != first.upper():
        return False
    return _sounds(piece.text) in sounds


def _names_of_others(draft: Draft) -> set[str]:
    if draft.surroundings.language.partition("-")[0] in _CAPITAL_NOUNS:
        return set()
    return {piece.text for other in draft.surroundings.others[:_OTHERS_READ] for piece in _capitalised(other)}


@lru_cache(maxsize=256)
def _capitalised(text: str) -> tuple[Piece, ...]:
    """Return the words with a capital inside a sentence; none if everything is in capitals."""
    if text.isupper():
        return ()
    opening = {_first_word(text, sentence.start) for sentence in whole_sentences(text)}
    return tuple(
        piece
        for piece in pieces(text)
        if piece.kind == "word" and piece.text[0].isupper() and piece.start not in opening and _is_long(piece)
    )


def _is_long(piece: Piece) -> bool:
    return len(piece.clusters) >= _SHORTEST and piece.clusters[1][0].isalpha()


def _first_word(text: str, start: int) -> int:
    following = within(words(text), start, len(text))
    return following[0].start if following else -1


@lru_cache(maxsize=4096)
def _sounds(word: str) -> str:
    """Return the consonants of a word as they may be heard in another script; nothing if there are too few."""
    if is_unspaced(word[0]) and not "\u30a1" <= word[0] <= "\u30ff":
        return ""  # pieces of Chinese or Thai are no words
    from anyascii import anyascii  # here, because its tables are loaded from files

    heard = _MUTE.sub("", anyascii(word).lower()).translate(_SOUNDS)
    return heard if len(heard) >= _FEWEST_SOUNDS else ""
