"""Labels of several people stay those of several people: combined openly, and compared with one another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.calibration.agreement import AgreementOptions, agreement_by_language, measure_agreement
from polyjudge.calibration.annotators import between_annotators, with_each_annotator
from polyjudge.calibration.matching import match, once_per_item, usual_combination
from polyjudge.formats.ratings import Rating

OPTIONS = AgreementOptions(resamples=100)


def labelled(table, **more):
    """Return the labels of a table with a column of values for each annotator."""
    return [
        Rating(id=str(row), value=value, annotator=f"a{place}", **more)
        for row, values in enumerate(table)
        for place, value in enumerate(values)
    ]


def judged(values):
    return [Rating(id=str(row), value=value) for row, value in enumerate(values)]


def test_the_most_frequent_label_counts_and_an_item_without_one_is_left_out_and_counted():
    found = match(judged([1.0, 2.0, 0.0, 1.0]), labelled([(1, 1, 2), (2, 2, 2), (0, 1, 2), (1, 2)]), "majority")

    assert {pair.id: pair.people for pair in found.pairs} == {"0": 1, "1": 2}
    assert found.without_majority == 2


def test_labels_of_one_one_and_two_agree_with_a_judge_who_says_one():
    table = [(1, 1, 2), (2, 2, 1), (0, 0, 0), (2, 1, 2)]
    found = match(judged([1.0, 2.0, 0.0, 2.0]), labelled(table), "majority")
    [(_, figures)] = [agreement_by_language(found.pairs, OPTIONS)[""]]

    assert figures["accuracy"].value == 1


def test_each_label_can_count_by_itself_and_belongs_to_its_item():
    found = match(judged([1.0, 3.0]), labelled([(1, 2), (3, 3)]), "each")

    assert [(pair.id, pair.people, pair.cluster) for pair in found.pairs] == [
        ("0", 1, "0"),
        ("0", 2, "0"),
        ("1", 3, "1"),
        ("1", 3, "1"),
    ]
    assert len({pair.group for pair in found.pairs}) == 2


@pytest.mark.parametrize(
    ("labels", "how"),
    [
        ([Rating(id="a", value=1.0, in_words=True)], "majority"),
        ([Rating(id="a", value=0.5, is_preference=True)], "majority"),
        (labelled([(0, 1, 2), (2, 2, 1)]), "majority"),
        (labelled([(1, 2, 3), (4, 5, 3)]), "mean"),
        (labelled([(0.5, 1.0)]), "mean"),
    ],
)
def test_categories_have_a_majority_and_scores_a_mean(labels, how):
    assert usual_combination(labels) == how


def test_a_mean_that_equals_no_score_is_not_compared_for_equality():
    judge = judged([1.0, 2.0, 3.0, 4.0])
    found = match(judge, labelled([(1, 1, 2), (2, 3, 3), (3, 4, 4), (5, 5, 4)]), "mean")
    result = measure_agreement(judge, found, "mean", OPTIONS)
    figures = result.found[""][1]

    assert result.averaged
    assert [figures[name].value for name in ("accuracy", "kappa", "macro_f1", "alpha_nominal")] == [None] * 4
    assert figures["pearson"].value is not None


def test_annotators_are_compared_in_pairs_and_the_judge_with_each():
    judge = judged([1.0, 0.0, 1.0, 0.0])
    found = match(judge, labelled([(1, 1), (0, 0), (1, 0), (0, 1)], in_words=True), "majority")
    [two] = between_annotators(found, resamples=100, seed=0)
    with_each = with_each_annotator(judge, found, on_one_scale=list, resamples=100, seed=0)

    assert (two.first, two.second, two.items, two.figures["kappa"].value) == ("a0", "a1", 4, 0)
    assert [(each.second, each.items, each.figures["kappa"].value) for each in with_each] == [
        ("a0", 4, 1),
        ("a1", 4, 0),
    ]


def test_the_judge_is_compared_with_each_person_as_with_all():
    judge = judged([5.0, 1.0, 4.0, 2.0])
    words = match(judge, labelled([(1, 1), (0, 1), (1, 1), (0, 0)], in_words=True), "majority")
    by_rule = measure_agreement(judge, words, "majority", AgreementOptions((3.0, 0.5), resamples=50, words=True))
    assert [each.figures["accuracy"].value for each in by_rule.with_each] == [1, 0.75]
    without_rule = measure_agreement(judge, words, "majority", AgreementOptions(resamples=50, words=True))
    assert [list(each.figures) for each in without_rule.with_each] == [["pearson", "spearman", "kendall_tau_b"]] * 2

    hundred = match(judge, labelled([(100, 75), (0, 25), (75, 75), (25, 0)]), "mean")
    mapped = measure_agreement(judge, hundred, "mean", OPTIONS, mapped=((1.0, 5.0), (0.0, 100.0)))
    assert [each.figures["mean_difference"].value for each in mapped.with_each] == [0, 0.25]
    apart = measure_agreement(judge, hundred, "mean", OPTIONS)
    assert "mean_difference" not in apart.with_each[0].figures
    assert "mean_difference" in apart.between[0].figures


def test_means_of_the_same_items_are_the_same_whether_labelled_or_not():
    judge = [Rating(id=str(item), value=0.75, verdict=1.0) for item in range(4)]
    people = [Rating(id=str(item), value=1.0, is_preference=True) for item in range(4)]
    options = AgreementOptions(resamples=50, preferences=True)
    means = measure_agreement(judge, match(judge, people, "majority"), "majority", options).means
    assert means["judge"].mean == means["judgeOfAllItems"].mean == 1


def test_scores_of_annotators_are_correlated():
    judge = judged([1.0, 2.0, 3.0])
    found = match(judge, labelled([(10, 30), (20, 20), (30, 10)]), "mean")
    [two] = between_annotators(found, resamples=100, seed=0)

    assert two.figures["pearson"].value == pytest.approx(-1)


def test_a_missing_verdict_is_out_of_the_readable_accuracy_and_wrong_in_that_of_every_item():
    judge = [Rating(id=str(n), value=value) for n, value in enumerate([1.0, 0.0, 0.5, None, None])]
    labels = [Rating(id=str(n), value=value, is_preference=True) for n, value in enumerate([1.0, 0.0, 0.0, 0.5, 1.0])]
    found = match(judge, labels, "majority")
    options = AgreementOptions(resamples=100, preferences=True)
    figures = agreement_by_language(found.pairs, options, found.without_verdict)[""][1]

    assert found.unjudged == 2
    assert figures["accuracy"].value == pytest.approx(2 / 3)
    assert figures["accuracy_every_item"].value == pytest.approx(2 / 5)
    assert figures["accuracy_missing_as_tie"].value == pytest.approx(3 / 5)


def test_a_pass_rule_decides_what_is_right_of_every_item_too():
    judge = [Rating(id=str(n), value=value) for n, value in enumerate([5.0, 4.0, 1.0, None])]
    found = match(judge, labelled([(1,), (0,), (0,), (1,)]), "majority")
    options = AgreementOptions((4.0, 0.5), resamples=100, words=True)
    figures = agreement_by_language(found.pairs, options, found.without_verdict)[""][1]

    assert figures["accuracy"].value == pytest.approx(2 / 3)
    assert figures["accuracy_every_item"].value == pytest.approx(2 / 4)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_three_labels_of_two_kinds_always_have_a_majority(table):
    found = match(judged([1.0] * len(table)), labelled([tuple(map(float, row)) for row in table]), "majority")

    assert found.without_majority == 0
    assert [pair.people for pair in found.pairs] == [float(sum(row) >= 2) for row in table]


def test_a_judged_row_that_is_repeated_for_each_annotator_is_one_score():
    repeated = [Rating(id="a", value=1.0), Rating(id="a", value=1.0), Rating(id="b", value=2.0)]

    assert [rating.id for rating in once_per_item(repeated)] == ["a", "b"]
