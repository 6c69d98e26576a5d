"""Read and write folders in the layout of mt-metrics-eval: texts, scores of metrics, and ratings of people."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import lines_from
from polyjudge.files.spill import open_scratch
from polyjudge.records.outcomes import SCHEMA_VERSION

from .annotations import language_of
from .converting import RowsToConvert
from .error_spans import mqm_score
from .metrics_files import SEGMENT_SCORES, system_scores
from .tools import ToolRows

_UNKNOWN_SOURCE = "xx"
_PEOPLE, _JUDGE = "people", "score"
_UNSAFE = re.compile(r"[^\w.+-]+")
_RATINGS = ".seg.rating"


def metrics_folder(path: Path) -> ToolRows:
    """Yield the rows of a folder: a row for each segment and system, with the scores of metrics as sub-scores.

    The ratings of people are in `labels` by their name; `label` is the only one. The score of a metric is in
    `subscores`; `score` is the only one.
    """
    outputs = set(path.glob("system-outputs/*/*.txt"))
    scores = sorted((*path.glob("human-scores/*.seg.score"), *path.glob("metric-scores/*/*.seg.score")))
    pairs = sorted({file.parent.name for file in outputs} | {_pair_of(file) for file in scores})
    number = 0
    for pair in pairs:
        for row in _of_pair(path, pair, [file for file in scores if _pair_of(file) == pair]):
            number += 1
            yield number, row


def _pair_of(file: Path) -> str:
    return file.name.partition(".")[0] if file.parent.name == "human-scores" else file.parent.name


def _of_pair(path: Path, pair: str, files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    by_system: dict[str, dict[str, dict[str, list[float | None]]]] = {}
    for file in files:
        kind = "labels" if file.parent.name == "human-scores" else "subscores"
        name = file.name.removesuffix(SEGMENT_SCORES).removeprefix(f"{pair}.")
        for each in system_scores(file):
            value = _score(each.score, file, each.line)
            by_system.setdefault(each.system, {}).setdefault(kind, {}).setdefault(name, []).append(value)
    texts = {file.stem: file for file in sorted(path.glob(f"system-outputs/{pair}/*.txt"))}
    shared = {
        "source": _texts(path / "sources" / f"{pair}.txt"),
        "reference": _texts(next(iter(sorted(path.glob(f"references/{pair}.*.txt"))), path / "none")),
        "document": _texts(path / "documents" / f"{pair}.docs"),
    }
    target = language_of(pair.partition("-")[2])
    outputs = {system: _texts(file) for system, file in texts.items()}
    lengths = {f"the {name}s": len(each) for name, each in shared.items()}
    lengths |= {f"the output of {system}": len(each) for system, each in outputs.items()}
    for system, kinds in by_system.items():
        names = ((name, values) for kind in kinds.values() for name, values in kind.items())
        lengths |= {f"{name} of {system}": len(values) for name, values in names}
    _refuse_other_lengths(path, pair, lengths)
    for system in sorted({*outputs, *by_system}):
        own = {**shared, "candidate": outputs.get(system, [])}
        scores = by_system.get(system, {})
        for place in range(max(lengths.values())):
            row: dict[str, Any] = {"schemaVersion": SCHEMA_VERSION, "id": f"{pair}/{place + 1}", "system": system}
            row |= {"language": target, "languagePair": pair}
            row |= {name: values[place] for name, values in own.items() if place < len(values) and values[place]}
            domain, tab, document = str(row.get("document") or "").partition("\t")
            row |= {"domain": domain, "document": document} if tab else {}
            yield row | _ratings(scores, place)


def _score(text: str, file: Path, line: int) -> float | None:
    try:
        return None if text.strip() == "None" else float(text)
    except ValueError:
        message = f"invalid score {text[:40]!r}; expected a number or None"
        raise DataError(message, path=file, line=line) from None


def _refuse_other_lengths(path: Path, pair: str, lengths: Mapping[str, int]) -> None:
    """Raise DataError if a file has more or fewer segments than most: its lines belong to others then."""
    counts = Counter(count for count in lengths.values() if count)
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    for name, count in lengths.items():
        if count not in (0, usual):
            message = (
                f"{pair}: {name} has {count:,} segments, other files have {usual:,}; they would not be the same ones"
            )
            raise DataError(message, path=path)


def _ratings(scores: Mapping[str, Mapping[str, list[float | None]]], place: int) -> dict[str, Any]:
    """Return the labels and sub-scores of a segment, and the only one of each by its usual name."""
    found: dict[str, Any] = {"extra": {}}
    for kind, only in (("labels", "label"), ("subscores", "score")):
        by_name = {name: values[place] for name, values in scores.get(kind, {}).items() if place < len(values)}
        if by_name:
            found[kind] = {name: number for name, number in by_name.items() if number is not None}
        if len(by_name) == 1:
            found[only] = next(iter(by_name.values()))
    return found


def _texts(file: Path) -> list[str]:
    return [text.rstrip("\r\n") for text, _ in lines_from(file)] if file.is_file() else []


_SCHEMA = """
CREATE TABLE segments (
    pair TEXT, id TEXT, place INTEGER, number INTEGER, document TEXT, source TEXT, reference TEXT,
    PRIMARY KEY (pair, id)
);
CREATE TABLE outputs (pair TEXT, id TEXT, system TEXT, candidate TEXT, PRIMARY KEY (pair, system, id)) WITHOUT ROWID;
CREATE TABLE ratings (
    pair TEXT, id TEXT, system TEXT, kind TEXT, name TEXT, annotator TEXT, value REAL, errors TEXT,
    PRIMARY KEY (pair, kind, name, annotator, system, id)
) WITHOUT ROWID
"""


def write_metrics_folder(rows: RowsToConvert, output: Path, *, force: bool = False) -> list[str]:
    """Write a folder in the layout of mt-metrics-eval; return notes about what could not be kept.

    Segments are numbered as their ids say, such as `en-de/7`, else in the order of the rows.
    """
    if output.exists() and not output.is_dir():
        raise DataError("this is a file; give a folder", path=output)
    if output.is_dir() and any(output.iterdir()) and not force:
        raise DataError(
            "the folder is not empty; give another one, or allow files in it to be replaced",
            path=output,
            option="force",
        )
    folder = _Folder()
    for row in rows:
        folder.add(row)
    if not rows.count:
        raise DataError(f"no rows found{f': {rows.problems[0]}' if rows.problems else ''}", path=rows.path)
    return folder.write(output, force=force)


class _Folder:
    """The rows to write, kept on disk if there are many."""

    def __init__(self) -> None:
        self._scratch: sqlite3.Connection = open_scratch(self, "PRAGMA encoding = 'UTF-8'")
        for statement in _SCHEMA.split(";"):
            self._scratch.execute(statement)
        self._counts: Counter[str] = Counter()
        self._broken = self._unnamed = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row; one that names no system is counted as of the system `system`."""
        target = str(row.get("language") or "xx")
        pair = str(row.get("languagePair") or f"{_UNKNOWN_SOURCE}-{target}").replace("/", "_")
        own, system = str(row.get("id") or ""), str(row.get("system") or "system")
        self._unnamed += not row.get("system")
        head, _, number = own.rpartition("/")
        numbered = int(number) if head == pair and number.isdecimal() else None
        document = f"{row.get('domain') or 'all'}\t{row.get('document') or row.get('cluster') or 'all'}"
        texts = [self._line(row.get(name)) for name in ("source", "reference")]
        values = (pair, own, self._counts[pair] + 1, numbered, document, *texts)
        added = self._scratch.execute("INSERT OR IGNORE INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        self._counts[pair] += added.rowcount == 1
        if isinstance(row.get("candidate"), str):
            line = self._line(row["candidate"])
            self._scratch.execute("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?)", (pair, own, system, line))
        for kind, name, annotator, value, errors in _values(row):
            rating = (pair, own, system, kind, name, annotator, value, errors)
            self._scratch.execute("INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rating)

    def _line(self, text: object) -> str:
        """Return a text as one line."""
        given = str(text) if text is not None else ""
        line = " ".join(given.splitlines())
        self._broken += line != given
        return line

    def write(self, output: Path, *, force: bool) -> list[str]:
        """Write the files."""
        for (pair,) in self._scratch.execute("SELECT DISTINCT pair FROM segments ORDER BY pair").fetchall():
            unnumbered = "SELECT COUNT(*) FROM segments WHERE pair = ? AND number IS NULL"
            if self._scratch.execute(unnumbered, (pair,)).fetchone()[0] == 0:
                self._scratch.execute("UPDATE segments SET place = number WHERE pair = ?", (pair,))
            for file, lines in self._files(pair):
                with write_atomically(output / file, force=force) as written:
                    written.writelines(f"{line}\n" for line in lines)
        notes = [f"line breaks in {self._broken} texts became spaces"] if self._broken else []
        return [*notes, *([f"{self._unnamed} rows name no system: it is 'system'"] if self._unnamed else [])]

    def _files(self, pair: str) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield the name of each file of a language pair, and its lines."""
        count = self._scratch.execute("SELECT MAX(place) FROM segments WHERE pair = ?", (pair,)).fetchone()[0]
        for column, file in (
            ("document", f"documents/{pair}.docs"),
            ("source", f"sources/{pair}.txt"),
            ("reference", f"references/{pair}.refA.txt"),
        ):
            query = f"SELECT place, {column} FROM segments WHERE pair = ? ORDER BY place"
            any_text = f"SELECT 1 FROM segments WHERE pair = ? AND {column} <> '' LIMIT 1"
            if self._scratch.execute(any_text, (pair,)).fetchone():
                yield file, _filled(self._scratch.execute(query, (pair,)), count, "")
        named = "SELECT DISTINCT system FROM outputs WHERE pair = ? ORDER BY system"
        for (system,) in self._scratch.execute(named, (pair,)).fetchall():
            query = (
                "SELECT place, candidate FROM segments JOIN outputs USING (pair, id) "
                "WHERE pair = ? AND system = ? ORDER BY place"
            )
            lines = _filled(self._scratch.execute(query, (pair, system)), count, "")
            yield f"system-outputs/{pair}/{_safe(system)}.txt", lines
        yield from self._scores(pair, count)

    def _scores(self, pair: str, count: int) -> Iterator[tuple[str, Iterator[str]]]:
        query = "SELECT DISTINCT kind, name FROM ratings WHERE pair = ? ORDER BY kind, name"
        for kind, name in self._scratch.execute(query, (pair,)).fetchall():
            is_label = kind == "label"
            file = f"human-scores/{pair}.{_safe(name)}" if is_label else f"metric-scores/{pair}/{_safe(name)}"
            yield f"{file}{SEGMENT_SCORES}", self._values(pair, kind, name, count)
        query = (
            "SELECT DISTINCT name, annotator FROM ratings WHERE pair = ? AND errors IS NOT NULL AND kind = 'label' "
            "ORDER BY name, annotator"
        )
        for name, annotator in self._scratch.execute(query, (pair,)).fetchall():
            file = f"human-scores/{pair}.{_safe(name)}.{_safe(annotator or 'rater')}{_RATINGS}"
            yield file, self._errors(pair, name, annotator, count)

    def _values(self, pair: str, kind: str, name: str, count: int) -> Iterator[str]:
        """Yield the lines of a file of scores: the mean of several people."""
        query = (
            "SELECT place, AVG(value) FROM segments JOIN ratings USING (pair, id) "
            "WHERE pair = ? AND kind = ? AND name = ? AND system = ? GROUP BY place ORDER BY place"
        )
        for system in self._systems(pair, kind, name):
            found = self._scratch.execute(query, (pair, kind, name, system))
            yield from (f"{system}\t{value}" for value in _filled(found, count, "None"))

    def _errors(self, pair: str, name: str, annotator: str, count: int) -> Iterator[str]:
        query = (
            "SELECT place, errors FROM segments JOIN ratings USING (pair, id) WHERE pair = ? AND kind = 'label' "
            "AND name = ? AND annotator = ? AND system = ? ORDER BY place"
        )
        for system in self._systems(pair, "label", name):
            found = self._scratch.execute(query, (pair, name, annotator, system))
            yield from (f"{system}\t{errors}" for errors in _filled(found, count, "None"))

    def _systems(self, pair: str, kind: str, name: str) -> list[str]:
        query = "SELECT DISTINCT system FROM ratings WHERE pair = ? AND kind = ? AND name = ? ORDER BY system"
        return [system for (system,) in self._scratch.execute(query, (pair, kind, name)).fetchall()]


def _values(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str, float | None, str | None]]:
    """Yield the kind, name, annotator, number and error spans of each rating in a row."""
    annotator, spans = str(row.get("annotator") or ""), row.get("spans")
    labels, scores = row.get("labels"), row.get("subscores")
    label = _number(row.get("label"))
    errors = _errors_of(cast(list[object], spans)) if isinstance(spans, list) and label is not None else None
    if isinstance(labels, Mapping):
        for name, value in cast(Mapping[str, object], labels).items():
            yield "label", name, "", _number(value), None
    elif "label" in row:
        yield "label", _PEOPLE, annotator, label, errors
    if isinstance(scores, Mapping) and scores:
        for name, value in cast(Mapping[str, object], scores).items():
            yield "score", name, "", _number(value), None
    elif "score" in row:
        yield "score", _JUDGE, "", _number(row.get("score")), None


def _errors_of(spans: list[object]) -> str:
    """Return error spans as mt-metrics-eval stores them, whose ends are exclusive too; what is no span is left out."""
    errors: list[dict[str, object]] = []
    for span in (cast(Mapping[str, Any], each) for each in spans if isinstance(each, Mapping)):
        in_source = "sourceStart" in span
        start, end = ("sourceStart", "sourceEnd") if in_source else ("start", "end")
        category, severity = str(span.get("category") or ""), str(span.get("severity") or "")
        places = {"start": span.get(start), "end": span.get(end), "category": category, "severity": severity}
        score = span.get("score", -mqm_score([span]))
        errors.append({**places, "score": score, "is_source_error": in_source})
    return json.dumps({"errors": errors}, ensure_ascii=False)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name) or "_"


def _filled(found: Iterable[tuple[int, object]], count: int, missing: str) -> Iterator[str]:
    """Yield the value of each place from 1 to the count; places without one have `missing`."""
    expected = 1
    for place, value in found:
        yield from (missing for _ in range(expected, place))
        yield missing if value is None else str(value)
        expected = place + 1
    yield from (missing for _ in range(expected, count + 1))
