"""`polyjudge calibrate agreement` on the recorded scores of the WMT23 metrics task gives the published figures.

The convention: without the reference that metrics were given (refA for en-de and zh-en, refB for he-en; he-en's refA
takes part as a system), no outlier removed, pairs of systems within a language pair. For segments, pairs are of systems
on the same segment, with the threshold for ties that fits best, as the task does. Where the figures are from:
tests/statistics/test_wmt23.py.
"""

import json
import os
import tarfile
from pathlib import Path

import pytest

from polyjudge.cli import main

DATA = os.environ.get("POLYJUDGE_DATA", "")
ARCHIVE = Path(DATA) / "wmt23_mqm_meta.tar.gz"
pytestmark = pytest.mark.skipif(not DATA or not ARCHIVE.is_file(), reason="POLYJUDGE_DATA is not set or lacks WMT23")
PAIRS = ("en-de", "he-en", "zh-en")
LEFT_OUT = "en-de/refA,zh-en/refA,he-en/refB"
PUBLISHED_SYSTEMS = {"GEMBA-MQM": 0.944, "XCOMET-Ensemble": 0.928, "MetricX-23": 0.908, "COMET": 0.900}
PUBLISHED_SEGMENTS = {"en-de": (0.502, 0.572), "he-en": (0.401, 0.564), "zh-en": (0.449, 0.522)}


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wmt23")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def agreement(scores, capsys, metric, level, *more):
    results = [str(next((scores / "metric-scores" / pair).glob(f"{metric}-*.{level}.score"))) for pair in PAIRS]
    labels = [word for pair in PAIRS for word in ("--labels", str(scores / f"human-scores/{pair}.mqm.{level}.score"))]
    asked = ["calibrate", "agreement", *results, *labels, "--leave-out", LEFT_OUT, "--resamples", "100", *more]
    assert main([*asked, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)["languages"]


@pytest.mark.parametrize(("metric", "accuracy"), PUBLISHED_SYSTEMS.items())
def test_systems_are_put_in_order_as_published(scores, capsys, in_folder, metric, accuracy):
    found = agreement(scores, capsys, metric, "sys")["all"]

    assert found["pairs"]["value"] == 249
    assert round(found["pairwise_decided_accuracy"]["value"], 3) == accuracy
    assert found["pairwise_decided_accuracy"]["low"] < accuracy < found["pairwise_decided_accuracy"]["high"]


def test_segments_correlate_as_published(scores, capsys, in_folder):
    found = agreement(scores, capsys, "GEMBA-MQM", "seg", "--group", "item")

    figures = {
        pair: (round(found[pair]["pearson"]["value"], 3), round(found[pair]["tie_calibrated_accuracy"]["value"], 3))
        for pair in PAIRS
    }
    assert figures == PUBLISHED_SEGMENTS
