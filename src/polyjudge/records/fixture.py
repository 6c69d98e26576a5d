"""A case that a translator must get right, and what became of it."""

from dataclasses import dataclass, field
from typing import Literal

Suite = Literal["translation", "preserve"]
CaseStatus = Literal["PASS", "FAIL", "ERROR"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What a translator did with a case."""

    fixture: Fixture
    status: CaseStatus
    actual: str = ""
    message: str = ""
    """Why it is an error."""
    duration_ms: int = 0
    variants: tuple[str, ...] = ()
    """Other outputs of the same case, where it was run more than once and they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a captured file says of the translator that filled it."""

    command: str = ""
    model_sha256: str = ""
    versions: dict[str, str] = field(default_factory=dict[str, str])
