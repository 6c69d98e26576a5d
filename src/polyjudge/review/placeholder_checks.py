"""Placeholders of a message: the same as in its source, and valid in their syntax."""

import re
from collections.abc import Iterator, Sequence

from polyjudge.catalogues.placeholders import Difference, compare_placeholders
from polyjudge.catalogues.plurals import plural_categories
from polyjudge.records.findings import Finding, Severity
from polyjudge.records.messages import Message

_KINDS = {
    "missing": "placeholder_lost",
    "extra": "placeholder_added",
    "reordered": "placeholder_reordered",
    "broken": "placeholder_syntax",
}
_DATE_CONVERSION = re.compile(r"%[-_0^#EO]{0,2}([A-Za-z])")
_OF_DATES = frozenset("aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ")
_OF_DATES_ALONE = frozenset("BDHIjkMmPrRTUVwWyYzZ")
_OF_NUMBERS = frozenset("sdiufxX")


def placeholder_findings(message: Message, language: str) -> Iterator[Finding]:
    """Find placeholders that are missing, added, out of order or invalid; those of one kind are one finding."""
    if message.is_raw or (not message.syntaxes and is_date_format(message.source)):
        return
    # Libraries offer a form for zero in every language; CLDR has one in a few, for other numbers too.
    is_for_nothing = message.plural == "zero" and "zero" not in plural_categories(language)
    found = compare_placeholders(
        message.source, message.translation, message.syntaxes, is_exact=message.is_exact or is_for_nothing
    )
    for kind, name in _KINDS.items():
        same = [each for each in found if each.kind == kind]
        if same:
            severity: Severity = "fail" if message.syntaxes or kind in ("missing", "reordered") else "warn"
            place = next((each for each in same if each.start is not None), same[0])
            yield Finding(name, severity, _sentence(kind, same), place.start, place.end)
    if counts := [each for each in found if each.kind == "count"]:
        is_more = counts[0].start is not None
        name = "placeholder_added" if is_more else "placeholder_lost"
        message_text = f"Too {'many' if is_more else 'few'} occurrences, compared with the source: {_named(counts)}."
        yield Finding(name, "warn", message_text, counts[0].start, counts[0].end)


def is_date_format(source: str) -> bool:
    """Say whether the percent signs of a text are those of a date, whose order is that of the language."""
    found = set(_DATE_CONVERSION.findall(source))
    if not found <= _OF_DATES:
        return False
    has_words = any(char.isalpha() for char in _DATE_CONVERSION.sub("", source))
    return bool(found & _OF_DATES_ALONE) or (not has_words and bool(found - _OF_NUMBERS))


def _sentence(kind: str, found: Sequence[Difference]) -> str:
    many = "" if len(found) == 1 else "s"
    if kind == "missing":
        return f"Placeholder{many} missing: {_named(found)}."
    if kind == "extra":
        return f"Placeholder{many} not in the source: {_named(found)}."
    if kind == "reordered":
        return f"Placeholders in another order than in the source, from {found[0].text} on."
    return f"Broken placeholder {found[0].text!r}: {found[0].reason}."


def _named(found: Sequence[Difference]) -> str:
    return ", ".join(each.text for each in found)
