"""The places of planted errors are exact in every script, and a judge of spans is measured by them."""

from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.calibration.edits import EditContext
from polyjudge.calibration.perturbations import CONTROL_TYPES, PERTURBATION_TYPES, neighbours_of, perturbed_versions
from polyjudge.calibration.planted import Planted, measure_planted, planted_errors, planted_spans, undone
from polyjudge.calibration.trials import TrialOptions, plan_trials
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import ReferenceText
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.spans import ErrorSpan


@lru_cache(maxsize=1)
def sample() -> dict[str, list[str]]:
    text = (files("polyjudge.formats") / "sample.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")[1:] if line.strip()]
    return {tag: texts for tag, *texts in rows}


@for_each("kind", (*PERTURBATION_TYPES, *CONTROL_TYPES))
def test_undoing_the_planted_errors_gives_the_text_in_every_language(kind):
    changed = 0
    for place, (tag, texts) in enumerate(list(sample().items())[::4]):
        if tag == "source":
            continue
        which = place % len([text for text in texts if text])
        text, source = texts[which], sample()["source"][which]
        near = next((sample()[each][which] for each in neighbours_of(tag) if each in sample()), "")
        context = EditContext(tag, source, near, tuple(each for each in texts if each and each != text))
        for version in perturbed_versions(text, kind, (0.25, 1.0), context=context):
            planted = planted_errors(text, version)
            changed += version != text
            assert bool(planted) == (version != text)
            assert undone(version, planted) == text
            edges = {0, *(match.end() for match in regex.finditer(r"\X", version))}
            for span in planted_spans(text, version, source=source):
                whole = source if span.side == "source" else version
                assert span.start is None or whole[span.start : span.end] == span.text
                assert span.side == "source" or {span.start, span.end} <= edges
    assert changed or kind in ("nfc", "swap_names", "change_dates")


@given(st.text("ab c\u0301कि👩\u200d", max_size=30), st.text("ab c\u0301कि👩\u200d", max_size=30))
def test_undoing_gives_any_text_back(text, other):
    planted = planted_errors(text, other)
    assert undone(other, planted) == text
    assert all(one.end <= two.start for one, two in pairwise(planted))
    assert planted_errors(text, text) == ()


def test_a_long_text_has_one_place_from_the_first_difference_to_the_last():
    text = "word " * 6_000
    other = text[:5_000] + "other " + text[5_005:]
    assert (
        planted_errors(text, other) == (Planted(5_000, 5_006, "word "),)
        or undone(other, planted_errors(text, other)) == text
    )
    assert len(planted_errors(text, other)) == 1
    assert planted_errors(text, text) == ()


def test_what_was_left_out_is_an_omission_of_the_source_if_its_words_are_there():
    [span] = planted_spans("Der Test 112 ist da.", "Der Test ist da.", source="The test 112 is here.")
    assert (span.side, span.text, span.start) == ("source", "112", 9)
    [span] = planted_spans("Der gute Test", "Der Test", source="The good test")
    assert (span.side, span.start, span.correction) == ("source", None, "gute ")


@pytest.fixture
def plan():
    texts = [
        ReferenceText(id=str(place), text=text, language="de", source="")
        for place, text in enumerate(("Der Bahnhof ist um 14 Uhr offen.", "Die Katze sitzt auf dem Dach."))
    ]
    options = TrialOptions(types=("typos", "drop_words", "nfd"), severities=(1.0,))
    return plan_trials(texts, options, language_table())


def outcomes(plan, spans_of):
    return {trial.id: JudgeResult(0, "", spans=tuple(spans_of(trial))) for trial in plan.trials}


def test_a_judge_that_marks_what_was_planted_finds_all_of_it_without_false_alarms(plan):
    found = measure_planted(
        plan, outcomes(plan, lambda trial: planted_spans(trial.text.text, trial.candidate) if trial.kind else ())
    )
    assert found["typos"].found.value == found["typos"].characters.value == found["typos"].right.value == 1
    assert found[""].false_alarms.value == 0
    assert found["typos"].errors > 0
    assert found["typos"].texts == 2


def test_a_judge_that_marks_nothing_finds_nothing_and_one_that_marks_all_raises_false_alarms(plan):
    nothing = measure_planted(plan, outcomes(plan, lambda _: ()))
    assert nothing["typos"].found.value == nothing["drop_words"].found.value == 0

    def everything(trial):
        text = trial.candidate
        return [ErrorSpan(text=text, severity="major", start=0, end=len(text))]

    alarmed = measure_planted(plan, outcomes(plan, everything))
    assert alarmed["typos"].found.value == 1
    assert alarmed[""].false_alarms.value == 1


def test_rejected_spans_and_failures_do_not_count(plan):
    given = outcomes(plan, lambda _: [ErrorSpan(text="D", severity="minor", start=0, end=1, state="rejected")])
    assert measure_planted(plan, given)[""].false_alarms.value == 0
    assert measure_planted(plan, dict.fromkeys(given, Failure("no"))) == {}
