"""A folder of results that fills part by part: what stands and is whole is not done again."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.errors import DataError
from polyjudge.version import __version__

from .results_manifest import (
    MANIFEST_FILE,
    ResultsManifest,
    ResultsPart,
    is_intact,
    manifest_of,
    read_manifest,
    write_manifest,
)
from .shards import Shard

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
class ResultsFolder:
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
