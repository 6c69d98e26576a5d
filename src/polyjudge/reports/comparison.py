"""What changed between two runs over the same items: the numbers."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from polyjudge.errors import DataError
from polyjudge.files.baselines import Key, ScoredRun
from polyjudge.records import Figure
from polyjudge.records.comparison import (
    Change,
    Comparison,
    ComparisonOptions,
    Difference,
    ItemChange,
    ItemCounts,
    LanguageChange,
)
from polyjudge.statistics import benjamini_hochberg
from polyjudge.statistics.paired import (
    FEWEST_CLUSTERS,
    Clustered,
    alike_figure,
    alike_shares,
    clustered,
    detectable_difference,
    difference_figure,
    sign_flip_p,
)
from polyjudge.statistics.resampling import Codes, Floats, codes_of

_LANGUAGES_ALIKE = "languages alike"
"""Stands where a language would, so that its draws are its own."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Items with a verdict in both runs, sorted by language and id; a place in each array is one item."""

    keys: Sequence[Key]
    before: Floats
    after: Floats
    clusters: Codes

    @property
    def differences(self) -> Floats:
        return self.after - self.before

    def part(self, start: int, end: int) -> "_Pairs":
        return _Pairs(self.keys[start:end], self.before[start:end], self.after[start:end], self.clusters[start:end])

    def passing(self, bar: float) -> "_Pairs":
        return replace(self, before=np.float64(self.before >= bar), after=np.float64(self.after >= bar))


def compare_runs(
    before: ScoredRun, after: ScoredRun, options: ComparisonOptions, notes: Sequence[str] = ()
) -> Comparison:
    """Pair two runs by language and id, and say by language and over all what changed."""
    before, after = _with_languages(before, after), _with_languages(after, before)
    kinds = _kinds(before, after)
    pairs = _pairs(before, after, kinds["paired"])
    worse, better = _moved(pairs, options.show)
    return Comparison(
        before=str(before.path),
        after=str(after.path),
        judges_before=before.judges,
        judges_after=after.judges,
        notes=tuple(notes),
        options=options,
        overall=_overall(pairs, kinds, options),
        languages_alike=_alike(pairs, options),
        languages=_languages(pairs, kinds, options),
        worse=worse,
        better=better,
        newly_unjudged=_named(before, after, kinds["newly_unjudged"], options.show),
        newly_judged=_named(before, after, kinds["newly_judged"], options.show),
        missing=_named(before, after, sorted(kinds["missing_judged"] + kinds["missing"]), options.show),
        added=_named(before, after, kinds["added"], options.show),
    )


def _with_languages(run: ScoredRun, other: ScoredRun) -> ScoredRun:
    """Return a run that names no language with those that the other one gives to the same ids."""
    if any(language for language, _ in run.scores):
        return run
    languages: defaultdict[str, list[str]] = defaultdict(list)
    for language, item_id in other.scores:
        languages[item_id].append(language)
    keys = {key: (found[0], key[1]) for key in run.scores if len(found := languages.get(key[1], [])) == 1}
    scores = {keys.get(key, key): score for key, score in run.scores.items()}
    return replace(run, scores=scores, clusters={keys.get(key, key): name for key, name in run.clusters.items()})


def _kinds(before: ScoredRun, after: ScoredRun) -> Mapping[str, list[Key]]:
    """Sort all items by what became of them."""
    kinds: defaultdict[str, list[Key]] = defaultdict(list)
    for key in sorted(before.scores.keys() | after.scores.keys()):
        kinds[_kind(before.scores, after.scores, key)].append(key)
    if not kinds.keys() - {"missing", "missing_judged", "added"}:
        ids = [repr(next(iter(run.scores))[1][:40]) for run in (before, after)]
        raise DataError(
            f"no item of {before.path} is in {after.path}: items pair by language and id, and the first are "
            f"{' and '.join(ids)}"
        )
    return kinds


def _kind(before: Mapping[Key, float | None], after: Mapping[Key, float | None], key: Key) -> str:
    was = before.get(key) is not None
    if key not in after:
        return "missing_judged" if was else "missing"
    if key not in before:
        return "added"
    if after[key] is not None:
        return "paired" if was else "newly_judged"
    return "newly_unjudged" if was else "unjudged"


def _pairs(before: ScoredRun, after: ScoredRun, keys: Sequence[Key]) -> _Pairs:
    names = (after.clusters.get(key) or before.clusters.get(key) or key for key in keys)
    return _Pairs(
        keys,
        np.array([before.scores[key] for key in keys], dtype=np.float64),
        np.array([after.scores[key] for key in keys], dtype=np.float64),
        codes_of(list(names)),
    )


def _overall(pairs: _Pairs, kinds: Mapping[str, list[Key]], options: ComparisonOptions) -> LanguageChange:
    bar = options.pass_from
    return LanguageChange(
        language="",
        counts=_counts(pairs, Counter({kind: len(keys) for kind, keys in kinds.items()})),
        score=_judged(_difference(pairs, options), options),
        passes=None if bar is None else _judged(_difference(pairs.passing(bar), options), options),
    )


def _languages(pairs: _Pairs, kinds: Mapping[str, list[Key]], options: ComparisonOptions) -> tuple[LanguageChange, ...]:
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for kind, keys in kinds.items():
        for language, _ in keys:
            tallies[language][kind] += 1
    parts: dict[str, _Pairs] = {}
    start = 0
    for language in sorted(tallies):
        end = start + tallies[language]["paired"]
        parts[language], start = pairs.part(start, end), end
    scores = _by_language(parts, options)
    bar = options.pass_from
    passes = {} if bar is None else _by_language({tag: part.passing(bar) for tag, part in parts.items()}, options)
    return tuple(
        LanguageChange(language=tag, counts=_counts(part, tallies[tag]), score=scores[tag], passes=passes.get(tag))
        for tag, part in parts.items()
    )


def _by_language(parts: Mapping[str, _Pairs], options: ComparisonOptions) -> dict[str, Difference]:
    """Return the differences, their p adjusted over all languages that have items enough."""
    family = sum(len(np.unique(part.clusters)) >= fewest_clusters(options.alpha) for part in parts.values())
    found = {tag: _difference(part, options, tag, family) for tag, part in parts.items()}
    tested = {tag: each.p for tag, each in found.items() if each.p is not None}
    adjusted = dict(zip(tested, benjamini_hochberg(list(tested.values())), strict=True))
    return {tag: _judged(replace(each, adjusted_p=adjusted.get(tag)), options) for tag, each in found.items()}


def fewest_clusters(alpha: float) -> int:
    """Return with how few clusters the sign-flip test can reach `alpha` at all."""
    return max(FEWEST_CLUSTERS, math.floor(1 - math.log2(alpha)) + 1)


def _difference(pairs: _Pairs, options: ComparisonOptions, language: str = "", family: int = 1) -> Difference:
    """Return a measure's difference; of a family of tests, what can be detected is what stands out by itself."""
    sums = clustered(pairs.differences, pairs.clusters)
    figure = difference_figure(sums, resamples=options.resamples, seed=options.seed)
    return _tested(pairs, sums, figure, options, (language, family))


def _alike(pairs: _Pairs, options: ComparisonOptions) -> Difference:
    """Return the score's difference where each language counts alike."""
    if not pairs.keys:
        return _difference(pairs, options)
    moved, languages = pairs.differences, codes_of([language for language, _ in pairs.keys])
    figure = alike_figure(moved, pairs.clusters, languages, resamples=options.resamples, seed=options.seed)
    found = _tested(pairs, alike_shares(moved, pairs.clusters, languages), figure, options, (_LANGUAGES_ALIKE, 1))
    counts = np.bincount(languages)
    strays = (
        moved - (np.bincount(languages, weights=moved) / counts)[languages]
    )  # how far languages differ is no spread
    finds = detectable_difference(alike_shares(strays, pairs.clusters, languages), alpha=options.alpha)
    before, after = (_mean(each, 1 / counts[languages]) for each in (pairs.before, pairs.after))
    return _judged(replace(found, before=before, after=after, detectable=finds), options)


def _tested(
    pairs: _Pairs, sums: Clustered, figure: Figure, options: ComparisonOptions, test: tuple[str, int]
) -> Difference:
    language, family = test
    enough = len(sums.sums) >= fewest_clusters(options.alpha)
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


def _judged(found: Difference, options: ComparisonOptions) -> Difference:
    """Return a difference with what may be said of it."""
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
        paired=len(pairs.keys),
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


def _moved(pairs: _Pairs, most: int) -> tuple[tuple[ItemChange, ...], tuple[ItemChange, ...]]:
    """Return the items that fell and those that rose furthest; of equals, in the order of language and id."""
    by_change = {sign: np.argsort(sign * pairs.differences, kind="stable")[:most] for sign in (1, -1)}
    worse, better = (
        tuple(_change(pairs, int(place)) for place in places if sign * pairs.differences[place] < 0)
        for sign, places in by_change.items()
    )
    return worse, better


def _change(pairs: _Pairs, place: int) -> ItemChange:
    language, item_id = pairs.keys[place]
    before, after = float(pairs.before[place]), float(pairs.after[place])
    return ItemChange(id=item_id, language=language, before=before, after=after)


def _named(before: ScoredRun, after: ScoredRun, keys: Sequence[Key], most: int) -> tuple[ItemChange, ...]:
    return tuple(
        ItemChange(id=key[1], language=key[0], before=before.scores.get(key), after=after.scores.get(key))
        for key in keys[:most]
    )
