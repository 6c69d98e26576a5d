"""Judgements of word answers: one row for each answer and judge."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import RowLog, each_json_line, row_line
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.vocabulary import Judgement

SCHEMA_VERSION = 1


def read_judgements(path: Path) -> Iterator[Judgement]:
    """Yield the rows of a file; the same judgement twice is an error."""
    seen: set[str] = set()
    for number, judgement in _numbered(path):
        if judgement.id in seen:
            raise DataError(f"holds {judgement.id!r} a second time", path=path, line=number)
        seen.add(judgement.id)
        yield judgement


def _numbered(path: Path, *, may_be_torn: bool = False) -> Iterator[tuple[int, Judgement]]:
    torn = _torn_line(path) if may_be_torn else 0
    for number, row in each_json_line(path):
        if isinstance(row, str):
            if number == torn:
                return  # a run that was killed, or had no more room, left the last row without its end
            raise DataError(f"{row}; mend the line or remove the file", path=path, line=number)
        if row.get("schemaVersion") != SCHEMA_VERSION:
            told = f"schemaVersion is {row.get('schemaVersion')!r}, expected {SCHEMA_VERSION}"
            raise DataError(told, path=path, line=number)
        try:
            yield number, from_json(Judgement, row)
        except DataError as error:
            raise DataError(f"is no judgement: {error}", path=path, line=number) from None


def _torn_line(path: Path) -> int:
    """Return the number of the last line where it lacks its line break, else 0."""
    number, line = 0, b"\n"
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):  # noqa: B007 - the last one is wanted
            pass
    return 0 if line.endswith(b"\n") else number


class JudgementLog:
    """A file of judgements in the making, by the only run in its folder; its rows stand in `NAME.partial` until then.

    What was paid for and is no part of the present run, another judge's verdicts perhaps, stands in `NAME.earlier`.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._earlier = path.with_name(f"{path.name}.earlier")
        self._log: RowLog | None = None
        if not read_only:
            self._log = RowLog(self._partial)
            self._log.cut_torn_row()

    def kept(self) -> dict[str, Judgement]:
        """Return what earlier runs left, finished or not, by id; the latest counts."""
        files = [path for path in (self._earlier, self.path, self._partial) if path.exists()]
        return {each.id: each for path in files for _, each in _numbered(path, may_be_torn=path == self._partial)}

    def append(self, judgement: Judgement) -> None:
        """Keep a judgement at once; where nothing may be written, do nothing."""
        if self._log is not None:
            self._log.append(_row(judgement))

    def finish(self, judgements: Sequence[Judgement]) -> None:
        """Write all of them in order; what else was kept, and was paid for, is set aside."""
        ids = {each.id for each in judgements}
        others = [each for key, each in self.kept().items() if key not in ids and each.provenance is not None]
        if others:
            _write(self._earlier, others)
        _write(self.path, judgements)
        if not others:
            self._earlier.unlink(missing_ok=True)
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


def _write(path: Path, judgements: Iterable[Judgement]) -> None:
    with write_atomically(path) as file:
        file.writelines(row_line(_row(each)) for each in judgements)


def _row(judgement: Judgement) -> dict[str, object]:
    return {"schemaVersion": SCHEMA_VERSION, **to_json(judgement)}
