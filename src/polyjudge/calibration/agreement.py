"""Measure how far a judge agrees with people, or with another judge, on the same items."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan

import numpy as np
from msgspec.structs import replace as with_fields

from polyjudge.errors import ConfigError
from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement_intervals import CATEGORY_MEASURES, agreement_figures
from polyjudge.statistics.rankings import tie_calibrated_accuracy
from polyjudge.statistics.resampling import (
    Floats,
    MeanError,
    equal_items,
    mean_error,
    resampled_mean,
    widened_share,
)

from .annotators import RaterPair, between_annotators, with_each_annotator
from .correction import probabilities_of
from .matching import Combination, Matched, Pair
from .orders import OrderEffects, order_effects

NO_LANGUAGE = "no language"
"""Title of the items without a language."""
MIN_ITEMS_PER_LANGUAGE = 2
"""With fewer common items a language is counted but not compared."""
EVERY_ITEM, AS_A_TIE = "accuracy_every_item", "accuracy_missing_as_tie"
"""Measures over all labelled items: a missing verdict counts as wrong, or as a tie."""
_TIE = 0.5
_OF_EQUAL_VALUES = ("accuracy", "kappa", "alpha_nominal", "macro_f1")
_OF_PAIRS = ("pairwise_accuracy", "pairwise_decided_accuracy")
_MAX_CATEGORIES = 11
_MAX_PAIRS = 5_000_000
"""With more pairs the best threshold for ties is not searched."""

Span = tuple[float, float]
"""The lowest and the highest score."""
_TOPS = (1.0, 5.0, 10.0, 100.0)
"""The highest scores of usual scales."""
_TIMES_LARGER = 2.5
"""A highest score this many times larger is of another scale: 5 and 100, not 5 and 10 of a strict and a mild rater."""


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """How agreement is measured."""

    pass_from: tuple[float, float] | None = None
    """The lowest passing score of the judge, and that of people."""
    resamples: int = 1000
    seed: int = 0
    words: bool = False
    """People say pass or fail instead of scores on the judge's scale."""
    preferences: bool = False
    """People say which of two candidates is better."""
    averaged: bool = False
    """The labels are means of several people, which equal no score."""
    scales_differ: bool = False
    """The scores of the two sides can be ordered, but not compared with one another."""


Found = Mapping[str, tuple[int, Mapping[str, Figure]]]
"""The number of items and each measure by language or part of the data; the empty name is for all."""


@dataclass(frozen=True, slots=True)
class Scales:
    """The scores that both sides gave, and whether they are on one scale."""

    judge: Span
    labels: Span
    differ: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementResult:
    """The agreement of a judge with people, or with another judge."""

    matched: Matched
    how: Combination
    found: Found
    parts: Found
    means: Mapping[str, MeanError]
    """Of the judge's scores and the labels of the compared items, and of all scores of the judge."""
    between: Sequence[RaterPair] = ()
    """Each two annotators."""
    with_each: Sequence[RaterPair] = ()
    """The judge and each annotator."""
    orders: OrderEffects | None = None
    scales: Scales | None = None
    mapped: tuple[Span, Span] | None = None
    """The scale of the judge, and that of the labels, which were mapped onto it."""
    averaged: bool = False
    """The labels are means that equal no score."""


def measure_agreement(
    judged: Sequence[Rating],
    matched: Matched,
    how: Combination,
    options: AgreementOptions,
    mapped: tuple[Span, Span] | None = None,
) -> AgreementResult:
    """Compare the scores of a judge with the labels; `mapped` are both scales, if the labels are to be mapped."""
    scales = None if options.words or options.preferences else scales_of(matched.pairs)
    if mapped is not None:
        matched = replace(
            matched,
            pairs=on_judges_scale(matched.pairs, *mapped),
            without_verdict=on_judges_scale(matched.without_verdict, *mapped),
        )
    given = {rating.value for labels in matched.labels.values() for rating in labels}
    averaged = how == "mean" and matched.annotators > 1 and not {pair.people for pair in matched.pairs} <= given
    differ = scales is not None and scales.differ and mapped is None
    options = replace(options, averaged=averaged and mapped is None, scales_differ=differ)
    several = matched.annotators > 1
    drawn = {"resamples": options.resamples, "seed": options.seed}
    labels = {pair.id: pair.people for pair in (*matched.pairs, *matched.without_verdict)}
    return AgreementResult(
        matched=matched,
        how=how,
        found=agreement_by_language(matched.pairs, options, matched.without_verdict),
        parts=agreement_by_part(matched.pairs, options, matched.without_verdict),
        means=_means(judged, matched, shares=options.words or options.preferences),
        between=between_annotators(matched, **drawn) if several else (),
        with_each=with_each_annotator(judged, matched, **drawn) if several else (),
        orders=order_effects(judged, labels, **drawn),
        scales=scales,
        mapped=mapped,
        averaged=options.averaged,
    )


def _means(judged: Sequence[Rating], matched: Matched, *, shares: bool) -> Mapping[str, MeanError]:
    """Return the means of both sides; of `shares`, an interval ends at 0 and 1."""
    clusters, weights = [pair.cluster for pair in matched.pairs], weights_of(matched.pairs)
    scored = [(rating.value, rating.cluster or rating.id) for rating in judged if rating.value is not None]
    values = (
        [pair.judge for pair in matched.pairs],
        [pair.people for pair in matched.pairs],
        [each for each, _ in scored],
    )
    judge, labels, every = (shares and all(0 <= value <= 1 for value in each) for each in values)
    return {
        "judge": _within(mean_error(values[0], clusters, weights=weights), is_share=judge),
        "labels": _within(mean_error(values[1], clusters, weights=weights), is_share=labels),
        "judgeOfAllItems": _within(mean_error(values[2], [cluster for _, cluster in scored]), is_share=every),
    }


def _within(found: MeanError, *, is_share: bool) -> MeanError:
    if not is_share or found.low is None or found.high is None:
        return found
    return with_fields(found, low=max(0.0, found.low), high=min(1.0, found.high))


def scales_of(pairs: Iterable[Pair]) -> Scales | None:
    """Return the lowest and highest scores of both sides, and whether they seem to be of different scales.

    They do if only one side has negative scores, or if the highest scores are of different usual scales and one is at
    least two and a half times the other. A side that gives a single score does not show its scale.
    """
    found = list(pairs)
    judge, labels = {pair.judge for pair in found}, {pair.people for pair in found}
    if len(judge) < 2 or len(labels) < 2:
        return None
    spans = (min(judge), max(judge)), (min(labels), max(labels))
    negative = {low < 0 for low, _ in spans}
    low, high = sorted(max(abs(end) for end in span) for span in spans)
    differ = len(negative) == 2 or (_top(low) != _top(high) and high >= _TIMES_LARGER * low)
    return Scales(*spans, differ)


def _top(value: float) -> float:
    return next((top for top in _TOPS if value <= top), value)


def on_judges_scale(pairs: Sequence[Pair], judge: Span, labels: Span) -> tuple[Pair, ...]:
    """Map the labels linearly onto the judge's scale; raise ConfigError if a score is not on its scale."""
    for name, span, values in (
        ("judge's score", judge, [pair.judge for pair in pairs if not isnan(pair.judge)]),
        ("label", labels, [pair.people for pair in pairs]),
    ):
        off = next((value for value in values if not span[0] <= value <= span[1]), None)
        if off is not None:
            raise ConfigError(f"The {name} {off:g} is not on the scale {span[0]:g} to {span[1]:g}.")
    factor = (judge[1] - judge[0]) / (labels[1] - labels[0])
    return tuple(replace(pair, people=judge[0] + (pair.people - labels[0]) * factor) for pair in pairs)


def agreement_by_language(
    pairs: Sequence[Pair], options: AgreementOptions, without_verdict: Sequence[Pair] = ()
) -> dict[str, tuple[int, Mapping[str, Figure]]]:
    """Return the number of items and the agreement: over all under the empty tag, then by language.

    Pairs of items are formed within a language and, if items have one, a group.
    """
    found = {"": (len(pairs), _figures(pairs, without_verdict, options))}
    by_language = _by(lambda pair: pair.language, pairs, without_verdict)
    if len(by_language) > 1 or "" not in by_language:
        for language, (rated, missing) in sorted(by_language.items()):
            found[language or NO_LANGUAGE] = (len(rated), _figures(rated, missing, options))
    return found


def agreement_by_part(
    pairs: Sequence[Pair], options: AgreementOptions, without_verdict: Sequence[Pair] = ()
) -> dict[str, tuple[int, Mapping[str, Figure]]]:
    """Return the number of items and the agreement of each part of the data, if the items name theirs."""
    parts = _by(lambda pair: pair.part, pairs, without_verdict)
    return {
        part: (len(rated), _figures(rated, missing, options))
        for part, (rated, missing) in sorted(parts.items())
        if part
    }


def _by(
    name_of: Callable[[Pair], str], pairs: Sequence[Pair], without_verdict: Sequence[Pair]
) -> Mapping[str, tuple[list[Pair], list[Pair]]]:
    found: defaultdict[str, tuple[list[Pair], list[Pair]]] = defaultdict(lambda: ([], []))
    for place, given in enumerate((pairs, without_verdict)):
        for pair in given:
            found[name_of(pair)][place].append(pair)
    return found


def _figures(pairs: Sequence[Pair], without_verdict: Sequence[Pair], options: AgreementOptions) -> Mapping[str, Figure]:
    if len(pairs) < MIN_ITEMS_PER_LANGUAGE:
        return {}
    judge, people = [pair.judge for pair in pairs], [pair.people for pair in pairs]
    groups, weights = [f"{pair.language}|{pair.group}" for pair in pairs], weights_of(pairs)
    measured = partial(
        agreement_figures,
        weights=weights,
        clusters=[pair.cluster for pair in pairs],
        groups=groups,
        resamples=options.resamples,
        seed=options.seed,
    )
    figures = measured(judge, people, pass_from=options.pass_from)
    figures |= dict.fromkeys(_undefined(judge, people, options), Figure())
    if options.pass_from is not None:
        figures |= _verdict_figures(measured, judge, people, options)
        figures |= _rates_with_interval(figures, people, options.pass_from, weights)
    if figures["accuracy"].value is not None and without_verdict:
        figures |= _of_every_item(pairs, without_verdict, options)
    count = sum(count * (count - 1) // 2 for count in Counter(groups).values())
    if options.preferences:
        return figures
    figures["pairs"] = Figure(float(count))
    if count <= _MAX_PAIRS and weights is None:
        calibrated = tie_calibrated_accuracy(judge, people, groups)
        if calibrated is not None:
            figures["tie_calibrated_accuracy"], figures["tie_threshold"] = map(Figure, calibrated)
    return figures


def weights_of(pairs: Sequence[Pair]) -> Floats | None:
    """Return the weights of items by the inverse of their probability of being labelled; None without any."""
    chances = probabilities_of(pairs)
    if chances is None:
        return None
    inverse = 1 / np.array(chances)
    return inverse / inverse.mean()


def _undefined(judge: Sequence[float], people: Sequence[float], options: AgreementOptions) -> Sequence[str]:
    """Return the measures that have no meaning for these scores."""
    names: list[str] = []
    different = len({*judge, *people})
    is_of_categories = different <= _MAX_CATEGORIES or different <= len(judge) / 4  # equality says something
    if options.words or options.scales_differ or not is_of_categories:
        names += CATEGORY_MEASURES
    if options.words or options.scales_differ:  # a score minus a word is undefined
        names.append("mean_difference")
    if options.averaged:
        names += _OF_EQUAL_VALUES
    if options.preferences:  # a preference on one item is neither above nor below that on another
        names += _OF_PAIRS
    return names


def _of_every_item(
    pairs: Sequence[Pair], without_verdict: Sequence[Pair], options: AgreementOptions
) -> dict[str, Figure]:
    """Return the accuracy over all labelled items, with a missing verdict as wrong and, of preferences, as a tie."""
    every = [*pairs, *without_verdict]
    clusters, weights = [pair.cluster for pair in every], weights_of(every)
    right = [_is_right(pair, options.pass_from) for pair in pairs]

    def share(missing: Iterable[float]) -> Figure:
        values = [*right, *missing]
        return resampled_mean(values, clusters, resamples=options.resamples, seed=options.seed, weights=weights)

    figures = {EVERY_ITEM: share(0.0 for _ in without_verdict)}
    if options.preferences:
        figures[AS_A_TIE] = share(float(pair.people == _TIE) for pair in without_verdict)
    return figures


def _is_right(pair: Pair, pass_from: tuple[float, float] | None) -> float:
    if pass_from is None:
        return float(pair.judge == pair.people)
    return float((pair.judge >= pass_from[0]) == (pair.people >= pass_from[1]))


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
    figures: Mapping[str, Figure], people: Sequence[float], pass_from: tuple[float, float], weights: Floats | None
) -> dict[str, Figure]:
    """Return rates, those of exactly 0 or 1 with Wilson's interval: the bootstrap would give one of no width.

    Of items with weights it is that of the number of equal items that say as much.
    """
    own = np.ones(len(people)) if weights is None else weights
    passes = np.array(people) >= pass_from[1]
    every, passed, failed = (equal_items(own[chosen]) for chosen in (slice(None), passes, ~passes))
    counts = dict.fromkeys(("accuracy", "base_rate", "judge_rate"), every)
    counts |= {"true_positive_rate": passed, "true_negative_rate": failed}
    return {name: widened_share(figures[name], count) for name, count in counts.items()}
