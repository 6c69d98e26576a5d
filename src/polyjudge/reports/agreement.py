"""Report how far a judge agrees with people, or with another judge."""

from collections.abc import Iterator, Mapping
from typing import Any

from polyjudge.calibration.agreement import AS_A_TIE, EVERY_ITEM, AgreementResult, Found
from polyjudge.calibration.annotators import RaterPair
from polyjudge.calibration.matching import Combination
from polyjudge.calibration.orders import OrderEffects
from polyjudge.files.ownership import own_fields
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Figure
from polyjudge.records.codec import to_json
from polyjudge.statistics.resampling import MeanError
from polyjudge.verdicts.trust import figure_text

from .blocks import Block, Heading, Lines, Table
from .calibration import agreement_table, language_title
from .wording import counted

_BY_LANGUAGE = (
    "base_rate",
    "accuracy",
    "kappa",
    "kappa_of_verdicts",
    "kappa_quadratic",
    "pearson",
    "spearman",
    "kendall_tau_b",
    "pairwise_accuracy",
    "tie_calibrated_accuracy",
    "true_positive_rate",
    "true_negative_rate",
)
_ORDER_NAMES = {
    "accuracy_given": "Accuracy, given order",
    "accuracy_swapped": "Accuracy, swapped order",
    "accuracy_average": "Accuracy, average of both",
    "right_in_both": "Right in both orders",
    "same_in_both": "Same verdict in both orders",
    "kappa": "Cohen's kappa between the orders",
    "first_shown_of_changed": "First shown preferred, of changed verdicts",
}


def agreement_blocks(result: AgreementResult, table: LanguageTable, *, people: bool) -> Iterator[Block]:
    """Yield the measures over all languages, how they came about, and then the most important ones by language."""
    found = result.found
    yield Heading(1, f"Agreement with {'people' if people else 'another judge'} on {found[''][0]} items")
    if notes := tuple(_notes(result)):
        yield Lines(notes)
    yield agreement_table({"All": found[""]})
    yield _means(result.means, people=people)
    yield from _annotators(result)
    if result.orders is not None:
        yield from order_blocks(result.orders)
    if result.parts:
        yield Heading(2, "By part")
        yield _by_language(result.parts, None)
    languages = {tag: row for tag, row in found.items() if tag}
    if languages:
        yield Heading(2, "By language")
        yield _by_language(languages, table)
    few = [language_title(tag, table) for tag, (_, figures) in languages.items() if not figures]
    if few:
        yield Lines((f"Too few items in: {', '.join(few)}.",))


def _notes(result: AgreementResult) -> Iterator[str]:
    """Yield what was combined, left out or mapped."""
    matched = result.matched
    if matched.annotators > 1:
        yield f"{matched.annotators} annotators; compared with {_USED[result.how]} ({result.how})."
        if result.how == "majority":
            yield f"Items without a majority, which are left out: {matched.without_majority:,}."
    if matched.people_alpha is not None:
        level = f" ({matched.alpha_level})" if matched.alpha_level == "nominal" else ""
        yield f"Agreement between annotators: Krippendorff's alpha {matched.people_alpha:.3f}{level}."
    if result.averaged:
        yield (
            "Accuracy and kappa are left out, because a mean of several labels rarely equals a score. Combine labels "
            "by majority to get them."
        )
    if matched.unjudged:
        yield f"No verdict: {matched.unjudged:,} of {matched.unjudged + len(matched.pairs):,} labelled items."
    yield from _scales(result)


_USED: Mapping[Combination, str] = {
    "majority": "the label that most of them gave",
    "mean": "the mean of their labels",
    "each": "each label by itself",
}


def _scales(result: AgreementResult) -> Iterator[str]:
    """Yield how scales that differ were treated."""
    if result.mapped is not None:
        (low, high), (lowest, highest) = result.mapped
        yield f"The labels were mapped linearly from {lowest:g} to {highest:g} onto {low:g} to {high:g}."
    elif result.scales is not None and result.scales.differ:
        (low, high), (lowest, highest) = result.scales.judge, result.scales.labels
        yield (
            f"The scales differ: scores from {low:g} to {high:g}, labels from {lowest:g} to {highest:g}. Measures that "
            "compare a score with a label are left out."
        )


def _means(means: Mapping[str, MeanError], *, people: bool) -> Table:
    """Return the means of both sides, with their standard errors."""
    names = {
        "judge": "Judge, compared items",
        "labels": "Labels" if people else "Other judge",
        "judgeOfAllItems": "Judge, all items",
    }
    rows = tuple(
        (
            names[name],
            str(each.items),
            figure_text(Figure(each.mean, each.low, each.high), 3),
            "–" if each.standard_error is None else f"{each.standard_error:.4f}",
        )
        for name, each in means.items()
    )
    return Table(("Mean of", "Items", "Mean", "Standard error"), rows, (1, 2, 3))


def _annotators(result: AgreementResult) -> Iterator[Block]:
    """Yield the agreement of each two annotators, and of the judge with each."""
    pairs = [*result.between, *result.with_each]
    if not pairs:
        return
    yield Heading(2, "Annotators")
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair.figures))
    rows = tuple(
        (
            f"{pair.first} and {pair.second}",
            str(pair.items),
            *(figure_text(pair.figures.get(name, Figure()), 3) for name in names),
        )
        for pair in pairs
    )
    header = ("Compared", "Items", *(name.replace("_", " ").capitalize() for name in names))
    yield Table(header, rows, tuple(range(1, len(header))))


def order_blocks(orders: OrderEffects) -> Iterator[Block]:
    """Yield the effects of the order in which two candidates were shown."""
    yield Heading(2, "Both orders")
    lines = [f"{orders.changed:,} of {counted(orders.items - orders.missing, 'verdict')} differ between the orders."]
    if orders.missing:
        lines.append(f"{counted(orders.missing, 'item')} without a verdict in one order or both.")
    yield Lines(tuple(lines))
    with_missing = orders.missing > 0
    rows = [
        (
            title,
            figure_text(orders.figures[name], 3),
            *((figure_text(orders.figures.get(f"{name}_every_item", Figure()), 3),) if with_missing else ()),
        )
        for name, title in _ORDER_NAMES.items()
        if name in orders.figures
    ]
    more = ("Every item, no verdict as wrong",) if with_missing else ()
    yield Table(
        ("Measure", "Readable verdicts" if with_missing else "All", *more), tuple(rows), (1, 2)[: 1 + len(more)]
    )


def _by_language(found: Found, table: LanguageTable | None) -> Table:
    """Return the most important measures of each language, or of each part of the data."""
    names = [
        name
        for name in _BY_LANGUAGE
        if any(figures.get(name, Figure()).value is not None for _, figures in found.values())
    ]
    rows = tuple(
        (
            language_title(tag, table) if table else tag,
            str(count),
            *(figure_text(figures.get(name, Figure())) for name in names),
        )
        for tag, (count, figures) in found.items()
    )
    header = ("Language" if table else "Part", "Items", *(name.replace("_", " ").capitalize() for name in names))
    return Table(header, rows, tuple(range(1, len(header))))


def agreement_json(result: AgreementResult) -> dict[str, object]:
    """Return all figures."""
    matched, scales = result.matched, result.scales
    return {
        **own_fields(),
        "items": len(matched.pairs),
        "unjudged": matched.unjudged,
        "notLabelled": matched.not_labelled,
        "unknownLabels": len(matched.unknown),
        "annotators": matched.annotators,
        "annotatorNames": list(matched.names),
        "annotatorsAlpha": matched.people_alpha,
        "annotatorsAlphaLevel": matched.alpha_level,
        "combined": result.how,
        "withoutMajority": matched.without_majority,
        "betweenAnnotators": [_pair_json(pair) for pair in result.between],
        "withEachAnnotator": [_pair_json(pair) for pair in result.with_each],
        "means": {name: to_json(each) for name, each in result.means.items()},
        "orders": None if result.orders is None else order_json(result.orders),
        "scales": None
        if scales is None
        else {
            "judge": list(scales.judge),
            "labels": list(scales.labels),
            "differ": scales.differ,
            "mapped": result.mapped is not None,
        },
        "parts": _figures_json(result.parts),
        "languages": _figures_json({tag or "all": each for tag, each in result.found.items()}),
    }


def order_json(orders: OrderEffects) -> dict[str, Any]:
    """Return the effects of the order."""
    counts = {"items": orders.items, "missing": orders.missing, "changed": orders.changed, "labelled": orders.labelled}
    return {**counts, **{name: to_json(each) for name, each in orders.figures.items()}}


def _figures_json(found: Found) -> dict[str, dict[str, Any]]:
    """Return figures by name; where every item has a verdict, accuracy is the same however a missing one counts."""
    return {
        name: {
            "items": count,
            **({each: to_json(figures["accuracy"]) for each in (EVERY_ITEM, AS_A_TIE)} if figures else {}),
            **{each: to_json(figure) for each, figure in figures.items()},
        }
        for name, (count, figures) in found.items()
    }


def _pair_json(pair: RaterPair) -> dict[str, Any]:
    figures = {name: to_json(each) for name, each in pair.figures.items()}
    return {"first": pair.first, "second": pair.second, "items": pair.items, **figures}
