"""Measure how a judge's score falls as severity rises, by perturbation and language, with intervals.

Intervals come from a bootstrap over texts. Over all languages each language has the same weight, because raw scores in
two languages cannot be compared.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyjudge.records.calibration import ControlResult, CurvePoint, Figure, MonotonicityResult
from polyjudge.statistics.intervals import RunningMean, wilson_interval
from polyjudge.statistics.resampling import MIN_TEXTS_FOR_BOOTSTRAP, hull, interval_of, mean_of, share_of_wins
from polyjudge.verdicts.trust import notices

Floats: TypeAlias = NDArray[np.float64]
NOTICEABLE = 0.05
"""Fall of a score that counts as noticed, or as a false alarm, as a share of the scale."""
RESAMPLES = 1000
_TOLERANCE = 1e-9
"""Tolerance of floating-point numbers, so that a fall of exactly the noticeable share counts."""


@dataclass(frozen=True, slots=True)
class SeverityScores:
    """The scores of texts in one language: a row per text, a column per severity from 0; nan where unknown."""

    severities: tuple[float, ...]
    scores: Floats
    """From 0, the worst of the scale, to 1, the best."""
    unjudged: int = 0

    @property
    def both_ends(self) -> NDArray[np.bool_]:
        """Which texts were judged clean and at full severity."""
        return ~np.isnan(self.scores[:, 0]) & ~np.isnan(self.scores[:, -1])


@dataclass(frozen=True, slots=True)
class Measured:
    """A result with its replicates: arrays have the measured value first, then one per resample."""

    result: MonotonicityResult
    auc: Floats
    drop: Floats
    rank_correlation: Floats
    violations: Floats
    curve: Floats
    """A row per resample, a column per severity."""
    noticed: Floats
    won: int
    """Texts that score higher clean than perturbed."""
    lost: int


def drawn(count: int, *, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Return bootstrap weights of `count` contents: a first row of ones, then a row per resample."""
    if not count:
        return np.ones((resamples + 1, 0))
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    return np.vstack([np.ones(count), draws]).astype(np.float64)


def measure(perturbation: str, language: str, by_severity: SeverityScores, weights: Floats) -> Measured:
    """Measure one perturbation in one language."""
    usable = by_severity.both_ends
    scores, drawn_weights = by_severity.scores[usable], weights[:, usable]
    clean, perturbed, count = scores[:, 0], scores[:, -1], len(scores)
    falls = np.array([_rank_correlation(row, by_severity.severities) for row in scores], dtype=np.float64)
    auc, drop = _auc(clean, perturbed, drawn_weights), _weighted_mean(clean - perturbed, drawn_weights)
    rank_correlation, violations = _weighted_mean(falls, drawn_weights), _violations(scores, drawn_weights)
    curve = np.column_stack([_weighted_mean(column, drawn_weights) for column in scores.T])
    won, lost = int((clean > perturbed).sum()), int((clean < perturbed).sum())
    drawn_noticed = _weighted_mean((np.sign(clean - perturbed) + 1) / 2, drawn_weights)
    noticed, drawn_auc = share_of_wins(won, lost, count), interval_of(auc)
    result = MonotonicityResult(
        perturbation=perturbation,
        language=language,
        texts=count,
        unjudged=by_severity.unjudged,
        noticed=noticed,
        auc=hull(drawn_auc, _wilson(drawn_auc.value, count)),
        drop=mean_of(clean - perturbed, drop),
        rank_correlation=mean_of(falls, rank_correlation),
        violations=interval_of(violations) if count > 1 else Figure(interval_of(violations).value),
        noticed_from=interval_of(_noticed_from(curve, by_severity.severities), never=True),
        verdict=notices(noticed, count),
    )
    return Measured(result, auc, drop, rank_correlation, violations, curve, drawn_noticed, won, lost)


def _wilson(rate: float | None, count: int) -> Figure:
    interval = wilson_interval(rate * count, count) if rate is not None else None
    return Figure(rate, interval.low, interval.high) if interval else Figure()


def over_languages(
    perturbation: str, measured: Sequence[Measured], severities: tuple[float, ...]
) -> MonotonicityResult:
    """Combine one perturbation over languages of equal weight."""
    curve = _average([each.curve for each in measured])
    texts = sum(each.result.texts for each in measured)
    # Translations of one sentence are not independent texts: the bootstrap draws them together.
    by_content = interval_of(_average([each.noticed for each in measured]))
    noticed = hull(_mean_noticed([each for each in measured if each.result.texts]), by_content)
    auc = interval_of(_average([each.auc for each in measured]))
    return MonotonicityResult(
        perturbation=perturbation,
        texts=texts,
        unjudged=sum(each.result.unjudged for each in measured),
        noticed=noticed,
        auc=hull(auc, _wilson(auc.value, texts)) if texts < MIN_TEXTS_FOR_BOOTSTRAP else auc,
        drop=interval_of(_average([each.drop for each in measured])),
        rank_correlation=interval_of(_average([each.rank_correlation for each in measured])),
        violations=interval_of(_average([each.violations for each in measured])),
        noticed_from=interval_of(_noticed_from(curve, severities), never=True),
        verdict=notices(noticed, texts),
        languages=dict(Counter(each.result.verdict for each in measured)),
        curve=tuple(
            CurvePoint(severity=severity, score=interval_of(column))
            for severity, column in zip(severities, curve.T, strict=True)
        ),
    )


def _mean_noticed(measured: Sequence[Measured]) -> Figure:
    """Return the mean share over languages, with the interval of the effective number of texts."""
    if not measured:
        return Figure()
    won = np.mean([each.won / each.result.texts for each in measured])
    lost = np.mean([each.lost / each.result.texts for each in measured])
    count = len(measured) ** 2 / sum(1 / each.result.texts for each in measured)
    return share_of_wins(float(won) * count, float(lost) * count, count)


def control_result(control: str, language: str, clean: Floats, changed: Floats, weights: Floats) -> ControlResult:
    """Measure whether a control, which a reader does not see, changes the score."""
    usable = ~np.isnan(clean) & ~np.isnan(changed)
    return ControlResult(
        control=control,
        language=language,
        texts=int(usable.sum()),
        false_alarms=alarm_rate(clean, changed),
        shift=interval_of(_weighted_mean((changed - clean)[usable], weights[:, usable])),
    )


def alarm_rate(clean: Floats, changed: Floats) -> Figure:
    """Return the share of controls whose score falls noticeably."""
    falls = clean - changed
    falls = falls[~np.isnan(falls)]
    alarms = int((falls >= NOTICEABLE - _TOLERANCE).sum())
    return _wilson(alarms / len(falls), len(falls)) if len(falls) else Figure()


def discrimination(rows: Mapping[str, SeverityScores]) -> tuple[Figure, int, int]:
    """Return how often a clean text scores above its perturbed versions over all kinds, with texts and comparisons.

    Each text counts once, with the mean over its kinds. The interval is Student's t over texts, and at least as wide as
    that of the share of comparisons won.
    """
    if not rows:
        return Figure(), 0, 0
    # 1 for each text whose clean version scores higher, 0 if the perturbed one does, 0.5 for a tie.
    table: Floats = np.vstack([(np.sign(each.scores[:, 0] - each.scores[:, -1]) + 1) / 2 for each in rows.values()])
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


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    known = ~np.isnan(values)
    total = weights[:, known].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, weights[:, known] @ values[known] / total, np.nan)


def _auc(clean: Floats, perturbed: Floats, weights: Floats) -> Floats:
    """Return the AUC of each resample: how often a clean text scores above a perturbed one."""
    above = (np.sign(clean[:, None] - perturbed[None, :]) + 1) / 2
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, ((weights @ above) * weights).sum(axis=1) / total**2, np.nan)


def _rank_correlation(scores: Floats, severities: Sequence[float]) -> float:
    """Return Spearman's correlation of severity and score; 0 for a constant score."""
    known = ~np.isnan(scores)
    if known.sum() < 2:
        return float("nan")
    ranks, steps = _ranks(scores[known]), _ranks(np.array(severities)[known])
    ranks, steps = ranks - ranks.mean(), steps - steps.mean()
    spread = np.sqrt((ranks**2).sum() * (steps**2).sum())
    return float((ranks * steps).sum() / spread) if spread else 0.0


def _ranks(values: Floats) -> Floats:
    """Return ranks; tied values share their mean rank."""
    _, indexes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[indexes]


def _violations(scores: Floats, weights: Floats) -> Floats:
    """Return the share of steps between known severities at which the score rises, per resample."""
    rises, steps = np.zeros(len(scores)), np.zeros(len(scores))
    for index, row in enumerate(scores):
        known = row[~np.isnan(row)]
        rises[index], steps[index] = int((np.diff(known) > 0).sum()), len(known) - 1
    total = weights @ steps
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, weights @ rises / total, np.nan)


def _noticed_from(curve: Floats, severities: Sequence[float]) -> Floats:
    """Return the lowest severity from which on the mean has fallen noticeably, per resample; infinite for never."""
    fallen = curve[:, :1] - curve >= NOTICEABLE - _TOLERANCE
    from_here_on = np.flip(np.logical_and.accumulate(np.flip(fallen | np.isnan(curve), axis=1), axis=1), axis=1)
    found = np.where(from_here_on & fallen, np.array(severities), np.inf)
    return found.min(axis=1)


def _average(replicates: Sequence[Floats]) -> Floats:
    """Return the mean over languages, per resample, of those with a value."""
    table = np.stack(replicates)
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(known.any(axis=0), np.nansum(table, axis=0) / known.sum(axis=0), np.nan)
