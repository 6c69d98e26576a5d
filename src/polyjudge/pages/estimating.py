"""What the labels given so far come to: people's mean with its interval, and how far people agree."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from polyjudge.files.label_log import Label
from polyjudge.records import Figure
from polyjudge.statistics import exact_agreement, krippendorff_alpha
from polyjudge.statistics.correction import corrected_mean

FEWEST_SHARED = 5
"""With fewer items that two people have labelled, nothing is said of their agreement."""
_MOST_POINTS = 60
_KNOWN_SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 100.0))
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agree on the items that at least two of them have labelled."""

    items: int
    annotators: tuple[str, ...]
    same: float | None = None
    """Share of pairs of labels that are equal; None with too few items."""
    alpha: float | None = None
    """Krippendorff's; None with too few items, or where all labels are the same."""


class Narrowing:
    """The estimate after each label: what people would say of all items on average."""

    def __init__(self, judged: Sequence[float], scores: Mapping[str, float | None], bounds: Bounds) -> None:
        rescaled = _onto(judged, bounds)
        self._judged = [rescaled(score) for score in judged] or [bounds[0]]
        self._has_judge = bool(judged)
        self._scores = {item: None if score is None else rescaled(score) for item, score in scores.items()}
        self._bounds = bounds
        self.points: dict[int, Figure] = {}
        """By how many items are labelled."""

    def replay(self, labels: Iterable[Label]) -> None:
        """Go through labels given earlier; of many, the estimate is made only now and then."""
        values: dict[str, float] = {}
        for label in sorted(labels, key=lambda label: label.labelled_at):
            if label.value is not None:
                values.setdefault(label.id, label.value)
        every = max(1, len(values) // _MOST_POINTS)
        for count in range(every, len(values) + 1, every):
            self.add(dict(list(values.items())[:count]))

    def add(self, values: Mapping[str, float]) -> None:
        """Make the estimate from people's values of items as they are now."""
        known = {item: value for item, value in values.items() if self._score(item) is not None}
        self.points = {count: point for count, point in self.points.items() if count < len(known)}
        if known:
            judge = [self._score(item) or 0.0 for item in known]
            found = corrected_mean(self._judged, judge, list(known.values()), bounds=self._bounds)
            self.points[len(known)] = found.figure
        if len(self.points) > 2 * _MOST_POINTS:
            kept = [*sorted(self.points)[::2], max(self.points)]
            self.points = {count: self.points[count] for count in kept}

    def _score(self, item: str) -> float | None:
        """Return the judge's score; without a judge all items are alike, and the labels decide alone."""
        return self._scores.get(item) if self._has_judge else self._judged[0]


def values_of(labels: Iterable[Label]) -> dict[str, float]:
    """Return people's value of each labelled item; of several people it is the mean."""
    given: defaultdict[str, list[float]] = defaultdict(list)
    for label in labels:
        if label.value is not None:
            given[label.id].append(label.value)
    return {item: fmean(values) for item, values in given.items()}


def agreement_of(labels: Iterable[Label]) -> Agreement:
    """Return how far people agree; labels are each person's newest."""
    given: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for label in labels:
        if label.value is not None:
            given[label.id][label.annotator] = label.value
    shared = [by_name for by_name in given.values() if len(by_name) > 1]
    names = tuple(sorted({name for by_name in shared for name in by_name}))
    if len(shared) < FEWEST_SHARED:
        return Agreement(len(shared), names)
    units = [[by_name.get(name) for name in names] for by_name in shared]
    return Agreement(len(shared), names, exact_agreement(units), krippendorff_alpha(units, "interval"))


def _onto(judged: Sequence[float], bounds: Bounds) -> Callable[[float], float]:
    """Return what brings the judge's scores onto people's scale; a judge's own scale is told by its scores."""
    low, high = (min(judged), max(judged)) if judged else bounds
    fitting = (scale for scale in _KNOWN_SCALES if scale[0] <= low and high <= scale[1])
    low, high = next(fitting, (low, high))
    width = (high - low) or 1.0
    return lambda score: bounds[0] + (score - low) / width * (bounds[1] - bounds[0])
