"""The plural forms that a language needs, in the messages of a file and in its header."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from polyjudge.catalogues.entries import OF_ANY_LIBRARY
from polyjudge.catalogues.plurals import (
    CATEGORIES,
    integer_categories,
    knows_one_and_other_only,
    plural_categories,
)
from polyjudge.records.findings import Finding, Severity
from polyjudge.records.messages import Catalogue, Message

from .language_facts import base_of, language_facts

_FILE_FORMATS = {"gettext", "qt"}
"""Formats in which the file decides on the forms, and a message has one text for each."""
_ENGLISH = ("one", "other")
_WITH_SUBSTITUTE = {"android", "arb", "fluent", "stringsdict", "xcstrings"}
"""Formats whose programs show the form `other` where another is missing."""


class FormFinding(NamedTuple):
    """A finding about the forms of a message, at one of them; None for the file."""

    message: Message | None
    finding: Finding


def plural_findings(catalogue: Catalogue) -> Iterator[FormFinding]:
    """Find forms that are missing or empty, and forms that the language does not have."""
    language = catalogue.file.language
    is_declared = catalogue.file.format in _FILE_FORMATS
    if is_declared and catalogue.plural_categories:
        yield from _header(catalogue)
    needed = catalogue.plural_categories if is_declared else integer_categories(language)
    all_forms = list(_forms(catalogue))
    names = [{form.plural for form in forms} for forms in all_forms]
    if catalogue.file.format in OF_ANY_LIBRARY and knows_one_and_other_only(names, language):
        named = ", ".join(repr(category) for category in needed if category not in _ENGLISH)
        message = (
            f"Almost none of the {len(all_forms)} messages with plural forms has {named}, which the language needs;"
            " the program may know only 'one' and 'other'."
        )
        yield FormFinding(None, Finding("plural_missing", "warn", message))
        needed = _ENGLISH
    for forms in all_forms:
        has_substitute = catalogue.file.format in _WITH_SUBSTITUTE or not {"icu", "apple"}.isdisjoint(forms[0].syntaxes)
        yield from _missing(forms, needed, has_substitute=has_substitute)
        if not is_declared:
            yield from _unknown(forms, language, catalogue.file.source_language)


def _forms(catalogue: Catalogue) -> Iterator[Sequence[Message]]:
    """Yield the plural forms of each message that has some."""
    found = defaultdict[tuple[str, str], list[Message]](list)
    for message in catalogue.messages:
        if message.plural:
            found[message.key, message.context].append(message)
    yield from found.values()


def _header(catalogue: Catalogue) -> Iterator[FormFinding]:
    """Find a header with another number of forms than whole numbers have in the language."""
    language, declared = catalogue.file.language, len(catalogue.plural_categories)
    wanted = {len(integer_categories(language)), len(plural_categories(language))} - {0}
    is_usual = declared == 1 and base_of(language) in language_facts().one_plural_form
    if wanted and declared not in wanted and not is_usual:
        named = ", ".join(integer_categories(language))
        message = f"The header declares {_counted(declared)}, and the language has {min(wanted)}: {named}."
        yield FormFinding(None, Finding("plural_unknown", "warn", message))


def _counted(count: int) -> str:
    return f"{count} plural {'form' if count == 1 else 'forms'}"


def _missing(forms: Sequence[Message], needed: Sequence[str], *, has_substitute: bool) -> Iterator[FormFinding]:
    given = {form.plural: form for form in forms}
    translated = [form for form in forms if form.translation.strip()]
    if not translated or translated[0].state == "fuzzy":
        return  # found as not translated
    for form in forms:
        if not form.translation.strip():
            message = f"The plural form {form.plural!r} is empty."
            yield FormFinding(form, Finding("plural_missing", "fail", message))
    lacking = [category for category in needed if category not in given]
    if lacking and not all(name in CATEGORIES or name.startswith("=") for name in given):
        return  # forms by number, which the header does not explain
    if lacking:
        named = ", ".join(map(repr, lacking))
        message = f"The language needs the plural {'form' if len(lacking) == 1 else 'forms'} {named}"
        is_shown_instead = has_substitute and "other" in given
        instead = f"; 'other' is shown in {'its' if len(lacking) == 1 else 'their'} place" if is_shown_instead else ""
        severity: Severity = "warn" if is_shown_instead else "fail"
        yield FormFinding(translated[0], Finding("plural_missing", severity, f"{message}{instead}."))


def _unknown(forms: Sequence[Message], language: str, source: str) -> Iterator[FormFinding]:
    """Find forms that the language does not have; zero and exact numbers may be given in any.

    A form that the source has is no more than superfluous: translators fill in what they are shown.
    """
    known, of_source = plural_categories(language), integer_categories(source)
    for form in forms if known else ():
        if form.plural in CATEGORIES and form.plural not in known and form.plural != "zero":
            message = f"The language has no plural form {form.plural!r}; it has {', '.join(known)}."
            severity: Severity = "info" if form.plural in of_source else "warn"
            yield FormFinding(form, Finding("plural_unknown", severity, message))
