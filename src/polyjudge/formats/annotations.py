"""Read people's ratings and error spans: the files of Appraise, and those of Pearmut."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.json_lines import each_json_line, lines_from
from polyjudge.files.json_stream import JsonStream
from polyjudge.languages.table import language_table
from polyjudge.records.outcomes import SCHEMA_VERSION

from .columns import Row
from .error_spans import error_span, mqm_score
from .tools import ToolRows

_PAIR_IN_NAME = re.compile(r"(?<![A-Za-z])([a-z]{2,3})[-_]?([a-z]{2,3})(?![A-Za-z])")
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3}(?:[_-][A-Za-z]{2,4})?)(?![A-Za-z])")
_NAMED = ("language", "languagePair", "document")
"""What an item of Pearmut says of itself if polyjudge wrote it."""
TUTORIAL, ATTENTION_CHECK = "a tutorial row, left out", "an attention check, left out"
REPEATED = "rated again by the same person in line {}, which counts"


def rating_row(item_id: str, annotator: str, label: object, spans: list[dict[str, Any]], **more: object) -> Row:
    """Return what one person said about an item; a field without a value is left out."""
    known = {name: value for name, value in more.items() if value not in (None, "", {})}
    head = {"schemaVersion": SCHEMA_VERSION, "id": item_id, "annotator": annotator, "label": label}
    return {**head, **known, "spans": spans}


def language_of(code: str) -> str:
    """Return the tag of a language: `de` for `deu`, and `cs-CZ` for `cs_CZ`; an unknown code is not changed."""
    tag = code.replace("_", "-")
    known = language_table().find(code)
    return tag if known is None or len(tag.partition("-")[0]) == 2 else known.tag.partition("-")[0]


def pair_in_name(path: Path) -> tuple[str, str]:
    """Return the languages that the name of a file has, such as `en-de` or `ende`; empty ones if it has none."""
    table = language_table()
    for first, second in reversed(_PAIR_IN_NAME.findall(path.name.partition(".")[0])):
        if all(table.find(code) is not None and len(code) == len(first) for code in (first, second)):
            return first, second
    return "", ""


_APPRAISE = ("user", "system", "index", "type", "source", "target", "score", "document", "complete", "spans")
_APPRAISE_FIELDS = 12


def appraise_scores(path: Path) -> ToolRows:
    """Yield the ratings in the scores of an Appraise campaign; one without scores, as of MQM, gets them from its spans.

    The end of a span is its last character there.
    """
    of_spans, last = True, dict[int, int]()
    for line, row in _appraise_rows(path):
        if not isinstance(row, str):
            of_spans = of_spans and not row["score"]
            last[hash(_appraise_key(row))] = line
    for line, row in _appraise_rows(path):
        if isinstance(row, str):
            yield line, row
        elif (newest := last[hash(_appraise_key(row))]) != line:
            yield line, REPEATED.format(newest)
        else:
            yield line, _of_appraise(row, of_spans=of_spans)


def _appraise_key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("user", "system", "document", "index"))


def _appraise_rows(path: Path) -> Iterator[tuple[int, Row | str]]:
    records = csv.reader((text for text, _ in lines_from(path)), strict=True)
    try:
        for fields in records:
            if fields:
                yield records.line_num, _appraise_row(fields)
    except csv.Error as error:
        raise DataError(f"invalid row: {error}", path=path, line=records.line_num) from None


def _appraise_row(fields: list[str]) -> Row | str:
    """Return the fields of a rating by name, or why it is left out."""
    if len(fields) != _APPRAISE_FIELDS:
        return f"expected {_APPRAISE_FIELDS} fields of an Appraise campaign, found {len(fields)}"
    row: dict[str, Any] = dict(zip((*_APPRAISE, "started", "ended"), fields, strict=True))
    if "-tutorial" in row["document"]:
        return TUTORIAL
    if row["type"] not in ("TGT", "REF"):
        return ATTENTION_CHECK
    try:
        score = None if row["score"] in ("", "None") else float(row["score"])
        spans = json.loads(row["spans"] or "[]")
    except (ValueError, RecursionError):
        return "expected a score as a number and error spans as a JSON list"
    if score is not None and not isfinite(score):
        return "expected a score as a number"
    if not isinstance(spans, list) or not all(isinstance(each, dict) for each in cast(list[object], spans)):
        return "expected error spans as a JSON list"
    return {**row, "score": score, "spans": spans}


def _of_appraise(row: Row, *, of_spans: bool) -> Row:
    document, _, named = str(row["document"]).partition("#")
    system = named.partition("#")[0]
    spans = [_inclusive(each, None) for each in row["spans"]]
    target = language_of(row["target"])
    return rating_row(
        f"{document}/{row['index']}",
        row["user"],
        mqm_score(spans) if of_spans else row["score"],
        spans,
        system=system if system and row["system"].endswith(system) else row["system"],
        document=document,
        language=target,
        languagePair=f"{language_of(row['source'])}-{target}",
        labelFrom="spans" if of_spans else "",
        extra={name: row[name] for name in ("system", "index", "type", "complete", "started", "ended")},
    )


def _inclusive(given: Row, text: str | None) -> dict[str, Any]:
    """Return a span of Appraise or Pearmut, with what else it says."""
    category = given.get("error_type", given.get("category"))
    own = ("start_i", "end_i", "severity", "error_type", "category")
    start, end, severity = given.get("start_i"), given.get("end_i"), given.get("severity")
    span = error_span(start, end, text=text, severity=severity, category=category, inclusive=True)
    return {**{name: value for name, value in given.items() if name not in own}, **span}


def appraise_items(path: Path) -> ToolRows:
    """Yield the items of an Appraise campaign or tutorial, which have no ratings: texts to be judged."""
    for line, given in JsonStream(path, None):
        batch = _object(given)
        items = cast(list[object], batch["items"]) if isinstance(batch.get("items"), list) else [batch]
        yield from ((line, _appraise_item(_object(item), _object(batch.get("task")))) for item in items)


def _object(given: object) -> Row:
    """Return a JSON object; an empty one for any other value."""
    empty: dict[str, Any] = {}
    return cast(Row, given) if isinstance(given, Mapping) else empty


def _appraise_item(item: Row, task: Row) -> Row | str:
    if not isinstance(item.get("targetText"), str) or not isinstance(item.get("documentID"), str):
        return "expected an item of Appraise with 'targetText' and 'documentID'"
    document, _, named = item["documentID"].partition("#")
    mqm = item.get("mqm")
    if "-tutorial" in document or (isinstance(mqm, Mapping) and "tutorial" in mqm):
        return TUTORIAL
    if item.get("itemType") not in ("TGT", "REF", None):
        return ATTENTION_CHECK
    code, system = task.get("targetLanguage"), named.partition("#")[0] or str(item.get("targetID") or "")
    own = ("documentID", "sourceText", "targetText", "itemID")
    return {
        "schemaVersion": SCHEMA_VERSION,
        "id": f"{document}/{item.get('itemID')}/{system}",
        "candidate": item["targetText"],
        "source": item.get("sourceText"),
        "system": system,
        "document": document,
        **({"language": language_of(code)} if isinstance(code, str) else {}),
        "extra": {name: value for name, value in item.items() if name not in own},
    }


def pearmut_annotations(path: Path) -> ToolRows:
    """Yield the ratings that Pearmut saved: a line is one person on one document, with several segments and systems.

    If no text has a score, as of MQM, the scores are those of the spans.
    """
    of_spans, last = True, dict[int, int]()
    for line, row in each_json_line(path):
        if not isinstance(row, str):
            of_spans = of_spans and not any(_scores_in(row.get("annotation")))
            last[hash((row.get("user_id"), str(row.get("item_i"))))] = line
    for line, row in each_json_line(path):
        if isinstance(row, str):
            yield line, row
            continue
        newest = last[hash((row.get("user_id"), str(row.get("item_i"))))]
        items, ratings = row.get("item"), row.get("annotation")
        if newest != line:
            yield line, REPEATED.format(newest)
        elif isinstance(items, list) and isinstance(ratings, list):
            pairs = zip(
                map(_object, cast(list[object], items)), map(_object, cast(list[object], ratings)), strict=False
            )
            yield from (
                (line, each) for item, given in pairs for each in _of_pearmut(item, given, row, of_spans=of_spans)
            )
            if len(cast(list[object], items)) != len(cast(list[object], ratings)):
                yield line, "expected as many annotations as items"
        else:
            yield line, "expected lists of items and annotations"


def _scores_in(annotation: object) -> Iterator[bool]:
    """Yield whether each text has a score."""
    for each in cast(list[object], annotation) if isinstance(annotation, list) else []:
        yield from (_object(rated).get("score") is not None for rated in _object(each).values())


def _of_pearmut(item: Row, by_system: Row, row: Row, *, of_spans: bool) -> Iterator[Row | str]:
    """Yield what a person said about the texts of each system for an item."""
    if item.get("validation"):
        yield ATTENTION_CHECK
        return
    texts = _object(item.get("tgt"))
    shared = {name: value for name, value in item.items() if name not in ("item_id", "src", "tgt", *_NAMED)}
    named = {name: item[name] for name in _NAMED if isinstance(item.get(name), str)}
    for system, rated in by_system.items():
        given, text = _object(rated), texts.get(system)
        listed = given.get("error_spans")
        marked = cast(list[object], listed) if isinstance(listed, list) else []
        spans = [_inclusive(_object(each), text if isinstance(text, str) else None) for each in marked]
        label, own = given.get("score"), ("score", "error_spans")
        rest = {name: value for name, value in given.items() if name not in own and value is not None}
        yield rating_row(
            str(item.get("item_id") or ""),
            str(row.get("user_id") or ""),
            mqm_score(spans) if of_spans else label,
            spans,
            system=system,
            candidate=text,
            source=item.get("src"),
            labelFrom="spans" if of_spans else "",
            **{**_languages_in(str(item.get("item_id") or "")), **named},
            extra={**shared, **rest, "item_i": row.get("item_i")},
        )


def _languages_in(name: str) -> dict[str, str]:
    """Return the languages in the name of an item, and its document in one such as `en-de_DE_#_news_#_title_#_0`."""
    found = _PAIR.match(name)
    if found is None:
        return {}
    target = language_of(found[2])
    document, *number = name.rsplit("_#_", 1)
    of_wmt = {"document": document} if number and document.count("_#_") == 2 else {}
    return {"language": target, "languagePair": f"{found[1]}-{target}", **of_wmt}


def pearmut_items(path: Path) -> ToolRows:
    """Yield the texts of a Pearmut campaign, which have no ratings: one for each system."""
    for line, given in JsonStream(path, ("data",)):
        for item in _nested(given, lambda row: "tgt" in row):
            if item.get("validation"):
                yield line, ATTENTION_CHECK
                continue
            own = ("item_id", "src", "tgt", "ref")
            texts = _object(item["tgt"]) or {"": item["tgt"]}
            for system, text in texts.items():
                row = {
                    "schemaVersion": SCHEMA_VERSION,
                    "id": f"{item.get('item_id')}/{system}" if system else str(item.get("item_id") or ""),
                    "candidate": text,
                    "source": item.get("src"),
                    "reference": item.get("ref"),
                    "system": system,
                    **_languages_in(str(item.get("item_id") or "")),
                    "extra": {name: value for name, value in item.items() if name not in own},
                }
                yield line, {name: value for name, value in row.items() if value not in (None, "")}


def _nested(given: object, wanted: Callable[[Row], bool]) -> Iterator[Row]:
    """Yield the objects in nested lists that are wanted."""
    if isinstance(given, Mapping):
        if wanted(cast(Row, given)):
            yield cast(Row, given)
    elif isinstance(given, list):
        for each in cast(list[object], given):
            yield from _nested(each, wanted)
