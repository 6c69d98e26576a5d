"""Find the plural forms among keys: objects of categories, and the endings of i18next."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from .entries import Entry, Texts
from .plurals import CATEGORIES, integer_categories

_ENDING = re.compile(rf"(.+)_({'|'.join(CATEGORIES)}|plural)", re.DOTALL)
_NUMBER = re.compile(r"(.+)_(\d)", re.DOTALL)


class Value(NamedTuple):
    """A value with the keys that lead to it."""

    path: tuple[str, ...]
    text: str | None
    """None for what is no text."""
    line: int
    is_null: bool = False


def keyed_entries(values: Sequence[Value]) -> Iterator[Entry]:
    """Yield an entry for each value; the key is its path, joined by dots."""
    plurals = _plural_objects(values)
    paths = {value.path for value in values}
    for value in values:
        path, plural = value.path, ""
        if path[:-1] in plurals:
            path, plural = path[:-1], path[-1]
        elif path:
            name, plural = _without_ending(path, paths)
            path = (*path[:-1], name)
        yield Entry(
            key=".".join(path),
            text=value.text or "",
            line=value.line,
            plural=plural,
            is_translatable=value.text is not None or value.is_null,
        )


def _plural_objects(values: Iterable[Value]) -> set[tuple[str, ...]]:
    """Return the paths of objects whose keys are plural categories, `other` among them."""
    found: set[tuple[str, ...]] = set()
    others: set[tuple[str, ...]] = set()
    for value in values:
        is_category = value.path and value.path[-1] in CATEGORIES
        if is_category and value.path[-1] == "other" and len(value.path) > 1:
            found.add(value.path[:-1])
        if not is_category:
            others.update(value.path[:count] for count in range(len(value.path)))
    return found - others


def _without_ending(path: tuple[str, ...], paths: set[tuple[str, ...]]) -> tuple[str, str]:
    """Return the last key without the ending of i18next, and the category that it names."""
    name, before = path[-1], path[:-1]
    match = _ENDING.fullmatch(name)
    if match is None:
        is_singular = (*before, f"{name}_plural") in paths
        return name, "one" if is_singular else ""
    base, ending = match[1], match[2]
    if ending == "plural":
        return (base, "other") if (*before, base) in paths else (name, "")
    is_plural = (*before, f"{base}_other") in paths and not base.endswith("_ordinal")
    return (base, ending) if is_plural else (name, "")


def with_numbered_forms(targets: Texts, sources: Texts | None, language: str) -> Texts:
    """Return the texts with the keys `key_0`, `key_1` of i18next 3 as plural forms if the source has `key_plural`."""
    plurals = {entry.key for entry in sources.entries if entry.plural == "other"} if sources else set[str]()
    categories = integer_categories(language)
    if not plurals or not categories:
        return targets
    entries = list[Entry]()
    for entry in targets.entries:
        match = None if entry.plural else _NUMBER.fullmatch(entry.key)
        if match and match[1] in plurals and int(match[2]) < len(categories):
            entries.append(replace(entry, key=match[1], plural=categories[int(match[2])]))
        else:
            entries.append(entry)
    return Texts(entries, targets.problems)
