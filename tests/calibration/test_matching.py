"""Ratings of the same items are paired and compared by language."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.calibration.agreement import AgreementOptions, agreement_by_language
from polyjudge.calibration.correction import correct, correct_from_elsewhere
from polyjudge.calibration.matching import Pair, match
from polyjudge.errors import DataError
from polyjudge.formats.ratings import Rating

OPTIONS = AgreementOptions(resamples=100)


def rated(values, **more):
    return [Rating(id=name, value=value, **more) for name, value in values.items()]


def pairs(count=20, language="th", judge=lambda n: n % 5, people=lambda n: n % 5):
    return [Pair(id=f"{language}{n}", judge=judge(n), people=people(n), language=language) for n in range(count)]


def test_items_are_matched_by_id_and_items_of_only_one_side_are_counted():
    found = match(
        rated({"a": 1.0, "b": 0.0, "c": None, "d": 1.0}),
        rated({"a": 1.0, "b": 1.0, "c": 1.0, "x": 1.0, "y": 0.0, "z": None}),
    )

    assert [(pair.id, pair.judge, pair.people) for pair in found.pairs] == [("a", 1.0, 1.0), ("b", 0.0, 1.0)]
    assert (found.unjudged, found.not_labelled, found.unknown) == (1, 1, ("x", "y"))
    assert (found.annotators, found.people_alpha) == (1, None)


def test_a_judge_with_two_scores_of_one_item_is_refused():
    with pytest.raises(DataError, match="two scores of the id 'a'"):
        match([*rated({"a": 1.0}), *rated({"a": 0.0})], [])


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("system", "of the systems 'one' and 'two'; leave out all systems but one"),
        ("annotator", "by 'one' and 'two'; people's ratings are labels, not the results of a judge"),
    ],
)
def test_two_scores_of_one_item_are_explained_by_what_differs(field, words):
    scores = [Rating(id="a", value=1.0, **{field: name}) for name in ("one", "two")]

    with pytest.raises(DataError, match=f"two scores of the id 'a', {words}"):
        match(scores, [])


def test_labels_of_several_people_are_averaged_and_compared():
    labels = [
        *rated({"a": 1.0, "b": 0.0, "c": 1.0}, annotator="ann"),
        *rated({"a": 0.0, "b": 0.0, "d": 1.0}, annotator="bob"),
    ]
    found = match(rated({"a": 1.0, "b": 0.0, "c": 1.0}), labels)

    assert {pair.id: pair.people for pair in found.pairs} == {"a": 0.5, "b": 0.0, "c": 1.0}
    assert found.annotators == 2
    assert found.people_alpha is not None


def test_annotators_who_always_agree_have_an_alpha_of_one():
    same = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0}
    found = match(rated(same), [*rated(same, annotator="ann"), *rated(same, annotator="bob")])

    assert found.people_alpha == pytest.approx(1.0)


def test_a_label_without_a_value_is_ignored():
    found = match(rated({"a": 1.0}), [*rated({"a": None}, annotator="ann"), *rated({"a": 1.0}, annotator="bob")])

    assert (found.pairs[0].people, found.annotators) == (1.0, 1)


def test_a_label_supplies_the_language_and_cluster_that_the_judged_item_lacks():
    labelled = [Rating(id="a", value=1.0, language="th", group="g", cluster="c", system="s")]
    plain = match([Rating(id="a", value=0.0)], labelled).pairs[0]
    pair = match([Rating(id="a", value=0.0, language="de", cluster="d")], labelled).pairs[0]

    assert (plain.language, plain.group, plain.cluster, plain.system) == ("th", "g", "c", "s")
    assert (pair.language, pair.cluster) == ("de", "d")
    assert match([Rating(id="a", value=0.0)], [Rating(id="a", value=0.0)]).pairs[0].cluster == "a"


def test_without_common_ids_there_are_no_pairs():
    found = match(rated({"a": 1.0}), rated({"b": 1.0}))

    assert (found.pairs, found.unknown, found.not_labelled) == ((), ("b",), 1)
    assert match([], []).pairs == ()


@settings(max_examples=50)
@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(st.none(), st.floats(0, 1))),
    st.dictionaries(st.sampled_from("abcdefgh"), st.one_of(st.none(), st.floats(0, 1))),
)
def test_every_rating_is_counted_once(judged, labelled):
    found, labels = (
        match(rated(judged), rated(labelled)),
        {name for name, value in labelled.items() if value is not None},
    )
    scores = {name for name, value in judged.items() if value is not None}

    assert len(found.pairs) + found.unjudged + len(found.unknown) == len(labels)
    assert len(found.pairs) + found.not_labelled == len(scores)


def test_agreement_is_computed_over_all_and_by_language():
    found = agreement_by_language([*pairs(language="th"), *pairs(language="de", people=lambda n: 4 - n % 5)], OPTIONS)

    assert {tag: count for tag, (count, _) in found.items()} == {"": 40, "de": 20, "th": 20}
    assert found["th"][1]["spearman"].value == pytest.approx(1.0)
    assert found["de"][1]["spearman"].value == pytest.approx(-1.0)


def test_a_single_language_has_its_own_row_and_items_without_a_language_have_none():
    assert set(agreement_by_language(pairs(), OPTIONS)) == {"", "th"}
    assert set(agreement_by_language(pairs(language=""), OPTIONS)) == {""}


def test_a_language_with_one_item_is_counted_and_not_compared():
    found = agreement_by_language([*pairs(), *pairs(1, "de")], OPTIONS)

    assert found["de"] == (1, {})


def test_without_pairs_there_are_no_figures():
    assert agreement_by_language([], OPTIONS)[""] == (0, {})


def test_thresholds_turn_scores_into_passes():
    found = agreement_by_language(
        pairs(people=lambda n: float(n % 5 >= 3)), AgreementOptions((3.0, 1.0), resamples=100)
    )[""][1]

    assert (found["true_positive_rate"].value, found["true_negative_rate"].value) == (1.0, 1.0)


def test_a_perfect_judge_is_not_corrected_and_a_lenient_one_is():
    judged = rated({str(n): float(n % 2) for n in range(200)}, language="th")
    perfect = [Pair(id=str(n), judge=n % 2, people=n % 2, language="th") for n in range(40)]
    kind = [Pair(id=str(n), judge=1.0, people=n % 2, language="th") for n in range(40)]

    assert correct(judged, perfect, None).overall.figure.value == pytest.approx(0.5)
    assert correct(rated({str(n): 1.0 for n in range(200)}), kind, None).overall.figure.value == pytest.approx(0.5)


def test_items_without_a_verdict_are_excluded_from_a_correction():
    judged = [*rated({"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0}), *rated({"e": None})]
    some = [Pair(id=name, judge=value, people=value) for name, value in (("a", 1.0), ("b", 0.0), ("c", 1.0))]

    assert correct(judged, some, None).overall.judged in (1, 4)


def test_labels_of_other_items_correct_a_pass_rate():
    judged = rated({str(n): float(n < 60) for n in range(100)})
    known = [Pair(id=str(n), judge=float(n % 10 < 8), people=1.0) for n in range(100)]
    known += [Pair(id=f"x{n}", judge=float(n % 10 < 3), people=0.0) for n in range(100)]
    overall, languages = correct_from_elsewhere(judged, known, (1.0, 1.0))

    # Rogan and Gladen: (0.6 + 0.7 - 1) / (0.8 + 0.7 - 1)
    assert overall.value == pytest.approx(0.6, abs=1e-3)
    assert languages == {}
