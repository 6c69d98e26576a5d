"""Informative samples: known probabilities, quotas, the plan, and estimates that weight by them."""

import json
import random
from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.columns import AS_IT_IS
from polyjudge.formats.doubts import Doubt, read_doubts
from polyjudge.pages.estimates import RunningEstimate
from polyjudge.pages.informative import draw_informative, planning, signals_of
from polyjudge.pages.sampling import Candidate, allotted
from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.informative import sizes
from polyjudge.store.sample_plans import plan_path, read_plan

CANDIDATES = st.lists(
    st.tuples(st.sampled_from(["th", "ar", ""]), st.one_of(st.none(), st.floats(0, 100))), min_size=1, max_size=50
).map(lambda rows: [Candidate(f"i{n}", *row) for n, row in enumerate(rows)])
DOUBTS = {f"i{n}": Doubt(n % 7, (n % 5) / 10) for n in range(0, 50, 2)}


def by_size(found):
    return {language: sum(each.candidate.language == language for each in found) for language in ("th", "ar", "")}


@given(CANDIDATES, st.integers(1, 60), st.integers(0, 3), st.booleans())
@settings(max_examples=60)
def test_a_sample_has_its_quotas_no_item_twice_and_at_least_half_of_the_plain_probabilities(
    candidates, count, seed, passes
):
    if count < len({each.language for each in candidates}):
        with pytest.raises(ConfigError, match="every language needs at least one item"):
            draw_informative(candidates, DOUBTS, count, seed, passes=passes)
        return
    found = draw_informative(candidates, DOUBTS, count, seed, passes=passes)
    assert found == draw_informative(candidates[::-1], DOUBTS, count, seed, passes=passes)
    assert len({each.candidate.id for each in found}) == len(found) == min(count, len(candidates))
    groups = defaultdict(list)
    for each in sorted(candidates, key=lambda each: each.id):
        groups[each.language].append(each)
    shares = allotted(groups, min(count, len(candidates)), seed)
    assert {tag: n for tag, n in by_size(found).items() if n} == shares
    for each in found:
        plain = shares[each.candidate.language] / len(groups[each.candidate.language])
        assert 0.5 * plain - 1e-9 <= each.probability <= 1
        assert each.weight == 1 / each.probability


def test_doubtful_items_are_drawn_more_often_by_each_signal():
    even = [Candidate(f"i{n}", "th", 50.0, passed=True) for n in range(40)]
    cases = {
        "ends": ([Candidate(c.id, "th", 50.0 if n < 10 else 95.0 + n % 5) for n, c in enumerate(even)], {}, False),
        "threshold": (
            [Candidate(c.id, "th", 62.0 - n if n < 10 else 5.0, passed=n < 3) for n, c in enumerate(even)],
            {},
            True,
        ),
        "spread": (even, {f"i{n}": Doubt(9.0 if n < 10 else 1.0) for n in range(40)}, False),
        "probability": (even, {f"i{n}": Doubt(None, 0.5 if n < 10 else 0.02) for n in range(40)}, False),
    }
    for name, (candidates, doubts, passes) in cases.items():
        assert name in signals_of(candidates, doubts, candidates, passes=passes), name
        chances = {
            each.candidate.id: each.probability
            for seed in range(30)
            for each in draw_informative(candidates, doubts, 10, seed, passes=passes)
        }
        doubtful = [chance for item, chance in chances.items() if int(item[1:]) < 10]
        sure = [chance for item, chance in chances.items() if int(item[1:]) >= 10]
        assert min(doubtful) > max(sure), name


def test_the_worst_penalties_are_no_end_of_a_scale_at_which_labels_are_alike():
    random = np.random.default_rng(0)
    penalties = np.minimum(25, random.poisson(np.exp(random.normal(0, 1, 400)))) * 1.0
    people = -penalties * random.exponential(size=400)
    for scores in (-penalties, -penalties / 3 - 1):
        candidates = [Candidate(f"i{n:03}", "th", float(score)) for n, score in enumerate(scores)]
        distances = signals_of(candidates, {}, candidates, passes=False)["ends"]
        assert distances[np.argsort(scores)] == pytest.approx(np.sort(distances)[::-1])
    found = sizes({"ends": distances}, 400)
    squares = (people - people.mean()) ** 2
    assert (squares / found).sum() < 0.9 * squares.sum()


def test_systems_have_their_share_in_every_sample():
    candidates = [Candidate(f"i{n}", "th", 50.0, system="ab"[n % 2]) for n in range(60)]
    for seed in range(20):
        systems = [each.candidate.system for each in draw_informative(candidates, {}, 20, seed, passes=False)]
        assert systems.count("a") == 10


def test_the_doubts_of_rows_are_read_and_broken_ones_left_out(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [
        {"id": "a", "score": 1, "members": [{"score": 40}, {"score": 60}, {"reason": "none"}]},
        {"id": "b", "score": 1, "probabilities": {"pass": 0.7, "fail": 0.3}},
        {"id": "c", "score": 1, "members": "many", "probabilities": {"x": 7}},
        {"id": "d", "score": 1, "members": [3, {"score": True}], "probabilities": []},
        {"score": 1, "members": [{"score": 1}, {"score": 2}]},
        {"id": "e", "score": 1, "members": [{"score": 10**400}, {"score": 2}], "probabilities": {"x": 10**400}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = read_doubts(path, AS_IT_IS)
    assert found["a"] == Doubt(10.0)
    assert found["b"].chance_of_another == pytest.approx(0.3)
    assert not {"c", "d", "e"} & found.keys()


@pytest.fixture
def candidates():
    chance = random.Random(1)
    return [Candidate(f"i{n}", "th" if n % 3 else "ar", chance.uniform(0, 100)) for n in range(60)]


def drawing(candidates, size):
    return draw_informative(candidates, {}, size, 0, passes=False)


def test_labelling_is_resumed_with_the_sample_of_its_plan_also_if_scores_have_changed(tmp_path, candidates):
    path = plan_path(tmp_path / "r-labels.jsonl")
    assert path.name == "r-labels.sample.json"
    first = planning(path, 12, None, drawing)(candidates)
    changed = [Candidate(each.id, each.language, 1.0) for each in candidates]
    again = planning(path, None, None, drawing)(changed)
    assert [(each.candidate.id, each.probability) for each in again] == [
        (each.candidate.id, each.probability) for each in first
    ]
    assert read_plan(path).size == 12
    for size, seed in ((13, None), (None, 7)):
        with pytest.raises(ConfigError, match="the existing labels belong to a sample"):
            planning(path, size, seed, drawing)
    with pytest.raises(DataError, match="no longer in the results"):
        planning(path, None, None, drawing)(candidates[:5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no", "not JSON"),
        ("{}", "not the plan of a sample"),
        ('{"schemaVersion": 1, "kind": "polyjudge sample", "seed": "x"}', "cannot be used"),
        (
            '{"schemaVersion": 1, "kind": "polyjudge sample", "seed": 0, "size": 1, "candidates": 1, '
            '"items": [{"id": "a", "inclusionProbability": 0}]}',
            "gives the item 'a' a probability that is not above 0",
        ),
    ],
)
def test_a_broken_plan_is_reported(tmp_path, text, message):
    path = tmp_path / "x.sample.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_plan(path)


def test_the_estimates_of_the_page_weight_labels_by_the_inverse_of_their_probability(candidates):
    found = draw_informative(candidates, {}, 20, 3, passes=False)
    alone = {each.candidate.id: each for each in found if each.candidate.language == "th"}
    scores = {"th": [each.score for each in candidates if each.language == "th"]}
    chances = {item: each.probability for item, each in alone.items()}
    sampled = {item: ("th", each.candidate.score) for item, each in alone.items()}
    values = {item: float(random.Random(item).randint(0, 100)) for item in alone}
    estimate = RunningEstimate(scores, sampled, (0.0, 100.0), chances)
    estimate.add(values)
    order = list(alone)
    expected = corrected_mean(
        scores["th"],
        [sampled[item][1] for item in order],
        [values[item] for item in order],
        bounds=(0.0, 100.0),
        probabilities=[chances[item] for item in order],
    )
    assert estimate.points[len(alone)].value == pytest.approx(expected.figure.value)
    plain = RunningEstimate(scores, sampled, (0.0, 100.0))
    plain.add(values)
    assert plain.points[len(alone)].value != pytest.approx(expected.figure.value)


def test_intervals_of_informative_samples_cover_in_each_language():
    numbers = np.random.default_rng(8)
    judge = np.clip(100 - numbers.gamma(0.8, 18, 500), 0, 100)
    people = np.clip(100 - (100 - judge) * numbers.gamma(2, 0.5, 500), 0, 100)
    every = [Candidate(f"i{n}", "th" if n % 4 else "ar", float(judge[n])) for n in range(500)]
    draw = partial(draw_informative, every, {}, 120, passes=False)
    scores = {tag: [each.score for each in every if each.language == tag] for tag in ("th", "ar")}
    covered, runs = 0, 150
    for seed in range(runs):
        found = draw(seed)
        sampled = {each.candidate.id: (each.candidate.language, each.candidate.score) for each in found}
        chances = {each.candidate.id: each.probability for each in found}
        estimate = RunningEstimate(scores, sampled, (0.0, 100.0), chances)
        estimate.add({item: float(people[int(item[1:])]) for item in sampled})
        figure = estimate.points[120]
        covered += figure.low <= people.mean() <= figure.high
    assert covered / runs >= 0.9
