"""Languages, translation results, and translation scores."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from .codec import Number
from .outcomes import Provenance

Direction = Literal["ltr", "rtl"]


class Language(Struct, frozen=True, kw_only=True):
    """One language, or one written form of it."""

    tag: str
    """BCP 47."""
    name: str
    """The English name."""
    native_name: str
    scripts: tuple[str, ...]
    """Accepted scripts by ISO 15924, the most common first."""
    family: str
    """Script family, as reports group languages."""
    direction: Direction = "ltr"
    speakers_millions: float = 0.0
    detector: str = ""
    """The label in language identification, which variants of one language share."""
    inseparable: tuple[str, ...] = ()
    """Tags of languages that cannot be distinguished from it in short texts."""
    aliases: tuple[str, ...] = ()
    """Other tags for it."""


DIMENSIONS = ("script", "grammar", "coherence")


class PromptResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """One text to translate, and the output."""

    category: str = ""
    source_text: str = ""
    prompt: str = ""
    """The prompt of the translator, which contains the source text."""
    generated_output: str
    token_count: int | None = None
    tokens_per_second: Number | None = None
    script_validation_passed: bool | None = None
    duration_ms: Number | None = None
    reference: str = ""
    """A reference translation."""
    extra: Mapping[str, Any] = {}
    """Unknown fields of the file, which are written back unchanged."""


class LanguageResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """All results in one language."""

    language_name: str
    language_code: str = ""
    """BCP 47."""
    script_family: str = ""
    priority: str = ""
    prompts: Sequence[PromptResult] = ()  # a tuple, unless they are so many that they are on disk
    extra: Mapping[str, Any] = {}


class PromptScore(Struct, frozen=True, kw_only=True, rename="camel"):
    """A judge's scores of one prompt; None if a score is unknown."""

    index: int
    """The index among the valid prompts of its language, from 0."""
    script_score: Number | None = None
    grammar_score: Number | None = None
    coherence_score: Number | None = None
    is_correct_language: bool | None = None
    notes: str = ""
    error: str = ""
    """Why there is no verdict."""
    raw: str = ""
    """The unchanged reply, if it had no verdict."""
    provenance: Provenance | None = None
    extra: Mapping[str, Any] = {}


class LanguageScore(Struct, frozen=True, kw_only=True, rename="camel"):
    """A judge's scores of a language: those that the needed share of its judged prompts reach."""

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
    prompts: Sequence[PromptScore] = ()  # a tuple, unless they are so many that they are on disk
    batching: Mapping[str, Any] = {}
    """The number of languages per call, and the effect on the scores."""
    extra: Mapping[str, Any] = {}
