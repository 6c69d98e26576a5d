"""Draw how a judge's score falls as the severity of a perturbation rises."""

from collections.abc import Iterator
from html import escape

from polyjudge.files.ownership import XML_COMMENT
from polyjudge.records.calibration import MonotonicityResult, TrustCard
from polyjudge.text.display import one_line

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 320, 200, 44, 34, 12, 34
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:13px}.grid{stroke:#ddd}"
    ".band{fill:#3b6ea5;opacity:.2}.line{stroke:#3b6ea5;stroke-width:2;fill:none}.dot{fill:#3b6ea5}"
    "@media (prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.line{stroke:#8ab4e8}"
    ".band,.dot{fill:#8ab4e8}}"
)


def card_plots(card: TrustCard) -> Iterator[tuple[str, str]]:
    """Yield the name and plot of each perturbation of a card, over all languages."""
    for kind, result in card.perturbations.items():
        if len(result.curve) > 1:
            yield kind, severity_plot(result)


def severity_plot(result: MonotonicityResult) -> str:
    """Draw the mean score at each severity with its interval; it falls if the judge notices the perturbation."""
    known = [point for point in result.curve if point.score.value is not None]
    line = " ".join(f"{_x(point.severity):.1f},{_y(point.score.value or 0):.1f}" for point in known)
    title = escape(one_line(f"{result.perturbation.replace('_', ' ')}: {result.verdict}", 80))
    text = ", ".join(f"{point.severity:g}: {point.score.value:.2f}" for point in known if point.score.value is not None)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'width="{_WIDTH}" height="{_HEIGHT}" aria-label="{title}. Mean score by severity: {text}">',
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
