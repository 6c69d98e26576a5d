"""The figures of a word test, compared with manual calculation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.records.outcomes import Provenance
from polyjudge.records.vocabulary import Judgement
from polyjudge.reports.blocks import markdown, plain_text
from polyjudge.reports.vocabulary import VocabularyReport, vocabulary_blocks, vocabulary_summary

ASKED = Provenance(provider="local", model="j", rubric="vocabulary", rubric_fingerprint="f", prompt_sha256="p")
SIGNS = {"+": "correct", "-": "incorrect", "?": "undetermined", "!": "error"}


def rows(model, signs, *, judge="local/j", prompt="a", categories=("common", "rare")):
    return [
        Judgement(
            id=f"{judge}/{model}/{index}/{prompt}",
            model=model,
            word=f"word{index}",
            prompt=prompt,
            judge=judge,
            verdict=SIGNS[sign],
            stage="judging" if sign == "!" else "",
            category=categories[index % len(categories)],
            provenance=ASKED,
        )
        for index, sign in enumerate(signs)
    ]


def test_unjudged_answers_are_excluded_from_the_percentage_and_counted():
    figures = VocabularyReport(rows("m", "++-?!")).figures("local/j", "m", "a")

    assert (figures.correct, figures.judged, figures.undetermined, figures.errors, figures.total) == (2, 3, 1, 1, 5)
    assert figures.percent == pytest.approx(200 / 3)
    assert figures.interval.low < 200 / 3 < figures.interval.high


def test_without_judged_answers_there_is_no_percentage():
    figures = VocabularyReport(rows("m", "?!")).figures("local/j", "m", "a")

    assert figures.percent is None
    assert figures.interval is None


def test_models_are_compared_on_the_words_that_both_were_judged_on():
    report = VocabularyReport([*rows("m1", "+++++++-+?"), *rows("m2", "---+-+-++-")])

    (compared,) = report.comparisons("local/j")
    assert (compared.words, compared.only_first, compared.only_second) == (9, 5, 1)
    assert compared.p == pytest.approx(0.21875)  # 2 × (1 + 6) / 64
    assert compared.adjusted_p == compared.p


def test_comparisons_are_adjusted_together_for_each_prompt():
    report = VocabularyReport([*rows("m1", "+" * 12), *rows("m2", "-" * 12), *rows("m3", "+" * 12)])

    found = {(each.first, each.second): each for each in report.comparisons("local/j")}
    assert found["m1", "m2"].p == pytest.approx(2 / 2**12)
    assert found["m1", "m2"].adjusted_p == pytest.approx(2 / 2**12 * 3 / 2)
    assert found["m1", "m3"].adjusted_p == 1


def test_hard_words_are_those_that_most_models_miss():
    report = VocabularyReport([*rows("m1", "--+-"), *rows("m2", "-++?"), *rows("m3", "-+-+")])

    hard = report.hard_words("local/j")
    assert [(each.word, len(each.missed_by), each.judged) for each in hard] == [("word0", 3, 3)]


def test_agreement_of_judges_counts_only_answers_with_both_verdicts():
    report = VocabularyReport([*rows("m", "++--?+"), *rows("m", "+---++", judge="local/k")])

    (agreement,) = report.agreements()
    assert agreement.items == 5
    assert agreement.exact == pytest.approx(0.8)
    assert agreement.kappa == pytest.approx((0.8 - 0.48) / (1 - 0.48))


def test_the_first_judge_decides():
    report = VocabularyReport([*rows("m", "++"), *rows("m", "--", judge="local/k")])

    summary = vocabulary_summary(report, generated_at="now")
    assert summary["judge_model"] == "j"
    assert summary["models"]["m"]["correct"] == 2
    assert summary["judges"]["local/k"]["models"]["m"]["correct"] == 0


@given(st.lists(st.sampled_from("+-?!"), min_size=1, max_size=30))
def test_every_answer_is_counted_once(signs):
    report = VocabularyReport(rows("m", signs))
    figures = report.figures("local/j", "m", "a")

    assert figures.total == len(signs)
    by_category = [report.figures("local/j", "m", "a", name) for name in report.categories]
    assert sum(each.total for each in by_category) == len(signs)
    assert sum(each.correct for each in by_category) == figures.correct


@pytest.mark.parametrize(("form", "draw"), [("md", markdown), ("txt", plain_text)])
def test_the_word_report_matches_its_snapshot(form, draw, snapshot):
    report = VocabularyReport(
        [
            *rows("gemma3:12b", "+++-+?+-+!"),
            *rows("mixtral|latest", "+--+--+--+"),
            *rows("gemma3:12b", "++++++++++", prompt="b"),
            *rows("mixtral|latest", "----------", prompt="b"),
            *rows("gemma3:12b", "+++-+++-+-", judge="local/second"),
        ]
    )

    snapshot(f"vocabulary.{form}", "".join(draw(vocabulary_blocks(report))))
