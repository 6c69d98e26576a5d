"""Test whether a judge could take the place of any one of several people: the alternative annotator test.

Calderon, Reichart and Dror, "The Alternative Annotator Test for LLM-as-a-Judge" (2025, arXiv:2501.10970). Each person
is left out in turn. On every item, the judge and the person left out are compared with the people who remain.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from polyjudge.records.calibration import Figure

from .intervals import two_sided_p
from .resampling import Floats, draws, within

MIN_PEOPLE = 2
"""People who labelled an item: one is left out, and at least one remains."""
MIN_ITEMS = 30
"""Items of a person, from which on Student's t holds."""
FALSE_DISCOVERIES = 0.05
"""The rate of false discoveries among the people whom the judge is found to match."""
_ROUNDING = 1e-9
"""Labels that fit equally well may differ by as much, because decimals are rounded."""
Label = float | str
Scoring = Callable[[Label, Sequence[Label]], float]
"""How well a label fits those of other people; higher is better."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One person, left out and compared with the judge."""

    name: str
    items: int
    judge: float
    """Share of items on which the judge fits the others at least as well as this person: the advantage probability."""
    person: float
    """Share of items on which this person fits the others at least as well as the judge."""
    p: float
    """Of the hypothesis that this person is better than the judge by at least epsilon."""
    is_matched: bool
    """Whether the hypothesis is rejected."""


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The people who were compared with the judge, and what follows."""

    people: Sequence[LeftOut]
    too_few: Mapping[str, int]
    """People with too few items to be compared, and how many they have."""
    items: int
    """Items that the judge and enough people labelled."""
    advantage: Figure
    """The mean advantage probability, with an interval over items."""
    winning_rate: float | None
    """Share of the people whom the judge matches; None without any."""
    other_rates: Mapping[float, float | None]
    """The winning rate by other values of epsilon."""


def accuracy(label: Label, others: Sequence[Label]) -> float:
    """Return the share of the other labels that are equal."""
    return sum(label == other for other in others) / len(others)


def negative_rmse(label: Label, others: Sequence[Label]) -> float:
    """Return the root mean square difference to the other numbers, with a minus."""
    return -sqrt(sum((float(label) - float(other)) ** 2 for other in others) / len(others))


def alternative_annotator_test(
    judge: Mapping[str, Label],
    people: Mapping[str, Mapping[str, Label]],
    scoring: Scoring,
    epsilon: float,
    *,
    others: Iterable[float] = (),
    clusters: Mapping[str, Hashable] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> AnnotatorTest:
    """Compare a judge's labels with each person's, both by item; `epsilon` is what a lower cost is worth.

    The winning rate is also given for `others`, other values of epsilon.
    """
    shared = _items_of_several(judge, people)
    own = {name: [item for item in labels if item in shared] for name, labels in people.items()}
    wins = {
        name: _wins(judge, people, shared, name, items, scoring)
        for name, items in own.items()
        if len(items) >= MIN_ITEMS
    }

    def test(bound: float) -> tuple[list[float], list[bool]]:
        p_values = [one_sided_p(person - judged, bound) for judged, person in wins.values()]
        return p_values, benjamini_yekutieli(p_values, FALSE_DISCOVERIES)

    p_values, matched = test(epsilon)
    found = [
        LeftOut(name, len(own[name]), float(judged.mean()), float(person.mean()), p, is_matched)
        for (name, (judged, person)), p, is_matched in zip(wins.items(), p_values, matched, strict=True)
    ]
    advantage = _advantage([(own[name], judged) for name, (judged, _) in wins.items()], clusters or {}, resamples, seed)
    too_few = {name: len(items) for name, items in own.items() if name not in wins}
    rates = {each: _share(test(each)[1]) for each in others}
    return AnnotatorTest(found, too_few, len(shared), advantage, _share(matched), rates)


def _share(matched: Sequence[bool]) -> float | None:
    return sum(matched) / len(matched) if matched else None


def _wins(
    judge: Mapping[str, Label],
    people: Mapping[str, Mapping[str, Label]],
    shared: Mapping[str, Sequence[str]],
    name: str,
    items: Sequence[str],
    scoring: Scoring,
) -> tuple[Floats, Floats]:
    """Return for each item whether the judge, and whether the person left out, fits the others at least as well."""
    judged, person = np.empty(len(items)), np.empty(len(items))
    for place, item in enumerate(items):
        remaining = [people[other][item] for other in shared[item] if other != name]
        ours, theirs = scoring(judge[item], remaining), scoring(people[name][item], remaining)
        judged[place], person[place] = ours >= theirs - _ROUNDING, theirs >= ours - _ROUNDING
    return judged, person


def _items_of_several(judge: Collection[str], people: Mapping[str, Mapping[str, Label]]) -> Mapping[str, Sequence[str]]:
    """Return the items that the judge and enough people labelled, with these people."""
    names: dict[str, list[str]] = {}
    for name, labels in people.items():
        for item in labels:
            if item in judge:
                names.setdefault(item, []).append(name)
    return {item: given for item, given in names.items() if len(given) >= MIN_PEOPLE}


def one_sided_p(differences: Floats, bound: float) -> float:
    """Return the p of Student's t for the hypothesis that the mean is at least `bound`."""
    count, mean = len(differences), float(differences.mean())
    error = float(differences.std(ddof=1)) / sqrt(count)
    if error == 0:
        return float(mean >= bound)
    t = (mean - bound) / error
    tail = two_sided_p(t, count - 1) / 2
    return tail if t < 0 else 1 - tail


def benjamini_yekutieli(p_values: Sequence[float], rate: float) -> list[bool]:
    """Return which hypotheses are rejected so that, for any dependence, at most such a rate is rejected wrongly."""
    count = len(p_values)
    harmonic = sum(1 / rank for rank in range(1, count + 1))
    by_size = sorted(range(count), key=p_values.__getitem__)
    last = max(
        (rank for rank, place in enumerate(by_size, 1) if p_values[place] <= rank / count * rate / harmonic), default=0
    )
    rejected = set(by_size[:last])
    return [place in rejected for place in range(count)]


def _advantage(
    wins: Sequence[tuple[Sequence[str], Floats]], clusters: Mapping[str, Hashable], resamples: int, seed: int
) -> Figure:
    """Return the mean over people of the share of items that the judge wins, with an interval over items."""
    items = list(dict.fromkeys(item for own, _ in wins for item in own))
    if not items:
        return Figure()
    places = {item: place for place, item in enumerate(items)}
    won, known = np.zeros((len(items), len(wins))), np.zeros((len(items), len(wins)))
    for column, (own, judged) in enumerate(wins):
        rows = [places[item] for item in own]
        won[rows, column], known[rows, column] = judged, 1.0
    drawn = draws([clusters.get(item, item) for item in items], len(items), resamples=resamples, seed=seed)
    shares: list[Floats] = []
    for weights in drawn:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares.append((weights @ won / (weights @ known)).mean(axis=1))
    return within(drawn.figure(np.concatenate(shares)), 0, 1)
