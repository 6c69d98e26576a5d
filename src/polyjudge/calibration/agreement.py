"""Measure how far a judge agrees with people, or with another judge, on the same items."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from polyjudge.errors import DataError
from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement import krippendorff_alpha
from polyjudge.statistics.agreement_intervals import CATEGORY_MEASURES, agreement_figures
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.statistics.rankings import tie_calibrated_accuracy

NO_LANGUAGE = "no language"
"""Title of the items without a language."""
MIN_ITEMS_PER_LANGUAGE = 2
"""With fewer common items a language is counted but not compared."""
_MAX_CATEGORIES = 11
_MAX_PAIRS = 5_000_000
"""With more pairs the best threshold for ties is not searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One item with the score of the judge and the mean score of people."""

    id: str
    judge: float
    people: float
    language: str = ""
    group: str = ""
    cluster: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Matched:
    """Items rated by both sides, and how many by only one."""

    pairs: tuple[Pair, ...]
    unjudged: int
    """Labelled items without a verdict of the judge."""
    not_labelled: int
    """Judged items without a label."""
    unknown: tuple[str, ...]
    """Ids of labels that are not in the judge's results."""
    annotators: int
    people_alpha: float | None
    """Krippendorff's alpha between the annotators, on an interval scale."""


def match(judged: Iterable[Rating], labelled: Iterable[Rating]) -> Matched:
    """Pair the ratings of the same items; labels of several people are averaged."""
    by_id = _by_id(judged)
    labels: defaultdict[str, list[Rating]] = defaultdict(list)
    for rating in labelled:
        if rating.value is not None:
            if any(rating.annotator == other.annotator for other in labels[rating.id]):
                who = f" by {rating.annotator!r}" if rating.annotator else ""
                raise DataError(f"two labels of {rating.id!r}{who}; name several people in a column 'annotator'")
            labels[rating.id].append(rating)
    pairs, unjudged, unknown = list[Pair](), 0, list[str]()
    for item_id, given in labels.items():
        found = by_id.get(item_id)
        if found is None:
            unknown.append(item_id)
        elif found.value is None:
            unjudged += 1
        else:
            pairs.append(_pair(found, given))
    names = sorted({rating.annotator for given in labels.values() for rating in given})
    return Matched(
        tuple(pairs),
        unjudged,
        sum(rating.value is not None and rating.id not in labels for rating in by_id.values()),
        tuple(unknown),
        len(names),
        _alpha_of_people(labels.values(), names),
    )


def _by_id(ratings: Iterable[Rating]) -> dict[str, Rating]:
    by_id: dict[str, Rating] = {}
    for rating in ratings:
        if rating.id in by_id:
            raise DataError(f"two scores of the id {rating.id!r}; give the results of one judge")
        by_id[rating.id] = rating
    return by_id


def _pair(judged: Rating, labels: Sequence[Rating]) -> Pair:
    first = labels[0]
    return Pair(
        id=judged.id,
        judge=judged.value or 0.0,
        people=fmean(rating.value for rating in labels if rating.value is not None),
        language=judged.language or first.language,
        group=judged.group or first.group,
        cluster=judged.cluster or first.cluster or judged.id,
        system=judged.system or first.system,
    )


def _alpha_of_people(labels: Iterable[Sequence[Rating]], names: Sequence[str]) -> float | None:
    if len(names) < 2:
        return None
    units = [
        [next((each.value for each in given if each.annotator == name), None) for name in names] for given in labels
    ]
    return krippendorff_alpha(units, "interval")


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """How agreement is measured."""

    pass_from: tuple[float, float] | None = None
    """The lowest passing score of the judge, and that of people."""
    resamples: int = 1000
    seed: int = 0
    words: bool = False
    """People say pass or fail instead of scores on the judge's scale."""


def agreement_by_language(
    pairs: Sequence[Pair], options: AgreementOptions
) -> dict[str, tuple[int, Mapping[str, Figure]]]:
    """Return the number of items and the agreement: over all under the empty tag, then by language.

    Pairs of items are formed within a language and, if items have one, a group.
    """
    by_language: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_language[pair.language].append(pair)
    found: dict[str, tuple[int, Mapping[str, Figure]]] = {"": (len(pairs), _figures(pairs, options))}
    if len(by_language) > 1 or "" not in by_language:
        for language, group in sorted(by_language.items()):
            figures = _figures(group, options) if len(group) >= MIN_ITEMS_PER_LANGUAGE else {}
            found[language or NO_LANGUAGE] = (len(group), figures)
    return found


def _figures(pairs: Sequence[Pair], options: AgreementOptions) -> dict[str, Figure]:
    if len(pairs) < MIN_ITEMS_PER_LANGUAGE:
        return {}
    judge, people = [pair.judge for pair in pairs], [pair.people for pair in pairs]
    groups = [f"{pair.language}|{pair.group}" for pair in pairs]
    measured = partial(
        agreement_figures,
        clusters=[pair.cluster for pair in pairs],
        groups=groups,
        resamples=options.resamples,
        seed=options.seed,
    )
    figures = measured(judge, people, pass_from=options.pass_from)
    if options.words or not _is_of_categories(judge, people):
        figures |= dict.fromkeys(CATEGORY_MEASURES, Figure())
    if options.words:  # a score minus a word is undefined
        figures["mean_difference"] = Figure()
    if options.pass_from is not None:
        figures |= _verdict_figures(measured, judge, people, options)
        figures |= _rates_with_interval(figures, people, options.pass_from)
    count = sum(count * (count - 1) // 2 for count in Counter(groups).values())
    figures["pairs"] = Figure(float(count))
    if count <= _MAX_PAIRS:
        calibrated = tie_calibrated_accuracy(judge, people, groups)
        if calibrated is not None:
            figures["tie_calibrated_accuracy"], figures["tie_threshold"] = map(Figure, calibrated)
    return figures


def _verdict_figures(
    measured: Callable[..., dict[str, Figure]],
    judge: Sequence[float],
    people: Sequence[float],
    options: AgreementOptions,
) -> dict[str, Figure]:
    """Return the figures of pass and fail; all of them if people gave no scores."""
    thresholds = options.pass_from or (0.0, 0.0)
    passes = [
        [float(value >= threshold) for value in values]
        for values, threshold in zip((judge, people), thresholds, strict=True)
    ]
    figures = measured(*passes)
    if options.words:
        return {name: figures[name] for name in CATEGORY_MEASURES}
    return {"accuracy": figures["accuracy"], "kappa_of_verdicts": figures["kappa"]}


def _rates_with_interval(
    figures: Mapping[str, Figure], people: Sequence[float], pass_from: tuple[float, float]
) -> dict[str, Figure]:
    """Return rates of exactly 0 or 1 with Wilson's interval: the bootstrap would give an interval of no width."""
    passed = sum(value >= pass_from[1] for value in people)
    counts = dict.fromkeys(("accuracy", "base_rate", "judge_rate"), len(people))
    counts |= {"true_positive_rate": passed, "true_negative_rate": len(people) - passed}
    widened: dict[str, Figure] = {}
    for name, count in counts.items():
        value = figures[name].value
        if value is not None and value in (0.0, 1.0) and (interval := wilson_interval(int(value) * count, count)):
            widened[name] = Figure(value, interval.low, interval.high)
    return widened


def _is_of_categories(judge: Sequence[float], people: Sequence[float]) -> bool:
    """Return whether there are so few different scores that equality is meaningful."""
    different = len({*judge, *people})
    return different <= _MAX_CATEGORIES or different <= len(judge) / 4
