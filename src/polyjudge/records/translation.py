"""Languages, a translator's outputs in them, and a judge's scores for the outputs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .outcomes import Provenance

Direction = Literal["ltr", "rtl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language, or one way of writing it."""

    tag: str
    """BCP 47."""
    name: str
    """In English."""
    native_name: str
    scripts: tuple[str, ...]
    """Accepted scripts by ISO 15924, the most usual first."""
    family: str
    """Script family, as reports group languages."""
    direction: Direction = "ltr"
    speakers_millions: float = 0.0
    detector: str = ""
    """The label that language identification has for it; variants of one language share it."""
    inseparable: tuple[str, ...] = ()
    """Tags of languages that cannot be told from it on short text."""
    aliases: tuple[str, ...] = ()
    """Other tags for it."""


DIMENSIONS = ("script", "grammar", "coherence")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptResult:
    """One thing that was to be translated, and what came of it."""

    category: str = ""
    source_text: str = ""
    prompt: str = ""
    """What the translator was told, the source text in it."""
    generated_output: str
    token_count: int | None = None
    tokens_per_second: float | None = None
    script_validation_passed: bool | None = None
    duration_ms: float | None = None
    reference: str = ""
    """One good translation."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields of the file that polyjudge does not know; they are written back as they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageResult:
    """All results in one language."""

    language_name: str
    language_code: str = ""
    """BCP 47."""
    script_family: str = ""
    priority: str = ""
    prompts: tuple[PromptResult, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptScore:
    """What a judge says of one prompt; None where it cannot tell."""

    index: int
    """Place among the prompts of its language that can be used, from 0."""
    script_score: float | None = None
    grammar_score: float | None = None
    coherence_score: float | None = None
    is_correct_language: bool | None = None
    notes: str = ""
    error: str = ""
    """Why there is no verdict."""
    raw: str = ""
    """The reply as it came, where it held no verdict."""
    provenance: Provenance | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageScore:
    """A judge's scores of a language: what the needed share of its judged prompts reach."""

    language_name: str
    language_code: str = ""
    script_score: float | None = None
    grammar_score: float | None = None
    coherence_score: float | None = None
    is_correct_language: bool | None = None
    notes: str = ""
    error: str = ""
    """Why there is no score at all."""
    judge: str = ""
    judged: int = 0
    """Prompts with a verdict."""
    unjudged: int = 0
    means: Mapping[str, float] = field(default_factory=dict[str, float])
    prompts: tuple[PromptScore, ...] = ()
    batching: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How many languages shared a call, and how far that moved the scores."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
