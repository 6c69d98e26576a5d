"""Measure whether a judge could take the place of a person, and say which assumptions of that test do not hold."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Figure, Replacement, ReplacementVerdict
from polyjudge.statistics.replacement import (
    MIN_ITEMS,
    MIN_PEOPLE,
    AnnotatorTest,
    Label,
    accuracy,
    alternative_annotator_test,
    negative_rmse,
)

from .agreement import NO_LANGUAGE, Span, scales_of
from .matching import Pair, are_equally_likely, by_id, usual_combination

ScoringName = Literal["accuracy", "negative RMSE"]
SCORINGS = {"accuracy": accuracy, "negative RMSE": negative_rmse}
USUAL_EPSILONS: Mapping[str, float] = {"crowd": 0.1, "skilled": 0.15, "experts": 0.2}
"""What the paper advises for each kind of people: the dearer a person, the more may be lost by the judge."""
PASSES_FROM = 0.5
"""The winning rate from which on a judge passes."""
MIN_COMPARED = 3
"""People whom a judge is compared with: with two, each is measured by the other alone."""
MOST_UNJUDGED = 0.2
"""With a larger share of labelled items without a verdict, those that are left may be the easy ones."""
_MOST_NAMED = 5
_LONGEST_NAME = 60
ByItem = Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class ReplacementOptions:
    """How the test is made."""

    epsilon: float = USUAL_EPSILONS["crowd"]
    scoring: ScoringName | None = None
    """None for accuracy of categories, and negative RMSE of other numbers."""
    pass_from: tuple[float, float] | None = None
    """The lowest passing value of the judge, and that of people; the labels are then pass and fail."""
    scales: tuple[Span, Span] | None = None
    """The scales of the judge and of the labels, if the labels are to be mapped."""
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Tested:
    """The test of the items of one language, or of all."""

    replacement: Replacement
    test: AnnotatorTest
    unjudged: int
    """Labelled items without a verdict of the judge."""


@dataclass(frozen=True, slots=True)
class ReplacementResult:
    """Whether a judge could take the place of a person: over all items under the empty tag, and by language."""

    found: Mapping[str, Tested]
    scoring: ScoringName
    epsilon: float
    not_judged: int
    """Labelled items that are not in the judge's results."""


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels of both sides by item, in one form."""

    judge: ByItem
    people: Mapping[str, ByItem]
    unjudged: frozenset[str]
    languages: Mapping[str, str]
    clusters: Mapping[str, Hashable]
    unfit: tuple[str, ...] = ()
    """Why verdicts and labels cannot be compared, or the labels are no random sample."""

    def of(self, tag: str) -> "_Labels":
        """Return the labels of the items in one language."""

        def chosen(labels: ByItem) -> ByItem:
            return {item: label for item, label in labels.items() if self.languages.get(item, "") == tag}

        return replace(
            self,
            judge=chosen(self.judge),
            people={name: own for name, labels in self.people.items() if (own := chosen(labels))},
            unjudged=frozenset(item for item in self.unjudged if self.languages.get(item, "") == tag),
        )


def measure_replacement(
    judged: Sequence[Rating], labelled: Sequence[Rating], options: ReplacementOptions
) -> ReplacementResult:
    """Test a judge over all items and in each language; raise ConfigError if there is no common item."""
    scoring = options.scoring or usual_scoring(labelled, options)
    labels = _labels_of(judged, labelled, options, scoring)
    known = {*labels.judge, *labels.unjudged}
    items = {item for own in labels.people.values() for item in own}
    if known.isdisjoint(items):
        raise ConfigError(_nothing_common(judged, labelled))
    found = {"": _tested(labels, scoring, options)}
    tags = {labels.languages.get(item, "") for item in items & known}
    if tags != {""}:
        found |= {tag or NO_LANGUAGE: _tested(labels.of(tag), scoring, options) for tag in sorted(tags)}
    return ReplacementResult(found, scoring, options.epsilon, len(items - known))


def _nothing_common(judged: Sequence[Rating], labelled: Sequence[Rating]) -> str:
    if not judged or not labelled:
        return f"There are no {'labels of people' if judged else 'verdicts of the judge'}."
    return (
        f"No common items: the first label is of {labelled[0].id[:_LONGEST_NAME]!r}, the judge's first verdict of "
        f"{judged[0].id[:_LONGEST_NAME]!r}."
    )


def usual_scoring(labelled: Iterable[Rating], options: ReplacementOptions) -> ScoringName:
    """Return how labels of this kind are compared."""
    labels = list(labelled)
    is_category = any(each.category for each in labels) or usual_combination(labels) == "majority"
    return "accuracy" if is_category or options.pass_from else "negative RMSE"


def _labels_of(
    judged: Sequence[Rating], labelled: Sequence[Rating], options: ReplacementOptions, scoring: ScoringName
) -> _Labels:
    in_words = any(each.value is None and each.category for each in labelled)
    if in_words and (scoring == "negative RMSE" or options.pass_from):
        word = next(each.category for each in labelled if each.value is None and each.category)
        raise ConfigError(
            f"The label {word[:_LONGEST_NAME]!r} is not a number. Words are compared by accuracy, without lowest "
            "passing values."
        )
    prefers = any(each.is_preference for each in labelled)
    rule = options.pass_from or (None, None)
    scores = {item: _label(each, rule[0], in_words=in_words, prefers=prefers) for item, each in by_id(judged).items()}
    people: defaultdict[str, dict[str, Label]] = defaultdict(dict)
    for each in labelled:
        label = _label(each, rule[1], in_words=in_words)
        if label is None:
            continue
        if each.id in people[each.annotator]:
            who = f" by {each.annotator!r}" if each.annotator else ""
            raise DataError(
                f"two labels for {each.id!r}{who}; if they are by different people, name these in a column 'annotator'"
            )
        people[each.annotator][each.id] = label
    judge = {item: label for item, label in scores.items() if label is not None}
    unequal = "" if are_equally_likely(labelled) else "the items had different probabilities of being labelled"
    own = {name: _mapped(given, options.scales) for name, given in sorted(people.items())}
    apart = _not_comparable(judge, own, scoring) if options.scales is None else ""
    return _Labels(
        judge,
        own,
        frozenset(scores.keys() - judge.keys()),
        {each.id: each.language for each in (*labelled, *judged) if each.language},
        {each.id: each.cluster for each in (*labelled, *judged) if each.cluster},
        tuple(filter(None, (apart, unequal))),
    )


def _label(rating: Rating, pass_from: float | None, *, in_words: bool = False, prefers: bool = False) -> Label | None:
    """Return a rating in the form in which both sides are compared."""
    if in_words and rating.category:
        return rating.category.casefold()
    value = rating.verdict if prefers and rating.verdict is not None else rating.value
    if value is None:
        return None
    if in_words:
        return f"{value:g}"
    return value if pass_from is None else float(value >= pass_from)


def _mapped(labels: ByItem, scales: tuple[Span, Span] | None) -> ByItem:
    """Map numbers linearly onto the judge's scale; raise ConfigError for one that is not on its own."""
    if scales is None:
        return labels
    judge, people = scales
    off = next((label for label in labels.values() if not people[0] <= float(label) <= people[1]), None)
    if off is not None:
        raise ConfigError(f"The label {float(off):g} is not on the scale {people[0]:g} to {people[1]:g}.")
    factor = (judge[1] - judge[0]) / (people[1] - people[0])
    return {item: judge[0] + (float(label) - people[0]) * factor for item, label in labels.items()}


def _not_comparable(judge: ByItem, people: Mapping[str, ByItem], scoring: ScoringName) -> str:
    """Return why verdicts and labels cannot be compared."""
    pairs = [(item, label) for own in people.values() for item, label in own.items() if item in judge]
    if scoring == "accuracy":
        given, known = {judge[item] for item, _ in pairs}, {label for _, label in pairs}
        if given and given.isdisjoint(known):
            return f"no verdict of the judge is one of the labels, such as {_shown(min(known, key=str))}"
        return ""
    found = scales_of(Pair(id=item, judge=float(judge[item]), people=float(label)) for item, label in pairs)
    if found is None or not found.differ:
        return ""
    (low, high), (lowest, highest) = found.judge, found.labels
    return f"the judge's scores go from {low:g} to {high:g}, the labels from {lowest:g} to {highest:g}"


def _shown(label: Label) -> str:
    return repr(label[:_LONGEST_NAME]) if isinstance(label, str) else f"{label:g}"


def _tested(labels: _Labels, scoring: ScoringName, options: ReplacementOptions) -> Tested:
    """Test the judge, and say which assumptions do not hold."""
    found = alternative_annotator_test(
        labels.judge,
        labels.people,
        SCORINGS[scoring],
        options.epsilon,
        others=USUAL_EPSILONS.values(),
        clusters=labels.clusters,
        resamples=options.resamples,
        seed=options.seed,
    )
    items = {item for own in labels.people.values() for item in own}
    unjudged = len(items & labels.unjudged)
    why = tuple(_assumptions(labels, found, unjudged, len(items & {*labels.judge, *labels.unjudged})))
    rate = found.winning_rate
    verdict: ReplacementVerdict = "not enough data"
    if not why and rate is not None:
        verdict = "passes" if rate >= PASSES_FROM else "fails"
    made = Replacement(
        verdict=verdict,
        why=why,
        winning_rate=rate,
        advantage=found.advantage if found.people else Figure(),
        epsilon=options.epsilon,
        scoring=scoring,
        people=len(found.people),
        items=found.items,
    )
    return Tested(made, found, unjudged)


def _assumptions(labels: _Labels, found: AnnotatorTest, unjudged: int, known: int) -> Iterator[str]:
    """Yield the assumptions of the test that do not hold; `known` of the labelled items are in the judge's results."""
    same = _same_labels({each.name: labels.people[each.name] for each in found.people})
    compared = len(found.people) - len(same)
    if compared < MIN_COMPARED:
        yield (
            f"{compared} {'person' if compared == 1 else 'people'} with at least {MIN_ITEMS} items that the judge and "
            f"at least {MIN_PEOPLE} people labelled; at least {MIN_COMPARED} are needed"
        )
    for one, other in same[:_MOST_NAMED]:
        yield f"all labels of {_name(one)} equal those of {_name(other)}, so they may not be independent"
    names, everyone = [each.name for each in found.people], labels.people.values()
    for name in [name for name in names if _are_copies(labels.judge, labels.people[name], everyone)][:_MOST_NAMED]:
        only = "equal the judge's, but not those of other people"
        yield f"all labels of {_name(name)} {only}, so they may not be independent"
    if unjudged > MOST_UNJUDGED * known:
        yield f"the judge has no verdict on {unjudged:,} of {known:,} labelled items, which may be the hard ones"
    yield from labels.unfit


def _same_labels(people: Mapping[str, ByItem]) -> list[tuple[str, str]]:
    """Return people whose labels equal those of a person before, though not all people agree on these items."""
    found: dict[str, str] = {}
    for one, other in combinations(people, 2):
        if other not in found and _are_copies(people[one], people[other], people.values()):
            found[other] = one
    return list(found.items())


def _are_copies(one: ByItem, other: ByItem, people: Iterable[ByItem]) -> bool:
    """Return whether all common labels are equal, while someone differs from them."""
    common = one.keys() & other.keys()
    if len(common) < MIN_ITEMS or any(one[item] != other[item] for item in common):
        return False
    return any(each[item] != one[item] for each in people for item in common & each.keys())


def _name(name: str) -> str:
    return repr(name[:_LONGEST_NAME])
