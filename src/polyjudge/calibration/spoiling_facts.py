"""Spoil what a text says: its numbers, its dates, yes and no, and how it speaks to the reader."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from polyjudge.text import fold_digits
from polyjudge.text.segments import prose

from .fact_files import fact, several
from .pieces import Piece, is_unspaced, whole_sentences, within, words
from .spoiling import NOTHING, Dice, Draft, Edit, Plan, apart, plan_edits
from .terms import Found, find_terms

_NUMBER = re.compile(r"\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*")
_DATE = re.compile(
    r"(?<!\d)(?:(?P<iso>\d{4}([-/.])\d{1,2}\2\d{1,2})|(?P<day>\d{1,2}([-/.])\d{1,2}\4(?:\d{4}|\d{2}))"
    r"|(?P<part>\d{1,4}(?=\s?[年월月日년일])(?!\s?[月日년일]本))|(?P<year>(?:1[5-9]|2[0-15])\d\d)(?![\d.,]\d|\d))(?!\d)"
)
"""2024-03-12, 12.3.2024, 3月12日, and a year that stands alone; those of the Buddhist era as well."""
_LAST_DAY, _LAST_MONTH = 28, 12


def change_numbers(draft: Draft) -> Plan:
    """Change numbers; each keeps its length, its separators and its digits' script."""
    found = [Edit(m.start(), m.end(), _other_number(m[0], draft.dice)) for m in _NUMBER.finditer(prose(draft.text))]
    return plan_edits(draft.text, draft.dice.shuffled(found))


def _other_number(number: str, dice: Dice) -> str:
    """Return a number that differs in its first digit, and perhaps in others."""
    kept = [not sign.isdecimal() or (place > 0 and dice.below(2) == 0) for place, sign in enumerate(number)]
    return "".join(
        sign if keep else _other_digit(sign, place, dice)
        for place, (sign, keep) in enumerate(zip(number, kept, strict=True))
    )


def _other_digit(digit: str, place: int, dice: Dice) -> str:
    value = unicodedata.decimal(digit)
    low = 0 if place else 1  # no number begins with 0 that did not
    others = [other for other in range(low, 10) if other != value]
    return chr(ord(digit) - value + dice.pick(others))


def change_dates(draft: Draft) -> Plan:
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


def _other_value(digits: str, dice: Dice) -> str:
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


def negate(draft: Draft) -> Plan:
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


def register(draft: Draft) -> Plan:
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
