"""Render the ranking of systems."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from polyjudge.files.json_lines import readable_json
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Figure
from polyjudge.records.codec import to_json
from polyjudge.records.ranking import LanguageRanking, RankedSystem, Ranking, SystemPair
from polyjudge.statistics.neighbours import FEWEST

from .blocks import BLOCK_FORMATS, Block, Heading, Lines, Table
from .calibration import language_title
from .wording import counted, figure_words, listed

SCHEMA_VERSION = 1
_MOST_PAIRS = 45
_MOST_OPEN = 6
_MOST_COLUMNS = 8
"""Systems with a column of their own in the table of languages."""


def ranking_blocks(ranking: Ranking, table: LanguageTable) -> Iterator[Block]:
    """Yield a ranking, with the summary first."""
    overall = ranking.overall
    yield Heading(1, f"Ranking of {len(overall.systems)} systems")
    yield Lines((headline(overall), *_counts(overall), *ranking.notes))
    yield systems_table(overall)
    open_questions = tuple(inconclusive(ranking))
    if open_questions:
        yield Heading(2, "What cannot be concluded")
        yield Lines(open_questions)
    if ranking.languages:
        yield Heading(2, "By language")
        yield languages_table(ranking.languages, overall, table)
    yield Heading(2, "Pairs")
    yield from pairs_blocks(overall)
    yield Lines(tuple(legend(ranking)))


def headline(found: LanguageRanking) -> str:
    """Return in one sentence which system is best."""
    if len({system.part for system in found.systems if system.group}) > 1:
        return "No common ranking: some systems were never compared, directly or through others."
    best = [system.system for system in found.systems if system.group == 1]
    others = [system for system in found.systems if system.group not in (None, 1)]
    if len(best) == 1 and others:
        return f"Best: {best[0]}, better than {'all others' if len(others) > 1 else others[0].system}."
    behind = f"; each is better than {listed([other.system for other in others])}" if others else ""
    return f"No single best: {listed(best)} cannot all be distinguished{behind}."


def order_of(found: LanguageRanking) -> str:
    """Return the groups in order, such as `a > b, c > d`; parts that nothing compares are separated by a semicolon."""
    ranked = [system for system in found.systems if system.group]
    parts = [list(members) for _, members in groupby(ranked, key=lambda system: system.part)]
    return "; ".join(
        " > ".join(
            ", ".join(system.system for system in members)
            for _, members in groupby(part, key=lambda system: system.group)
        )
        for part in parts
    )


def _counts(found: LanguageRanking) -> Iterator[str]:
    ties = sum(pair.ties for pair in found.pairs)
    share = f", {counted(ties, 'tie')}" if ties else ""
    yield f"Order: {order_of(found)}."
    yield f"Data: {found.comparisons:,} comparisons in {clusters_text(found.clusters)}{share}."


def clusters_text(count: int) -> str:
    """Return a number of clusters in words."""
    return f"{count:,} {'cluster' if count == 1 else 'clusters'} (documents, or single items)"


def systems_table(found: LanguageRanking) -> Table:
    """Return the systems with all their figures."""
    rows = tuple(
        (
            rank_text(system),
            str(system.group or "–"),
            system.system,
            *(str(system.part),) * _has_parts(found),
            figure_text(system.strength),
            percent_text(system.win_rate),
            "–" if system.standard_error is None else f"{100 * system.standard_error:.2f}",
            f"{system.comparisons:,}",
            f"{system.wins:,}",
            f"{system.losses:,}",
            f"{system.ties:,}",
            f"{system.failures:,}",
        )
        for system in found.systems
    )
    parts = ("Part",) if _has_parts(found) else ()
    numbers = ("Strength", "Win rate", "±", "Comparisons", "Wins", "Losses", "Ties", "No verdict")
    header = ("Rank", "Group", "System", *parts, *numbers)
    return Table(header, rows, tuple(range(len(header) - len(numbers), len(header))))


def _has_parts(found: LanguageRanking) -> bool:
    return any(system.part > 1 for system in found.systems)


def rank_text(system: RankedSystem) -> str:
    """Return the rank, or the ranks that the comparisons allow."""
    if system.best_rank is None:
        return "–"
    best, worst = system.best_rank, system.worst_rank
    return str(best) if best == worst else f"{best}–{worst}"


def inconclusive(ranking: Ranking) -> Iterator[str]:
    """Yield what the comparisons do not show, and why."""
    found, alpha = ranking.overall, ranking.options.alpha
    if ranking.if_independent is not None:
        yield (
            "Whether the items are independent: if no two are of one document (separate questions, say), the order "
            f"would be {order_of(ranking.if_independent)}. If that is so, set cluster to none; else name the column of "
            "documents."
        )
    if found.clusters < found.clusters_needed:
        yield (
            f"Too few items: {clusters_text(found.clusters)}; below {found.clusters_needed} no two systems can be "
            f"distinguished with at most {alpha:.0%} false alarms."
        )
    open_pairs = [pair for pair in found.pairs if pair.verdict == "not distinguished"]
    for pair in open_pairs[:_MOST_OPEN]:
        yield f"Which of {pair.first} and {pair.second} is better: {_score_of(pair)}{_needed(pair)}."
    if len(open_pairs) > _MOST_OPEN:
        yield f"And {len(open_pairs) - _MOST_OPEN} more pairs."
    apart = [pair for pair in found.pairs if pair.verdict == "not connected"]
    if apart:
        named = f"{apart[0].first} and {apart[0].second}"
        yield (
            f"{len(apart)} {'pairs have' if len(apart) > 1 else 'pair has'} nothing in common, such as {named}: they "
            "were not compared, also not through others. Ranks count within a part. Compare a system of each part."
        )
    if found.is_limited:
        yield (
            "How far apart the strengths are: some system, or group of systems, won or lost everything against the "
            "rest, and its strength would be infinite. Half a win was added to both sides of each pair, and the "
            "strengths have no intervals. Ranks and win rates are not changed by this."
        )
    if any(not system.comparisons for system in found.systems):
        names = [system.system for system in found.systems if not system.comparisons]
        yield f"Where {listed(names)} would rank: no comparison has a verdict."


def _score_of(pair: SystemPair) -> str:
    if not pair.comparisons:
        return "compared only through others"
    return f"{pair.wins:,} to {pair.losses:,}, {pair.ties:,} {'tie' if pair.ties == 1 else 'ties'}"


def _needed(pair: SystemPair) -> str:
    if pair.clusters_needed is None:
        return ""
    digits = len(str(pair.clusters_needed)) - 2
    return f"; if the difference is as seen, about {round(pair.clusters_needed, -max(digits, 0)):,} items would show it"


def languages_table(found: Sequence[LanguageRanking], overall: LanguageRanking, table: LanguageTable) -> Table:
    """Return the order and the win rates by language."""
    names = [system.system for system in overall.systems][:_MOST_COLUMNS]
    rows: list[tuple[str, ...]] = []
    for each in found:
        rates = {system.system: system.win_rate for system in each.systems}
        shown = [percent_text(rates.get(name, Figure())) for name in names]
        few = " (too few items)" if each.clusters < each.clusters_needed else ""
        rows.append((language_title(each.language, table), f"{order_of(each)}{few}", *shown, f"{each.clusters:,}"))
    header = ("Language", "Order", *(f"Win rate {name}" for name in names), "Items")
    return Table(header, tuple(rows), tuple(range(2, len(header))))


def pairs_blocks(found: LanguageRanking) -> Iterator[Block]:
    """Yield the pairs of systems with their results."""
    rows = tuple(
        (
            pair.first,
            pair.second,
            *(f"{count:,}" for count in (pair.wins, pair.losses, pair.ties)),
            "–" if pair.adjusted_p is None else f"{pair.adjusted_p:.4f}",
            {"first": f"{pair.first} is better", "second": f"{pair.second} is better"}.get(pair.verdict, pair.verdict),
        )
        for pair in found.pairs[:_MOST_PAIRS]
    )
    yield Table(("System", "Other system", "Wins", "Losses", "Ties", "p, adjusted", "Result"), rows, (2, 3, 4, 5))
    if len(found.pairs) > _MOST_PAIRS:
        yield Lines((f"And {len(found.pairs) - _MOST_PAIRS} more pairs; the format json has all of them.",))


def legend(ranking: Ranking) -> Iterator[str]:
    """Yield how the figures are to be read."""
    alpha = ranking.options.alpha
    yield (
        "Each system is better than all of the groups after it. The chance that any two equal systems are "
        f"distinguished is at most {alpha:.0%}. A rank such as 1–3 says which ranks the comparisons allow."
    )
    yield (
        "Strength: log odds of a win against a system of mean strength (Bradley and Terry; a tie is half a win for "
        "each). ± is the standard error of the win rate, in percentage points. Brackets: 95% intervals."
    )
    if ranking.overall.may_be_related:
        yield (
            f"No column names the documents, so rows near each other may belong together: at least {FEWEST} items are "
            "needed, and differences must be clearer. Set cluster to the column of documents, or to none if the items "
            "are independent."
        )


def figure_text(figure: Figure) -> str:
    """Return a strength with its interval."""
    return figure_words(figure, "+.2f")


def percent_text(figure: Figure) -> str:
    """Return a share with its interval."""
    return figure_words(figure, ".2f", ".1f", factor=100, unit="%")


def ranking_json(ranking: Ranking) -> Iterator[str]:
    """Render a ranking as JSON."""
    yield readable_json({"schemaVersion": SCHEMA_VERSION, **to_json(ranking)}, indent=1) + "\n"


def _rendered(form: Callable[[Iterable[Block]], Iterator[str]]) -> "RankingFormat":
    return lambda ranking, table: form(ranking_blocks(ranking, table))


def _page(ranking: Ranking, table: LanguageTable) -> Iterator[str]:
    """Render a ranking as a page of its own."""
    from .ranking_page import ranking_page  # imported late: templates are slow to load

    yield from ranking_page(ranking, table)


RankingFormat = Callable[[Ranking, LanguageTable], Iterator[str]]
RANKING_FORMATS: dict[str, RankingFormat] = {
    **{name: _rendered(form) for name, form in BLOCK_FORMATS.items()},
    "html": _page,
    "json": lambda ranking, _: ranking_json(ranking),
}
