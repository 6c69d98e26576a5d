"""The alternative annotator test gives what scipy computes, and the figures published with the paper.

scipy 1.17.1: `ttest_1samp(…, alternative="less")` and `false_discovery_control(…, method="by")`, on the labels below.
"""

import csv
import os
import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.statistics.replacement import (
    FALSE_DISCOVERIES,
    accuracy,
    alternative_annotator_test,
    benjamini_yekutieli,
    negative_rmse,
    one_sided_p,
)

DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / "alttest_dev"
WORDS, POINTS = ["a", "b", "c"], [1.0, 2.0, 3.0, 4.0, 5.0]


def labels(seed, noise, values):
    """Return 60 labels of which about this share is drawn at random, the rest being true."""
    drawn, true, found = random.Random(seed), random.Random(7), {}
    for item in range(60):
        truth = true.choice(values)
        chance, other = drawn.random(), drawn.choice(values)
        found[f"i{item}"] = other if chance < noise else truth
    return found


def both(values):
    """Return the labels of a judge and of five people; two of them labelled fewer items."""
    noises = {"ann": 0.2, "ben": 0.3, "cho": 0.5, "dee": 0.8, "eli": 0.6}
    people = {name: labels(seed, noise, values) for seed, (name, noise) in enumerate(noises.items(), start=1)}
    people["eli"] = dict(list(people["eli"].items())[:29])
    people["dee"] = dict(list(people["dee"].items())[10:45])
    judge = labels(6, 0.35, values)
    del judge["i3"]
    return judge, people


BY_SCIPY = {
    "words": {
        "ann": (59, 0.8983050847457628, 0.9491525423728814, 0.028007648032656467, False),
        "ben": (59, 0.8813559322033898, 0.8983050847457628, 0.01745595911779509, True),
        "cho": (59, 0.9152542372881356, 0.7288135593220338, 1.5430096501190332e-05, True),
        "dee": (35, 0.9142857142857143, 0.5714285714285714, 3.146662015953506e-05, True),
    },
    "points": {
        "ann": (59, 0.8813559322033898, 0.864406779661017, 0.007199181467674771, True),
        "ben": (59, 0.8305084745762712, 0.7966101694915254, 0.012621286481558287, True),
        "cho": (59, 0.8983050847457628, 0.5932203389830508, 7.050564397651557e-07, True),
        "dee": (35, 0.8857142857142857, 0.5142857142857142, 4.0969222586897495e-05, True),
    },
}


@pytest.mark.parametrize(
    ("kind", "values", "scoring", "advantage"),
    [("words", WORDS, accuracy, 0.9023002421307506), ("points", POINTS, negative_rmse, 0.8739709443099274)],
)
def test_each_person_is_compared_as_scipy_does(kind, values, scoring, advantage):
    found = alternative_annotator_test(*both(values), scoring, 0.15)

    assert {each.name: (each.items, each.judge, each.person, each.p, each.is_matched) for each in found.people} == {
        name: (items, *map(pytest.approx, (judge, person, p)), matched)
        for name, (items, judge, person, p, matched) in BY_SCIPY[kind].items()
    }
    assert found.too_few == {"eli": 28}  # 29 labels, one of an item without a verdict
    assert found.advantage.value == pytest.approx(advantage)
    assert found.advantage.low < advantage < found.advantage.high
    assert found.winning_rate == sum(each[-1] for each in BY_SCIPY[kind].values()) / 4


def test_the_p_is_that_of_scipy():
    differences = np.array([0, 1, -1, 0, 1, 1, -1, 0, 0, 0.5])
    found = [one_sided_p(differences, bound) for bound in (0.1, 0.2, 0.5, -0.3)]
    assert found == pytest.approx([0.5814348208702227, 0.41856517912977736, 0.08634254481476938, 0.9553734757642434])


def test_without_any_spread_the_mean_decides():
    assert one_sided_p(np.zeros(30), 0.1) == 0
    assert one_sided_p(np.ones(30), 0.1) == 1


@given(st.lists(st.floats(0, 1), max_size=12))
def test_no_more_is_rejected_than_by_each_p_alone(p_values):
    rejected = benjamini_yekutieli(p_values, FALSE_DISCOVERIES)
    assert all(p <= FALSE_DISCOVERIES for p, is_rejected in zip(p_values, rejected, strict=True) if is_rejected)
    kept = [p for p, is_rejected in zip(p_values, rejected, strict=True) if not is_rejected]
    assert all(p <= min(kept, default=1) for p, is_rejected in zip(p_values, rejected, strict=True) if is_rejected)


def test_a_judge_who_says_what_most_people_say_matches_all_of_them():
    people = {f"p{number}": labels(number, 0.4, WORDS) for number in range(5)}
    majority = {item: max(WORDS, key=[own[item] for own in people.values()].count) for item in people["p0"]}
    found = alternative_annotator_test(majority, people, accuracy, 0.1)
    assert found.winning_rate == 1


@given(st.integers(0, 50), st.sampled_from([0.0, 0.1, 0.2]))
def test_a_larger_epsilon_matches_no_fewer_people(seed, epsilon):
    people = {f"p{number}": labels(seed + number, 0.4, POINTS) for number in range(3)}
    judge = labels(seed + 9, 0.5, POINTS)
    rates = [
        alternative_annotator_test(judge, people, negative_rmse, each, resamples=0).winning_rate
        for each in (epsilon, epsilon + 0.1)
    ]
    assert rates[0] <= rates[1]


def test_decimals_that_are_equally_far_are_a_tie():
    people = {name: dict.fromkeys(map(str, range(40)), value) for name, value in (("a", 0.1), ("b", 0.2), ("c", 0.2))}
    judge = dict.fromkeys(map(str, range(40)), 0.3)
    found = alternative_annotator_test(judge, people, negative_rmse, 0.1)
    assert [each.judge for each in found.people if each.name == "a"] == [1]


@pytest.mark.skipif(not (DATA / "winning_rates.tsv").is_file(), reason="POLYJUDGE_DATA lacks alttest_dev")
def test_the_published_winning_rates_and_advantages_come_out():
    wrong = {}
    for row in rows(DATA / "winning_rates.tsv"):
        by_accuracy, judge, people = row["scoring"] == "accuracy", {}, defaultdict(dict)
        for each in rows(DATA / f"{row['dataset']}.tsv"):
            label = each["label"] if by_accuracy else float(each["label"])
            if each["kind"] == "human":
                people[each["annotator"]][each["item"]] = label
            elif each["annotator"] == row["llm"]:
                judge[each["item"]] = label
        scoring = accuracy if by_accuracy else negative_rmse
        found = alternative_annotator_test(judge, people, scoring, float(row["epsilon"]), resamples=0)
        reached = round(found.winning_rate, 2), round(found.advantage.value, 2), len(found.people)
        published = float(row["winning_rate_published"]), float(row["advantage_published"])
        if reached != (*published, int(row["annotators_compared"])):
            wrong[row["dataset"], row["llm"]] = reached, published
    assert wrong == {}


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
