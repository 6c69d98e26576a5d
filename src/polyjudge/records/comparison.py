"""What changed between two runs over the same items."""

from typing import Literal

from msgspec import Struct

from .calibration import Figure, JudgeIdentity

Change = Literal["worse", "better", "no change seen", "too few items"]
"""What may be said of a difference; "no change seen" is not "equal"."""


class Difference(Struct, frozen=True, kw_only=True, rename="camel"):
    """How far one measure moved, over the items that have a verdict in both runs; None where it is not known."""

    before: float | None
    after: float | None
    difference: Figure
    """After less before."""
    p: float | None
    """The chance of a difference as large, were the two runs alike."""
    adjusted_p: float | None
    """The same over all languages together, by Benjamini and Hochberg."""
    detectable: float | None
    """The smallest true difference that this run finds in four of five cases, had nothing else changed."""
    verdict: Change


class ItemCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """What became of the items."""

    paired: int
    """With a verdict in both runs."""
    clusters: int
    """Groups of items that rise and fall together; without any, each item is one."""
    better: int
    worse: int
    newly_unjudged: int
    """With a verdict before, and asked about without one now."""
    newly_judged: int
    unjudged: int
    """Without a verdict in both."""
    missing: int
    """In the first run alone."""
    missing_judged: int
    """Of them, those that had a verdict."""
    added: int
    """In the second run alone."""


class LanguageChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What changed in one language, or over all of them."""

    language: str
    """BCP 47 tag as the files give it; empty over all languages, or where none is given."""
    counts: ItemCounts
    score: Difference
    passes: Difference | None
    """Of the share that passes; None where no bar was given."""


class ItemChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """One item, before and after; None where there is no verdict."""

    id: str
    language: str
    before: float | None
    after: float | None


class ComparisonOptions(Struct, frozen=True, kw_only=True, rename="camel"):
    """How two runs are compared."""

    alpha: float = 0.05
    pass_from: float | None = None
    resamples: int = 1_000
    permutations: int = 10_000
    seed: int = 0
    show: int = 10
    """Items named of each kind."""


class Comparison(Struct, frozen=True, kw_only=True, rename="camel"):
    """What changed from one run to another."""

    before: str
    """The first run's file."""
    after: str
    judges_before: tuple[JudgeIdentity, ...]
    judges_after: tuple[JudgeIdentity, ...]
    notes: tuple[str, ...]
    """What a reader must know to take the numbers rightly."""
    options: ComparisonOptions
    overall: LanguageChange
    """Each item counts alike."""
    languages_alike: Difference
    """Of the score, where each language counts alike."""
    languages: tuple[LanguageChange, ...]
    worse: tuple[ItemChange, ...]
    """Those that fell furthest."""
    better: tuple[ItemChange, ...]
    newly_unjudged: tuple[ItemChange, ...]
    newly_judged: tuple[ItemChange, ...]
    missing: tuple[ItemChange, ...]
    added: tuple[ItemChange, ...]


class FailOn(Struct, frozen=True, kw_only=True):
    """When a comparison counts as failed."""

    drop: float | None = None
    """How far a score may fall; None looks for any significant fall."""


class Alarm(Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that got worse."""

    language: str
    """Empty for the whole."""
    is_overall: bool
    sentence: str


class Ruling(Struct, frozen=True, kw_only=True):
    """Whether a comparison passes."""

    fail_on: FailOn | None
    """None where nothing could fail it; the alarms are then those of a significant fall, for people to see."""
    alarms: tuple[Alarm, ...]
    unjudged_share: float
    """Of the items with a verdict before: those without one now, or no longer there."""
    max_unjudged: float | None
    exit_code: int
