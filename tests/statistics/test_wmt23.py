"""The figures of the WMT23 metrics task are reproduced from its published scores.

M. Freitag and others, "Results of WMT23 Metrics Shared Task" (2023). People's scores are MQM, which is negative: higher
is better, as for every metric here, so no sign is changed. Left out is the human translation that metrics compare with
(refA for en-de and zh-en, refB for he-en); the other human translation of he-en (refA) counts as a system, and no
outlier is removed. That leaves 12, 13 and 15 systems: 66 + 78 + 105 = 249 pairs. Metrics without a reference also
score refB of he-en and a made-up reference; people did not, so these fall away.

- System accuracy: pairs of systems of the same language pair in the order people put them in, of all 249.
- System and segment Pearson: by language pair, over all systems, or over all segments that people scored.
- acc-t: pairs of systems within a segment, ties calibrated, averaged over the segments.
- The average: the mean of these four kinds, each averaged over its language pairs, correlations moved to 0..1.

The paper was not at hand. GEMBA-MQM's .944 over 249 pairs is as cited widely; where no other source is named beside a
figure, it is from memory of the paper. They were remembered before they were computed, the averages before they were
put together from their parts; all agree to three places, which a false memory would not.
"""

import os
import tarfile
from functools import lru_cache
from pathlib import Path

import pytest

from polyjudge.statistics.agreement_intervals import agreement_figures
from polyjudge.statistics.rankings import tie_calibrated_accuracy

NAME = "wmt23_mqm_meta.tar.gz"
DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
pytestmark = pytest.mark.skipif(not DATA.is_file(), reason=f"POLYJUDGE_DATA is not set or lacks {NAME}")

REFERENCES = {"en-de": "refA", "he-en": "refB", "zh-en": "refA"}

SYSTEM_ACCURACY = {
    "GEMBA-MQM": 0.944,
    "XCOMET-Ensemble": 0.928,
    "MetricX-23": 0.908,
    "CometKiwi": 0.904,
    "COMET": 0.900,
    "chrF": 0.795,
}

SEGMENTS = {
    ("XCOMET-Ensemble", "en-de"): (0.695, 0.604),
    ("XCOMET-Ensemble", "he-en"): (0.556, 0.586),
    ("XCOMET-Ensemble", "zh-en"): (0.650, 0.543),
    ("GEMBA-MQM", "en-de"): (0.502, 0.572),
    ("GEMBA-MQM", "he-en"): (0.401, 0.564),
    ("GEMBA-MQM", "zh-en"): (0.449, 0.522),
    # Also cited by Z. Feng and others, "M-MAD" (2024), table 1.
    ("MetricX-23", "en-de"): (0.585, 0.603),
    ("MetricX-23", "zh-en"): (0.625, 0.531),
    ("CometKiwi", "en-de"): (0.475, 0.569),
    ("CometKiwi", "zh-en"): (0.442, 0.525),
}
"""Pearson and acc-t."""

AVERAGES = {
    "XCOMET-Ensemble": 0.825,
    "MetricX-23": 0.808,
    "GEMBA-MQM": 0.802,
    "BLEU": 0.696,
    "chrF": 0.694,
}


@lru_cache(maxsize=1)
def _files():
    with tarfile.open(DATA) as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive if member.isfile()}


def _scores(name):
    """Return the scores of each system; None if missing."""
    scores = {}
    for line in _files()[name].splitlines():
        system, score = line.split()
        scores.setdefault(system, []).append(None if score == "None" else float(score))
    return scores


def _metric(pair, metric, level):
    for seen in (REFERENCES[pair], "src"):
        name = f"metric-scores/{pair}/{metric}-{seen}.{level}.score"
        if name in _files():
            return _scores(name)
    raise KeyError(metric)


@lru_cache(maxsize=200)
def _rows(pair, metric, level):
    """Return the metric's score, the score of people and the segment number, for every system scored by people."""
    judge, people = _metric(pair, metric, level), _scores(f"human-scores/{pair}.mqm.{level}.score")
    return [
        (judge[system][index], score, index)
        for system, scores in people.items()
        if system != REFERENCES[pair]
        for index, score in enumerate(scores)
        if score is not None and judge[system][index] is not None
    ]


def _columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def _system_accuracy(metric):
    rows = [(first, second, pair) for pair in REFERENCES for first, second, _ in _rows(pair, metric, "sys")]
    first, second, groups = _columns(rows)
    return agreement_figures(first, second, groups=groups, resamples=0)["pairwise_decided_accuracy"].value


def _pearson(pair, metric, level):
    first, second, _ = _columns(_rows(pair, metric, level))
    return agreement_figures(first, second, resamples=0)["pearson"].value


def _accuracy_with_ties(pair, metric):
    return tie_calibrated_accuracy(*_columns(_rows(pair, metric, "seg")))[0]


def test_the_data_have_249_pairs_of_systems():
    counts = [len(_rows(pair, "GEMBA-MQM", "sys")) for pair in REFERENCES]
    assert counts == [12, 13, 15]
    assert sum(count * (count - 1) // 2 for count in counts) == 249


@pytest.mark.parametrize("metric", SYSTEM_ACCURACY)
def test_the_system_accuracy_is_the_published_one(metric):
    assert round(_system_accuracy(metric), 3) == SYSTEM_ACCURACY[metric]


@pytest.mark.parametrize(("metric", "pair"), SEGMENTS)
def test_the_segment_figures_are_the_published_ones(metric, pair):
    found = _pearson(pair, metric, "seg"), _accuracy_with_ties(pair, metric)
    assert tuple(round(each, 3) for each in found) == SEGMENTS[metric, pair]


@pytest.mark.parametrize("metric", AVERAGES)
def test_the_average_of_all_tasks_is_the_published_one(metric):
    correlations = [sum((1 + _pearson(pair, metric, level)) / 2 for pair in REFERENCES) / 3 for level in ("sys", "seg")]
    with_ties = sum(_accuracy_with_ties(pair, metric) for pair in REFERENCES) / 3
    assert round((_system_accuracy(metric) + sum(correlations) + with_ties) / 4, 3) == AVERAGES[metric]
