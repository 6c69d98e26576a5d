"""Pair the texts that two systems wrote for the same inputs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.spill import Occurrences
from polyjudge.languages.table import LanguageTags
from polyjudge.records.outcomes import OTHER_CANDIDATE, Item

from .columns import TableOptions, counted_id, made_id
from .items import ItemSource
from .row_files import files_of, named_rows_of
from .systems import PAIRED_BY_SOURCE, names_of

_Key = tuple[str, str]
_SOURCE = "source"


@dataclass(frozen=True, slots=True)
class PairedTexts:
    """The texts of two systems as items: the first text is the candidate, the other one is in the context."""

    items: tuple[Item, ...]
    systems: tuple[str, str]
    only_first: int
    """Items that only the first table has."""
    only_second: int
    notes: tuple[str, ...] = ()


def paired_texts(first: ItemSource, second: ItemSource, limit: int | None = None) -> PairedTexts:
    """Pair two tables by language and id, or by source; `limit` is the maximum number of pairs.

    The filters and the context of the first one count.
    """
    tables = list(first), list(second)
    by_source = all(map(_makes_ids, (first, second), tables))
    pairs = _joined(*tables, by_source=by_source)
    if not pairs and all(item.context.get(_SOURCE) for table in tables for item in table):
        by_source, pairs = True, _joined(*tables, by_source=True)
    if not pairs:
        raise DataError(
            f"no items in common with {second.path}: items are matched by language and id. Use the same ids in both",
            path=first.path,
        )
    systems = _systems(first, second)
    made = (_pair(*pair, systems, first.path, second.path) for pair in pairs)
    return PairedTexts(
        items=tuple(islice(made, limit)),
        systems=systems,
        only_first=len(tables[0]) - len(pairs),
        only_second=len(tables[1]) - len(pairs),
        notes=(PAIRED_BY_SOURCE,) if by_source else (),
    )


def _joined(first: list[Item], second: list[Item], *, by_source: bool) -> list[tuple[Item, Item]]:
    """Return the items that both tables have, in the order of the first."""
    names_languages = all(any(item.language for item in table) for table in (first, second))
    others = dict(_keyed(second, by_source=by_source, names_languages=names_languages))
    keyed = _keyed(first, by_source=by_source, names_languages=names_languages)
    return [(item, others[key]) for key, item in keyed if key in others]


def _keyed(items: list[Item], *, by_source: bool, names_languages: bool) -> Iterator[tuple[_Key, Item]]:
    """Yield items with what identifies them in both tables; the language only if both name it."""
    seen, tags = Occurrences(), LanguageTags()
    for item in items:
        language = item.language if names_languages else ""
        own_id = item.id
        if by_source:
            own_id = counted_id(
                {_SOURCE: item.context.get(_SOURCE), "language": language}, (_SOURCE, "language"), seen, tags
            )
        yield (language, own_id), item


def _makes_ids(table: ItemSource, items: list[Item]) -> bool:
    """Return whether ids were made from the content, so that they differ between systems."""
    if not all(item.context.get(_SOURCE) for item in items):
        return False
    if all(table.columns_of(file).makes_ids for file in files_of(table.path)):
        return True
    return all(
        item.id.partition("-")[0] == made_id({**item.context, "candidate": item.candidate, "language": item.language})
        for item in items
    )


def _systems(first: ItemSource, second: ItemSource) -> tuple[str, str]:
    """Return the systems that wrote the texts: those of the column `system`, else the names of the files."""
    names = names_of((first.path, second.path))
    one, other = (_only_system(table.path, table.table) or names[table.path] for table in (first, second))
    return (one, other) if one != other else (str(first.path), str(second.path))


def _only_system(path: Path, table: TableOptions) -> str:
    found = {str(row.get("system") or "") for _, row in named_rows_of(path, table) if not isinstance(row, str)}
    return found.pop() if len(found) == 1 else ""


def _pair(first: Item, second: Item, systems: tuple[str, str], path: Path, other: Path) -> Item:
    """Return two texts as one item."""
    sources = first.context.get(_SOURCE), second.context.get(_SOURCE)
    if all(sources) and sources[0] != sources[1]:
        raise DataError(
            f"the source of item {first.id!r} is not that in {other}; pair texts of the same items", path=path
        )
    more = {OTHER_CANDIDATE: second.candidate, "system": systems[0], "otherSystem": systems[1]}
    return Item(
        first.id,
        first.candidate,
        {**first.context, **more},
        first.language or second.language,
        first.cluster or second.cluster,
    )
