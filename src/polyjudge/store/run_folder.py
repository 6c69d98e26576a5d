"""A run stored as a folder of parts with a manifest; complete parts are not judged again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec import field as struct_field

from polyjudge.clock import utc_now
from polyjudge.errors import DataError, other_version
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import Mark, parse_data, readable_json
from polyjudge.records.codec import from_json, to_json
from polyjudge.version import __version__


@dataclass(frozen=True, slots=True)
class Shard:
    """Consecutive rows of one file of items."""

    name: str
    """The name of its results: `part-00000`."""
    path: Path
    start: Mark
    rows: int
    """The number of rows, including invalid and excluded ones."""
    items: int
    fingerprint: str
    """The fingerprint of its items."""
    earlier: Mapping[int, int] = field(default_factory=dict[int, int])
    """How often ids that are made from the content of its rows were made in rows before it, by their number."""


MANIFEST_FILE = "manifest.json"
SCHEMA_VERSION = 1
_KIND = "polyjudge results"


class ResultsPart(Struct, frozen=True, kw_only=True, rename="camel"):
    """One file of results."""

    file: str
    rows: int
    judged: int
    unjudged: int
    sha256: str
    """The hash of the file."""
    items_file: str
    """The name of the file with its items."""
    items_line: int
    """The number of lines before them in that file; in Parquet, of rows."""
    items_fingerprint: str
    """The fingerprint of the items."""


class ResultsManifest(Struct, frozen=True, kw_only=True, rename="camel"):
    """The manifest of a run whose results are a folder of parts."""

    schema_version: int
    kind: Literal["polyjudge results"]
    finished: bool
    """Whether all parts are complete; otherwise the run can be resumed."""
    fingerprint: str
    """The fingerprint of rubric, judges, columns, filters and shard size."""
    cache_mode: str = struct_field(name="asking")
    """How stored replies are used: `refresh`, `reread`, `retry-failures`, or empty for the default."""
    started_at: str = struct_field(name="began")
    """When the run was first started, ISO 8601 in UTC."""
    polyjudge_version: str
    rubric: str
    rubric_fingerprint: str
    judges: tuple[str, ...]
    rows: int
    """The number of rows in all complete parts."""
    judged: int
    unjudged: int
    parts: tuple[ResultsPart, ...]
    """The complete parts, in the order of the items."""


def manifest_of(parts: tuple[ResultsPart, ...], *, finished: bool, about: Mapping[str, Any]) -> ResultsManifest:
    """Return the manifest of a run; `about` has the fields that do not follow from the parts."""
    return ResultsManifest(
        schema_version=SCHEMA_VERSION,
        kind=_KIND,
        finished=finished,
        rows=sum(part.rows for part in parts),
        judged=sum(part.judged for part in parts),
        unjudged=sum(part.unjudged for part in parts),
        parts=parts,
        **about,
    )


def write_manifest(folder: Path, manifest: ResultsManifest) -> None:
    """Write the manifest of a folder."""
    with write_atomically(folder / MANIFEST_FILE) as file:
        file.write(readable_json(to_json(manifest), indent=1) + "\n")


def read_manifest(folder: Path) -> ResultsManifest | None:
    """Return the manifest of a run folder, or None if the folder has none of polyjudge."""
    path = folder / MANIFEST_FILE
    if not path.is_file():
        return None
    try:
        found = parse_data(path.read_text(encoding="utf-8"), path)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None
    if not isinstance(found, dict) or cast(dict[str, Any], found).get("kind") != _KIND:
        return None
    manifest = cast(dict[str, Any], found)
    if manifest.get("schemaVersion") != SCHEMA_VERSION:
        message = other_version(manifest.get("schemaVersion"), SCHEMA_VERSION)
        raise DataError(message, path=path)
    try:
        return from_json(ResultsManifest, manifest)
    except DataError as error:
        raise DataError(str(error), path=path) from None


def is_intact(folder: Path, part: ResultsPart) -> bool:
    """Return whether a part exists and is unchanged."""
    try:
        return sha256_of(folder / part.file) == part.sha256
    except OSError:
        return False


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def finished_parts(folder: Path) -> Iterator[Path] | None:
    """Return the parts of a run folder in order, or None if it is not one; raise DataError for an unfinished run."""
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    if not manifest.finished:
        raise DataError("the run in this folder is not finished. Run its command again to resume it.", path=folder)
    return _intact_parts(folder, manifest)


def _intact_parts(folder: Path, manifest: ResultsManifest) -> Iterator[Path]:
    for part in manifest.parts:
        if not is_intact(folder, part):
            message = "the file was changed or damaged. Run the command again to recreate it."
            raise DataError(message, path=folder / part.file)
        yield folder / part.file


RETRYING = "retry-failures"
_REMEDY = "use another folder, or delete this one"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIdentity:
    """What identifies a run."""

    fingerprint: str
    cache_mode: str = ""
    """How stored replies are used: `refresh`, `reread`, `retry-failures`, or empty for the default."""
    rubric: str
    rubric_fingerprint: str
    judges: tuple[str, ...]


@dataclass(slots=True)
class RunFolder:
    """The results of one run, in a folder that only this run writes to."""

    path: Path
    run: RunIdentity
    shards: Sequence[Shard]
    started_at: str = ""
    """When the run was first started."""
    damaged: list[str] = field(default_factory=list[str])
    """Parts that are missing or were changed."""
    _parts: dict[str, ResultsPart] = field(default_factory=dict[str, ResultsPart])

    def start(self) -> list[Shard]:
        """Start the run, or resume an unfinished one; return the shards to judge."""
        manifest = read_manifest(self.path)
        if manifest is None:
            self._check_new_folder()
            self.started_at = utc_now()
        else:
            self._check_same_run(manifest)
            self._select_parts(manifest)
        self._write(finished=False)
        self._clean_up({*self._parts, *map(file_of, self.shards)})
        return [shard for shard in self.shards if file_of(shard) not in self._parts]

    def put(self, part: ResultsPart) -> None:
        """Record a complete part."""
        self._parts[part.file] = part
        self._write(finished=False)

    def finish(self) -> None:
        """Mark the run as finished."""
        self._write(finished=True)
        self._clean_up(set(self._parts))

    @property
    def files(self) -> list[Path]:
        """The complete parts, in the order of the items."""
        return [self.path / file_of(shard) for shard in self.shards if file_of(shard) in self._parts]

    @property
    def unjudged(self) -> int:
        """The number of items without a verdict in the complete parts."""
        return sum(part.unjudged for part in self._parts.values())

    def _check_new_folder(self) -> None:
        if self.run.cache_mode == RETRYING:
            raise DataError("no results, so there are no failures to retry; run without retrying first", path=self.path)
        if any(not file.name.startswith(".") for file in self.path.iterdir()):
            raise DataError(f"the folder is not empty and contains no results of polyjudge; {_REMEDY}", path=self.path)

    def _check_same_run(self, manifest: ResultsManifest) -> None:
        wanted = {shard.fingerprint for shard in self.shards}
        if manifest.fingerprint != self.run.fingerprint:
            raise DataError(f"contains the results of other judges or options; {_REMEDY}", path=self.path)
        if manifest.parts and wanted.isdisjoint(part.items_fingerprint for part in manifest.parts):
            raise DataError(f"contains the results of other items; {_REMEDY}", path=self.path)
        if not manifest.finished and manifest.cache_mode != self.run.cache_mode:
            how, option = "with" if manifest.cache_mode else "without", manifest.cache_mode or self.run.cache_mode
            message = (
                f"contains an unfinished run that was started {how} the option {option!r}. Finish it {how} that "
                "option first, or use another folder"
            )
            raise DataError(message, path=self.path, option=option)

    def _select_parts(self, manifest: ResultsManifest) -> None:
        """Keep the parts of an earlier run that need not be judged again; none if it is finished and intact."""
        fingerprints = {file_of(shard): shard.fingerprint for shard in self.shards}
        same = [part for part in manifest.parts if fingerprints.get(part.file) == part.items_fingerprint]
        intact = {part.file: part for part in same if is_intact(self.path, part)}
        self.damaged = [part.file for part in same if part.file not in intact]
        if manifest.finished and self.run.cache_mode == RETRYING:
            intact = {file: part for file, part in intact.items() if not part.unjudged}
        elif manifest.finished and (len(intact) == len(fingerprints) or manifest.cache_mode != self.run.cache_mode):
            intact = {}
        is_same = not manifest.finished or (bool(intact) and self.run.cache_mode != RETRYING)
        self.started_at = manifest.started_at if is_same else utc_now()
        self._parts = intact

    def _write(self, *, finished: bool) -> None:
        manifest = manifest_of(
            tuple(self._parts[file_of(shard)] for shard in self.shards if file_of(shard) in self._parts),
            finished=finished,
            about={
                "fingerprint": self.run.fingerprint,
                "cache_mode": self.run.cache_mode,
                "started_at": self.started_at,
                "polyjudge_version": __version__,
                "rubric": self.run.rubric,
                "rubric_fingerprint": self.run.rubric_fingerprint,
                "judges": self.run.judges,
            },
        )
        write_manifest(self.path, manifest)

    def _clean_up(self, wanted: set[str]) -> None:
        """Remove parts that are no longer needed, and the temporary files of killed workers."""
        for pattern in ("part-*.parquet", ".part-*.part", f".{MANIFEST_FILE}.*.part"):
            for file in self.path.glob(pattern):
                if file.name not in wanted:
                    with suppress(OSError):
                        file.unlink()


def file_of(shard: Shard) -> str:
    """Return the name of the file with a shard's results."""
    return f"{shard.name}.parquet"
