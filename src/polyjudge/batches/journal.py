"""The journal of submitted batches.

The first record is on disk before the batch is submitted, so that a killed run can find its batches again. Every record
is on disk before the call returns. The journal contains no prompts and no secrets.
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
from polyjudge.errors import DataError, other_version
from polyjudge.files.atomic import lock_folder, sync_to_disk, write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.spill import KeySet
from polyjudge.folder_trust import BATCHES_FOLDER, private_path
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.requests import BatchIntent, BatchState, ItemFailure, is_batch_id

SCHEMA_VERSION = 1
_REMEDY = "repair or delete this file; without it, the requests of its batch may be paid for twice"


class BatchJob:
    """One batch, as recorded in the journal."""

    def __init__(self, path: Path, intent: BatchIntent) -> None:
        self.path = path
        self.intent = replace(intent, keys=())
        self.keys = KeySet(intent.keys)
        self.id = ""
        """The provider's id; empty while it is not known whether the batch was submitted."""
        self.was_found = False
        """Whether the id was found by searching, instead of returned by the submission."""
        self.foreign_ids: set[str] = set()
        """Ids that were mistaken for this batch and belong to another."""
        self.state: BatchState = "running"
        self.rest = ItemFailure(kind="provider_error")
        """The failure of items that have no result of their own."""
        self.missing_results = 0
        """The number of items without a result of their own."""
        self.failures: dict[str, ItemFailure] = {}
        self.stored_in = ""
        """The cache in which its results are stored."""
        self.is_abandoned = False
        """Whether it was never submitted."""

    @property
    def state_label(self) -> str:
        """The last known state, as shown to users."""
        if self.is_abandoned:
            return "not submitted"
        if not self.id:
            return "submitting"
        return f"{self.state}, results stored" if self.stored_in else self.state

    @property
    def failed_items(self) -> int:
        """The number of items without a reply."""
        return self.missing_results + sum(failure.kind != "unkept" for failure in self.failures.values())

    def read_keys(self) -> tuple[str, ...]:
        """Read the keys of its requests from the file."""
        with self.path.open("rb") as file:
            return _intent(file.readline(), self.path).keys

    def submitted(self, batch_id: str, *, found: bool = False) -> None:
        """Record the id, which the provider returned or which was `found` by searching."""
        self._record({"event": "submitted", "id": batch_id, "found": found})

    def mark_foreign(self) -> None:
        """Record that the id belongs to another batch."""
        self._record({"event": "disowned", "id": self.id})

    def abandon(self, reason: str) -> None:
        """Record that the batch was not submitted and will not be."""
        self._record({"event": "given up", "reason": reason})

    def ended(self, state: BatchState, rest: ItemFailure, missing_results: int) -> None:
        """Record that the batch has ended, with the failure of the items without a result of their own."""
        self._record({"event": "ended", "state": state, "rest": to_json(rest), "unanswered": missing_results})

    def failed(self, failures: Mapping[str, ItemFailure]) -> None:
        """Record the items, by key, for which nothing is stored in the cache."""
        self._record(*({"event": "item", "key": key, **to_json(failure)} for key, failure in failures.items()))

    def stored(self, place: str) -> None:
        """Record that all its results are in this cache."""
        self._record({"event": "taken", "into": place})

    def apply(self, record: Mapping[str, Any]) -> None:
        """Apply a record, or raise ValueError if it is invalid."""
        match record["event"]:
            case "submitted":
                self.id, self.was_found = _batch_id(record["id"]), bool(record["found"])
            case "disowned":
                self.foreign_ids.add(self.id)
                self.id, self.state = "", "running"
            case "given up":
                self.is_abandoned = True
            case "ended":
                self.state, self.missing_results = _state(record["state"]), int(record["unanswered"])
                self.rest = from_json(ItemFailure, record["rest"])
            case "item":
                self.failures[record["key"]] = from_json(ItemFailure, record)
            case "taken":
                self.stored_in = str(record["into"])
            case other:
                raise ValueError(f"unknown event {other!r}")

    def _record(self, *records: Mapping[str, Any]) -> None:
        if not records:
            return
        timestamp = utc_now()
        lines = "".join(readable_json({**record, "at": timestamp}) + "\n" for record in records)
        _append(self.path, lines.encode())
        for record in records:
            self.apply(record)


class BatchJournal:
    """The batches that were submitted from a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or private_path(BATCHES_FOLDER)

    def writer_lock(self) -> AbstractContextManager[None]:
        """Lock the folder for submitting batches, or raise if another run has locked it; reading needs no lock."""
        return lock_folder(self.folder)

    def create(self, intent: BatchIntent) -> BatchJob:
        """Record a batch that is about to be submitted."""
        path = self.folder / f"{intent.tag}.jsonl"
        with write_atomically(path) as file:
            record = {"schemaVersion": SCHEMA_VERSION, "event": "intended", **to_json(intent)}
            file.write(json.dumps(record) + "\n")
        sync_to_disk(self.folder)
        return BatchJob(path, intent)

    def jobs(self, *, repair: bool = False) -> Iterator[BatchJob]:
        """Yield the batches, oldest first; raise DataError for a file that cannot be read.

        With `repair`, which requires the lock, remove an incomplete record at the end of a file, with a warning.
        """
        jobs = [_read(path, repair=repair) for path in sorted(self.folder.glob("*.jsonl"))]
        yield from sorted(jobs, key=lambda job: job.intent.created_at)

    def readable_jobs(self, problems: list[str]) -> list[BatchJob]:
        """Return the batches whose files can be read; add a message to `problems` for each other file."""
        jobs: list[BatchJob] = []
        for path in sorted(self.folder.glob("*.jsonl")):
            try:
                jobs.append(_read(path, repair=False))
            except DataError as error:
                problems.append(str(error))
        return sorted(jobs, key=lambda job: job.intent.created_at)


def _read(path: Path, *, repair: bool) -> BatchJob:
    try:
        *lines, partial = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if not lines:
        raise DataError(f"no complete record of a batch; {_REMEDY}", path=path)
    job = BatchJob(path, _intent(lines[0], path))
    for number, line in enumerate(lines[1:], start=2):
        try:
            job.apply(json.loads(line))
        except (ArithmeticError, ValueError, KeyError, TypeError, RecursionError, DataError) as error:
            message = f"invalid record of a batch ({type(error).__name__}: {str(error)[:200]}); {_REMEDY}"
            raise DataError(message, path=path, line=number) from None
    if partial and repair:
        warnings.warn(
            f"{path}:{len(lines) + 1}: removed an incomplete record, left by a run that was killed",
            stacklevel=4,
        )
        os.truncate(path, path.stat().st_size - len(partial))
    return job


def _intent(line: bytes, path: Path) -> BatchIntent:
    try:
        record = cast(object, json.loads(line))
        intent = from_json(BatchIntent, record)
        KeySet(intent.keys)
        if datetime.fromisoformat(intent.created_at).tzinfo is None:
            raise ValueError("createdAt has no time zone")
        if not (intent.most_tokens >= 0 and 0 <= intent.most_cost_usd < math.inf):
            raise ValueError("mostTokens and mostCostUsd must be numbers from 0 on")
        version = cast(dict[str, Any], record).get("schemaVersion")
        if version != SCHEMA_VERSION:
            raise DataError(other_version(version, SCHEMA_VERSION))
    except (ArithmeticError, ValueError, RecursionError, DataError) as error:
        message = f"invalid record of a batch ({str(error)[:200]}); {_REMEDY}"
        raise DataError(message, path=path, line=1) from None
    return intent


def _batch_id(value: object) -> str:
    if not isinstance(value, str) or not is_batch_id(value):
        raise ValueError(f"{str(value)[:100]!r} is not a valid batch id")
    return value


def _state(value: object) -> BatchState:
    if value not in get_args(BatchState):
        raise ValueError(f"{str(value)[:100]!r} is not a valid batch state")
    return cast(BatchState, value)


def _append(path: Path, data: bytes) -> None:
    """Append records to a file, and flush them to disk."""
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
