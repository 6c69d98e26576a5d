"""Read the rows of tables as text: fields separated by commas, semicolons, tabs or bars."""

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from polyjudge.errors import DataError, DuplicateKeyError
from polyjudge.files.json_lines import START, Mark, lines_from

from .columns import TableOptions

_LONGEST_FIELD = 100_000_000
_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(r"\ufeff?sep=(.)\r?\n", re.IGNORECASE)
"""The line that names the delimiter for Excel."""
_SAMPLE_LINES = 50
_SAMPLE_RECORDS = 20


def separated_rows(
    path: Path, start: Mark, options: TableOptions
) -> Iterator[tuple[int, Mapping[str, str] | str, int]]:
    """Yield the rows of a file of separated values from a position."""
    csv.field_size_limit(min(_LONGEST_FIELD, sys.maxsize))
    delimiter, first = _delimiter(path, options)
    line, place, lines = first.line, first, _lines_after(path, first, options)
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = next(records, list[str]())
        line = first.line + records.line_num
        check_columns(names if options.header else (), path, line)
        if not options.header:
            names = [str(number) for number, _ in enumerate(names, start=1)]
        # The reader of the header continues if nothing is skipped.
        if start != START or not options.header:
            place = start if start != START else first
            line, lines = place.line, _lines_after(path, place, options)
            records = csv.reader(lines, delimiter=delimiter, strict=True)
        before, count, some_fit, rows = place.line, len(names), start != START, 0
        for fields in records:
            if fields and (fields[0] or any(fields)):  # not a blank line
                fits = len(fields) == count
                problem = "" if fits else f"expected {count} fields, found {len(fields)}"
                row = problem or dict(zip(names, fields, strict=False))
                line, rows, some_fit = before + records.line_num, rows + 1, some_fit or fits
                yield line, row, lines.offset
        if rows > 1 and not some_fit:
            raise DataError(f"no row fits the header: expected {count} fields: {', '.join(names)}", path=path)
    except csv.Error as error:
        end = place.line + records.line_num
        where = f", up to line {end}. Is a quotation mark not closed?" if end > line + 1 else ""
        raise DataError(f"invalid row: {error}{where}", path=path, line=line + 1) from None


def check_columns(names: Iterable[str], path: Path, line: int = 0) -> None:
    """Raise DuplicateKeyError if two columns have the same name; columns without a name are ignored."""
    seen: set[str] = set()
    for name in names:
        if "\0" in name:
            message = (
                "the header contains null characters; the file may be UTF-16 without a byte order mark. Give its "
                "encoding"
            )
            raise DataError(message, path=path, line=line, option="encoding", value="utf-16-le")
        if name in seen:
            raise DuplicateKeyError(f"duplicate column {name!r}; remove or rename one of the two", path=path, line=line)
        if name:
            seen.add(name)


def _delimiter(path: Path, options: TableOptions) -> tuple[str, Mark]:
    """Return the delimiter of a file, and where its first record starts.

    It is the one that the first line names for Excel, else the one that splits the first records most evenly.
    """
    sample = [text for text, _ in islice(lines_from(path, 0, options.encoding), _SAMPLE_LINES)]
    named = _NAMED_DELIMITER.fullmatch(sample[0]) if sample else None
    if named is not None:
        return named[1], Mark(1)
    usual = "\t" if path.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".tsv") else ","
    ordered = sorted(_DELIMITERS, key=lambda each: each != usual)
    return max(ordered, key=lambda each: _evenness(sample, each)), START


def _evenness(sample: Sequence[str], delimiter: str) -> tuple[bool, float, int]:
    """Return how well a delimiter fits: more than one column, the share of records as long as the first, columns."""
    records: list[int] = []
    with suppress(csv.Error):  # which is reported when the row is read
        for fields in islice(csv.reader(sample, delimiter=delimiter), _SAMPLE_RECORDS):
            records += [len(fields)] if fields else []
    if not records:
        return False, 0.0, 0
    return records[0] > 1, sum(each == records[0] for each in records) / len(records), records[0]


class _Lines:
    """The lines of a file for the csv module, and the offset of the last one read."""

    def __init__(self, path: Path, offset: int, encoding: str) -> None:
        self.offset = offset
        self._lines = lines_from(path, offset, encoding)

    def __iter__(self) -> Iterator[str]:
        for text, end in self._lines:
            self.offset = end
            yield text

    def skip(self, count: int) -> None:
        """Skip some lines."""
        for _, end in islice(self._lines, count):
            self.offset = end


def _lines_after(path: Path, place: Mark, options: TableOptions) -> _Lines:
    """Return the lines after a position; without an offset, its lines are counted."""
    lines = _Lines(path, place.offset, options.encoding)
    if not place.offset:
        lines.skip(place.line)
    return lines
