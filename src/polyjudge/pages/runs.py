"""Find the runs under a folder, and summarize them."""

import itertools
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_data
from polyjudge.formats.row_files import rows_of
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.languages.table import LanguageTable
from polyjudge.reports.blocks import Block, Heading, Lines, Table
from polyjudge.reports.run_kinds import START, ListedKind, is_results_manifest, kind_at_start
from polyjudge.reports.translation import Report
from polyjudge.store.run_folder import MANIFEST_FILE
from polyjudge.store.trust_cards import identity_in, read_card, trust_in

from .items import State, group_of, state_of

_JUDGES = ("quick", "full")
_MOST_RUNS = 1_000
_MOST_FILES = 100_000
_LARGEST_REVIEW = 1 << 24
_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "site-packages"}


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run: its results, and the files with judges' scores of a translator's results."""

    name: str
    """Path relative to the folder."""
    path: Path
    kind: ListedKind
    scores: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """By the judge's name: quick, full."""
    card: Path | None = None
    """The trust card that the demo writes beside its results."""

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Path, time and size of each file, to detect changes."""
        rows = self.path / MANIFEST_FILE if self.path.is_dir() else self.path
        paths = (rows, *self.scores.values(), *filter(None, [self.card]))
        try:
            found = [(path, path.stat()) for path in paths]
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path=Path(self.name)) from None
        return tuple((str(path), state.st_mtime_ns, state.st_size) for path, state in found)


@dataclass(frozen=True, slots=True)
class RunList:
    """The runs under a folder, the newest first."""

    runs: list[RunEntry]
    notes: tuple[str, ...] = ()
    """Messages about runs that were left out."""


def find_runs(folder: Path, *, most_files: int = _MOST_FILES) -> RunList:
    """Return the runs under a folder, the newest first; links that lead out of it are not followed."""
    root = folder.resolve()
    files = list(itertools.islice(_files(root), most_files + 1))
    notes: list[str] = []
    if len(files) > most_files:
        notes.append(f"The folder has more than {most_files:,} files; runs among the others are not shown.")
    newest = sorted(files[:most_files], key=lambda path: (-_changed(path), path))
    found = (run for path in newest if (run := _may_be_run(root, path)) is not None)
    runs = list(itertools.islice(found, _MOST_RUNS + 1))
    if len(runs) > _MOST_RUNS:
        notes.append(f"Only the newest {_MOST_RUNS:,} runs are shown.")
    return RunList(runs[:_MOST_RUNS], tuple(notes))


def find_run(folder: Path, name: str) -> RunEntry:
    """Return one run by its name; refuse a path outside the folder, or without a run."""
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        run = _any_run(root, path) if path.is_relative_to(root) else None
    except (OSError, ValueError, RuntimeError):  # an invalid file name, or a cycle of links
        run = None
    if run is None:
        raise DataError("No such run in this folder.")
    return run


def report_of(run: RunEntry, table: LanguageTable) -> Report:
    """Return the report on a translator's run."""
    scores = {name: TranslationScores(path) for name, path in run.scores.items()}
    trust = {name: trust_in(identity_in(each), _cards(run)) for name, each in scores.items()}
    return Report(TranslationResults(run.path), scores, table, timestamp=utc_now(), trust=trust)


def summary_of(run: RunEntry, table: LanguageTable) -> dict[str, Any]:
    """Return the counts of a run: items, languages, and languages by status."""
    if run.kind == "transcript":
        judged = int(bool(read_review(run).get("verdict")))
        return {"items": 1, "judged": judged, "unjudged": 1 - judged}
    if run.kind != "translation":
        return _summary_of_rows(run)
    report = report_of(run, table)
    counts = {status.lower(): count for status, count in report.totals.counts.items()}
    return {"languages": report.totals.languages, "items": sum(each.prompts for each in report.verdicts), **counts}


def _summary_of_rows(run: RunEntry) -> dict[str, Any]:
    """Count the rows of a run; an unfinished last line is not counted as unreadable."""
    groups, states = set[str](), Counter[State]()
    unread, is_last_unread = 0, False
    for _, row in rows_of(run.path):
        is_last_unread = isinstance(row, str)
        if isinstance(row, str):
            unread += 1
            continue
        groups.add(group_of(row))
        states[state_of(row)] += 1
    items, unjudged = states.total(), states["unjudged"]
    languages = {} if run.kind == "vocabulary" else {"languages": len(groups - {""})}
    rule = {"meets": states["passed"], "misses": states["failed"]} if states["passed"] + states["failed"] else {}
    counts = {"items": items, "judged": items - unjudged, "unjudged": unjudged, "unreadable": unread - is_last_unread}
    return {**languages, **counts, **rule}


def read_review(run: RunEntry) -> Mapping[str, Any]:
    """Read the result of the review of a session."""
    try:
        if run.path.stat().st_size > _LARGEST_REVIEW:
            raise DataError("the file is too large to be shown as a review", path=Path(run.name))
        found = parse_data(run.path.read_text(encoding="utf-8"), Path(run.name))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read: {error}", path=Path(run.name)) from None
    return cast(Mapping[str, Any], found) if isinstance(found, dict) else {}


def review_blocks(run: RunEntry, root: Path) -> Iterator[Block]:
    """Yield the review of a session: the scores, then the text if its file is beside them."""
    row = read_review(run)
    yield Heading(1, f"Review of {row.get('scenarioId') or run.name}")
    fields = {
        "Verdict": row.get("verdict"),
        "Agent score": row.get("agentScore"),
        "System score": row.get("systemScore"),
        "No verdict because": row.get("error"),
        "Judge": f"{row.get('provider')}/{row.get('model')}",
        "Judged at": row.get("judgedAt"),
        "Session": row.get("transcriptPath"),
        "Events": row.get("events"),
        "Left out": row.get("leftOut"),
    }
    yield Table(("Field", "Value"), tuple((name, str(value)) for name, value in fields.items() if value is not None))
    text = run.path.with_suffix(".md")
    if _is_inside(text, root):
        yield Heading(2, "Review")
        yield Lines(tuple(_start_of(text).decode(errors="replace").splitlines()))


def _cards(run: RunEntry) -> list[Path]:
    """Return the trust card beside a run, if it is valid."""
    if run.card is None:
        return []
    try:
        read_card(run.card)
    except DataError:
        return []
    return [run.card]


def _files(root: Path) -> Iterator[Path]:
    """Yield the files under a folder."""
    for here, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        yield from (Path(here) / name for name in sorted(names))


def _may_be_run(root: Path, path: Path) -> RunEntry | None:
    """Return the run in a file, if there is one and the page can link to it."""
    may_be = path.suffix.lower() in (".json", ".jsonl") and path.name[0] != "." and _has_utf8_name(path, root)
    if not may_be or not _is_inside(path, root):
        return None
    return _any_run(root, path.parent) if path.name == MANIFEST_FILE else _run(root, path)


def _any_run(root: Path, path: Path) -> RunEntry | None:
    """Return the run in a file or folder."""
    if not path.is_dir():
        return _run(root, path) if path.is_file() else None
    manifest = path / MANIFEST_FILE
    if not _is_inside(manifest, root) or not is_results_manifest(_start_of(manifest)):
        return None
    return RunEntry(str(path.relative_to(root)), path, "score")


def _has_utf8_name(path: Path, root: Path) -> bool:
    """Say whether a file name is UTF-8: the page cannot link to others."""
    try:
        str(path.relative_to(root)).encode()
    except UnicodeEncodeError:
        return False
    return True


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0  # it was removed in the meantime


def _run(root: Path, path: Path) -> RunEntry | None:
    """Return the run in a file, recognized by its first bytes."""
    if any(path.stem.endswith(f"-{judge}-judge") for judge in _JUDGES):
        return None  # scores of the results beside it
    kind, name = kind_at_start(_start_of(path), path.suffix.lower()), str(path.relative_to(root))
    if kind == "translation":
        beside = {judge: path.with_name(f"{path.stem}-{judge}-judge.json") for judge in _JUDGES}
        inside = {judge: file for judge, file in beside.items() if _is_inside(file, root)}
        card = path.with_name("card.json")
        return RunEntry(name, path, kind, inside, card if _is_inside(card, root) else None)
    return RunEntry(name, path, kind) if kind else None


def _is_inside(path: Path, root: Path) -> bool:
    """Say whether a path is a regular file inside the folder, also after links are followed."""
    return path.is_file() and path.resolve().is_relative_to(root)


def _start_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(START)
    except OSError:
        return b""  # an unreadable file is not a run
