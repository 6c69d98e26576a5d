"""Regression cases with their results, and the events and reviews of an agent's session."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .codec import Number
from .outcomes import Provenance

Suite = Literal["translation", "preserve"]
CaseStatus = Literal["PASS", "FAIL", "ERROR"]


class Fixture(Struct, frozen=True, kw_only=True):
    """One case: a text, and what the translator is known to make of it."""

    case_id: str
    source_lang: str
    target_lang: str
    input_text: str
    expected_output: str
    suite: Suite = "translation"
    """Natural language, or identifiers that must come back unchanged."""
    path: str = ""
    line: int = 0


class CaseResult(Struct, frozen=True, kw_only=True):
    """What a translator did with a case."""

    fixture: Fixture
    status: CaseStatus
    actual: str = ""
    message: str = ""
    """Why it is an error."""
    duration_ms: int = 0
    variants: tuple[str, ...] = ()
    """Other outputs of the same case, where it was run more than once and they differ."""


class Recorded(Struct, frozen=True, kw_only=True):
    """What a captured file says of the translator that filled it."""

    command: str = ""
    model_sha256: str = ""
    versions: dict[str, str] = {}


EventKind = Literal["user", "agent", "reasoning", "call", "result", "system", "unknown"]
"""Who speaks: `call` is the agent's use of a tool, `result` what the tool gave back, `system` all around them."""

ReviewVerdict = Literal["PASS", "FAIL_AGENT", "FAIL_SYSTEM", "FAIL_BOTH"]


class TranscriptEvent(Struct, frozen=True):
    """One thing that was said or done."""

    kind: EventKind
    text: str
    name: str = ""
    """The tool, or what the system calls the event."""
    failed: bool = False


class Review(Struct, frozen=True, kw_only=True):
    """The end of a review: two scores and a verdict."""

    agent_score: float
    system_score: float
    verdict: ReviewVerdict
    derived: bool = False
    """The review gives no verdict; it follows from the scores."""
    contradictory: bool = False
    """The verdict that the review gives is not the one that its scores come to."""


class ReviewRow(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a review came to, as its file holds it; nothing is left out."""

    schema_version: int
    scenario_id: str
    agent_score: Number | None
    """None where the review gives none."""
    system_score: Number | None
    verdict: ReviewVerdict | None
    provider: str
    model: str
    judged_at: str
    transcript_path: str
    template_path: str | None
    review_path: str
    derived: bool
    """The review gives no verdict; it follows from the scores."""
    contradictory: bool
    """The verdict is not what the scores come to."""
    error: str | None
    """Why there is no verdict."""
    transcript_format: str
    events: int
    left_out: str | None
    """What of the session did not fit."""
    unknown_events: Mapping[str, int]
    unreadable_rows: int
    provenance: Provenance | None
