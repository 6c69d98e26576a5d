"""Write error spans as the tools of people's annotations store them: MQM tables, Appraise/ESA tables, Pearmut lines."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import row_line
from polyjudge.languages.table import language_table

from .annotations import pair_in_name
from .columns import Row
from .converting import RowsToConvert
from .error_spans import mqm_score

_MQM_COLUMNS = ("system", "doc", "seg_id", "rater", "source", "target", "category", "severity", "comment")
_SIMPLE_PAIR = re.compile(r"[a-z]{2}-[a-z]{2}|[a-z]{3}-[a-z]{3}")
_NO_ERROR = {"category": "No-error", "severity": "No-error"}
_UNKNOWN_SOURCE, _UNKNOWN_TARGET = "und", "und"
_OMITTED = "missing"


@dataclass(slots=True)
class _Written:
    """What could not be written, by the reason."""

    reasons: dict[str, int] = field(default_factory=dict[str, int])
    count: int = 0

    def leave_out(self, reason: str) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def notes(self, path: Path) -> list[str]:
        if not self.count:
            why = "; ".join(self.reasons)
            raise DataError(
                f"no row has error spans that can be written in this format{f': {why}' if why else ''}", path=path
            )
        return [f"left out: {count:,} rows, {reason}" for reason, count in self.reasons.items()]


def write_annotations(rows: RowsToConvert, output: Path, form: str, *, force: bool = False) -> list[str]:
    """Write the rows that have error spans; return notes about what was left out."""
    written = _Written()
    ANNOTATION_FORMATS[form](rows, output, force, written)
    return written.notes(rows.path)


def _annotated(rows: RowsToConvert, written: _Written) -> Iterator[tuple[Row, list[dict[str, Any]]]]:
    """Yield each row that was annotated, with its spans; a result without a list of them has no errors."""
    for row in rows:
        given = row.get("spans")
        if isinstance(given, list):
            found = (_span(cast(Row, each)) for each in cast(list[object], given) if isinstance(each, Mapping))
            yield row, [span for span in found if span is not None]
        elif row.get("outcome") == "result" and row.get("spans") is None:
            yield row, []
        else:
            written.leave_out("without a list of error spans")


def _span(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a span with its place in the source apart; None for one that was refused or rejected."""
    if given.get("refusal") or given.get("state") == "rejected":
        return None
    span = dict(given)
    if span.pop("side", "output") == "source":
        span |= {"sourceStart": given.get("start"), "sourceEnd": given.get("end"), "sourceText": given.get("text")}
        span |= {"start": None, "end": None}
    return span


def _texts(row: Row, *names: str) -> list[str]:
    return ["" if row.get(name) is None else str(row[name]) for name in names]


def _annotator(row: Row) -> str:
    origin = row.get("provenance")
    if row.get("annotator") not in (None, "") or not isinstance(origin, Mapping):
        return str(row.get("annotator") or "")
    return str(cast(Mapping[str, Any], origin).get("model") or "")


def _languages(row: Row) -> tuple[str, str]:
    """Return the languages of the source and of the text."""
    first, _, second = str(row.get("languagePair") or "").partition("-")
    return first or _UNKNOWN_SOURCE, second or str(row.get("language") or _UNKNOWN_TARGET)


def _extra(row: Row) -> Mapping[str, Any]:
    given = row.get("extra")
    return cast(Mapping[str, Any], given) if isinstance(given, Mapping) else {}


# MQM


def _write_mqm(rows: RowsToConvert, output: Path, force: bool, written: _Written) -> None:
    """Write a table with a row for each error, whose words are between `<v>` and `</v>`."""
    named = "-".join(pair_in_name(output)).strip("-")
    more: dict[str, None] = {}
    for row, spans in _annotated(rows, _Written()):
        pair = str(row.get("languagePair") or "")
        if _SIMPLE_PAIR.fullmatch(pair) and pair != named:
            message = f"the languages {pair} must be in the name of an MQM table; give a name such as"
            raise DataError(f"{message} {pair}.mqm.tsv", path=output)
        more.update((name, None) for each in (row, *spans) for name in _texts_beside(each))
    columns = (*_MQM_COLUMNS, *(name for name in more if name not in _MQM_COLUMNS))
    with write_atomically(output, force=force) as file:
        file.write("\t".join(columns) + "\n")
        for row, spans in _annotated(rows, written):
            lines = list(_mqm_lines(row, spans, named))
            fields = [[line.get(name, "") for name in columns] for line in lines]
            if not isinstance(row.get("candidate"), str):
                written.leave_out("without the text that was judged")
            elif any(mark in each for line in fields for each in line for mark in "\t\r\n"):
                written.leave_out("with a tab or a line break, which this format cannot have")
            elif any("<v>" in text or "</v>" in text for text in _texts(row, "candidate", "source")):
                written.leave_out("with <v> or </v> in a text, which marks errors there")
            else:
                written.count += 1
                file.writelines("\t".join(line) + "\n" for line in fields)
        _refuse_nothing(written, rows)


def _refuse_nothing(written: _Written, rows: RowsToConvert) -> None:
    """Raise DataError before an empty file replaces another one."""
    if not written.count:
        written.notes(rows.path)


def _mqm_lines(row: Row, spans: list[dict[str, Any]], pair: str) -> Iterator[dict[str, str]]:
    system, doc, seg, source, target = _texts(row, "system", "document", "id", "source", "candidate")
    extra = _texts_beside(row)
    seg = seg.removeprefix(f"{pair}/") if pair else seg
    own = {**extra, "system": system, "doc": doc, "seg_id": seg, "rater": _annotator(row)}
    comment = str(row.get("comment") or "")
    if not spans or comment:
        yield {**own, "source": source, "target": target, "comment": comment, **_NO_ERROR}
    for span, *others in _errors(spans):
        places = (span, *others)
        yield {
            **own,
            **_texts_beside(span),
            "source": _between(source, [(each.get("sourceStart"), each.get("sourceEnd")) for each in places]),
            "target": _between(target, [(each.get("start"), each.get("end")) for each in places]),
            "category": str(span.get("category") or ""),
            "severity": str(span.get("severity") or "").capitalize(),
            "comment": _comment(span),
        }


def _comment(span: Mapping[str, Any]) -> str:
    """Return what was said of an error on one line: its explanation, and what should be there instead."""
    if span.get("comment"):
        return str(span["comment"])
    correction = str(span.get("correction") or "")
    parts = [str(span.get("explanation") or ""), f"correction: {correction}" if correction else ""]
    return re.sub(r"[\t\r\n]+", " ", "; ".join(filter(None, parts)))


def _errors(spans: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the spans of each error: one, or one for each of its places."""
    found: list[list[dict[str, Any]]] = []
    for span in spans:
        if span.get("continues") is True and found:
            found[-1].append(span)
        else:
            found.append([span])
    return found


def _texts_beside(given: Row) -> dict[str, str]:
    """Return the texts of a row or span that have no column of their own."""
    return {name: value for name, value in _extra(given).items() if isinstance(value, str)}


def _between(text: str, places: list[tuple[object, object]]) -> str:
    """Return a text with the marks of an error at its places."""
    for start, end in reversed(places):
        if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= len(text):
            text = f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
    return text


# Appraise


def _write_appraise(rows: RowsToConvert, output: Path, force: bool, written: _Written) -> None:
    """Write a table without a header, in which the end of a span is its last character."""
    of_spans = all(
        row.get("labelFrom") == "spans" or (_label(row) or 0) == mqm_score(spans)
        for row, spans in _annotated(rows, _Written())
    )
    with write_atomically(output, force=force) as file:
        table = csv.writer(file, lineterminator="\n")
        for row, spans in _annotated(rows, written):
            label = _label(row)
            system, document = _texts(row, "system", "document")
            if label is None:
                written.leave_out("without a score")
            elif label < 0 and not of_spans:
                written.leave_out("with a score below 0")
            elif "#" in document + system or "-tutorial" in document:
                written.leave_out("with # or -tutorial in the name of the document or system")
            else:
                written.count += 1
                table.writerow(_appraise_fields(row, spans, 0 if of_spans else label, written.count))
        _refuse_nothing(written, rows)


def _label(row: Row) -> float | None:
    given = row.get("label", row.get("score"))
    return given if isinstance(given, int | float) and not isinstance(given, bool) else None


def _appraise_fields(row: Row, spans: list[dict[str, Any]], score: float, number: int) -> list[object]:
    extra, (system, document, name) = _extra(row), _texts(row, "system", "document", "id")
    own = name.removeprefix(f"{document}/") if document else name
    is_number = own.isascii() and own.isdecimal()
    index = own if is_number else number
    where = document if document and is_number else name
    kind = extra.get("type") if extra.get("type") in ("TGT", "REF") else "TGT"
    marks = [{**_inclusive(span), "error_type": span.get("category")} for span in spans]
    times = [extra.get(each) or 0.0 for each in ("started", "ended")]
    where = f"{where}#{system}" if system else where
    long_name = _unquoted(str(extra.get("system") or system or "system"))
    person, languages = _unquoted(_annotator(row) or "annotator"), map(_three_letters, _languages(row))
    return [person, long_name, index, kind, *languages, f"{score:.10g}", where, *_done(extra), _json_of(marks), *times]


def _done(extra: Mapping[str, Any]) -> list[str]:
    return [str(extra.get("complete") or "True")]


def _unquoted(name: str) -> str:
    """Return a name without what would need quotation marks, by which such a table is not recognised."""
    return " ".join(re.sub(r'[,"\r\n]', " ", name).split())


def _three_letters(tag: str) -> str:
    """Return the code of a language as Appraise has it, `deu` for `de`."""
    known = language_table().find(tag) if len(tag) == 2 else None
    return next((name for name in known.aliases if len(name) == 3), tag) if known is not None else tag


def _json_of(marks: list[dict[str, Any]]) -> str:
    """Return spans as JSON on one line."""
    return row_line({"spans": marks}).strip()[len('{"spans": ') : -1]


def _inclusive(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return a span as Appraise and Pearmut have it; one without a place is `missing`."""
    own = ("start", "end", "text", "category")
    start, end = span.get("start"), span.get("end")
    placed = isinstance(start, int) and isinstance(end, int)
    place = {"start_i": start if placed else _OMITTED, "end_i": cast(int, end) - 1 if placed else _OMITTED}
    return {**{name: value for name, value in span.items() if name not in own}, **place}


# Pearmut


def _write_pearmut(rows: RowsToConvert, output: Path, force: bool, written: _Written) -> None:
    """Write a line for each person and item, with the texts and ratings of all systems."""
    with write_atomically(output, force=force) as file:
        lines: dict[object, dict[str, Any]] = {}
        for row, spans in _annotated(rows, written):
            if not isinstance(row.get("candidate"), str):
                written.leave_out("without the text that was judged")
                continue
            written.count += 1
            _add_to(lines, row, spans)
        file.writelines(map(row_line, lines.values()))
        _refuse_nothing(written, rows)


def _add_to(lines: dict[object, dict[str, Any]], row: Row, spans: list[dict[str, Any]]) -> None:
    extra, (name, system) = _extra(row), _texts(row, "id", "system")
    person, number = _annotator(row), extra.get("item_i", name)
    line = lines.setdefault((person, str(number)), {"user_id": person, "item_i": number, "item": [], "annotation": []})
    place = next(
        (at for at, item in enumerate(line["item"]) if item["item_id"] == name and system not in item["tgt"]), None
    )
    if place is None:
        named = {each: row[each] for each in ("language", "languagePair", "document") if row.get(each)}
        shared = {each: value for each, value in extra.items() if each != "item_i"}
        line["item"].append({**shared, **named, "item_id": name, "src": row.get("source"), "tgt": {}})
        line["annotation"].append({})
        place = len(line["item"]) - 1
    line["item"][place]["tgt"][system] = row["candidate"]
    marks = [{**_inclusive(span), "category": span.get("category")} for span in spans]
    score = None if row.get("labelFrom") == "spans" else _label(row)
    line["annotation"][place][system] = {"score": score, "error_spans": marks}


ANNOTATION_FORMATS: Mapping[str, Callable[[RowsToConvert, Path, bool, _Written], None]] = {
    "mqm": _write_mqm,
    "esa": _write_appraise,
    "pearmut": _write_pearmut,
}
"""By name, what writes rows with error spans."""
