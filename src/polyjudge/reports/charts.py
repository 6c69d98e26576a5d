"""Draw the scores of a group as dots with their mean and interval, without scripts and style attributes."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

from markupsafe import Markup

from polyjudge.records.rubrics import Scale

from .tallies import Scores
from .wording import number_range

_WIDTH, _HEIGHT, _SIDE = 420, 26, 14
_MIDDLE = _HEIGHT / 2
_CLASSES = 24


def axis_ticks(scale: Scale) -> list[float]:
    """Return the values that an axis names."""
    step = (scale.highest - scale.lowest) / 4
    return [scale.lowest + step * place for place in range(5)]


def score_dots(name: str, scores: Scores | None, scale: Scale, bar: float | None) -> Any:
    """Draw the scores of a group in one dimension: dots grow with the number of outputs, crosses are below the bar."""
    if scores is None or scores.mean is None:
        return Markup('<span class="xs muted">no score</span>')
    interval = scores.interval(scale)
    label = f"{name}: mean {scores.mean:.2f}{f', 95% interval {number_range(interval)}' if interval else ''}"
    parts = [
        f'<svg class="tr" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{_plain(label)}, n = {scores.count}">'
    ]
    parts += [_line("grid", _x(value, scale)) for value in axis_ticks(scale)]
    parts += [_line("barline", _x(bar, scale))] if bar is not None else []
    if interval is not None:
        low, high = _x(interval.low, scale), _x(interval.high, scale)
        parts.append(f'<rect class="b" x="{low:.1f}" y="5" width="{max(high - low, 2):.1f}" height="16" rx="7"/>')
    for value, count in sorted(_classes(scores.values, scale).items()):
        parts.append(_dot(_x(value, scale), count / scores.count, is_below=bar is not None and value < bar))
    parts.append(f'<rect class="m" x="{_x(scores.mean, scale) - 1.2:.1f}" y="3" width="2.4" height="20" rx="1"/>')
    return Markup("".join([*parts, "</svg>"]))


def axis(scale: Scale, bar: float | None) -> Any:
    """Draw the axis of the dots, with the bar by name."""
    parts = [f'<svg class="tr" viewBox="0 0 {_WIDTH} 18" aria-hidden="true">']
    for value in axis_ticks(scale):
        text = f"bar {value:g}" if value == bar else f"{value:g}"
        parts.append(f'<text x="{_x(value, scale):.1f}" y="13" text-anchor="middle">{text}</text>')
    if bar is not None and bar not in axis_ticks(scale):
        parts.append(f'<text x="{_x(bar, scale):.1f}" y="13" text-anchor="middle">bar {bar:g}</text>')
    return Markup("".join([*parts, "</svg>"]))


def histogram(classes: Sequence[tuple[float, float, int]], what: str) -> Any:
    """Draw the distribution of scores: a bar for each class, with its number."""
    most, left, width = max(count for *_, count in classes), 90, 540
    label = f"Distribution of {what}"
    parts = [f'<svg class="hist" viewBox="0 0 760 {len(classes) * 24 + 4}" role="img" aria-label="{_plain(label)}">']
    for place, (low, high, count) in enumerate(classes):
        top, name = place * 24, f"{low:g}" if low == high else f"{low:g} to {high:g}"
        parts.append(f'<text x="{left - 10}" y="{top + 16}" text-anchor="end">{name}</text>')
        size = f'width="{max(width * count / most, 1):.1f}" height="18"'
        parts.append(f'<rect x="{left}" y="{top + 3}" {size} rx="3"/>' if count else "")
        parts.append(f'<text x="{left + width * count / most + 8:.1f}" y="{top + 16}">{count:,}</text>')
    return Markup("".join([*parts, "</svg>"]))


def observed_scale(scores: Scores) -> Scale:
    """Return a scale that covers all scores, for a rubric whose scale is not known."""
    low, high = min(scores.values, default=0.0), max(scores.values, default=1.0)
    for lowest, highest in ((0, 1), (1, 5), (0, 10), (0, 100)):
        if lowest <= low and high <= highest:
            return Scale(lowest, highest)
    return Scale(low, high if high > low else low + 1)


def _classes(values: Mapping[float, int], scale: Scale) -> dict[float, int]:
    """Return values with their counts; many values are put into classes."""
    if len(values) <= _CLASSES:
        return dict(values)
    step = (scale.highest - scale.lowest) / _CLASSES or 1.0
    found: dict[float, int] = {}
    for value, count in values.items():
        middle = scale.lowest + (min(int((value - scale.lowest) / step), _CLASSES - 1) + 0.5) * step
        found[middle] = found.get(middle, 0) + count
    return found


def _dot(x: float, share: float, *, is_below: bool) -> str:
    size = 2.2 + 5.5 * sqrt(share)
    if is_below:
        low, high, top, end = x - size * 0.8, x + size * 0.8, _MIDDLE - size * 0.8, _MIDDLE + size * 0.8
        return (
            f'<path class="x" d="M{low:.1f} {top:.1f} {high:.1f} {end:.1f}M{high:.1f} {top:.1f} {low:.1f} {end:.1f}"/>'
        )
    return f'<circle class="o" cx="{x:.1f}" cy="{_MIDDLE:.0f}" r="{size:.1f}"/>'


def _line(style: str, x: float) -> str:
    return f'<line class="{style}" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{_HEIGHT}"/>'


def _x(value: float, scale: Scale) -> float:
    share = (value - scale.lowest) / ((scale.highest - scale.lowest) or 1)
    return _SIDE + min(max(share, 0.0), 1.0) * (_WIDTH - 2 * _SIDE)


def _plain(text: str) -> str:
    return str(Markup.escape(text))
