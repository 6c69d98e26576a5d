"""Correct a judge's scores with human labels."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Figure
from polyjudge.statistics.estimates import Corrected, corrected_mean, rogan_gladen, separate_mean
from polyjudge.statistics.group_correction import GroupSample, corrected_by_group, stratified_mean
from polyjudge.statistics.resampling import MeanError

from .matching import Pair, are_equally_likely

ENOUGH_LABELS = 20
"""With so many labels a language borrows nothing from the others, whose judge may err in another way."""
_ROUNDING = 1e-9
"""Metrics give scores such as 100.00000000000004."""
_USUAL_SCALES = ((0.0, 1.0), (1.0, 5.0), (0.0, 100.0))


@dataclass(frozen=True, slots=True)
class Correction:
    """An estimate over all items, and by language."""

    overall: Corrected
    by_language: Mapping[str, Corrected]
    separate: MeanError | None
    """The estimate over all items with weight 1, from the labelled and the other items apart; None for labels with
    probabilities."""


def correct(
    judged: Iterable[Rating],
    pairs: Sequence[Pair],
    pass_from: tuple[float, float] | None,
    *,
    only_these: bool = False,
) -> Correction:
    """Estimate the mean score of people, or the share that they would pass, from labels of a random sample.

    If each language has at least two labels, it counts by its number of items, not of labels.
    Languages with fewer than 20 labels borrow the judge's error from the others. Labels that say the probability that
    their item had of being labelled are weighted by its inverse. With `only_these` intervals are of the mean over the
    judged items, not over all items of which these are a random sample.
    """
    judged = list(judged)
    scores = [(rating.language, _passed(rating.value, pass_from, 0)) for rating in judged if rating.value is not None]
    known = [(pair.language, _passed(pair.judge, pass_from, 0), _passed(pair.people, pass_from, 1)) for pair in pairs]
    chances = probabilities_of(pairs)
    judged_scores, judge_scores, people_scores = (
        [score for _, score in scores],
        [judge for _, judge, _ in known],
        [people for _, _, people in known],
    )
    bounds = usual_scale([*judged_scores, *people_scores])
    overall = corrected_mean(
        judged_scores, judge_scores, people_scores, bounds=bounds, probabilities=chances, only_these=only_these
    )
    labelled = {pair.id for pair in pairs}
    others = [each for each in judged if each.value is not None and each.id not in labelled]
    unlabelled = [_passed(each.value, pass_from, 0) for each in others]
    # With unequal probabilities the items without a label are no random sample either.
    separate = separate_mean(unlabelled, judge_scores, people_scores) if chances is None else None
    languages = sorted({language for language, _ in scores})
    if len(languages) < 2:
        return Correction(overall, {}, separate)
    samples = _samples(languages, scores, known, chances)
    stratified = stratified_mean(samples, bounds=bounds, only_these=only_these)
    return Correction(stratified or overall, _by_language(samples, bounds, only_these=only_these), separate)


def _by_language(
    samples: Mapping[str, GroupSample], bounds: tuple[float, float] | None, *, only_these: bool
) -> dict[str, Corrected]:
    """Return the estimate of each language, of which those with few labels borrow from the others."""
    found = corrected_by_group(samples, bounds=bounds)
    for tag, own in samples.items():
        if len(own.labelled_people) >= ENOUGH_LABELS:
            labels, given = (own.labelled_judge, own.labelled_people), own.probabilities
            found[tag] = corrected_mean(own.judged, *labels, bounds=bounds, probabilities=given, only_these=only_these)
    return found


def probabilities_of(pairs: Sequence[Pair]) -> list[float] | None:
    """Return the probability that each item had of being labelled; None if the labels do not say any."""
    found = [pair.probability for pair in pairs if pair.probability is not None]
    if found and len(found) < len(pairs):
        without = next(pair.id for pair in pairs if pair.probability is None)
        message = (
            f"the label of {without!r} has no 'inclusionProbability', but other labels have one; give it for all "
            "labels or for none"
        )
        raise DataError(message)
    return found or None


def usual_scale(scores: Sequence[float]) -> tuple[float, float] | None:
    """Return the smallest usual scale that has all scores, so that their mean is on it too; None if none has."""
    low, high = min(scores, default=0.0) + _ROUNDING, max(scores, default=0.0) - _ROUNDING
    fitting = (scale for scale in _USUAL_SCALES if scale[0] <= low and high <= scale[1])
    return next(fitting, None)


def correct_from_elsewhere(
    judged: Iterable[Rating], pairs: Sequence[Pair], pass_from: tuple[float, float]
) -> tuple[Figure, dict[str, Figure]]:
    """Estimate the share that people would pass, overall and by language, from labels of other items (Rogan-Gladen).

    This assumes that the judge errs on these items as often as on the labelled ones. Raise ConfigError for labels with
    unequal probabilities: among them, the judge errs more or less often than among all items.
    """
    if not are_equally_likely(pairs):
        unequal = "The labels have different values of 'inclusionProbability'"
        raise ConfigError(f"{unequal}. To correct other items, give labels of a plain random sample.")
    verdicts = [(bool(_passed(pair.judge, pass_from, 0)), bool(_passed(pair.people, pass_from, 1))) for pair in pairs]
    right = [judge == people for judge, people in verdicts]
    positives, negatives = sum(people for _, people in verdicts), sum(not people for _, people in verdicts)
    true_pos = sum(ok for ok, (_, people) in zip(right, verdicts, strict=True) if people)
    true_neg = sum(ok for ok, (_, people) in zip(right, verdicts, strict=True) if not people)
    groups: defaultdict[str, list[bool]] = defaultdict(list)
    for rating in judged:
        if rating.value is not None:
            groups[rating.language].append(bool(_passed(rating.value, pass_from, 0)))

    def rate(passes: Sequence[bool]) -> Figure:
        return rogan_gladen(sum(passes), len(passes), true_pos, positives, true_neg, negatives)

    overall = rate([each for group in groups.values() for each in group])
    return overall, {tag: rate(group) for tag, group in sorted(groups.items())} if len(groups) > 1 else {}


def _passed(value: float | None, pass_from: tuple[float, float] | None, side: int) -> float:
    given = value or 0.0
    return given if pass_from is None else float(given >= pass_from[side])


def _samples(
    languages: Sequence[str],
    scores: Sequence[tuple[str, float]],
    known: Sequence[tuple[str, float, float]],
    chances: Sequence[float] | None,
) -> dict[str, GroupSample]:
    judged, places = defaultdict[str, list[float]](list), defaultdict[str, list[int]](list)
    for language, score in scores:
        judged[language].append(score)
    for place, (language, _, _) in enumerate(known):
        places[language].append(place)
    return {
        language: GroupSample(
            judged[language],
            [known[place][1] for place in places[language]],
            [known[place][2] for place in places[language]],
            None if chances is None else [chances[place] for place in places[language]],
        )
        for language in languages
    }
