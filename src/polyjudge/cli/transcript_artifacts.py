"""What a review leaves behind: the text, and beside it what it comes to as JSON."""

import argparse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from polyjudge.clock import utc_second
from polyjudge.errors import DataError
from polyjudge.files.atomic import readable_json, write_atomically
from polyjudge.files.names import safe_name
from polyjudge.formats.transcripts import Transcript
from polyjudge.records.codec import to_json
from polyjudge.records.outcomes import Failure, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.suites.transcript import Rendering

SCHEMA_VERSION = 1


class Artifacts:
    """The files of one run, which share a name and a moment."""

    def __init__(self, options: argparse.Namespace, transcript: Transcript, rendering: Rendering) -> None:
        self._options = options
        self._transcript = transcript
        self._rendering = rendering
        self._scenario: str = options.scenario or options.transcript.stem
        self._moment = utc_second()
        self._files: dict[ModelName, tuple[Path, Path]] = {}

    def claim(self, names: Sequence[ModelName]) -> None:
        """Make the files of all judges before anybody is asked: what is paid for must have its place."""
        for name in names:
            mark = "" if len(names) == 1 else f"-{str(name).replace('/', '-')}"
            stem = safe_name(f"{self._scenario}-{self._moment.replace(':', '-')}{mark}")
            self._files[name] = _claimed(self._options.output, stem)

    def write(self, name: ModelName, outcome: Outcome) -> Path:
        """Write the review of one judge, and return where its figures are."""
        review, figures = self._files.pop(name)
        with write_atomically(review) as file:
            file.write(outcome.raw.rstrip().encode(errors="backslashreplace").decode() + "\n")
        with write_atomically(figures) as file:
            file.write(readable_json(self._figures(name, outcome, review), indent=2) + "\n")
        return figures

    def release(self) -> None:
        """Remove the files of judges that gave no answer."""
        for paths in self._files.values():
            for path in paths:
                path.unlink(missing_ok=True)

    def _figures(self, name: ModelName, outcome: Outcome, review: Path) -> dict[str, Any]:
        failed = isinstance(outcome, Failure)
        scores: Mapping[str, float] = {} if failed else outcome.subscores
        template: Path | None = self._options.template
        return {
            "schemaVersion": SCHEMA_VERSION,
            "scenarioId": self._scenario,
            "agentScore": _plain(scores.get("agent")),
            "systemScore": _plain(scores.get("system")),
            "verdict": None if failed else outcome.verdict,
            "provider": name.provider,
            "model": outcome.model or name.model,
            "judgedAt": self._moment,
            "transcriptPath": str(self._options.transcript),
            "templatePath": None if template is None else str(template),
            "reviewPath": str(review),
            "derived": not failed and outcome.flags["derived"],
            "contradictory": not failed and outcome.flags["contradictory"],
            "error": outcome.reason if failed else None,
            "transcriptFormat": self._transcript.format,
            "events": self._rendering.events,
            "leftOut": self._rendering.omissions or None,
            "unknownEvents": dict(self._transcript.unknown),
            "unreadableRows": self._transcript.skipped,
            "provenance": None if outcome.provenance is None else to_json(outcome.provenance),
        }


def _claimed(folder: Path, stem: str) -> tuple[Path, Path]:
    """Make a pair of empty files that nobody has yet: two runs may begin in the same second."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            mark = "" if number == 1 else f"-{number}"
            figures, review = folder / f"{stem}{mark}.json", folder / f"{stem}{mark}.md"
            with suppress(FileExistsError):
                figures.open("x").close()
                review.touch()
                return review, figures
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=folder) from None
    raise AssertionError("there is always another number")


def _plain(score: float | None) -> float | int | None:
    return int(score) if score is not None and score == int(score) else score
