"""The items of one run, a page at a time: an index of the rows in memory, the rows themselves from the disk."""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast

from polyjudge.checks.checker import TextChecker
from polyjudge.errors import DataError
from polyjudge.files.json_lines import json_lines_from, parse_row, row_line
from polyjudge.formats.row_files import rows_of
from polyjudge.languages.table import LanguageTable
from polyjudge.statistics.intervals import RunningMean
from polyjudge.text.display import one_line, pieces

State = Literal["passed", "failed", "judged", "unjudged"]
"""`judged` is a verdict by a rubric without a pass rule."""
_STATES: tuple[State, ...] = ("passed", "failed", "judged", "unjudged")
_WORD_STATES: Mapping[object, State] = {"correct": "passed", "incorrect": "failed"}
Show = Literal["all", "failed", "unjudged", "lowest"]
SHOWS: Mapping[Show, str] = {
    "all": "all items, in the order of the file",
    "failed": "only items that do not pass",
    "unjudged": "only items without a verdict",
    "lowest": "lowest scores first",
}
ON_A_PAGE = 50
_SHOWN_IN_LIST = 2_000
_SHOWN_ALONE = 200_000
_LONGEST_CHECKED = 20_000
_LONGEST_NAME = 200


@dataclass(slots=True)
class Group:
    """The rows of one group."""

    number: int
    states: Counter[State] = field(default_factory=Counter[State])
    mean: RunningMean = field(default_factory=RunningMean)


class RunIndex:
    """Where each row of a run is, with its group, its score and its state: about 26 bytes for each row.

    The group is the item's language; in a vocabulary, where the language is the same, the model that answered.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_dir() or path.suffix.lower() != ".jsonl":
            self._folder = TemporaryDirectory(prefix="polyjudge-view-")
            self.path = _as_json_lines(path, Path(self._folder.name) / "rows.jsonl")
        self.groups: dict[str, Group] = {}
        self.unreadable = 0
        self._starts, self._lines, self._scores = array("Q"), array("Q"), array("d")
        self._group_numbers, self._states = array("L"), array("B")
        start, is_last_unread = 0, False
        for line, row, end in json_lines_from(self.path):
            is_last_unread = isinstance(row, str)
            if isinstance(row, str):
                self.unreadable += 1
            else:
                self._add(row, line, start)
            start = end
        self.unreadable -= is_last_unread  # the last row of a running run

    def _add(self, row: Mapping[str, Any], line: int, start: int) -> None:
        state, score = state_of(row), score_of(row)
        group = self.groups.setdefault(group_of(row), Group(len(self.groups)))
        group.states[state] += 1
        if score is not None and state != "unjudged":
            group.mean.add(score)
        self._starts.append(start)
        self._lines.append(line)
        self._scores.append(math.nan if score is None or state == "unjudged" else score)
        self._group_numbers.append(group.number)
        self._states.append(_STATES.index(state))

    def __len__(self) -> int:
        return len(self._starts)

    def select(self, show: Show, group: str | None = None) -> Sequence[int]:
        """Return the numbers of the rows to show."""
        numbers: Sequence[int] = range(len(self))
        if group is not None:
            wanted = self.groups[group].number if group in self.groups else -1
            numbers = [number for number in numbers if self._group_numbers[number] == wanted]
        if show == "lowest":
            judged = [number for number in numbers if not math.isnan(self._scores[number])]
            return sorted(judged, key=self._scores.__getitem__)
        if show == "all":
            return numbers
        state = _STATES.index(show)
        return [number for number in numbers if self._states[number] == state]

    def row(self, number: int) -> Mapping[str, Any]:
        """Read a row."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._starts[number])
                text = file.readline().decode("utf-8-sig", errors="replace")
            found = parse_row(text.strip(), self.path, self._lines[number])
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(
                f"the file was changed while it was read: {error}. Load the page again", path=self.path
            ) from None
        return cast(Mapping[str, Any], found) if isinstance(found, dict) else {}


def _as_json_lines(path: Path, copy: Path) -> Path:
    """Write the rows of a folder or of another format to a file."""
    with copy.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for _, row in rows_of(path):
            file.write("{\n" if isinstance(row, str) else row_line(dict(row)))
    return copy


def group_of(row: Mapping[str, Any]) -> str:
    """Return the language of a row, or the model of an answer about a word."""
    return str(row.get("model") if "word" in row else row.get("language") or "")


def score_of(row: Mapping[str, Any]) -> float | None:
    """Return the score of a row if it is a finite number."""
    score = row.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        return float(score) if math.isfinite(score) else None
    except OverflowError:  # a number of hundreds of digits
        return None


def state_of(row: Mapping[str, Any]) -> State:
    """Return the state of a row."""
    if "word" in row:
        return _WORD_STATES.get(row.get("verdict"), "unjudged")
    if row.get("outcome") == "text":
        return "judged"
    if row.get("outcome") != "result" or score_of(row) is None:
        return "unjudged"
    passed = row.get("passed")
    return ("passed" if passed else "failed") if isinstance(passed, bool) else "judged"


@dataclass(frozen=True, slots=True)
class Part:
    """One text of an item, in pieces; code points in place of characters that would act."""

    title: str
    kind: str
    lang: str
    direction: str
    script: str
    pieces: list[list[str]]
    left: int
    """Characters that are not shown."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item as the page shows it."""

    number: int
    id: str
    group: str
    state: State
    score: str
    reason: Part
    parts: list[Part]
    details: list[tuple[str, str]]
    """Subscores, flags, findings and origin, by name."""
    findings: list[tuple[str, str]]
    """Severity and message of each."""
    raw: Part | None


_TEXTS = {"source": "Source", "candidate": "Output", "text": "Output", "reference": "Reference", "context": "Context"}
_WORD_TEXTS = {"word": "Word", "category": "Category", "prompt": "Prompt"}
_WRITTEN_IN_LANGUAGE = {"candidate", "text", "reference"}


def shown_item(number: int, row: Mapping[str, Any], table: LanguageTable, *, alone: bool = False) -> ShownItem:
    """Return a row as the page shows it; in the list, of long texts only the start."""
    longest = _SHOWN_ALONE if alone else _SHOWN_IN_LIST
    texts = _WORD_TEXTS if "word" in row else _TEXTS
    tag = "" if "word" in row else group_of(row)
    parts = [
        _part(title, name, row[name], table, tag if name in _WRITTEN_IN_LANGUAGE else "", longest)
        for name, title in texts.items()
        if isinstance(row.get(name), str) and (row[name] or name == "candidate")
    ]
    score, raw = score_of(row), row.get("raw")
    return ShownItem(
        number=number,
        id=one_line(str(row["word"] if "word" in row else row.get("id")), _LONGEST_NAME),
        group=group_of(row),
        state=state_of(row),
        score="" if score is None else f"{score:.4g}",
        reason=_part("Reason", "reason", str(row.get("reason") or ""), table, "", longest),
        parts=parts,
        details=_details(row),
        findings=_findings(row, table),
        raw=_part("Raw reply", "raw", raw, table, "", longest) if isinstance(raw, str) and raw else None,
    )


def _part(title: str, kind: str, text: str, table: LanguageTable, tag: str, longest: int) -> Part:
    found = table.find(tag) if tag else None
    lang, direction, script = (found.tag, found.direction, found.scripts[0]) if found else ("", "auto", "")
    return Part(title, kind, lang, direction, script, pieces(text[:longest]), max(0, len(text) - longest))


def _details(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers and the origin of a verdict."""
    found: list[tuple[str, str]] = []
    for name in ("subscores", "flags"):
        given = row.get(name)
        if isinstance(given, Mapping):
            each = (f"{key} {_word(value)}" for key, value in cast(Mapping[str, object], given).items())
            found.append((name.capitalize(), one_line(", ".join(each), _LONGEST_NAME)))
    if row.get("outcome") == "failure":
        found.append(("No verdict", one_line(str(row.get("kind") or "provider_error"), _LONGEST_NAME)))
    if "judge" in row:
        found.append(("Judge", one_line(str(row["judge"]), _LONGEST_NAME)))
    elif row.get("model"):
        found.append(("Judge", one_line(str(row["model"]), _LONGEST_NAME)))
    return [each for each in found if each[1]]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _findings(row: Mapping[str, Any], table: LanguageTable) -> list[tuple[str, str]]:
    """Return what the checks find in an output whose language is known."""
    text, source = row.get("candidate"), row.get("source")
    language = table.find(str(row.get("language") or ""))
    if not isinstance(text, str) or language is None:
        return []
    source = source if isinstance(source, str) else ""
    found = TextChecker(table).check(text[:_LONGEST_CHECKED], language, source=source[:_LONGEST_CHECKED])
    return [(each.severity, one_line(each.message, 400)) for each in found.problems]
