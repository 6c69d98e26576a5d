"""Read recorded preferences between two outputs: AlpacaEval, PandaLM, LLMBar and JudgeBench as they are published."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, cast

from polyjudge.errors import DataError
from polyjudge.files.json_lines import each_json_line
from polyjudge.files.json_stream import JsonStream
from polyjudge.files.spill import Occurrences
from polyjudge.languages.table import LanguageTags
from polyjudge.records.outcomes import SCHEMA_VERSION, Failure, JudgeResult, Outcome, Preference, outcome_row

from .columns import Row, counted_id
from .tools import ToolRows

_SCORES: Mapping[str, float] = {"first": 1.0, "tie": 0.5, "second": 0.0}
_NUMBERED: Mapping[str, Preference] = {"1": "first", "2": "second", "0": "tie", "tie": "tie"}
_LETTERED: Mapping[str, Preference] = {"A>B": "first", "B>A": "second", "A=B": "tie", "B=A": "tie"}
_TURNED: Mapping[str, Preference] = {"first": "second", "second": "first", "tie": "tie"}


def _objects(path: Path) -> Iterator[tuple[int, Row | None]]:
    """Yield the elements of a JSON list with their lines; None for one that is no object."""
    for line, given in JsonStream(path, None):
        yield line, cast(Row, given) if isinstance(given, Mapping) else None


_NO_OBJECT = "must be a JSON object"


def alpaca_eval(path: Path) -> ToolRows:
    """Yield AlpacaEval's annotations: a preference from 1, for the baseline, to 2, for the model; 1.5 or 0 is a tie.

    The id is made from the instruction, so that the same instruction has the same id for every model. Preferences of
    people, who have an `annotator_index`, are labels, and each person's are counted by themselves.
    """
    by_annotator, tags = defaultdict[str, Occurrences](Occurrences), LanguageTags()
    for line, row in _objects(path):
        if row is None:
            yield line, _NO_OBJECT
            continue
        person = "" if row.get("annotator") else _text(row.get("annotator_index"))
        texts = {
            "candidate": row.get("output_2"),
            "system": row.get("generator_2") or row.get("generator"),
            "otherCandidate": row.get("output_1"),
            "otherSystem": row.get("generator_1"),
            "source": row.get("instruction"),
        }
        outcome = _alpaca_outcome(row)
        rest = _rest(
            row, "instruction", "output_1", "output_2", "generator_1", "generator_2", "generator", "preference"
        )
        rest.pop("raw_completion", None)
        item = counted_id(texts, ("source",), by_annotator[person], tags)
        if not person:
            yield line, _row(item, outcome, texts, extra=rest)
            continue
        label = outcome.verdict if isinstance(outcome, JudgeResult) else None
        known = {name: text for name, text in texts.items() if text not in (None, "")}
        head = {"schemaVersion": SCHEMA_VERSION, "id": item, "annotator": f"human/{person}", "label": label}
        yield line, {**head, **known, "extra": rest}


def _alpaca_outcome(row: Row) -> Outcome:
    given, raw, model = row.get("preference"), _text(row.get("raw_completion")), _text(row.get("annotator"))
    if isinstance(given, int | float) and not isinstance(given, bool) and (given == 0 or 1 <= given <= 2):
        score = given - 1 if given else 0.5
        return JudgeResult(score=score, reason="", model=model, verdict=_preferred(score), raw=raw)
    missing = given is None or (isinstance(given, float) and not isfinite(given))
    reason = (
        "No preference is recorded." if missing else f"The preference {str(given)[:40]!r} is not a number from 1 to 2."
    )
    return Failure(reason, "unreadable", raw, model=model)


_RESULT = re.compile(r"(.+)_result")
_ANNOTATOR = re.compile(r"annotator\w+")


def panda_results(path: Path) -> ToolRows:
    """Yield the verdicts of a judge on PandaLM's test set; a reply that names no response is unreadable."""
    for line, row in _objects(path):
        judge = next((found[1] for name in row or () if (found := _RESULT.fullmatch(name))), "")
        if row is None or not judge or row.get("idx") is None:
            yield line, "expected 'idx' and a verdict such as 'gpt_result'" if row else _NO_OBJECT
            continue
        given, reason = row.get(f"{judge}_result"), _text(row.get(f"{judge}_reason"))
        outcome = _named(given, _NUMBERED, reason=reason, raw=str(given), model=judge)
        rest = _rest(row, "idx", f"{judge}_result", f"{judge}_reason")
        yield line, _row(str(row["idx"]), outcome, {}, extra=rest)


def panda_labels(path: Path) -> ToolRows:
    """Yield the labels of PandaLM's test set, a row for each annotator of an item: response 1 or 2, or 0 for a tie."""
    for line, row in _objects(path):
        if row is None or row.get("idx") is None:
            yield line, "'idx' is missing" if row else _NO_OBJECT
            continue
        first, _, second = _text(row.get("cmp_key")).partition("_")
        asked = [_text(row.get(name)) for name in ("instruction", "input")]
        texts = {
            "candidate": row.get("response1"),
            "system": first if second else "",
            "otherCandidate": row.get("response2"),
            "otherSystem": second,
            "source": "\n\n".join(filter(None, asked)),
        }
        names = [name for name in row if _ANNOTATOR.fullmatch(name)]
        rest = _rest(row, "idx", "instruction", "input", "response1", "response2", *names)
        for name in names:
            label = _NUMBERED.get(_text(row[name]).casefold())
            if label is None and row[name] not in (None, ""):
                yield line, f"{name}: {_text(row[name])[:40]!r} is no label; expected 1, 2 or 0"
                continue
            head = {"schemaVersion": SCHEMA_VERSION, "id": str(row["idx"]), "annotator": name, "label": label}
            yield line, {**head, **texts, "extra": rest}


_SWAP = re.compile(r"swap\s*=\s*(False|True)")


def llm_bar(path: Path) -> ToolRows:
    """Yield LLMBar's results: the last verdict of each item in both orders, which names output_1 or output_2."""
    seen, tags = Occurrences(), LanguageTags()
    for line, row in _objects(path):
        results = row.get("results") if row else None
        rounds = [_orders_of(each) for each in cast(list[object], results)] if isinstance(results, list) else []
        last = next((place for place in reversed(range(len(rounds))) if rounds[place]), None)
        if row is None or last is None:
            yield line, "no verdicts 'swap = False' and 'swap = True' in 'results'" if row else _NO_OBJECT
            continue
        members = [_llm_bar_member(each, order) for order, each in rounds[last].items()]
        texts = {"candidate": row.get("output_1"), "otherCandidate": row.get("output_2"), "source": row.get("input")}
        label = _NUMBERED.get(_text(row.get("label")))
        others = [each for place, each in enumerate(cast(list[object], results)) if place != last]
        scored = _without_orders(cast(list[object], results)[last])
        rest = {**_rest(row, "input", "output_1", "output_2", "label", "results"), **scored}
        more = {order: _rest(each, "winner", "completion") for order, each in rounds[last].items()}
        rest |= {order: each for order, each in more.items() if each}
        rest |= {"results": others} if others else {}
        item = counted_id(texts, ("source", "candidate", "otherCandidate"), seen, tags)
        yield line, _row(item, _of_orders(members), texts, label=label, extra=rest)


def _orders_of(given: object) -> dict[Literal["given", "swapped"], Row]:
    """Return the verdicts of a round by their order; a round of auxiliary text has none."""
    found: dict[Literal["given", "swapped"], Row] = {}
    for name, value in cast(Row, given).items() if isinstance(given, Mapping) else ():
        if (named := _SWAP.fullmatch(name)) and isinstance(value, Mapping):
            found["swapped" if named[1] == "True" else "given"] = cast(Row, value)
    return found


def _without_orders(given: object) -> dict[str, Any]:
    return {name: value for name, value in cast(Row, given).items() if not _SWAP.fullmatch(name)}


def _llm_bar_member(given: Row, order: Literal["given", "swapped"]) -> Outcome:
    said = given.get("completion")
    parts = cast(list[object], said) if isinstance(said, list) else [said]
    raw = _text(parts[0] if parts else None)
    return _named(given.get("winner"), _NUMBERED, raw=raw, order=order)


def llm_bar_statistics(path: Path) -> ToolRows:
    """Refuse the statistics that LLMBar writes beside its results."""
    message = "contains only LLMBar's totals (statistics.json). Give the result.json beside it"
    raise DataError(message, path=path)


def judge_bench(path: Path) -> ToolRows:
    """Yield JudgeBench's output: one or two judgments of a pair, the second with A and B changed over.

    The verdict on the item is that of both orders together: one right and one wrong verdict are a tie, and a tie or
    missing verdict beside a preference leaves the preference.
    """
    for line, row in each_json_line(path):
        judged = row if isinstance(row, str) else row.get("judgments")
        if isinstance(row, str):
            yield line, row
            continue
        if not isinstance(judged, list) or not judged:
            yield line, "no judgments; this is JudgeBench's data, not what a judge made of it"
            continue
        given = [_object(each) for each in cast(list[object], judged)]
        members = [_judge_bench_member(each, order) for each, order in zip(given, ("given", "swapped"), strict=False)]
        texts = {
            "candidate": row.get("response_A"),
            "otherCandidate": row.get("response_B"),
            "source": row.get("question"),
        }
        about = [_rest(_judgment(each), "response", "judge_model") for each in given]
        rest = _rest(row, "pair_id", "question", "response_A", "response_B", "label", "judgments")
        rest |= {"judgments": about} if any(about) else {}
        label = _LETTERED.get(_text(row.get("label")))
        found = _row(str(row.get("pair_id") or ""), _of_orders(members), texts, label=label, extra=rest)
        yield line, {**found, "category": _benchmark(_text(row.get("source")))}


def _benchmark(source: str) -> str:
    """Return the benchmark of a question: the subjects of MMLU-Pro are one."""
    return "mmlu-pro" if source.startswith("mmlu-pro") else source


def _judgment(given: Row) -> Row:
    return _object(given.get("judgment"))


def _object(given: object) -> Row:
    """Return a JSON object; an empty one for any other value."""
    empty: dict[str, Any] = {}
    return cast(Row, given) if isinstance(given, Mapping) else empty


def _judge_bench_member(given: Row, order: Literal["given", "swapped"]) -> Outcome:
    inner = _judgment(given)
    raw, model = _text(inner.get("response")), _text(inner.get("judge_model"))
    if not given:
        return Failure("The call failed.", "provider_error", order=order)
    return _named(given.get("decision"), _LETTERED, raw=raw, model=model, order=order)


def _named(
    given: object,
    names: Mapping[str, Preference],
    *,
    reason: str = "",
    raw: str = "",
    model: str = "",
    order: Literal["", "given", "swapped"] = "",
) -> Outcome:
    """Return the outcome of a verdict by its name; in the swapped order of letters it is turned back."""
    verdict = names.get(_text(given).strip()) or names.get(_text(given).strip().casefold())
    if verdict is None:
        why = "No verdict is recorded." if given in (None, "") else f"{_text(given)[:40]!r} is not a verdict."
        return Failure(why, "unreadable", raw, model=model, order=order)
    if order == "swapped" and names is _LETTERED:
        verdict = _TURNED[verdict]
    return JudgeResult(score=_SCORES[verdict], reason=reason, verdict=verdict, raw=raw, model=model, order=order)


def _of_orders(members: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a pair shown in both orders: the mean of what is known."""
    model = next((each.model for each in members if each.model), "")
    scores = [each.score for each in members if isinstance(each, JudgeResult)]
    if not scores:
        first = next(each for each in members if isinstance(each, Failure))
        return Failure(first.reason, first.kind, model=model, members=tuple(members))
    score = fmean(scores)
    return JudgeResult(score=score, reason="", verdict=_preferred(score), model=model, members=tuple(members))


def _preferred(score: float) -> Preference:
    return "first" if score > 0.5 else "second" if score < 0.5 else "tie"


def _row(
    item: str, outcome: Outcome, texts: Mapping[str, object], *, label: str | None = None, extra: Mapping[str, Any]
) -> Row:
    """Return an outcome row with the texts of a pair, its label, and what has no place of its own."""
    known: dict[str, Any] = {name: text for name, text in texts.items() if text not in (None, "")}
    known |= {"label": label} if label else {}
    return {**outcome_row(item, outcome), **known, "extra": dict(extra)}


def _rest(row: Row, *names: str) -> dict[str, Any]:
    """Return the fields of a row that are not among the names."""
    return {name: value for name, value in row.items() if name not in names}


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
