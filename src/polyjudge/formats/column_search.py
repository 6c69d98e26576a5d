"""Recognise which columns of a table have the id, the text, its language and so on."""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

from polyjudge.errors import MissingColumnError
from polyjudge.languages.table import language_table

from .columns import ROLES, ColumnMap, Row, TableOptions, opened

HEAD_ROWS = 100
"""The first rows of a table, in which its columns are looked for."""
_DEEPEST = 4
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s_\-.]+")
_LONGEST_TAG_OF_A_CANDIDATE = 3
"""Such as `mt`, which is machine translation or Maltese; longer names of candidates are no tags."""
_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|\d{3}))?")
_GENERIC = {"text", "content", "value", "string"}
"""Names inside an object that say nothing: `output.text` is an output."""
_IDS_OF_LABELS = ("item", "instance", "unit")
"""Names of ids in files of labels without texts; beside texts they may be anything."""
_OWN_KEYS = {"outcome", "labelledAt", "kind", "annotator", "extra"}
"""Keys of the rows that polyjudge writes, beside the schema version."""


def columns_of(path: Path, rows: Iterable[Row | str], options: TableOptions) -> ColumnMap:
    """Return the columns of a table by their roles, from its first rows and the options."""
    head = [row for row in islice(rows, HEAD_ROWS) if not isinstance(row, str)]
    found = tuple(dict.fromkeys(str(name) for row in head for name in row))
    if "provenance" in found or ("schemaVersion" in found and _OWN_KEYS.intersection(found)):
        own = {role: role for role in ROLES if role in found}
        if "text" in found:
            own.setdefault("candidate", "text")
        return ColumnMap(path, found, own, is_own=True)
    if "prompts" in found and {"languageName", "languageCode"}.intersection(found) and not options.columns:
        return ColumnMap(path, found, has_languages=True)
    inner = tuple(dict.fromkeys(name for row in head for name in _inner_names(row)))
    in_texts = tuple(dict.fromkeys(name for row in head for name in _inner_names(row, opens_texts=True)))
    objects = {name for row in head for name, value in row.items() if isinstance(value, Mapping | list)}
    return _Search(path, found, inner, (*found, *in_texts), objects, options).columns()


def _inner_names(row: Row, prefix: str = "", *, opens_texts: bool = False) -> Iterator[str]:
    """Yield the names of values inside objects, such as `output.text`, and inside texts that hold JSON if wanted."""
    for name, value in row.items():
        if isinstance(value, str) and not opens_texts:
            inner = None
        else:
            inner = opened(value) if prefix.count(".") < _DEEPEST else None
        if inner is None and prefix:
            yield f"{prefix}{name}"
        elif inner is not None and len(inner) < HEAD_ROWS:
            yield from _inner_names(inner, f"{prefix}{name}.", opens_texts=opens_texts)


class _Search:
    """Finds the columns of one table."""

    def __init__(
        self,
        path: Path,
        found: tuple[str, ...],
        inner: tuple[str, ...],
        all_names: tuple[str, ...],
        objects: Collection[str],
        options: TableOptions,
    ) -> None:
        self._path, self._options = path, options
        self._found, self._inner, self._all = found, inner, all_names
        self._columns: dict[str, str] = {}
        self._left_out = {role for role, column in options.columns.items() if not column}
        self._by_name: dict[str, str] = {}
        for name in (*(each for each in found if each not in objects), *inner):
            for plain in _plain_names(name, is_inner=name not in found):
                self._by_name.setdefault(plain, name)

    def columns(self) -> ColumnMap:
        """Return the columns: those of the options, those that have the name of a role, those of known names."""
        for role, column in self._options.columns.items():
            if column:
                self._columns[role] = self._given(role, column)
        targets = {tag: self._given(tag, column) for tag, column in self._options.targets.items()}
        for role in ROLES:
            self._assume(role, [role], targets)
        for role, names in known_names().items():
            self._assume(role, names, targets)
            if role in self._found and role not in self._left_out:  # an object, which readers refuse by row
                self._columns.setdefault(role, role)
        if not targets and self._options.header:
            targets = self._wide()
        if not targets and self._columns.keys().isdisjoint(("candidate", "source", "reference")):
            self._assume("id", _IDS_OF_LABELS, targets)
        left_out = ("candidate", "language") if targets else ()
        columns = {role: self._columns[role] for role in ROLES if role in self._columns and role not in left_out}
        return ColumnMap(self._path, self._all, columns, targets)

    def _given(self, role: str, column: str) -> str:
        """Return a column that the options name, by its name or position; raise MissingColumnError without one."""
        if not self._all or column in self._all or column.partition(".")[0] in self._found:
            return column
        if column.isdecimal() and 1 <= int(column) <= len(self._found):
            return self._found[int(column) - 1]
        folded = [name for name in self._all if _plain(name) == _plain(column)]
        if len(folded) == 1:
            return folded[0]
        is_role = role not in self._options.targets
        raise MissingColumnError((role,), self._all, path=self._path, given=column, is_role=is_role)

    def _assume(self, role: str, names: Sequence[str], targets: Mapping[str, str]) -> None:
        if role in self._columns or role in self._left_out or not self._options.header:
            return
        taken = {*self._columns.values(), *targets.values()}
        for name in names:
            column = self._by_name.get(name)
            if column is None or column in taken or any(column.startswith(f"{other}.") for other in taken):
                continue
            self._columns[role] = column
            return

    def _wide(self) -> dict[str, str]:
        """Return the columns that are languages, if the table has no column of candidates; English is the source."""
        candidate, source = self._columns.get("candidate"), self._columns.get("source")
        is_source = candidate is not None and _plain(candidate) == "text" and source is None
        if candidate is not None and not is_source:
            may_be_tag = len(candidate.rpartition(".")[2].strip()) <= _LONGEST_TAG_OF_A_CANDIDATE
            if self._options.columns.get("candidate") or not may_be_tag or not _tag_of(candidate):
                return {}
        tags = {
            name: tag
            for name in (*self._found, *self._inner)
            if (tag := _tag_of(name)) and name not in {*self._options.columns.values(), "id"}
        }
        needed = 1 if source is not None else 2
        if len(tags) < (needed if candidate is None or is_source else 3) or (is_source and "language" in self._columns):
            return {}
        if is_source and candidate is not None:
            source = self._columns["source"] = candidate
        if source is None and "source" not in self._left_out:
            source = next((name for name, tag in tags.items() if tag == "en" or tag.startswith("en-")), None)
            if source is not None:
                self._columns["source"] = source
        targets = {tag: name for name, tag in reversed(tags.items()) if name != source}
        return dict(reversed(targets.items()))


def _tag_of(column: str) -> str:
    """Return the language tag that a column name is or names; empty if it is none."""
    name = column.rpartition(".")[2].strip()
    table = language_table()
    if _TAG.fullmatch(name):
        known = table.find(name)
        return name.replace("_", "-") if known is not None and (len(name) < 4 or "-" in name or "_" in name) else ""
    known = table.find("", name) if _is_name(name) else None
    return known.tag if known is not None else ""


def _is_name(name: str) -> bool:
    return len(name) > 3 and all(letter.isalpha() or letter in " -(),'’" for letter in name)


def _plain(name: str) -> str:
    """Return the words of a name without case and accents."""
    letters = unicodedata.normalize("NFKD", name.strip().lstrip("\ufeff"))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(part.casefold().replace("ı", "i") for part in _WORDS.split(bare) if part)


def _plain_names(name: str, *, is_inner: bool) -> Iterator[str]:
    """Yield the names by which a column is known: `meta.lang` also as `lang`, `output.text` also as `output`."""
    yield _plain(name)
    if is_inner:
        before, _, last = name.rpartition(".")
        yield _plain(before.rpartition(".")[2] if _plain(last) in _GENERIC else last)


@lru_cache(maxsize=1)
def known_names() -> Mapping[str, tuple[str, ...]]:
    """Return the names of columns that are recognised, by role in the order in which roles are filled."""
    folder = files("polyjudge.formats") / "column_names"
    english, worldwide = (
        tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in ("known", "worldwide")
    )
    return {role: tuple(map(_plain, [*worldwide.get(role, ()), *names])) for role, names in english.items()}
