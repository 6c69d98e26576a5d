"""Read the logs of Inspect."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from polyjudge.errors import DataError
from polyjudge.extras import require
from polyjudge.files.json_stream import JsonStream

from .columns import Row
from .tool_samples import (
    Verdict,
    elements,
    first_of,
    main_verdict,
    mapping,
    metadata_columns,
    not_recorded,
    number,
    numbered,
    plain_text,
    sample_row,
    without,
)
from .tools import ToolRows

_TRANSCRIPT = frozenset({"messages", "events", "events_data", "attachments", "store", "timelines"})
"""The course of a sample, which stays in the log."""
_OWN = frozenset({"id", "input", "target", "output", *_TRANSCRIPT})
_LETTERS = {"C": (1.0, "correct"), "I": (0.0, "incorrect"), "P": (0.5, "partial"), "N": (0.0, "no answer")}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def inspect_archive(path: Path) -> ToolRows:
    """Yield the samples of an `.eval` file, which Inspect's own reader opens."""
    log: Any = require("inspect_ai.log", feature="reading Inspect's .eval files", extra="inspect")
    try:
        with ThreadPoolExecutor(1) as thread:  # Inspect's reader runs an event loop, and this thread may have one
            header = thread.submit(log.read_eval_log, str(path), header_only=True).result().model_dump()
            samples = log.read_eval_log_samples(str(path), all_samples_required=False, exclude_fields=set(_TRANSCRIPT))
            each_sample = iter(lambda: thread.submit(next, samples, None).result(), None)
            yield from _rows(header, enumerate((each.model_dump() for each in each_sample), start=1))
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise DataError(f"not a log that Inspect can read: {error}", path=path) from None


def inspect_json(path: Path) -> ToolRows:
    """Yield the samples of a log in JSON, whose header is before them."""
    stream = JsonStream(path, ("samples",))
    return _rows(stream.rest, iter(stream))


def _rows(header: Mapping[str, Any], samples: Iterator[tuple[int, object]]) -> ToolRows:
    for line, given in samples:
        sample = mapping(given)
        yield line, _row(header, sample) if "epoch" in sample else "must be a sample with an epoch"


def _row(header: Mapping[str, Any], sample: Row) -> Row:
    evaluation, output = mapping(header.get("eval")), mapping(sample.get("output"))
    error = plain_text(mapping(sample.get("error")).get("message"))
    verdicts = [
        each for name, score in mapping(sample.get("scores")).items() for each in _verdicts(name, mapping(score))
    ]
    main = _main_scorer(header)
    missing = Verdict(name=main, failure="provider_error", reason=error) if error else not_recorded(main)
    if parts := [each.name for each in verdicts if each.name.startswith(f"{main}.")]:
        several = f"{main} gives several values, and none for all: {', '.join(parts[:5])}."
        missing = Verdict(name=main, failure="not_recorded", reason=several)
    if error:
        names = {plain_text(mapping(each).get("name")) for each in elements(evaluation.get("scorers"))}
        without_score = sorted(names.difference(mapping(sample.get("scores"))))
        verdicts += [Verdict(name=name, failure="provider_error", reason=error) for name in without_score]
    repeats = (number(mapping(evaluation.get("config")).get("epochs")) or 1) > 1
    target = sample.get("target")
    columns = {
        "candidate": plain_text(output.get("completion")),
        "source": _conversation(sample.get("input")),
        "reference": "\n".join(map(plain_text, elements(target))) or plain_text(target),
        "system": plain_text(evaluation.get("model")),
        "responseId": plain_text(output.get("response_id")),
        **({"cluster": plain_text(sample.get("id"))} if repeats else {}),
        **metadata_columns(sample.get("metadata")),
    }
    extra = {"task": evaluation.get("task"), **without(sample, _OWN), "output": without(output, ["completion"])}
    item_id = numbered(plain_text(sample.get("id")), int(number(sample.get("epoch")) or 1))
    return sample_row(item_id, main_verdict(main, verdicts, missing), verdicts, columns, extra=extra)


def _main_scorer(header: Mapping[str, Any]) -> str:
    """Return the name of the score that Inspect shows first."""
    results = mapping(header.get("results"))
    headline = mapping(results.get("headline"))
    first, scorers = first_of(results.get("scores")), first_of(mapping(header.get("eval")).get("scorers"))
    scorer = headline.get("scorer") or first.get("scorer") or scorers.get("name")
    name = headline.get("score") or first.get("name") or scorer
    return "score" if not scorer else str(scorer) if name == scorer else f"{scorer}.{name}"


def _verdicts(name: str, score: Row) -> Iterator[Verdict]:
    """Yield the verdict of a scorer, or one for each value if it gives several."""
    value = score.get("value")
    parts = dict(enumerate(elements(value))) or mapping(value)
    for part, each in parts.items():
        yield _verdict(f"{name}.{part}", each, score)
    if not parts:
        yield _verdict(name, value, score)


def _verdict(name: str, value: object, score: Row) -> Verdict:
    reply = first_of(elements(mapping(score.get("metadata")).get("grading"))[::-1])
    reason, model, raw = plain_text(score.get("explanation")), plain_text(reply.get("model")), _text_of(reply)
    if value is None or (isinstance(value, float) and number(value) is None):
        reason = reason or "The scorer gave no value."
        return Verdict(name=name, failure="unreadable", reason=reason, model=model, raw=raw)
    found, passed, word = number(value), value if isinstance(value, bool) else None, ""
    if isinstance(value, str):
        found, word = _LETTERS.get(value, (_number_in(value), value))
        passed = found == 1.0 if value in _LETTERS or value.casefold() in _WORDS else None
    return Verdict(name=name, score=found, passed=passed, word=word, reason=reason, model=model, raw=raw)


def _number_in(value: str) -> float | None:
    if value.casefold() in _WORDS:
        return _WORDS[value.casefold()]
    try:
        return number(float(value))
    except ValueError:
        return None


def _conversation(messages: object) -> str:
    """Return the input of a sample: a text, or messages, of which a single one needs no role."""
    given = [mapping(each) for each in elements(messages)]
    if len(given) == 1:
        return _text_of(given[0])
    return "\n\n".join(f"{each.get('role')}: {_text_of(each)}" for each in given) or plain_text(messages)


def _text_of(message: Row) -> str:
    content = message.get("content")
    return "\n".join(plain_text(mapping(part).get("text")) for part in elements(content)) or plain_text(content)
