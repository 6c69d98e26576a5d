"""Regression cases and their results, and the events and reviews of an agent's session."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .codec import Number
from .outcomes import Provenance

Suite = Literal["translation", "preserve"]
CaseStatus = Literal["PASS", "FAIL", "ERROR"]


class Fixture(Struct, frozen=True, kw_only=True):
    """One case: a text, and its expected translation."""

    case_id: str
    source_lang: str
    target_lang: str
    input_text: str
    expected_output: str
    suite: Suite = "translation"
    """Natural language, or identifiers that must stay unchanged."""
    path: str = ""
    line: int = 0


class CaseResult(Struct, frozen=True, kw_only=True):
    """The result of a translator for one case."""

    fixture: Fixture
    status: CaseStatus
    actual: str = ""
    message: str = ""
    """The error message, if the status is ERROR."""
    duration_ms: int = 0
    variants: tuple[str, ...] = ()
    """Different outputs of repeated runs of the case."""


class Recorded(Struct, frozen=True, kw_only=True):
    """What a captured file records about its translator."""

    command: str = ""
    model_sha256: str = ""
    versions: dict[str, str] = {}


EventKind = Literal["user", "agent", "reasoning", "call", "result", "system", "unknown"]
"""The source of an event: `call` is a tool call of the agent, `result` its result, `system` everything else."""

ReviewVerdict = Literal["PASS", "FAIL_AGENT", "FAIL_SYSTEM", "FAIL_BOTH"]


class TranscriptEvent(Struct, frozen=True):
    """One message or action."""

    kind: EventKind
    text: str
    name: str = ""
    """The name of the tool, or of the event in the system."""
    failed: bool = False


class Review(Struct, frozen=True, kw_only=True):
    """The end of a review: two scores and a verdict."""

    agent_score: float
    system_score: float
    verdict: ReviewVerdict
    derived: bool = False
    """Whether the verdict follows from the scores, because the review gives none."""
    contradictory: bool = False
    """Whether the verdict of the review differs from that of its scores."""


class ReviewRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a review, as written to its file with all fields."""

    schema_version: int
    scenario_id: str
    agent_score: Number | None
    """None if the review gives none."""
    system_score: Number | None
    verdict: ReviewVerdict | None
    provider: str
    model: str
    judged_at: str
    transcript_path: str
    template_path: str | None
    review_path: str
    derived: bool
    """Whether the verdict follows from the scores, because the review gives none."""
    contradictory: bool
    """Whether the verdict differs from that of the scores."""
    error: str | None
    """Why there is no verdict."""
    transcript_format: str
    events: int
    left_out: str | None
    """The parts of the session that did not fit."""
    unknown_events: Mapping[str, int]
    unreadable_rows: int
    provenance: Provenance | None
