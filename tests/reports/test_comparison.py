"""Comparison of two runs: pairing, verdicts, gates, and false alarms."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.formats.scored_items import ScoredItem, ScoredItems
from polyjudge.formats.scored_runs import ScoredRun, read_run
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.comparison import ComparisonOptions, FailOn
from polyjudge.reports.blocks import html_page, markdown, plain_text
from polyjudge.reports.charts import difference_limit
from polyjudge.reports.comparison import compare_runs, comparison_notes, min_clusters
from polyjudge.reports.comparison_page import comparison_page
from polyjudge.reports.comparison_report import comparison_blocks
from polyjudge.reports.comparison_summary import comparison_headline
from polyjudge.reports.wording import plain
from polyjudge.verdicts.comparison import compare_gate, unlike

QUICK = ComparisonOptions(resamples=100, permutations=2_000)
NO_INTERVALS = replace(QUICK, resamples=1)
JUDGE = JudgeIdentity(provider="p", model="m", rubric="r", rubric_fingerprint="0" * 16, model_answered="m-1")
MOVED = {
    "de": [-1, -0.5, -1.5, -2, -0.5, -1, 0.5, -1],
    "fr": [0.5, -0.5, 1, -1, 0.25, 0, -0.25, 0.5],
    "th": [1, 1, 0.5, 2, 1, 0.5, 1, 1],
}


def run_of(scores, *, name="a", clusters=None, judges=()):
    named = clusters or {}
    items = ScoredItems(ScoredItem(*key, score, named.get(key, "")) for key, score in scores.items())
    return ScoredRun(Path(name), items, tuple(judges), "")


def moved_by(differences):
    before = {(tag, str(index)): 3.0 for tag, each in differences.items() for index in range(len(each))}
    after = {(tag, str(index)): 3.0 + by for tag, each in differences.items() for index, by in enumerate(each)}
    return run_of(before), run_of(after, name="b")


def simulated(seed, items, *, worse=(), by=0.3):
    """Score seventy languages twice with the same quality and different noise, in half points from 1 to 5."""
    random = np.random.default_rng(seed)
    quality = random.normal(3.5, 0.7, (70, items))
    runs: list[ScoredRun] = []
    for second in (False, True):
        scores = quality + random.normal(0, 0.4, quality.shape)
        scores[list(worse) if second else []] -= by
        scores = np.clip(np.round(scores * 2) / 2, 1, 5)
        runs.append(
            run_of({(f"l{tag:02}", str(index)): float(score) for (tag, index), score in np.ndenumerate(scores)})
        )
    return runs


def verdicts(comparison):
    return {row.language: row.score.verdict for row in comparison.languages}


def test_each_language_has_difference_p_adjusted_p_and_verdict():
    found = compare_runs(*moved_by(MOVED), QUICK)

    # scipy 1.17.1, stats.permutation_test over all signs, then statsmodels 0.15.0, multipletests(method="fdr_bh")
    assert [row.score.p for row in found.languages] == pytest.approx([0.03125, 0.890625, 0.0078125])
    assert [row.score.adjusted_p for row in found.languages] == pytest.approx([0.046875, 0.890625, 0.0234375])
    assert verdicts(found) == {"de": "worse", "fr": "no change seen", "th": "better"}
    assert [row.score.difference.value for row in found.languages] == pytest.approx([-0.875, 0.0625, 1.0])
    german = found.languages[0]
    assert (german.score.before, german.score.after) == (3.0, 2.125)
    assert (german.counts.paired, german.counts.worse, german.counts.better) == (8, 7, 1)
    assert german.score.difference.high < 0
    assert found.overall.score.difference.value == pytest.approx(0.0625)


def test_there_are_estimates_with_equal_weight_of_items_and_of_languages():
    found = compare_runs(*moved_by({"de": [-1.0] * 30, "fr": [1.0] * 10}), QUICK)

    assert found.overall.score.difference.value == pytest.approx(-0.5)
    assert found.languages_alike.difference.value == pytest.approx(0)
    assert found.languages_alike.after == pytest.approx(3.0)


def test_no_change_seen_comes_with_the_detectable_change():
    random = np.random.default_rng(1)
    found = compare_runs(*moved_by({tag: random.normal(0, 1, 50) for tag in ("de", "fr")}), QUICK)

    german = found.languages[0].score
    assert german.verdict == "no change seen"
    # statsmodels 0.15.0, tt_solve_power(nobs=50, alpha=0.025, power=0.8) is 0.4476 standard deviations
    assert german.detectable == pytest.approx(0.4476, rel=0.2)
    assert found.languages_alike.detectable == pytest.approx(found.overall.score.detectable, rel=0.05)


def test_a_new_failure_is_newly_unjudged_and_never_worse():
    before = {("fr", str(n)): 4.0 for n in range(20)} | {("fr", "x"): None, ("fr", "y"): None, ("fr", "gone"): 5.0}
    after = {("fr", str(n)): None if n < 5 else 4.0 for n in range(20)} | {("fr", "x"): 3.0, ("fr", "y"): None}
    found = compare_runs(run_of(before), run_of({**after, ("fr", "new"): 1.0}), QUICK)

    counts = found.overall.counts
    assert (counts.paired, counts.worse, counts.newly_unjudged, counts.newly_judged) == (15, 0, 5, 1)
    assert (counts.unjudged, counts.missing, counts.added) == (1, 1, 1)
    assert [item.id for item in found.newly_unjudged] == ["0", "1", "2", "3", "4"]
    assert [item.id for item in (*found.newly_judged, *found.missing, *found.added)] == ["x", "gone", "new"]
    assert found.overall.score.difference.value == 0
    assert compare_gate(found, None, None).exit_code == 0
    assert compare_gate(found, FailOn(), None).exit_code == 3, "6 of 21 lost their verdict, and a fifth may"
    assert compare_gate(found, FailOn(), 0.3).exit_code == 0
    assert compare_gate(found, None, 0.1).exit_code == 3


def test_a_run_without_verdicts_is_neither_an_error_nor_a_pass():
    found = compare_runs(run_of({("fr", "a"): 4.0}), run_of({("fr", "a"): None}), QUICK)

    assert found.overall.score.difference.value is None
    assert found.overall.score.verdict == "too few items"
    assert compare_gate(found, FailOn(drop=0.1), None).exit_code == 3


def test_a_run_compared_with_itself_has_no_change():
    run, _ = moved_by(MOVED)
    found = compare_runs(run, run, QUICK)

    assert set(verdicts(found).values()) == {"no change seen"}
    assert found.overall.score.p == 1
    assert found.worse == found.better == ()
    assert compare_gate(found, FailOn(drop=0), None).exit_code == 0


def test_ids_pair_within_a_language_only():
    before = {("fr", "1"): 1.0, ("de", "1"): 5.0}
    found = compare_runs(run_of(before), run_of({("fr", "1"): 2.0, ("de", "1"): 4.0}), QUICK)

    assert [row.score.difference.value for row in found.languages] == [-1, 1]
    with pytest.raises(DataError, match="a and b have no items in common"):
        compare_runs(run_of(before), run_of({("th", "1"): 2.0}, name="b"), QUICK)


def test_a_run_without_languages_takes_those_of_the_other():
    before = run_of({("fr", "1"): 1.0, ("de", "2"): 5.0, ("fr", "3"): 1.0, ("de", "3"): 1.0})
    found = compare_runs(before, run_of({("", "1"): 2.0, ("", "2"): 4.0}), QUICK)

    assert {row.language: row.score.difference.value for row in found.languages} == {"de": -1, "fr": 1}


def test_items_of_one_document_count_as_one():
    differences = {"fr": [-1.0] * 40}
    before, after = moved_by(differences)
    documents = ScoredItems(item._replace(cluster=f"d{int(item.id) // 10}") for item in after.items)
    found = compare_runs(before, dataclasses.replace(after, items=documents), QUICK)

    assert verdicts(compare_runs(before, after, QUICK)) == {"fr": "worse"}
    assert found.overall.counts.clusters == 4
    assert verdicts(found) == {"fr": "too few items"}
    assert found.overall.score.difference.low is None


def test_a_drop_must_be_large_and_its_interval_below_0():
    found = compare_runs(*moved_by({"de": [-0.3, -0.5] * 20, "fr": [-3.0, 2.9] * 3, "th": [-4.0]}), QUICK)

    assert [alarm.language for alarm in compare_gate(found, FailOn(drop=0.3), None).alarms if not alarm.is_overall] == [
        "de"
    ]
    assert compare_gate(found, FailOn(drop=0.5), None).exit_code == 0
    assert compare_gate(found, FailOn(drop=0.3), None).exit_code == 1


def test_the_share_that_passes_is_a_second_measure():
    before, after = moved_by({"fr": [-0.5] * 20, "de": [0.5] * 20})
    found = compare_runs(before, after, replace(QUICK, pass_from=3.0))

    french = next(row for row in found.languages if row.language == "fr")
    assert (french.passes.before, french.passes.after, french.passes.verdict) == (1.0, 0.0, "worse")
    assert found.overall.passes.difference.value == pytest.approx(-0.5)


def test_other_significance_levels_need_other_numbers_of_items():
    assert [min_clusters(alpha) for alpha in (0.5, 0.05, 0.01)] == [6, 6, 8]


# false alarms


@pytest.mark.slow
def test_two_runs_of_the_same_system_raise_a_false_alarm_in_at_most_one_of_twenty():
    alarms = [
        compare_gate(compare_runs(*simulated(seed, 12), NO_INTERVALS), FailOn(), None).exit_code for seed in range(150)
    ]

    assert set(alarms) == {0, 1}
    assert sum(alarms) / len(alarms) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("column", ["document", "doc", "doc_id", "document_id", "source", "note"])
def test_documents_do_not_raise_false_alarms(tmp_path, column):
    """Nor without a column of documents; fifteen sources are too few to say anything without them."""
    alarms = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        runs: list[ScoredRun] = []
        for name in ("a", "b"):
            effects = random.normal(0, 0.5, 15)
            rows = [
                {
                    "id": f"{place}-{item}",
                    column: f"text {place}",
                    "score": round(3 + effect + random.normal(0, 0.3), 2),
                }
                for place, effect in enumerate(effects)
                for item in range(8)
            ]
            path = tmp_path / f"{name}.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            runs.append(read_run(path))
        alarms += compare_runs(*runs, NO_INTERVALS).overall.score.verdict in ("worse", "better")

    assert alarms <= 10 + 2 * math.sqrt(10 * 0.95)


@pytest.mark.slow
def test_a_drop_in_three_languages_of_seventy_is_found_and_the_others_are_not():
    planted = {"l05", "l30", "l60"}
    found = [compare_runs(*simulated(seed, 120, worse=(5, 30, 60)), NO_INTERVALS) for seed in range(20)]
    changed = [{tag for tag, verdict in verdicts(each).items() if verdict != "no change seen"} for each in found]

    assert changed[0] == planted
    assert all(verdicts(found[0])[tag] == "worse" for tag in planted)
    assert sum(len(each & planted) for each in changed) >= 0.95 * 60
    # The guarantee of Benjamini-Hochberg: at most one of twenty reported languages is wrong.
    assert np.mean([len(each - planted) / max(len(each), 1) for each in changed]) <= 0.05


# properties

SCORES = st.dictionaries(
    st.tuples(st.sampled_from(["", "fr", "th"]), st.sampled_from("abcdefghij")),
    st.none() | st.integers(0, 10).map(float),
    min_size=1,
)


@given(SCORES, SCORES, st.randoms())
@settings(max_examples=60, deadline=None)
def test_every_item_is_counted_once_and_the_order_of_rows_changes_nothing(before, after, random):
    if not _share_an_item(before, after):
        return
    found = compare_runs(run_of(before), run_of(after), QUICK)

    counts = found.overall.counts
    kinds = ("paired", "newly_unjudged", "newly_judged", "unjudged", "missing", "added")
    for kind in (*kinds, "worse", "better", "missing_judged"):
        assert getattr(counts, kind) == sum(getattr(row.counts, kind) for row in found.languages)
    assert counts.paired + counts.newly_unjudged + counts.missing_judged == sum(
        score is not None for score in before.values()
    )
    assert found == compare_runs(_shuffled(before, random), _shuffled(after, random), QUICK)


def _share_an_item(before, after):
    named = [any(language for language, _ in each) for each in (before, after)]
    return named[0] == named[1] and before.keys() & after.keys()


def _shuffled(scores, random):
    keys = list(scores)
    random.shuffle(keys)
    return run_of({key: scores[key] for key in keys})


# judges


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({}, set()),
        ({"model_answered": ""}, set()),
        ({"model_answered": "m-2"}, {"judge"}),
        ({"model": "n"}, {"judge"}),
        ({"provider": "q"}, {"judge"}),
        ({"rubric_fingerprint": "1" * 16}, {"rubric"}),
        ({"rubric_fingerprint": "1" * 16, "model": "n"}, {"rubric", "judge"}),
    ],
)
def test_judges_are_alike_if_rubric_and_answering_model_are(change, differs):
    scores = {("fr", "1"): 1.0}
    runs = run_of(scores, judges=[JUDGE]), run_of(scores, judges=[replace(JUDGE, **change)])

    assert set(unlike(*(run.judges for run in runs))) == differs
    assert set(unlike(*(run.judges for run in reversed(runs)))) == differs
    assert len(list(comparison_notes(*runs))) == len(differs)


def test_a_second_answering_model_in_a_run_makes_the_judges_differ():
    scores = {("fr", "1"): 1.0}
    mixed = run_of(scores, judges=[JUDGE, replace(JUDGE, model_answered="m-2")])

    assert set(unlike((JUDGE,), mixed.judges)) == {"judge"}
    assert unlike(mixed.judges, mixed.judges) == {}


def test_a_run_that_does_not_name_its_judge_is_noted():
    runs = run_of({("fr", "1"): 1.0}, judges=[JUDGE]), run_of({("fr", "1"): 1.0}, name="b")

    assert unlike(*(run.judges for run in runs)) == {}
    assert list(comparison_notes(*runs)) == ["b does not say which judge gave its scores"]


# rendering


def test_languages_are_sorted_by_verdict_and_have_a_detectable_change():
    found = compare_runs(*moved_by(MOVED), replace(QUICK, pass_from=3.0))
    text = "".join(plain_text(comparison_blocks(found, compare_gate(found, FailOn(), None), language_table())))

    assert "Not everywhere. B is better in 1 language, worse in 1; in 1 this run cannot tell." in text
    worst_first = [text.index(row) for row in ("German (de)  worse", "Thai (th)    better", "French (fr)  no change")]
    assert worst_first == sorted(worst_first)
    assert "Failed by the rule regression." in text
    assert "“Cannot tell” is not “equal”" in text
    assert "Share with a score of at least 3, by language" in text


@pytest.mark.parametrize("shape", [markdown, plain_text, lambda blocks: html_page("x", blocks)])
def test_hostile_ids_and_languages_are_only_text(shape):
    evil = "\u202e\x9b31m|<script>alert(1)</script>\n# h"
    before = {(evil, f"{evil}{n}"): 3.0 for n in range(8)}
    found = compare_runs(run_of(before), run_of(dict.fromkeys(before, 1.0), name=evil), QUICK)
    text = "".join(shape(comparison_blocks(found, compare_gate(found, FailOn(), None), language_table())))

    assert "\u202e" not in text
    assert "\x9b" not in text
    assert "\n# h" not in text
    if shape is not plain_text:
        assert "<script>alert" not in text.replace("\\<script", "")


def headline(differences):
    return plain(comparison_headline(compare_runs(*moved_by(differences), QUICK)))


UP, DOWN, LEVEL = [1, 1, 0.5, 2, 1, 0.5, 1, 1], [-1, -1, -0.5, -2, -1, -0.5, -1, -1], [1, -1, 0.5, -0.5, 1, -1, 1, -1]


@pytest.mark.parametrize(
    ("differences", "sentence"),
    [
        ({"de": UP, "fr": UP}, "Yes. B is better in all 2 languages."),
        ({"de": UP, "fr": LEVEL}, "B is better in 1 language and worse in none; in 1 this run cannot tell."),
        ({"de": DOWN, "fr": LEVEL}, "No. B is worse in 1 language; in 1 this run cannot tell."),
        ({"de": DOWN, "fr": DOWN}, "No. B is worse in all 2 languages."),
        ({"de": UP, "fr": DOWN}, "Not everywhere. B is better in 1 language, worse in 1."),
        ({"de": LEVEL, "fr": LEVEL}, "Not known. This run cannot tell in any of 2 languages, nor over all of them."),
        (
            {tag: [0.5, 1.0, 0.5, 1.0] for tag in ("de", "fr", "th")},
            "Yes, over all languages: B is better, by +0.75 [",
        ),
        (
            {"de": [1, -1], "fr": [0.5, 1]},
            "Not known. There are too few items to tell in any of 2 languages: 6 items a language are needed",
        ),
        ({"": UP}, "Yes. B is better, by +1.00 ["),
        ({"": DOWN}, "No. B is worse, by -1.00 ["),
        ({"": LEVEL}, "Not known. This run cannot tell: the difference is +0.00 ["),
        ({"": [1, 1]}, "Not known. There are too few items to tell: 6 items are needed, and there are 2."),
    ],
)
def test_the_headline_is_the_answer_in_one_sentence(differences, sentence):
    assert headline(differences).startswith(sentence)


def test_the_items_that_decide_come_from_the_languages_that_changed():
    found = compare_runs(*moved_by({"de": [-1.0] * 8, "fr": [-2.0, 2, 0, 0, 0, 0, 0, 0]}), replace(QUICK, show=3))

    assert verdicts(found) == {"de": "worse", "fr": "no change seen"}
    assert {item.language for item in found.worse} == {"de"}
    assert [item.language for item in found.better] == ["fr"]


def test_the_page_has_every_language_and_all_figures_without_scripts():
    found = compare_runs(*moved_by(MOVED), QUICK)
    page = "".join(comparison_page(found, compare_gate(found, FailOn(), None), language_table()))

    for name in ("German", "French", "Thai"):
        assert f"<bdi>{name}</bdi>" in page
    assert page.count('class="tr dt"') == 3
    assert "3 languages" in page
    assert "1 + 1 + 1 = 3 languages" in page
    assert "Failed by the rule regression." in page


@given(st.lists(st.floats(0, 1e6), max_size=5))
def test_the_axis_of_differences_covers_them(sizes):
    limit = difference_limit(sizes)

    assert limit > 0
    assert all(size <= limit * (1 + 1e-6) for size in sizes)
    assert limit <= max(10 * max(sizes, default=0), 1)
