"""The journal of submitted batches.

The first record is on disk before the batch is handed over, so that a batch can be found again whatever happens. What
is told to the journal is on disk before the call returns. It holds no prompts and no secrets.
"""

import json
import math
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Any, cast, get_args

from msgspec.structs import replace

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.atomic import only_run_in, readable_json, write_atomically
from polyjudge.files.spill import KeySet
from polyjudge.folder_trust import private_path
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.requests import BatchIntent, BatchState, ItemFailure, is_batch_id

BATCHES_FOLDER = "batches"
"""The folder of the journal in the private folder."""
SCHEMA_VERSION = 1
_REMEDY = "mend it, or remove it: what its batch holds may then be paid for twice"


class BatchJob:
    """One batch as the journal knows it."""

    def __init__(self, path: Path, intent: BatchIntent) -> None:
        self.path = path
        self.intent = replace(intent, keys=())
        self.keys = KeySet(intent.keys)
        self.id = ""
        """The provider's own; none while nobody knows whether the batch was handed over."""
        self.was_found = False
        """The id is of a batch that was looked for, not what the provider answered."""
        self.disowned: set[str] = set()
        """Ids that were taken for this batch and belong to another."""
        self.state: BatchState = "running"
        self.rest = ItemFailure(kind="provider_error")
        """What items come back as that have no result of their own."""
        self.unanswered = 0
        """How many of those there are."""
        self.failures: dict[str, ItemFailure] = {}
        self.taken_into = ""
        """The cache that holds its results."""
        self.is_given_up = False
        """It was never handed over."""

    @property
    def told_state(self) -> str:
        """How far it has come, as last known, in a word or two."""
        if self.is_given_up:
            return "not handed over"
        if not self.id:
            return "being handed over"
        return f"{self.state}, taken in" if self.taken_into else self.state

    @property
    def failed_items(self) -> int:
        """Items that brought no answer."""
        return self.unanswered + sum(failure.kind != "unkept" for failure in self.failures.values())

    def read_keys(self) -> tuple[str, ...]:
        """Return the keys of its requests, from the file."""
        with self.path.open("rb") as file:
            return _intent(file.readline(), self.path).keys

    def submitted(self, batch_id: str, *, found: bool = False) -> None:
        """It is at the provider, under this id, which was answered or `found`."""
        self._tell({"event": "submitted", "id": batch_id, "found": found})

    def disown(self) -> None:
        """The id belongs to a batch of somebody else."""
        self._tell({"event": "disowned", "id": self.id})

    def give_up(self, reason: str) -> None:
        """It was not handed over, and will not be."""
        self._tell({"event": "given up", "reason": reason})

    def ended(self, state: BatchState, rest: ItemFailure, unanswered: int) -> None:
        """The provider is done with it; so many items have no result of their own, and come back as `rest`."""
        self._tell({"event": "ended", "state": state, "rest": to_json(rest), "unanswered": unanswered})

    def failed(self, failures: Mapping[str, ItemFailure]) -> None:
        """These items, by their keys, brought nothing that the cache keeps."""
        self._tell(*({"event": "item", "key": key, **to_json(failure)} for key, failure in failures.items()))

    def taken(self, place: str) -> None:
        """All its results are in the cache at this place."""
        self._tell({"event": "taken", "into": place})

    def apply(self, record: Mapping[str, Any]) -> None:
        """Take in a record; one that is none of ours raises a `ValueError`."""
        match record["event"]:
            case "submitted":
                self.id, self.was_found = _batch_id(record["id"]), bool(record["found"])
            case "disowned":
                self.disowned.add(self.id)
                self.id, self.state = "", "running"
            case "given up":
                self.is_given_up = True
            case "ended":
                self.state, self.unanswered = _state(record["state"]), int(record["unanswered"])
                self.rest = from_json(ItemFailure, record["rest"])
            case "item":
                self.failures[record["key"]] = from_json(ItemFailure, record)
            case "taken":
                self.taken_into = str(record["into"])
            case other:
                raise ValueError(f"{other!r} is no event")

    def _tell(self, *records: Mapping[str, Any]) -> None:
        if not records:
            return
        moment = utc_now()
        lines = "".join(readable_json({**record, "at": moment}) + "\n" for record in records)
        _append(self.path, lines.encode())
        for record in records:
            self.apply(record)


class BatchJournal:
    """All batches that were handed over from a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or private_path(BATCHES_FOLDER)

    def only_writer(self) -> AbstractContextManager[None]:
        """Be the only one who hands over batches from here, or raise; others may read meanwhile."""
        return only_run_in(self.folder)

    def intend(self, intent: BatchIntent) -> BatchJob:
        """Write down what is about to be handed over."""
        path = self.folder / f"{intent.tag}.jsonl"
        with write_atomically(path) as file:
            record = {"schemaVersion": SCHEMA_VERSION, "event": "intended", **to_json(intent)}
            file.write(json.dumps(record) + "\n")
        _settle(self.folder)
        return BatchJob(path, intent)

    def jobs(self, *, mend: bool = False) -> Iterator[BatchJob]:
        """Yield the batches, oldest first; a file that cannot be read is an error.

        `mend` is for the only writer: a record that was torn off at the end is removed, with a warning.
        """
        jobs = [_read(path, mend=mend) for path in sorted(self.folder.glob("*.jsonl"))]
        yield from sorted(jobs, key=lambda job: job.intent.created_at)

    def sound_jobs(self, problems: list[str]) -> list[BatchJob]:
        """Return the batches whose files can be read; `problems` is told of the others."""
        jobs: list[BatchJob] = []
        for path in sorted(self.folder.glob("*.jsonl")):
            try:
                jobs.append(_read(path, mend=False))
            except DataError as error:
                problems.append(str(error))
        return sorted(jobs, key=lambda job: job.intent.created_at)


def _read(path: Path, *, mend: bool) -> BatchJob:
    try:
        *lines, torn = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if not lines:
        raise DataError(f"holds no whole record of a batch; {_REMEDY}", path=path)
    job = BatchJob(path, _intent(lines[0], path))
    for number, line in enumerate(lines[1:], start=2):
        try:
            job.apply(json.loads(line))
        except (ArithmeticError, ValueError, KeyError, TypeError, RecursionError, DataError) as error:
            told = f"is no record of a batch ({type(error).__name__}: {str(error)[:200]}); {_REMEDY}"
            raise DataError(told, path=path, line=number) from None
    if torn and mend:
        warnings.warn(f"{path}:{len(lines) + 1}: the record is torn off and counts as not written", stacklevel=4)
        os.truncate(path, path.stat().st_size - len(torn))
    return job


def _intent(line: bytes, path: Path) -> BatchIntent:
    try:
        record = cast(object, json.loads(line))
        intent = from_json(BatchIntent, record)
        KeySet(intent.keys)
        if datetime.fromisoformat(intent.created_at).tzinfo is None:
            raise ValueError("createdAt names no time zone")
        if not (intent.most_tokens >= 0 and 0 <= intent.most_cost_usd < math.inf):
            raise ValueError("what it can take at most is no number from 0 on")
        if cast(dict[str, Any], record).get("schemaVersion") != SCHEMA_VERSION:
            raise DataError(f"schemaVersion is not {SCHEMA_VERSION}")
    except (ArithmeticError, ValueError, RecursionError, DataError) as error:
        told = f"is no record of a batch ({str(error)[:200]}); {_REMEDY}"
        raise DataError(told, path=path, line=1) from None
    return intent


def _batch_id(value: object) -> str:
    if not isinstance(value, str) or not is_batch_id(value):
        raise ValueError(f"{str(value)[:100]!r} is no id of a batch")
    return value


def _state(value: object) -> BatchState:
    if value not in get_args(BatchState):
        raise ValueError(f"{str(value)[:100]!r} is no state of a batch")
    return cast(BatchState, value)


def _append(path: Path, data: bytes) -> None:
    """Put records at the end of a file, and on disk."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None


def _settle(folder: Path) -> None:
    """See that the name of a new file is on disk as well."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
