"""Several systems are corrected where the correction holds for them, and refused where it does not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.calibration.system_correction import SystemOptions, correct_systems
from polyjudge.errors import ConfigError
from polyjudge.formats.labelled_systems import LabelledSystems
from polyjudge.statistics.system_correction import SystemSample

LEVELS = {"ours": 7.0, "theirs": 6.9, "old": 5.6}


def system(random, level=6.0, shift=0.0, labels=60, count=400, first=0, penalty=None):
    """Return the scores of a system, by a judge whose noise depends on the text only, and people's mean."""
    judge = np.clip(random.normal(level, 1.5, count), 0, 10)
    noise = random.normal(0, 0.8, count) if penalty is None else penalty(random, count)
    people = np.clip(judge - 0.7 + shift + noise, -25, 10)
    places = np.sort(random.choice(count, labels, replace=False))
    drawn = np.full(labels, labels / count)
    tags = np.zeros(count, dtype=np.int64)
    clusters = first + np.arange(count)
    own = SystemSample(judged=judge, strata=tags, places=places, people=people[places], clusters=clusters, drawn=drawn)
    return own, float(people.mean())


def systems(seed=0, names=LEVELS, **changes):
    """Return systems by name, of which `changes` says how some differ, and people's means."""
    random, found, means = np.random.default_rng(seed), {}, {}
    for number, (name, level) in enumerate(names.items()):
        found[name], means[name] = system(random, level, first=1000 * number, **changes.get(name, {}))
    return labelled(found), means


def labelled(found):
    return LabelledSystems(estimate="mean", systems=tuple(found), languages=("",), samples=tuple(found.values()))


def by_name(table):
    return {each.system: each for each in table.systems}


def test_systems_on_which_the_judge_errs_the_same_are_corrected_and_ranked():
    given, means = systems()
    found = correct_systems(given)
    estimates = by_name(found.overall)
    assert {each.status for each in estimates.values()} == {"corrected"}
    assert [check.verdict for check in found.checks.values()] == ["not shown to differ"] * 3
    for name, each in estimates.items():
        assert each.figure.low <= means[name] <= each.figure.high
        assert each.naive.value > means[name] + 0.3
        assert each.figure.high - each.figure.low < each.labels_only.high - each.labels_only.low
    assert [each.system for each in found.overall.systems][-1] == "old"
    assert [estimates[name].group for name in LEVELS] == [1, 1, 2]
    assert (estimates["ours"].best_rank, estimates["ours"].worst_rank) == (1, 2)
    assert [(each.first, each.second) for each in found.overall.pairs if not each.distinguished] == [
        tuple(each.system for each in found.overall.systems[:2])
    ]


def test_a_system_on_which_the_judge_errs_otherwise_is_refused_and_the_others_are_not():
    given, means = systems(old={"shift": -2.0})
    found = correct_systems(given)
    estimates = by_name(found.overall)
    assert found.checks["old"].verdict == "does not carry over"
    assert found.checks["old"].adjusted_p < 0.001
    assert found.checks["old"].shift.low <= -2 <= found.checks["old"].shift.high
    assert estimates["old"].status == "own labels only"
    assert estimates["old"].figure == estimates["old"].labels_only
    assert {estimates[name].status for name in ("ours", "theirs")} == {"corrected"}
    assert estimates["old"].figure.low <= means["old"] <= estimates["old"].figure.high


def test_of_two_systems_that_differ_the_one_with_more_labels_is_the_reference():
    names = {"a": 6.0, "b": 6.0}
    given, _ = systems(names=names, a={"labels": 150}, b={"shift": -2.0})
    assert [check.verdict for check in correct_systems(given).checks.values()] == ["does not carry over"]
    assert by_name(correct_systems(given).overall)["b"].status == "own labels only"
    alike, _ = systems(names=names, b={"shift": -2.0})
    assert {each.status for each in correct_systems(alike).overall.systems} == {"own labels only"}


def test_the_correction_is_learnt_on_the_reference_if_one_is_named():
    given, _ = systems(old={"shift": -2.0})
    found = correct_systems(given, SystemOptions(reference=["old"]))
    assert {name: check.verdict for name, check in found.checks.items()} == {
        "ours": "does not carry over",
        "theirs": "does not carry over",
    }
    with pytest.raises(ConfigError, match="no system 'new'; systems: ours, theirs, old"):
        correct_systems(given, SystemOptions(reference=["new"]))
    few, _ = systems(old={"labels": 4})
    with pytest.raises(ConfigError, match="'old' has 4 labels; 10 are needed"):
        correct_systems(few, SystemOptions(reference=["old"]))


def test_a_system_with_labels_of_few_documents_is_neither_checked_nor_ranked():
    # All its labels are of documents on which the judge errs in the same way: that says little of the system.
    random, names = np.random.default_rng(3), dict.fromkeys(LEVELS, 6.0)
    found = {name: system(random, level, first=1000 * number)[0] for number, (name, level) in enumerate(names.items())}
    old = found["old"]
    documents = np.where(np.isin(np.arange(400), old.places), np.arange(400) % 4, np.arange(400)) + 5000
    few = labelled({**found, "old": replace(old, people=old.people - 1, clusters=documents)})
    result = correct_systems(few)
    assert [*result.checks] == ["ours", "theirs"]
    assert (by_name(result.overall)["old"].status, by_name(result.overall)["old"].group) == ("not reliable here", None)
    with pytest.raises(ConfigError, match="'old' has labels in 4 clusters; 5 are needed"):
        correct_systems(few, SystemOptions(reference=["old"]))


def test_a_margin_shows_that_the_correction_carries_over_and_lets_small_shifts_pass():
    given, _ = systems(names=dict.fromkeys(LEVELS, 6.0), old={"shift": -0.5, "labels": 300})
    assert correct_systems(given).checks["old"].verdict == "does not carry over"
    wide = correct_systems(given, SystemOptions(margin=1.5))
    assert {check.verdict for check in wide.checks.values()} == {"carries over"}
    assert {each.status for each in wide.overall.systems} == {"corrected"}


def test_a_system_without_labels_is_assumed_and_not_ranked():
    given, means = systems(theirs={"labels": 0}, old={"labels": 3})
    found = correct_systems(given)
    estimates = by_name(found.overall)
    for name in ("theirs", "old"):
        each = estimates[name]
        assert (each.status, each.group, each.best_rank) == ("assumed", None, None)
        assert name not in found.checks
        assert each.figure.low <= means[name] <= each.figure.high
        assert each.figure.high - each.figure.low > estimates["ours"].figure.high - estimates["ours"].figure.low
    assert "no label of its own" in estimates["theirs"].reason
    assert "only 3 labels of its own" in estimates["old"].reason


def test_without_any_label_there_is_no_estimate():
    given, _ = systems(**{name: {"labels": 0} for name in LEVELS})
    assert {(each.status, each.figure.value) for each in correct_systems(given).overall.systems} == {
        ("no labels", None)
    }


def penalties(random, count):
    return -1.0 * (random.random(count) < 0.06) * random.exponential(8, count)


def test_few_labels_of_skewed_scores_are_not_reliable():
    given, _ = systems(**{name: {"labels": 20, "penalty": penalties} for name in LEVELS})
    found = correct_systems(given)
    for each in found.overall.systems:
        assert each.status == "not reliable here"
        assert each.figure.value is not None
        assert each.figure.low is each.figure.high is each.group is None
        assert "20 labels are too few for scores this skewed" in each.reason


@given(st.permutations(list(LEVELS)), st.integers(0, 100))
@settings(max_examples=15, deadline=None)
def test_the_order_of_systems_and_rows_changes_nothing(order, seed):
    given, _ = systems(old={"shift": -1.0})
    samples = dict(zip(given.systems, given.samples, strict=True))
    shuffled = {}
    for name in order:
        own, size = samples[name], len(samples[name].judged)
        moved = np.random.default_rng(seed).permutation(size)
        back = np.argsort(moved)
        at = np.argsort(back[own.places])
        shuffled[name] = SystemSample(
            judged=own.judged[moved],
            strata=own.strata[moved],
            places=back[own.places][at],
            people=own.people[at],
            clusters=own.clusters[moved],
            drawn=own.drawn[at],
        )
    one, other = correct_systems(given), correct_systems(labelled(shuffled))
    assert [each.system for each in one.overall.systems] == [each.system for each in other.overall.systems]
    for first, second in zip(one.overall.systems, other.overall.systems, strict=True):
        assert (first.status, first.group, first.worst_rank) == (second.status, second.group, second.worst_rank)
        assert first.figure.value == pytest.approx(second.figure.value)
        assert first.figure.low == pytest.approx(second.figure.low)
    assert {name: check.p for name, check in one.checks.items()} == pytest.approx(
        {name: check.p for name, check in other.checks.items()}
    )


@pytest.mark.slow
def test_the_family_wise_level_of_the_checks_is_kept():
    names = {f"system {number}": 6.0 for number in range(8)}
    refused = 0
    for seed in range(300):
        given, _ = systems(seed, names, **{name: {"labels": 25} for name in names})
        refused += any(check.verdict == "does not carry over" for check in correct_systems(given).checks.values())
    assert refused / 300 <= 0.075


@pytest.mark.slow
@pytest.mark.parametrize("labels", [30, 100])
def test_the_interval_of_each_system_covers_its_own_mean(labels):
    covered = []
    for seed in range(150):
        given, means = systems(seed, **{name: {"labels": labels} for name in LEVELS})
        found = correct_systems(given, SystemOptions(only_these=True))
        covered += [each.figure.low <= means[each.system] <= each.figure.high for each in found.overall.systems]
    assert 0.92 <= np.mean(covered) <= 0.97


def test_a_correction_that_holds_is_rarely_refused_for_scores_with_a_few_large_errors():
    # A sample without one of the rare errors varies much less than the others, and must not look different.
    refused = 0
    for seed in range(60):
        rare = {"penalty": lambda random, count: -4.0 * (random.random(count) < 0.07), "labels": 25}
        given, _ = systems(seed, dict.fromkeys(map(str, range(8)), 6.0), **dict.fromkeys(map(str, range(8)), rare))
        refused += any(check.verdict == "does not carry over" for check in correct_systems(given).checks.values())
    assert refused <= 6
