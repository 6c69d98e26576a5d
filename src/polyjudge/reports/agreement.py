"""How far two raters agree, for people to read."""

from collections.abc import Iterator, Mapping

from polyjudge.languages import LanguageTable
from polyjudge.records import Figure

from .blocks import Block, Heading, Lines, Table
from .trust_card import agreement_table, figure_text, language_title

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
Found = Mapping[str, tuple[int, Mapping[str, Figure]]]
"""Under the empty tag over all languages, then by language: how many items, and each measure."""


def agreement_blocks(found: Found, table: LanguageTable, *, people: bool, alpha: float | None) -> Iterator[Block]:
    """Yield the measures over all languages, then the most used of them by language."""
    count, _ = found[""]
    yield Heading(1, f"Agreement with {'people' if people else 'another judge'} on {count} items")
    if alpha is not None:
        yield Lines((f"The people among themselves: Krippendorff's alpha {alpha:.3f}.",))
    yield agreement_table({"All": found[""]})
    languages = {tag: row for tag, row in found.items() if tag}
    if languages:
        yield Heading(2, "By language")
        yield _by_language(languages, table)
    few = [language_title(tag, table) for tag, (_, figures) in languages.items() if not figures]
    if few:
        yield Lines((f"Too few items in: {', '.join(few)}.",))


def _by_language(found: Found, table: LanguageTable) -> Table:
    names = [name for name in _BY_LANGUAGE if any(_value(figures, name) is not None for _, figures in found.values())]
    rows = tuple(
        (language_title(tag, table), str(count), *(figure_text(figures.get(name, Figure())) for name in names))
        for tag, (count, figures) in found.items()
    )
    header = ("Language", "Items", *(name.replace("_", " ").capitalize() for name in names))
    return Table(header, rows, tuple(range(1, len(header))))


def _value(figures: Mapping[str, Figure], name: str) -> float | None:
    return figures.get(name, Figure()).value
