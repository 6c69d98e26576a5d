"""Show runs, comparisons and trust cards in a notebook: small HTML without scripts, in the notebook's own colours."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Figure, TrustCard
from polyjudge.records.comparison import Comparison, LanguageChange
from polyjudge.records.ranking import LanguageRanking, RankedSystem, Ranking
from polyjudge.records.runs import ScoreSummary
from polyjudge.verdicts.comparison import compare_gate

from .blocks import Block, Heading, Lines, Table, shown
from .calibration import card_blocks, unnoticed_kinds
from .comparison_report import comparison_blocks
from .ranking_report import ranking_blocks
from .score_summary import summary_blocks

_MOST_ROWS = 30
_EIGHTHS = "░▏▎▍▌▋▊▉█"
_BAR = frozenset(_EIGHTHS)
_LINE = "1px solid rgba(128, 128, 128, .35)"
_BOX = f"border: {_LINE}; border-radius: 8px; padding: .6em 1em; max-width: 70em; overflow-x: auto; color: inherit"
_CELL = f"padding: .25em .7em; border-bottom: {_LINE}; background: none; color: inherit; vertical-align: top"


def html_of(record: object, **more: Any) -> str:
    """Return a record as HTML: the summary first, further tables on demand; `more` is for `summary_blocks`."""
    blocks = list(_blocks(record, more))
    first = next((place for place, block in enumerate(blocks[1:], 1) if isinstance(block, Heading)), len(blocks))
    others = "".join(map(_html, blocks[first:]))
    details = f"<details><summary>Details</summary>{others}</details>" if others else ""
    return f'<div style="{_BOX}">{"".join(map(_html, blocks[:first]))}{details}</div>'


def _blocks(record: object, more: Mapping[str, Any]) -> Iterable[Block]:
    table = language_table()
    if isinstance(record, Comparison):
        return comparison_blocks(record, compare_gate(record, None, None), table)
    if isinstance(record, Ranking):
        return ranking_blocks(record, table)
    if isinstance(record, TrustCard):
        return card_blocks(record, table)
    if isinstance(record, ScoreSummary):
        return summary_blocks(record, table, title="Scores", **more)
    raise TypeError(f"no HTML for {type(record).__name__}")


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        size = {1: "1.25em", 2: "1.1em"}.get(block.level, "1em")
        return (
            f'<div style="font-weight: 600; font-size: {size}; margin: .5em 0"><bdi>{_escaped(block.text)}</bdi></div>'
        )
    if isinstance(block, Lines):
        return "".join(f'<div style="margin: .2em 0"><bdi>{_escaped(line)}</bdi></div>' for line in block.lines)
    more = len(block.rows) - _MOST_ROWS
    left_out = f'<div style="opacity: .8">{more:,} more rows</div>' if more > 0 else ""
    head = "".join(_cells(block.header, block, "th"))
    body = "".join(f"<tr>{''.join(_cells(row, block, 'td'))}</tr>" for row in block.rows[:_MOST_ROWS])
    opened = '<table style="border-collapse: collapse; margin: .5em 0; color: inherit; font-size: .95em">'
    return f"{opened}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left_out}"


def _cells(row: Iterable[str], table: Table, kind: str) -> Iterator[str]:
    for place, cell in enumerate(row):
        side = "right" if place in table.numbers else "left"
        shown_cell = _drawn(cell) if cell and set(cell) <= _BAR else f"<bdi>{_escaped(cell)}</bdi>"
        yield f'<{kind} style="{_CELL}; text-align: {side}">{shown_cell}</{kind}>'


def _drawn(bar: str) -> str:
    """Return a bar of block characters as a drawn one: fonts of notebooks leave gaps between the characters."""
    share = sum(max(_EIGHTHS.find(sign), 0) / 8 for sign in bar) / len(bar)
    filled = f'<span style="display: block; width: {share:.1%}; height: 100%; background: currentColor"></span>'
    style = "display: block; width: 6em; height: .7em; margin: .3em 0; border: 1px solid currentColor; opacity: .65"
    return f'<span role="img" aria-label="{share:.0%}" style="{style}">{filled}</span>'


def _escaped(text: str) -> str:
    return escape(shown(text))


def rows_of(record: object) -> list[dict[str, Any]]:
    """Return a row for each language of a comparison or trust card, and in a ranking for each system in it.

    The rows over all languages have no language.
    """
    if isinstance(record, Comparison):
        return [_change_row(each) for each in (record.overall, *record.languages)]
    if isinstance(record, Ranking):
        tables = (record.overall, *record.languages)
        return [_system_row(found, system) for found in tables for system in found.systems]
    if isinstance(record, TrustCard):
        return [
            {
                "language": tag,
                "verdict": trust.verdict,
                **_figure("discrimination", trust.discrimination),
                "texts": trust.texts,
                "comparisons": trust.comparisons,
                "does_not_notice": ", ".join(unnoticed_kinds(trust)),
                **_figure("false_alarms", trust.false_alarms),
                "labels": trust.labels,
                "measured_at": trust.measured_at,
            }
            for tag, trust in record.languages.items()
        ]
    raise TypeError(f"no rows for {type(record).__name__}")


def _change_row(found: LanguageChange) -> dict[str, Any]:
    score, counts = found.score, found.counts
    return {
        "language": found.language or None,
        "verdict": score.verdict,
        "before": score.before,
        "after": score.after,
        **_figure("difference", score.difference),
        "p": score.p,
        "adjusted_p": score.adjusted_p,
        "detectable": score.detectable,
        "items": counts.paired,
        "worse": counts.worse,
        "better": counts.better,
        "newly_unjudged": counts.newly_unjudged,
        "newly_judged": counts.newly_judged,
        "missing": counts.missing,
        "added": counts.added,
    }


def _system_row(found: LanguageRanking, system: RankedSystem) -> dict[str, Any]:
    return {
        "language": found.language or None,
        "system": system.system,
        "group": system.group,
        "best_rank": system.best_rank,
        "worst_rank": system.worst_rank,
        **_figure("strength", system.strength),
        **_figure("win_rate", system.win_rate),
        "standard_error": system.standard_error,
        "comparisons": system.comparisons,
        "wins": system.wins,
        "losses": system.losses,
        "ties": system.ties,
        "failures": system.failures,
    }


def _figure(name: str, figure: Figure) -> dict[str, Any]:
    return {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
