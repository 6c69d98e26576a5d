"""Draw scores as dots, and differences of two runs on a zero line, without scripts and style attributes."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10, sqrt
from typing import Any

from markupsafe import Markup

from polyjudge.records.calibration import Figure
from polyjudge.records.comparison import Change, Difference
from polyjudge.records.rubrics import Scale

from .tallies import Scores
from .wording import number_range

_WIDTH, _HEIGHT, _SIDE = 420, 26, 14
_MIDDLE = _HEIGHT / 2
_CLASSES = 24
_SMALLEST = 1e-9
"""Smaller differences are not visible on any scale of scores."""
_BAR_WIDTH = 34
"""The name of the bar covers a tick that is nearer."""


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
    named = {value: f"{value:g}" for value in axis_ticks(scale)}
    if bar is not None:
        named = {value: text for value, text in named.items() if abs(_x(value, scale) - _x(bar, scale)) >= _BAR_WIDTH}
        named[bar] = f"bar {bar:g}"
    texts = (
        f'<text x="{_x(value, scale):.1f}" y="18" text-anchor="middle">{text}</text>' for value, text in named.items()
    )
    # as high as the dots, so that both have the same scale
    return Markup("".join([f'<svg class="tr" viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-hidden="true">', *texts, "</svg>"]))


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


def difference_limit(sizes: Sequence[float]) -> float:
    """Return a round number that is not below any of the sizes, for an axis from its negative to itself."""
    most = max(sizes, default=0.0)
    most = most if most > _SMALLEST else 1.0
    power = 10.0 ** floor(log10(most))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= most * (1 - 1e-9))


def difference_axis(limit: float) -> Any:
    """Draw the axis of differences, with the side on which each run is better."""
    parts = [f'<svg class="tr ax" viewBox="0 0 {_WIDTH} 34" aria-hidden="true">']
    scale = Scale(-limit, limit)
    for value in (-limit, -limit / 2, 0.0, limit / 2, limit):
        text = f"{value:+g}".replace("-", "−") if value else "0"
        parts.append(f'<text x="{_x(value, scale):.1f}" y="30" text-anchor="middle">{text}</text>')
    middle = _x(0, scale)
    parts.append(f'<text class="side" x="{middle - 14:.1f}" y="12" text-anchor="end">← A better</text>')
    parts.append(f'<text class="side" x="{middle + 14:.1f}" y="12">B better →</text>')
    return Markup("".join([*parts, "</svg>"]))


def difference_dots(name: str, found: Difference, limit: float) -> Any:
    """Draw a difference with its interval on a zero line; the band is what mostly goes unseen."""
    value, low, high = found.difference.value, found.difference.low, found.difference.high
    if value is None:
        return Markup('<span class="xs muted">no item in both</span>')
    scale = Scale(-limit, limit)
    interval = f", 95% interval {low:+.3g} to {high:+.3g}" if low is not None and high is not None else ""
    parts = [
        f'<svg class="tr dt" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{_plain(name)}: difference {value:+.3g}{interval}">'
    ]
    if found.detectable is not None:
        left, right = _x(-found.detectable, scale), _x(found.detectable, scale)
        parts.append(f'<rect class="z" x="{left:.1f}" y="0" width="{right - left:.1f}" height="{_HEIGHT}"/>')
    parts += [_line("grid", _x(each, scale)) for each in (-limit, -limit / 2, limit / 2, limit)]
    parts.append(_line("zero", _x(0, scale)))
    parts += [*_interval(low, high, scale), _change_mark(_x(value, scale), found.verdict)]
    return Markup("".join([*parts, "</svg>"]))


def _interval(low: float | None, high: float | None, scale: Scale) -> Iterator[str]:
    """Draw an interval as a line with ends, if it is known."""
    if low is not None and high is not None:
        ends = [_x(low, scale), _x(high, scale)]
        yield f'<path class="l" d="M{ends[0]:.1f} {_MIDDLE}H{ends[1]:.1f}"/>'
        yield from (f'<path class="l" d="M{end:.1f} {_MIDDLE - 5}V{_MIDDLE + 5}"/>' for end in ends)


_SHARES = Scale(0, 1)


def share_axis() -> Any:
    """Draw the axis of shares, from 0% to 100%."""
    texts = (
        f'<text x="{_x(value, _SHARES):.1f}" y="30" text-anchor="middle">{value:.0%}</text>'
        for value in axis_ticks(_SHARES)
    )
    return Markup("".join([f'<svg class="tr ax" viewBox="0 0 {_WIDTH} 34" aria-hidden="true">', *texts, "</svg>"]))


def share_dots(name: str, found: Figure) -> Any:
    """Draw a share with its interval, and the line of one half."""
    if found.value is None:
        return Markup('<span class="xs muted">no comparison</span>')
    low, high = found.low, found.high
    interval = f", 95% interval {low:.1%} to {high:.1%}" if low is not None and high is not None else ""
    label = f"{_plain(name)}: {found.value:.1%}{interval}"
    parts = [f'<svg class="tr dt" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">']
    parts += [_line("zero" if each == _HALF else "grid", _x(each, _SHARES)) for each in axis_ticks(_SHARES)]
    parts += _interval(low, high, _SHARES)
    parts.append(f'<circle class="p" cx="{_x(found.value, _SHARES):.1f}" cy="{_MIDDLE:.0f}" r="5"/>')
    return Markup("".join([*parts, "</svg>"]))


_HALF = 0.5


def _change_mark(x: float, verdict: Change) -> str:
    """Draw a triangle up for better and down for worse, else a circle."""
    if verdict in ("better", "worse"):
        tip = _MIDDLE - 7 if verdict == "better" else _MIDDLE + 7
        base = _MIDDLE + 6 if verdict == "better" else _MIDDLE - 6
        return f'<path class="p" d="M{x:.1f} {tip}L{x + 7.5:.1f} {base}H{x - 7.5:.1f}Z"/>'
    return f'<circle class="o" cx="{x:.1f}" cy="{_MIDDLE:.0f}" r="4.6"/>'


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
