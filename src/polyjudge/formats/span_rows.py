"""Read annotations of error spans: by people, by judges, by polyjudge, from any file of rows."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.codec import from_json
from polyjudge.records.spans import VERIFICATION, annotator_name
from polyjudge.statistics.span_matching import IN_SOURCE, Mark, SpanAnnotation
from polyjudge.store.labels import newest_rows
from polyjudge.text.quotes import locate

from .annotations import language_of
from .columns import AS_IT_IS, Row, TableOptions
from .items import CLUSTER_COLUMNS
from .row_files import column_map, named_rows_of

MOST_SPANS = 2_000
"""Spans in one annotation; more are refused."""
NO_PLACE = "without a place"
_MAX_PROBLEMS_SHOWN = 5
_OWN_FIELDS = ("annotator", "spans", "members", "provenance", "score", "outcome")
"""What each member of a jury has of its own."""
_JUDGE_FIELDS = ("provider", "model", "rubric", "rubricFingerprint", "modelAnswered")


@dataclass(slots=True)
class SpanAnnotations:
    """The annotations of some files, with what was refused."""

    annotations: list[SpanAnnotation] = field(default_factory=list[SpanAnnotation])
    refused: Counter[str] = field(default_factory=Counter[str])
    """Spans by the reason why they are not compared."""
    methods: Counter[str] = field(default_factory=Counter[str])
    """Spans by how they were found: given, or by their quote."""
    no_verdict: int = 0
    problems: list[str] = field(default_factory=list[str])
    skipped: int = 0
    judges: dict[str, JudgeIdentity] = field(default_factory=dict[str, JudgeIdentity])
    """The judges that rows name, by annotator."""

    def note(self, problem: str) -> None:
        """Count an invalid row."""
        self.skipped += 1
        if len(self.problems) < _MAX_PROBLEMS_SHOWN:
            self.problems.append(problem)


def read_spans(
    path: Path, table: TableOptions = AS_IT_IS, into: SpanAnnotations | None = None, *, members: bool = False
) -> SpanAnnotations:
    """Read the annotations of a file; of several by the same annotator of the same text, all are returned.

    `members`: a result of a jury, or of a judge that was asked repeatedly, is read as those of its members.
    """
    found = SpanAnnotations() if into is None else into
    makes_ids = column_map(path, table).makes_ids
    given = newest_rows(named_rows_of(path, table))
    for place, row in ((at, part) for at, whole in given for part in (_members(whole) if members else [whole])):
        if isinstance(row, str):
            found.note(f"{place}: {row}")
        elif row.get("outcome") == "failure" or _is_unrated(row):
            found.no_verdict += 1
        else:
            annotation = _of_row(row, found, makes_ids=makes_ids)
            if isinstance(annotation, str):
                found.note(f"{place}: {annotation}")
            else:
                found.annotations.append(annotation)
    return found


def _members(row: Row | str) -> list[Row | str]:
    """Return the results of the members of a jury as rows of the same text; the row itself if it has none."""
    given = None if isinstance(row, str) else row.get("members")
    if isinstance(row, str) or not isinstance(given, list):
        return [row]
    own: list[Row] = [cast(Row, each) for each in cast(list[object], given) if _is_member(each)]
    shared = {name: value for name, value in row.items() if name not in _OWN_FIELDS}
    return [part for each in own for part in _members({**shared, **each, "outcome": _kind_of(each)})] or [row]


def _is_member(given: object) -> bool:
    """Return whether this is a result or failure of a member, not of the second judge, who only confirms."""
    origin = cast(Row, given).get("provenance") if isinstance(given, Mapping) else None
    return isinstance(origin, Mapping) and cast(Row, origin).get("rubric") != VERIFICATION


def _kind_of(member: Row) -> str:
    return "result" if "score" in member else "failure"


def _of_row(row: Row, notes: SpanAnnotations, *, makes_ids: bool) -> SpanAnnotation | str:
    spans = _listed(row)
    if spans is None and row.get("outcome") == "result":  # a result leaves out an empty list
        spans = []
    if spans is None:
        return "no list of spans in the column 'spans'"
    pair = _text(row.get("languagePair") or row.get("pair") or row.get("lp"))
    language = _text(row.get("language") or row.get("languageCode")) or language_of(pair.partition("-")[2])
    candidate, source = _text(row.get("candidate")), _text(row.get("source"))
    own_id = "" if makes_ids else _text(row.get("id"))
    marks, without_place = _marks(spans, candidate, source, notes)
    return SpanAnnotation(
        annotator=_annotator(row, notes),
        id=_text(row.get("id")),
        pair=pair,
        unit=_unit(pair or language, _text(row.get("segment")) or own_id),
        system="".join(filter(str.isalnum, _text(row.get("system")).casefold())),
        source=source,
        candidate=candidate,
        language=language,
        cluster=next((_text(row[name]) for name in (*CLUSTER_COLUMNS, "doc") if row.get(name) not in (None, "")), ""),
        marks=tuple(marks),
        without_place=tuple(without_place),
    )


def _unit(prefix: str, name: str) -> str:
    return name if not name or name.startswith(f"{prefix}|") else f"{prefix}|{name}"


def _is_unrated(row: Row) -> bool:
    """Return whether a row of ratings has no rating, which is not the same as no error."""
    return "label" in row and row["label"] is None and not row.get("spans")


def _listed(row: Row) -> list[object] | None:
    given = row.get("spans")
    return cast(list[object], given) if isinstance(given, list) else None


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _annotator(row: Row, notes: SpanAnnotations) -> str:
    """Return who made an annotation: the person, or the judge and the number of its repeat."""
    origin = row.get("provenance")
    if row.get("annotator") not in (None, "") or not isinstance(origin, Mapping):
        return _text(row.get("annotator"))
    given = cast(Mapping[str, Any], origin)
    repeat = given.get("repeat")
    name = annotator_name(str(given.get("provider")), str(given.get("model")), repeat if isinstance(repeat, int) else 0)
    if name not in notes.judges:
        notes.judges[name] = from_json(JudgeIdentity, {key: given[key] for key in _JUDGE_FIELDS if given.get(key)})
    return name


def _marks(spans: list[object], candidate: str, source: str, notes: SpanAnnotations) -> tuple[list[Mark], list[Mark]]:
    if len(spans) > MOST_SPANS:
        notes.refused["too many"] += len(spans)
        return [], []
    marks, without_place = list[Mark](), list[Mark]()
    for span in spans:
        found = _mark(cast(Row, span), candidate, source, notes) if isinstance(span, Mapping) else "not a span"
        if isinstance(found, str):
            notes.refused[found] += 1
        elif found.start < 0:
            without_place.append(found)
            notes.refused[NO_PLACE] += 1
        else:
            marks.append(found)
    return marks, without_place


def _mark(span: Row, candidate: str, source: str, notes: SpanAnnotations) -> Mark | str:
    """Return a span at its place, or why it has none; a place without a text counts as it is given."""
    if span.get("state") == "rejected":
        return "rejected"
    if span.get("refusal"):
        return _text(span["refusal"])
    in_source = span.get("side") == "source" or "sourceStart" in span
    start, end = (
        (span.get("sourceStart", span.get("start")), span.get("sourceEnd", span.get("end")))
        if in_source
        else (
            span.get("start"),
            span.get("end"),
        )
    )
    severity, category = _text(span.get("severity")).strip().casefold(), _text(span.get("category"))
    said = _text(span.get("explanation"))
    text, other = (source, candidate) if in_source else (candidate, source)
    quote = _text(span.get("sourceText") if "sourceStart" in span else span.get("text"))
    if not _is_place(start, end):
        return Mark(-1, -1, severity, category, said) if start is None and end is None else "not a span"
    first, last = cast(int, start), cast(int, end)
    method = "given"
    if text and quote and text[first:last] != quote:
        located = locate(quote, text, other=other, near=first)
        if located.start is None or located.end is None:
            return located.refusal
        first, last, method = located.start, located.end, located.method
    elif text and last > len(text):
        return "not in the text"
    notes.methods[method] += 1
    shift = IN_SOURCE if in_source else 0
    return Mark(first + shift, last + shift, severity, category, said)


def _is_place(start: object, end: object) -> bool:
    return type(start) is int and type(end) is int and 0 <= start < end < IN_SOURCE
