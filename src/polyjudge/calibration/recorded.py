"""Build a trust card from recorded verdicts of any tool, and of people's labels if there are any: no model is asked."""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
from msgspec.structs import replace

from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Effect, Figure, LanguageTrust, RecordedVerdicts, TrustCard
from polyjudge.statistics.agreement_intervals import agreement_figures
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.statistics.rankings import ordering_figure
from polyjudge.statistics.resampling import MeanError, equal_items, share_of_wins
from polyjudge.verdicts.trust import LABELS, reliability_by_labels

from .agreement import EVERY_ITEM, NO_LANGUAGE, AgreementResult, weights_of
from .annotators import RaterPair
from .cards import with_agreement, with_run
from .matching import Combination, Pair, match
from .orders import OrderEffects, order_effects
from .recorded_effects import Measured, RecordedVerdictsOf, Unmeasured

_NO_VERDICT = "not_recorded"
"""The kind of a missing verdict of which the row says nothing."""
_MOST_ANNOTATORS = 12
_OF_CATEGORIES, _OF_SCORES = ("accuracy", "kappa"), ("pearson", "spearman", "kendall_tau_b")
_TIE = 0.5
_NOMINAL = ("accuracy", "kappa", "alpha_nominal", "macro_f1", EVERY_ITEM)
_NO_ORDER = "the labels are categories without an order"
_NO_SPANS = {"error spans": "no error spans of the judge and of people are recorded"}
_NO_LANGUAGES = {"verdict by language": "no item names its language"}
NEEDS_QUESTIONS: Mapping[str, str] = {
    "discrimination": "no perturbed texts were judged",
    "formatting, injection, criteria order": "they need new questions about changed texts",
}
"""What no recorded verdict shows."""


@dataclass(frozen=True, slots=True)
class RecordedLanguage:
    """What recorded results say of one language."""

    verdicts: Figure
    """Share of the items with a verdict."""
    ordering: Figure
    labels: int
    people: float | None = None
    """The ordering of one person by the labels of the others, averaged over people."""


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """What recorded results say of their judge."""

    verdicts: RecordedVerdicts
    effects: Mapping[str, Effect]
    agreement: AgreementResult | None
    languages: Mapping[str, RecordedLanguage] = field(default_factory=dict[str, RecordedLanguage])


def measure_recorded(
    judged: Sequence[Rating],
    agreement: AgreementResult | None,
    *,
    model: str,
    sources: Iterable[str] = (),
    has_spans: bool = False,
    preferences: bool = False,
    categories: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> RecordedResult:
    """Measure all that recorded verdicts show; `agreement` is that with people, None without labels.

    Of `categories`, which have no order, only what needs none is measured.
    """
    pairs = agreement.matched.pairs if agreement else ()
    judged = _with_texts(judged, agreement) if agreement else judged
    found: Measured = RecordedVerdictsOf(judged, pairs, model, resamples, seed).effects()
    found = {name: Unmeasured(_NO_ORDER) if categories else each for name, each in found.items()}
    effects = {name: each for name, each in found.items() if isinstance(each, Effect) and each.size.value is not None}
    reasons = {name: _why(each) for name, each in found.items() if name not in effects}
    orders = agreement.orders if agreement else order_effects(judged, {}, resamples=resamples, seed=seed)
    order = _preferred if preferences else _unordered if categories else partial(_ordered, resamples, seed)
    languages = _languages(judged, pairs, order, _people_ordering(agreement, order) if agreement else {})
    verdicts = RecordedVerdicts(
        items=len(judged),
        verdicts=_coverage(judged),
        ordering=order(pairs),
        failures=dict(Counter(each.failure or _NO_VERDICT for each in judged if each.value is None).most_common()),
        means=_means(agreement.means) if agreement and not categories else {},
        orders=_orders(orders),
        people={f"{pair.first} and {pair.second}": pair.figures for pair in _rater_pairs(agreement)},
        ceiling=ceiling(agreement) if agreement else {},
        not_measured=_not_measured(agreement, reasons, languages, has_spans=has_spans),
        sources=tuple(dict.fromkeys(sources)),
    )
    return RecordedResult(verdicts, effects, agreement, languages)


def measured_spans(annotations: int, no_verdict: int, sources: Iterable[str]) -> RecordedResult:
    """Return what annotations of error spans without scores say beside their agreement with people."""
    total = annotations + no_verdict
    interval = wilson_interval(annotations, total)
    verdicts = RecordedVerdicts(
        items=total,
        verdicts=Figure(annotations / total, interval and interval.low, interval and interval.high),
        failures={_NO_VERDICT: no_verdict} if no_verdict else {},
        not_measured={**NEEDS_QUESTIONS, "scores": "the rows have error spans and no scores"},
        sources=tuple(dict.fromkeys(sources)),
    )
    return RecordedResult(verdicts, {}, None)


def _not_measured(
    agreement: AgreementResult | None,
    reasons: Mapping[str, str],
    languages: Mapping[str, RecordedLanguage],
    *,
    has_spans: bool,
) -> dict[str, str]:
    return {
        **NEEDS_QUESTIONS,
        **_of_people(agreement),
        **({} if languages.keys() - {NO_LANGUAGE} else _NO_LANGUAGES),
        **reasons,
        **({} if has_spans else _NO_SPANS),
    }


def with_repeats(ratings: Iterable[Rating]) -> list[Rating]:
    """Return one rating for each item; several of a text are answers to a repeated question, and are averaged."""
    groups: defaultdict[tuple[object, ...], list[Rating]] = defaultdict(list)
    for each in ratings:
        groups[each.id, each.system, each.other_system, each.lengths].append(each)
    return [_averaged(each) if len(each) > 1 else each[0] for each in groups.values()]


def _averaged(answers: Sequence[Rating]) -> Rating:
    values = [each.value for each in answers if each.value is not None]
    if answers[0].orders is not None or not values:
        return answers[0]
    first = next(each for each in answers if each.value is not None)
    return replace(first, value=fmean(values), verdict=None, repeats=tuple(values))


def as_categories(judged: Iterable[Rating], labelled: Iterable[Rating]) -> tuple[list[Rating], list[Rating]]:
    """Return ratings that are words without an order as numbers that say only which are equal."""
    sides = list(judged), list(labelled)
    words = sorted({_word(each) for side in sides for each in side} - {""})
    numbers = {word: float(place) for place, word in enumerate(words)}
    ours, theirs = ([replace(each, value=numbers.get(_word(each)), verdict=None) for each in side] for side in sides)
    return ours, theirs


def _word(rating: Rating) -> str:
    if rating.category:
        return rating.category.casefold()
    return "" if rating.value is None else f"{rating.value:g}"


def without_order(agreement: AgreementResult) -> AgreementResult:
    """Return the agreement with the measures that need no order of the categories."""
    found = {
        tag: (count, {name: figure for name, figure in figures.items() if name in _NOMINAL})
        for tag, (count, figures) in agreement.found.items()
    }
    return dataclasses.replace(agreement, found=found, parts={}, scales=None)


def _of_people(agreement: AgreementResult | None) -> Mapping[str, str]:
    if agreement is None:
        return {"agreement with people": "there are no labels of people"}
    if agreement.matched.annotators < 2:
        return {"agreement among people": "the labels are of one person, or do not name the person"}
    return {"replacement of a person": "it needs a test of its own"} if agreement.matched.annotators > 2 else {}


def _why(found: Effect | Unmeasured) -> str:
    return found.why if isinstance(found, Unmeasured) else found.sentence.rstrip(".").lower()


def _with_texts(judged: Sequence[Rating], agreement: AgreementResult) -> list[Rating]:
    """Return verdicts with what the rows of labels say of the texts, where those of the judge say nothing."""
    labels = {item: given[0] for item, given in agreement.matched.labels.items() if given}
    return [_with_text(each, labels[each.id]) if each.id in labels else each for each in judged]


def _with_text(rating: Rating, label: Rating) -> Rating:
    return replace(
        rating,
        lengths=rating.lengths or label.lengths,
        system=rating.system or label.system,
        other_system=rating.other_system or label.other_system,
        language=rating.language or label.language,
    )


def _rater_pairs(agreement: AgreementResult | None) -> Sequence[RaterPair]:
    return (*agreement.between, *agreement.with_each) if agreement else ()


def _coverage(judged: Sequence[Rating]) -> Figure:
    """Return the share of items with a verdict."""
    if not judged:
        return Figure()
    count = sum(each.value is not None for each in judged)
    interval = wilson_interval(count, len(judged))
    return Figure(count / len(judged), interval and interval.low, interval and interval.high)


def _means(means: Mapping[str, MeanError]) -> dict[str, Figure]:
    names = {"judge": "judge", "labels": "people", "judgeOfAllItems": "judge_all_items"}
    found: dict[str, Figure] = {}
    for key, name in names.items():
        found[name] = Figure(means[key].mean, means[key].low, means[key].high)
        found[f"{name}_standard_error"] = Figure(means[key].standard_error)
    return found


def _orders(orders: OrderEffects | None) -> dict[str, Figure]:
    if orders is None:
        return {}
    counts = {"items": orders.items, "changed": orders.changed, "missing": orders.missing}
    return {**{name: Figure(count) for name, count in counts.items()}, **orders.figures}


def ceiling(agreement: AgreementResult) -> dict[str, Figure]:
    """Return how far one person agrees with the others combined, averaged over the people with the most labels."""
    if agreement.matched.annotators < 2:
        return {}
    names = _OF_CATEGORIES if agreement.matched.alpha_level == "nominal" else _OF_SCORES
    values: defaultdict[str, list[float]] = defaultdict(list)
    for pairs in _each_with_the_others(agreement):
        figures = agreement_figures([p.judge for p in pairs], [p.people for p in pairs], resamples=0) if pairs else {}
        for measure in names:
            if measure in figures and (value := figures[measure].value) is not None:
                values[measure].append(value)
    alpha = agreement.matched.people_alpha
    found = {measure: Figure(fmean(each)) for measure, each in values.items()}
    return found | ({"krippendorff_alpha": Figure(alpha)} if alpha is not None else {})


def _each_with_the_others(agreement: AgreementResult) -> Iterator[Sequence[Pair]]:
    """Yield the labels of each of the people with the most, paired with the combined labels of all others."""
    labels = [each for given in agreement.matched.labels.values() for each in given]
    how: Combination = "mean" if agreement.how == "each" else agreement.how
    counts = Counter(each.annotator for each in labels)
    for name, _ in counts.most_common(_MOST_ANNOTATORS) if len(counts) > 1 else ():
        own, others = ([each for each in labels if (each.annotator == name) == is_own] for is_own in (True, False))
        yield match(own, others, how).pairs


def _people_ordering(agreement: AgreementResult, order: Callable[[Sequence[Pair]], Figure]) -> dict[str, float]:
    """Return how often one person puts the better of two items first, by the labels of the others, by language."""
    languages = {pair.id: pair.language for pair in agreement.matched.pairs}
    found: defaultdict[str, list[float]] = defaultdict(list)
    for pairs in _each_with_the_others(agreement):
        by_language: defaultdict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            by_language[languages.get(pair.id, pair.language)].append(pair)
        for tag, own in by_language.items():
            if (value := order(own).value) is not None:
                found[tag].append(float(value))
    return {tag: fmean(values) for tag, values in found.items()}


def _languages(
    judged: Sequence[Rating],
    pairs: Sequence[Pair],
    order: Callable[[Sequence[Pair]], Figure],
    people: Mapping[str, float],
) -> dict[str, RecordedLanguage]:
    ratings: defaultdict[str, list[Rating]] = defaultdict(list)
    for each in judged:
        ratings[each.language].append(each)
    labelled: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        labelled[pair.language].append(pair)
    found: dict[str, RecordedLanguage] = {}
    for tag in sorted({*ratings, *labelled}):
        own = labelled[tag]
        found[tag or NO_LANGUAGE] = RecordedLanguage(_coverage(ratings[tag]), order(own), len(own), people.get(tag))
    return found


def _unordered(_: Sequence[Pair]) -> Figure:
    return Figure()


def _ordered(resamples: int, seed: int, pairs: Sequence[Pair]) -> Figure:
    return ordering_figure(
        [pair.judge for pair in pairs],
        [pair.people for pair in pairs],
        groups=[pair.group for pair in pairs],
        clusters=[pair.cluster for pair in pairs],
        resamples=resamples,
        seed=seed,
        weights=weights_of(pairs),
    )


def _preferred(pairs: Sequence[Pair]) -> Figure:
    """Return how often the judge prefers the text that people prefer; a tie of the judge counts half."""
    decided = [pair for pair in pairs if pair.people != _TIE]
    own = weights_of(decided)
    weights = np.ones(len(decided)) if own is None else own * equal_items(own) / len(decided)
    agreed = np.array([(pair.judge - _TIE) * (pair.people - _TIE) for pair in decided])
    return share_of_wins(float(weights[agreed > 0].sum()), float(weights[agreed < 0].sum()), float(weights.sum()))


def with_recorded(card: TrustCard, result: RecordedResult, about: Mapping[str, Any]) -> TrustCard:
    """Add what recorded results say, if at least as many items were judged, or labelled for what needs labels.

    A language in which no perturbed texts were judged gets its verdict from labels.
    """
    is_larger = card.recorded is None or result.verdicts.items >= card.recorded.items
    languages = dict(card.languages)
    for tag, found in result.languages.items():
        known = languages.get(tag, LanguageTrust())
        if tag != NO_LANGUAGE and result.agreement is not None:
            languages[tag] = _with_verdict(known, found)
        elif tag != NO_LANGUAGE and (is_larger or known.verdicts is None):
            languages[tag] = replace(known, verdicts=found.verdicts)
    effects = {
        name: each
        for name, each in result.effects.items()
        if name not in card.effects or each.count >= card.effects[name].count
    }
    card = replace(
        card,
        languages=dict(sorted(languages.items())),
        effects={**card.effects, **effects},
        recorded=result.verdicts if is_larger else card.recorded,
    )
    return with_run(card, about) if result.agreement is None else with_agreement(card, result.agreement.found, about)


def _with_verdict(known: LanguageTrust, found: RecordedLanguage) -> LanguageTrust:
    if found.labels < known.labels:
        return known
    ordering = found.ordering if found.labels else None
    known = replace(known, verdicts=found.verdicts, ordering=ordering, people_ordering=found.people)
    if known.comparisons or not found.labels:
        return known
    return replace(
        known, verdict=reliability_by_labels(found.ordering, found.labels, found.people), verdict_from=LABELS
    )
