"""Find numbers that are written as words, such as "eighty-five" or "vierzig", in about a hundred languages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from .statement_words import vocabulary

_TOKEN = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0963\u0966-\u0fff\u1000-\u109f]|(?<=\w)['’ʼ](?=\w))+")
_APOSTROPHES = str.maketrans("’ʼ", "''")
_SEMITIC_PREFIX = re.compile("(?:وال|بال|فال|لل|ال|[وفبلهושבלכמ])(?=.{3})")
_HANGUL = re.compile("[\uac00-\ud7af]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_UNSPACED_LANGUAGES = {"th", "lo", "km", "my"}
_CHINESE_LANGUAGES = {"zh", "yue", "ja"}
_CHINESE = re.compile(
    "[零〇一二两兩三四五六七八九十百壱壹貳贰叁參肆伍陸陆柒捌玖拾佰]{2,5}|[零一二两三四五六七八九十](?=分|点|點)"
)
_CHINESE_DIGITS = str.maketrans("〇两兩壱壹貳贰叁參肆伍陸陆柒捌玖拾佰", "零二二一一二二三三四五六六七八九十百")
_LONG = 6
"""Minimum letters of a number word that is unique to its language."""
_SHORT = 3
"""Minimum letters of a small number in an unknown language."""
_STEM = 4
"""Letters of the shortest number word that is recognised with an ending."""
_LONGEST_ENDING = 5
_MANY = 11
"""Smaller numbers often count something, and their words are often words of other languages."""


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A number in words and its position in a text."""

    start: int
    end: int
    value: int


@lru_cache(maxsize=16)
def number_words(text: str, language: str | None) -> tuple[NumberWord, ...]:
    """Return the numbers in words of a normalised text, in order.

    Args:
        text: A text in compatibility form.
        language: The language of the text if it is known. Words of other languages then count only if they are long.
            If it is unknown, words of every language count, also with an ending.
    """
    forms, longest = _forms()
    if language is not None and text.isascii() and _openings(language).isdisjoint(_TOKEN.findall(text.lower())):
        return ()
    tokens = [(match, match[0].casefold().translate(_APOSTROPHES)) for match in _TOKEN.finditer(text)]
    found: list[NumberWord] = []
    place = 0
    while place < len(tokens):
        count, value = _at(tokens, place, language, forms, longest)
        if value is not None:
            found.append(NumberWord(tokens[place][0].start(), tokens[place + count - 1][0].end(), value))
        place += count
    if text.isascii():
        return tuple(found)
    taken = {each.start for each in found}
    found += [each for each in _without_spaces(text) if each.start not in taken]
    return tuple(sorted(found, key=lambda each: each.start))


def may_have_number_word(text: str) -> bool:
    """Return whether a normalised text may have a number of more than ten in words, in any language; a quick test."""
    signs, stems = _signs()
    if text.isascii():
        return not signs.isdisjoint(_TOKEN.findall(text.lower()))
    tokens = _TOKEN.findall(text.lower())
    if not signs.isdisjoint(tokens) or _CHINESE.search(text) or _HANGUL.search(text) or _UNSPACED.search(text):
        return True
    return any(
        token[:length] in signs
        for token in tokens
        if token[:_STEM] in stems
        for length in range(len(token) - 1, max(_STEM, len(token) - _LONGEST_ENDING) - 1, -1)
    )


def with_digits(text: str, language: str | None = None, *, least: int = 0) -> str:
    """Return a text with its numbers in words, except one, as digits; unchanged if all of them are below `least`.

    Args:
        text: A text in compatibility form.
        language: The language of the text if it is known.
        least: The smallest number for which the text is changed.
    """
    found = [each for each in number_words(text, language) if each.value != 1]
    if not found or max(each.value for each in found) < least:
        return text
    pieces: list[str] = []
    place = 0
    for each in found:
        if each.start >= place:
            pieces += [text[place : each.start], str(each.value)]
            place = each.end
    return "".join([*pieces, text[place:]])


def _at(
    tokens: list[tuple[re.Match[str], str]],
    place: int,
    language: str | None,
    forms: dict[str, dict[str, int]],
    longest: dict[str, int],
) -> tuple[int, int | None]:
    """Return the number that starts at a token, and its count of tokens; None and one token if there is none."""
    token = tokens[place][1]
    for count in range(min(longest.get(token, 0), len(tokens) - place), 0, -1):
        form = " ".join(each for _, each in tokens[place : place + count])
        if form in forms and (value := _value(forms[form], form, language)) is not None:
            return count, value
    return 1, _inflected(token, forms) if language is None else None


def _value(values: dict[str, int], form: str, language: str | None) -> int | None:
    if language in values:
        return values[language]
    value = next(iter(values.values()))
    if language is None:
        return value if value >= _MANY or len(form) >= _SHORT else None
    return value if len(form) >= _LONG else None


def _inflected(token: str, forms: dict[str, dict[str, int]]) -> int | None:
    """Return the number in a word with an ending, or with an article or preposition as a prefix."""
    bare = token if token.isascii() else _SEMITIC_PREFIX.sub("", token, count=1)
    shortest = 2 if _HANGUL.match(bare) else _STEM
    if bare[:shortest] not in _stems():
        return None
    for length in range(len(bare), max(shortest, len(bare) - _LONGEST_ENDING) - 1, -1):
        value = next(iter(forms.get(bare[:length], {}).values()), 0)
        if value >= _MANY or (value and length == len(bare)):
            return value
    return None


def _without_spaces(text: str) -> Iterator[NumberWord]:
    """Yield the numbers in scripts without spaces between words."""
    for match in _CHINESE.finditer(text):
        yield NumberWord(match.start(), match.end(), _chinese(match[0]))
    if _UNSPACED.search(text):
        forms = _forms()[0]
        for match in _unspaced().finditer(text):
            yield NumberWord(match.start(), match.end(), next(iter(forms[match[0]].values())))


def _rows() -> Iterator[tuple[str, int, list[str]]]:
    """Yield the rows of the file: a language, a number and its forms."""
    for line in (files("polyjudge.judges") / "number_words.txt").read_text(encoding="utf-8").splitlines():
        if line[0] != "#":
            language, number, *words = line.split("\t")
            if language not in _CHINESE_LANGUAGES:
                yield language, int(number), words


@cache
def _forms() -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Return the value of every form by language, and the greatest number of words of a form by its first word."""
    forms: dict[str, dict[str, int]] = {}
    for language, number, words in _rows():
        for form in words:
            forms.setdefault(form, {})[language] = number
    longest = dict.fromkeys(forms, 1)
    for form in forms:
        if " " in form:
            first = form.partition(" ")[0]
            longest[first] = max(longest.get(first, 0), form.count(" ") + 1)
    return forms, longest


@cache
def _openings(language: str) -> frozenset[str]:
    """Return the first words of the forms that count in texts of a language."""
    return frozenset(
        form.partition(" ")[0] for form, values in _forms()[0].items() if language in values or len(form) >= _LONG
    )


@cache
def _signs() -> tuple[frozenset[str], frozenset[str]]:
    """Return words that a text with a number of more than ten has, one of every form, and their first letters."""
    great = {form for _, number, words in _rows() if number >= _MANY for form in words}
    single = {form for form in great if " " not in form}
    several = [form.split(" ") for form in great if " " in form]
    found = single | {max(words, key=len) for words in several if single.isdisjoint(words)}
    signs = frozenset(found) - vocabulary("en")
    return signs, frozenset(sign[:_STEM] for sign in signs if len(sign) >= _STEM)


@cache
def _stems() -> frozenset[str]:
    """Return the first letters of all forms; two for Hangul, where two letters may be a number."""
    return frozenset(form[:2] if _HANGUL.match(form) else form[:_STEM] for form in _forms()[0])


@cache
def _unspaced() -> re.Pattern[str]:
    forms, _ = _forms()
    words = [
        form for form, values in forms.items() if values.keys() & _UNSPACED_LANGUAGES and max(values.values()) >= 10
    ]
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


def _chinese(written: str) -> int:
    total, current = 0, 0
    for digit in written.translate(_CHINESE_DIGITS):
        value = "零一二三四五六七八九".find(digit)
        if value >= 0:
            current = value
        else:
            total += max(current, 1) * (10 if digit == "十" else 100)
            current = 0
    return total + current
