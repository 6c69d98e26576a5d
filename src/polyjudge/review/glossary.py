"""Read the terms of a project, and find those that translations do not use.

A table with the columns `source` and `target`, and optionally `language`, `forbidden`, `case` and `note`; or with
`source` and one column for each language, named by its tag. Several translations are separated by a bar: `A|B`.
`forbidden` has words that may not be used, or says yes if the row's own translation is one.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from polyjudge.errors import DataError
from polyjudge.files.json_lines import START
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.separated import separated_rows
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import Finding
from polyjudge.records.translation import Language

from .language_facts import base_of, language_facts

_NAMES = {
    "source": ("source", "term", "source term", "sourceterm"),
    "target": ("target", "translation", "target term", "targetterm"),
    "language": ("language", "lang", "locale", "target language", "targetlanguage"),
    "forbidden": ("forbidden", "not", "avoid", "do not use"),
    "case": ("case", "case sensitive", "casesensitive", "case-sensitive"),
    "note": ("note", "notes", "comment", "description", "part of speech", "pos"),
}
_YES, _NO = {"yes", "true", "1", "x", "y"}, {"no", "false", "0", "n", ""}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_UNSPACED = {"Hani", "Hans", "Hant", "Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"}
_SHORTEST_PART = 4
_SHORTEST_STEM = 3
_NAMED = 3


class Term(NamedTuple):
    """A term in one language, or in all."""

    words: tuple[str, ...]
    """Of the source, casefolded; as they are if case counts."""
    source: str
    targets: tuple[str, ...]
    forbidden: tuple[str, ...]
    has_case: bool
    note: str


@dataclass(frozen=True, slots=True)
class Glossary:
    """The terms by tag; those of all languages have the tag ""."""

    terms: Mapping[str, Mapping[str, Sequence[Term]]]
    """By the tag of the language, then by the first word of the source, casefolded."""

    def findings(self, text: str, source: str, language: Language) -> Iterator[Finding]:
        """Find terms of the source whose translation is missing, and forbidden words; both texts have only words."""
        indexes = [found for tag in _tags(language.tag) if (found := self.terms.get(tag)) is not None]
        if not indexes:
            return
        words = _WORD.findall(source)
        plain = [word.casefold() for word in words]
        said = set[Term]()
        for place, word in enumerate(plain):
            for first in {word, _singular(word)}:
                for term in (term for index in indexes for term in index.get(first, ())):
                    if term not in said and _is_at(term, words if term.has_case else plain, place):
                        said.add(term)
                        yield from _of_term(term, text, language)


def _tags(tag: str) -> Iterator[str]:
    """Yield a tag, then those that it is a part of, then the one of all languages."""
    parts = tag.split("-")
    for count in range(len(parts), 0, -1):
        yield "-".join(parts[:count])
    yield ""


def _is_at(term: Term, words: Sequence[str], place: int) -> bool:
    found = words[place : place + len(term.words)]
    if len(found) < len(term.words) or tuple(found[:-1]) != term.words[:-1]:
        return False
    return term.words[-1] in (found[-1], _singular(found[-1]))


def _singular(word: str) -> str:
    """Return an English word without the ending of a plural."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > _SHORTEST_STEM else word


def _of_term(term: Term, text: str, language: Language) -> Iterator[Finding]:
    note = f" ({term.note})" if term.note else ""
    for word in term.forbidden:
        if place := _exact_place(word, text, language):
            message = f"{word!r} is forbidden for {term.source!r}{_instead(term)}{note}."
            yield Finding("term_forbidden", "fail", message, *place)
            return
        if not any(is_used(target, text, language) for target in term.targets) and is_used(word, text, language):
            message = f"An inflected form of {word!r}, which is forbidden for {term.source!r}{_instead(term)}{note}."
            yield Finding("term_forbidden", "warn", message)
            return
    if term.targets and not any(is_used(target, text, language) for target in term.targets):
        expected = " or ".join(repr(target) for target in term.targets[:_NAMED])
        yield Finding("term_missing", "warn", f"The term {term.source!r} should be {expected} here{note}.")


def _instead(term: Term) -> str:
    return f"; use {' or '.join(map(repr, term.targets[:_NAMED]))}" if term.targets else ""


def _exact_place(word: str, text: str, language: Language) -> tuple[int, int] | None:
    plain = re.escape(normalize("NFC", word))
    if not _UNSPACED.isdisjoint(language.scripts):
        match = re.search(plain, text, re.IGNORECASE)
    else:
        match = re.search(rf"(?<!\w){plain}(?!\w)", text, re.IGNORECASE)
    return match.span() if match else None


def is_used(target: str, text: str, language: Language) -> bool:
    """Say whether a text has a term, in any of its forms."""
    plain, wanted = normalize("NFC", text).casefold(), normalize("NFC", target).casefold()
    if not _UNSPACED.isdisjoint(language.scripts):
        return "".join(wanted.split()) in "".join(plain.split())
    words = _WORD.findall(plain)
    joins = base_of(language.tag) in language_facts().join_words
    # A root of Arabic or Hebrew has three letters.
    shortest = _SHORTEST_PART - (language.direction == "rtl") if joins else 0
    return all(any(_is_form(word, part, shortest) for word in words) for part in _WORD.findall(wanted))


def _is_form(word: str, term: str, shortest: int) -> bool:
    """Say whether a word may be a form of a term: it has its stem, or contains it in a language that joins words.

    `shortest` is the least number of letters by which it may be contained; 0 if it may not.
    """
    stem = term[: max(_SHORTEST_STEM, len(term) - len(term) // 3)]
    if word.startswith(stem) and (len(term) > _SHORTEST_STEM or len(word) <= len(term) + _SHORTEST_STEM):
        return True
    return 0 < shortest <= len(term) and term[: max(shortest, len(stem))] in word


def read_glossary(path: Path, table: LanguageTable) -> Glossary:
    """Read a glossary; a message of a row names its line."""
    terms: dict[str, dict[str, list[Term]]] = defaultdict(partial(defaultdict[str, list[Term]], list))
    try:
        count = 0
        for line, row, _ in separated_rows(path, START, TableOptions()):
            if isinstance(row, str):
                raise DataError(row, path=path, line=line)
            columns = _columns(tuple(row), table, path)
            for tag, term in _terms(row, columns, table, path, line):
                first = term.words[0].casefold()
                terms[tag][first].append(term)
                count += 1
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if not count:
        raise DataError("no terms found. Write one row per term below the header.", path=path)
    return Glossary(terms)


class _Columns(NamedTuple):
    roles: Mapping[str, str]
    languages: Mapping[str, str]
    """The columns that are named by a tag, with their tags; empty if there is a column of translations."""


@lru_cache(maxsize=8)
def _columns(names: tuple[str, ...], table: LanguageTable, path: Path) -> _Columns:
    plain = {" ".join(name.strip().casefold().replace("_", " ").split()): name for name in names if name}
    roles = {role: plain[each] for role, known in _NAMES.items() for each in reversed(known) if each in plain}
    shown = ", ".join(name for name in names if name)
    if "source" not in roles:
        raise DataError(f"no column for the source terms. Found: {shown}. Name one 'source'.", path=path, line=1)
    others = [name for name in names if name and name not in roles.values()]
    languages = {name: found.tag for name in others if (found := table.find(name.strip())) is not None}
    if "target" in roles:
        return _Columns(roles, {})
    if not languages and "forbidden" not in roles:
        message = (
            f"no column for the translations. Found: {shown}. Name one 'target', or each by the tag of a language."
        )
        raise DataError(message, path=path, line=1)
    return _Columns(roles, languages)


def _terms(
    row: Mapping[str, str], columns: _Columns, table: LanguageTable, path: Path, line: int
) -> Iterator[tuple[str, Term]]:
    cell = {role: normalize("NFC", row.get(name, "")).strip() for role, name in columns.roles.items()}
    source = cell["source"]
    if not source or not _WORD.search(source):
        raise DataError("the source term is empty.", path=path, line=line)
    if (case := cell.get("case", "").casefold()) not in _YES | _NO:
        raise DataError(f"case must be yes or no, not {case!r}.", path=path, line=line)
    has_case = case in _YES
    tag = _tag_of(cell.get("language", ""), table, path, line)
    words = tuple(_WORD.findall(source if has_case else source.casefold()))
    forbidden = cell.get("forbidden", "")
    targets = {tag: cell.get("target", "")} if not columns.languages else {}
    targets |= {tag: row.get(name, "").strip() for name, tag in columns.languages.items()}
    for each, target in targets.items():
        wanted, banned = _several(target), _several(forbidden)
        if forbidden.casefold() in _YES:
            wanted, banned = (), wanted
        elif forbidden.casefold() in _NO:
            banned = ()
        if wanted or banned:
            yield each, Term(words, source, wanted, banned, has_case, cell.get("note", ""))


def _tag_of(named: str, table: LanguageTable, path: Path, line: int) -> str:
    """Return the tag of a language; empty for a term of all languages."""
    found = table.find(named) if named else None
    if named and found is None:
        raise DataError(f"unknown language {named!r}.{table.suggestion(named)}", path=path, line=line)
    return found.tag if found else ""


def _several(cell: str) -> tuple[str, ...]:
    return tuple(part for part in map(str.strip, normalize("NFC", cell).split("|")) if part)
