"""Correct the judge's scores of several systems with few labels, where the correction holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec import structs

from polyjudge.errors import ConfigError
from polyjudge.formats.labelled_systems import LabelledSystems
from polyjudge.records.calibration import Figure
from polyjudge.records.system_correction import (
    EstimatePair,
    EstimateStatus,
    SystemCorrection,
    SystemEstimate,
    SystemTable,
    TransportCheck,
    TransportVerdict,
)
from polyjudge.statistics.estimates import Bounds, Corrected, step_of
from polyjudge.statistics.group_correction import GroupSample, corrected_by_group
from polyjudge.statistics.rank_groups import holm, rank_groups, rank_ranges
from polyjudge.statistics.system_correction import (
    FEWEST_CLUSTERS,
    FEWEST_FOR_CHECK,
    Difference,
    Estimate,
    Slope,
    SystemSample,
    difference_of,
    figure_of,
    mean_of,
    noticeable_shift,
    pooled_skewness,
    shift_of,
    slope_of,
    why_not_reliable,
)

from .correction import usual_scale

_DIGITS = 9
"""Test statistics that are equal to so many digits are ties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemOptions:
    """How several systems are corrected."""

    alpha: float = 0.05
    """The largest chance that any correction that holds is refused, and that any equal systems are distinguished."""
    margin: float | None = None
    """The largest shift of the judge's error that does not matter."""
    only_these: bool = False
    """Whether intervals are of means over the judged items, not over all items of which these are a random sample."""
    reference: Sequence[str] = ()
    """The systems to learn the correction on; empty for all on which it is the same."""


def correct_systems(found: LabelledSystems, options: SystemOptions | None = None) -> SystemCorrection:
    """Estimate people's mean score, or pass rate, of each system, and rank the systems.

    The judge's scores of a system are corrected by its own labels, with the slope that all systems have in common, so
    that the estimate is unbiased for each system. First the labels of each system are compared with the correction
    learnt on the others: where that does not hold, only the system's own labels count. Systems with fewer than ten
    labels are estimated from the others and not ranked; those with labels of fewer than five clusters are not checked.
    """
    return _Correction(found, options or SystemOptions()).result()


@dataclass(slots=True)
class _Correction:
    found: LabelledSystems
    options: SystemOptions
    bounds: Bounds | None = field(init=False)
    step: float = field(init=False)
    active: list[int] = field(init=False)
    """The systems that the correction is learnt on."""
    checks: dict[int, TransportCheck] = field(default_factory=dict[int, TransportCheck])
    slope: Slope = field(init=False)
    skewness: tuple[float, float] = field(init=False)
    """Of the remainders, and of the labels."""

    def __post_init__(self) -> None:
        samples = self.found.samples
        values = np.unique(np.concatenate([np.unique(part) for each in samples for part in (each.judged, each.people)]))
        is_rate = bool(np.isin(values, (0.0, 1.0)).all())
        self.bounds = (0.0, 1.0) if is_rate else usual_scale([float(values[0]), float(values[-1])])
        self.step = step_of(values, np.concatenate([each.people for each in samples]), self.bounds)
        self._check()
        used = [samples[each] for each in self.active] or samples
        self.slope = slope_of(used, self.step)
        self.skewness = pooled_skewness(used, self.slope.value), pooled_skewness(samples, 0.0)

    def result(self) -> SystemCorrection:
        """Return all estimates."""
        found = self.found
        present = sorted({int(code) for each in found.samples for code in np.unique(each.strata)})
        tags = sorted((found.languages[code], code) for code in present) if len(present) > 1 else []
        languages = [_Table(self, tag, [each.among(code) for each in found.samples]) for tag, code in tags]
        return SystemCorrection(
            estimate=found.estimate,
            overall=_ranked([_Table(self, "", found.samples)], self.options.alpha)[0],
            languages=_ranked(languages, self.options.alpha),
            checks={found.systems[number]: self.checks[number] for number in sorted(self.checks)},
            weight=self.slope.value,
            alpha=self.options.alpha,
            margin=self.options.margin,
            only_these=self.options.only_these,
            reference=tuple(self.options.reference),
            notes=found.notes,
        )

    def is_refused(self, system: int) -> bool:
        """Return whether the correction does not hold for a system."""
        return system in self.checks and self.checks[system].verdict == "does not carry over"

    def _check(self) -> None:
        """Find the systems that have the correction in common: the one that differs most is left out, again and again.

        At each step all systems are tested against the rest, at a level that is divided by their number (Holm).
        """
        samples = self.found.samples
        labelled = [number for number, each in enumerate(samples) if each.can_be_checked]
        self.active = self._reference() if self.options.reference else labelled
        tested = [number for number in labelled if number not in self.active] or labelled
        refused, shifts = self._refused(tested)
        # What is not refused is tested once more, by the final correction.
        for number in tested:
            if set(self.active) - {number}:
                shifts[number] = self._shift(number)
        kept = [number for number in shifts if number not in refused]
        adjusted = dict(zip(kept, holm([shifts[number].p for number in kept]), strict=True)) | refused
        for number, shift in shifts.items():
            self.checks[number] = self._verdict(shift, adjusted[number], number in refused, len(shifts))

    def _refused(self, tested: Sequence[int]) -> tuple[dict[int, float], dict[int, Difference]]:
        """Return the adjusted p-values of the systems that differ, and the shifts by which they were found."""
        refused, found = dict[int, float](), dict[int, Difference]()
        if self.options.reference:
            shifts = {number: self._shift(number) for number in tested if number not in self.active}
            adjusted = dict(zip(shifts, holm([each.p for each in shifts.values()]), strict=True))
            return {number: p for number, p in adjusted.items() if self._differs(shifts[number], p)}, shifts
        while len(self.active) > 1:
            shifts = {number: self._shift(number) for number in self.active}
            wrong = self._most_different(shifts)
            if not wrong:
                break
            p = min(1.0, shifts[wrong[0]].p * len(shifts))
            refused |= dict.fromkeys(wrong, max([p, *refused.values()]))
            found |= {number: shifts[number] for number in wrong}
            self.active = [number for number in self.active if number not in wrong]
        return refused, found

    def _reference(self) -> list[int]:
        names = self.found.systems
        unknown = next((name for name in self.options.reference if name not in names), None)
        if unknown is not None:
            raise ConfigError(f"no system {unknown!r}; systems: {', '.join(names)}", option="reference")
        numbers = [names.index(name) for name in dict.fromkeys(self.options.reference)]
        few = next((number for number in numbers if not self.found.samples[number].can_be_checked), None)
        if few is not None:
            sample = self.found.samples[few]
            lacks = f"{sample.labels} labels; {FEWEST_FOR_CHECK} are needed"
            if sample.labels >= FEWEST_FOR_CHECK:
                lacks = f"labels in {sample.labelled_clusters} clusters; {FEWEST_CLUSTERS} are needed"
            raise ConfigError(f"{names[few]!r} has {lacks}", option="reference")
        return numbers

    def _shift(self, number: int) -> Difference:
        samples = self.found.samples
        return shift_of(samples[number], [samples[each] for each in self.active if each != number], self.step)

    def _differs(self, shift: Difference, adjusted: float) -> bool:
        margin = self.options.margin
        return adjusted < self.options.alpha and not (margin is not None and shift.is_within(margin))

    def _most_different(self, shifts: Mapping[int, Difference]) -> list[int]:
        """Return the system that differs most from the rest; both of two that have as many labels; none if none does.

        Of two systems that differ only from each other, the one with more labels is the reference.
        """
        wrong = [number for number, each in shifts.items() if self._differs(each, each.p * len(shifts))]
        labels = {number: self.found.samples[number].labels for number in wrong}
        order = {number: (shifts[number].p, -_rounded(shifts[number])) for number in wrong}
        if len(shifts) == 2 and len(wrong) == 2:
            order = dict.fromkeys(wrong, (0.0, 0.0))
        first = min(wrong, key=lambda number: (*order[number], labels[number]), default=None)
        return [
            each for each in wrong if first is not None and (order[each], labels[each]) == (order[first], labels[first])
        ]

    def _verdict(self, shift: Difference, adjusted: float, is_refused: bool, tests: int) -> TransportCheck:
        verdict: TransportVerdict = "not shown to differ"
        if is_refused:
            verdict = "does not carry over"
        elif self.options.margin is not None and shift.is_within(self.options.margin):
            verdict = "carries over"
        return TransportCheck(
            verdict=verdict,
            shift=shift.figure,
            p=shift.p,
            adjusted_p=adjusted,
            noticeable=noticeable_shift(shift, self.options.alpha, tests),
        )


def _rounded(shift: Difference) -> float:
    return round(abs(shift.value) / shift.error, _DIGITS) if shift.error else float(shift.value != 0)


@dataclass(slots=True)
class _Table:
    """The estimates of one language, or over all items."""

    correction: _Correction
    language: str
    samples: Sequence[SystemSample]
    ranked: list[int] = field(default_factory=list[int])
    """The systems with an interval of their own labels, the best first."""
    means: dict[int, Estimate] = field(default_factory=dict[int, Estimate])
    estimates: dict[int, SystemEstimate] = field(default_factory=dict[int, SystemEstimate])

    def __post_init__(self) -> None:
        assumed = self._assumed()
        for number, sample in enumerate(self.samples):
            if len(sample.judged):
                self.estimates[number] = self._estimate(number, sample, assumed)
        known = {number: self.means[number] for number, each in self.estimates.items() if _is_ranked(each)}
        names = self.correction.found.systems
        self.ranked = sorted(known, key=lambda number: (-known[number].value, names[number]))

    @property
    def pairs(self) -> dict[tuple[int, int], Difference]:
        """The differences of all ranked systems, the better one first."""
        slope = self.correction.slope.variance
        return {
            (first, second): difference_of(self.means[first], self.means[second], slope)
            for place, first in enumerate(self.ranked)
            for second in self.ranked[place + 1 :]
        }

    def _estimate(self, number: int, sample: SystemSample, assumed: Mapping[int, Corrected]) -> SystemEstimate:
        correction = self.correction
        only_labels, unweighted = correction.is_refused(number), Slope(0.0, 0.0, 0.0)
        if number in assumed:
            return self._assumed_estimate(number, sample, assumed[number])
        if sample.labels < 2:
            few = f"{sample.labels or 'no'} label{'s' * (sample.labels != 1)}"
            return self._record(number, sample, "not reliable here", few, Figure())
        self.means[number] = self._mean(sample, 0.0 if only_labels else correction.slope.value)
        slope = unweighted if only_labels else correction.slope
        figure = figure_of(self.means[number], slope, correction.bounds, sample)
        reason = "the correction does not hold for it" if only_labels else ""
        status: EstimateStatus = "own labels only" if only_labels else "corrected"
        if not only_labels and bool((sample.judged == sample.judged[0]).all()):
            reason = "the judge gives all items the same score, which adds nothing to the labels"
        if why := self._why_not(sample, only_labels=only_labels):
            status, reason, figure = "not reliable here", "; ".join(filter(None, (reason, why))), Figure(figure.value)
        return self._record(number, sample, status, reason, figure)

    def _labels_only(self, sample: SystemSample) -> Figure:
        correction = self.correction
        if sample.labels < 2:
            return Figure()
        found = figure_of(self._mean(sample, 0.0), None, correction.bounds, sample)
        return Figure(found.value) if self._why_not(sample, only_labels=True) else found

    def _why_not(self, sample: SystemSample, *, only_labels: bool) -> str:
        correction = self.correction
        skewness, only_these = correction.skewness[only_labels], correction.options.only_these
        return why_not_reliable(sample, skewness, correction.bounds, only_these=only_these)

    def _mean(self, sample: SystemSample, slope: float) -> Estimate:
        return mean_of(sample, slope, self.correction.step, only_these=self.correction.options.only_these)

    def _assumed_estimate(self, number: int, sample: SystemSample, found: Corrected) -> SystemEstimate:
        if found.figure.value is None:
            return self._record(number, sample, "no labels", "no system has labels", Figure())
        few = f"only {sample.labels} label{'s' * (sample.labels > 1)}" if sample.labels else "no label"
        reason = f"{few} of its own: assumes that the judge errs on it as on the others, give or take how these differ"
        return self._record(number, sample, "assumed", reason, found.figure)

    def _record(
        self, number: int, sample: SystemSample, status: EstimateStatus, reason: str, figure: Figure
    ) -> SystemEstimate:
        return SystemEstimate(
            system=self.correction.found.systems[number],
            status=status,
            reason=reason,
            figure=figure,
            naive=Figure(float(sample.judged.mean())),
            labels_only=self._labels_only(sample),
            judged=len(sample.judged),
            labelled=sample.labels,
        )

    def _assumed(self) -> dict[int, Corrected]:
        """Return the estimates of the systems with too few labels, from those of the others."""
        correction = self.correction
        all_samples = correction.found.samples
        few = [
            number
            for number, each in enumerate(all_samples)
            if each.labels < FEWEST_FOR_CHECK and len(self.samples[number].judged)
        ]
        if not few:
            return {}
        used = sorted({*correction.active, *few})
        groups = {str(number): _group(self.samples[number]) for number in used if len(self.samples[number].judged)}
        found = corrected_by_group(groups, bounds=correction.bounds)
        return {number: found[str(number)] for number in few}


def _group(sample: SystemSample) -> GroupSample:
    return GroupSample(sample.judged, sample.judge, sample.people, sample.drawn)


def _is_ranked(found: SystemEstimate) -> bool:
    return found.status in ("corrected", "own labels only")


def _ranked(tables: Sequence[_Table], alpha: float) -> tuple[SystemTable, ...]:
    """Return some tables with ranks; p-values are adjusted over all of their pairs."""
    pairs = [table.pairs for table in tables]
    adjusted = iter(holm([each.p for found in pairs for each in found.values()]))
    return tuple(_with_ranks(table, found, adjusted, alpha) for table, found in zip(tables, pairs, strict=True))


def _with_ranks(
    table: _Table, pairs: Mapping[tuple[int, int], Difference], adjusted: Iterator[float], alpha: float
) -> SystemTable:
    names, ranked = table.correction.found.systems, table.ranked
    records, better = list[EstimatePair](), np.zeros((len(ranked), len(ranked)), dtype=bool)
    for (first, second), found in pairs.items():
        p = next(adjusted)
        better[ranked.index(first), ranked.index(second)] = p < alpha
        records.append(
            EstimatePair(
                first=names[first],
                second=names[second],
                difference=found.figure,
                p=found.p,
                adjusted_p=p,
                distinguished=p < alpha,
            )
        )
    places = zip(ranked, rank_groups(range(len(ranked)), better), rank_ranges(better), strict=True)
    systems = [
        structs.replace(table.estimates[number], group=group, best_rank=best, worst_rank=worst)
        for number, group, (best, worst) in places
    ]
    rest = [each for number, each in table.estimates.items() if number not in set(ranked)]
    rest.sort(key=lambda each: (-(each.figure.value if each.figure.value is not None else -np.inf), each.system))
    return SystemTable(language=table.language, systems=(*systems, *rest), pairs=tuple(records))
