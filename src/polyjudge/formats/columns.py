"""The columns of a table by their roles, and rows in which they have the names of these roles."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import ConfigError, MissingColumnError, UnknownNameError
from polyjudge.files.opening import known_encoding
from polyjudge.files.spill import Occurrences, to_blob
from polyjudge.languages.table import LanguageTags

Row = Mapping[str, Any]
ROLES = ("id", "candidate", "source", "reference", "language", "system", "document", "label", "score", "context")
"""What a column may hold; readers find it under these names."""
MISSING = object()
"""The value of a column that a row does not have."""
ID_PARTS = ("source", "language", "system", "candidate")
"""What identifies a row without an id; columns that people add later, such as labels, do not count."""
_LONGEST_JSON = 1 << 20


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is to be read, where that cannot be seen in it."""

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """By role, the column; an empty one if the table has none."""
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    """By language tag, the column of its texts, in a table with a column for each language."""
    encoding: str = ""
    """Empty for UTF-8, or what a byte order mark says."""
    sheet: str = ""
    """Empty for the first one."""
    header: bool = True
    """Whether the first row has the names of the columns; else these are 1, 2, 3, …"""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The values that a row must have in a column, for readers of scores and labels."""
    penalties: Mapping[str, float] = field(default_factory=dict[str, float])
    """By which labels that follow from error spans are counted again; empty for those that the rows have."""


AS_IT_IS = TableOptions()


def table_options(
    columns: Mapping[str, str] | None = None,
    targets: Mapping[str, str] | None = None,
    *,
    encoding: str = "",
    sheet: str = "",
    header: bool = True,
) -> TableOptions:
    """Return the options; raise ConfigError for an unknown role or encoding."""
    unknown = [role for role in columns or {} if role not in ROLES]
    if unknown:
        raise UnknownNameError("role of a column", unknown[0], ROLES)
    if encoding and not known_encoding(encoding):
        raise ConfigError(f"Unknown encoding {encoding!r}. Name one that Python knows, such as windows-1252.")
    return TableOptions(columns or {}, targets or {}, encoding, sheet, header)


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of one table by their roles."""

    path: Path
    found: tuple[str, ...] = ()
    """All columns."""
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """By role; a role without a column is left out."""
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    """By language tag, in a table with a column for each language."""
    is_own: bool = False
    """The rows were written by polyjudge, and are not changed."""
    has_languages: bool = False
    """Each row is a language with its prompts."""
    is_fixed: bool = False
    """Every row has all columns, as in CSV."""

    @property
    def makes_ids(self) -> bool:
        """Whether the ids are made from the content, because there are texts without an id."""
        if self.is_own or self.has_languages or "id" in self.columns:
            return False
        return bool(self.targets) or "candidate" in self.columns or "source" in self.columns

    @property
    def names(self) -> set[str] | None:
        """The columns and roles under which rows have values; None if rows differ, or are not used as they are."""
        if not self.is_fixed or self.has_languages or self.is_own:
            return None
        return {*self.found, *self.columns, *(("candidate", "language") if self.targets else ())}

    @property
    def assumed(self) -> dict[str, str]:
        """The columns by role, without those that have the name of their role."""
        return {role: column for role, column in self.columns.items() if role != column}

    @property
    def changes_rows(self) -> bool:
        """Whether rows are not used as they are."""
        return bool(self.assumed or self.targets or self.makes_ids or self.has_languages)

    def need(self, *roles: str) -> None:
        """Raise MissingColumnError unless the table has a column of one of these roles."""
        known = {*self.columns, *(("id",) if self.makes_ids else ())}
        if self.targets or self.has_languages:
            known.update(("candidate", "language", "id" if self.has_languages else ""))
        if self.found and known.isdisjoint(roles):
            raise MissingColumnError(roles, self.found, path=self.path, may_lack_header=not self.columns)


NamedRows = Callable[[Row | str], Sequence[Row | str]]
"""Returns a row, or the rows of its languages or prompts, with the roles as names; an error message as it is."""


class RowMapper:
    """Names the columns of rows by their roles; rows without an id get one that is counted over all tables read.

    `earlier` has the counts of made ids in rows that were read before, by another mapper.
    """

    def __init__(self, *, makes_ids: bool = True, earlier: Mapping[int, int] | None = None) -> None:
        self._earlier, self._tags = earlier, LanguageTags()
        self._makes_ids = makes_ids
        self._in_part: Occurrences | None = None
        self._before_part: dict[int, int] = {}

    @cached_property
    def _seen(self) -> Occurrences:
        return Occurrences(self._earlier)

    def start_part(self) -> Mapping[int, int]:
        """Start a part of the rows; return what a mapper of this part alone needs as `earlier`, complete at its end."""
        self._in_part, self._before_part = Occurrences(), {}
        return self._before_part

    def naming(self, columns: ColumnMap) -> NamedRows:
        """Return the function that names the columns of the rows of one table."""
        if columns.has_languages:
            of_row: Callable[[Row], Sequence[Row | str]] = _of_prompts
        elif columns.targets:
            of_row = partial(self._of_targets, columns, tuple(columns.assumed.items()))
        elif columns.changes_rows:
            makes_ids = columns.makes_ids and self._makes_ids
            of_row = partial(self._of_roles, tuple(columns.assumed.items()), makes_ids)
        else:
            return lambda row: (row,)
        return lambda row: (row,) if isinstance(row, str) else of_row(row)

    def _of_roles(self, roles: Sequence[tuple[str, str]], makes_ids: bool, row: Row) -> Sequence[Row]:
        named = _renamed(row, roles)
        if makes_ids:
            named["id"] = self._made(named)
        return (named,)

    def _of_targets(self, columns: ColumnMap, roles: Sequence[tuple[str, str]], row: Row) -> Sequence[Row | str]:
        shared, rows = _renamed(row, roles), list[Row | str]()
        for tag, column in columns.targets.items():
            text = cell(row, column)
            if text is MISSING or text is None or text == "":
                rows.append(f"no text in column {column!r}")
                continue
            named = {**shared, "candidate": text, "language": tag}
            if columns.makes_ids:
                if self._makes_ids:
                    named["id"] = self._made(named)
            elif shared.get("id") not in (None, ""):
                named["id"] = f"{shared['id']}:{tag}"
            rows.append(named)
        return rows

    def _made(self, row: Row) -> str:
        if self._in_part is None:
            return counted_id(row, ID_PARTS, self._seen, self._tags)
        digest = _digest_of(row, ID_PARTS, self._tags)
        number = int.from_bytes(digest, "big")
        count = self._seen.count(number)
        if before := count - self._in_part.count(number):
            self._before_part[number] = before
        return _numbered(digest, count)


def counted_id(row: Row, parts: Iterable[str], seen: Occurrences, tags: LanguageTags) -> str:
    """Return an id made from parts of a row; the second row in which these are the same gets `-2`, the third `-3`."""
    digest = _digest_of(row, parts, tags)
    return _numbered(digest, seen.count(int.from_bytes(digest, "big")))


def _numbered(digest: bytes, count: int) -> str:
    return digest.hex() if count == 1 else f"{digest.hex()}-{count}"


def made_id(row: Row, tags: LanguageTags | None = None) -> str:
    """Return the id that is made from the parts of a row, without a count; a language counts as its tag."""
    return _digest_of(row, ID_PARTS, tags or LanguageTags()).hex()


def _digest_of(row: Row, parts: Iterable[str], tags: LanguageTags) -> bytes:
    texts = [tags[str(row.get(name) or "")] if name == "language" else str(row.get(name) or "") for name in parts]
    sized = [f"{len(text) if text.isascii() else len(to_blob(text))}:{text}" for text in texts]  # the size in bytes
    return blake2b(to_blob("".join(sized)), digest_size=8).digest()


def _renamed(row: Row, roles: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return a row in which values are also found by their roles."""
    named = {**row}
    for role, column in roles:
        value = row[column] if column in row else cell(row, column)
        if value is not MISSING:
            named[role] = value
    return named


def _of_prompts(row: Row) -> Sequence[Row | str]:
    """Return the prompts of a language as rows, under ids such as `th:0`."""
    prompts = row.get("prompts")
    tag = str(row.get("languageCode") or row.get("languageName") or "")
    if not isinstance(prompts, list):
        return ("prompts must be a list",)
    given = cast(list[object], prompts)
    each = [cast(Row, prompt) for prompt in given if isinstance(prompt, Mapping)]
    usable = [prompt for prompt in each if isinstance(prompt.get("generatedOutput"), str)]
    problems = (
        [f"{tag}: {len(given) - len(usable)} prompts without generatedOutput"] if len(usable) < len(given) else []
    )
    named = [
        {
            **prompt,
            "source": prompt.get("sourceText") or "",
            "id": f"{tag}:{index}",
            "language": tag,
            "candidate": prompt["generatedOutput"],
        }
        for index, prompt in enumerate(usable)
    ]
    return [*problems, *named]


def cell(row: Row, column: str) -> object:
    """Return the value of a column, or of `one.two` inside an object, a list, or a text that holds JSON."""
    if column in row:
        return row[column]
    first, dot, rest = column.partition(".")
    while dot:
        if first in row:
            inner = opened(row[first])
            return cell(inner, rest) if inner is not None else MISSING
        more, dot, rest = rest.partition(".")
        first = f"{first}.{more}"
    return MISSING


def opened(value: object) -> Row | None:
    """Return an object, or a list by positions, also from JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "[") and len(value) < _LONGEST_JSON:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, Mapping):
        return cast(Row, value)
    if isinstance(value, list):
        return {str(place): each for place, each in enumerate(cast(list[object], value))}
    return None
