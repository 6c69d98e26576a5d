"""Recognise the kind of run in a file or folder: exactly, and, in a list of many files, by their first bytes."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_data
from polyjudge.files.json_stream import JsonStream
from polyjudge.files.opening import inner_suffix
from polyjudge.formats.columns import AS_IT_IS, Row, TableOptions
from polyjudge.formats.row_files import column_map, first_row_of
from polyjudge.formats.tools import tool_format_of
from polyjudge.formats.vocabulary import JUDGEMENTS_FILE

RunKind = Literal["score", "translation scores", "vocabulary", "transcript", "regression"]
UNITS: Mapping[RunKind, str] = {
    "score": "item",
    "translation scores": "output",
    "vocabulary": "answer",
    "transcript": "review",
    "regression": "case",
}
"""What one row of each kind of run is called."""
ListedKind = Literal["translation", "score", "vocabulary", "transcript"]
"""What a list of runs has; `translation` is a translator's results, `score` also a folder of Parquet files."""
START = 1 << 16
"""The number of bytes at the start of a file by which its kind is recognised."""
_LONGEST_JSON = 1 << 30
_OUTPUTS = re.compile(rb'"generatedOutput"\s*:')
_SCORED = re.compile(rb'"outcome"\s*:\s*"(?:result|failure|text)"')
_WORD = re.compile(rb'"verdict"\s*:\s*"(?:correct|incorrect|undetermined|error)"')
_WORD_KEYS = (b'"word"', b'"judge"')
_REVIEW = (b'"agentScore"', b'"scenarioId"')
_RESULTS_FOLDER = b'"polyjudge results"'


def kind_at_start(start: bytes, suffix: str) -> ListedKind | None:
    """Return the kind of run by the first bytes of a file, or None; `kind_of` reads more, and other files."""
    first = start.partition(b"\n")[0]
    if suffix in (".json", ".jsonl") and _OUTPUTS.search(start):
        return "translation"
    if suffix == ".json":
        return "transcript" if all(key in start for key in _REVIEW) else None
    if suffix == ".jsonl" and _SCORED.search(first):
        return "score"
    is_word = suffix == ".jsonl" and _WORD.search(first) and all(key in first for key in _WORD_KEYS)
    return "vocabulary" if is_word else None


def is_results_manifest(start: bytes) -> bool:
    """Return whether a file starts as the manifest of a folder of results does."""
    return _RESULTS_FOLDER in start


def kind_of(path: Path, table: TableOptions = AS_IT_IS) -> RunKind:
    """Return the kind of run in a file or folder; raise DataError for anything else."""
    if path.is_dir():
        return _kind_of_folder(path)
    is_plain = table.columns or table.targets or tool_format_of(path) is None
    if is_plain and inner_suffix(path) == ".json" and (found := _kind_of_json(path)):
        return found
    first = first_row_of(path, table)
    if "verdict" in first and "word" in first and "judge" in first:
        return "vocabulary"
    columns = column_map(path, table)
    is_rated = "score" in columns.columns or (columns.is_own and "label" in columns.columns)
    if first.get("outcome") in ("result", "failure", "text") or is_rated:
        return "score"
    if not first:
        raise DataError("no rows found; expected rows with a score, or results of polyjudge", path=path)
    names = ", ".join(map(str, first))[:300]
    message = (
        f"not a run: the rows have neither an outcome nor a score. Found: {names}. Translations to check must be "
        "given as results"
    )
    raise DataError(message, path=path, option="results")


def is_translation(path: Path, table: TableOptions = AS_IT_IS) -> bool:
    """Return whether a file is a translator's results."""
    if path.is_dir() or tool_format_of(path) is not None:
        return False
    if inner_suffix(path) == ".json":
        first = _first_element(path)
        return any("generatedOutput" in each for each in (first, *_prompts(first)))
    first = first_row_of(path, table)
    return "generatedOutput" in first or ("prompts" in first and "outcome" not in first)


def _kind_of_folder(path: Path) -> RunKind:
    if (path / JUDGEMENTS_FILE).is_file():
        return "vocabulary"
    reviews = [file for file in sorted(path.glob("*.json")) if file.name != "manifest.json"]
    if reviews and any("agentScore" in read_object(file) for file in reviews):
        return "transcript"
    return "score"


def _kind_of_json(path: Path) -> RunKind | None:
    head = _first_element(path)
    if "scriptScore" in head or "scriptScore" in "".join(map(str, _prompts(head))) or "judged" in head:
        return "translation scores"
    whole = read_object(path)
    if "agentScore" in whole:
        return "transcript"
    if "cases" in whole and "suites" in whole:
        return "regression"
    if "judge" in whole and "perturbations" in whole:
        raise DataError("this is a trust card, not a run. Show it with: polyjudge calibrate card", path=path)
    return None


def _first_element(path: Path) -> Row:
    """Return the first element of a JSON list, or of the list of results or scores in an object."""
    for _, row in JsonStream(path, ("results", "languageResults", "scores", "judgeScores", "cases")):
        return cast(Row, row) if isinstance(row, Mapping) else {}
    return {}


def _prompts(row: Row) -> list[Row]:
    given: object = row.get("prompts")
    found = cast(list[object], given) if isinstance(given, list) else []
    return [cast(Row, each) for each in found[:1] if isinstance(each, Mapping)]


def read_object(path: Path) -> Row:
    """Return the JSON object in a file; an empty one if it contains another value."""
    try:
        if path.stat().st_size > _LONGEST_JSON:
            raise DataError(
                f"larger than {_LONGEST_JSON >> 30} GB, which is too large for a single JSON object", path=path
            )
        found = parse_data(path.read_text(encoding="utf-8-sig"), path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except (ValueError, RecursionError):
        raise DataError("not JSON", path=path) from None
    return cast(Row, found) if isinstance(found, dict) else {}
