"""Measure how far a judge agrees with people, or with another judge, on the same items."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from polyjudge.records.calibration import Figure
from polyjudge.statistics.agreement_intervals import CATEGORY_MEASURES, agreement_figures
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.statistics.rankings import tie_calibrated_accuracy
from polyjudge.statistics.resampling import resampled_mean

from .matching import Pair

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
    groups = [f"{pair.language}|{pair.group}" for pair in pairs]
    measured = partial(
        agreement_figures,
        clusters=[pair.cluster for pair in pairs],
        groups=groups,
        resamples=options.resamples,
        seed=options.seed,
    )
    figures = measured(judge, people, pass_from=options.pass_from)
    figures |= dict.fromkeys(_undefined(judge, people, options), Figure())
    if options.pass_from is not None:
        figures |= _verdict_figures(measured, judge, people, options)
        figures |= _rates_with_interval(figures, people, options.pass_from)
    if figures["accuracy"].value is not None and without_verdict:
        figures |= _of_every_item(pairs, without_verdict, options)
    count = sum(count * (count - 1) // 2 for count in Counter(groups).values())
    if options.preferences:
        return figures
    figures["pairs"] = Figure(float(count))
    if count <= _MAX_PAIRS:
        calibrated = tie_calibrated_accuracy(judge, people, groups)
        if calibrated is not None:
            figures["tie_calibrated_accuracy"], figures["tie_threshold"] = map(Figure, calibrated)
    return figures


def _undefined(judge: Sequence[float], people: Sequence[float], options: AgreementOptions) -> Sequence[str]:
    """Return the measures that have no meaning for these scores."""
    names: list[str] = []
    if options.words or options.scales_differ or not _is_of_categories(judge, people):
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
    clusters = [pair.cluster for pair in (*pairs, *without_verdict)]
    right = [_is_right(pair, options.pass_from) for pair in pairs]

    def share(missing: Iterable[float]) -> Figure:
        return resampled_mean([*right, *missing], clusters, resamples=options.resamples, seed=options.seed)

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
