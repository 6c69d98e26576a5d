"""Error spans: where a text is wrong, how badly, and how far that has been verified."""

from typing import Literal

from msgspec import Struct

from .codec import Number

SpanSeverity = Literal["minor", "major", "critical"]
SpanSide = Literal["output", "source"]
"""The text that a span is in; an omission is a span of the source."""
SpanState = Literal["proposed", "located", "confirmed", "rejected"]
"""Proposed by a judge; located in its text; confirmed by a check, a second judge or a person; rejected by one."""
LocateMethod = Literal["", "exact", "normalised", "fuzzy", "given"]
"""How a quote was found in the text; `given` if the annotator gave its place."""
Refusal = Literal["", "empty", "not in the text", "ambiguous", "in the other text"]
"""Why a proposed span has no place."""


class ErrorSpan(Struct, frozen=True, kw_only=True, rename="camel"):
    """One error that a judge or a person marked."""

    text: str
    """The marked text; where it is located, exactly what is at its place."""
    severity: SpanSeverity
    start: int | None = None
    """The place in code points, at the start of a grapheme; None if it has none, as an omission without a quote."""
    end: int | None = None
    """The first code point after it."""
    side: SpanSide = "output"
    category: str = ""
    explanation: str = ""
    correction: str = ""
    """What should be there instead."""
    state: SpanState = "located"
    method: LocateMethod = ""
    refusal: Refusal = ""
    """Why a span that is only proposed has no place."""
    quote: str = ""
    """What the judge quoted, where that differs from `text`."""
    verification: str = ""
    """Why it was confirmed or rejected, and by whom."""
    probability: Number | None = None
    """How likely people mark it, as far as that was learnt."""
    annotators: tuple[str, ...] = ()
    """Who marked it, for a span of several annotators."""

    @property
    def counts(self) -> bool:
        """Whether it counts in a score: it has a place, and nothing rejected it."""
        return self.start is not None and self.state in ("located", "confirmed")


VERIFICATION = "span_verification"
"""What the outcome of a second judge has as its rubric, among the members of a result."""
CONSENSUS_VERSION = 1
Aim = Literal["f1", "precision"]


class LogisticModel(Struct, frozen=True):
    """Weights of standardised features; the first feature is 1 in every row."""

    weights: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]


class SpanConsensus(Struct, frozen=True, kw_only=True, rename="camel"):
    """How spans of certain judges are combined: the content of a file."""

    schema_version: int = CONSENSUS_VERSION
    kind: Literal["span consensus"] = "span consensus"
    annotators: tuple[str, ...]
    features: tuple[str, ...]
    model: LogisticModel
    threshold: float
    """Pieces of a text with at least this probability are in a span."""
    aim: Aim = "f1"
    precision: float = 0.0
    """The wanted precision, if that is the aim."""
    texts: int = 0
    """Texts that it was learnt from."""
    clusters: int = 0
    """Documents that these are of."""


def annotator_name(provider: str, model: str, repeat: int = 0) -> str:
    """Return the name of a judge as an annotator, with the number of the repeat after the first."""
    return f"{provider}/{model}" + (f" #{repeat + 1}" if repeat else "")
