"""Write the review of an agent's session: the text, and the scores as JSON."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import cast

from polyjudge.clock import utc_second
from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.names import safe_name
from polyjudge.records.codec import to_json
from polyjudge.records.outcomes import Failure, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.records.sessions import ReviewRow, ReviewVerdict

from .transcripts import Transcript

SCHEMA_VERSION = 1


@dataclass(slots=True, kw_only=True)
class ReviewFiles:
    """The reviews of one session by several judges; their files share a name and a timestamp."""

    folder: Path
    transcript: Transcript
    scenario: str
    """The start of the file names; empty for the name of the transcript."""
    template: Path | None
    """The instructions that the agent was to follow."""
    events: int
    """The number of events that the judges were shown."""
    omissions: str
    """The parts of the session that were left out."""
    _judged_at: str = field(default_factory=utc_second, init=False)
    _files: dict[ModelName, tuple[Path, Path]] = field(default_factory=dict[ModelName, tuple[Path, Path]], init=False)

    @property
    def _name(self) -> str:
        return self.scenario or self.transcript.path.stem

    def claim(self, names: Sequence[ModelName]) -> None:
        """Create the files of all judges before the first call, so that every paid review can be written."""
        for name in names:
            suffix = "" if len(names) == 1 else f"-{str(name).replace('/', '-')}"
            stem = safe_name(f"{self._name}-{self._judged_at.replace(':', '-')}{suffix}")
            self._files[name] = _create_files(self.folder, stem)

    def write(self, name: ModelName, outcome: Outcome) -> Path:
        """Write the review of one judge, and return the path of its scores."""
        review, figures = self._files.pop(name)
        with write_atomically(review) as file:
            file.write(outcome.raw.rstrip().encode(errors="backslashreplace").decode() + "\n")
        with write_atomically(figures) as file:
            file.write(readable_json(to_json(self._figures(name, outcome, review)), indent=2) + "\n")
        return figures

    def release(self) -> None:
        """Remove the files of judges without an answer."""
        for paths in self._files.values():
            for path in paths:
                path.unlink(missing_ok=True)

    def _figures(self, name: ModelName, outcome: Outcome, review: Path) -> ReviewRow:
        failed = isinstance(outcome, Failure)
        scores: Mapping[str, float] = {} if failed else outcome.subscores
        return ReviewRow(
            schema_version=SCHEMA_VERSION,
            scenario_id=self._name,
            agent_score=_plain(scores.get("agent")),
            system_score=_plain(scores.get("system")),
            verdict=None if failed else cast(ReviewVerdict, outcome.verdict),
            provider=name.provider,
            model=outcome.model or name.model,
            judged_at=self._judged_at,
            transcript_path=str(self.transcript.path),
            template_path=None if self.template is None else str(self.template),
            review_path=str(review),
            derived=not failed and outcome.flags["derived"],
            contradictory=not failed and outcome.flags["contradictory"],
            error=outcome.reason if failed else None,
            transcript_format=self.transcript.format,
            events=self.events,
            left_out=self.omissions or None,
            unknown_events=self.transcript.unknown,
            unreadable_rows=self.transcript.skipped,
            provenance=outcome.provenance,
        )


def _create_files(folder: Path, stem: str) -> tuple[Path, Path]:
    """Create two empty files with an unused name, because two runs may start in the same second."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            suffix = "" if number == 1 else f"-{number}"
            figures, review = folder / f"{stem}{suffix}.json", folder / f"{stem}{suffix}.md"
            with suppress(FileExistsError):
                figures.open("x").close()
                review.touch()
                return review, figures
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=folder) from None
    raise AssertionError("there is always another number")


def _plain(score: float | None) -> float | int | None:
    return int(score) if score is not None and score == int(score) else score
