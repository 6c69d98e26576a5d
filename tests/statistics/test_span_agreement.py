"""Measures of error spans equal computations that are written differently."""

import gzip
import json
import os
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.statistics.span_agreement import covered, share_figure, span_counts, span_figures
from polyjudge.statistics.span_matching import Mark, best_matching, overlaps

SPANS = Path(os.environ.get("POLYJUDGE_DATA", "")) / "spans_dev.jsonl.gz"
places = st.tuples(st.integers(0, 20), st.integers(1, 8), st.sampled_from(["minor", "major"]))
marks = st.lists(places.map(lambda each: Mark(each[0], each[0] + each[1], each[2])), max_size=6)


def value(name, *pairs):
    return span_figures([span_counts(ours, theirs) for ours, theirs in pairs], resamples=0)[name].value


def severities_by_character(spans):
    found = defaultdict(set)
    for start, end, severity, *_ in spans:
        for place in range(start, end):
            found[place].add(severity)
    return found


def by_character_sets(pairs, other_severity):
    """The same figures from the set of severities of every single character."""
    right = ours_marked = theirs_marked = 0.0
    for ours, theirs in pairs:
        first, second = severities_by_character(ours), severities_by_character(theirs)
        ours_marked += len(first)
        theirs_marked += len(second)
        right += sum(1 if first[place] & second[place] else other_severity for place in first.keys() & second.keys())
    if not ours_marked or not theirs_marked:
        return 0.0 if ours_marked or theirs_marked else None
    precision, recall = right / ours_marked, right / theirs_marked
    return 2 * precision * recall / (precision + recall) if right else 0.0


def test_small_cases_have_the_figures_computed_by_hand():
    judge, people = [Mark(0, 4, "major"), Mark(10, 12, "minor")], [Mark(2, 6, "minor"), Mark(20, 22, "minor")]
    counts = span_counts(judge, people)
    assert counts[:4] == (6, 6, 2, 1.0)
    assert (counts.exact, counts.judge_spans, counts.people_spans) == (0, 2, 2)
    assert (counts.mpp_of_judge, counts.mpp_of_people) == (0.25, 0.25)
    assert value("char_f1", (judge, people)) == pytest.approx(1 / 6)
    assert value("char_f1_any_severity", (judge, people)) == pytest.approx(1 / 3)
    assert value("mpp_f1", (judge, people)) == pytest.approx(1 / 8)
    assert value("exact_f1", (judge, judge)) == value("char_f1", (judge, judge)) == value("mpp_f1", (judge, judge)) == 1
    same_place = [Mark(0, 4, "minor"), Mark(10, 12, "minor")]
    assert value("exact_f1", (judge, same_place)) == 0.75


def test_a_character_with_both_severities_agrees_with_either():
    assert span_counts([Mark(0, 2, "minor"), Mark(0, 2, "major")], [Mark(0, 2, "major")]).credit == 2


def test_texts_without_a_mark_count_for_the_macro_mean_only():
    nothing, marked = ([], []), ([Mark(0, 2, "minor")], [])
    assert span_figures([span_counts(*nothing)])["char_f1"].value is None
    assert value("char_f1_macro", nothing) == 1
    assert value("char_f1_macro", marked) == value("char_f1", marked) == 0
    assert value("char_f1_macro", nothing, marked) == 0.5
    assert span_figures([]) == {}


@given(st.lists(st.tuples(marks, marks), max_size=4), st.sampled_from([0.0, 0.5, 1.0]))
def test_character_figures_equal_those_of_character_sets(pairs, other_severity):
    counts = [span_counts(ours, theirs, other_severity=other_severity) for ours, theirs in pairs]
    expected = by_character_sets(pairs, other_severity)
    found = span_figures(counts, resamples=0)["char_f1"].value if pairs else None
    assert found == expected if expected is None else found == pytest.approx(expected, abs=1e-12)


@given(marks, marks)
@settings(max_examples=200)
def test_the_matching_is_the_best_of_all(ours, theirs):
    ours, theirs = ours[:4], theirs[:4]
    weights = overlaps(ours, theirs, lambda one, other: (min(one[1], other[1]) - max(one[0], other[0])) / 7)
    pairs = best_matching(weights)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    places = [*range(len(theirs)), *([None] * len(ours))]
    best = max(
        sum(weights.get((row, column), 0.0) for row, column in enumerate(chosen))
        for chosen in permutations(places, len(ours))
    )
    assert sum(weights[pair] for pair in pairs) == pytest.approx(best)
    assert {
        (row, column)
        for row, one in enumerate(ours)
        for column, other in enumerate(theirs)
        if one[0] < other[1] and other[0] < one[1]
    } == set(weights)


@given(marks, marks)
def test_changing_the_sides_changes_precision_for_recall(ours, theirs):
    there, back = span_counts(ours, theirs), span_counts(theirs, ours)
    assert (there.credit, there.exact) == (back.credit, back.exact)
    assert there.mpp_of_judge == pytest.approx(back.mpp_of_people)
    assert there.f1 == back.f1


@given(marks, marks)
def test_covered_characters_are_those_of_both(ours, theirs):
    first, second = severities_by_character(ours), severities_by_character(theirs)
    assert covered(ours, theirs) == (len(first), len(first.keys() & second.keys()))


def test_thousands_of_spans_that_all_overlap_are_matched():
    many = [Mark(0, 100 + place, "minor") for place in range(300)]
    assert span_counts(many, many).mpp_of_judge == pytest.approx(300)


def test_intervals_are_over_clusters_and_repeatable():
    rows = [span_counts([Mark(0, 2)], [Mark(0, 2 + place % 3)]) for place in range(60)]
    clusters = [place // 4 for place in range(60)]
    found = span_figures(rows, clusters, resamples=200, seed=3)["char_f1"]
    assert found.low < found.value < found.high
    assert found == span_figures(rows, clusters, resamples=200, seed=3)["char_f1"]
    assert span_figures(rows, [0] * 60)["char_f1"].low is None
    assert share_figure([(4, 1), (4, 3)]).value == 0.5


@pytest.mark.skipif(not SPANS.is_file(), reason="POLYJUDGE_DATA is not set or lacks spans_dev.jsonl.gz")
def test_the_figures_of_every_recorded_model_equal_those_of_character_sets():
    texts = defaultdict(dict)
    with gzip.open(SPANS, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            system = "".join(filter(str.isalnum, row["system"].casefold()))
            spans = [Mark(each["start"], each["end"], each["severity"]) for each in row["spans"]]
            texts[row["segment"], system][row["annotator"]] = spans
    models = sorted({name for given in texts.values() for name in given if not name.startswith("human")})
    assert len(models) == 7
    for model in models:
        pairs = [
            (given[model], given[person])
            for given in texts.values()
            for person in ("human/0", "human/1")
            if person in given
        ]
        assert len(pairs) == 2_105
        assert value("char_f1", *pairs) == pytest.approx(by_character_sets(pairs, 0.5), abs=1e-9)
        assert value("char_f1_any_severity", *pairs) == pytest.approx(by_character_sets(pairs, 1.0), abs=1e-9)
