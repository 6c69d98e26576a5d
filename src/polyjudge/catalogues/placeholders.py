"""Find the placeholders of a text by their syntax, and compare those of a translation with those of its source."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.records.messages import PlaceholderSyntax

from .message_format import HAS_CHOICE, MessageFormatError, arguments, parse_message

DifferenceKind = Literal["missing", "extra", "count", "reordered", "broken"]
"""Not in the translation; not in the source; named, and there more or less often; without numbers and in another order,
so that values of other types are put in; not valid in its syntax."""


class Placeholder(Struct, frozen=True):
    """A place in a text where a program puts something in."""

    syntax: PlaceholderSyntax
    text: str
    name: str
    """What it stands for, without how it is shown: `1$d`, `d` without a number, `user`."""
    start: int
    end: int
    is_named: bool = True
    """It says by a name or number what is put in; others take their values in their order."""


class Difference(Struct, frozen=True):
    """A difference between the placeholders of a translation and its source."""

    kind: DifferenceKind
    text: str
    """The placeholder, or what is broken."""
    start: int | None = None
    """The place in the translation, except for what is missing there."""
    end: int | None = None
    reason: str = ""
    """Why it is broken."""


_BY_ORDER: tuple[PlaceholderSyntax, ...] = ("printf", "python", "apple")
_BY_PERCENT: tuple[PlaceholderSyntax, ...] = (*_BY_ORDER, "ruby")
_BY_BRACES: tuple[PlaceholderSyntax, ...] = ("brace", "i18next", "fluent", "ruby")
_FLAGS = r"(?:[-+#0',]|I(?!64|32))"
"""`I` is that of glibc: the digits of the language."""
_CONVERSION = (
    rf"{_FLAGS}{{0,5}}(?:\d{{1,4}}|\*)?(?:\.(?:\d{{1,4}}|\*)?)?"
    r"(?:(?:hh|h|ll|l|L|q|j|z|t|I64|I32)?[diouxXeEfFgGaAcCsSpb]|<PRI\w{2,8}>)"
)
_PRINTF = re.compile(
    rf"%(?:(\d{{1,2}})\$)?{_FLAGS}*(\*?)[\d.]*(\*?)((?:hh|h|ll|l|L|q|j|z|t|I64|I32)?)(<PRI\w+>|.)", re.DOTALL
)
_SAME = str.maketrans("iuS", "dds")
_PATTERNS: dict[PlaceholderSyntax, str] = {
    "i18next": r"\{\{-?\s*[^{}\s,][^{}]{0,200}\}\}|\$t\([^()]{1,200}\)",
    "fluent": r"\{\s*(?:\$[A-Za-z][\w-]*|-[A-Za-z][\w-]*(?:\([^{}]{0,200}\))?|[A-Z][A-Z0-9_-]*\([^{}]{0,300}\)"
    r"|[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)?)\s*\}",
    "ruby": r"%\{[^{}\s]{1,100}\}|%<[^<>\s]{1,100}>[-+#0]{0,3}\d{0,3}(?:\.\d{1,3})?[a-zA-Z]",
    "python": rf"%\([^()\n]{{1,100}}\){_CONVERSION}|%{_CONVERSION}",
    "apple": rf"%(?:\d{{1,2}}\$)?(?:#@[^@\s]{{1,100}}@|@|arg\b|{_CONVERSION})",
    "printf": rf"%(?:\d{{1,2}}\$)?{_CONVERSION}",
    "qt": r"%L?(?:[1-9]\d?|n)",
    "brace": r"\$?\{(?:(?:[A-Za-z_$][\w.$-]*|\d{1,3})(?:\[[^\[\]{}]{0,40}\])*)?(?:![rsa])?(?:[:,][^{}]{0,80})?\}",
    "template": r"\$[A-Za-z_][\w@]*\$|\$[1-9]",
}
_LITERALS: dict[PlaceholderSyntax, str] = {
    **dict.fromkeys(_BY_PERCENT, "%%"),
    "brace": r"\{\{|\}\}",
    "template": r"\$\$",
}
"""What stands for the sign itself."""
_OF_ANY_SYNTAX = (
    rf"(?P<literal>%%)|(?P<i18next>{_PATTERNS['i18next']})|(?P<python>%\([^()\n]{{1,100}}\){_CONVERSION})"
    rf"|(?P<ruby>{_PATTERNS['ruby']}|%[A-Za-z_]\w{{2,60}}%(?!%))|(?P<apple>(?<!\d)(?!%-[a-z]{{3}})(?:{_PATTERNS['apple']}))"
    rf"|(?P<qt>(?<!\d)%[1-9]\d?(?!\d))|(?P<brace>{_PATTERNS['brace']})|(?P<template>\$[A-Z_][A-Z0-9_]*\$)"
)
"""For texts whose syntax is not known; a percent sign after a digit is one, and small words in braces are names."""
_NUMBER_NAME = re.compile(r"(?i)count|num|total|amount|quantity|(?<![a-z])n(?![a-z])|^\d+$")
_SIGN = re.compile(r"[%{$]")


def placeholders(text: str, syntaxes: Sequence[PlaceholderSyntax] = ()) -> list[Placeholder]:
    """Return the placeholders of a text in their order; those of any syntax if none is given."""
    if not _SIGN.search(text):
        return []
    if "icu" in syntaxes:
        try:
            return _of_message_format(text)
        except MessageFormatError:
            syntaxes = ("brace",)
    return [_placeholder(match) for match in _scanner(tuple(syntaxes)).finditer(text) if match.lastgroup != "literal"]


@lru_cache(maxsize=100)
def _scanner(syntaxes: tuple[PlaceholderSyntax, ...]) -> re.Pattern[str]:
    if not syntaxes:
        return re.compile(_OF_ANY_SYNTAX)
    literals = dict.fromkeys(_LITERALS[each] for each in syntaxes if each in _LITERALS)
    parts = [f"(?P<literal>{'|'.join(literals)})"] if literals else []
    parts += [f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items() if name in syntaxes]
    return re.compile("|".join(parts) or r"(?!)")


def _of_message_format(text: str) -> list[Placeholder]:
    found = (
        Placeholder("icu", each.text, each.name, each.start, each.start + len(each.text))
        for each in arguments(parse_message(text))
    )
    # In a choice, each argument occurs in several of the cases.
    return list({each.name: each for each in found}.values()) if HAS_CHOICE.search(text) else list(found)


def _placeholder(match: re.Match[str]) -> Placeholder:
    syntax = cast(PlaceholderSyntax, match.lastgroup)
    text = match[0]
    name = _name(syntax, text)
    is_named = "$" in name or text[1] in "(#" or text == "%arg" if syntax in _BY_ORDER else name != ""
    return Placeholder(syntax, text, name, match.start(), match.end(), is_named)


def _name(syntax: PlaceholderSyntax, text: str) -> str:
    """Return what a placeholder stands for."""
    if syntax in _BY_ORDER:
        return _printf_name(syntax, text)
    if syntax == "qt":
        return text.replace("L", "")
    if syntax == "template":
        return text.upper()
    if syntax == "brace":
        return re.split(r"[!:,}]", text.replace("{", "", 1), maxsplit=1)[0]
    if syntax == "ruby":
        return "%{" + (text[2:].split(">")[0] if text.startswith("%<") else text.strip("%{}")) + "}"
    inner = text.strip("{}").strip()
    if syntax == "i18next" and text[0] == "$":
        return text.rstrip(")").split(",")[0] + ")"
    if syntax == "i18next":
        return "{{" + inner.split(",")[0].lstrip("- ").strip() + "}}"
    return re.sub(r"[\s,][^)]*|\s", "", inner) if "(" in inner and inner[0] != "-" else inner.split("(")[0]


def _printf_name(syntax: PlaceholderSyntax, text: str) -> str:
    if text.startswith("%("):
        name, _, conversion = text[2:].rpartition(")")
        return f"{name}:{conversion[-1].translate(_SAME)}"
    if "#@" in text or text == "%arg":
        return text.lstrip("%")
    match = _PRINTF.match(text)
    assert match is not None, "the pattern is that of its parts"
    number, width, precision, length, conversion = match.groups()
    length = "" if syntax in ("apple", "python") else length
    return f"{f'{number}$' if number else ''}{width}{precision}{length}{conversion.translate(_SAME)}"


def compare_placeholders(
    source: str, translation: str, syntaxes: Sequence[PlaceholderSyntax] = (), *, is_exact: bool = False
) -> list[Difference]:
    """Return how the placeholders of a translation differ from those of its source.

    Their order is free if they are named or numbered, and `%s` is the same as `%1$s`. A text that is for one or two
    numbers only (`is_exact`) may have the number or not.
    """
    if not _SIGN.search(source) and not _SIGN.search(translation):
        return []
    if "icu" in syntaxes and (broken := _broken_message(translation)):
        return [broken]
    theirs, ours = placeholders(source, syntaxes), placeholders(translation, syntaxes)
    found = _broken(source, translation, theirs, syntaxes)
    if [each.name for each in theirs] == [each.name for each in ours]:
        return found
    if any(each.is_named for each in (*theirs, *ours) if each.syntax in _BY_ORDER):
        if (mixed := _mixed(ours)) is not None:
            return [*found, mixed]
        theirs, ours = _numbered(theirs), _numbered(ours)
    missing, extra, others = _compared(theirs, ours)
    extra = [each for each in extra if not _is_percentage(each, source)]
    if is_exact:
        number = _number(missing, [*theirs, *ours]), _number(extra, [*theirs, *ours])
        missing = [each for each in missing if each not in number]
        extra = [each for each in extra if each not in number]
    found += (Difference("missing", each.text) for each in missing)
    found += (Difference("extra", each.text, each.start, each.end) for each in extra)
    if not missing and not extra:
        found += others
    return found


def _compared(
    theirs: Sequence[Placeholder], ours: Sequence[Placeholder]
) -> tuple[list[Placeholder], list[Placeholder], list[Difference]]:
    """Return those that are missing, those that are extra, and other differences."""
    wanted, given = Counter(each.name for each in theirs), Counter(each.name for each in ours)
    lost, added = wanted - given, given - wanted
    named_there = {each.name for each in theirs if each.is_named}
    named_here = {each.name for each in ours if each.is_named}
    missing = [each for each in _some(theirs, lost) if each.name not in named_here]
    extra = [each for each in _some(ours, added) if each.name not in named_there]
    others = [Difference("count", each.text) for each in _some(theirs, lost) if each.name in named_here]
    others += [
        Difference("count", each.text, each.start, each.end) for each in _some(ours, added) if each.name in named_there
    ]
    there = [each.name for each in theirs if not each.is_named]
    here = [each for each in ours if not each.is_named]
    if there != [each.name for each in here]:
        changed = next((each for name, each in zip(there, here, strict=False) if name != each.name), None)
        if changed is not None:
            others.append(Difference("reordered", changed.text, changed.start, changed.end))
    return missing, extra, others


def _is_percentage(placeholder: Placeholder, source: str) -> bool:
    """Say whether a placeholder of Qt is a number in percent, whose sign comes first in Turkish: `%10` for `10%`."""
    return placeholder.syntax == "qt" and f"{placeholder.text.strip('%')}%" in source


def _some(placeholders: Sequence[Placeholder], counts: Counter[str]) -> list[Placeholder]:
    """Return the last placeholders of each name, as many as its count."""
    left, found = Counter(counts), list[Placeholder]()
    for each in reversed(placeholders):
        if left[each.name] > 0:
            left[each.name] -= 1
            found.append(each)
    return found[::-1]


def _numbered(placeholders: Sequence[Placeholder]) -> list[Placeholder]:
    """Return placeholders with the numbers of their values; those without one take them in their order."""
    found, place = list[Placeholder](), 0
    for each in placeholders:
        if each.syntax in _BY_ORDER and not each.is_named:
            place += 1 + each.name.count("*")
            found.append(replace(each, name=f"{place}${each.name}", is_named=True))
        else:
            found.append(each)
    return found


def _mixed(ours: Sequence[Placeholder]) -> Difference | None:
    """Return a placeholder without a number beside numbered ones: its value is not clear."""
    by_order = [each for each in ours if each.syntax in _BY_ORDER]
    if not any("$" in each.name for each in by_order):
        return None
    found = next((each for each in by_order if not each.is_named), None)
    return found and Difference("broken", found.text, found.start, found.end, f"{found.text} has no number")


def _number(among: Sequence[Placeholder], everything: Sequence[Placeholder]) -> Placeholder | None:
    """Return the placeholder that is for the number of a plural form; any one if none looks like it."""
    if any(map(_is_like_a_number, everything)):
        return next(filter(_is_like_a_number, among), None)
    return among[0] if among else None


def _is_like_a_number(placeholder: Placeholder) -> bool:
    name = placeholder.name
    if placeholder.syntax in _BY_ORDER:
        return name.endswith("d")
    return _NUMBER_NAME.search(name) is not None


def _broken(
    source: str, translation: str, theirs: Sequence[Placeholder], syntaxes: Sequence[PlaceholderSyntax]
) -> list[Difference]:
    """Return signs of placeholders in the translation that are part of none, unless the source has such signs too."""
    found = list[Difference]()
    given = {each.syntax for each in theirs} | {each for each in syntaxes if each in ("brace", "fluent")}
    if given & {*_BY_PERCENT} or ("%%" in source and (not syntaxes or {*syntaxes} & {*_BY_PERCENT})):
        found += _left(source, translation, syntaxes, "%", "a percent sign starts no placeholder")
    if given & {*_BY_BRACES}:
        found += _left(source, translation, syntaxes, "{}", "a brace belongs to no placeholder")
    return found


def _broken_message(translation: str) -> Difference | None:
    try:
        parse_message(translation)
    except MessageFormatError as error:
        start = max(0, min(error.place, len(translation) - 1))
        return Difference("broken", translation[start : start + 1], start, start + 1, str(error))
    return None


def _left(
    source: str, translation: str, syntaxes: Sequence[PlaceholderSyntax], signs: str, reason: str
) -> Iterator[Difference]:
    scanner = _scanner(tuple(syntaxes))
    if any(sign in scanner.sub("", source) for sign in signs):
        return
    rest = scanner.sub(lambda match: "\0" * len(match[0]), translation)
    place = next((place for place, letter in enumerate(rest) if letter in signs), None)
    if place is not None:
        yield Difference("broken", translation[place], place, place + 1, reason)
