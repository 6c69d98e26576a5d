"""Marks that no language writes one after the other, and questions that were lost."""

import pytest

from polyjudge.checks.punctuation import broken_punctuation


@pytest.mark.parametrize("mark", [",,", ",.", "?.", "!.", " ,", ";;"])
def test_marks_that_do_not_follow_one_another_are_found_at_their_place(mark):
    text = f"Wir gehen{mark} dann kommen wir."
    [problem] = broken_punctuation(text, "We go, then we come.", "de")

    assert (problem.kind, problem.severity) == ("doubled_punctuation", "fail" if mark in (",,", ",.") else "warn")
    assert text[problem.start : problem.end] == mark


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Well... we go.", "Nun ..., wir gehen."),
        ("Well.. we go.", "Nun.. wir gehen."),
        ("We go,, then", "Wir gehen,, dann"),
        ("Really?! We go.", "Wirklich?! Wir gehen."),
        ("See example.org, then go.", "Siehe example.org, dann gehen."),
        ("Is it so?", "Est-ce vrai ?"),
        ("Wait: is it so?", "Attendez : est-ce vrai ?"),
        ("He asked: Why?, and left.", "¿Por qué?, preguntó."),
        ("We go (tomorrow).", "Wir gehen (morgen)."),
    ],
)
def test_punctuation_that_languages_and_people_write_is_left_alone(source, text):
    assert list(broken_punctuation(text, source, "fr")) == []


@pytest.mark.parametrize(("tag", "text"), [("de", "Du kommst morgen."), ("ja", "明日来ます。"), ("ar", "ستأتي غدا.")])
def test_a_question_without_its_mark_is_a_warning(tag, text):
    [problem] = broken_punctuation(text, "Will you come tomorrow?", tag)

    assert (problem.kind, problem.severity) == ("question_lost", "warn")


@pytest.mark.parametrize(
    ("tag", "source", "text"),
    [
        ("de", "Will you come?", "Kommst du?"),
        ("el", "Will you come?", "Θα έρθεις;"),
        ("ar", "Will you come?", "هل ستأتي؟"),
        ("ja", "Will you come?", "来ますか。"),
        ("zh-Hans", "Will you come?", "你来吗。"),
        ("th", "Will you come?", "คุณจะมาไหม"),
        ("hy", "Will you come?", "Կգա՞ս"),
        ("de", "It is what it is (??)", "Es ist, was es ist"),
        ("de", "See https://example.org/?a=1", "Siehe dort"),
    ],
)
def test_a_question_that_is_asked_in_another_way_is_not_lost(tag, source, text):
    assert list(broken_punctuation(text, source, tag)) == []
