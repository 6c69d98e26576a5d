"""What a judge said of messages, kept so that a message whose question is the same is not asked about again.

The cache of replies has whole replies, each about the several messages of one call. Here each message has its own
verdict, so that it does not matter with which others it was asked about.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from polyjudge.errors import DataError
from polyjudge.files.json_lines import RowLog, each_json_line
from polyjudge.folder_trust import private_path
from polyjudge.records.codec import from_json, to_json

VERDICTS_FILE = "review-verdicts.jsonl"


class MessageVerdict(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a judge said of one message."""

    key: str
    """The hash of the question and of the model that was asked."""
    subscores: Mapping[str, int | float]
    reason: str
    suggestion: str = ""
    model: str = ""
    """The model that answered."""
    at: str = ""
    """When, ISO 8601 in UTC."""


class VerdictStore:
    """The verdicts of a project; several processes may append to it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or private_path(VERDICTS_FILE)

    def known(self, keys: Collection[str]) -> dict[str, MessageVerdict]:
        """Return the verdicts on questions, the latest of each; rows that cannot be read are ignored."""
        found = dict[str, MessageVerdict]()
        if not self.path.is_file():
            return found
        wanted = set(keys)
        for _, row in each_json_line(self.path):
            if isinstance(row, str) or row.get("key") not in wanted:
                continue  # a row that a kill left incomplete
            try:
                verdict = from_json(MessageVerdict, row)
            except DataError:
                continue
            found[verdict.key] = verdict
        return found

    def add(self, verdicts: Collection[MessageVerdict]) -> None:
        """Store verdicts; they survive a kill of the process when this returns."""
        log = RowLog(self.path)
        try:
            for verdict in verdicts:
                log.append(to_json(verdict))
        finally:
            log.close()
