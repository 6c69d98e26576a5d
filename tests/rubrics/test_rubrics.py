"""Rubrics: files, fingerprints, prompts and pass rules."""

import re
import tomllib
from importlib.resources import files

import pytest
from msgspec.structs import replace

from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.judges.rubric import weighted_mean
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.rubrics import Flag, PassRule, RubricCriterion, Scale
from polyjudge.rubrics.loading import check_rubric, load_rubric, rubric_names
from polyjudge.rubrics.prompts import answer_schema, rubric_fingerprint
from polyjudge.verdicts.items import passes
from polyjudge.verdicts.translation import PASSING_SCORE

MINIMAL = """
name = "mine"
instruction = "{criteria} {candidate} {context} {subscores_schema}"
[[criteria]]
name = "tone"
description = "Is it kind?"
"""


def test_every_shipped_rubric_loads_and_has_its_name():
    assert {"general", "translation"} <= set(rubric_names())
    assert [load_rubric(name).name for name in rubric_names()] == rubric_names()


def test_a_custom_rubric_is_read_from_its_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL, encoding="utf-8")

    rubric = load_rubric(path)

    assert rubric.criteria == (RubricCriterion("tone", "Is it kind?"),)
    assert rubric == load_rubric(str(path))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("name =", "not TOML"),
        ('nmae = "x"', "unknown key 'nmae'"),
        ("[scale]\nlowest = 5\nhighest = 1", "the scale must rise, but runs from 5 to 1"),
        ("[scale]\nlow = 5", "scale: unknown key 'low'"),
        ('[[criteria]]\nname = "tone"\ndescription = "again"', "the name 'tone' is used twice"),
        ('[[criteria]]\nname = "x"\ndescription = "y"\nweight = -1', "the weight of 'x' must be above 0, not -1"),
        ('[[criteria]]\nname = "x"\ndescription = "y"\nweight = "much"', "weight: expected a number, found 'much'"),
        ('[[criteria]]\nname = "x"', "the key 'description' is missing"),
        ('[[criteria]]\nname = "x"\ndescription = "y"\nanchors = {300 = "?"}', "anchor at 300, outside the scale"),
        ("[passing]\nminimum = 300", "requires 300, outside the scale"),
        ('[passing]\nminimum = 3\nflags = ["no"]', "unknown flag 'no'"),
        ('[[flags]]\nname = "score"\nquestion = "?"', "the name 'score' is used twice"),
    ],
)
def test_a_bad_rubric_gives_one_error_with_file_and_problem(tmp_path, change, problem):
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL + change + "\n", encoding="utf-8")

    with pytest.raises(DataError) as caught:
        load_rubric(path)

    assert re.match(rf"{re.escape(str(path))}:(\d+:)? ", str(caught.value))
    assert problem in str(caught.value)


def test_a_template_without_its_placeholders_is_refused_with_the_file_name(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL.replace("{context} ", ""), encoding="utf-8")

    with pytest.raises(DataError, match=r"mine\.toml: .*lacks \{context\}"):
        load_rubric(path)


def test_an_unknown_rubric_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(UnknownNameError, match="Unknown rubric: translatoin. Available: .*Did you mean 'translation'"):
        load_rubric("translatoin")
    with pytest.raises(DataError, match="No such file"):
        load_rubric(tmp_path / "absent.toml")


def test_the_fingerprint_changes_with_any_word_or_number():
    rubric = load_rubric("translation")
    first = rubric.criteria[0]
    changed = [
        replace(rubric, instruction=rubric.instruction + " "),
        replace(rubric, name="other"),
        replace(rubric, scale=Scale(1, 6)),
        replace(rubric, overall=True),
        replace(rubric, flags=(Flag("isCorrectLanguage", "Is it?"),)),
        replace(rubric, passing=None),
        replace(rubric, criteria=rubric.criteria[::-1]),
        replace(rubric, criteria=(replace(first, weight=2.0), *rubric.criteria[1:])),
        replace(rubric, criteria=(replace(first, anchors={**first.anchors, 5: "all right"}), *rubric.criteria[1:])),
    ]

    fingerprints = {rubric_fingerprint(each) for each in [rubric, *changed]}

    assert len(fingerprints) == len(changed) + 1


def test_the_fingerprint_does_not_depend_on_the_layout_of_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL, encoding="utf-8")
    before = rubric_fingerprint(load_rubric(path))
    path.write_text("# a comment\n" + MINIMAL.replace('name = "mine"', "name   =   'mine'"), encoding="utf-8")

    assert rubric_fingerprint(load_rubric(path)) == before


def test_the_fingerprints_of_shipped_rubrics_match_the_reviewed_ones(snapshot):
    """Scores with different fingerprints are not comparable: list a change here under "Score-affecting"."""
    lines = [f"{name} {rubric_fingerprint(load_rubric(name))}\n" for name in rubric_names()]

    snapshot("rubric-fingerprints.txt", "".join(lines))


def test_a_translation_passes_when_all_three_reach_three_in_the_right_language():
    rubric = load_rubric("translation")

    def result(script, grammar, coherence, right=True):
        subscores = {"script": script, "grammar": grammar, "coherence": coherence}
        return JudgeResult(3.0, "", subscores, flags={"isCorrectLanguage": right})

    assert passes(rubric, result(3, 3, 3)) is True
    assert passes(rubric, result(5, 5, 2.5)) is False
    assert passes(rubric, result(5, 5, 5, right=False)) is False
    assert passes(load_rubric("general"), JudgeResult(0.0, "")) is None


def test_the_pass_rule_includes_the_overall_score_and_is_undecided_without_it():
    rubric = replace(
        load_rubric("general"),
        criteria=(RubricCriterion("a", ""), RubricCriterion("b", "")),
        passing=PassRule(70),
    )

    assert passes(rubric, JudgeResult(80.0, "", {"a": 90, "b": 90})) is True
    assert passes(rubric, JudgeResult(10.0, "", {"a": 90, "b": 90})) is False
    assert passes(rubric, JudgeResult(80.0, "", {"a": 90})) is None
    assert passes(load_rubric("translation"), JudgeResult(5.0, "", {"script": 5, "grammar": 5, "coherence": 5})) is None


def test_a_weight_must_be_a_number_above_zero():
    for weight in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ConfigError, match="must be above 0"):
            check_rubric(replace(load_rubric("general"), criteria=(RubricCriterion("a", "", weight),)))


def test_the_weighted_mean_needs_every_criterion():
    rubric = replace(load_rubric("general"), criteria=(RubricCriterion("a", "", 1.0), RubricCriterion("b", "", 3.0)))

    assert weighted_mean(rubric, {"a": 0, "b": 100}) == 75
    assert weighted_mean(rubric, {"a": 0}) is None


def test_the_answer_schema_has_the_fields_of_the_rubric():
    schema = answer_schema(load_rubric("translation"))

    assert schema["required"] == ["reason", "subscores", "isCorrectLanguage"]
    assert schema["properties"]["subscores"]["required"] == ["script", "grammar", "coherence"]
    assert answer_schema(load_rubric("general"))["required"] == ["score", "reason", "subscores"]


def test_the_anchors_are_the_founding_ones():
    data = tomllib.loads((files("polyjudge.rubrics") / "translation.toml").read_text(encoding="utf-8"))

    assert [data["criteria"][place]["anchors"]["1"] for place in range(3)] == [
        "wrong script entirely", "word salad", "unrelated to prompt",
    ]  # fmt: skip
    assert data["passing"] == {"minimum": 3, "flags": ["isCorrectLanguage"]}
    assert data["passing"]["minimum"] == PASSING_SCORE, "an item and a language pass from the same score"
