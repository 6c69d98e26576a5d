"""Split items into shards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.json_lines import START, Mark
from polyjudge.formats.columns import RowMapper
from polyjudge.formats.items import ItemsDigest, ItemSource, Problems, SeenIds, Survey
from polyjudge.formats.row_files import Place, files_of
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Item
from polyjudge.store.run_folder import Shard


@dataclass(frozen=True, slots=True)
class ShardedSurvey:
    """What is to be judged, cut into shards."""

    survey: Survey
    shards: tuple[Shard, ...]
    """Those that hold items, in order."""
    broken: tuple[str, ...]
    """Files that cannot be read, each with the reason; the others can be judged meanwhile."""


def survey_shards(source: ItemSource, rows_in_shard: int) -> ShardedSurvey:
    """Read all rows once, also those beyond a limit of items, and note where shards of so many rows begin."""
    surveying, shards, broken = _Surveying(source), list[Shard](), list[str]()
    files = files_of(source.path)
    readable: list[Path] = []
    for number, file in enumerate(files):
        try:
            pieces = list(surveying.pieces(file, rows_in_shard))
        except DataError as error:
            if file == source.path:
                raise
            broken.append(str(error))
            surveying.forget()
            continue
        surveying.keep()
        readable.append(file)
        named = zip(_names(None if file == source.path else number, len(pieces)), pieces, strict=True)
        shards += [piece.shard(name) for name, piece in named if piece.items]
    if not shards:
        why = surveying.problems.why or (f": {broken[0]}" if broken else "")
        raise DataError(f"no items to judge{why}", path=source.path)
    surveying.seen.check_unique(source, readable)
    return ShardedSurvey(surveying.survey(shards), tuple(shards), tuple(broken))


def shard_digest(items: Iterator[Item]) -> str:
    """Return the fingerprint of a shard's items."""
    digest = ItemsDigest()
    for item in items:
        digest.add(item, item.language, item.cluster)
    return digest.hexdigest()


@dataclass(slots=True)
class _Piece:
    """A shard that grows."""

    path: Path
    start: Mark
    earlier: Mapping[int, int]
    rows: int = 0
    items: int = 0
    digest: ItemsDigest = field(default_factory=ItemsDigest)

    def shard(self, name: str) -> Shard:
        return Shard(name, self.path, self.start, self.rows, self.items, self.digest.hexdigest(), self.earlier)


class _Surveying:
    """Counts over all files so far; those of the last file are added when it has been read to its end."""

    def __init__(self, source: ItemSource) -> None:
        self.problems, self.seen = Problems(), SeenIds()
        self.languages: set[str] = set()
        self.count = 0
        self._source, self._mapper = source, RowMapper()
        self._kept = 0

    def pieces(self, file: Path, rows: int) -> Iterator[_Piece]:
        piece, end = _Piece(file, START, self._mapper.start_part()), START
        items_of, marked = self._source.reading(file, self._mapper)
        for line, row, offset in marked:
            if piece.rows == rows:
                yield piece
                piece = _Piece(file, end, self._mapper.start_part())
            piece.rows, end = piece.rows + 1, Mark(line, offset)
            for item in items_of(row):
                if isinstance(item, str):
                    self.problems.note(Place(file, line), item)
                elif self._source.limit is None or self.count < self._source.limit:
                    self._take(item, piece)
        if piece.rows:
            yield piece

    def keep(self) -> None:
        """Let what was seen of the last file count."""
        self._kept = len(self.seen)

    def forget(self) -> None:
        """Let the items of the last file, which broke off, not count."""
        self.seen.keep(self._kept)
        self.count = self._kept

    def survey(self, shards: list[Shard]) -> Survey:
        problems = self.problems
        whole = fingerprint([shard.fingerprint for shard in shards], 16)
        return Survey(self.count, problems.count, tuple(problems.named), whole, tuple(sorted(self.languages)))

    def _take(self, item: Item, piece: _Piece) -> None:
        self.count += 1
        piece.items += 1
        piece.digest.add(item, item.language, item.cluster)
        self.seen.add(item)
        self.languages.add(item.language)


def _names(file: int | None, pieces: int) -> list[str]:
    """Return what the results of a file's pieces are called: they sort as the items do, whatever other files hold."""
    if file is None:
        return [f"part-{piece:05}" for piece in range(pieces)]
    return [f"part-{file:05}"] if pieces == 1 else [f"part-{file:05}-{piece:05}" for piece in range(pieces)]
