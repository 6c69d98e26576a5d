"""Where the rows of `polyjudge score` go: into a file that can be gone on with, or to stdout."""

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from polyjudge.clock import utc_now
from polyjudge.files.json_lines import row_line
from polyjudge.records.outcomes import Item, Outcome, item_row
from polyjudge.store.run_file import RunFile


class Rows(Protocol):
    """Takes the outcomes of a run, one after the other."""

    began: str
    """When the run was first begun, ISO 8601 in UTC."""
    place: Path | None
    """Where unfinished rows stand."""

    def kept(self) -> Iterator[tuple[str, Outcome]]:
        """Yield what an unfinished run left, with the items' ids, in the order of the items."""
        ...

    def write(self, item: Item, outcome: Outcome) -> None:
        """Write the row of one item."""
        ...

    def kept_ahead(self) -> Iterator[tuple[str, Outcome]]:
        """Yield what an unfinished run kept of items whose turn had not come."""
        ...

    def keep_ahead(self, item: Item, outcome: Outcome) -> None:
        """Keep the outcome of an item whose turn has not come."""
        ...

    def finish(self) -> None:
        """All rows are written."""
        ...

    def forget_beginning(self) -> None:
        """Nothing was asked: where no row is written either, the next run begins anew."""
        ...


@contextmanager
def open_rows(path: Path | None, fingerprint: str, *, force: bool) -> Generator[Rows]:
    """Open the results file of a run, or stdout where none is named."""
    if path is None:
        yield _Printed()
    else:
        with RunFile(path, fingerprint, force=force) as file:
            yield _Filed(file)


class _Filed:
    def __init__(self, file: RunFile) -> None:
        self._file = file
        self.began = file.began
        self.place: Path | None = file.partial

    def kept(self) -> Iterator[tuple[str, Outcome]]:
        return self._file.rows()

    def write(self, item: Item, outcome: Outcome) -> None:
        self._file.append(item_row(item, outcome))

    def kept_ahead(self) -> Iterator[tuple[str, Outcome]]:
        return self._file.rows_ahead()

    def keep_ahead(self, item: Item, outcome: Outcome) -> None:
        self._file.keep_ahead(item_row(item, outcome))

    def finish(self) -> None:
        self._file.finish()

    def forget_beginning(self) -> None:
        self._file.forget_beginning()


class _Printed:
    def __init__(self) -> None:
        self.began = utc_now()
        self.place: Path | None = None

    def kept(self) -> Iterator[tuple[str, Outcome]]:
        return iter(())

    def write(self, item: Item, outcome: Outcome) -> None:
        sys.stdout.write(row_line(item_row(item, outcome)))
        sys.stdout.flush()

    def kept_ahead(self) -> Iterator[tuple[str, Outcome]]:
        return iter(())

    def keep_ahead(self, item: Item, outcome: Outcome) -> None:
        pass

    def finish(self) -> None:
        pass

    def forget_beginning(self) -> None:
        pass
