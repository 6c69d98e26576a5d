"""What one more hour of labelling would buy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.pages.estimates import Known
from polyjudge.pages.next_hour import USUAL_SECONDS, next_hour, pace
from polyjudge.records.calibration import Figure
from polyjudge.statistics.estimates import student
from polyjudge.store.labels import Label

SCALE = (1.0, 5.0)


def labelled(annotator, *times):
    return [Label(id=f"{annotator}{n}", label=3, annotator=annotator, labelled_at=time) for n, time in enumerate(times)]


def at(seconds):
    return f"2026-11-19T{9 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z"


def test_the_pace_is_the_median_pause_of_one_person_without_long_breaks():
    ada = labelled("Ada", *map(at, (0, 10, 20, 32, 5_000, 5_012)))
    bob = labelled("Bob", *map(at, (5, 17, 29)))
    assert pace([*bob, *ada]) == (12.0, True)


def test_without_enough_labels_or_with_times_written_by_hand_the_pace_is_the_usual_one():
    assert pace([]) == (USUAL_SECONDS, False)
    assert pace(labelled("Ada", *map(at, (0, 10, 20)))) == (USUAL_SECONDS, False)
    assert pace(labelled("Ada", "yesterday", "", "2026-11-19", *map(at, (0, 10)))) == (USUAL_SECONDS, False)


@pytest.fixture
def known():
    values = {"th": [1, 2, 3, 4, 5, 3, 2, 4], "ar": [3, 3, 3, 3]}
    return [Known(tag, 3.0, float(value), None) for tag, given_values in values.items() for value in given_values]


def test_widths_follow_from_the_spread_of_the_labels_and_their_number(known):
    judged = {"th": [3.0] * 50, "ar": [3.0] * 50, "de": [3.0] * 10}
    found = next_hour(known, judged, {"th": 20, "ar": 10, "de": 2}, Figure(3.0, 2.5, 3.5), (120.0, True), SCALE)
    assert found.labels == 30
    assert found.left == 32
    assert found.overall.now == 1.0
    assert found.overall.after == pytest.approx(math.sqrt(12 / 42))
    widths = {each.language: each for each in found.languages}
    assert found.languages[0].language != "de" or widths["de"].after is not None
    assert widths["de"].now is None
    thai = widths["th"]
    spread = thai.now / 2 / student(7) * math.sqrt(8)
    assert thai.after == pytest.approx(2 * student(25) * spread / math.sqrt(8 + 30 * 20 / 32))
    assert widths["th"].now > widths["ar"].now * math.sqrt(4 / 8) * student(7) / student(3)


def test_without_labels_the_spread_is_that_of_the_judges_scores():
    found = next_hour(
        [], {"th": [1.0, 5.0] * 20, "ar": [3.0] * 40}, {"th": 60, "ar": 60}, Figure(), (30.0, False), SCALE
    )
    widths = {each.language: each for each in found.languages}
    assert widths["th"].now is None
    assert widths["th"].after == pytest.approx(2 * student(59) * 2 / math.sqrt(60))
    assert widths["ar"].after == pytest.approx(2 * student(59) * 1 / math.sqrt(60))  # a quarter of the scale


def test_when_all_is_labelled_an_hour_adds_nothing(known):
    found = next_hour(known, {"th": [3.0] * 8, "ar": [3.0] * 4}, {}, Figure(3.0, 2.5, 3.5), (30.0, False), SCALE)
    assert (found.labels, found.left) == (0, 0)
    assert all(each.now == each.after for each in (found.overall, *found.languages))


@given(
    st.lists(st.tuples(st.sampled_from(["th", "ar"]), st.floats(1, 5), st.floats(1, 5)), max_size=30),
    st.integers(0, 50),
    st.floats(1, 4000),
)
def test_more_labels_never_widen_an_interval(rows, left, seconds):
    known = [Known(tag, score, value, None) for tag, score, value in rows]
    judged = {"th": [1.0, 3.0], "ar": [2.0]}
    found = next_hour(known, judged, {"th": left, "ar": 1}, Figure(), (seconds, True), SCALE)
    for each in (found.overall, *found.languages):
        assert each.now is None or each.after <= each.now + 1e-9


def test_no_width_exceeds_the_scale():
    found = next_hour([], {"th": [1.0, 5.0, 1.0, 5.0]}, {"th": 2}, Figure(), (30.0, False), SCALE)
    assert found.overall.after == found.languages[0].after == 4.0
