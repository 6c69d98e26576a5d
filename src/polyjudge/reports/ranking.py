"""Rank systems by the comparisons of their texts."""

import dataclasses
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
from polyjudge.statistics.bradley_terry import Strengths, standard_errors, strengths_of, win_rate
from polyjudge.statistics.comparisons import Comparisons
from polyjudge.statistics.intervals import t_quantile
from polyjudge.statistics.neighbours import FEWEST
from polyjudge.statistics.rank_groups import equal_strength_scores, holm, random_signs_p, rank_groups, rank_ranges
from polyjudge.text.display import harmless

_DRAWS_PER_TEST = 40
"""Permutations for each test, so that adjusted p-values of many pairs can be small."""
_FEWEST_CLUSTERS = 6
_MOST_NEEDED = 1_000_000
"""Beyond this number of clusters, how many are needed is not said."""
_POWER = 0.8


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
        raise DataError("expected files, or one result of read_compared")
    return ranking_of(found[0], tuple(map(str, paths)), options or RankingOptions())


def ranking_of(found: Compared, files: tuple[str, ...], options: RankingOptions) -> Ranking:
    """Return the ranking over all items, and by language if there are several."""
    own = Comparisons(len(found.systems), found.first, found.second, found.share, found.clusters, found.table)
    overall = _Table("", own, found, options)
    tags = [found.language] if found.table_language is None else [found.language, found.table_language]
    known = np.unique(np.concatenate(tags)) if options.by_language else np.zeros(0, dtype=np.int64)
    named = sorted((found.languages[tag], int(tag)) for tag in known) if len(known) > 1 else []
    tables = [_Table(name, own.among(*(each == tag for each in tags)), found, options) for name, tag in named]
    ranked = _rankings([overall], found.failures)[0]
    return Ranking(
        files=files,
        judges=found.judges,
        notes=tuple(_notes(found)),
        options=options,
        overall=ranked,
        languages=_rankings(tables, {}),
        if_independent=_if_independent(overall, ranked),
    )


def _if_independent(table: "_Table", ranked: LanguageRanking) -> LanguageRanking | None:
    """Return the ranking of independent items, if that distinguishes more systems."""
    if not ranked.may_be_related or ranked.clusters > _MOST_UNNAMED or len(ranked.systems) > _MOST_SYSTEMS_UNNAMED:
        return None
    alone = _rankings([dataclasses.replace(table, read=dataclasses.replace(table.read, names_clusters=True))], {})[0]
    known = [sum(pair.verdict == "first" for pair in each.pairs) for each in (alone, ranked)]
    return alone if known[0] > known[1] else None


def _rankings(tables: "Sequence[_Table]", failures: Mapping[str, int]) -> tuple[LanguageRanking, ...]:
    """Return the rankings of some tables; p-values are adjusted over all of their pairs."""
    known = [{pair: test.p for pair, test in table.tests.items() if test.p is not None} for table in tables]
    family = sum(map(len, known))
    adjusted = iter(holm([p for each in known for p in each.values()]))
    # Each table takes as many of them as it has tests.
    return tuple(
        table.ranking({pair: next(adjusted) for pair in each}, family, failures)
        for table, each in zip(tables, known, strict=True)
    )


def _notes(found: Compared) -> Iterator[str]:
    yield from (f"{note[:1].upper()}{note[1:]}." for note in found.notes)
    if len(found.judges) > 1:
        names = ", ".join(f"{judge.provider}/{judge.model}" for judge in found.judges[:4])
        yield harmless(f"Several judges or rubrics gave the scores ({names}); they may not be comparable.")


_Pair = tuple[int, int]
_MOST_UNNAMED, _MOST_SYSTEMS_UNNAMED = 1_000, 20
"""With more items or systems it is not computed what independent items would show."""


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
        found, draws = dict[_Pair, _Test](), max(self.options.permutations, _DRAWS_PER_TEST * len(self.pairs))
        language = crc32(self.language.encode(errors="surrogatepass"))
        for first, second in self.pairs:
            evidence = equal_strength_scores(self.found, first, second, self.strengths)
            if evidence is None:
                continue
            sums, near = evidence.scores, None if self.read.names_clusters else evidence.neighbour_error()
            if near and not near.degrees:
                found[first, second] = _Test(None, 0.0, near.needed)
                continue
            seed = (self.options.seed, language, *sorted((first, second)))
            p, total = random_signs_p(sums, permutations=draws, seed=seed), abs(float(sums.sum()))
            error = math.sqrt(float(sums @ sums))
            if near:
                p, error = max(p, near.p(total)), max(error, near.error)
            found[first, second] = _Test(p, total / error if error else 0.0, near.needed if near else 0)
        return found

    @property
    def fewest(self) -> int:
        """The number of clusters that any test needs, whatever its level."""
        return _FEWEST_CLUSTERS if self.read.names_clusters else FEWEST

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
            may_be_related=not self.read.names_clusters,
            is_limited=self.strengths.is_limited,
            clusters_needed=max(self.fewest, _clusters_needed(self.options.alpha, family)),
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
        tally = self.found.tally
        wins, losses, ties = (
            round(float(each.sum())) for each in (tally.won[system], tally.won[:, system], tally.tied[system])
        )
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

    def _pair(self, pair: _Pair, adjusted: float | None, family: int) -> SystemPair:
        first, second = pair
        test, tally = self.tests.get(pair), self.found.tally
        wins, losses, ties = (
            round(float(each[place])) for each, place in ((tally.won, pair), (tally.won.T, pair), (tally.tied, pair))
        )
        verdict: PairVerdict = "not distinguished"
        if test is None:
            verdict = "not connected"
        elif adjusted is not None and adjusted < self.options.alpha:
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
        least = max(test.needed, _clusters_needed(self.options.alpha, family))
        if not test.errors:
            return least if test.p is None else None
        normal = NormalDist()
        wanted = normal.inv_cdf(1 - self.options.alpha / (2 * family)) + normal.inv_cdf(_POWER)
        needed = self.found.cluster_count * (wanted / test.errors) ** 2
        return max(math.ceil(needed), self.found.cluster_count + 1, least) if needed < _MOST_NEEDED else None


class _Test(NamedTuple):
    """The test of equal strength of two systems."""

    p: float | None
    """None with too few clusters."""
    errors: float
    """The difference in standard errors."""
    needed: int
    """The number of clusters that the test needs, if it is not the usual one."""


def _clusters_needed(alpha: float, family: int) -> int:
    """Return the minimum number of clusters with which any of a family of tests can reach `alpha`."""
    return max(_FEWEST_CLUSTERS, math.floor(1 - math.log2(alpha / max(family, 1))) + 1)
