"""Rank systems by the comparisons of their texts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from polyjudge.errors import DataError
from polyjudge.formats.systems import Compared, read_compared
from polyjudge.records.calibration import Figure
from polyjudge.records.ranking import LanguageRanking, PairVerdict, RankedSystem, Ranking, RankingOptions, SystemPair
from polyjudge.statistics.bradley_terry import Comparisons, Strengths, standard_errors, strengths_of, win_rate
from polyjudge.statistics.intervals import t_quantile
from polyjudge.statistics.rank_groups import (
    equal_strength_scores,
    holm,
    neighbour_block,
    random_signs_p,
    rank_groups,
    rank_ranges,
)
from polyjudge.text.display import harmless

_DRAWS_PER_TEST = 40
"""Permutations for each test, so that adjusted p-values of many pairs can be small."""
_FEWEST_CLUSTERS = 6
_MOST_NEEDED = 1_000_000
"""Beyond this number of clusters, how many are needed is not said."""
_POWER = 0.8
_TIE = 0.5


def rank(
    *runs: Path | str | Compared,
    systems: Sequence[str] = (),
    score: str = "",
    cluster: str = "",
    options: RankingOptions | None = None,
) -> Ranking:
    """Rank systems by the comparisons of their texts: by runs with scores of the same items, or by rows of pairs.

    Give one run for each system, or one with a column `system`, or rows of pairs such as `polyjudge pairwise` writes.
    `systems` selects and orders them, `score` names the column to compare, and `cluster` that of items that belong
    together, or "none" for independent items.
    """
    paths = [Path(run) for run in runs if not isinstance(run, Compared)]
    found = [run for run in runs if isinstance(run, Compared)]
    if not found:
        found = [read_compared(paths, systems=systems, measure=score, cluster=cluster)]
    elif paths or len(found) > 1:
        raise DataError("give files, or one result of read_compared")
    return ranking_of(found[0], tuple(map(str, paths)), options or RankingOptions())


def ranking_of(found: Compared, files: tuple[str, ...], options: RankingOptions) -> Ranking:
    """Return the ranking over all items, and by language if there are several."""
    own = Comparisons(len(found.systems), found.first, found.second, found.share, found.clusters)
    overall = _Table("", own, found, options)
    tags = np.unique(found.language) if options.by_language else np.zeros(0, dtype=np.int64)
    named = sorted((found.languages[tag], int(tag)) for tag in tags) if len(tags) > 1 else []
    tables = [_Table(name, own.among(found.language == tag), found, options) for name, tag in named]
    return Ranking(
        files=files,
        judges=found.judges,
        notes=tuple(_notes(found)),
        options=options,
        overall=_rankings([overall], found.failures)[0],
        languages=_rankings(tables, {}),
    )


def _rankings(tables: "Sequence[_Table]", failures: Mapping[str, int]) -> tuple[LanguageRanking, ...]:
    """Return the rankings of some tables; p-values are adjusted over all of their pairs."""
    family = sum(len(table.tests) for table in tables)
    adjusted = iter(holm([test.p for table in tables for test in table.tests.values()]))
    # Each table takes as many of them as it has tests.
    return tuple(table.ranking({pair: next(adjusted) for pair in table.tests}, family, failures) for table in tables)


def _notes(found: Compared) -> Iterator[str]:
    yield from (f"{note[:1].upper()}{note[1:]}." for note in found.notes)
    if len(found.judges) > 1:
        names = ", ".join(f"{judge.provider}/{judge.model}" for judge in found.judges[:4])
        yield harmless(f"Several judges or rubrics gave the scores ({names}); they may not be comparable.")


_Pair = tuple[int, int]


@dataclass
class _Table:
    """The comparisons of one language, or of all."""

    language: str
    found: Comparisons
    read: Compared
    options: RankingOptions

    @cached_property
    def strengths(self) -> Strengths:
        return strengths_of(self.found.wins)

    @cached_property
    def block(self) -> int:
        return 1 if self.read.names_clusters else neighbour_block(self.found, self.strengths)

    @cached_property
    def order(self) -> list[int]:
        """The compared systems, by part and then the strongest first."""
        systems = [system for system in range(self.found.systems) if not np.isnan(self.strengths.values[system])]
        values, parts = np.round(self.strengths.values, 9), self.strengths.components
        return sorted(systems, key=lambda each: (parts[each], -values[each], self.read.systems[each]))

    @cached_property
    def pairs(self) -> list[_Pair]:
        """Each two systems, the stronger first."""
        return [(first, second) for place, first in enumerate(self.order) for second in self.order[place + 1 :]]

    @cached_property
    def tests(self) -> "dict[_Pair, _Test]":
        """The test of each pair that something connects."""
        blocks, found = self.found.in_blocks(self.block), dict[_Pair, _Test]()
        draws = max(self.options.permutations, _DRAWS_PER_TEST * len(self.pairs))
        language = crc32(self.language.encode(errors="surrogatepass"))
        for first, second in self.pairs:
            sums = equal_strength_scores(blocks, first, second)
            if sums is not None:
                seed = (self.options.seed, language, *sorted((first, second)))
                p = random_signs_p(sums, permutations=draws, seed=seed)
                error = math.sqrt(float(sums @ sums))
                found[first, second] = _Test(p, abs(float(sums.sum())) / error if error else 0.0)
        return found

    def ranking(
        self, adjusted: Mapping[_Pair, float], family: int, failures: Mapping[str, int] | None = None
    ) -> LanguageRanking:
        """Return the ranking, by p-values that are adjusted over a family of tests."""
        better = np.zeros((self.found.systems, self.found.systems), dtype=bool)
        for (first, second), p in adjusted.items():
            better[first, second] = p < self.options.alpha
        return LanguageRanking(
            language=self.language,
            comparisons=len(self.found),
            clusters=self.found.cluster_count,
            block=self.block,
            is_limited=self.strengths.is_limited,
            clusters_needed=self.block * _clusters_needed(self.options.alpha, family),
            systems=tuple(self._systems(better, failures or {})),
            pairs=tuple(self._pair(pair, adjusted.get(pair), family) for pair in self.pairs),
        )

    def _systems(self, better: NDArray[np.bool_], failures: Mapping[str, int]) -> Iterator[RankedSystem]:
        """Yield the compared systems part by part, then those without comparisons."""
        errors = standard_errors(self.found, self.strengths)
        for number, part in enumerate(dict.fromkeys(self.strengths.components[self.order]), start=1):
            members = [system for system in self.order if self.strengths.components[system] == part]
            own = better[np.ix_(members, members)]
            places = zip(members, rank_groups(range(len(members)), own), rank_ranges(own), strict=True)
            for system, group, (best, worst) in places:
                known = {"group": group, "best_rank": best, "worst_rank": worst, "part": number}
                strength = self._strength(system, None if errors is None else float(errors[system]))
                yield self._system(system, failures, strength=strength, **known)
        for system in sorted(set(range(self.found.systems)) - set(self.order)):
            yield self._system(system, failures, strength=Figure(), group=None, best_rank=None, worst_rank=None)

    def _system(self, system: int, failures: Mapping[str, int], **known: Any) -> RankedSystem:
        rate, error = win_rate(self.found, system)
        wins, losses, ties = self._counts(self.found.first == system, self.found.second == system)
        name = self.read.systems[system]
        return RankedSystem(
            system=name,
            win_rate=rate,
            standard_error=error,
            comparisons=wins + losses + ties,
            wins=wins,
            losses=losses,
            ties=ties,
            failures=failures.get(name, 0),
            **known,
        )

    def _strength(self, system: int, error: float | None) -> Figure:
        value, clusters = float(self.strengths.values[system]), self.found.cluster_count
        if error is None:
            return Figure(value)
        half = t_quantile(clusters - 1) * error
        return Figure(value, value - half, value + half)

    def _counts(self, as_first: NDArray[np.bool_], as_second: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Return wins, losses and ties of a system in comparisons where it is the first, or the second."""
        above, below = self.found.share > _TIE, self.found.share < _TIE
        wins = int((as_first & above).sum()) + int((as_second & below).sum())
        losses = int((as_first & below).sum()) + int((as_second & above).sum())
        return wins, losses, int(as_first.sum()) + int(as_second.sum()) - wins - losses

    def _pair(self, pair: _Pair, adjusted: float | None, family: int) -> SystemPair:
        first, second = pair
        found, test = self.found, self.tests.get(pair)
        wins, losses, ties = self._counts(
            (found.first == first) & (found.second == second), (found.first == second) & (found.second == first)
        )
        verdict: PairVerdict = "not distinguished"
        if test is None or adjusted is None:
            verdict = "not connected"
        elif adjusted < self.options.alpha:
            verdict = "first"
        return SystemPair(
            first=self.read.systems[first],
            second=self.read.systems[second],
            comparisons=wins + losses + ties,
            wins=wins,
            losses=losses,
            ties=ties,
            p=None if test is None else test.p,
            adjusted_p=adjusted,
            verdict=verdict,
            clusters_needed=self._needed(test, family) if test and verdict == "not distinguished" else None,
        )

    def _needed(self, test: "_Test", family: int) -> int | None:
        """Return about how many clusters would distinguish two systems with a power of 0.8, at the difference seen."""
        if not test.errors:
            return None
        normal = NormalDist()
        wanted = normal.inv_cdf(1 - self.options.alpha / (2 * family)) + normal.inv_cdf(_POWER)
        needed = self.found.cluster_count * (wanted / test.errors) ** 2
        least = self.block * _clusters_needed(self.options.alpha, family)
        return max(math.ceil(needed), self.found.cluster_count + 1, least) if needed < _MOST_NEEDED else None


class _Test(NamedTuple):
    """The test of equal strength of two systems."""

    p: float
    errors: float
    """The difference in standard errors."""


def _clusters_needed(alpha: float, family: int) -> int:
    """Return the minimum number of clusters with which any of a family of tests can reach `alpha`."""
    return max(_FEWEST_CLUSTERS, math.floor(1 - math.log2(alpha / max(family, 1))) + 1)
