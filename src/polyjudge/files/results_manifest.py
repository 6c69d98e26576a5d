"""What a folder of results holds: its parts, what each was made of, and whether all are there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, cast

from polyjudge.errors import DataError

from .json_records import from_json, to_json
from .parsing import parse_data
from .writing import readable_json, write_atomically

MANIFEST_FILE = "manifest.json"
SCHEMA_VERSION = 1
_KIND = "polyjudge results"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsPart:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsManifest:
    """A run whose results are a folder of parts."""

    schema_version: int
    kind: Literal["polyjudge results"]
    finished: bool
    """All parts are there; otherwise the same command goes on."""
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
