"""The texts of a file of one language, and their pairing with those of the file with the sources."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.records.messages import Catalogue, CatalogueFile, Message, MessageState, PlaceholderSyntax

from .plurals import CATEGORIES, is_category_of_one, is_exact_category, knows_one_and_other_only

OF_ANY_LIBRARY = ("json", "rails")
"""Formats of many libraries, some of which know only the plural forms `one` and `other`."""


class Entry(Struct, frozen=True, kw_only=True):
    """A text of a file with one language."""

    key: str
    text: str
    line: int
    plural: str = ""
    """Its plural category, or `=0` for one number."""
    comment: str = ""
    max_length: int | None = None
    state: MessageState = "translated"
    syntaxes: tuple[PlaceholderSyntax, ...] = ()
    is_raw: bool = False
    is_translatable: bool = True


class Problems:
    """Lines of a file with parts that cannot be used."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], None] = {}

    def add(self, line: int, message: str) -> None:
        """Note what is wrong at a line."""
        if len(self._found) < _MOST_PROBLEMS:
            self._found[line, message] = None

    def all(self) -> tuple[tuple[int, str], ...]:
        """Return the problems by line."""
        return tuple(sorted(self._found))


_MOST_PROBLEMS = 1000


class Texts(Struct, frozen=True):
    """The texts of a file of one language, and what is wrong with it."""

    entries: Sequence[Entry]
    problems: tuple[tuple[int, str], ...] = ()


def without_repeats(entries: Iterable[Entry], problems: Problems) -> list[Entry]:
    """Return the entries, of those with the same key the last one, as most programs do; note the others."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        name = (entry.key, entry.plural)
        if name in found:
            problems.add(entry.line, repeated(entry.key, found.pop(name).line))
        found[name] = entry
    return list(found.values())


def repeated(key: str, line: int) -> str:
    """Return the message about a key that is in a file twice."""
    shown = key if len(key) <= 100 else f"{key[:100]}…"
    return f"has the key {shown!r} again, which is also at line {line}"


def paired(file: CatalogueFile, targets: Texts, sources: Texts | None) -> Catalogue:
    """Return the messages of two files; without a file of sources, a key that is a sentence is the source."""
    by_key: dict[str, dict[str, Entry]] = {}
    for source in sources.entries if sources else ():
        by_key.setdefault(source.key, {})[source.plural] = source
    messages, problems = list[Message](), list(targets.problems)
    plurals = _plurals(targets.entries) if file.format in OF_ANY_LIBRARY else {}
    are_ones_exact = knows_one_and_other_only(plurals.values(), file.language)
    for target in targets.entries:
        forms = by_key.get(target.key, {})
        # A lone `other` in both is a label called so, or a text for any number.
        is_label = plurals.get(target.key) == {"other"} == {*forms} - {""}
        source = _source_of(target.plural, forms, file.language) if forms else None
        is_for_one = are_ones_exact and target.plural == "one"
        source = forms.get("one", source) if is_for_one else source
        if source and source.is_translatable and not target.is_translatable and not target.text:
            problems.append((target.line, f"has no text for the key {target.key[:100]!r}, but another value"))
        elif (source or target).is_translatable and (target.text or source is None or source.text):
            message = _message(target, source, "" if sources else _as_source(target.key), file.language)
            plural = "" if is_label else message.plural
            messages.append(replace(message, plural=plural, is_exact=message.is_exact or is_for_one))
    given = {target.key for target in targets.entries}
    return Catalogue(
        file=file,
        messages=tuple(messages),
        missing=tuple(_missing(forms) for key, forms in by_key.items() if key not in given and _is_needed(forms)),
        problems=tuple(sorted(problems)),
    )


def _plurals(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """Return the plural forms of each key that has some."""
    found = defaultdict[str, set[str]](set)
    for entry in entries:
        if entry.plural:
            found[entry.key].add(entry.plural)
    return found


def _source_of(plural: str, forms: dict[str, Entry], language: str) -> Entry:
    """Return the source of a plural form: that for one if the form is only for one, else that for other numbers."""
    if not plural:
        return forms.get("") or _general(forms)
    if plural in forms and (plural not in CATEGORIES or is_exact_category(language, plural)):
        return forms[plural]
    if "one" in forms and (is_category_of_one(language, plural) or plural == "=1"):
        return forms["one"]
    return _general(forms)


def _general(forms: dict[str, Entry]) -> Entry:
    return forms.get("other") or forms.get("") or next(reversed(forms.values()))


def _as_source(key: str) -> str:
    return key if " " in key.strip() else ""


def _message(target: Entry, source: Entry | None, key_text: str, language: str) -> Message:
    """Return the message of a pair; what developers say is in the file with the sources, or in both."""
    notes = source or target
    return Message(
        line=target.line,
        key=target.key,
        source=source.text if source else key_text,
        translation=target.text,
        comment=notes.comment or target.comment,
        plural=target.plural,
        is_exact=is_exact(target.plural, language),
        max_length=notes.max_length if notes.max_length is not None else target.max_length,
        state=target.state if target.text else "untranslated",
        syntaxes=notes.syntaxes or target.syntaxes,
        is_raw=notes.is_raw,
    )


def is_exact(plural: str, language: str) -> bool:
    """Say whether a form is for one or two numbers only, as `zero` is in a language that does not have it."""
    return plural.startswith("=") or is_exact_category(language, plural)


def _is_needed(forms: dict[str, Entry]) -> bool:
    return any(form.is_translatable and form.text for form in forms.values())


def _missing(forms: dict[str, Entry]) -> Message:
    source = _general(forms)
    return Message(
        line=source.line,
        key=source.key,
        source=source.text,
        translation="",
        comment=source.comment,
        max_length=source.max_length,
        state="untranslated",
        syntaxes=source.syntaxes,
    )
