"""Measure how far annotators agree with one another, and a judge with each of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement_intervals import agreement_figures

from .matching import Matched, Pair, match

_MOST_SHOWN = 12
"""Annotators with the most labels of whom each pair is compared."""
_OF_CATEGORIES = ("accuracy", "kappa")
_OF_ORDER = ("pearson", "spearman", "kendall_tau_b")
_OF_SCORES = (*_OF_ORDER, "mean_difference")
_MOST_RESAMPLED = 20_000
"""With more items the figures of two annotators have no interval."""


class RaterPair(Struct, frozen=True):
    """The agreement of two raters on the items that both rated."""

    first: str
    second: str
    items: int
    figures: Mapping[str, Figure]


def between_annotators(matched: Matched, *, resamples: int, seed: int) -> tuple[RaterPair, ...]:
    """Return the agreement of each two annotators."""
    by_name = _by_name(matched.labels.values())
    found: list[RaterPair] = []
    for first, second in combinations(_most_labels(matched.names, by_name), 2):
        ours, theirs = by_name[first], by_name[second]
        common = [item for item in ours if item in theirs]
        values = [(ours[item], theirs[item]) for item in common]
        found.append(_compared(first, second, values, common, _names(matched), resamples, seed))
    return tuple(found)


def with_each_annotator(
    judged: Sequence[Rating],
    matched: Matched,
    *,
    on_one_scale: Callable[[Sequence[Pair]], Sequence[Pair]] | None,
    resamples: int,
    seed: int,
) -> tuple[RaterPair, ...]:
    """Return the agreement of the judge with each annotator, on the items that have a verdict.

    `on_one_scale` makes a score and a label comparable; None if only their orders are.
    """
    by_name = _by_name(matched.labels.values())
    chosen = set(_most_labels(matched.names, by_name))
    ratings = [rating for given in matched.labels.values() for rating in given if rating.annotator in chosen]
    found: list[RaterPair] = []
    for name in sorted(chosen):
        own = match(judged, [rating for rating in ratings if rating.annotator == name]).pairs
        values = [(pair.judge, pair.people) for pair in (on_one_scale(own) if on_one_scale else own)]
        names = _names(matched) if on_one_scale else _OF_ORDER
        found.append(_compared("judge", name, values, [pair.cluster for pair in own], names, resamples, seed))
    return tuple(found)


def _names(matched: Matched) -> Sequence[str]:
    return _OF_CATEGORIES if matched.alpha_level == "nominal" else _OF_SCORES


def _by_name(labels: Iterable[Sequence[Rating]]) -> Mapping[str, Mapping[str, float]]:
    """Return the labels of each annotator by item."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for given in labels:
        for rating in given:
            if rating.value is not None:
                found[rating.annotator][rating.id] = rating.value
    return found


def _most_labels(names: Sequence[str], by_name: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the annotators with the most labels, by name."""
    counts = Counter({name: len(by_name[name]) for name in names})
    return sorted(name for name, _ in counts.most_common(_MOST_SHOWN))


def _compared(
    first: str,
    second: str,
    values: Sequence[tuple[float, float]],
    clusters: Sequence[str],
    names: Sequence[str],
    resamples: int,
    seed: int,
) -> RaterPair:
    figures = agreement_figures(
        [one for one, _ in values],
        [other for _, other in values],
        clusters=clusters,
        resamples=resamples if len(values) <= _MOST_RESAMPLED else 0,
        seed=seed,
    )
    return RaterPair(first, second, len(values), {name: figures[name] for name in names})
