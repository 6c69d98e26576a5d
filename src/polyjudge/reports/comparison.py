"""Compare two runs over the same items."""

import dataclasses
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.scored_runs import (
    PAIRED_BY_SOURCE,
    Names,
    ScoredItem,
    ScoredItems,
    ScoredRun,
    paired_by_source,
    read_run,
)
from polyjudge.records.calibration import Figure
from polyjudge.records.comparison import (
    Change,
    Comparison,
    ComparisonOptions,
    Difference,
    ItemChange,
    ItemCounts,
    LanguageChange,
)
from polyjudge.statistics.intervals import benjamini_hochberg
from polyjudge.statistics.paired import (
    MIN_CLUSTERS,
    Clustered,
    clustered,
    detectable_difference,
    difference_figure,
    group_mean_figure,
    group_weighted,
    sign_flip_p,
)
from polyjudge.statistics.resampling import Codes, Floats
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.comparison import unlike


def comparison_notes(before: ScoredRun, after: ScoredRun) -> Iterator[str]:
    """Yield notes about the judges of two compared runs."""
    yield from unlike(before.judges, after.judges).values()
    unnamed = [str(run.path) for run in (before, after) if not run.judges]
    if len(unnamed) == 1:
        yield f"{unnamed[0]} does not say which judge gave its scores"


_LANGUAGES_EQUAL = "languages alike"
"""Stands for a language in the seed of a test over languages of equal weight."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Items with a verdict in both runs, sorted by language and id; each index of the arrays is one item."""

    before: Floats
    after: Floats
    clusters: Codes

    def __len__(self) -> int:
        return len(self.before)

    @property
    def differences(self) -> Floats:
        return self.after - self.before

    def part(self, start: int, end: int) -> "_Pairs":
        return _Pairs(self.before[start:end], self.after[start:end], self.clusters[start:end])

    def passing(self, threshold: float) -> "_Pairs":
        return dataclasses.replace(
            self, before=np.float64(self.before >= threshold), after=np.float64(self.after >= threshold)
        )


@dataclass(frozen=True, slots=True)
class _Items:
    """All items of both runs by kind of change."""

    pairs: _Pairs
    tallies: Mapping[str, Counter[str]]
    """The number of items of each kind, by language in order."""
    named: Mapping[str, Sequence[ItemChange]]
    """The first few items of each kind except paired ones."""

    @property
    def kinds(self) -> Counter[str]:
        return sum(self.tallies.values(), Counter[str]())

    @property
    def languages(self) -> Codes:
        """The language of each pair, as a number."""
        return np.repeat(np.arange(len(self.tallies)), [tally["paired"] for tally in self.tallies.values()])


def compare(
    before: ScoredRun | Path | str,
    after: ScoredRun | Path | str,
    *,
    score: str = "",
    cluster: str = "",
    allow_different: Collection[str] = (),
    options: ComparisonOptions | None = None,
) -> Comparison:
    """Compare two runs over the same items, given as files, baselines, or results of `read_run`.

    `score` names the column to compare, `cluster` the column of items that belong together. Scores of different judges
    or rubrics may not be comparable and are refused, unless `allow_different` contains "judge" or "rubric".
    """
    first, second = (
        run if isinstance(run, ScoredRun) else read_run(Path(run), measure=score, cluster=cluster)
        for run in (before, after)
    )
    if (first.measure or "score") != (second.measure or "score"):
        named = " and ".join(f"{run.path} has {run.measure or 'score'!r}" for run in (first, second))
        raise ConfigError(
            harmless(f"the runs have different scores: {named}; choose the same column for both"), option="score"
        )
    found = unlike(first.judges, second.judges)
    refused = {kind: difference for kind, difference in found.items() if kind not in allow_different}
    if refused:
        differences = one_line("; ".join(refused.values()), _MAX_MESSAGE)
        needed = "both" if len(refused) > 1 else next(iter(refused))
        message = f"{differences}. The scores may not be comparable. Allow the difference to compare them"
        raise ConfigError(message, option="allow_different", value=needed)
    return compare_runs(first, second, options or ComparisonOptions(), tuple(comparison_notes(first, second)))


_MAX_MESSAGE = 400


def compare_runs(
    before: ScoredRun, after: ScoredRun, options: ComparisonOptions, notes: Sequence[str] = ()
) -> Comparison:
    """Pair two runs by language and id, or by source, and compare them over all items and by language."""
    by_source = paired_by_source(before, after)
    if by_source is not None:
        (before, after), notes = by_source, (*notes, PAIRED_BY_SOURCE)
    before, after = _with_languages(before, after), _with_languages(after, before)
    items = _paired_items(before, after, options.show)
    worse, better = _largest_changes(before, after, items.pairs, options.show)
    return Comparison(
        before=str(before.path),
        after=str(after.path),
        judges_before=before.judges,
        judges_after=after.judges,
        notes=tuple(notes),
        options=options,
        overall=_overall(items, options),
        languages_alike=_languages_equal(items.pairs, items.languages, options),
        languages=_languages(items, options),
        worse=worse,
        better=better,
        **{kind: tuple(items.named.get(kind, ())) for kind in ("newly_unjudged", "newly_judged", "missing", "added")},
    )


def _with_languages(run: ScoredRun, other: ScoredRun) -> ScoredRun:
    """Add the languages of the other run, by id, to a run without languages."""
    if run.items.names_languages or not other.items.names_languages:
        return run
    return dataclasses.replace(
        run, items=ScoredItems(item._replace(language=other.items.only_language(item.id)) for item in run.items)
    )


_ItemPair = tuple[ScoredItem | None, ScoredItem | None]
"""One item before and after; None where it is missing."""


def _joined(before: ScoredRun, after: ScoredRun) -> Iterator[_ItemPair]:
    """Yield the items of both runs, merged by language and id."""
    rest_before, rest_after = iter(before.items), iter(after.items)
    was, now = next(rest_before, None), next(rest_after, None)
    while was is not None or now is not None:
        is_gone = now is None or (was is not None and was.key < now.key)
        is_added = was is None or (now is not None and now.key < was.key)
        yield None if is_added else was, None if is_gone else now
        if not is_added:
            was = next(rest_before, None)
        if not is_gone:
            now = next(rest_after, None)


def _paired_items(before: ScoredRun, after: ScoredRun, show: int) -> _Items:
    scores_before, scores_after, clusters = array("d"), array("d"), _Clusters()
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    named: defaultdict[str, list[ItemChange]] = defaultdict(list)
    for was, now in _joined(before, after):
        kind, change = _kind(was, now), _change(was, now)
        tallies[change.language][kind] += 1
        if change.before is not None and change.after is not None:
            scores_before.append(change.before)
            scores_after.append(change.after)
            clusters.add((now and now.cluster) or (was and was.cluster) or "")
        elif len(few := named["missing" if kind == "missing_judged" else kind]) < show:
            few.append(change)
    if not any(tally.keys() - {"missing", "missing_judged", "added"} for tally in tallies.values()):
        ids = [repr(next(iter(run.items)).id[:40]) for run in (before, after)]
        raise DataError(
            f"no common items in {before.path} and {after.path}: items are matched by language and id, and the first "
            f"are {' and '.join(ids)}"
        )
    pairs = _Pairs(np.frombuffer(scores_before), np.frombuffer(scores_after), clusters.codes())
    return _Items(pairs, tallies, named)


def _kind(was: ScoredItem | None, now: ScoredItem | None) -> str:
    was_judged = was is not None and was.score is not None
    if now is None:
        return "missing_judged" if was_judged else "missing"
    if was is None:
        return "added"
    if now.score is not None:
        return "paired" if was_judged else "newly_judged"
    return "newly_unjudged" if was_judged else "unjudged"


def _change(was: ScoredItem | None, now: ScoredItem | None) -> ItemChange:
    language, item_id = (was or now or ScoredItem("", "")).key
    return ItemChange(id=item_id, language=language, before=was and was.score, after=now and now.score)


class _Clusters:
    """Numbers the clusters of items: named ones in the order of names, then each other item separately."""

    def __init__(self) -> None:
        self._names = Names()
        self._numbers = array("q")

    def add(self, name: str) -> None:
        self._numbers.append(self._names.number(name) if name else -1)

    def codes(self) -> Codes:
        numbers = np.frombuffer(self._numbers, dtype=np.int64)
        order = np.fromiter(self._names.in_order(), dtype=np.int64)
        ranks = np.empty(len(order) + 1, dtype=np.int64)
        ranks[order] = np.arange(len(order))
        alone = numbers < 0
        return np.where(alone, len(order) + np.cumsum(alone) - 1, ranks[numbers])


def _overall(items: _Items, options: ComparisonOptions) -> LanguageChange:
    pairs, threshold = items.pairs, options.pass_from
    return LanguageChange(
        language="",
        counts=_counts(pairs, items.kinds),
        score=_with_verdict(_difference(pairs, options), options),
        passes=None if threshold is None else _with_verdict(_difference(pairs.passing(threshold), options), options),
    )


def _languages(items: _Items, options: ComparisonOptions) -> tuple[LanguageChange, ...]:
    tallies = items.tallies
    parts: dict[str, _Pairs] = {}
    start = 0
    for language, tally in tallies.items():
        end = start + tally["paired"]
        parts[language], start = items.pairs.part(start, end), end
    scores = _by_language(parts, options)
    threshold = options.pass_from
    passes = (
        {}
        if threshold is None
        else _by_language({tag: part.passing(threshold) for tag, part in parts.items()}, options)
    )
    return tuple(
        LanguageChange(language=tag, counts=_counts(part, tallies[tag]), score=scores[tag], passes=passes.get(tag))
        for tag, part in parts.items()
    )


def _by_language(parts: Mapping[str, _Pairs], options: ComparisonOptions) -> dict[str, Difference]:
    """Return the difference of each language, with p adjusted over all languages with enough items."""
    family = sum(len(np.unique(part.clusters)) >= min_clusters(options.alpha) for part in parts.values())
    found = {tag: _difference(part, options, tag, family) for tag, part in parts.items()}
    tested = {tag: each.p for tag, each in found.items() if each.p is not None}
    adjusted = dict(zip(tested, benjamini_hochberg(list(tested.values())), strict=True))
    return {tag: _with_verdict(replace(each, adjusted_p=adjusted.get(tag)), options) for tag, each in found.items()}


def min_clusters(alpha: float) -> int:
    """Return the minimum number of clusters with which the sign-flip test can reach `alpha`."""
    return max(MIN_CLUSTERS, math.floor(1 - math.log2(alpha)) + 1)


def _difference(pairs: _Pairs, options: ComparisonOptions, language: str = "", family: int = 1) -> Difference:
    """Return the difference of a measure; its detectable change is corrected for a family of tests."""
    sums = clustered(pairs.differences, pairs.clusters)
    figure = difference_figure(sums, resamples=options.resamples, seed=options.seed)
    return _tested(pairs, sums, figure, options, (language, family))


def _languages_equal(pairs: _Pairs, languages: Codes, options: ComparisonOptions) -> Difference:
    """Return the difference of scores with equal weight of each language."""
    if not len(pairs):
        return _difference(pairs, options)
    _, languages = np.unique(languages, return_inverse=True)  # some languages may have no pairs
    differences = pairs.differences
    figure = group_mean_figure(differences, pairs.clusters, languages, resamples=options.resamples, seed=options.seed)
    found = _tested(
        pairs, group_weighted(differences, pairs.clusters, languages), figure, options, (_LANGUAGES_EQUAL, 1)
    )
    counts = np.bincount(languages)
    residuals = (
        differences - (np.bincount(languages, weights=differences) / counts)[languages]
    )  # differences between languages are not noise
    detectable = detectable_difference(group_weighted(residuals, pairs.clusters, languages), alpha=options.alpha)
    before, after = (_mean(each, 1 / counts[languages]) for each in (pairs.before, pairs.after))
    return _with_verdict(replace(found, before=before, after=after, detectable=detectable), options)


def _tested(
    pairs: _Pairs, sums: Clustered, figure: Figure, options: ComparisonOptions, test: tuple[str, int]
) -> Difference:
    language, family = test
    enough = len(sums.sums) >= min_clusters(options.alpha)
    seed = (options.seed, crc32(language.encode(errors="surrogatepass")))
    return Difference(
        before=_mean(pairs.before),
        after=_mean(pairs.after),
        difference=figure if enough else Figure(figure.value),
        p=sign_flip_p(sums.sums, permutations=options.permutations, seed=seed) if enough else None,
        adjusted_p=None,
        detectable=detectable_difference(sums, alpha=options.alpha / family) if enough else None,
        verdict="too few items",
    )


def _with_verdict(found: Difference, options: ComparisonOptions) -> Difference:
    """Add the verdict to a difference."""
    p = found.p if found.adjusted_p is None else found.adjusted_p
    verdict: Change = "no change seen"
    if p is None:
        verdict = "too few items"
    elif p < options.alpha and found.difference.value:
        verdict = "worse" if found.difference.value < 0 else "better"
    return replace(found, verdict=verdict)


def _mean(values: Floats, weights: Floats | None = None) -> float | None:
    return float(np.average(values, weights=weights)) if len(values) else None


def _counts(pairs: _Pairs, kinds: Mapping[str, int]) -> ItemCounts:
    return ItemCounts(
        paired=len(pairs),
        clusters=len(np.unique(pairs.clusters)),
        better=int((pairs.differences > 0).sum()),
        worse=int((pairs.differences < 0).sum()),
        newly_unjudged=kinds.get("newly_unjudged", 0),
        newly_judged=kinds.get("newly_judged", 0),
        unjudged=kinds.get("unjudged", 0),
        missing=kinds.get("missing", 0) + kinds.get("missing_judged", 0),
        missing_judged=kinds.get("missing_judged", 0),
        added=kinds.get("added", 0),
    )


def _largest_changes(
    before: ScoredRun, after: ScoredRun, pairs: _Pairs, most: int
) -> tuple[tuple[ItemChange, ...], tuple[ItemChange, ...]]:
    """Return the items that fell and rose most; ties in the order of language and id."""
    differences = pairs.differences
    fell, rose = (
        [int(index) for index in np.argsort(values, kind="stable")[:most] if values[index] < 0]
        for values in (differences, -differences)
    )
    found = _pairs_at({*fell, *rose}, before, after)
    return tuple(found[index] for index in fell), tuple(found[index] for index in rose)


def _pairs_at(indexes: set[int], before: ScoredRun, after: ScoredRun) -> dict[int, ItemChange]:
    """Return the pairs at some indexes; this reads the runs again, because only scores are in memory."""
    if not indexes:
        return {}
    both = (_change(was, now) for was, now in _joined(before, after) if _kind(was, now) == "paired")
    return {index: change for index, change in enumerate(both) if index in indexes}
