"""The estimates of people's mean scores for several systems, and whether the judge's correction holds for each."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .calibration import Figure
from .codec import Number

EstimateStatus = Literal["corrected", "own labels only", "assumed", "not reliable here", "no labels"]
"""How a system's mean was estimated. "assumed": with too few labels of its own, as if the judge errs on it as on the
others. "not reliable here": no interval, because the labels are too few for one that holds. "no labels": of any
system, so that there is no estimate."""
TransportVerdict = Literal["carries over", "not shown to differ", "does not carry over"]
"""Whether the judge errs on a system as on the others: shown within the margin, or not, or refuted."""


class TransportCheck(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether the correction that was learnt on other systems holds for one, by its own labels."""

    verdict: TransportVerdict
    shift: Figure
    """The mean of people's scores minus the judge's scores as corrected by the labels of other systems."""
    p: Number
    """The p-value of no shift."""
    adjusted_p: Number
    """The p-value adjusted over the systems that are tested (Holm)."""
    noticeable: Number
    """The shift that these labels would have shown with a probability of 0.8."""


class SystemEstimate(Struct, frozen=True, kw_only=True, rename="camel"):
    """People's mean score of one system, in one language or over all items."""

    system: str
    status: EstimateStatus
    reason: str = ""
    """Why the correction was not used, or there is no interval."""
    figure: Figure
    """People's mean, or pass rate."""
    naive: Figure
    """The judge's mean."""
    labels_only: Figure
    """The mean of the labels."""
    judged: int
    labelled: int
    group: int | None = None
    """Systems of one group cannot all be distinguished; None for a system that is not ranked."""
    best_rank: int | None = None
    worst_rank: int | None = None


class EstimatePair(Struct, frozen=True, kw_only=True, rename="camel"):
    """The difference of two ranked systems, the better one first."""

    first: str
    second: str
    difference: Figure
    p: Number
    adjusted_p: Number
    """The p-value adjusted over all pairs, and over the languages (Holm)."""
    distinguished: bool


class SystemTable(Struct, frozen=True, kw_only=True, rename="camel"):
    """The estimates of all systems, in one language or over all items."""

    language: str
    """BCP 47 tag; empty over all items."""
    systems: tuple[SystemEstimate, ...]
    """The best first; then those that are not ranked."""
    pairs: tuple[EstimatePair, ...]


class SystemCorrection(Struct, frozen=True, kw_only=True, rename="camel"):
    """The corrected means of several systems."""

    estimate: Literal["mean", "pass rate"]
    overall: SystemTable
    languages: tuple[SystemTable, ...]
    """Empty if there is one language only."""
    checks: Mapping[str, TransportCheck]
    """By system, for those with enough labels of their own."""
    weight: Number
    """The slope of people's scores on the judge's."""
    alpha: Number
    """The largest chance that any correction that holds is refused, and that any equal systems are distinguished."""
    margin: Number | None = None
    """The largest shift that does not matter."""
    only_these: bool = False
    """Whether intervals are of means over the judged items, not over all items of which these are a random sample."""
    reference: tuple[str, ...] = ()
    """The systems whose labels the correction was learnt on; empty for all that it holds for."""
    notes: tuple[str, ...] = ()
