"""Vocabulary suites, the answers of models, and their judgements."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .codec import Number
from .outcomes import FailureKind, Provenance

PromptName = Literal["a", "b"]
"""Prompt A asks for the meaning of a word, prompt B for its use."""

WordState = Literal["correct", "incorrect", "undetermined", "error"]
"""The state of an answer: `undetermined` is a judge's reply without a verdict, `error` no reply."""


class VocabularyWord(Struct, frozen=True):
    """A word and its meaning."""

    word: str
    answer: str
    """The reference definition, which only the judge sees."""
    category: str = ""


class Vocabulary(Struct, frozen=True, kw_only=True):
    """A suite of words, with the prompts for models and judges."""

    name: str
    words: tuple[VocabularyWord, ...]
    prompts: Mapping[PromptName, str]
    """The prompts for models, with the placeholder {word}."""
    language: str = "es"
    """The language of the judge's wording."""
    judge_wording: Mapping[str, str | tuple[str, ...]] = {}
    """Replacements for parts of that wording."""
    models: tuple[str, ...] | None = None
    """The models to ask; None if the suite does not list them."""


class WordRecord(Struct, frozen=True, kw_only=True):
    """The answer of one model to one prompt about one word, as stored in its file."""

    model: str
    word: str
    prompt: str
    response: str | None
    """None if the model could not be asked."""
    reference_definition: str
    timestamp: str
    error: str = ""
    reasoning: str = ""
    """The reasoning of the model, which is not part of its answer."""
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
    """The start time of the run."""
    polyjudge_version: str = ""


class Judgement(Struct, frozen=True, kw_only=True, rename="camel"):
    """A judge's verdict on one answer."""

    id: str
    model: str
    """The model that gave the answer."""
    word: str
    prompt: PromptName
    judge: str
    verdict: WordState
    category: str = ""
    stage: Literal["", "generation", "judging"] = ""
    """The stage of an error."""
    failure: FailureKind | Literal[""] = ""
    """Why the judge gave no verdict; earlier versions did not store it."""
    contradictory: bool = False
    """Whether the judge's reply contradicts itself."""
    reason: str = ""
    raw: str = ""
    """The unchanged reply of the judge."""
    run: str = ""
    provenance: Provenance | None = None
