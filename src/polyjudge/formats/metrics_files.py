"""Read the files of WMT's metrics task: scores and ratings of systems by segment, and their outputs."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from polyjudge.errors import DataError
from polyjudge.files.json_lines import each_json_line, lines_from
from polyjudge.records.outcomes import SCHEMA_VERSION

from .annotations import language_of, pair_in_name, rating_row
from .columns import Row
from .error_spans import error_span, mqm_score
from .tools import ToolRows

_PAIR = re.compile(r"(?<![a-z])([a-z]{2,3}-[a-z]{2,3})(?![a-z-])")
_SCORES_OF_METRICS = "metric-scores"
SEGMENT_SCORES, _DOMAINS, _SYSTEMS = ".seg.score", ".domain.score", ".sys.score"
_RATINGS = ".seg.rating"
SCORE_FILES = (SEGMENT_SCORES, _SYSTEMS)
"""How the names of files end that have one score for each segment, or system."""


class SystemScore(NamedTuple):
    """One line of a file of scores."""

    line: int
    system: str
    score: str
    """As it is in the file; `None` if there is none."""
    place: int
    """The number of the line among those of the system, which is that of the segment."""
    domain: str = ""
    rater: str = ""
    """Who rated it, where the file says so."""


def pair_of(path: Path) -> str:
    """Return the languages that the path of a file names, such as `en-de`; empty if it names none.

    A folder of that name counts first, then the start of the file's name: `en-de.da-sqm.seg.score` is of en-de.
    """
    if _PAIR.fullmatch(path.parent.name):
        return path.parent.name
    return next((found[0] for found in (_PAIR.findall(path.name), _PAIR.findall(path.parent.name)) if found), "")


def system_scores(path: Path) -> Iterator[SystemScore]:
    """Yield the scores of a file: a system and a score per line, in the order of the segments if there are any.

    Ratings may be followed by their rater; the scores of systems at WMT20 are separated by spaces.
    """
    counts: dict[str, int] = {}
    has_domains, has_raters = path.name.endswith(_DOMAINS), _RATINGS in path.name
    wanted = "a domain, a system name and a score" if has_domains else "a system name and a score"
    for line, text in _lines(path):
        fields = text.split("\t") if "\t" in text or not path.name.endswith(_SYSTEMS) else text.split()
        rater = fields.pop().strip() if has_raters and len(fields) == 3 else ""
        if len(fields) != 2 + has_domains:
            raise DataError(f"expected {wanted}, separated by a tab", path=path, line=line)
        system, score = fields[-2:]
        place = counts[system] = counts.get(system, 0) + 1
        yield SystemScore(line, system, score, place, fields[0] if has_domains else "", rater)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        for line, (text, _) in enumerate(lines_from(path), start=1):
            yield line, text.rstrip("\r\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def score_file(path: Path) -> ToolRows:
    """Yield the scores in a file of mt-metrics-eval by segment, domain or system: of people, else of a metric."""
    pair = pair_of(path)
    is_metric = _SCORES_OF_METRICS in path.parts
    for each in system_scores(path):
        try:
            value = None if each.score.strip() == "None" else float(each.score)
        except ValueError:
            yield each.line, f"invalid score {each.score[:40]!r}; expected a number or None"
            continue
        place = each.domain or (str(each.place) if path.name.endswith(SEGMENT_SCORES) else "all")
        row: dict[str, Any] = {
            "schemaVersion": SCHEMA_VERSION,
            "id": _id(pair, place),
            "system": each.system,
            "score" if is_metric else "label": value,
            **_languages(pair),
            **({"domain": each.domain} if each.domain else {}),
            "extra": {},
        }
        yield each.line, row


def _id(pair: str, place: str) -> str:
    return f"{pair}/{place}" if pair else place


def _languages(pair: str) -> dict[str, str]:
    return {"language": language_of(pair.partition("-")[2]), "languagePair": pair} if pair else {}


def rating_file(path: Path) -> ToolRows:
    """Yield the error spans in a file of mt-metrics-eval; a segment without a rating has the label None."""
    # Where lines name no rater, it is the last part of the name: a person, such as `rater1`, or `merged`.
    name = path.name.removesuffix(".gz").removesuffix(_RATINGS)
    pair, of_file = pair_of(path), name.rpartition(".")[2]
    for each in system_scores(path):
        annotator = each.rater if each.rater not in ("", "None") else of_file
        item_id = _id(pair, str(each.place))
        more = {"system": each.system, **_languages(pair)}
        if each.score.strip() == "None":
            yield each.line, rating_row(item_id, annotator, None, [], **more)
            continue
        try:
            given = json.loads(each.score)["errors"]
            spans = [_exclusive(error) for error in cast(list[Row], given)]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield each.line, "expected None, or JSON with a list 'errors'"
            continue
        label = (
            -round(sum(float(-mqm_score([span]) if span.get("score") is None else span["score"]) for span in spans), 9)
            or 0.0
        )
        yield each.line, rating_row(item_id, annotator, label, spans, **more)


def _exclusive(error: Row) -> dict[str, Any]:
    start, end, severity = error.get("start"), error.get("end"), error.get("severity")
    own = ("start", "end", "severity", "category", "is_source_error")
    rest = {name: value for name, value in error.items() if name not in own}
    in_source = error.get("is_source_error") is True
    span = error_span(
        None if in_source else start,
        None if in_source else end,
        text=None,
        severity=severity,
        category=error.get("category"),
        inclusive=False,
    )
    return {**span, **rest, **({"sourceStart": start, "sourceEnd": end} if in_source else {})}


def average_scores(path: Path) -> ToolRows:
    """Yield the mean scores by segment that WMT published beside its tables of MQM errors."""
    first, second = pair_in_name(path)
    pair = f"{first}-{second}" if second else ""
    for line, text in _lines(path):
        fields = text.split()
        if line == 1 or not fields:
            continue
        try:
            system, score, segment = fields
            label = None if score == "None" else float(score) or 0.0
        except ValueError:
            yield line, "expected a system, a score and the number of a segment"
            continue
        row = {"schemaVersion": SCHEMA_VERSION, "id": _id(pair, segment), "system": system, "label": label}
        yield line, {**row, **_languages(pair), "extra": {}}


_FILE_PREFIX = re.compile(r"\A(?:wmt\d+_)?(?:systems|automatic_scores)_")
_PAIR_AT_END = re.compile(r"\.[a-z]{2,3}-[A-Za-z_]{2,6}\Z")


def _system_of(path: Path) -> str:
    """Return the system that a file is named after."""
    name = path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl")
    return _PAIR_AT_END.sub("", _FILE_PREFIX.sub("", name))


def system_outputs(path: Path) -> ToolRows:
    """Yield the texts that a system wrote for WMT25 or WMT26, by paragraph where the file says that these match."""
    system = _system_of(path)
    for line, row in each_json_line(path):
        if isinstance(row, str):
            yield line, row
            continue
        document, text = row.get("doc_id"), row.get("hypothesis")
        if not isinstance(document, str) or not isinstance(text, str):
            yield line, "expected 'doc_id' and 'hypothesis' as text"
            continue
        shared = {**_of_document(document), "system": system, "document": document}
        rest = {"extra": {name: value for name, value in row.items() if name not in ("doc_id", "hypothesis")}}
        parts = text.split("\n\n") if row.get("paragraphs_match") is True else [text]
        for place, part in enumerate(parts, start=1):
            item_id = f"{document}/{place}" if row.get("paragraphs_match") is True else document
            yield line, {"schemaVersion": SCHEMA_VERSION, "id": item_id, "candidate": part, **shared, **rest}


def _of_document(name: str) -> dict[str, str]:
    """Return the languages and the domain in the name of a document, whose parts are separated by `_#_` or `_###_`."""
    parts = re.split(r"_#+_", name)
    if len(parts) == 3 and "-" in parts[0]:
        source, _, code = parts[0].partition("-")
        target = language_of(code)
        return {"language": target, "languagePair": f"{source}-{target}", "domain": parts[1]}
    if len(parts) == 5:
        source, target = language_of(parts[2]), language_of(parts[3])
        return {"language": target, "languagePair": f"{source}-{target}", "domain": parts[1]}
    return {}


def automatic_scores(path: Path) -> ToolRows:
    """Yield the scores that metrics gave a system at WMT25 by paragraph, as sub-scores by metric."""
    system = _system_of(path)
    for line, row in each_json_line(path):
        scores = None if isinstance(row, str) else row.get("metric_scores")
        if isinstance(row, str) or not isinstance(scores, Mapping):
            yield line, row if isinstance(row, str) else "expected 'metric_scores' by metric"
            continue
        by_metric = cast(Mapping[str, list[object]], scores)
        if len({len(values) for values in by_metric.values()}) > 1:
            yield line, "the metrics have different numbers of paragraphs"
            continue
        document = "_#_".join(str(row.get(name)) for name in ("language_pair", "domain", "document_id"))
        shared = {**_of_document(document), "system": system, "document": document}
        for place, values in enumerate(zip(*by_metric.values(), strict=True), start=1):
            subscores = dict(zip(by_metric, values, strict=True))
            only = {"score": values[0]} if len(values) == 1 else {}
            head = {"schemaVersion": SCHEMA_VERSION, "id": f"{document}/{place}", **only, "subscores": subscores}
            yield line, {**head, **shared, "extra": {}}
