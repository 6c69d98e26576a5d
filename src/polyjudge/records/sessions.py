"""Regression cases with their results, and the events and reviews of an agent's session."""

from typing import Literal

from msgspec import Struct

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
