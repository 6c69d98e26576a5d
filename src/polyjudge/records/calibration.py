"""Figures with intervals, calibration measurements, and the trust card that sums them up."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from polyjudge.records.outcomes import Provenance

from .codec import Number


class Interval(Struct, frozen=True):
    """Where a number lies with 95% confidence."""

    low: float
    high: float


class Figure(Struct, frozen=True, rename="camel"):
    """A number with its 95% interval; None where it is not defined."""

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None


Reliability = Literal["reliable", "unreliable", "not enough data"]
"""Whether a judge tells reference texts from perturbed ones; cards of before say sensitive and insensitive."""


class ReferenceText(Struct, frozen=True, kw_only=True):
    """A text that is known to be good, to be spoiled on purpose."""

    id: str
    text: str
    language: str = ""
    """BCP 47 tag."""
    source: str = ""
    """What it is a translation of; texts with the same source say the same."""
    context: Mapping[str, str] = {}
    """What else the judge may know about it."""


class CurvePoint(Struct, frozen=True, kw_only=True, rename="camel"):
    """The mean score at one severity, from 0 for the worst of the scale to 1 for the best."""

    severity: Number
    score: Figure


class MonotonicityResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a judge's score falls as one kind of spoiling grows, in one language or over all of them."""

    perturbation: str
    language: str = ""
    """BCP 47 tag; empty over all languages, which then count alike."""
    texts: int
    """Texts that could be spoiled in this way, judged both clean and spoiled wholly."""
    unjudged: int = 0
    """Questions about them that brought no verdict."""
    noticed: Figure = Figure()
    """How often a text scores higher than its own wholly spoiled version, ties counting half; 0.5 is blind."""
    auc: Figure = Figure()
    """How often any clean text scores above any wholly spoiled one: harder, for texts differ in their scores too."""
    drop: Figure = Figure()
    """How far the score falls from clean to wholly spoiled, as a share of the scale."""
    rank_correlation: Figure = Figure()
    """Spearman's, of severity and score within a text, averaged; -1 falls at every step, 0 is blind."""
    violations: Figure = Figure()
    """Share of the steps to a higher severity at which the score rises."""
    noticed_from: Figure = Figure()
    """The lowest severity from which on the mean score has fallen noticeably."""
    verdict: Reliability = "not enough data"
    languages: Mapping[str, int] = {}
    """Over all languages: how many have which verdict."""
    curve: tuple[CurvePoint, ...] = ()


class ControlResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether a judge is moved by a change that is none to a reader."""

    control: str
    language: str = ""
    texts: int
    false_alarms: Figure = Figure()
    """Share of the texts whose score falls noticeably all the same."""
    shift: Figure = Figure()
    """How far the score moves, as a share of the scale."""


class Effect(Struct, frozen=True, kw_only=True, rename="camel"):
    """One bias of a judge, as what it does to the score or the choice."""

    name: str
    about: str
    """What was compared with what."""
    size: Figure = Figure()
    unit: str = ""
    """What the size is counted in."""
    count: int = 0
    """Comparisons that it rests on."""
    sentence: str = ""
    """What it means, for a person."""
    by_language: Mapping[str, Figure] = {}


class LanguageTrust(Struct, frozen=True, kw_only=True, rename="camel"):
    """How far a judge can be trusted in one language."""

    verdict: Reliability = "not enough data"
    discrimination: Figure = Figure()
    """The mean over all kinds of spoiling of how often a clean text scores above its spoiled version; 0.5 is blind."""
    texts: int = 0
    comparisons: int = 0
    """Pairs of a clean text and a wholly spoiled one that the verdict rests on."""
    measured_at: str = ""
    perturbations: Mapping[str, MonotonicityResult] = {}
    false_alarms: Figure = Figure()
    """Over all controls."""
    agreement: Mapping[str, Figure] = {}
    """With people, where labels were given."""
    labels: int = 0


class JudgeIdentity(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which judge: another model, rubric or prompt is another judge."""

    provider: str
    model: str
    rubric: str
    rubric_fingerprint: str
    prompt_sha256: str = ""
    """Of the prompt without a candidate."""
    model_answered: str = ""
    """The model that answered, as the provider named it."""


class TrustCard(Struct, frozen=True, kw_only=True, rename="camel"):
    """All that was measured of one judge, merged over runs."""

    judge: JudgeIdentity
    updated_at: str
    polyjudge_version: str = ""
    languages: Mapping[str, LanguageTrust] = {}
    perturbations: Mapping[str, MonotonicityResult] = {}
    """Over all languages of the largest run."""
    controls: Mapping[str, ControlResult] = {}
    effects: Mapping[str, Effect] = {}
    """Biases and stability."""
    agreement: Mapping[str, Figure] = {}
    """With people, over all languages."""
    labels: int = 0
    runs: tuple[Mapping[str, Any], ...] = ()
    """What was measured when, with how many texts and questions."""


def identity_of(origin: Provenance) -> JudgeIdentity:
    """Return which judge gave a score."""
    return JudgeIdentity(
        provider=origin.provider,
        model=origin.model,
        rubric=origin.rubric,
        rubric_fingerprint=origin.rubric_fingerprint,
        model_answered=origin.model_answered,
    )
