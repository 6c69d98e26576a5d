"""All that is measured when a judge is compared with people, or with another judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polyjudge.formats.ratings import Rating
from polyjudge.statistics.resampling import MeanError, mean_error

from .agreement import AgreementOptions, Found, agreement_by_language, agreement_by_part
from .annotators import RaterPair, between_annotators, with_each_annotator
from .matching import Combination, Matched
from .orders import OrderEffects, order_effects
from .scales import Scales, Span, on_judges_scale, scales_of


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
        means=_means(judged, matched),
        between=between_annotators(matched, **drawn) if several else (),
        with_each=with_each_annotator(judged, matched, **drawn) if several else (),
        orders=order_effects(judged, labels, **drawn),
        scales=scales,
        mapped=mapped,
        averaged=options.averaged,
    )


def _means(judged: Sequence[Rating], matched: Matched) -> Mapping[str, MeanError]:
    clusters = [pair.cluster for pair in matched.pairs]
    scored = [(rating.value, rating.cluster or rating.id) for rating in judged if rating.value is not None]
    return {
        "judge": mean_error([pair.judge for pair in matched.pairs], clusters),
        "labels": mean_error([pair.people for pair in matched.pairs], clusters),
        "judgeOfAllItems": mean_error([value for value, _ in scored], [cluster for _, cluster in scored]),
    }
