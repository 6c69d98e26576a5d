"""What a judge is asked to look at, and when that is good enough."""

from collections.abc import Mapping

from msgspec import Struct

from .codec import Number


class RubricCriterion(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing to score."""

    name: str
    description: str
    weight: Number = 1.0
    anchors: Mapping[int, str] = {}
    """What single values of the scale mean."""


class Scale(Struct, frozen=True, forbid_unknown_fields=True):
    """The values a score may take, both ends included."""

    lowest: Number = 0
    highest: Number = 100


class Flag(Struct, frozen=True, forbid_unknown_fields=True):
    """A yes-or-no question asked beside the scores."""

    name: str
    question: str


class PassRule(Struct, frozen=True, forbid_unknown_fields=True):
    """When a result passes: every score at or above a bar, and the named flags true."""

    minimum: Number
    flags: tuple[str, ...] = ()


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole rubric, as one TOML file holds it."""

    name: str
    instruction: str
    """The prompt, with the places {criteria} {candidate} {context} {subscores_schema}."""
    criteria: tuple[RubricCriterion, ...]
    title: str = ""
    scale: Scale = Scale()
    overall: bool = True
    """The judge is asked for a score of its own; otherwise the weighted mean is the score."""
    flags: tuple[Flag, ...] = ()
    passing: PassRule | None = None
