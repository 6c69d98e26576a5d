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

from polyjudge.records.calibration import ControlResult, CurvePoint, Figure, MonotonicityResult, Reliability
from polyjudge.statistics.intervals import RunningMean, wilson_interval
from polyjudge.statistics.small_samples import ENOUGH_TO_DRAW, hull, interval_of, mean_of, share_of_wins

Floats: TypeAlias = NDArray[np.float64]
NOTICED_FROM = 0.7
"""A judge must score the clean text above the spoiled one so often to be called sensitive to a kind of spoiling."""
NOTICEABLE = 0.05
"""Share of the scale that a score must fall by to count as noticed, or as a false alarm."""
FEWEST_TEXTS = 5
"""Fewer texts give no verdict on a kind, however clear it seems."""
RESAMPLES = 1000
_BARELY = 1e-9
"""A fall by exactly the noticeable share counts, whatever its last digit in binary."""


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
    noticed: Floats
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
    clean, spoiled, count = scores[:, 0], scores[:, -1], len(scores)
    falls = np.array([_rank_correlation(row, ladder.severities) for row in scores], dtype=np.float64)
    auc, drop = _auc(clean, spoiled, drawn_now), _weighted_mean(clean - spoiled, drawn_now)
    rank_correlation, violations = _weighted_mean(falls, drawn_now), _violations(scores, drawn_now)
    curve = np.column_stack([_weighted_mean(column, drawn_now) for column in scores.T])
    won, lost = int((clean > spoiled).sum()), int((clean < spoiled).sum())
    drawn_noticed = _weighted_mean((np.sign(clean - spoiled) + 1) / 2, drawn_now)
    noticed, drawn_auc = share_of_wins(won, lost, count), interval_of(auc)
    result = MonotonicityResult(
        perturbation=perturbation,
        language=language,
        texts=count,
        unjudged=ladder.unjudged,
        noticed=noticed,
        auc=hull(drawn_auc, _wilson(drawn_auc.value, count)),
        drop=mean_of(clean - spoiled, drop),
        rank_correlation=mean_of(falls, rank_correlation),
        violations=interval_of(violations) if count > 1 else Figure(interval_of(violations).value),
        noticed_from=interval_of(_noticed_from(curve, ladder.severities), never=True),
        verdict=verdict_of(noticed, NOTICED_FROM, enough=count >= FEWEST_TEXTS),
    )
    return Measured(result, auc, drop, rank_correlation, violations, curve, drawn_noticed, won, lost)


def _wilson(rate: float | None, count: int) -> Figure:
    interval = wilson_interval(rate * count, count) if rate is not None else None
    return Figure(rate, interval.low, interval.high) if interval else Figure()


def over_languages(
    perturbation: str, measured: Sequence[Measured], severities: tuple[float, ...]
) -> MonotonicityResult:
    """Return one kind of spoiling over all languages, each counting alike."""
    curve = _average([each.curve for each in measured])
    texts = sum(each.result.texts for each in measured)
    # Seventy translations of one sentence are hardly seventy texts: contents drawn again together show how few.
    by_content = interval_of(_average([each.noticed for each in measured]))
    noticed = hull(_noticed_alike([each for each in measured if each.result.texts]), by_content)
    auc = interval_of(_average([each.auc for each in measured]))
    return MonotonicityResult(
        perturbation=perturbation,
        texts=texts,
        unjudged=sum(each.result.unjudged for each in measured),
        noticed=noticed,
        auc=hull(auc, _wilson(auc.value, texts)) if texts < ENOUGH_TO_DRAW else auc,
        drop=interval_of(_average([each.drop for each in measured])),
        rank_correlation=interval_of(_average([each.rank_correlation for each in measured])),
        violations=interval_of(_average([each.violations for each in measured])),
        noticed_from=interval_of(_noticed_from(curve, severities), never=True),
        verdict=verdict_of(noticed, NOTICED_FROM, enough=texts >= FEWEST_TEXTS),
        languages=dict(Counter(each.result.verdict for each in measured)),
        curve=tuple(
            CurvePoint(severity=severity, score=interval_of(column))
            for severity, column in zip(severities, curve.T, strict=True)
        ),
    )


def _noticed_alike(measured: Sequence[Measured]) -> Figure:
    """Return the mean over languages of how often spoiling is noticed, as if of so many texts as carry that mean."""
    if not measured:
        return Figure()
    won = np.mean([each.won / each.result.texts for each in measured])
    lost = np.mean([each.lost / each.result.texts for each in measured])
    count = len(measured) ** 2 / sum(1 / each.result.texts for each in measured)
    return share_of_wins(float(won) * count, float(lost) * count, count)


def control_result(control: str, language: str, clean: Floats, changed: Floats, weights: Floats) -> ControlResult:
    """Return whether a change that is none to a reader moves the score."""
    usable = ~np.isnan(clean) & ~np.isnan(changed)
    return ControlResult(
        control=control,
        language=language,
        texts=int(usable.sum()),
        false_alarms=alarm_rate(clean, changed),
        shift=interval_of(_weighted_mean((changed - clean)[usable], weights[:, usable])),
    )


def alarm_rate(clean: Floats, changed: Floats) -> Figure:
    """Return how often a score falls noticeably though nothing changed for a reader."""
    falls = clean - changed
    falls = falls[~np.isnan(falls)]
    alarms = int((falls >= NOTICEABLE - _BARELY).sum())
    return _wilson(alarms / len(falls), len(falls)) if len(falls) else Figure()


def verdict_of(figure: Figure, least: float, *, enough: bool = True) -> Reliability:
    """Say on which side of a bar a figure lies; of too little, or with the bar inside, there is not enough data."""
    if figure.low is None or figure.high is None or not enough:
        return "not enough data"
    if figure.low >= least:
        return "reliable"
    return "unreliable" if figure.high < least else "not enough data"


def discrimination(rows: Mapping[str, Ladder]) -> tuple[Figure, int, int]:
    """Return how often a clean text scores above its own spoiled versions, over all kinds; texts; and comparisons.

    Each text gives one number, the mean over its kinds; the interval is of their mean, by Student's t, but never
    narrower than so many comparisons allow.
    """
    if not rows:
        return Figure(), 0, 0
    table: Floats = np.vstack([_wins(ladder) for ladder in rows.values()])
    seen = ~np.isnan(table)
    comparisons, by_text = int(seen.sum()), RunningMean()
    for column in table[:, seen.any(axis=0)].T:
        by_text.add(float(column[~np.isnan(column)].mean()))
    interval = by_text.interval()
    if interval is None:
        return Figure(), by_text.count, comparisons
    figure = Figure(round(by_text.mean, 4), max(0.0, round(interval.low, 4)), min(1.0, round(interval.high, 4)))
    wins_of_all = share_of_wins(int((table == 1).sum()), int((table == 0).sum()), comparisons)
    return hull(figure, wins_of_all), by_text.count, comparisons


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
    fallen = curve[:, :1] - curve >= NOTICEABLE - _BARELY
    from_here_on = np.flip(np.logical_and.accumulate(np.flip(fallen | np.isnan(curve), axis=1), axis=1), axis=1)
    found = np.where(from_here_on & fallen, np.array(severities), np.inf)
    return found.min(axis=1)


def _average(replicates: Sequence[Floats]) -> Floats:
    """Return the mean over languages of each resample; a language without a value does not count."""
    table = np.stack(replicates)
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known.any(axis=0), np.nansum(table, axis=0) / known.sum(axis=0), np.nan)
