"""Cascades of judges: from which confidence on each judge answers, and what that guarantees."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .calibration import Figure, JudgeIdentity
from .codec import Number

Sameness = Literal["verdict", "pass", "tolerance"]
"""When an answer agrees with people: the same verdict, the same side of the lowest passing value, or a score that is
close enough."""


class AgreementRule(Struct, frozen=True, kw_only=True, rename="camel"):
    """When an answer of a judge agrees with a label."""

    same: Sameness = "verdict"
    pass_from: Number | None = None
    """The lowest score of the judge that passes; None for the rubric's own rule."""
    label_pass_from: Number | None = None
    """The lowest label that passes."""
    tolerance: Number | None = None
    """The largest difference of two scores that agree."""


class CascadeThresholds(Struct, frozen=True, kw_only=True, rename="camel"):
    """The thresholds for one language, or for all, and what they did on the labelled items."""

    thresholds: tuple[Number | None, ...]
    """The lowest confidence at which each judge answers; None if it never does."""
    labels: int
    """Labelled items that the test used."""
    answered: tuple[int, ...]
    """How many of them each judge answered; the rest are abstentions."""
    errors: int
    """Answers that differ from the label."""
    agreement: Figure = Figure()
    """Agreement with people among the answers, with an exact 95% interval."""


class CascadePoint(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one target would give."""

    target: Number
    answered: tuple[Number, ...] = ()
    """The share of the items that each judge would answer; none if the target cannot be guaranteed."""
    asked: tuple[Number, ...] = ()
    """The share of the items about which each judge would be asked."""
    cost: Number | None = None
    """The cost as a share of that of the last judge alone, if both are known."""


class CascadePlan(Struct, frozen=True, kw_only=True, rename="camel"):
    """A cascade of judges with a guarantee, learnt from labels; valid for these judges, rubric and prompts only."""

    judges: tuple[JudgeIdentity, ...]
    """In the order in which they are asked."""
    repeats: int = 1
    """How often each judge is asked about an item."""
    token_probabilities: bool = False
    """Whether the judges' confidence is from token probabilities."""
    target: Number
    """Of the answers, the share that agrees with people is at least this."""
    delta: Number
    """With at most this probability, the guarantee does not hold."""
    rule: AgreementRule = AgreementRule()
    groups: Mapping[str, CascadeThresholds]
    """By language; an empty name is all languages that are not named."""
    languages: tuple[str, ...] = ()
    """The languages of the labelled items behind the empty name."""
    unguaranteed: Mapping[str, str] = {}
    """Languages for which the target cannot be guaranteed, and why: all their items are abstentions."""
    coming: int = 0
    """The number of items without a label that the guarantee is about; 0 if it is about the rate in the long run."""
    placed_by: int = 0
    """Items without labels, or left out of the test, that placed the thresholds."""
    curve: tuple[CascadePoint, ...] = ()
    created_at: str = ""
    polyjudge_version: str = ""
