"""Words that models are asked about, what they answered, and what judges made of it."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .codec import Number
from .outcomes import Provenance

PromptName = Literal["a", "b"]
"""Prompt A asks what a word means, prompt B to use it."""

WordState = Literal["correct", "incorrect", "undetermined", "error"]
"""What an answer came to: `undetermined` is a reply of the judge without a verdict, `error` no reply at all."""


class VocabularyWord(Struct, frozen=True):
    """A word and what it means."""

    word: str
    answer: str
    """The reference definition; it reaches the judge and never the model."""
    category: str = ""


class Vocabulary(Struct, frozen=True, kw_only=True):
    """A suite of words, with what models and judges are asked about them."""

    name: str
    words: tuple[VocabularyWord, ...]
    prompts: Mapping[PromptName, str]
    """What models are asked, with the place {word}."""
    language: str = "es"
    """Which of the shipped wordings the judge is asked in."""
    judge_wording: Mapping[str, str | tuple[str, ...]] = {}
    """What replaces parts of that wording."""
    models: tuple[str, ...] | None = None
    """The models that are asked; None where the suite does not say."""


class WordRecord(Struct, frozen=True, kw_only=True):
    """What one model answered to one prompt about one word, as its file holds it."""

    model: str
    word: str
    prompt: str
    response: str | None
    """None where the model could not be asked."""
    reference_definition: str
    timestamp: str
    error: str = ""
    reasoning: str = ""
    """What the model thought aloud, which is no part of its answer."""
    finish: str = ""
    temperature: Number | None = None
    dropped: tuple[str, ...] = ()
    model_answered: str = ""
    base_url: str = ""
    attempts: int | None = None
    duration_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    run: str = ""
    """When the run that asked was begun."""
    polyjudge_version: str = ""


class Judgement(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a judge made of one answer."""

    id: str
    model: str
    """The model whose answer it is."""
    word: str
    prompt: PromptName
    judge: str
    verdict: WordState
    category: str = ""
    stage: Literal["", "generation", "judging"] = ""
    """Where an error happened."""
    contradictory: bool = False
    """The judge's reply says one thing and then the other."""
    reason: str = ""
    raw: str = ""
    """The judge's reply as it came."""
    run: str = ""
    provenance: Provenance | None = None
