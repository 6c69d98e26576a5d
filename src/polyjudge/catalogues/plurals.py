"""The plural forms of languages, as the Unicode CLDR has them, and of PO files, as their headers have them."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from importlib.resources import files

from msgspec import Struct

from .plural_rules import Rule, parse_rule

CATEGORIES = ("zero", "one", "two", "few", "many", "other")
_NUMBERS = range(1001)
_BY_NAME = {"zero": (0,), "one": (1,), "two": (2,)}
"""The numbers of forms that a language does not have, and a file has all the same."""
_ENGLISH = ("one", "other")
_FEWEST_MESSAGES, _RARELY = 3, 0.1
"""Files with fewer messages with plural forms say nothing about their program; nor do forms of so few of them."""
_FEW = 2
"""A form for at most so many numbers may name them in words."""
_HEADER = re.compile(r"\s*nplurals\s*=\s*(\d{1,3})\s*;\s*plural\s*=([^;]*);?\s*", re.IGNORECASE)
_MOST_FORMS = 10


class PluralForm(Struct, frozen=True):
    """A plural form of a PO file."""

    category: str
    """Its category by CLDR, or its number where none fits."""
    is_exact: bool
    """It is for one or two numbers only, which it need not contain."""
    is_for_one: bool
    """It is exact, and the number one is among them."""


class _Language(Struct, frozen=True):
    categories: tuple[str, ...]
    rule: Rule


def plural_categories(language: str) -> tuple[str, ...]:
    """Return all plural categories of a language, in the order of CLDR; none if it is not known."""
    found = _language(language)
    return found.categories if found else ()


@lru_cache(maxsize=1000)
def integer_categories(language: str) -> tuple[str, ...]:
    """Return the plural categories that whole numbers up to 1,000 have, in the order of CLDR."""
    found = _language(language)
    used = {found.rule(n) for n in _NUMBERS} if found else set[int]()
    return tuple(category for place, category in enumerate(plural_categories(language)) if place in used)


def plural_category(language: str, number: int) -> str:
    """Return the category of a whole number; empty if the language is not known."""
    found = _language(language)
    return found.categories[found.rule(abs(number))] if found else ""


def knows_one_and_other_only(forms: Collection[Collection[str]], language: str) -> bool:
    """Say whether messages have, but for a few, no other forms than `one` and `other`, though the language needs some.

    The libraries for JSON and YAML that know only these two show `one` for the number one alone.
    """
    needed = {category for category in integer_categories(language) if category not in _ENGLISH}
    given = sum(not needed.isdisjoint(each) for each in forms)
    is_sure = len(forms) >= _FEWEST_MESSAGES and any("other" in each for each in forms)
    return bool(needed) and is_sure and given < _RARELY * len(forms)


def is_exact_category(language: str, category: str) -> bool:
    """Say whether a category is for one or two numbers only, such as `one` in English, so that a text may omit them."""
    return bool(exact_numbers(language, category))


def is_category_of_one(language: str, category: str) -> bool:
    """Say whether a category is for the number one and at most one other."""
    return 1 in exact_numbers(language, category)


@lru_cache(maxsize=1000)
def exact_numbers(language: str, category: str) -> tuple[int, ...]:
    """Return the numbers of a category if they are one or two; none for a category of more.

    No program shows a form that the language does not have: it counts as what it is in other languages.
    """
    found = _language(language)
    if found is None or category not in found.categories:
        return () if found is None else _BY_NAME.get(category, ())
    place = found.categories.index(category)
    numbers = tuple(n for n in _NUMBERS if found.rule(n) == place)
    return numbers if len(numbers) <= _FEW else ()


@lru_cache(maxsize=1000)
def plural_forms(header: str, language: str) -> tuple[PluralForm, ...]:
    """Return the forms that a header `nplurals=…; plural=…` of a PO file declares; raise ValueError if it is invalid.

    A form has the category that most of its numbers have. Where two would have the same, they differ from CLDR, and
    are named as in English if only the number one, or zero and one, has the first, else by their numbers.
    """
    match = _HEADER.fullmatch(header)
    if match is None:
        raise ValueError("is not of the form nplurals=NUMBER; plural=EXPRESSION;")
    count, rule = int(match[1]), parse_rule(match[2])
    if not 0 < count <= _MOST_FORMS:
        raise ValueError(f"declares {count} forms")
    try:
        forms = [rule(n) for n in _NUMBERS]
    except ZeroDivisionError:
        raise ValueError("divides by zero") from None
    if not all(0 <= form < count for form in forms):
        raise ValueError(f"has form {max(forms)}, which is not one of its {count} forms")
    numbers = [[n for n in _NUMBERS if forms[n] == form] for form in range(count)]
    return tuple(
        PluralForm(category, 0 < len(of) <= _FEW, 0 < len(of) <= _FEW and 1 in of)
        for category, of in zip(_named(numbers, language), numbers, strict=True)
    )


def _named(numbers: Sequence[Sequence[int]], language: str) -> list[str]:
    found = _language(language)
    if found is not None:
        most = [Counter(found.categories[found.rule(n)] for n in of).most_common(1) for of in numbers]
        named = [each[0][0] if each else "" for each in most]
        # A form without whole numbers is that of fractions, or of millions.
        others = iter([category for category in found.categories if category not in named])
        named = [each or next(others, "") for each in named]
        if all(named) and len(set(named)) == len(named):
            return named
    if len(numbers) == 1:
        return ["other"]
    is_english = len(numbers) == 2 and set(numbers[0]) in ({1}, {0, 1})
    return ["one", "other"] if is_english else [str(place) for place in range(len(numbers))]


def _language(tag: str) -> _Language | None:
    """Return the rule of a language; its region and script count only where CLDR has them."""
    languages = _languages()
    parts = tag.replace("_", "-").split("-")
    given = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((languages[each] for each in given if each in languages), None)


@lru_cache(maxsize=1)
def _languages() -> dict[str, _Language]:
    _, *lines = files("polyjudge.catalogues").joinpath("plurals.tsv").read_text(encoding="utf-8").splitlines()
    found: dict[str, _Language] = {}
    for line in lines:
        tags, categories, rule = line.split("\t")
        language = _Language(tuple(categories.split()), parse_rule(rule))
        found.update(dict.fromkeys(tags.split(), language))
    return found
