"""Rubrics: criteria, scale, flags and the rule by which a result passes."""

from collections.abc import Mapping

from msgspec import Struct

from .codec import Number
from .spans import SpanConsensus, SpanSeverity


class RubricCriterion(Struct, frozen=True, forbid_unknown_fields=True):
    """One criterion to score."""

    name: str
    description: str
    weight: Number = 1.0
    anchors: Mapping[int, str] = {}
    """The meaning of single values of the scale."""


class Scale(Struct, frozen=True, forbid_unknown_fields=True):
    """The range of a score, inclusive."""

    lowest: Number = 0
    highest: Number = 100


class Flag(Struct, frozen=True, forbid_unknown_fields=True):
    """A yes-or-no question in addition to the scores."""

    name: str
    question: str


class PassRule(Struct, frozen=True, forbid_unknown_fields=True):
    """The rule by which a result passes: every score is at least the minimum, and the named flags are true."""

    minimum: Number
    flags: tuple[str, ...] = ()


class SpanRules(Struct, frozen=True, forbid_unknown_fields=True):
    """What a judge of error spans marks; the criteria of its rubric are the categories of errors."""

    severities: Mapping[SpanSeverity, str]
    """The severities that the judge may give, with their meaning."""
    penalties: Mapping[str, Number] = {}
    """The penalty of an error by severity, by category (also the part before the slash), or by both:
    `minor fluency/punctuation`; needed if the judge states no score."""
    verifier: str = ""
    """The model that confirms or rejects each span; none by default."""
    consensus: SpanConsensus | None = None
    """How the spans of several judges are combined; by default, what more than half of them mark is kept."""


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rubric, the content of one TOML file."""

    name: str
    instruction: str
    """The prompt, with the placeholders {criteria} {candidate} {context} {subscores_schema}."""
    criteria: tuple[RubricCriterion, ...]
    title: str = ""
    scale: Scale = Scale()
    overall: bool = True
    """Whether the judge is asked for an overall score; otherwise the weighted mean is the score."""
    flags: tuple[Flag, ...] = ()
    passing: PassRule | None = None
    spans: SpanRules | None = None
    """For a judge that marks errors in the text."""
