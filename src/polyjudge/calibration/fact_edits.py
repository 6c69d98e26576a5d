"""Perturbations of numbers, dates, negation, register and names."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from polyjudge.text.numbers import fold_digits
from polyjudge.text.pieces import Piece, is_unspaced, pieces, whole_sentences, within, words
from polyjudge.text.segments import prose

from .edits import NOTHING, Draft, Edit, EditPlan, SeededRandom, apart, plan_edits
from .facts import Term, cell_parts, fact, find_terms

_NUMBER = re.compile(r"\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*")
_DATE = re.compile(
    r"(?<!\d)(?:(?P<iso>\d{4}([-/.])\d{1,2}\2\d{1,2})|(?P<day>\d{1,2}([-/.])\d{1,2}\4(?:\d{4}|\d{2}))"
    r"|(?P<part>\d{1,4}(?=\s?[年월月日년일])(?!\s?[月日년일]本))|(?P<year>(?:1[5-9]|2[0-15])\d\d)(?![\d.,]\d|\d))(?!\d)"
)
"""2024-03-12, 12.3.2024, 3月12日, and a year on its own, also of the Buddhist era."""
_LAST_DAY, _LAST_MONTH = 28, 12


def change_numbers(draft: Draft) -> EditPlan:
    """Change numbers, keeping length, separators and the script of the digits."""
    found = [Edit(m.start(), m.end(), _other_number(m[0], draft.random)) for m in _NUMBER.finditer(prose(draft.text))]
    return plan_edits(draft.text, draft.random.shuffled(found))


def _other_number(number: str, random: SeededRandom) -> str:
    """Return a number that differs in its first digit, and possibly in others."""
    kept = [not char.isdecimal() or (index > 0 and random.below(2) == 0) for index, char in enumerate(number)]
    chars = list(number)
    for index, keep in enumerate(kept):
        if not keep:
            value, lowest = unicodedata.decimal(number[index]), 0 if index else 1  # no new leading 0
            other = random.pick([digit for digit in range(lowest, 10) if digit != value])
            chars[index] = chr(ord(number[index]) - value + other)
    return "".join(chars)


def change_dates(draft: Draft) -> EditPlan:
    """Change dates in digits, and the names of months and weekdays."""
    names = fact("calendar", draft.context.language)
    edits = [*_numeric_dates(draft), *_named(draft, names.get("months", "")), *_named(draft, names.get("weekdays", ""))]
    return plan_edits(draft.text, draft.random.shuffled(apart(edits)))


def _numeric_dates(draft: Draft) -> Iterator[Edit]:
    plain = fold_digits(prose(draft.text))
    for match in _DATE.finditer(plain):
        kind = str(match.lastgroup)
        parts = list(re.finditer(r"\d+", match[0]))
        part = parts[0] if kind in ("part", "year") else draft.random.pick(parts)
        value = _other_value(part[0], draft.random)
        start = match.start() + part.start()
        zero = ord(draft.text[start]) - int(plain[start])
        yield Edit(start, start + len(part[0]), "".join(chr(zero + int(digit)) for digit in value))


def _other_value(digits: str, random: SeededRandom) -> str:
    """Return another year, month or day with the same number of digits."""
    value = int(digits)
    if len(digits) > 2 or value > _LAST_DAY + 3:
        other = value + (1 + random.below(20)) * (1 if random.below(2) else -1)
        return f"{other % 10 ** len(digits):0{len(digits)}d}"
    last = 9 if len(digits) == 1 else _LAST_MONTH if value <= _LAST_MONTH else _LAST_DAY
    first = 10 if len(digits) == 2 and value >= 10 else 1
    return f"{random.pick([other for other in range(first, last + 1) if other != value]):0{len(digits)}d}"


def _named(draft: Draft, cell: str) -> Iterator[Edit]:
    """Replace names of months or weekdays by others; a bar separates forms of one name (March|of March)."""
    names = [name.split("|") for name in cell_parts(cell)]
    indexes = {form: index for index, forms in enumerate(names) for form in forms}
    for found in find_terms(draft.text, tuple(indexes), with_endings=True):
        own = names[indexes[found.term]]
        other = draft.random.pick([forms for forms in names if forms != own])
        form = other[min(own.index(found.term), len(other) - 1)]
        yield Edit(found.start, found.end, _capital_like(draft.text, found, form))


def _capital_like(text: str, found: Term, word: str) -> str:
    """Capitalise a word if the term it replaces is capitalised in the text but not in the table."""
    has_capital = text[found.start].isupper() and found.term[0].islower()
    return word[0].upper() + word[1:] if has_capital else word


def negate(draft: Draft) -> EditPlan:
    """Remove the negation of a sentence, or add one."""
    known = fact("negations", draft.context.language)
    if not known:
        return NOTHING
    cells = [word.partition(">") for word in cell_parts(known["words"])]
    turned = {word: replacement for word, _, replacement in cells}  # empty where the word is only deleted
    terms = list(find_terms(draft.text, tuple(turned)))
    edits: list[Edit] = []
    for sentence in whole_sentences(draft.text):
        own = within(words(draft.text), sentence.start, sentence.end)
        negations = [each for each in within(terms, sentence.start, sentence.end) if each.end <= sentence.end]
        if negations:
            edits.append(_without_negation(draft.text, negations[0], turned[negations[0].term]))
        elif any(piece.kind == "word" for piece in own):
            before, after = known["before"], known["after"]
            edits.append(_negated_at_start(draft, own[0], before) if before else _negated_at_end(own[-1], after))
    return plan_edits(draft.text, draft.random.shuffled(edits))


def _without_negation(text: str, found: Term, turned: str) -> Edit:
    """Return the edit that deletes a negation or replaces it by the affirmative word."""
    if turned or found.middle.strip():
        return Edit(found.start, found.end, found.middle.strip() or _capital_like(text, found, turned))
    end = found.end
    while end < len(text) and text[end] == " ":
        end += 1
    opens = text[found.start].isupper() and end < len(text)
    return Edit(found.start, end + 1, text[end].upper()) if opens else _without_space(text, found.start, end)


def _without_space(text: str, start: int, end: int) -> Edit:
    """Delete a word; at the end of a sentence, with the space before it."""
    is_last = end == len(text) or not text[end].isalnum()
    takes_space_before = is_last and text[start - 1 : start] == " " and text[end - 1] != " "
    return Edit(start - 1 if takes_space_before else start, end, "")


def _negated_at_start(draft: Draft, first: Piece, words_before: str) -> Edit:
    """Return the edit that negates a sentence at its start; its first word is lowercased unless it is a name."""
    char = first.text[0]
    is_name = any(piece.text == first.text for piece in words(draft.context.source))
    keeps = words_before[-1] == ":" or first.text[1:2].isupper() or len(first.text) == 1 or is_name
    lowered = char if keeps or len(char.lower()) > 1 else char.lower()
    before = words_before if char == char.upper() else words_before[0].lower() + words_before[1:]
    space = "" if before[-1] == "~" or is_unspaced(before[-1]) else " "
    return Edit(first.start, first.start + 1, before.removesuffix("~") + space + lowered)


def _negated_at_end(last: Piece, words_after: str) -> Edit:
    """Return the edit that negates a sentence at its end."""
    space = "" if words_after[0] in "~,،、，" or not last.spaced else " "
    return Edit(last.end, last.end, space + words_after.removeprefix("~"))


def register(draft: Draft) -> EditPlan:
    """Replace formal words by informal ones, and some informal words by formal ones."""
    turned: dict[str, str] = {}
    for cell in cell_parts(fact("registers", draft.context.language).get("pairs", "")):
        formal, informal = cell.replace("=", ">").split(">")
        turned[formal] = informal
        if "=" in cell:
            turned.setdefault(informal, formal)
    edits = [
        Edit(found.start, found.end, _capital_like(draft.text, found, turned[found.term]))
        for found in find_terms(draft.text, tuple(turned))
    ]
    return plan_edits(draft.text, draft.random.shuffled(apart(edits)))


_CAPITAL_NOUNS = ("de",)
"""Languages that capitalise every noun, so that a capital does not mark a name."""
_OTHERS_READ = 20
_SHORTEST = 2
_MIN_SOUNDS = 3
_SOUNDS = str.maketrans({"q": "k", "c": "k", "w": "v", "b": "v", "p": "f", "z": "s", "d": "t", "g": "k", "j": "s"})
_MUTE = re.compile(r"[aeiouyh'`\W\d_]+")


def swap_names(draft: Draft) -> EditPlan:
    """Replace names by other names."""
    language = draft.context.language
    countries = cell_parts(fact("places", language).get("places", ""))
    places = find_terms(draft.text, countries, with_endings=True)
    edits = [Edit(each.start, each.end, _other_name(draft, each.term, countries)) for each in places]
    names = _names(draft)
    known = tuple(sorted({piece.text for piece in names} | _names_of_others(draft)))
    for piece in names:
        same = tuple(name for name in known if name[0].isascii() == piece.text[0].isascii())
        others = same if len(same) > 1 else (*same, *countries)
        edits.append(Edit(piece.start, piece.end, _other_name(draft, piece.text, others)))
    return plan_edits(draft.text, draft.random.shuffled(apart(edits)))


def _other_name(draft: Draft, name: str, among: tuple[str, ...]) -> str:
    others = [other for other in among if other != name]
    return draft.random.pick(others) if others else name


def _names(draft: Draft) -> list[Piece]:
    """Return the words of the text that look like names."""
    has_capital_nouns = draft.context.language.partition("-")[0] in _CAPITAL_NOUNS
    capital = () if has_capital_nouns else _capitalised(draft.text)
    taken = {piece.start for piece in capital}
    source = frozenset(piece.text for piece in _capitalised(draft.context.source))
    sounds = frozenset(_sounds(name) for name in source) - {""}
    of_source = [
        piece
        for piece in words(draft.text)
        if piece.kind == "word" and piece.start not in taken and _is_of_source(piece, source, sounds)
    ]
    return sorted([*capital, *of_source], key=lambda piece: piece.start)


def _is_of_source(piece: Piece, source: frozenset[str], sounds: frozenset[str]) -> bool:
    """Return whether a word is a name of the source, or sounds like one in a script without capitals."""
    if piece.text in source:
        return True
    first = piece.text[0]
    if not sounds or first.isascii() or first.lower() != first.upper():
        return False
    return _sounds(piece.text) in sounds


def _names_of_others(draft: Draft) -> set[str]:
    if draft.context.language.partition("-")[0] in _CAPITAL_NOUNS:
        return set()
    return {piece.text for other in draft.context.others[:_OTHERS_READ] for piece in _capitalised(other)}


@lru_cache(maxsize=256)
def _capitalised(text: str) -> tuple[Piece, ...]:
    """Return the capitalised words inside sentences; none if all letters are capitals."""
    if text.isupper():
        return ()
    opening = {_first_word(text, sentence.start) for sentence in whole_sentences(text)}
    return tuple(
        piece
        for piece in pieces(text)
        if piece.kind == "word" and piece.text[0].isupper() and piece.start not in opening and _has_name_length(piece)
    )


def _has_name_length(piece: Piece) -> bool:
    return len(piece.clusters) >= _SHORTEST and piece.clusters[1][0].isalpha()


def _first_word(text: str, start: int) -> int:
    following = within(words(text), start, len(text))
    return following[0].start if following else -1


@lru_cache(maxsize=4096)
def _sounds(word: str) -> str:
    """Return the simplified consonants of a word, to compare scripts; empty if there are too few."""
    if is_unspaced(word[0]) and not "\u30a1" <= word[0] <= "\u30ff":
        return ""  # pieces of Chinese or Thai text are not words
    from anyascii import anyascii  # imported late: it loads tables from files

    heard = _MUTE.sub("", anyascii(word).lower()).translate(_SOUNDS)
    return heard if len(heard) >= _MIN_SOUNDS else ""
