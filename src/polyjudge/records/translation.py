"""Languages, a translator's outputs in them, and a judge's scores for the outputs."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from .codec import Number
from .outcomes import Provenance

Direction = Literal["ltr", "rtl"]


class Language(Struct, frozen=True, kw_only=True):
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


class PromptResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that was to be translated, and what came of it."""

    category: str = ""
    source_text: str = ""
    prompt: str = ""
    """What the translator was told, the source text in it."""
    generated_output: str
    token_count: int | None = None
    tokens_per_second: Number | None = None
    script_validation_passed: bool | None = None
    duration_ms: Number | None = None
    reference: str = ""
    """One good translation."""
    extra: Mapping[str, Any] = {}
    """Fields of the file that polyjudge does not know; they are written back as they were."""


class LanguageResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """All results in one language."""

    language_name: str
    language_code: str = ""
    """BCP 47."""
    script_family: str = ""
    priority: str = ""
    prompts: tuple[PromptResult, ...] = ()
    extra: Mapping[str, Any] = {}


class PromptScore(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a judge says of one prompt; None where it cannot tell."""

    index: int
    """Place among the prompts of its language that can be used, from 0."""
    script_score: Number | None = None
    grammar_score: Number | None = None
    coherence_score: Number | None = None
    is_correct_language: bool | None = None
    notes: str = ""
    error: str = ""
    """Why there is no verdict."""
    raw: str = ""
    """The reply as it came, where it held no verdict."""
    provenance: Provenance | None = None
    extra: Mapping[str, Any] = {}


class LanguageScore(Struct, frozen=True, kw_only=True, rename="camel"):
    """A judge's scores of a language: what the needed share of its judged prompts reach."""

    language_name: str
    language_code: str = ""
    script_score: Number | None = None
    grammar_score: Number | None = None
    coherence_score: Number | None = None
    is_correct_language: bool | None = None
    notes: str = ""
    error: str = ""
    """Why there is no score at all."""
    judge: str = ""
    judged: int = 0
    """Prompts with a verdict."""
    unjudged: int = 0
    means: Mapping[str, Number] = {}
    prompts: tuple[PromptScore, ...] = ()
    batching: Mapping[str, Any] = {}
    """How many languages shared a call, and how far that moved the scores."""
    extra: Mapping[str, Any] = {}
