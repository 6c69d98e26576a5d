"""Read and write a translator's results."""

import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.json_pieces import readable_pieces
from polyjudge.files.json_stream import JsonStream, is_deep
from polyjudge.files.kinds import FileKind
from polyjudge.files.opening import inner_suffix
from polyjudge.files.spill import Spilled, SpillFile
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.codec import field_names, from_open_json
from polyjudge.records.translation import LanguageResult, PromptResult

from .column_search import columns_of
from .columns import AS_IT_IS, ROLES, ColumnMap, RowMapper, TableOptions
from .row_files import column_map, files_of, is_table, rows_from

Record = TypeVar("Record", LanguageResult, PromptResult)
_LIST_NAMES = ("results", "languageResults")
_MAX_PROBLEMS_SHOWN = 20
_NOT_AN_OBJECT = "a language must be a JSON object"
_HEAD = 4096
_NAMELESS = "languageName and languageCode are missing"


@dataclass(frozen=True, slots=True)
class _FlatRow:
    """A prompt of a table, with its line."""

    line: int
    data: dict[str, Any]


class _LanguageNaming:
    """Turns the rows of one table into the fields of languages and prompts."""

    def __init__(self, columns: ColumnMap) -> None:
        used = {columns.columns[role] for role in _PROMPT_ROLES if role in columns.columns}
        aliases = {role for role in ROLES if columns.columns.get(role, role) != role}
        self._dropped = {*_LANGUAGE_FIELDS, *_PROMPT_ROLES, *columns.targets.values(), *used, *aliases}
        self._keeps_names = columns.columns.get("language") in ("languageCode", "languageName")
        self._table: LanguageTable | None = None
        self._known: dict[str, dict[str, str]] = {}

    def fields(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a row's language; none if it names no language."""
        known = {name: row[name] for name in _LANGUAGE_FIELDS if row.get(name) not in (None, "")}
        if self._keeps_names:
            return known
        given = str(row.get("language") or "").strip()
        return {**known, **self._named(given)} if given else {}

    def prompt(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a row's prompt; other columns are kept."""
        texts = {key: row[role] for role, key in _PROMPT_ROLES.items() if role in row and key}
        return {**{name: value for name, value in row.items() if name not in self._dropped}, **texts}

    def _named(self, given: str) -> dict[str, str]:
        """Return code and name of a language, from either."""
        if given not in self._known:
            table = self._table = self._table or language_table()
            known = table.find(given)
            is_code = known is None or table.has(given) or not table.find("", given)
            code = given if is_code else known.tag if known else ""
            self._known[given] = {"languageCode": code, "languageName": known.name if known else given}
        return self._known[given]


class TranslationResults:
    """A results file, which is read again by each iteration.

    Invalid rows are skipped, counted in `skipped` and described in `problems`. The fields of the run as a whole
    (binding, device, model) are in `about` after an iteration.
    """

    def __init__(self, path: Path, table: TableOptions = AS_IT_IS) -> None:
        self.path = path
        self.table = table
        self.about: dict[str, Any] = {}
        self.problems: list[str] = []
        self.skipped = 0

    def __iter__(self) -> Iterator[LanguageResult]:
        """Yield the languages in the order of the file."""
        self.problems, self.skipped = [], 0
        places: dict[str, int] = {}
        for line, row in self._rows():
            language = self._language(line, row)
            if language is None:
                continue
            key = (language.language_code or language.language_name).casefold()
            if key in places:
                raise DataError(f"duplicate language {key!r}, first at line {places[key]}", path=self.path, line=line)
            places[key] = line
            yield language
        if not places:
            why = f": {self.problems[0]}" if self.problems else ""
            what = "no languages found" if is_results_file(self.path, self.table) else "no usable rows"
            raise DataError(f"{what}{why}", path=self.path)

    def _rows(self) -> Iterator[tuple[int, object]]:
        if is_results_file(self.path, self.table):
            stream = JsonStream(self.path, _LIST_NAMES, self.table.encoding, inner="prompts")
            for line, row in stream:
                yield line, _NOT_AN_OBJECT if isinstance(row, str) else row
            self.about = stream.rest
        else:
            yield from self._grouped()

    def _grouped(self) -> Iterator[tuple[int, object]]:
        """Yield rows that are languages, then the rows that are single prompts, grouped by language."""
        languages: dict[str, tuple[int, dict[str, Any]]] = {}
        rows = SpillFile()
        mapper = RowMapper(makes_ids=False)
        for file in files_of(self.path):
            columns = column_map(file, self.table)
            rows_named, naming = mapper.naming(columns), _LanguageNaming(columns)
            if not columns.has_languages:
                columns.need("candidate")
                columns.need("language")
            for line, row, _ in rows_from(file, options=self.table):
                if isinstance(row, str) or "prompts" in row:
                    yield line, row
                    continue
                for named in rows_named(row):
                    known = {} if isinstance(named, str) else naming.fields(named)
                    key = str(known.get("languageCode") or known.get("languageName") or "").casefold()
                    if isinstance(named, str) or not key:
                        yield line, named if isinstance(named, str) else "'language' is missing"
                        continue
                    _, language = languages.setdefault(key, (line, {"prompts": Spilled(file=rows, in_memory=0)}))
                    language.update({**known, **language})
                    language["prompts"].append(_FlatRow(line, naming.prompt(named)))
        yield from languages.values()

    def _language(self, line: int, row: object) -> LanguageResult | None:
        if not isinstance(row, Mapping):
            return self._note(line, row if isinstance(row, str) else _NOT_AN_OBJECT)
        data = {name: value for name, value in cast(Mapping[str, Any], row).items() if name != "prompts"}
        values = self._values(LanguageResult, data, line, "")
        name = values.get("language_name") or values.get("language_code")
        if not name:
            return self._note(line, _NAMELESS)
        shown = name[:60] if name.isprintable() else repr(name[:60])
        given: object = cast(Mapping[str, Any], row).get("prompts")
        if not isinstance(given, list | Spilled):
            self._note(line, f"{shown}: prompts must be a list")
            given = []
        code = values.get("language_code") or name
        prompt_id = f"prompt {code[:60] if code.isprintable() else repr(code[:60])}"
        prompts = (
            self._prompt(line, f"{prompt_id}:{index}", each) for index, each in enumerate(cast(Sequence[object], given))
        )
        values["language_name"] = name
        return LanguageResult(**values, prompts=Spilled(each for each in prompts if each is not None).short())

    def _prompt(self, line: int, place: str, row: object) -> PromptResult | None:
        if isinstance(row, _FlatRow):
            line, row = row.line, row.data
        if not isinstance(row, Mapping):
            return self._note(line, f"{place}: must be a JSON object")
        data = dict(cast(Mapping[str, Any], row))
        if not isinstance(data.get("generatedOutput"), str):
            return self._note(line, f"{place}: generatedOutput must be text")
        return PromptResult(**self._values(PromptResult, data, line, f"{place}: "))

    def _values(self, kind: type[Record], data: Mapping[str, Any], line: int, place: str) -> dict[str, Any]:
        """Return the fields of a record; an invalid one is reported and left out, an unknown one is kept in `extra`."""
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        names = {key: name for name, key in field_names(kind).items() if name not in ("prompts", "extra")}
        for key, value in data.items():
            if key not in names:
                extra[key] = value
                if is_deep(value):
                    self._note(line, f"{place}{extra.popitem()[0][:60]!r} is nested too deeply")
            elif value is not None and (value != "" or names[key] not in _FIELD_READERS):
                try:
                    values[names[key]] = _FIELD_READERS.get(names[key], _text)(value)
                except ValueError as error:
                    self._note(line, f"{place}{key}: {error}")
        return {**values, "extra": extra}

    def _note(self, line: int, problem: str) -> None:
        self.skipped += 1
        if len(self.problems) < _MAX_PROBLEMS_SHOWN:
            self.problems.append(f"{self.path}:{line}: {problem}")


def is_results_file(path: Path, table: TableOptions = AS_IT_IS) -> bool:
    """Say whether a file is JSON that is a list of languages with their prompts, or not a table."""
    if inner_suffix(path) != ".json" or path.is_dir():
        return not path.is_dir() and not is_table(path) and _may_be_json(path)
    if _has_long_language(path, table):
        return True
    first = islice((row for _, row, _ in rows_from(path, options=table)), 1)
    columns = columns_of(path, first, table)
    return columns.has_languages or not (columns.targets or "candidate" in columns.columns)


def _has_long_language(path: Path, table: TableOptions) -> bool:
    """Say whether a file starts with a language whose prompts are too many to be read at once."""
    try:
        first = next(iter(JsonStream(path, _LIST_NAMES, table.encoding, inner="prompts")), None)
    except DataError:  # it is reported where the file is read
        return False
    row = first[1] if first is not None else None
    return isinstance(row, dict) and isinstance(cast(dict[str, object], row).get("prompts"), Spilled)


def _may_be_json(path: Path) -> bool:
    """Say whether a file of another suffix starts as JSON does; a file that cannot be read is reported as one."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD).removeprefix(BOM_UTF8).lstrip()
    except OSError:
        return True
    return start.startswith((b"{", b"["))


def language_row(language: LanguageResult) -> dict[str, Any]:
    """Return a language as a row of a results file."""
    return {**_row(language), "prompts": [_row(prompt) for prompt in language.prompts]}


def language_pieces(language: LanguageResult, *, indent: int | None = None) -> Iterator[str]:
    """Yield the row of a language as JSON in pieces."""
    return readable_pieces({**_row(language), "prompts": map(_row, language.prompts)}, indent=indent)


def read_language_row(row: Mapping[str, Any]) -> LanguageResult:
    """Return the language of a row that `language_row` returned."""
    language = from_open_json(LanguageResult, {**row, "prompts": []})
    return replace(language, prompts=tuple(from_open_json(PromptResult, each) for each in row["prompts"]))


def write_translation_results(
    path: Path, about: Mapping[str, Any], languages: Iterable[LanguageResult], *, force: bool = False
) -> None:
    """Write a results file, language by language: a list, or an object with the fields of the run in `about`."""
    with write_atomically(path, kind=FileKind.TRANSLATIONS, force=force) as file:
        head = "".join(f"{readable_json(name)}: {readable_json(value)},\n" for name, value in about.items())
        file.write(f'{{{head}"results": [\n' if about else "[\n")
        for number, language in enumerate(languages):
            file.write(",\n" if number else "")
            file.writelines(language_pieces(language, indent=1))
        file.write("\n]}\n" if about else "\n]\n")


def _row(record: LanguageResult | PromptResult) -> dict[str, Any]:
    named = {
        key: getattr(record, name)
        for name, key in field_names(type(record)).items()
        if name not in ("prompts", "extra")
    }
    needed = ("languageName", "generatedOutput", "sourceText")
    return {**{key: value for key, value in named.items() if value not in (None, "") or key in needed}, **record.extra}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"expected text, found {_start(value)!r}")


def _start(value: object) -> str:
    """Return the start of a value of any type and length."""
    is_long = isinstance(value, int) and value.bit_length() > 1000
    return "a number of hundreds of digits" if is_long else str(value)[:60]


def _number(value: object) -> float:
    number = _parsed(value) if isinstance(value, str) else value
    if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= sys.float_info.max:
        return number
    raise ValueError(f"expected a number, found {_start(value)!r}")


def _parsed(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _count(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError(f"expected a whole number, found {_start(value)!r}")
    return int(number)


def _boolean(value: object) -> bool:
    if isinstance(value, str) and value.casefold() in ("true", "false"):
        return value.casefold() == "true"
    if isinstance(value, bool):
        return value
    raise ValueError(f"expected true or false, found {_start(value)!r}")


_FIELD_READERS = {
    "token_count": _count,
    "tokens_per_second": _number,
    "duration_ms": _number,
    "script_validation_passed": _boolean,
}
_PROMPT_ROLES = {"candidate": "generatedOutput", "source": "sourceText", "reference": "reference", "language": ""}
"""The fields of a prompt by the role of their column."""
_LANGUAGE_FIELDS = ("languageName", "languageCode", "scriptFamily", "priority")
