"""Precision, recall and F1 of error spans, by character and by span, with intervals over documents.

- "char_precision", "char_recall", "char_f1": a character that both mark counts 1, or half if they give it different
  severities; the sums are over all texts (micro average).
- "char_f1_any_severity", and its precision and recall: severities do not count.
- "char_f1_macro": the mean over texts of the F1 of each text; of a text in which neither marks anything it is 1, of a
  text in which only one does, 0.
- "exact_precision", "exact_recall", "exact_f1": a span counts if the other annotator marks the same place; half if
  with another severity.
- "mpp_precision", "mpp_recall", "mpp_f1": spans are matched one to one; a matched span counts by the share of its
  characters that the other one covers; half of that if the severities differ ("match with partial overlap and partial
  credit").
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from polyjudge.records.calibration import Figure

from .resampling import Floats, Resamples, codes_of, figure, ratio
from .span_matching import Mark, best_matching, overlaps

OTHER_SEVERITY = 0.5
"""What a mark counts that both annotators make, with different severities."""


class SpanCounts(NamedTuple):
    """What is counted where an annotator is compared with another one on one text."""

    judge_characters: float
    people_characters: float
    both: float
    """Characters that both mark."""
    credit: float
    """The same, less half of those with different severities."""
    judge_spans: float
    people_spans: float
    exact: float
    mpp_of_judge: float
    mpp_of_people: float
    f1: float
    """By character, of this text alone."""
    texts: float = 1.0


def span_counts(judge: Sequence[Mark], people: Sequence[Mark], *, other_severity: float = OTHER_SEVERITY) -> SpanCounts:
    """Count what two annotators marked in a text."""
    ours, theirs, both, same = _characters(judge, people)
    credit = same + other_severity * (both - same)
    of_judge, of_people = _partial(judge, people, other_severity)
    return SpanCounts(
        judge_characters=ours,
        people_characters=theirs,
        both=both,
        credit=credit,
        judge_spans=len(judge),
        people_spans=len(people),
        exact=_exact(judge, people, other_severity),
        mpp_of_judge=of_judge,
        mpp_of_people=of_people,
        f1=2 * credit / (ours + theirs) if ours + theirs else 1.0,
    )


def _characters(judge: Sequence[Mark], people: Sequence[Mark]) -> tuple[int, int, int, int]:
    """Return how many characters each marks, both mark, and both mark with a severity in common."""
    events = [
        (place, side, mark.severity, change)
        for side, marks in enumerate((judge, people))
        for mark in marks
        for place, change in ((mark.start, 1), (mark.end, -1))
    ]
    events.sort(key=lambda event: event[0])
    active: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    ours = theirs = both = same = last = 0
    for place, side, severity, change in events:
        if length := place - last:
            first, second = active
            ours += length * bool(first)
            theirs += length * bool(second)
            if first and second:
                both += length
                same += length * (not first.keys().isdisjoint(second.keys()))
            last = place
        active[side][severity] += change
        if not active[side][severity]:
            del active[side][severity]
    return ours, theirs, both, same


def _exact(judge: Sequence[Mark], people: Sequence[Mark], other_severity: float) -> float:
    ours, theirs = Counter((mark[:2], mark.severity) for mark in judge), Counter((m[:2], m.severity) for m in people)
    same = (ours & theirs).total()
    either = (Counter(mark[:2] for mark in judge) & Counter(mark[:2] for mark in people)).total()
    return same + other_severity * (either - same)


def _partial(judge: Sequence[Mark], people: Sequence[Mark], other_severity: float) -> tuple[float, float]:
    """Return the credit of the judge's spans, and that of people's."""

    def credit(ours: Mark, theirs: Mark) -> float:
        return 1.0 if ours.severity == theirs.severity else other_severity

    def shared(ours: Mark, theirs: Mark) -> int:
        return min(ours.end, theirs.end) - max(ours.start, theirs.start)

    def weight(ours: Mark, theirs: Mark) -> float:
        lengths = ours.end - ours.start + theirs.end - theirs.start
        return credit(ours, theirs) * 2 * shared(ours, theirs) / lengths

    of_judge = of_people = 0.0
    for place, other in best_matching(overlaps(judge, people, weight)):
        ours, theirs = judge[place], people[other]
        points = credit(ours, theirs) * shared(ours, theirs)
        of_judge += points / (ours.end - ours.start)
        of_people += points / (theirs.end - theirs.start)
    return of_judge, of_people


def covered(marks: Iterable[Mark], others: Iterable[Mark]) -> tuple[int, int]:
    """Return how many characters are marked, and how many of them others mark as well."""
    ours, _, both, _ = _characters(list(marks), list(others))
    return ours, both


def span_figures(
    counts: Sequence[SpanCounts], clusters: Sequence[Hashable] | None = None, *, resamples: int = 1000, seed: int = 0
) -> dict[str, Figure]:
    """Return all measures over the compared texts, with intervals by a bootstrap over clusters."""
    if not counts:
        return {}
    sums = _draw(np.array(counts, dtype=np.float64), clusters, resamples, seed)
    return {name: figure(values) for name, values in _measures(sums).items()}


def difference_figure(
    ours: Sequence[SpanCounts],
    theirs: Sequence[SpanCounts],
    name: str,
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Return one measure less the same of another annotator on the same texts, with its interval."""
    if not ours:
        return Figure()
    first, second = (
        _measures(_draw(np.array(counts, dtype=np.float64), clusters, resamples, seed))[name]
        for counts in (ours, theirs)
    )
    return figure(first - second)


def _measures(sums: Floats) -> dict[str, Floats]:
    """Return each measure from the sums of counts, a number for each row."""
    column = dict(zip(SpanCounts._fields, sums.T, strict=True))
    found: dict[str, Floats] = {}
    for name, right, right_of_people, unit in (
        ("char", "credit", "credit", "characters"),
        ("any_severity", "both", "both", "characters"),
        ("exact", "exact", "exact", "spans"),
        ("mpp", "mpp_of_judge", "mpp_of_people", "spans"),
    ):
        precision = ratio(column[right], column[f"judge_{unit}"])
        recall = ratio(column[right_of_people], column[f"people_{unit}"])
        parts = {"precision": precision, "recall": recall, "f1": _f1(precision, recall)}
        for part, values in parts.items():
            found[f"char_{part}_{name}" if name == "any_severity" else f"{name}_{part}"] = values
    found["char_f1_macro"] = ratio(column["f1"], column["texts"])
    return found


def share_figure(
    parts: Sequence[tuple[float, float]],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Figure:
    """Return the share of the first numbers that the second ones are, summed over texts, with its interval."""
    if not parts:
        return Figure()
    sums = _draw(np.array(parts, dtype=np.float64), clusters, resamples, seed)
    return figure(ratio(sums[:, 1], sums[:, 0]))


def _draw(rows: Floats, clusters: Sequence[Hashable] | None, resamples: int, seed: int) -> Floats:
    """Return the sums of all rows, and those of each resample of whole clusters."""
    codes = np.arange(len(rows)) if clusters is None else codes_of(clusters)
    by_cluster = np.zeros((int(codes.max()) + 1, rows.shape[1]))
    np.add.at(by_cluster, codes, rows)
    drawn = Resamples(None, len(by_cluster), resamples=resamples, seed=seed)
    return np.concatenate([weights @ by_cluster for weights in drawn])


def _f1(precision: Floats, recall: Floats) -> Floats:
    """Return the harmonic mean: 0 if one annotator marks nothing, undefined if neither does."""
    either = ~np.isnan(precision) | ~np.isnan(recall)
    above = 2 * np.nan_to_num(precision) * np.nan_to_num(recall)
    below = np.nan_to_num(precision) + np.nan_to_num(recall)
    values = np.divide(above, below, out=np.zeros_like(below), where=below > 0)
    return np.where(either, values, np.nan)
