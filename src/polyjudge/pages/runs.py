"""Find the runs under a folder, and summarize them."""

import itertools
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.json_lines import each_json_line
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.languages.table import LanguageTable
from polyjudge.reports.blocks import Block, Heading, Lines, Table
from polyjudge.reports.translation import Report
from polyjudge.statistics.intervals import RunningMean
from polyjudge.store.trust_cards import identity_in, read_card, trust_in

Kind = Literal["translation", "score"]
_JUDGES = ("quick", "full")
_MOST_RUNS = 1_000
_MOST_FILES = 100_000
_SNIFFED = 1 << 16
_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "site-packages"}
_OUTPUTS = re.compile(rb'"generatedOutput"\s*:')
_SCORED = re.compile(rb'"outcome"\s*:\s*"(?:result|failure)"')


@dataclass(frozen=True, slots=True)
class RunEntry:
    """One run: its results, and the files with judges' scores of a translator's results."""

    name: str
    """Path relative to the folder."""
    path: Path
    kind: Kind
    scores: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """By the judge's name: quick, full."""
    card: Path | None = None
    """The trust card that the demo writes beside its results."""

    @property
    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Path, time and size of each file, to detect changes."""
        paths = (self.path, *self.scores.values(), *filter(None, [self.card]))
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
        run = _run(root, path) if path.is_relative_to(root) and path.is_file() else None
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
    if run.kind == "score":
        rows, unread = _by_language(run)
        judged, items = sum(row.mean.count for row in rows.values()), sum(row.items for row in rows.values())
        counts = {"items": items, "judged": judged, "unjudged": items - judged, "unreadable": unread}
        return {"languages": len(rows.keys() - {""}), **counts}
    report = report_of(run, table)
    counts = {status.lower(): count for status, count in report.totals.counts.items()}
    return {"languages": report.totals.languages, "items": sum(each.prompts for each in report.verdicts), **counts}


def score_blocks(run: RunEntry, table: LanguageTable) -> Iterator[Block]:
    """Yield a summary of the rows of `score` by language."""
    rows, unread = _by_language(run)
    yield Heading(1, f"Scores in {run.name}")
    items, judged = sum(row.items for row in rows.values()), sum(row.mean.count for row in rows.values())
    yield Lines((f"{items:,} items, {judged:,} judged, {items - judged:,} without a verdict.",))
    if unread:
        yield Lines((f"Lines that cannot be read and are not counted: {unread:,}.",))
    header = ("Language", "Items", "Judged", "Unjudged", "Mean score", "95% interval")
    yield Table(header, tuple(_score_row(tag, row, table) for tag, row in sorted(rows.items())), (1, 2, 3, 4, 5))
    yield Lines(("Do not compare means between languages: judges are stricter in some languages than in others.",))


def _cards(run: RunEntry) -> list[Path]:
    """Return the trust card beside a run, if it is valid."""
    if run.card is None:
        return []
    try:
        read_card(run.card)
    except DataError:
        return []
    return [run.card]


@dataclass(slots=True)
class _Scored:
    mean: RunningMean = field(default_factory=RunningMean)
    items: int = 0


def _by_language(run: RunEntry) -> tuple[dict[str, _Scored], int]:
    """Return the scores by language, and the number of unreadable lines, except an unfinished last one."""
    rows: defaultdict[str, _Scored] = defaultdict(_Scored)
    unread, is_last_unread = 0, False
    for _, given in each_json_line(run.path):
        is_last_unread = isinstance(given, str)
        if isinstance(given, str):
            unread += 1
            continue
        row, score = rows[str(given.get("language") or "")], given.get("score")
        row.items += 1
        if given.get("outcome") == "result" and isinstance(score, int | float) and _is_finite(score):
            row.mean.add(score)
    return dict(rows), unread - is_last_unread


def _is_finite(score: float) -> bool:
    try:
        return math.isfinite(score)
    except OverflowError:  # a number of hundreds of digits
        return False


def _score_row(tag: str, row: _Scored, table: LanguageTable) -> tuple[str, ...]:
    found = table.find(tag) if tag else None
    name = f"{found.name} ({tag})" if found else tag or "no language"
    interval = row.mean.interval()
    return (
        name,
        f"{row.items:,}",
        f"{row.mean.count:,}",
        f"{row.items - row.mean.count:,}",
        f"{row.mean.mean:.2f}" if row.mean.count else "–",
        "–" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}",
    )


def _files(root: Path) -> Iterator[Path]:
    """Yield the files under a folder."""
    for here, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        yield from (Path(here) / name for name in sorted(names))


def _may_be_run(root: Path, path: Path) -> RunEntry | None:
    """Return the run in a file, if there is one and the page can link to it."""
    may_be = path.suffix.lower() in (".json", ".jsonl") and path.name[0] != "." and _has_utf8_name(path, root)
    return _run(root, path) if may_be and _is_inside(path, root) else None


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
    start = _first_bytes(path)
    name = str(path.relative_to(root))
    if path.suffix.lower() in (".json", ".jsonl") and _OUTPUTS.search(start):
        beside = {judge: path.with_name(f"{path.stem}-{judge}-judge.json") for judge in _JUDGES}
        inside = {judge: file for judge, file in beside.items() if _is_inside(file, root)}
        card = path.with_name("card.json")
        return RunEntry(name, path, "translation", inside, card if _is_inside(card, root) else None)
    if path.suffix.lower() == ".jsonl" and _SCORED.search(start.partition(b"\n")[0]):
        return RunEntry(name, path, "score")
    return None


def _is_inside(path: Path, root: Path) -> bool:
    """Say whether a path is a regular file inside the folder, also after links are followed."""
    return path.is_file() and path.resolve().is_relative_to(root)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_SNIFFED)
    except OSError:
        return b""  # an unreadable file is not a run
