"""A run stored as a folder of parts with a manifest; complete parts are not judged again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, cast

from msgspec import Struct

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.files.atomic import readable_json, write_atomically
from polyjudge.files.json_lines import Mark, parse_data
from polyjudge.records.codec import from_json, to_json
from polyjudge.version import __version__


@dataclass(frozen=True, slots=True)
class Shard:
    """Some rows of one file, one after the other."""

    name: str
    """What its results are called: `part-00000`."""
    path: Path
    start: Mark
    rows: int
    """Rows in it, also those that are no items or not wanted."""
    items: int
    fingerprint: str
    """Of its items."""


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
    """Of the file."""
    items_file: str
    """The name of the file that its items stand in."""
    items_line: int
    """How many lines, or of Parquet rows, come before them there."""
    items_fingerprint: str
    """Of the items: others have another one."""


class ResultsManifest(Struct, frozen=True, kw_only=True, rename="camel"):
    """A run whose results are a folder of parts."""

    schema_version: int
    kind: Literal["polyjudge results"]
    finished: bool
    """All parts are there; otherwise the run can be resumed."""
    fingerprint: str
    """Of what makes a run the same: rubric, judges, which columns and items, how they are cut."""
    asking: str
    """How what is kept is treated: `refresh`, `reread`, `retry-failures`, or empty."""
    began: str
    """When the run was first begun, ISO 8601 in UTC."""
    polyjudge_version: str
    rubric: str
    rubric_fingerprint: str
    judges: tuple[str, ...]
    rows: int
    """In all parts that are there."""
    judged: int
    unjudged: int
    parts: tuple[ResultsPart, ...]
    """In the order of the items."""


def manifest_of(parts: tuple[ResultsPart, ...], *, finished: bool, about: Mapping[str, Any]) -> ResultsManifest:
    """Return the manifest of a run about which this is known."""
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
    """Put a manifest into its folder."""
    with write_atomically(folder / MANIFEST_FILE) as file:
        file.write(readable_json(to_json(manifest), indent=1) + "\n")


def read_manifest(folder: Path) -> ResultsManifest | None:
    """Return the manifest of a folder of results; None where there is none of ours."""
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
        told = f"schemaVersion is {manifest.get('schemaVersion')!r}, expected {SCHEMA_VERSION}"
        raise DataError(told, path=path)
    try:
        return from_json(ResultsManifest, manifest)
    except DataError as error:
        raise DataError(str(error), path=path) from None


def is_intact(folder: Path, part: ResultsPart) -> bool:
    """Say whether a part is there as it was written."""
    try:
        return sha256_of(folder / part.file) == part.sha256
    except OSError:
        return False


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def finished_parts(folder: Path) -> Iterator[Path] | None:
    """Return the parts of a folder of results in order, None where it is no such folder; refuse an unfinished one."""
    manifest = read_manifest(folder)
    if manifest is None:
        return None
    if not manifest.finished:
        raise DataError("holds the results of a run that is not finished; give its command again", path=folder)
    return _intact_parts(folder, manifest)


def _intact_parts(folder: Path, manifest: ResultsManifest) -> Iterator[Path]:
    for part in manifest.parts:
        if not is_intact(folder, part):
            told = "is not as it was written; the command of its run makes it again"
            raise DataError(told, path=folder / part.file)
        yield folder / part.file


RETRYING = "retry-failures"
_ANEW = "name another folder, or remove it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIdentity:
    """What makes a run the same as another."""

    fingerprint: str
    asking: str = ""
    """How what is kept is treated: `refresh`, `reread`, `retry-failures`, or empty."""
    rubric: str
    rubric_fingerprint: str
    judges: tuple[str, ...]


@dataclass(slots=True)
class RunFolder:
    """The results of one run; nobody else may write there meanwhile."""

    path: Path
    run: RunIdentity
    shards: Sequence[Shard]
    began: str = ""
    """When the run was first begun."""
    damaged: list[str] = field(default_factory=list[str])
    """Parts that were there once and are not as they were."""
    _parts: dict[str, ResultsPart] = field(default_factory=dict[str, ResultsPart])

    def begin(self) -> list[Shard]:
        """Go on with an unfinished run, or begin one; return the shards that are to be judged."""
        manifest = read_manifest(self.path)
        if manifest is None:
            self._refuse_strangers()
            self.began = utc_now()
        else:
            self._refuse_others(manifest)
            self._keep_of(manifest)
        self._write(finished=False)
        self._clean_up({*self._parts, *map(file_of, self.shards)})
        return [shard for shard in self.shards if file_of(shard) not in self._parts]

    def put(self, part: ResultsPart) -> None:
        """Take note of a part that is there now."""
        self._parts[part.file] = part
        self._write(finished=False)

    def finish(self) -> None:
        """All parts are there."""
        self._write(finished=True)
        self._clean_up(set(self._parts))

    @property
    def files(self) -> list[Path]:
        """The parts that are there, in the order of the items."""
        return [self.path / file_of(shard) for shard in self.shards if file_of(shard) in self._parts]

    @property
    def unjudged(self) -> int:
        """Items without a verdict in them."""
        return sum(part.unjudged for part in self._parts.values())

    def _refuse_strangers(self) -> None:
        if self.run.asking == RETRYING:
            raise DataError("holds no results, so there are no failures to ask about again", path=self.path)
        if any(not file.name.startswith(".") for file in self.path.iterdir()):
            raise DataError(f"is not empty and holds no results of polyjudge; {_ANEW}", path=self.path)

    def _refuse_others(self, manifest: ResultsManifest) -> None:
        wanted = {shard.fingerprint for shard in self.shards}
        if manifest.fingerprint != self.run.fingerprint:
            raise DataError(f"holds the results of another run, with other judges or options; {_ANEW}", path=self.path)
        if manifest.parts and wanted.isdisjoint(part.items_fingerprint for part in manifest.parts):
            raise DataError(f"holds the results of other items; {_ANEW}", path=self.path)
        if not manifest.finished and manifest.asking != self.run.asking:
            begun = f"with --{manifest.asking}" if manifest.asking else f"without --{self.run.asking}"
            raise DataError(f"holds an unfinished run that was begun {begun}; finish that first", path=self.path)

    def _keep_of(self, manifest: ResultsManifest) -> None:
        """Keep what need not be done again of an earlier run: nothing where that is finished and whole."""
        fingerprints = {file_of(shard): shard.fingerprint for shard in self.shards}
        same = [part for part in manifest.parts if fingerprints.get(part.file) == part.items_fingerprint]
        whole = {part.file: part for part in same if is_intact(self.path, part)}
        self.damaged = [part.file for part in same if part.file not in whole]
        if manifest.finished and self.run.asking == RETRYING:
            whole = {file: part for file, part in whole.items() if not part.unjudged}
        elif manifest.finished and (len(whole) == len(fingerprints) or manifest.asking != self.run.asking):
            whole = {}
        is_same = not manifest.finished or (bool(whole) and self.run.asking != RETRYING)
        self.began = manifest.began if is_same else utc_now()
        self._parts = whole

    def _write(self, *, finished: bool) -> None:
        manifest = manifest_of(
            tuple(self._parts[file_of(shard)] for shard in self.shards if file_of(shard) in self._parts),
            finished=finished,
            about={
                "fingerprint": self.run.fingerprint,
                "asking": self.run.asking,
                "began": self.began,
                "polyjudge_version": __version__,
                "rubric": self.run.rubric,
                "rubric_fingerprint": self.run.rubric_fingerprint,
                "judges": self.run.judges,
            },
        )
        write_manifest(self.path, manifest)

    def _clean_up(self, wanted: set[str]) -> None:
        """Remove parts that nobody asks for any more, and what killed workers left half written."""
        for pattern in ("part-*.parquet", ".part-*.part", f".{MANIFEST_FILE}.*.part"):
            for file in self.path.glob(pattern):
                if file.name not in wanted:
                    with suppress(OSError):
                        file.unlink()


def file_of(shard: Shard) -> str:
    """Return the name of the file that a shard's results stand in."""
    return f"{shard.name}.parquet"
