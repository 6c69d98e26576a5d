"""Figures with intervals, calibration measurements, and the trust card that sums them up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from polyjudge.records.outcomes import Provenance


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a number lies with 95% confidence."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95% interval; None where it is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


Sensitivity = Literal["sensitive", "insensitive", "not enough data"]
"""Whether a judge tells good texts from spoiled ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceText:
    """A text that is known to be good, to be spoiled on purpose."""

    id: str
    text: str
    language: str = ""
    """BCP 47 tag."""
    source: str = ""
    """What it is a translation of; texts with the same source say the same."""
    context: Mapping[str, str] = field(default_factory=dict[str, str])
    """What else the judge may know about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The mean score at one severity, from 0 for the worst of the scale to 1 for the best."""

    severity: float
    score: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class MonotonicityResult:
    """How a judge's score falls as one kind of spoiling grows, in one language or over all of them."""

    perturbation: str
    language: str = ""
    """BCP 47 tag; empty over all languages, which then count alike."""
    texts: int
    """Texts that could be spoiled in this way, judged both clean and spoiled wholly."""
    unjudged: int = 0
    """Questions about them that brought no verdict."""
    noticed: Figure = field(default_factory=Figure)
    """How often a text scores higher than its own wholly spoiled version, ties counting half; 0.5 is blind."""
    auc: Figure = field(default_factory=Figure)
    """How often any clean text scores above any wholly spoiled one: harder, for texts differ in their scores too."""
    drop: Figure = field(default_factory=Figure)
    """How far the score falls from clean to wholly spoiled, as a share of the scale."""
    rank_correlation: Figure = field(default_factory=Figure)
    """Spearman's, of severity and score within a text, averaged; -1 falls at every step, 0 is blind."""
    violations: Figure = field(default_factory=Figure)
    """Share of the steps to a higher severity at which the score rises."""
    noticed_from: Figure = field(default_factory=Figure)
    """The lowest severity from which on the mean score has fallen noticeably."""
    verdict: Sensitivity = "not enough data"
    languages: Mapping[str, int] = field(default_factory=dict[str, int])
    """Over all languages: how many have which verdict."""
    curve: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """Whether a judge is moved by a change that is none to a reader."""

    control: str
    language: str = ""
    texts: int
    false_alarms: Figure = field(default_factory=Figure)
    """Share of the texts whose score falls noticeably all the same."""
    shift: Figure = field(default_factory=Figure)
    """How far the score moves, as a share of the scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One bias of a judge, as what it does to the score or the choice."""

    name: str
    about: str
    """What was compared with what."""
    size: Figure = field(default_factory=Figure)
    unit: str = ""
    """What the size is counted in."""
    count: int = 0
    """Comparisons that it rests on."""
    sentence: str = ""
    """What it means, for a person."""
    by_language: Mapping[str, Figure] = field(default_factory=dict[str, Figure])


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTrust:
    """How far a judge can be trusted in one language."""

    verdict: Sensitivity = "not enough data"
    discrimination: Figure = field(default_factory=Figure)
    """The mean over all kinds of spoiling of how often a clean text scores above its spoiled version; 0.5 is blind."""
    texts: int = 0
    comparisons: int = 0
    """Pairs of a clean text and a wholly spoiled one that the verdict rests on."""
    measured_at: str = ""
    perturbations: Mapping[str, MonotonicityResult] = field(default_factory=dict[str, MonotonicityResult])
    false_alarms: Figure = field(default_factory=Figure)
    """Over all controls."""
    agreement: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
    """With people, where labels were given."""
    labels: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeIdentity:
    """Which judge: another model, rubric or prompt is another judge."""

    provider: str
    model: str
    rubric: str
    rubric_fingerprint: str
    prompt_sha256: str = ""
    """Of the prompt without a candidate."""
    model_answered: str = ""
    """The model that answered, as the provider named it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustCard:
    """All that was measured of one judge, merged over runs."""

    judge: JudgeIdentity
    updated_at: str
    polyjudge_version: str = ""
    languages: Mapping[str, LanguageTrust] = field(default_factory=dict[str, LanguageTrust])
    perturbations: Mapping[str, MonotonicityResult] = field(default_factory=dict[str, MonotonicityResult])
    """Over all languages of the largest run."""
    controls: Mapping[str, ControlResult] = field(default_factory=dict[str, ControlResult])
    effects: Mapping[str, Effect] = field(default_factory=dict[str, Effect])
    """Biases and stability."""
    agreement: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
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
