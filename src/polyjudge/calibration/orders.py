"""Measure the effect of the order in which a judge was shown two candidates, from verdicts recorded in both orders."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec import Struct

from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement_intervals import agreement_figures
from polyjudge.statistics.resampling import resampled_mean

EVERY_ITEM = "_every_item"
"""The end of the name of a figure in which a missing verdict counts as wrong, or as changed."""


class OrderEffects(Struct, frozen=True):
    """The verdicts of a judge in both orders."""

    items: int
    """Items with a verdict recorded in each order."""
    missing: int
    """Items that lack the verdict in one order or in both."""
    changed: int
    """Items whose verdict differs between the orders."""
    labelled: int
    figures: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class _Shown:
    """The preferences for one item in the given and the swapped order, and the label."""

    given: float | None
    swapped: float | None
    label: float | None
    cluster: str

    @property
    def right(self) -> tuple[float, float]:
        """Whether each order has the right verdict."""
        return float(self.given == self.label), float(self.swapped == self.label)


def order_effects(
    judged: Iterable[Rating], labels: Mapping[str, float], *, resamples: int = 1000, seed: int = 0
) -> OrderEffects | None:
    """Return the effects of the order, with accuracy on the labelled items; None if no orders are recorded."""
    shown = [
        _Shown(*rating.orders, labels.get(rating.id), rating.cluster or rating.id)
        for rating in judged
        if rating.orders is not None
    ]
    if not shown:
        return None
    both = [(each.given, each.swapped, each.cluster) for each in shown if None not in (each.given, each.swapped)]
    mean = partial(_mean, resamples=resamples, seed=seed)
    same = [(float(given == swapped), cluster) for given, swapped, cluster in both]
    firsts = [(float((given or 0) > (swapped or 0)), cluster) for given, swapped, cluster in both if given != swapped]
    between = agreement_figures(
        [given or 0.0 for given, _, _ in both],
        [swapped or 0.0 for _, swapped, _ in both],
        clusters=[cluster for *_, cluster in both],
        resamples=resamples,
        seed=seed,
    )
    missing = [(0.0, each.cluster) for each in shown if None in (each.given, each.swapped)]
    labelled = [each for each in shown if each.label is not None]
    figures = {
        **_accuracy(labelled, mean),
        "same_in_both": mean(same),
        f"same_in_both{EVERY_ITEM}": mean([*same, *missing]),
        "kappa": between["kappa"],
        "first_shown_of_changed": mean(firsts),
    }
    return OrderEffects(len(shown), len(missing), len(firsts), len(labelled), figures)


_Values = Sequence[tuple[float, str]]
"""Numbers from 0 to 1, each with its cluster."""


def _mean(values: _Values, *, resamples: int, seed: int) -> Figure:
    clusters = [cluster for _, cluster in values]
    return resampled_mean([value for value, _ in values], clusters, resamples=resamples, seed=seed)


def _accuracy(labelled: Sequence[_Shown], mean: Callable[[_Values], Figure]) -> dict[str, Figure]:
    """Return the accuracy in each order, averaged, and in both; among readable verdicts and of every item."""
    read: dict[str, Callable[[_Shown], float]] = {
        "accuracy_given": lambda each: each.right[0],
        "accuracy_swapped": lambda each: each.right[1],
        "accuracy_average": lambda each: sum(each.right) / 2,
        "right_in_both": lambda each: each.right[0] * each.right[1],
    }
    needs: dict[str, Callable[[_Shown], bool]] = {
        "accuracy_given": lambda each: each.given is not None,
        "accuracy_swapped": lambda each: each.swapped is not None,
    }
    figures: dict[str, Figure] = {}
    if not labelled:
        return figures
    for name, value in read.items():
        is_read = needs.get(name, lambda each: None not in (each.given, each.swapped))
        figures[name] = mean([(value(each), each.cluster) for each in labelled if is_read(each)])
        figures[name + EVERY_ITEM] = mean([(value(each), each.cluster) for each in labelled])
    return figures
