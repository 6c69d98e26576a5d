"""What happened in an agent's session, and what a reviewer made of it."""

from dataclasses import dataclass
from typing import Literal

EventKind = Literal["user", "agent", "reasoning", "call", "result", "system", "unknown"]
"""Who speaks: `call` is the agent's use of a tool, `result` what the tool gave back, `system` all around them."""

ReviewVerdict = Literal["PASS", "FAIL_AGENT", "FAIL_SYSTEM", "FAIL_BOTH"]


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """One thing that was said or done."""

    kind: EventKind
    text: str
    name: str = ""
    """The tool, or what the system calls the event."""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The end of a review: two scores and a verdict."""

    agent_score: float
    system_score: float
    verdict: ReviewVerdict
    derived: bool = False
    """The review gives no verdict; it follows from the scores."""
    contradictory: bool = False
    """The verdict that the review gives is not the one that its scores come to."""
