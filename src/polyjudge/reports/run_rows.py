"""Read the rows of any run: what was judged, and the outcome."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.files.json_stream import JsonStream
from polyjudge.files.spill import Occurrences, open_scratch, to_blob
from polyjudge.formats.columns import AS_IT_IS, Row, TableOptions
from polyjudge.formats.items import ItemSource
from polyjudge.formats.row_files import named_rows_of
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores, result_of
from polyjudge.formats.vocabulary import JUDGEMENTS_FILE, WordRecords, read_judgements
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.outcomes import Failure, Generated, Item, JudgeResult, Provenance, RunOutcome, read_outcome_row
from polyjudge.records.rubrics import Rubric
from polyjudge.records.sessions import ReviewRow
from polyjudge.records.spans import ErrorSpan
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.verdicts.items import Status, outcome_status, with_passed
from polyjudge.verdicts.translation import scores_pass

from .run_kinds import RunKind, kind_of, read_object
from .span_marks import spans_of


class RunRow(Struct, frozen=True, kw_only=True):
    """One row of a run; texts are empty if they are not known."""

    id: str
    status: Status | None
    """None: it has a score, but nothing says whether that passes."""
    language: str = ""
    score: float | None = None
    subscores: Mapping[str, float] = {}
    flags: Mapping[str, bool] = {}
    reason: str = ""
    raw: str = ""
    failure: str = ""
    """The kind of failure, if there is no verdict."""
    source: str = ""
    output: str | None = None
    reference: str = ""
    provenance: Provenance | None = None
    spans: tuple[ErrorSpan, ...] = ()
    """The errors that a judge or a person marked."""
    probabilities: Mapping[str, float] = {}
    """The token probabilities of the verdicts or scores, if they were asked for."""
    other_probability: float | None = None
    expected_score: float | None = None
    answered_by: str = ""
    """The judge of a cascade whose answer it is."""
    confidence: float | None = None
    columns: Mapping[str, Any] = {}
    """The columns of the row and of its item."""

    def column(self, name: str) -> str:
        """Return the value of a column, or of `one.two` in a nested object; empty if there is none."""
        value = _at(self.columns, name)
        return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


@dataclass(slots=True)
class RunRows:
    """The rows of a run, read one at a time; invalid rows are counted in `skipped` after an iteration."""

    path: Path
    items: Path | None = None
    """The texts that were judged, if the run does not contain them."""
    pass_from: float | None = None
    """The lowest score that passes; None for the rule of the rubric."""
    table: TableOptions = AS_IT_IS
    """How a table is read."""
    problems: list[str] = field(default_factory=list[str])
    """Messages about the first invalid rows."""
    skipped: int = 0
    kind: RunKind = field(init=False)

    def __post_init__(self) -> None:
        """Recognise the kind of run."""
        self.kind = kind_of(self.path, self.table)

    def __iter__(self) -> Iterator[RunRow]:
        """Yield the rows."""
        self.problems, self.skipped = [], 0
        return _READERS[self.kind](self)

    def note(self, problem: str) -> None:
        """Count an invalid row."""
        self.skipped += 1
        if len(self.problems) < 20:
            self.problems.append(problem)

    def row_of(self, item_id: str, outcome: RunOutcome, columns: Mapping[str, Any], item: Item | None) -> RunRow:
        """Return the row of an outcome, with the texts of its item."""
        outcome = _with_rule(outcome)
        context: Mapping[str, str] = item.context if item else {}
        result = outcome if isinstance(outcome, JudgeResult) else None
        own = columns.get("candidate")
        text = outcome.text if isinstance(outcome, Generated) else own if isinstance(own, str) else None
        return RunRow(
            id=item_id,
            status=outcome_status(outcome, pass_from=self.pass_from),
            language=_text(columns.get("language")) or (item.language if item else ""),
            score=result.score if result else None,
            subscores=result.subscores if result else {},
            flags=result.flags if result else {},
            reason="" if isinstance(outcome, Generated) else outcome.reason,
            raw="" if isinstance(outcome, Generated) else outcome.raw,
            failure=outcome.kind if isinstance(outcome, Failure) else "",
            source=context.get("source", "") or _text(columns.get("source")),
            output=item.candidate if item else text,
            reference=context.get("reference", "") or _text(columns.get("reference")),
            provenance=outcome.provenance,
            spans=result.spans if result else (),
            probabilities=result.probabilities if result else {},
            other_probability=result.other_probability if result else None,
            expected_score=result.expected_score if result else None,
            answered_by=result.answered_by if result else "",
            confidence=result.confidence if result else None,
            columns=columns,
        )


class _Texts:
    """The items of a run, found in the order of its rows; items that are passed over are kept on disk."""

    def __init__(self, run: RunRows) -> None:
        assert run.items is not None
        parse = ItemSource(run.items).parser()
        rows = ((row, parse(row)) for _, row in named_rows_of(run.items, run.table, "candidate"))
        self._rows = ((row, item) for row, item in rows if isinstance(item, Item) and not isinstance(row, str))
        self._passed = open_scratch(self, "CREATE TABLE items (id BLOB PRIMARY KEY, row TEXT) WITHOUT ROWID")
        self._has_passed = False

    def find(self, item_id: str) -> tuple[Row, Item] | None:
        """Return the row and the item of an id, or None if there is none."""
        if self._has_passed:
            query = "SELECT row FROM items WHERE id = ?"
            found = self._passed.execute(query, (to_blob(item_id),)).fetchone()
            if found is not None:
                row, item = json.loads(found[0])
                return row, from_json(Item, item)
        for row, item in self._rows:
            if item.id == item_id:
                return row, item
            stored = json.dumps([dict(row), to_json(item)], default=str)
            self._passed.execute("INSERT OR IGNORE INTO items VALUES (?, ?)", (to_blob(item.id), stored))
            self._has_passed = True
        return None


def _outcome_rows(run: RunRows) -> Iterator[RunRow]:
    """Yield the rows of `score`, of calibration answers, and of other files of outcomes."""
    texts = _Texts(run) if run.items is not None else None
    seen = Occurrences()
    for place, row in named_rows_of(run.path, run.table):
        if isinstance(row, str):
            run.note(f"{place}: {row}")
            continue
        try:
            item_id, outcome = read_outcome_row(row) if "outcome" in row else _scored(row)
        except DataError as error:
            run.note(f"{place}: {error}")
            continue
        if seen.count(_row_number(row)) > 1:
            run.note(f"{place}: the row of {item_id[:40]!r} is there twice; it counts once")
            continue
        found = texts.find(item_id) if texts else None
        yield run.row_of(item_id, outcome, {**(found[0] if found else {}), **row}, found[1] if found else None)


def _row_number(row: Row) -> int:
    """Return a number that rows share whose texts, numbers and booleans are equal."""
    return hash(tuple(value for value in row.values() if type(value) in _PLAIN)) & _NUMBERS


_PLAIN = (str, int, float, bool)
_NUMBERS = 2**64 - 1


def _scored(row: Row) -> tuple[str, JudgeResult]:
    """Return the id and result of a row of another tool, which has at least an id and a score, or people's label."""
    given, own_id = row.get("score", row.get("label")), row.get("id")
    try:
        score = float(given) if isinstance(given, str | int | float) and not isinstance(given, bool) else float("nan")
    except (ValueError, OverflowError):
        score = float("nan")
    if not isfinite(score) or own_id in (None, ""):
        raise DataError(f"expected an id and a score, found {str(own_id)[:40]!r} and {str(given)[:40]!r}")
    return str(own_id), JudgeResult(score, _text(row.get("reason")), model=_text(row.get("model")), spans=spans_of(row))


def _score_rows(run: RunRows) -> Iterator[RunRow]:
    """Yield the outputs of a translator as a judge scored them."""
    texts = _translations(run.items, run.table) if run.items is not None else {}
    scores = TranslationScores(run.path)
    for language in scores:
        tag = language.language_code or language.language_name
        for prompt in language.prompts:
            result = result_of(prompt)
            failure = Failure(prompt.error or "no score", "unreadable", prompt.raw, provenance=prompt.provenance)
            outcome = replace(result, passed=scores_pass(prompt)) if result else failure
            columns = {"language": tag, "languageName": language.language_name, "judge": language.judge}
            item = texts.get(f"{tag}:{prompt.index}")
            category = {"category": item.context["category"]} if item else {}
            yield run.row_of(f"{tag}:{prompt.index}", outcome, {**columns, **category}, item)
    for problem in scores.problems:
        run.note(problem)


def _translations(path: Path, table: TableOptions) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for language in TranslationResults(path, table):
        tag = language.language_code or language.language_name
        for index, each in enumerate(language.prompts):
            context = {"source": each.source_text, "reference": each.reference, "category": each.category}
            found[f"{tag}:{index}"] = Item(f"{tag}:{index}", each.generated_output, context, tag)
    return found


_WORD_STATES: Mapping[str, Status] = {"correct": "PASS", "incorrect": "FAIL"}


def _judgement_rows(run: RunRows) -> Iterator[RunRow]:
    """Yield the answers of models about words."""
    path = run.path / JUDGEMENTS_FILE if run.path.is_dir() else run.path
    rows = list(read_judgements(path))
    records = WordRecords(path.parent, sorted({row.model for row in rows}), sorted({row.word for row in rows}))
    for row in rows:
        answer, is_decided = records.read(row.model, row.word, row.prompt), row.verdict in _WORD_STATES
        yield RunRow(
            id=row.id,
            status=_WORD_STATES.get(row.verdict, "UNJUDGED"),
            score=float(row.verdict == "correct") if is_decided else None,
            reason=row.reason or (row.raw if is_decided else ""),
            raw=row.raw,
            failure="" if is_decided else f"{row.stage} {row.verdict}".strip(),
            source=answer.prompt if answer else row.word,
            output=answer.response if answer else None,
            reference=answer.reference_definition if answer else "",
            provenance=row.provenance,
            columns=to_json(row),
        )


def _review_rows(run: RunRows) -> Iterator[RunRow]:
    """Yield the reviews of agents' sessions."""
    files = sorted(run.path.glob("*.json")) if run.path.is_dir() else [run.path]
    for file in files:
        given = read_object(file)
        if "agentScore" not in given:
            continue
        try:
            row = from_json(ReviewRow, given)
        except DataError as error:
            run.note(f"{file}: {error}")
            continue
        scores = {"agent": row.agent_score, "system": row.system_score}
        known = {name: value for name, value in scores.items() if value is not None}
        text = _beside(file, row.review_path)
        yield RunRow(
            id=f"{row.scenario_id} ({row.provider}/{row.model}, {row.judged_at})",
            status="UNJUDGED" if row.verdict is None else "PASS" if row.verdict == "PASS" else "FAIL",
            score=min(known.values()) if known else None,
            subscores=known,
            reason=row.error or (row.verdict or ""),
            raw=text,
            failure="no verdict" if row.verdict is None else "",
            provenance=row.provenance,
            columns=given,
        )


def _beside(file: Path, named: str) -> str:
    """Return the text of a review, which is beside its scores; empty if it is not there."""
    try:
        return (file.parent / Path(named).name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


_CASE_STATES: Mapping[str, Status] = {"PASS": "PASS", "FAIL": "FAIL"}
_CASE_REASONS: Mapping[Status, str] = {"FAIL": "the output differs from the expected one"}


def _case_rows(run: RunRows) -> Iterator[RunRow]:
    """Yield the cases of a regression run."""
    for line, given in JsonStream(run.path, ("cases",)):
        if not isinstance(given, Mapping) or "caseId" not in given:
            run.note(f"{run.path}:{line}: a case needs caseId")
            continue
        row = cast(Row, given)
        status = _CASE_STATES.get(str(row.get("status")), "UNJUDGED")
        yield RunRow(
            id=str(row["caseId"]),
            status=status,
            language=_text(row.get("targetLang")),
            reason=_text(row.get("message")) or _CASE_REASONS.get(status, ""),
            failure="translator failed" if status == "UNJUDGED" else "",
            output=_text(row.get("actual")),
            reference=_text(row.get("expected")),
            columns=row,
        )


_READERS: Mapping[RunKind, Callable[[RunRows], Iterator[RunRow]]] = {
    "score": _outcome_rows,
    "translation scores": _score_rows,
    "vocabulary": _judgement_rows,
    "transcript": _review_rows,
    "regression": _case_rows,
}


def _with_rule(outcome: RunOutcome) -> RunOutcome:
    """Fill in whether a result passes, if the run does not say so and its rubric is a shipped one."""
    if not isinstance(outcome, JudgeResult) or outcome.passed is not None or outcome.provenance is None:
        return outcome
    rubric = shipped_rubric(outcome.provenance.rubric, outcome.provenance.rubric_fingerprint)
    return with_passed(rubric, outcome)


@lru_cache(maxsize=64)
def shipped_rubric(name: str, wanted: str) -> Rubric | None:
    """Return a shipped rubric by its name, if it still has this fingerprint."""
    if not name or "/" in name or name.endswith(".toml"):
        return None
    try:
        rubric = load_rubric(name)
    except (UnknownNameError, ConfigError, DataError):
        return None
    return rubric if rubric_fingerprint(rubric) == wanted else None


def _at(row: Mapping[str, Any], name: str) -> object:
    if name in row:
        return row[name]
    first, dot, rest = name.partition(".")
    inner = row.get(first)
    return _at(cast(Mapping[str, Any], inner), rest) if dot and isinstance(inner, Mapping) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
