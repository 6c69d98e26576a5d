"""The labelling page and its requests."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from aiohttp import web
from msgspec import to_builtins

from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError, DataError, PolyjudgeError
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Figure
from polyjudge.records.spans import ErrorSpan
from polyjudge.store.labels import Label, LabelLog, Reason, newest_labels
from polyjudge.text.display import text_part

from .estimates import Agreement, RunningEstimate, agreement_of, values_of
from .next_hour import NextHour, next_hour, pace
from .sampling import LabelItem, Sample, order_for
from .server import Site, answer, page
from .span_labels import HIGHEST, LOWEST_PENALISED, as_rows, categories, penalised, read_points, read_spans

Scale = Literal["1-5", "pass-fail", "mqm", "esa"]
SCALES: tuple[Scale, ...] = ("1-5", "pass-fail", "mqm", "esa")
SPAN_SCALES: tuple[Scale, ...] = ("mqm", "esa")
"""Scales of labels that mark errors: their penalties are the score, or people give it."""
_BOUNDS = {"1-5": (1.0, 5.0), "pass-fail": (0.0, 1.0), "mqm": (LOWEST_PENALISED, 0.0), "esa": (0.0, HIGHEST)}
_VALUES: Mapping[Scale, tuple[float | str, ...]] = {"1-5": (1, 2, 3, 4, 5), "pass-fail": ("pass", "fail")}
_REASONS: tuple[Reason, ...] = ("", "cannot read this language", "skipped", "undone")
_LABELS_PER_CHANGE = 200
"""With more labels than this, the figures are computed again only when one in 200 has changed."""
_LONGEST_NAME = 60
_JOINERS: Mapping[int, None] = {0x200C: None, 0x200D: None}
"""Invisible, but needed in names in Persian, Sinhala and other languages."""
_LONGEST_NOTE = 5_000
_LONGEST_LOOK_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Task:
    """The sample to label, the scale and the seed."""

    sample: Sample
    scale: Scale
    seed: int
    table: LanguageTable
    proposed: Mapping[str, tuple[ErrorSpan, ...]] = field(default_factory=dict[str, tuple[ErrorSpan, ...]])
    """Spans to confirm or reject, by item."""
    blind: bool = True
    """Show proposed spans only after the person has marked errors, or has said that there are none."""


class Labelling:
    """The labels in a file, and the items to label."""

    def __init__(self, task: Task, log: LabelLog) -> None:
        self.task = task
        self.log = log
        try:
            self._labels = newest_labels(log.labels())
            _refuse_other_scale(self._labels.values(), task.scale, log.path)
        except PolyjudgeError:
            log.close()
            raise
        items = task.sample.items.values()
        sampled = {each.id: (each.language, each.score) for each in items}
        chances = {each.id: each.probability for each in items if each.probability is not None}
        self._running = RunningEstimate(task.sample.scores, sampled, _BOUNDS[task.scale], chances)
        counted = [label for label in self._labels.values() if label.id in sampled]
        self._running.replay(counted)
        self._changes = 0
        self._agreement = Agreement(0, ())
        self._estimate()

    @property
    def count(self) -> int:
        """Labels with a value."""
        return sum(label.value is not None for label in self._labels.values())

    def overview(self, annotator: str) -> dict[str, Any]:
        """Return a person's items in their order, with the person's labels, and the figures."""
        name = annotator_name(annotator)
        items = self.task.sample.items
        if self._changes:
            self._estimate()
        order = order_for(name, list(items), self.task.seed)
        return {
            "annotator": name,
            "scale": self.task.scale,
            "items": [{"id": item, "language": items[item].language, **self._label(name, item)} for item in order],
            "languages": {tag: self._language(tag) for tag in {item.language for item in items.values()}},
            **self.figures(),
        }

    def item(self, item_id: str) -> dict[str, Any]:
        """Return the texts of an item; of long ones only the first part."""
        item = self._item(item_id)
        parts = [self.part(item_id, name, 0) for name in ("source", "output", "reference")]
        return {"id": item.id, "parts": parts, "proposed": as_rows(self.task.proposed.get(item_id, ()))}

    def part(self, item_id: str, name: str, start: int) -> dict[str, Any]:
        """Return one text of an item, from a position on."""
        item = self._item(item_id)
        texts = {"source": item.source, "output": item.output, "reference": item.reference}
        if name not in texts:
            raise DataError(f"Unknown part {name!r} of an item.")
        tag = "" if name == "source" else item.language
        return {"name": name, **text_part(texts[name], self.task.table.find(tag) if tag else None, start)}

    def take(self, given: object) -> dict[str, Any]:
        """Store a label on disk; return the stored label and the figures."""
        label = self._read(given)
        self.log.append(label)
        key = (label.annotator, label.id)
        before = self._labels.pop(key, None)
        if label.reason != "undone":
            self._labels[key] = label
        if label.value is not None or (before is not None and before.value is not None):
            self._changes += 1
            if self._changes * _LABELS_PER_CHANGE >= len(self._labels):
                self._estimate()
        return {"id": label.id, **self._label(label.annotator, label.id), **self.figures()}

    def _estimate(self) -> None:
        """Compute the figures from all labels, which takes longer with many labels."""
        inside = [each for each in self._labels.values() if each.id in self.task.sample.items]
        values = values_of(inside)
        self._running.add(values)
        self._agreement, self._changes = agreement_of(inside), 0
        self.next_hour = self._next_hour(values)

    def _next_hour(self, values: Mapping[str, float]) -> NextHour:
        """Return what one more hour of labelling would buy."""
        known, points = self._running.known(values), self._running.points
        newest = points[max(points)] if points else Figure()
        left = Counter(each.language for each in self.task.sample.items.values() if each.id not in values)
        seconds, bounds = pace(self._labels.values()), _BOUNDS[self.task.scale]
        return next_hour(known, self._running.judged, left, newest, seconds, bounds)

    def newest_next_hour(self) -> NextHour:
        """Return what one more hour would buy, from all labels."""
        self._estimate()
        return self.next_hour

    def figures(self) -> dict[str, Any]:
        """Return the estimates and the agreement of people; with many labels, the newest ones may not be included."""
        found = self._agreement
        low, high = _BOUNDS[self.task.scale]
        return {
            "bounds": [low, high],
            "points": [[n, point.value, point.low, point.high] for n, point in sorted(self._running.points.items())],
            "judged": self.task.sample.judged,
            "total": self.task.sample.total,
            "hour": to_builtins(self.next_hour),
            "agreement": {
                "items": found.items,
                "annotators": list(found.annotators),
                "same": found.same,
                "alpha": found.alpha,
            },
        }

    def _label(self, annotator: str, item_id: str) -> dict[str, Any]:
        label = self._labels.get((annotator, item_id))
        spans = {"spans": as_rows(label.spans or () if label else ())} if self.task.scale in SPAN_SCALES else {}
        if label is None:
            return {"label": None, "passed": None, "reason": "", "note": "", **spans}
        said = {"label": label.label, "passed": label.passed, "reason": label.reason, "note": label.note}
        return {**said, **spans}

    def _language(self, tag: str) -> dict[str, str]:
        found = self.task.table.find(tag)
        if found is None:
            return {"name": tag or "no language", "native": "", "tag": "", "direction": "auto"}
        return {"name": found.name, "native": found.native_name, "tag": found.tag, "direction": found.direction}

    def _item(self, item_id: object) -> LabelItem:
        if not isinstance(item_id, str) or item_id not in self.task.sample.items:
            raise DataError("This item is not in the sample.")
        return self.task.sample.items[item_id]

    def _read(self, given: object) -> Label:
        if not isinstance(given, dict):
            raise DataError("A label must be a JSON object.")
        row = cast(dict[str, object], given)
        item = self._item(row.get("id"))
        reason = _one_of(row.get("reason") or "", _REASONS, "reason")
        spans = read_spans(row.get("spans") or [], item) if self.task.scale in SPAN_SCALES else None
        label = None if row.get("label") is None else self._value(row["label"], spans)
        passed = row.get("passed")
        if not (passed is None or isinstance(passed, bool)):
            raise DataError("passed must be true, false or null.")
        if reason and not (label is None and passed is None):
            raise DataError("A reason cannot be combined with label or passed.")
        return Label(
            id=item.id,
            language=item.language,
            label=label,
            passed=passed,
            reason=reason,
            note=_note(row.get("note") or ""),
            annotator=annotator_name(row.get("annotator")),
            labelled_at=utc_now(),
            seconds=_seconds(row.get("seconds")),
            spans=spans,
            weight=round(item.weight, 6),
            inclusion_probability=item.probability,
        )

    def _value(self, given: object, spans: tuple[ErrorSpan, ...] | None) -> float | str:
        """Return the label; where errors are the score, it follows from them."""
        if spans is None:
            return _one_of(given, _VALUES[self.task.scale], "label")
        return penalised(spans) if self.task.scale == "mqm" else read_points(given)


def annotator_name(given: object) -> str:
    """Return a person's name as it is stored."""
    name = " ".join(unicodedata.normalize("NFC", given).split()) if isinstance(given, str) else ""
    seen = name.translate(_JOINERS)
    if not seen.strip() or len(name) > _LONGEST_NAME or not seen.isprintable():
        raise DataError(f"A name must have 1 to {_LONGEST_NAME} visible characters.")
    return name


def _one_of(given: object, known: Sequence[Any], what: str) -> Any:
    for value in known:
        if given == value and not isinstance(given, bool):
            return value
    raise DataError(f"{what} must be one of {', '.join(repr(value) for value in known)}.")


def _note(given: object) -> str:
    if not isinstance(given, str) or len(given) > _LONGEST_NOTE:
        raise DataError(f"A note must be a text of at most {_LONGEST_NOTE:,} characters.")
    return given


def _seconds(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        seconds = float(given)
    except OverflowError:
        raise DataError("seconds is too large.") from None
    return round(min(seconds, _LONGEST_LOOK_S), 1) if math.isfinite(seconds) and seconds >= 0 else None


def _refuse_other_scale(labels: Iterable[Label], scale: Scale, path: Path) -> None:
    for label in labels:
        if label.label is None or label.label in _VALUES.get(scale, ()):
            continue
        if (label.spans is None) is (scale in SPAN_SCALES):
            fitting = "mqm or esa" if label.spans is not None else "1-5 or pass-fail"
            message = (
                f"the labels in {path} were given on another scale ({fitting}). Use that scale, or another file of "
                "labels"
            )
            raise ConfigError(message, option="scale", value=fitting.partition(" ")[0])
        if scale in SPAN_SCALES and not isinstance(label.label, str):
            low, high = _BOUNDS[scale]
            if low <= label.label <= high:
                continue
        if isinstance(label.label, str) is (scale == "1-5"):
            other = "pass-fail" if scale == "1-5" else "1-5"
            message = (
                f"the labels in {path} were given on another scale ({other}). Use that scale, or another file of labels"
            )
            raise ConfigError(message, option="scale", value=other)
        message = f"the label {label.label!r} of item {label.id!r} is not on the scale {scale}. Correct the row, or use"
        raise DataError(f"{message} another file", path=path, option="labels")


@dataclass(frozen=True, slots=True)
class LabelSite:
    """The labelling page and its requests."""

    labelling: Labelling
    title: str
    """The name of the results."""

    def site(self) -> Site:
        """Return the routes, under a new secret."""
        return Site(
            [
                ("GET", "", self.first_page),
                ("GET", "overview", self.overview),
                ("GET", "item", self.item),
                ("GET", "part", self.part),
                ("POST", "label", self.label),
            ]
        )

    async def first_page(self, request: web.Request) -> web.Response:
        """Return the page."""
        del request
        task = self.labelling.task
        values = {"title": self.title, "scale": task.scale, "count": len(task.sample.items), "blind": task.blind}
        return page("label.html", {**values, "marks": task.scale in SPAN_SCALES, "categories": categories()})

    async def overview(self, request: web.Request) -> web.Response:
        """Return a person's items and the figures."""
        return answer(self.labelling.overview(request.query.get("annotator", "")))

    async def item(self, request: web.Request) -> web.Response:
        """Return the texts of an item."""
        return answer(self.labelling.item(request.query.get("id", "")))

    async def part(self, request: web.Request) -> web.Response:
        """Return more of a long text."""
        start = request.query.get("start", "0")
        if not (start.isascii() and start.isdecimal() and len(start) < 12):
            raise DataError("start must be a number.")
        return answer(self.labelling.part(request.query.get("id", ""), request.query.get("name", ""), int(start)))

    async def label(self, request: web.Request) -> web.Response:
        """Store a label, and answer when it is on disk."""
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="a label must be sent as JSON\n")
        try:
            given = await request.json()
        except (ValueError, LookupError, RecursionError, web.RequestPayloadError):  # LookupError: unknown encoding
            raise DataError("The label is not valid JSON.") from None
        return answer(self.labelling.take(given))
