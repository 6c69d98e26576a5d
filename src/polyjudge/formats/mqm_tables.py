"""Read tables of MQM errors as WMT publishes them: one error a row, with its words between `<v>` and `</v>`."""

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from polyjudge.errors import DataError
from polyjudge.files.json_lines import lines_from

from .annotations import ATTENTION_CHECK, language_of, pair_in_name, rating_row
from .columns import Row
from .error_spans import marked_span, mqm_score
from .tools import ToolRows

_NAMES: Mapping[str, tuple[str, ...]] = {
    "system": ("system_id",),
    "doc": ("document_id",),
    "doc_id": ("docSegId", "doc_segment_id"),
    "seg_id": ("globalSegId",),
    "rater": ("rater_id",),
    "target": ("candidate",),
}
"""Our names of columns, and how tables of other years name them: a segment has a number in its document and overall."""
_KNOWN = frozenset(
    {"system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity", "comment"}
)
_COLUMNS = {"reference", "source_lang", "target_lang"}
_NO_ERROR = frozenset({"no-error", "no error", "no_error"})
_HANDS_ON_THE_WHEEL = "hotw-test"
"""The severity of test sentences with an error that was put in to see whether the rater pays attention."""
_QUOTED = re.compile(r'"(?:[^"]|"")*""(?:[^"]|"")*"')


class _Table(NamedTuple):
    """What the whole table says about its rows."""

    path: Path
    names: list[str]
    theirs: Mapping[str, str]
    """How the table names what we name otherwise."""
    is_quoted: bool
    """Whether fields with quotation marks are in quotation marks, as CSV has them."""


class _Places(NamedTuple):
    """Where the ratings of a table are."""

    last: dict[int, int]
    """The last line of each rating."""
    are_numbered: bool
    """Whether a number of a segment names one place in one document."""


def mqm_table(path: Path) -> ToolRows:
    """Yield the ratings of a table of MQM errors, whose rows are one error each: a row for each person and text."""
    table = _table(path)
    places = _places(table)
    first, second = pair_in_name(path)
    pair = {"language": second, "languagePair": f"{first}-{second}"} if second else {}
    found: dict[tuple[str, ...], list[Row]] = {}
    for line, row, count in _lines(table):
        if row is None:
            yield line, f"expected {len(table.names)} fields, found {count}"
        elif _is_test(row):
            yield line, ATTENTION_CHECK
        else:
            key = _key(row)
            found.setdefault(key, []).append(row)
            if places.last[hash(key)] == line:
                yield line, _rating(found.pop(key), table, pair, are_numbered=places.are_numbered)


def _table(path: Path) -> _Table:
    header = _fields(next(lines_from(path), ("", 0))[0].removeprefix("\ufeff"))
    theirs = {name: other for name, others in _NAMES.items() for other in (name, *others) if other in header}
    ours = {other: name for name, other in theirs.items()}
    names, is_quoted = [ours.get(name, name) for name in header], False
    for text, _ in lines_from(path):
        with_marks = [field for field in _fields(text) if '"' in field]
        if not all(_QUOTED.fullmatch(field) for field in with_marks):
            return _Table(path, names, theirs, is_quoted=False)
        is_quoted = is_quoted or bool(with_marks)
    return _Table(path, names, theirs, is_quoted)


def _places(table: _Table) -> _Places:
    last: dict[int, int] = {}
    segments: dict[str, tuple[str, str]] = {}
    are_numbered, has_rows = True, False
    first = None
    for line, row, count in _lines(table):
        first = first or (line, count)
        if row is None:
            continue
        has_rows = True
        if not _is_test(row):
            last[hash(_key(row))] = line
            place = (row["doc"], row["doc_id"])
            are_numbered = are_numbered and row["seg_id"] != "" and segments.setdefault(row["seg_id"], place) == place
    if first and not has_rows:
        line, count = first
        message = f"expected {len(table.names)} fields as in the header ({', '.join(table.names)}), found {count}"
        raise DataError(f"{message}; no row fits", path=table.path, line=line)
    return _Places(last, are_numbered)


def _lines(table: _Table) -> Iterator[tuple[int, dict[str, str] | None, int]]:
    """Yield each line, its row by our names or None if it does not fit the header, and the number of its fields."""
    empty = dict.fromkeys(_KNOWN - {"comment"}, "")
    for line, (text, _) in enumerate(lines_from(table.path), start=1):
        if line == 1 or not text.strip():
            continue
        fields = next(csv.reader([text.rstrip("\r\n")], delimiter="\t")) if table.is_quoted else _fields(text)
        fits = len(fields) == len(table.names)
        yield line, {**empty, **dict(zip(table.names, fields, strict=True))} if fits else None, len(fields)


def _fields(text: str) -> list[str]:
    return text.rstrip("\r\n").split("\t")


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("system", "doc", "doc_id", "seg_id", "rater"))


def _is_test(row: Mapping[str, str]) -> bool:
    return row["severity"].strip().casefold() == _HANDS_ON_THE_WHEEL


def _rating(rows: list[Row], table: _Table, pair: Mapping[str, str], *, are_numbered: bool) -> Row:
    """Return one person's rating of one text from the rows of its errors."""
    first, spans, comments = rows[0], list[dict[str, Any]](), list[str]()
    candidate, source, _ = marked_span(first["target"], first["source"], severity="", category="")
    own = {name: value for name, value in first.items() if name not in _KNOWN | _COLUMNS}
    shared = {name: value for name, value in own.items() if all(row[name] == value for row in rows)}
    for row in rows:
        rest = {name: row[name] for name in own.keys() - shared.keys() if row[name]}
        more = {"comment": row.get("comment"), "extra": dict(sorted(rest.items()))}
        if row["severity"].strip().casefold() in _NO_ERROR:
            comments += [row["comment"]] if row.get("comment") else []
            shared |= rest
        else:
            spans += _spans(row, candidate, source, {name: value for name, value in more.items() if value})
    named = dict(pair) or _languages(first)
    counted = ("doc_id",) if are_numbered else ("doc_id", "seg_id")
    numbers = {table.theirs[name]: first[name] for name in counted if name in table.theirs}
    place = (
        first["seg_id"] if are_numbered else "/".join(filter(None, (first["doc"], first["doc_id"] or first["seg_id"])))
    )
    return rating_row(
        f"{named['languagePair']}/{place}" if named else place,
        first["rater"],
        mqm_score(spans),
        spans,
        system=first["system"],
        document=first["doc"],
        candidate=candidate,
        source=source,
        reference=first.get("reference"),
        **named,
        comment=" ".join(comments),
        extra={**numbers, **shared},
    )


def _spans(row: Row, candidate: str, source: str, more: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the places of an error; in a text that is not that of the other rows of the rating it has none."""
    own, of_source, spans = marked_span(
        row["target"], row["source"], severity=row["severity"].strip().lower(), category=row["category"]
    )
    elsewhere = {"start": None, "end": None} if own != candidate else {}
    left_out = () if of_source == source else ("sourceStart", "sourceEnd")
    for span in spans:
        yield {name: value for name, value in span.items() if name not in left_out} | elsewhere | dict(more)


def _languages(row: Row) -> dict[str, str]:
    source, target = row.get("source_lang"), row.get("target_lang")
    if not source or not target:
        return {}
    return {"language": language_of(target), "languagePair": f"{language_of(source)}-{language_of(target)}"}
