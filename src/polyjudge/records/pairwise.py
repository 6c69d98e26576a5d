"""The summary of the preferences of a judge between two systems."""

from collections.abc import Mapping

from msgspec import Struct

from .calibration import Figure
from .ranking import Ranking


class PairwiseSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """Which of two systems a judge prefers, and how far the order of the texts decided."""

    pairs: int
    judged: int
    unjudged: int
    unjudged_by_kind: Mapping[str, int]
    inconsistent: Figure
    """The share of pairs with different answers in the two orders; they count as ties."""
    first_shown_wins: Figure
    """The share of answers other than ties that prefer the text shown first; 0.5 without bias."""
    ranking: Ranking | None
    """None if no pair has a verdict."""
