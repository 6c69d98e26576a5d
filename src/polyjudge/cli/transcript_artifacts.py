"""What a review leaves behind: the text, and beside it what it comes to as JSON."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polyjudge.clock import utc_second
from polyjudge.files import Transcript, readable_json, safe_name, to_json, write_atomically
from polyjudge.providers import ModelName
from polyjudge.records import Failure, Outcome
from polyjudge.suites import Rendering

SCHEMA_VERSION = 1


class Artifacts:
    """The files of one run, which share a name and a moment."""

    def __init__(self, options: argparse.Namespace, transcript: Transcript, rendering: Rendering) -> None:
        self._options = options
        self._transcript = transcript
        self._rendering = rendering
        self._scenario: str = options.scenario or options.transcript.stem
        self._moment = utc_second()

    def write(self, name: ModelName, outcome: Outcome, *, alone: bool) -> Path:
        """Write the review of one judge, and return where its figures are."""
        mark = "" if alone else f"-{safe_name(str(name).replace('/', '-'))}"
        stem = f"{safe_name(self._scenario)}-{self._moment.replace(':', '-')}{mark}"
        review, figures = (_free(self._options.output, stem, ending) for ending in (".md", ".json"))
        with write_atomically(review) as file:
            file.write(outcome.raw.rstrip() + "\n")
        with write_atomically(figures) as file:
            file.write(readable_json(self._figures(name, outcome, review), indent=2) + "\n")
        return figures

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


def _free(folder: Path, stem: str, ending: str) -> Path:
    """Return a name that nothing has yet: two runs may end in the same second."""
    number, path = 1, folder / f"{stem}{ending}"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}{ending}"
    return path


def _plain(score: float | None) -> float | int | None:
    return int(score) if score is not None and score == int(score) else score
