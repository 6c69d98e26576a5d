"""Running estimates while people label."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from polyjudge.calibration.correction import usual_scale
from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement import exact_agreement, krippendorff_alpha
from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.group_correction import GroupSample, stratified_mean
from polyjudge.store.labels import Label

FEWEST_SHARED = 5
"""With fewer items that two people have labelled, no agreement is reported."""
_MOST_POINTS = 60
Bounds = tuple[float, float]
Scores = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of people on the items that at least two of them have labelled."""

    items: int
    annotators: tuple[str, ...]
    same: float | None = None
    """Share of pairs of labels that are equal; None with too few items."""
    alpha: float | None = None
    """Krippendorff's; None with too few items, or where all labels are the same."""


@dataclass(frozen=True, slots=True)
class Known:
    """An item with both the judge's score and people's value."""

    language: str
    score: float
    value: float
    probability: float | None


class RunningEstimate:
    """The estimate after each label: people's mean value of all items.

    `scores` are the judge's scores of all items by language; `sampled` are the language and score of each item to
    label, and `chances` the probabilities that these had of being in the sample, if they differ.
    """

    def __init__(
        self,
        scores: Scores,
        sampled: Mapping[str, tuple[str, float | None]],
        bounds: Bounds,
        chances: Mapping[str, float] | None = None,
    ) -> None:
        judged = [score for each in scores.values() for score in each if score is not None]
        to_scale = _to_scale(judged, bounds)

        def rescaled(score: float | None) -> float | None:
            if not judged:
                return bounds[0]  # without a judge all items are equal, and only the labels count
            return None if score is None else to_scale(score)

        of_all = {tag: [rescaled(score) for score in each] for tag, each in scores.items()}
        self._judged = {tag: found for tag, each in of_all.items() if (found := [s for s in each if s is not None])}
        self._sampled = {item: (tag, rescaled(score)) for item, (tag, score) in sampled.items()}
        self._chances = chances or {}
        self._bounds = bounds
        self.points: dict[int, Figure] = {}
        """By the number of labelled items."""

    def replay(self, labels: Iterable[Label]) -> None:
        """Add labels given earlier, with an estimate for at most 60 of them."""
        values: dict[str, float] = {}
        for label in sorted(labels, key=lambda label: label.labelled_at):
            if label.value is not None:
                values.setdefault(label.id, label.value)
        every = max(1, len(values) // _MOST_POINTS)
        for count in range(every, len(values) + 1, every):
            self.add(dict(list(values.items())[:count]))

    def known(self, values: Mapping[str, float]) -> list[Known]:
        """Return the items that have a value of people and a score of the judge, on people's scale."""
        return [
            Known(tag, score, values[item], self._chances.get(item))
            for item, (tag, score) in self._sampled.items()
            if item in values and score is not None
        ]

    @property
    def judged(self) -> Mapping[str, Sequence[float]]:
        """The judge's scores of all items by language, on people's scale."""
        return self._judged

    def add(self, values: Mapping[str, float]) -> None:
        """Compute the estimate from people's current values of items."""
        known = self.known(values)
        self.points = {count: point for count, point in self.points.items() if count < len(known)}
        if known:
            self.points[len(known)] = self._estimate(known)
        if len(self.points) > 2 * _MOST_POINTS:
            kept = [*sorted(self.points)[::2], max(self.points)]
            self.points = {count: self.points[count] for count in kept}

    def _estimate(self, known: Sequence[Known]) -> Figure:
        """Return the estimate, with each language weighted by its items: small languages are sampled more often."""
        groups = [self._group(tags, known) for tags in _groups(self._judged, Counter(each.language for each in known))]
        found = stratified_mean({str(n): each for n, each in enumerate(groups)}, bounds=self._bounds)
        if len(groups) > 1 and found is not None:
            return found.figure
        every = self._group(self._judged, known)
        scores = every.judged, every.labelled_judge, every.labelled_people
        return corrected_mean(*scores, bounds=self._bounds, probabilities=every.probabilities).figure

    def _group(self, tags: Collection[str], known: Sequence[Known]) -> GroupSample:
        inside = [each for each in known if each.language in tags]
        judged = [score for tag in tags for score in self._judged[tag]]
        found = [each.probability for each in inside if each.probability is not None]
        chances = found if len(found) == len(inside) else None
        return GroupSample(judged, [each.score for each in inside], [each.value for each in inside], chances)


def values_of(labels: Iterable[Label]) -> dict[str, float]:
    """Return people's value of each labelled item, the mean of several people."""
    given: defaultdict[str, list[float]] = defaultdict(list)
    for label in labels:
        if label.value is not None:
            given[label.id].append(label.value)
    return {item: fmean(values) for item, values in given.items()}


def agreement_of(labels: Iterable[Label]) -> Agreement:
    """Return the agreement of people; `labels` are each person's newest."""
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


def _groups(languages: Iterable[str], labels: Mapping[str, int]) -> list[list[str]]:
    """Return one group per language with two labels, and one for the rest, enlarged until it has two labels."""
    ordered = sorted(languages, key=lambda tag: (labels.get(tag, 0), tag))
    together = [tag for tag in ordered if labels.get(tag, 0) < 2]
    alone = ordered[len(together) :]
    if together and alone and sum(labels.get(tag, 0) for tag in together) < 2:
        together.append(alone.pop(0))
    return [group for group in (together, *([tag] for tag in alone)) if group]


def _to_scale(judged: Sequence[float], bounds: Bounds) -> Callable[[float], float]:
    """Return a function that maps the judge's scores to people's scale; the judge's scale is inferred from them."""
    span = (min(judged), max(judged)) if judged else bounds
    low, high = usual_scale(span) or span
    width = (high - low) or 1.0
    return lambda score: bounds[0] + (score - low) / width * (bounds[1] - bounds[0])
