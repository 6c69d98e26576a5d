"""The comparison of two runs over the same items."""

from typing import Literal

from msgspec import Struct

from .calibration import Figure, JudgeIdentity
from .notebook import as_frame, as_html

Change = Literal["worse", "better", "no change seen", "too few items"]
"""The verdict about a difference; "no change seen" does not mean "equal"."""


class Difference(Struct, frozen=True, kw_only=True, rename="camel"):
    """The difference of one measure, over the items with a verdict in both runs; None if it is not known."""

    before: float | None
    after: float | None
    difference: Figure
    """After minus before."""
    p: float | None
    """The p-value: the probability of a difference this large if the runs did not differ."""
    adjusted_p: float | None
    """The p-value adjusted over all languages, by Benjamini and Hochberg."""
    detectable: float | None
    """The minimum detectable difference, at a statistical power of 0.8."""
    verdict: Change
    clusters_needed: int = 0
    """The number of clusters, or items without clusters, that a test needs."""


class ItemCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """The items of both runs, counted."""

    paired: int
    """Items with a verdict in both runs."""
    clusters: int
    """Groups of dependent items; without clusters, each item is one."""
    better: int
    worse: int
    newly_unjudged: int
    """Items with a verdict in the first run only, although judged in both."""
    newly_judged: int
    unjudged: int
    """Items without a verdict in both runs."""
    missing: int
    """Items in the first run only."""
    missing_judged: int
    """Those of them with a verdict."""
    added: int
    """Items in the second run only."""


class LanguageChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """The change in one language, or over all languages."""

    language: str
    """BCP 47 tag as in the files; empty over all languages, or if the files have no language."""
    counts: ItemCounts
    score: Difference
    passes: Difference | None
    """The difference of the share that passes; None without a pass score."""
    status_before: str | None = None
    """The status of the language in the first run, such as PASS; None without a pass rule."""
    status_after: str | None = None
    unreliable: str = ""
    """Why the scores of the judge are not reliable in it; empty if that is not known."""


class ItemChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """One item, before and after; None without a verdict."""

    id: str
    language: str
    before: float | None
    after: float | None
    source: str = ""
    """Texts and reasons are empty if the runs do not contain them."""
    text_before: str = ""
    text_after: str = ""
    reason_before: str = ""
    reason_after: str = ""


class ComparisonOptions(Struct, frozen=True, kw_only=True, rename="camel"):
    """How two runs are compared."""

    alpha: float = 0.05
    pass_from: float | None = None
    resamples: int = 1_000
    permutations: int = 10_000
    seed: int = 0
    show: int = 10
    """The number of items to list of each kind."""


class Comparison(Struct, frozen=True, kw_only=True, rename="camel"):
    """The comparison of two runs."""

    before: str
    """The first run's file."""
    after: str
    name_before: str = ""
    """The first run's system, or the name of its file."""
    name_after: str = ""
    judges_before: tuple[JudgeIdentity, ...]
    judges_after: tuple[JudgeIdentity, ...]
    notes: tuple[str, ...]
    """Notes that a reader needs to interpret the numbers."""
    options: ComparisonOptions
    clusters_needed: int = 0
    """The number of clusters, or items without clusters, below which nothing can be said of a language."""
    clusters_with_documents: int = 0
    """The same if a column names the documents, or if the items are independent."""
    overall: LanguageChange
    """Over all items, with equal weight."""
    languages_alike: Difference
    """The difference of the score, with equal weight for each language."""
    if_independent: Difference | None = None
    """The difference over all items if no two of them were of one document; None unless that would say more."""
    languages: tuple[LanguageChange, ...]
    worse: tuple[ItemChange, ...]
    """The items with the largest falls."""
    better: tuple[ItemChange, ...]
    newly_unjudged: tuple[ItemChange, ...]
    newly_judged: tuple[ItemChange, ...]
    missing: tuple[ItemChange, ...]
    added: tuple[ItemChange, ...]

    _repr_html_ = as_html
    to_frame = as_frame


class FailOn(Struct, frozen=True, kw_only=True):
    """The rule by which a comparison fails."""

    drop: float | None = None
    """The largest allowed fall of a score; None for any significant fall."""


class Alarm(Struct, frozen=True, kw_only=True, rename="camel"):
    """One measure that got worse."""

    language: str
    """BCP 47 tag; empty over all languages."""
    is_overall: bool
    sentence: str


class Ruling(Struct, frozen=True, kw_only=True):
    """Whether a comparison passes."""

    fail_on: FailOn | None
    """None if there is no rule; the alarms are then those of any significant fall, for information."""
    alarms: tuple[Alarm, ...]
    unjudged_share: float
    """The share of the items with a verdict in the first run that have none in the second, or are missing."""
    max_unjudged: float | None
    exit_code: int
    is_undecided: bool = False
    """There is a rule, but no language has enough items to fail it, nor have all items together."""
