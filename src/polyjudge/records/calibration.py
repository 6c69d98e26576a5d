"""Figures with intervals, calibration results, and the trust card that contains them."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from polyjudge.records.outcomes import Provenance

from .codec import Number
from .notebook import as_frame, as_html


class Interval(Struct, frozen=True):
    """A 95% confidence interval."""

    low: float
    high: float


class Figure(Struct, frozen=True, rename="camel"):
    """A number with its 95% interval; None where it is not defined."""

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None


Reliability = Literal["reliable", "unreliable", "not enough data"]
"""Whether a judge distinguishes reference texts from perturbed ones."""


class ReferenceText(Struct, frozen=True, kw_only=True):
    """A text that is known to be good, which calibration perturbs."""

    id: str
    text: str
    language: str = ""
    """BCP 47 tag."""
    source: str = ""
    """The text that it translates; texts with the same source are translations of each other."""
    context: Mapping[str, str] = {}
    """Additional context for the judge."""


class CurvePoint(Struct, frozen=True, kw_only=True, rename="camel"):
    """The mean score at one severity, from 0 for the worst of the scale to 1 for the best."""

    severity: Number
    score: Figure


class MonotonicityResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a judge's score falls as the severity of one perturbation rises, in one language or over all."""

    perturbation: str
    language: str = ""
    """BCP 47 tag; empty over all languages, which then have equal weight."""
    texts: int
    """Texts that the perturbation changes, judged both clean and at full severity."""
    unjudged: int = 0
    """Trials of them without a verdict."""
    noticed: Figure = Figure()
    """How often a text scores higher than its own fully perturbed version; a tie counts half, 0.5 is chance."""
    auc: Figure = Figure()
    """How often any clean text scores above any fully perturbed one; harder, because texts differ in their scores."""
    drop: Figure = Figure()
    """How far the score falls from clean to full severity, as a share of the scale."""
    rank_correlation: Figure = Figure()
    """Spearman's correlation of severity and score within a text, averaged; -1 falls at every step, 0 is chance."""
    violations: Figure = Figure()
    """Share of the steps to a higher severity at which the score rises."""
    noticed_from: Figure = Figure()
    """The lowest severity from which on the mean score has fallen noticeably."""
    verdict: Reliability = "not enough data"
    languages: Mapping[str, int] = {}
    """Over all languages: the number of languages by verdict."""
    curve: tuple[CurvePoint, ...] = ()


class ControlResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a judge reacts to a change that no reader sees."""

    control: str
    language: str = ""
    texts: int
    false_alarms: Figure = Figure()
    """Share of the texts whose score falls noticeably."""
    shift: Figure = Figure()
    """Mean change of the score, as a share of the scale."""


class PlantedResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many of the errors that one perturbation plants a judge of error spans marks; without people."""

    perturbation: str
    """Empty for texts that were not perturbed."""
    texts: int
    errors: int = 0
    found: Figure = Figure()
    """Share of the planted errors that a span overlaps."""
    characters: Figure = Figure()
    """Share of the planted characters that are marked."""
    right: Figure = Figure()
    """Share of the marked characters that were planted."""
    false_alarms: Figure = Figure()
    """Of clean texts and controls: the share in which something is marked."""


class Effect(Struct, frozen=True, kw_only=True, rename="camel"):
    """One bias of a judge: its effect on the score or the choice."""

    name: str
    about: str
    """What was compared."""
    size: Figure = Figure()
    unit: str = ""
    """The unit of the size."""
    count: int = 0
    """Number of comparisons."""
    sentence: str = ""
    """The effect in words."""
    by_language: Mapping[str, Figure] = {}


ReplacementVerdict = Literal["passes", "fails", "not enough data"]
"""Whether a judge passes the alternative annotator test; it is not enough data if an assumption does not hold."""


class Replacement(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether a judge could take the place of any one of the people who labelled the same items."""

    verdict: ReplacementVerdict = "not enough data"
    why: tuple[str, ...] = ()
    """The assumptions of the test that do not hold."""
    winning_rate: Number | None = None
    """Share of the people whom the judge matches; it passes from one half on."""
    advantage: Figure = Figure()
    """How often the judge fits the other people at least as well as the person left out, averaged over people."""
    epsilon: Number | None = None
    """How much worse than a person the judge may be, for what it saves."""
    scoring: str = ""
    """How labels are compared: `accuracy` of categories, or `negative RMSE` of numbers."""
    people: int = 0
    """People whom the judge was compared with."""
    items: int = 0
    """Items that the judge and at least two people labelled."""


class LanguageTrust(Struct, frozen=True, kw_only=True, rename="camel"):
    """How reliable a judge is in one language."""

    verdict: Reliability = "not enough data"
    discrimination: Figure = Figure()
    """How often a clean text scores above its perturbed version, averaged over perturbations; 0.5 is chance."""
    texts: int = 0
    comparisons: int = 0
    """Pairs of a clean text and a fully perturbed one that the verdict is based on."""
    measured_at: str = ""
    perturbations: Mapping[str, MonotonicityResult] = {}
    false_alarms: Figure = Figure()
    """Over all controls."""
    agreement: Mapping[str, Figure] = {}
    """With people, if labels were given."""
    labels: int = 0
    spans: Mapping[str, Figure] = {}
    """How far its error spans are those of people."""
    span_texts: int | None = None
    """Comparisons of one of its texts with one person's annotation."""
    replacement: Replacement | None = None
    """Whether it could take the place of a person."""
    verdicts: Figure | None = None
    """Share of the recorded items with a verdict."""
    ordering: Figure | None = None
    """How often it puts the better of two items first, by people's labels; 0.5 is chance."""
    people_ordering: Number | None = None
    """The same of one person by the labels of the others, averaged over people."""
    verdict_from: str = ""
    """What the verdict is based on: empty for perturbed texts, else `labels`."""


class RecordedVerdicts(Struct, frozen=True, kw_only=True, rename="camel"):
    """What results that any tool recorded say of their judge, without asking it anything."""

    items: int
    verdicts: Figure = Figure()
    """Share of the items with a verdict."""
    ordering: Figure = Figure()
    """How often it puts the better of two items first, by people's labels; 0.5 is chance."""
    failures: Mapping[str, int] = {}
    """Items without a verdict, by kind."""
    means: Mapping[str, Figure] = {}
    """Mean scores of the judge and of people."""
    orders: Mapping[str, Figure] = {}
    """Of verdicts recorded in both orders."""
    people: Mapping[str, Mapping[str, Figure]] = {}
    """How far each two people agree, and the judge with each of them."""
    ceiling: Mapping[str, Figure] = {}
    """How far one person agrees with the others, averaged over people: what a judge can be expected to reach."""
    not_measured: Mapping[str, str] = {}
    """What could not be measured, and why."""
    sources: tuple[str, ...] = ()
    """The kinds of files."""


class JudgeIdentity(Struct, frozen=True, kw_only=True, rename="camel"):
    """The identity of a judge: its model, rubric and prompt."""

    provider: str
    model: str
    rubric: str
    rubric_fingerprint: str
    prompt_sha256: str = ""
    """Of the prompt without a candidate."""
    model_answered: str = ""
    """The model that answered, as named by the provider."""


class TrustCard(Struct, frozen=True, kw_only=True, rename="camel"):
    """All measurements of one judge, merged over runs."""

    judge: JudgeIdentity
    updated_at: str
    polyjudge_version: str = ""
    languages: Mapping[str, LanguageTrust] = {}
    perturbations: Mapping[str, MonotonicityResult] = {}
    """Over all languages, from the largest run."""
    controls: Mapping[str, ControlResult] = {}
    effects: Mapping[str, Effect] = {}
    """Biases and stability."""
    agreement: Mapping[str, Figure] = {}
    """With people, over all languages."""
    labels: int = 0
    spans: Mapping[str, Figure] = {}
    """How far its error spans are those of people, over all languages."""
    span_texts: int | None = None
    planted: Mapping[str, PlantedResult] = {}
    """By perturbation, what a judge of error spans finds of planted errors; the empty name is clean texts."""
    replacement: Replacement | None = None
    """Whether it could take the place of a person, over all languages."""
    recorded: RecordedVerdicts | None = None
    """What recorded results say of it."""
    runs: tuple[Mapping[str, Any], ...] = ()
    """When each measurement was made, with the numbers of texts and questions."""

    _repr_html_ = as_html
    to_frame = as_frame


RECORDED = "recorded"
"""In place of what the results of another tool do not say: the provider, the rubric, or the rubric's fingerprint."""
_PROVIDER = re.compile(r"(?P<provider>[^/:]+)(?:/|:(?:[^/:]+:)?)(?P<model>.+)", re.DOTALL)


def recorded_judge(name: str, rubric: str = "") -> JudgeIdentity:
    """Return the identity of a judge that another tool asked, by the name of its model: `gpt-5`, `openai/gpt-5`."""
    found = _PROVIDER.fullmatch(name)
    provider, model = (found["provider"], found["model"]) if found else (RECORDED, name)
    return JudgeIdentity(provider=provider, model=model, rubric=rubric or RECORDED, rubric_fingerprint=RECORDED)


def identity_of(origin: Provenance) -> JudgeIdentity:
    """Return the identity of the judge that gave a score."""
    return JudgeIdentity(
        provider=origin.provider,
        model=origin.model,
        rubric=origin.rubric,
        rubric_fingerprint=origin.rubric_fingerprint,
        model_answered=origin.model_answered,
    )
