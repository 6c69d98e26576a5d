"""Perturbations of numbers, dates, negation, register and names."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from polyjudge.text.numbers import fold_digits
from polyjudge.text.pieces import Piece, is_unspaced, pieces, whole_sentences, within, words
from polyjudge.text.segments import prose

from .edits import NOTHING, Draft, Edit, EditPlan, SeededRandom, apart, plan_edits
from .facts import Found, fact, find_terms, several

_NUMBER = re.compile(r"\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*")
_DATE = re.compile(
    r"(?<!\d)(?:(?P<iso>\d{4}([-/.])\d{1,2}\2\d{1,2})|(?P<day>\d{1,2}([-/.])\d{1,2}\4(?:\d{4}|\d{2}))"
    r"|(?P<part>\d{1,4}(?=\s?[年월月日년일])(?!\s?[月日년일]本))|(?P<year>(?:1[5-9]|2[0-15])\d\d)(?![\d.,]\d|\d))(?!\d)"
)
"""2024-03-12, 12.3.2024, 3月12日, and a year that stands alone; those of the Buddhist era as well."""
_LAST_DAY, _LAST_MONTH = 28, 12


def change_numbers(draft: Draft) -> EditPlan:
    """Change numbers; each keeps its length, its separators and its digits' script."""
    found = [Edit(m.start(), m.end(), _other_number(m[0], draft.dice)) for m in _NUMBER.finditer(prose(draft.text))]
    return plan_edits(draft.text, draft.dice.shuffled(found))


def _other_number(number: str, dice: SeededRandom) -> str:
    """Return a number that differs in its first digit, and perhaps in others."""
    kept = [not sign.isdecimal() or (place > 0 and dice.below(2) == 0) for place, sign in enumerate(number)]
    return "".join(
        sign if keep else _other_digit(sign, place, dice)
        for place, (sign, keep) in enumerate(zip(number, kept, strict=True))
    )


def _other_digit(digit: str, place: int, dice: SeededRandom) -> str:
    value = unicodedata.decimal(digit)
    low = 0 if place else 1  # no number begins with 0 that did not
    others = [other for other in range(low, 10) if other != value]
    return chr(ord(digit) - value + dice.pick(others))


def change_dates(draft: Draft) -> EditPlan:
    """Change dates in digits, and the names of months and weekdays."""
    names = fact("calendar", draft.surroundings.language)
    edits = [*_numeric_dates(draft), *_named(draft, names.get("months", "")), *_named(draft, names.get("weekdays", ""))]
    return plan_edits(draft.text, draft.dice.shuffled(apart(edits)))


def _numeric_dates(draft: Draft) -> Iterator[Edit]:
    plain = fold_digits(prose(draft.text))
    for match in _DATE.finditer(plain):
        kind = str(match.lastgroup)
        parts = list(re.finditer(r"\d+", match[0]))
        part = parts[0] if kind in ("part", "year") else draft.dice.pick(parts)
        value = _other_value(part[0], draft.dice)
        start = match.start() + part.start()
        zero = ord(draft.text[start]) - int(plain[start])
        yield Edit(start, start + len(part[0]), "".join(chr(zero + int(digit)) for digit in value))


def _other_value(digits: str, dice: SeededRandom) -> str:
    """Return another year, month or day of as many digits."""
    value = int(digits)
    if len(digits) > 2 or value > _LAST_DAY + 3:
        other = value + (1 + dice.below(20)) * (1 if dice.below(2) else -1)
        return f"{other % 10 ** len(digits):0{len(digits)}d}"
    last = 9 if len(digits) == 1 else _LAST_MONTH if value <= _LAST_MONTH else _LAST_DAY
    first = 10 if len(digits) == 2 and value >= 10 else 1
    return f"{dice.pick([other for other in range(first, last + 1) if other != value]):0{len(digits)}d}"


def _named(draft: Draft, cell: str) -> Iterator[Edit]:
    """Yield names of one kind replaced by others; forms of one name (of March, March) are parted by a bar."""
    names = [name.split("|") for name in several(cell)]
    places = {form: place for place, forms in enumerate(names) for form in forms}
    for found in find_terms(draft.text, tuple(places), with_endings=True):
        own = names[places[found.term]]
        other = draft.dice.pick([forms for forms in names if forms != own])
        form = other[min(own.index(found.term), len(other) - 1)]
        yield Edit(found.start, found.end, _capital_like(draft.text, found, form))


def _capital_like(text: str, found: Found, word: str) -> str:
    """Return a word with a capital if the one it replaces has one in the text and not in the table."""
    has_capital = text[found.start].isupper() and found.term[0].islower()
    return word[0].upper() + word[1:] if has_capital else word


def negate(draft: Draft) -> EditPlan:
    """Turn sentences into their opposite: without their negation, or with words that deny them."""
    known = fact("negations", draft.surroundings.language)
    if not known:
        return NOTHING
    turned = _turned(known["words"])
    terms = list(find_terms(draft.text, tuple(turned)))
    edits: list[Edit] = []
    for sentence in whole_sentences(draft.text):
        own = within(words(draft.text), sentence.start, sentence.end)
        negations = [each for each in within(terms, sentence.start, sentence.end) if each.end <= sentence.end]
        if negations:
            edits.append(_affirmed(draft.text, negations[0], turned[negations[0].term]))
        elif any(piece.kind == "word" for piece in own):
            edits.append(_denied(draft, own, known))
    return plan_edits(draft.text, draft.dice.shuffled(edits))


def _denied(draft: Draft, own: Sequence[Piece], known: Mapping[str, str]) -> Edit:
    if known["before"]:
        return _denied_before(draft, own[0], known["before"])
    return _denied_after(own[-1], known["after"])


def _turned(cell: str) -> dict[str, str]:
    """Return what negation words turn into: nothing, or the word after the arrow."""
    parts = [word.partition(">") for word in several(cell)]
    return {word: turned for word, _, turned in parts}


def _affirmed(text: str, found: Found, turned: str) -> Edit:
    """Return the edit that takes a negation out, or puts the affirmative word in its place."""
    if turned or found.middle.strip():
        return Edit(found.start, found.end, found.middle.strip() or _capital_like(text, found, turned))
    end = found.end
    while end < len(text) and text[end] == " ":
        end += 1
    opens = text[found.start].isupper() and end < len(text)
    return Edit(found.start, end + 1, text[end].upper()) if opens else _without_space(text, found.start, end)


def _without_space(text: str, start: int, end: int) -> Edit:
    """Return the edit that deletes a word at the end of a sentence with the space before it, not after."""
    is_last = end == len(text) or not text[end].isalnum()
    takes_space_before = is_last and text[start - 1 : start] == " " and text[end - 1] != " "
    return Edit(start - 1 if takes_space_before else start, end, "")


def _denied_before(draft: Draft, first: Piece, words_before: str) -> Edit:
    """Return the edit that denies a sentence at its start, which loses its capital unless it is a name's."""
    sign = first.text[0]
    keeps = words_before[-1] == ":" or first.text[1:2].isupper() or len(first.text) == 1 or _is_name(first, draft)
    lowered = sign if keeps or len(sign.lower()) > 1 else sign.lower()
    before = words_before if sign == sign.upper() else words_before[0].lower() + words_before[1:]
    space = "" if before[-1] == "~" or is_unspaced(before[-1]) else " "
    return Edit(first.start, first.start + 1, before.removesuffix("~") + space + lowered)


def _is_name(first: Piece, draft: Draft) -> bool:
    return any(piece.text == first.text for piece in words(draft.surroundings.source))


def _denied_after(last: Piece, words_after: str) -> Edit:
    """Return the edit that denies a sentence at its end."""
    space = "" if words_after[0] in "~,،、，" or not last.spaced else " "
    return Edit(last.end, last.end, space + words_after.removeprefix("~"))


def register(draft: Draft) -> EditPlan:
    """Turn formal words into informal ones, and some informal words into formal ones."""
    turned: dict[str, str] = {}
    for cell in several(fact("registers", draft.surroundings.language).get("pairs", "")):
        formal, informal = cell.replace("=", ">").split(">")
        turned[formal] = informal
        if "=" in cell:
            turned.setdefault(informal, formal)
    edits = [
        Edit(found.start, found.end, _capital_like(draft.text, found, turned[found.term]))
        for found in find_terms(draft.text, tuple(turned))
    ]
    return plan_edits(draft.text, draft.dice.shuffled(apart(edits)))


_CAPITAL_NOUNS = ("de",)
"""Languages that write every noun with a capital, so that it says nothing of a name."""
_OTHERS_READ = 20
_SHORTEST = 2
_FEWEST_SOUNDS = 3
_SOUNDS = str.maketrans({"q": "k", "c": "k", "w": "v", "b": "v", "p": "f", "z": "s", "d": "t", "g": "k", "j": "s"})
_MUTE = re.compile(r"[aeiouyh'`\W\d_]+")


def swap_names(draft: Draft) -> EditPlan:
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
