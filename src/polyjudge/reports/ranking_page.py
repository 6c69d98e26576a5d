"""Build the page of a ranking: the answer, the groups with their intervals, and what cannot be concluded."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.ranking import LanguageRanking, RankedSystem, Ranking
from polyjudge.text.display import one_line

from .blocks import Block, Heading, fill_page
from .charts import share_axis, share_dots
from .ranking_report import (
    clusters_text,
    figure_text,
    headline,
    inconclusive,
    languages_table,
    legend,
    order_of,
    pairs_blocks,
    percent_text,
    rank_text,
    systems_table,
)
from .tallies import judge_title
from .wording import counted, listed

_LONGEST_NAME = 100
_LONGEST_NOTE = 600


def ranking_page(ranking: Ranking, table: LanguageTable, *, about_judge: Sequence[str] = ()) -> Iterator[str]:
    """Render the page; `about_judge` is what is known of the judge that compared the systems."""
    overall = ranking.overall
    content: dict[str, Any] = {
        "count": counted(len(overall.systems), "system"),
        "sentence": headline(overall),
        "order": one_line(order_of(overall), _LONGEST_NOTE),
        "facts": list(_facts(ranking)),
        "groups": list(_groups(overall)),
        "axis": share_axis(),
        "open_questions": list(inconclusive(ranking)),
        "about_judge": about_judge,
        "by_language": [languages_table(ranking.languages, overall, table)] if ranking.languages else [],
        "sections": list(_sections(overall)),
        "legend": list(legend(ranking)),
    }
    title = one_line(f"{headline(overall)} Ranking of {len(overall.systems)} systems", 200)
    return fill_page("rank.html", title, content, styles=("page.css", "report.css", "compare.css", "rank.css"))


def _facts(ranking: Ranking) -> Iterator[tuple[str, str]]:
    overall = ranking.overall
    yield "Data", f"{overall.comparisons:,} comparisons in {clusters_text(overall.clusters)}"
    yield "Files", one_line(listed([*ranking.files]) or "–", _LONGEST_NOTE)
    yield "Judge", listed([judge_title(judge) for judge in ranking.judges]) or "not named"
    yield "Chance", f"at most {ranking.options.alpha:.0%} that any two equal systems are distinguished; 95% intervals"
    for note in ranking.notes:
        yield "Note", one_line(note, _LONGEST_NOTE)


def _groups(found: LanguageRanking) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield a title and the systems of each group."""
    parts = {system.part for system in found.systems if system.group}
    for (part, group), members in groupby(found.systems, key=lambda each: (each.part, each.group)):
        rows = [_row(system) for system in members]
        if group is None:
            title = "Not compared"
        else:
            title = f"Group {group}" + (f" of part {part}" if len(parts) > 1 else "")
            title += ": cannot all be distinguished" if len(rows) > 1 else ""
        yield title, rows


def _row(system: RankedSystem) -> dict[str, Any]:
    name = one_line(system.system, _LONGEST_NAME)
    rate, _, interval = percent_text(system.win_rate).partition(" ")
    return {
        "name": name,
        "rank": rank_text(system),
        "style": "better" if system.best_rank == system.worst_rank == 1 else "same",
        "plot": share_dots(name, system.win_rate),
        "rate": rate,
        "interval": interval,
        "strength": figure_text(system.strength),
        "results": f"{system.wins:,} / {system.ties:,} / {system.losses:,}",
        "failures": system.failures,
    }


def _sections(found: LanguageRanking) -> Iterator[Block]:
    yield systems_table(found)
    yield Heading(2, "Pairs")
    yield from pairs_blocks(found)
