"""Outcomes by the ids of their items, on disk: an earlier run may have more of them than memory holds."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from polyjudge.records import Outcome

from .outcome_rows import outcome_row, read_outcome_row
from .parsing import parse_json
from .scratch_tables import open_scratch, stored, unstored

_SCHEMA = "CREATE TABLE outcomes (id BLOB PRIMARY KEY, outcome TEXT, is_wanted INTEGER DEFAULT 0) WITHOUT ROWID"


class StoredOutcomes(Mapping[str, Outcome]):
    """What was found out about some items; of an id that comes twice the last counts."""

    def __init__(self) -> None:
        self._scratch = open_scratch(self, _SCHEMA)

    def add(self, item_id: str, outcome: Outcome) -> None:
        """Take in an outcome."""
        row = json.dumps(outcome_row(item_id, outcome), default=str)
        self._scratch.execute("INSERT OR REPLACE INTO outcomes (id, outcome) VALUES (?, ?)", (stored(item_id), row))

    def want(self, item_id: str) -> None:
        """Say that an outcome is needed, if it is here."""
        self._scratch.execute("UPDATE outcomes SET is_wanted = 1 WHERE id = ?", (stored(item_id),))

    def unwanted(self) -> Iterator[str]:
        """Yield the ids that nobody wanted."""
        for (item_id,) in self._scratch.execute("SELECT id FROM outcomes WHERE NOT is_wanted ORDER BY id"):
            yield unstored(item_id)

    def drop(self, item_id: str) -> None:
        """Forget an outcome."""
        self._scratch.execute("DELETE FROM outcomes WHERE id = ?", (stored(item_id),))

    def __getitem__(self, item_id: str) -> Outcome:
        query = "SELECT outcome FROM outcomes WHERE id = ?"
        found = self._scratch.execute(query, (stored(item_id),)).fetchone()
        if found is None:
            raise KeyError(item_id)
        return read_outcome_row(cast(dict[str, Any], parse_json(found[0])))[1]

    def __iter__(self) -> Iterator[str]:
        for (item_id,) in self._scratch.execute("SELECT id FROM outcomes ORDER BY id"):
            yield unstored(item_id)

    def __len__(self) -> int:
        return self._scratch.execute("SELECT count(*) FROM outcomes").fetchone()[0]
