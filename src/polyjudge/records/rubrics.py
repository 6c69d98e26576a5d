"""What a judge is asked to look at, and when that is good enough."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RubricCriterion:
    """One thing to score."""

    name: str
    description: str
    weight: float = 1.0
    anchors: Mapping[int, str] = field(default_factory=dict[int, str])
    """What single values of the scale mean."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a score may take, both ends included."""

    lowest: float = 0
    highest: float = 100


@dataclass(frozen=True, slots=True)
class Flag:
    """A yes-or-no question asked beside the scores."""

    name: str
    question: str


@dataclass(frozen=True, slots=True)
class PassRule:
    """When a result passes: every score at or above a bar, and the named flags true."""

    minimum: float
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A whole rubric, as one TOML file holds it."""

    name: str
    instruction: str
    """The prompt, with the places {criteria} {candidate} {context} {subscores_schema}."""
    criteria: tuple[RubricCriterion, ...]
    title: str = ""
    scale: Scale = field(default_factory=Scale)
    overall: bool = True
    """The judge is asked for a score of its own; otherwise the weighted mean is the score."""
    flags: tuple[Flag, ...] = ()
    passing: PassRule | None = None
