"""The ranking of several systems over the same items, and the summary of a judge's preferences between two."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .calibration import Figure, JudgeIdentity
from .notebook import as_frame, as_html

PairVerdict = Literal["first", "second", "not distinguished", "not connected"]
"""Which of two systems is better; "not connected" if nothing compares them, directly or through others."""


class RankedSystem(Struct, frozen=True, kw_only=True, rename="camel"):
    """One system among others; None if it is not known."""

    system: str
    group: int | None
    """Systems of one group cannot all be distinguished; each is better than all of the groups after it."""
    best_rank: int | None
    """The best rank that the comparisons allow."""
    worst_rank: int | None
    strength: Figure
    """The log odds of a win against a system of mean strength, by Bradley and Terry."""
    win_rate: Figure
    """The share of its comparisons that it won, ties counting half."""
    standard_error: float | None
    """The standard error of the win rate."""
    comparisons: int
    wins: int
    losses: int
    ties: int
    failures: int = 0
    """Its items without a verdict; known over all languages only."""
    part: int = 1
    """Systems of different parts were not compared, also not through others, and have no common ranks."""


class SystemPair(Struct, frozen=True, kw_only=True, rename="camel"):
    """Two systems, the stronger one first."""

    first: str
    second: str
    comparisons: int
    """Direct ones; other systems count for the verdict too."""
    wins: int
    """Of the first."""
    losses: int
    ties: int
    p: float | None
    """The p-value of equal strength; None if there are too few clusters, or nothing connects the two."""
    adjusted_p: float | None
    """The p-value adjusted over all pairs, and over the languages in a ranking by language (Holm)."""
    verdict: PairVerdict
    clusters_needed: int | None = None
    """About how many clusters, or items without clusters, would distinguish them if the difference is as seen."""


class LanguageRanking(Struct, frozen=True, kw_only=True, rename="camel"):
    """The ranking in one language, or over all languages."""

    language: str
    """BCP 47 tag as in the files; empty over all languages, or if the files have no language."""
    comparisons: int
    clusters: int
    """Groups of dependent comparisons; without clusters, each item is one."""
    may_be_related: bool
    """Whether no column names the clusters, so that neighbours are tested as if they may belong together."""
    is_limited: bool
    """Whether half a win was added to both sides of each pair, because a strength would be infinite."""
    clusters_needed: int
    """The number of clusters below which no pair of systems can be distinguished."""
    systems: tuple[RankedSystem, ...]
    """In the order of their strengths."""
    pairs: tuple[SystemPair, ...]


class RankingOptions(Struct, frozen=True, kw_only=True, rename="camel"):
    """How systems are ranked."""

    alpha: float = 0.05
    """The largest chance that any two equal systems are distinguished."""
    permutations: int = 10_000
    seed: int = 0
    by_language: bool = True


class Ranking(Struct, frozen=True, kw_only=True, rename="camel"):
    """The ranking of several systems."""

    files: tuple[str, ...]
    judges: tuple[JudgeIdentity, ...]
    notes: tuple[str, ...]
    """Notes that a reader needs to interpret the numbers."""
    options: RankingOptions
    overall: LanguageRanking
    languages: tuple[LanguageRanking, ...]
    """Empty if there is one language only."""
    if_independent: LanguageRanking | None = None
    """The ranking over all items if no two were of one document; None unless that would distinguish more systems."""

    _repr_html_ = as_html
    to_frame = as_frame


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
