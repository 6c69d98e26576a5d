"""Pass rates by script family as bars with their intervals, drawn by hand."""

from collections.abc import Sequence
from html import escape
from typing import Any

from .blocks import shown
from .report import FamilyRow

_ROW, _LEFT, _WIDTH, _RIGHT = 24, 150, 420, 190


def family_bars(rows: Sequence[FamilyRow]) -> Any:
    """Return the drawing; each bar says its numbers beside it."""
    from markupsafe import Markup

    height = _ROW * len(rows) + 8
    total = _LEFT + _WIDTH + _RIGHT
    parts = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="Pass rates by script family">'
        f'<svg viewBox="0 0 {total} {height}" width="{total}" height="{height}" role="img" '
        'aria-label="Pass rate by script family, with 95% intervals">'
    ]
    for place, row in enumerate(rows):
        parts += _bar(place, row)
    return Markup("\n".join([*parts, "</svg></div>"]))


def _bar(place: int, row: FamilyRow) -> list[str]:
    top = place * _ROW + 4
    middle = top + _ROW / 2
    name = escape(shown(row.family)[:60])
    parts = [
        f'<text x="{_LEFT - 8}" y="{middle + 4:.0f}" text-anchor="end">{name}</text>',
        f'<rect class="track" x="{_LEFT}" y="{top + 4}" width="{_WIDTH}" height="{_ROW - 8}"/>',
    ]
    rate, interval = row.rate, row.interval
    if rate is None or interval is None:
        told = f"no verdict on {row.languages}"
    else:
        low, high = _LEFT + interval.low * _WIDTH, _LEFT + interval.high * _WIDTH
        parts.append(f'<rect class="bar" x="{_LEFT}" y="{top + 4}" width="{rate * _WIDTH:.1f}" height="{_ROW - 8}"/>')
        parts.append(f'<line class="range" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.0f}" y2="{middle:.0f}"/>')
        told = f"{row.passed} of {row.passed + row.failed} ({interval.low:.0%} to {interval.high:.0%})"
    return [*parts, f'<text class="soft" x="{_LEFT + _WIDTH + 8}" y="{middle + 4:.0f}">{told}</text>']
