"""Does a judge's score fall as a text gets worse? Per kind of spoiling and language, with intervals.

All intervals come from drawing texts with replacement (bootstrap). Over all languages each language counts alike, for
a judge's raw scores in two languages cannot be compared.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyjudge.records import ControlResult, CurvePoint, Figure, MonotonicityResult, Sensitivity
from polyjudge.statistics import RunningMean, wilson_interval

Floats: TypeAlias = NDArray[np.float64]
SENSITIVE_FROM = 0.7
"""A judge must score the clean text above the spoiled one so often to be called sensitive to a kind of spoiling."""
NOTICEABLE = 0.05
"""Share of the scale that a score must fall by to count as noticed, or as a false alarm."""
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Ladder:
    """The scores of one language's texts: a row a text, a column a severity, the first of them 0; nan where unknown."""

    severities: tuple[float, ...]
    scores: Floats
    """From 0, the worst of the scale, to 1, the best."""
    unjudged: int = 0

    @property
    def both_ends(self) -> NDArray[np.bool_]:
        """Which texts were judged clean and wholly spoiled."""
        return ~np.isnan(self.scores[:, 0]) & ~np.isnan(self.scores[:, -1])


@dataclass(frozen=True, slots=True)
class Measured:
    """Each number once as measured, in the first place, and once for each resample."""

    result: MonotonicityResult
    auc: Floats
    drop: Floats
    rank_correlation: Floats
    violations: Floats
    curve: Floats
    """A row a resample, a column a severity."""
    won: int
    """Texts that score higher clean than spoiled."""
    lost: int


def drawn(count: int, *, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Return how often each of so many contents is drawn: first once each, then in every resample."""
    if not count:
        return np.ones((resamples + 1, 0))
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    return np.vstack([np.ones(count), draws]).astype(np.float64)


def measure(perturbation: str, language: str, ladder: Ladder, weights: Floats) -> Measured:
    """Return what the scores of one language say of one kind of spoiling."""
    usable = ladder.both_ends
    scores, drawn_now = ladder.scores[usable], weights[:, usable]
    auc = _auc(scores[:, 0], scores[:, -1], drawn_now)
    drop = _weighted_mean(scores[:, 0] - scores[:, -1], drawn_now)
    falls = [_rank_correlation(row, ladder.severities) for row in scores]
    rank_correlation = _weighted_mean(np.array(falls, dtype=np.float64), drawn_now)
    violations = _violations(scores, drawn_now)
    curve = np.column_stack([_weighted_mean(column, drawn_now) for column in scores.T])
    won, lost = int((scores[:, 0] > scores[:, -1]).sum()), int((scores[:, 0] < scores[:, -1]).sum())
    auc_figure = _widened(interval_of(auc), won, lost, len(scores))
    result = MonotonicityResult(
        perturbation=perturbation,
        language=language,
        texts=int(usable.sum()),
        unjudged=ladder.unjudged,
        auc=auc_figure,
        drop=interval_of(drop),
        rank_correlation=interval_of(rank_correlation),
        violations=interval_of(violations),
        noticed_from=interval_of(_noticed_from(curve, ladder.severities), never=True),
        verdict=sensitivity(auc_figure, SENSITIVE_FROM),
    )
    return Measured(result, auc, drop, rank_correlation, violations, curve, won, lost)


def over_languages(
    perturbation: str, measured: Sequence[Measured], severities: tuple[float, ...]
) -> MonotonicityResult:
    """Return one kind of spoiling over all languages, each counting alike."""
    curve = _average([each.curve for each in measured])
    texts = sum(each.result.texts for each in measured)
    won, lost = sum(each.won for each in measured), sum(each.lost for each in measured)
    auc = _widened(interval_of(_average([each.auc for each in measured])), won, lost, texts)
    return MonotonicityResult(
        perturbation=perturbation,
        texts=texts,
        unjudged=sum(each.result.unjudged for each in measured),
        auc=auc,
        drop=interval_of(_average([each.drop for each in measured])),
        rank_correlation=interval_of(_average([each.rank_correlation for each in measured])),
        violations=interval_of(_average([each.violations for each in measured])),
        noticed_from=interval_of(_noticed_from(curve, severities), never=True),
        verdict=sensitivity(auc, SENSITIVE_FROM),
        languages=dict(Counter(each.result.verdict for each in measured)),
        curve=tuple(
            CurvePoint(severity=severity, score=interval_of(column))
            for severity, column in zip(severities, curve.T, strict=True)
        ),
    )


def control_result(control: str, language: str, clean: Floats, changed: Floats, weights: Floats) -> ControlResult:
    """Return whether a change that is none to a reader moves the score."""
    usable = ~np.isnan(clean) & ~np.isnan(changed)
    falls = clean[usable] - changed[usable]
    alarms = falls >= NOTICEABLE
    rate = wilson_interval(int(alarms.sum()), int(usable.sum()))
    value = float(alarms.mean()) if len(alarms) else None
    return ControlResult(
        control=control,
        language=language,
        texts=int(usable.sum()),
        false_alarms=Figure(value, rate.low if rate else None, rate.high if rate else None),
        shift=interval_of(-_weighted_mean(falls, weights[:, usable])),
    )


def sensitivity(figure: Figure, least: float) -> Sensitivity:
    """Say on which side of a bar a figure lies; with the bar inside its interval there is not enough data."""
    if figure.low is None or figure.high is None:
        return "not enough data"
    if figure.low >= least:
        return "sensitive"
    return "insensitive" if figure.high < least else "not enough data"


def interval_of(replicates: Floats, *, never: bool = False) -> Figure:
    """Return the first replicate with the 95% interval of the rest; infinite, where it may be, stands for never."""
    value, rest = float(replicates[0]), replicates[1:]
    rest = rest[~np.isnan(rest)]
    if np.isnan(value):
        return Figure()
    low, high = np.quantile(rest, [0.025, 0.975], method="inverted_cdf") if len(rest) else (np.nan, np.nan)
    shown = [None if not np.isfinite(each) else round(float(each), 4) + 0.0 for each in (value, low, high)]
    return Figure() if never and shown[0] is None else Figure(*shown)


def discrimination(rows: Mapping[str, Ladder]) -> tuple[Figure, int, int]:
    """Return how often a clean text scores above its own spoiled versions, over all kinds; texts; and comparisons.

    Each text gives one number, the mean over its kinds; the interval is of their mean, by Student's t, but never
    narrower than so many comparisons allow.
    """
    wins = {kind: _wins(ladder) for kind, ladder in rows.items()}
    if not wins:
        return Figure(), 0, 0
    table: Floats = np.vstack(list(wins.values()))
    seen = ~np.isnan(table)
    comparisons, by_text = int(seen.sum()), RunningMean()
    for column in table[:, seen.any(axis=0)].T:
        by_text.add(float(column[~np.isnan(column)].mean()))
    interval = by_text.interval()
    if interval is None:
        return Figure(), by_text.count, comparisons
    figure = Figure(round(by_text.mean, 4), max(0.0, round(interval.low, 4)), min(1.0, round(interval.high, 4)))
    won, lost = int((table == 1).sum()), int((table == 0).sum())
    return _widened(figure, won, lost, comparisons), by_text.count, comparisons


def _wins(ladder: Ladder) -> Floats:
    """Return per text 1 where the clean version scores higher, 0 where the spoiled one does, a half where neither."""
    return (np.sign(ladder.scores[:, 0] - ladder.scores[:, -1]) + 1) / 2


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    known = ~np.isnan(values)
    total = weights[:, known].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, weights[:, known] @ values[known] / total, np.nan)


def _auc(clean: Floats, spoiled: Floats, weights: Floats) -> Floats:
    """Return, per resample, how often one of the clean texts scores above one of the spoiled ones."""
    above = (np.sign(clean[:, None] - spoiled[None, :]) + 1) / 2
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, ((weights @ above) * weights).sum(axis=1) / total**2, np.nan)


def _rank_correlation(scores: Floats, severities: Sequence[float]) -> float:
    """Return Spearman's correlation of severity and score; a score that never moves has none, which is 0."""
    known = ~np.isnan(scores)
    if known.sum() < 2:
        return float("nan")
    ranks, steps = _ranks(scores[known]), _ranks(np.array(severities)[known])
    ranks, steps = ranks - ranks.mean(), steps - steps.mean()
    spread = np.sqrt((ranks**2).sum() * (steps**2).sum())
    return float((ranks * steps).sum() / spread) if spread else 0.0


def _ranks(values: Floats) -> Floats:
    """Return the ranks, the mean of those that tied values share."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _violations(scores: Floats, weights: Floats) -> Floats:
    """Return, per resample, at which share of the steps between known severities the score rises."""
    rises, steps = np.zeros(len(scores)), np.zeros(len(scores))
    for place, row in enumerate(scores):
        known = row[~np.isnan(row)]
        rises[place], steps[place] = int((np.diff(known) > 0).sum()), len(known) - 1
    total = weights @ steps
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, weights @ rises / total, np.nan)


def _noticed_from(curve: Floats, severities: Sequence[float]) -> Floats:
    """Return, per resample, the lowest severity from which on the mean has fallen noticeably; infinite for never."""
    fallen = curve[:, :1] - curve >= NOTICEABLE
    from_here_on = np.flip(np.logical_and.accumulate(np.flip(fallen | np.isnan(curve), axis=1), axis=1), axis=1)
    found = np.where(from_here_on & fallen, np.array(severities), np.inf)
    return found.min(axis=1)


def _widened(figure: Figure, won: int, lost: int, count: int) -> Figure:
    """Return the interval of a share of wins, ties halved, at least as wide as counts of this size allow.

    Drawing few texts again cannot show how far off they might be: six that all agree would
    have no interval at all. Wins and losses each have Wilson's interval, and the two are joined by the distances of
    their bounds (Newcombe).
    """
    wins, losses = wilson_interval(won, count), wilson_interval(lost, count)
    if figure.value is None or wins is None or losses is None:
        return figure
    won_share, lost_share = won / count, lost / count
    middle = (won_share - lost_share) / 2
    low = 0.5 + middle - ((won_share - wins.low) ** 2 + (losses.high - lost_share) ** 2) ** 0.5 / 2
    high = 0.5 + middle + ((wins.high - won_share) ** 2 + (lost_share - losses.low) ** 2) ** 0.5 / 2
    lows, highs = [max(0.0, low), figure.low], [min(1.0, high), figure.high]
    return Figure(
        figure.value,
        round(min(each for each in (*lows, figure.value) if each is not None), 4),
        round(max(each for each in (*highs, figure.value) if each is not None), 4),
    )


def _average(replicates: Sequence[Floats]) -> Floats:
    """Return the mean over languages of each resample; a language without a value does not count."""
    table = np.stack(replicates)
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known.any(axis=0), np.nansum(table, axis=0) / known.sum(axis=0), np.nan)
