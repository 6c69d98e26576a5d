"""Pinned sets of answers on disk, with the history of the watches of each."""

from pathlib import Path

from polyjudge.errors import DataError, suggestion
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import RowLog, each_json_line, readable_json
from polyjudge.files.names import safe_name
from polyjudge.files.ownership import own_fields
from polyjudge.folder_trust import private_path
from polyjudge.records.codec import to_json
from polyjudge.records.watches import PinnedSet, Watch

from .documents import Document, checked_object, read_document, record_in

FOLDER = "watch"
"""The folder of pinned sets in the private folder."""
_PINNED = Document(PinnedSet, "a pinned set", "pin the answers again")
_WATCH = Document(Watch, "a history of watches", "pin the answers again")


def watch_folder(name: str) -> Path:
    """Return the folder of a pinned set."""
    return private_path(FOLDER, safe_name(name))


def pinned_names() -> list[str]:
    """Return the names of the pinned sets."""
    return [read_pinned(path).name for path in sorted(private_path(FOLDER).glob("*/pinned.json"))]


def find_pinned(name: str) -> PinnedSet:
    """Return a pinned set; without a name, the only one."""
    names = pinned_names()
    if not names:
        raise DataError(
            "no answers are pinned in this folder yet. Pin the answers of a run first", option="from", value="RESULTS"
        )
    if not name and len(names) > 1:
        raise DataError(f"several sets of answers are pinned: {', '.join(names)}. Name one of them")
    if name and name not in names:
        raise DataError(f"no set of answers is pinned as {name!r}.{suggestion(name, names)} Pinned: {', '.join(names)}")
    return read_pinned(watch_folder(name or names[0]) / "pinned.json")


def place_to_pin(name: str) -> Path:
    """Return the file of a pinned set that must be new: the history of another one would no longer fit."""
    place = watch_folder(name) / "pinned.json"
    if place.exists():
        raise DataError(
            "this folder already contains a pinned set of this name; give another name, or delete the folder",
            path=place,
        )
    return place


def write_pinned(pinned: PinnedSet) -> Path:
    """Store a new pinned set."""
    place = place_to_pin(pinned.name)
    with write_atomically(place) as file:
        file.write(readable_json({**own_fields(), **to_json(pinned)}, indent=1) + "\n")
    return place


def read_pinned(path: Path) -> PinnedSet:
    """Read a pinned set."""
    return read_document(path, _PINNED)


def append_watch(watch: Watch) -> Path:
    """Add a watch to the history of its pinned set."""
    place = watch_folder(watch.name) / "history.jsonl"
    log = RowLog(place)
    try:
        log.lock()
        log.drop_incomplete_row()
        log.append({**own_fields(), **to_json(watch)})
    finally:
        log.close()
    return place


def history(name: str) -> tuple[list[Watch], list[str]]:
    """Return the watches of a pinned set, the oldest first, and what is wrong with the lines that cannot be read."""
    place, found, problems = watch_folder(name) / "history.jsonl", list[Watch](), list[str]()
    for line, row in each_json_line(place) if place.exists() else ():
        try:
            if isinstance(row, str):
                raise DataError(row, path=place, line=line)
            found.append(record_in(checked_object(row, _WATCH, place, line), _WATCH, place, line))
        except DataError as error:
            problems.append(str(error))
    if problems and not place.read_bytes().endswith(b"\n"):
        problems.pop()  # the process ended while it was written, and that watch is resumed
    return found, problems
