"""Estimates from the labels so far."""

import random

import pytest

from polyjudge.pages.estimates import RunningEstimate, agreement_of, values_of
from polyjudge.statistics.agreement import krippendorff_alpha
from polyjudge.statistics.estimates import corrected_mean
from polyjudge.store.labels import Label
from polyjudge.text.display import SHOWN_AT_ONCE, pieces, text_part


def said(item, label, annotator="Ada", at="2026"):
    return Label(id=item, label=label, annotator=annotator, labelled_at=at)


def estimate_of(scores, bounds=(1.0, 5.0)):
    """All items are sampled, and have one language."""
    return RunningEstimate(
        {"th": list(scores.values())}, {item: ("th", score) for item, score in scores.items()}, bounds
    )


@pytest.mark.parametrize("has_judge", [True, False])
def test_each_language_counts_by_its_items(has_judge):
    score = 3.0 if has_judge else None
    asked = {f"{tag}{n}": (tag, score) for tag in ("th", "fr", "de") for n in range(4)}
    estimate = RunningEstimate({"th": [score] * 80, "fr": [score] * 15, "de": [score] * 5}, asked, (1.0, 5.0))
    estimate.add({item: {"th": 5.0, "fr": 3.0, "de": 1.0}[tag] for item, (tag, _) in asked.items()})

    assert estimate.points[12].value == pytest.approx(0.8 * 5 + 0.15 * 3 + 0.05 * 1)


@pytest.mark.parametrize("labelled", [["th0"], ["th0", "fr0"], ["th0", "th1"], ["th0", "th1", "fr0"], ["fr0", "de0"]])
def test_there_is_an_estimate_while_languages_have_few_labels(labelled):
    asked = {f"{tag}{n}": (tag, 3.0) for tag in ("th", "fr", "de") for n in range(2)}
    estimate = RunningEstimate({"th": [3.0] * 8, "fr": [3.0] * 4, "de": [3.0, None], "el": [None]}, asked, (1.0, 5.0))
    estimate.add(dict.fromkeys(labelled, 4.0))

    assert estimate.points[len(labelled)].value == pytest.approx(4.0)


def test_the_estimate_is_that_of_the_correction_on_peoples_scale():
    scores = {f"i{n}": 100 * n / 39 for n in range(40)}
    estimate = estimate_of(scores)
    people = {f"i{n}": float(1 + n // 8) for n in range(0, 40, 3)}
    estimate.add(people)

    onto = {item: 1 + 4 * score / 100 for item, score in scores.items()}
    wanted = corrected_mean(list(onto.values()), [onto[i] for i in people], list(people.values()), bounds=(1.0, 5.0))
    found = estimate.points[len(people)]
    assert (found.value, found.low, found.high) == pytest.approx(
        (wanted.figure.value, wanted.figure.low, wanted.figure.high)
    )


def test_the_interval_narrows_with_labels():
    chance = random.Random(1)
    truth = {f"i{n}": float(chance.randint(1, 5)) for n in range(200)}
    scores = {item: min(5.0, max(1.0, value + chance.gauss(0, 0.5))) for item, value in truth.items()}
    estimate = estimate_of(scores)
    estimate.replay([said(item, value, at=f"{n:03}") for n, (item, value) in enumerate(truth.items())])
    widths = {count: point.high - point.low for count, point in estimate.points.items()}

    assert widths[198] < widths[99] < widths[30] < widths[9]


def test_an_undone_label_removes_its_point():
    estimate = estimate_of({"a": 1, "b": 2, "c": 3})
    for values in ({"a": 1.0}, {"a": 1.0, "b": 4.0}, {"a": 1.0}):
        estimate.add(values)

    assert list(estimate.points) == [1]
    estimate.add({})
    assert estimate.points == {}


def test_without_a_judge_the_labels_decide_alone_and_unjudged_items_are_left_out():
    alone = estimate_of({"a": None, "b": None}, (0.0, 1.0))
    alone.add({"a": 1.0, "b": 0.0})
    assert alone.points[2].value == 0.5
    judged = estimate_of({"a": 4.0, "b": 5.0, "c": None})
    judged.add({"a": 3.0, "c": 1.0})
    assert list(judged.points) == [1]


@pytest.mark.slow
def test_with_very_many_labels_not_every_point_is_stored():
    scores = {f"i{n}": float(n % 5 + 1) for n in range(400)}
    estimate = estimate_of(scores)
    for count in range(1, 401):
        estimate.add(dict(list(scores.items())[:count]))

    assert len(estimate.points) <= 121
    assert max(estimate.points) == 400


def test_agreement_is_shown_from_five_shared_items_on():
    labels = [said(f"i{n}", 1 + n % 5, name) for n in range(4) for name in ("Ada", "Ben")]
    assert agreement_of(labels).items == 4
    assert agreement_of(labels).same is None
    labels += [said("i4", 5), said("i4", 1, "Ben"), said("i5", 2), said("i6", None, "Ben")]
    found = agreement_of(labels)

    assert found.items == 5
    assert found.annotators == ("Ada", "Ben")
    assert found.same == 0.8
    assert found.alpha == krippendorff_alpha([*([float(n), float(n)] for n in range(1, 5)), [5.0, 1.0]], "interval")


def test_several_peoples_labels_of_an_item_are_averaged():
    assert values_of([said("a", 2), said("a", 4, "Ben"), said("b", None), said("c", "pass")]) == {"a": 3, "c": 1}


def test_active_characters_are_named_and_the_rest_is_unchanged(text):
    assert pieces(text) == [["text", text]]
    assert pieces("") == []
    assert pieces("a\u202eb\n\x00") == [["text", "a"], ["code", "U+202E"], ["text", "b\n"], ["code", "U+0000"]]
    assert pieces("\ud800") == [["code", "U+D800"]]


def test_a_long_text_comes_in_parts():
    text = "ab" * SHOWN_AT_ONCE
    first = text_part(text, None, 0)
    second = text_part(text, None, first["end"])

    assert (first["end"], first["total"], first["dir"]) == (SHOWN_AT_ONCE, len(text), "auto")
    assert first["pieces"][0][1] + second["pieces"][0][1] == text
    assert text_part(text, None, 10**9)["pieces"] == []
