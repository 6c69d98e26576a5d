"""What judges made of models' answers about words: one row each, kept as it comes, put in order in the end."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from polyjudge.errors import DataError
from polyjudge.records import Judgement

from .json_lines import read_json_lines
from .json_records import from_json, to_json
from .row_log import RowLog, row_line
from .writing import write_atomically

SCHEMA_VERSION = 1


def read_judgements(path: Path) -> Iterator[Judgement]:
    """Yield the rows of a file."""
    for number, row in read_json_lines(path):
        if row.get("schemaVersion") != SCHEMA_VERSION:
            told = f"schemaVersion is {row.get('schemaVersion')!r}, expected {SCHEMA_VERSION}"
            raise DataError(told, path=path, line=number)
        try:
            yield from_json(Judgement, row)
        except DataError as error:
            raise DataError(f"is no judgement: {error}", path=path, line=number) from None


class JudgementLog:
    """A file of judgements in the making; until it is finished its rows stand in `NAME.partial`."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._log: RowLog | None = None
        if not read_only:
            self._log = RowLog(self._partial)
            self._log.lock()
            self._log.cut_torn_row()

    def kept(self) -> dict[str, Judgement]:
        """Return what earlier runs left, finished or not, by id; the latest counts."""
        files = [path for path in (self.path, self._partial) if path.exists()]
        return {each.id: each for path in files for each in read_judgements(path)}

    def append(self, judgement: Judgement) -> None:
        """Keep a judgement at once; where nothing may be written, do nothing."""
        if self._log is not None:
            self._log.append(_row(judgement))

    def finish(self, judgements: Iterable[Judgement]) -> None:
        """Write all of them in order, in place of what was kept."""
        with write_atomically(self.path) as file:
            file.writelines(row_line(_row(each)) for each in judgements)
        self._partial.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._log is not None:
            if self._log.is_empty:
                self._partial.unlink(missing_ok=True)
            self._log.close()


def _row(judgement: Judgement) -> dict[str, object]:
    return {"schemaVersion": SCHEMA_VERSION, **to_json(judgement)}
