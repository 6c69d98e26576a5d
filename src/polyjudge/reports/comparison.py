"""Compare two runs over the same items."""

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.formats.scored_runs import (
    PAIRED_BY_SOURCE,
    ScoredItems,
    ScoredRun,
    paired_by_source,
    read_run,
)
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Figure
from polyjudge.records.comparison import (
    Change,
    Comparison,
    ComparisonOptions,
    Difference,
    ItemCounts,
    LanguageChange,
)
from polyjudge.statistics.intervals import benjamini_hochberg, t_quantile
from polyjudge.statistics.neighbours import FEWEST, NeighbourError, neighbour_error
from polyjudge.statistics.paired import (
    MIN_CLUSTERS,
    Clustered,
    clustered,
    detectable_difference,
    difference_figure,
    errors_needed,
    group_mean_figure,
    group_weighted,
    sign_flip_p,
)
from polyjudge.statistics.resampling import Codes, Floats, hull
from polyjudge.store.trust_cards import trust_in
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.comparison import unlike
from polyjudge.verdicts.items import OFFLINE, STATUSES, Status
from polyjudge.verdicts.translation import group_status
from polyjudge.verdicts.trust import JudgeTrust, untrusted

from .paired_items import PairedItems, Pairs, largest_changes, paired_items, with_texts
from .tallies import judge_title


def comparison_notes(before: ScoredRun, after: ScoredRun) -> Iterator[str]:
    """Yield notes about the judges of two compared runs."""
    yield from unlike(before.judges, after.judges).values()
    unnamed = [str(run.path) for run in (before, after) if not run.judges]
    if len(unnamed) == 1:
        yield f"{unnamed[0]} does not say which judge gave its scores"
    if before.is_averaged or after.is_averaged:
        yield "several people rated an item; the mean of their ratings is compared"


_LANGUAGES_EQUAL = "languages alike"
"""Stands for a language in the seed of a test over languages of equal weight."""


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
    measures = [run.measure or run.default_measure or "score" for run in (first, second)]
    if measures[0] != measures[1]:
        named = " and ".join(f"{run.path} has {name!r}" for run, name in zip((first, second), measures, strict=True))
        raise ConfigError(
            harmless(f"the runs were read with different score columns: {named}. Choose one column for both"),
            option="score",
        )
    found = unlike(first.judges, second.judges)
    refused = {kind: difference for kind, difference in found.items() if kind not in allow_different}
    if refused:
        differences = one_line("; ".join(refused.values()), _MAX_MESSAGE)
        needed = "both" if len(refused) > 1 else next(iter(refused))
        message = f"{differences}. The scores may not be comparable. To compare them anyway, allow the difference"
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
    items = paired_items(before, after, options.show)
    languages, overall = _languages(items, options), _overall(items, options)
    changed = {kind: {row.language for row in languages if row.score.verdict == kind} for kind in ("worse", "better")}
    worse, better = largest_changes(after, items, options.show, changed)
    shown = {"worse": worse, "better": better, **{kind: tuple(items.named.get(kind, ())) for kind in _NAMED}}
    return Comparison(
        before=str(before.path),
        after=str(after.path),
        name_before=_name(before, after),
        name_after=_name(after, before),
        judges_before=before.judges,
        judges_after=after.judges,
        notes=(*notes, *_neighbour_note(items)),
        options=options,
        overall=overall,
        languages_alike=_languages_equal(items.pairs, items.languages, options),
        if_independent=_if_independent(items.pairs, overall.score, options),
        languages=_with_statuses(languages, before, after),
        clusters_needed=_needed((*languages, overall), options),
        clusters_with_documents=min_clusters(options.alpha),
        **with_texts(shown, before, after, by_source=by_source is not None),
    )


def _neighbour_note(items: PairedItems) -> Iterator[str]:
    """Yield a note if neighbouring items may belong together."""
    if items.pairs.may_be_related:
        yield (
            f"no column names the documents, so rows near each other may belong together: at least {FEWEST} items are "
            "needed, and a difference must be clearer. Set cluster to the column of documents, or to none if the items "
            "are independent"
        )


def _needed(rows: Sequence[LanguageChange], options: ComparisonOptions) -> int:
    """Return the number of clusters below which nothing can be said: the largest of the rows that have too few."""
    few = [row.score.clusters_needed for row in rows if row.score.verdict == "too few items"]
    return max(few, default=min((row.score.clusters_needed for row in rows), default=min_clusters(options.alpha)))


_MOST_UNNAMED = 1_000
"""With more items the documents cost little, and the difference of independent items would say little more."""


def _if_independent(pairs: Pairs, found: Difference, options: ComparisonOptions) -> Difference | None:
    """Return the difference of independent items, if nothing was found because the documents are not named."""
    if not pairs.may_be_related or found.verdict in ("better", "worse") or len(pairs) > _MOST_UNNAMED:
        return None
    alone = _with_verdict(_difference(dataclasses.replace(pairs, may_be_related=False), options), options)
    return None if alone.p is None else alone


_NAMED = ("newly_unjudged", "newly_judged", "missing", "added")


def _name(run: ScoredRun, other: ScoredRun) -> str:
    """Return the name of a run; that of its file if both runs have the same."""
    return run.name if run.name and run.name != other.name else str(run.path)


def _with_statuses(
    languages: Sequence[LanguageChange], before: ScoredRun, after: ScoredRun
) -> tuple[LanguageChange, ...]:
    """Add the status of each language in both runs, and why its scores are not reliable."""
    trusts = [
        {judge_title(judge): trust_in(judge) for judge in run.judges if judge.provider != OFFLINE}
        for run in (before, after)
    ]
    return tuple(
        replace(
            each,
            status_before=_status(before, each.language, trusts[0]),
            status_after=_status(after, each.language, trusts[1]),
            unreliable=next(filter(None, (_unreliable(trust, each.language) for trust in trusts)), ""),
        )
        for each in languages
    )


def _unreliable(trust: Mapping[str, JudgeTrust], language: str) -> str:
    return untrusted(trust, list(trust), language, language_table()) if language else ""


def _status(run: ScoredRun, language: str, trust: Mapping[str, JudgeTrust]) -> Status | None:
    """Return the status of a language; None if no score passes or fails."""
    counts = run.passes.get(language)
    if not counts:
        return None
    passing: Status = "CHECKED" if run.judges and not trust else "PASS"
    statuses: dict[Status, int] = dict.fromkeys(STATUSES, 0)
    statuses |= {passing: counts[True], "FAIL": counts[False]}
    return group_status(statuses, counts[None], unreliable=bool(_unreliable(trust, language)))


def _with_languages(run: ScoredRun, other: ScoredRun) -> ScoredRun:
    """Add the languages of the other run, by id, to a run without languages."""
    if run.items.names_languages or not other.items.names_languages:
        return run
    return dataclasses.replace(
        run, items=ScoredItems(item._replace(language=other.items.only_language(item.id)) for item in run.items)
    )


def _overall(items: PairedItems, options: ComparisonOptions) -> LanguageChange:
    pairs, threshold = items.pairs, options.pass_from
    return LanguageChange(
        language="",
        counts=_counts(pairs, items.kinds),
        score=_with_verdict(_difference(pairs, options), options),
        passes=None if threshold is None else _with_verdict(_difference(pairs.passing(threshold), options), options),
    )


def _languages(items: PairedItems, options: ComparisonOptions) -> tuple[LanguageChange, ...]:
    tallies = items.tallies
    parts: dict[str, Pairs] = {}
    start = 0
    for language, tally in tallies.items():
        parts[language] = items.pairs.part(start, start := start + tally["paired"])
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


def _by_language(parts: Mapping[str, Pairs], options: ComparisonOptions) -> dict[str, Difference]:
    """Return the difference of each language, with p adjusted over all languages with enough items."""
    least = FEWEST if any(part.may_be_related for part in parts.values()) else min_clusters(options.alpha)
    family = sum(len(np.unique(part.clusters)) >= least for part in parts.values())
    found = {tag: _difference(part, options, tag, family) for tag, part in parts.items()}
    tested = {tag: each.p for tag, each in found.items() if each.p is not None}
    adjusted = dict(zip(tested, benjamini_hochberg(list(tested.values())), strict=True))
    return {tag: _with_verdict(replace(each, adjusted_p=adjusted.get(tag)), options) for tag, each in found.items()}


def min_clusters(alpha: float) -> int:
    """Return the minimum number of clusters with which the sign-flip test can reach `alpha`."""
    return max(MIN_CLUSTERS, math.floor(1 - math.log2(alpha)) + 1)


def _difference(pairs: Pairs, options: ComparisonOptions, language: str = "", family: int = 1) -> Difference:
    """Return the difference of a measure; its detectable change is corrected for a family of tests."""
    sums = clustered(pairs.differences, pairs.clusters)
    figure = difference_figure(sums, resamples=options.resamples, seed=options.seed)
    return _tested(pairs, sums, figure, options, (language, family))


def _languages_equal(pairs: Pairs, languages: Codes, options: ComparisonOptions) -> Difference:
    """Return the difference of scores with equal weight of each language."""
    if not len(pairs):
        return _difference(pairs, options)
    _, languages = np.unique(languages, return_inverse=True)  # some languages may have no pairs
    differences = pairs.differences
    figure = group_mean_figure(differences, pairs.clusters, languages, resamples=options.resamples, seed=options.seed)
    counts = np.bincount(languages)
    residuals = (
        differences - (np.bincount(languages, weights=differences) / counts)[languages]
    )  # differences between languages are not noise
    spread = group_weighted(residuals, pairs.clusters, languages)
    sums, test = group_weighted(differences, pairs.clusters, languages), (_LANGUAGES_EQUAL, 1)
    found = _tested(pairs, sums, figure, options, test, spread)
    before, after = (_mean(each, 1 / counts[languages]) for each in (pairs.before, pairs.after))
    return _with_verdict(replace(found, before=before, after=after), options)


def _tested(
    pairs: Pairs,
    sums: Clustered,
    figure: Figure,
    options: ComparisonOptions,
    test: tuple[str, int],
    spread: Clustered | None = None,
) -> Difference:
    """Return a tested difference; `spread` is what is noise, if that is not all of the sums."""
    language, family = test
    near = neighbour_error(sums.sums, sums.counts) if pairs.may_be_related else None
    needed = max(min_clusters(options.alpha), near.needed if near else 0)
    found = Difference(
        before=_mean(pairs.before),
        after=_mean(pairs.after),
        difference=Figure(figure.value),
        p=None,
        adjusted_p=None,
        detectable=None,
        verdict="too few items",
        clusters_needed=needed,
    )
    if len(sums.sums) < needed:
        return found
    seed = (options.seed, crc32(language.encode(errors="surrogatepass")))
    p = sign_flip_p(sums.sums, permutations=options.permutations, seed=seed)
    detectable = detectable_difference(spread or sums, alpha=options.alpha / family)
    if near:
        figure, p = hull(figure, _near_figure(sums, near)), max(p, near.p(float(sums.sums.sum())))
        least = errors_needed(near.degrees, options.alpha / family) * near.error / float(sums.counts.sum())
        detectable = None if detectable is None else max(detectable, least)
    return replace(found, difference=figure, p=p, detectable=detectable)


def _near_figure(sums: Clustered, near: NeighbourError) -> Figure:
    """Return the mean with its interval if neighbours may belong together."""
    half = t_quantile(near.degrees) * near.error / float(sums.counts.sum())
    return Figure(sums.mean, sums.mean - half, sums.mean + half)


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


def _counts(pairs: Pairs, kinds: Mapping[str, int]) -> ItemCounts:
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
