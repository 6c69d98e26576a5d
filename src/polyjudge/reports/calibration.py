"""Agreement, corrected estimates and severity plots."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Protocol

from polyjudge.files.ownership import XML_COMMENT
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Effect, Figure, MonotonicityResult, TrustCard
from polyjudge.text.display import one_line
from polyjudge.verdicts.trust import figure_text

from .blocks import Block, Heading, Lines, Table
from .trust_card import agreement_table, effects_table, language_title

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


class Estimates(Protocol):
    """What people would say, estimated in three ways."""

    @property
    def figure(self) -> Figure:
        """The judge's, corrected by labels."""
        ...

    @property
    def naive(self) -> Figure:
        """The judge's alone."""
        ...

    @property
    def labels_only(self) -> Figure:
        """The labels' alone."""
        ...

    @property
    def judged(self) -> int:
        """Items that the judge has seen."""
        ...

    @property
    def labelled(self) -> int:
        """Items that people have seen."""
        ...


def correction_blocks(
    overall: Estimates, by_language: Mapping[str, Estimates], what: str, table: LanguageTable
) -> Iterator[Block]:
    """Yield the estimate over all items, and each language's."""
    yield Heading(1, f"The {what} that people would give")
    rows = {"All": overall, **{language_title(tag, table): each for tag, each in by_language.items()}}
    body = tuple(
        (
            name,
            str(each.judged),
            str(each.labelled),
            figure_text(each.figure, 3),
            figure_text(each.naive, 3),
            figure_text(each.labels_only, 3),
        )
        for name, each in rows.items()
    )
    yield Table(("", "Judged", "Labels", "Corrected", "Judge alone", "Labels alone"), body, (1, 2, 3, 4, 5))
    yield Lines(
        (
            "The corrected number rests on all judged items and on the labels, which must be a random sample of them; "
            "with few labels a language leans on the others.",
        )
    )


def elsewhere_blocks(
    overall: Figure, languages: Mapping[str, Figure], labels: int, table: LanguageTable
) -> Iterator[Block]:
    """Yield pass rates corrected by how often the judge is right on other items."""
    yield Heading(1, f"The pass rate that people would give, from {labels} labels of other items")
    rows = ((language_title(tag, table), figure_text(each, 3)) for tag, each in languages.items())
    yield Table(("", "Corrected"), (("All", figure_text(overall, 3)), *rows), (1,))
    yield Lines(("It holds where the judge errs here as it does on the labelled items.",))


def effect_blocks(effects: Mapping[str, Effect]) -> Iterator[Block]:
    """Yield biases and stability, a row each."""
    yield Heading(1, "Biases and stability")
    yield effects_table(effects)


_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 320, 200, 44, 34, 12, 34
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:13px}.grid{stroke:#ddd}"
    ".band{fill:#3b6ea5;opacity:.2}.line{stroke:#3b6ea5;stroke-width:2;fill:none}.dot{fill:#3b6ea5}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.line{stroke:#8ab4e8}"
    ".band,.dot{fill:#8ab4e8}}"
)


def card_plots(card: TrustCard) -> Iterator[tuple[str, str]]:
    """Yield the name and the drawing of each kind of spoiling that the card knows over all languages."""
    for kind, result in card.perturbations.items():
        if len(result.curve) > 1:
            yield kind, severity_plot(result)


def severity_plot(result: MonotonicityResult) -> str:
    """Return the mean score at each severity with its interval; a judge that notices falls from left to right."""
    known = [point for point in result.curve if point.score.value is not None]
    line = " ".join(f"{_x(point.severity):.1f},{_y(point.score.value or 0):.1f}" for point in known)
    title = escape(one_line(f"{result.perturbation.replace('_', ' ')}: {result.verdict}", 80))
    told = ", ".join(f"{point.severity:g}: {point.score.value:.2f}" for point in known if point.score.value is not None)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'width="{_WIDTH}" height="{_HEIGHT}" aria-label="{title}. Mean score by severity: {told}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{_LEFT}" y="18">{title}</text>',
        *_axes(),
        _band(result),
        f'<polyline class="line" points="{line}"/>',
        *(
            f'<circle class="dot" cx="{_x(point.severity):.1f}" cy="{_y(point.score.value or 0):.1f}" r="3"/>'
            for point in known
        ),
        "</svg>",
    ]
    return "\n".join([XML_COMMENT, *filter(None, parts)]) + "\n"


def _axes() -> Iterator[str]:
    for tick in _TICKS:
        y, x = _y(tick), _x(tick)
        yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        yield f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 15}" text-anchor="middle">{tick:g}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">severity</text>'
    x, y = 12, (_TOP + _HEIGHT - _BOTTOM) / 2
    turned = f'text-anchor="middle" transform="rotate(-90 {x} {y:.0f})"'
    yield f'<text x="{x}" y="{y:.0f}" {turned}>score, worst 0 to best 1</text>'


def _band(result: MonotonicityResult) -> str:
    points = [
        (_x(point.severity), _y(point.score.low), _y(point.score.high))
        for point in result.curve
        if point.score.low is not None and point.score.high is not None
    ]
    if len(points) < 2:
        return ""
    there = [f"{x:.1f},{high:.1f}" for x, _, high in points]
    back = [f"{x:.1f},{low:.1f}" for x, low, _ in reversed(points)]
    return f'<polygon class="band" points="{" ".join([*there, *back])}"/>'


def _x(severity: float) -> float:
    return _LEFT + severity * (_WIDTH - _LEFT - _RIGHT)


def _y(score: float) -> float:
    return _TOP + (1 - min(max(score, 0.0), 1.0)) * (_HEIGHT - _TOP - _BOTTOM)
