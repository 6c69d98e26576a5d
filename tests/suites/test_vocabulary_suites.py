"""The shipped suites of words and wordings of judges."""

import unicodedata
from collections import Counter

import pytest

from polyjudge.checks.checker import TextChecker
from polyjudge.judges.word_verdicts import load_wording, read_word_verdict, wording_languages
from polyjudge.languages.table import language_table
from polyjudge.suites.vocabulary import load_vocabulary, vocabulary_names, word_tasks, wording_of

LEAST = {"spanish": 60, "hindi": 40}


@pytest.mark.parametrize("name", LEAST)
def test_a_shipped_suite_has_words_of_every_kind_and_both_prompts(name):
    suite = load_vocabulary(name)

    kinds = Counter(entry.category for entry in suite.words)
    assert len(suite.words) >= LEAST[name]
    assert set(kinds) == {"common", "rare", "false friend", "regional"}
    assert min(kinds.values()) >= 8
    assert list(suite.prompts) == ["a", "b"]
    assert suite.models is None


def test_the_shipped_suites_are_in_two_scripts():
    assert vocabulary_names() == sorted(LEAST)
    assert [load_vocabulary(name).language for name in LEAST] == ["es", "hi"]


@pytest.mark.parametrize("name", LEAST)
def test_no_definition_contains_its_word_and_all_text_is_in_nfc(name):
    for entry in load_vocabulary(name).words:
        assert entry.word.casefold() not in entry.answer.casefold(), entry.word
        assert unicodedata.is_normalized("NFC", entry.word + entry.answer), entry.word
        assert entry.word == entry.word.strip()


@pytest.mark.parametrize("name", LEAST)
def test_definitions_are_in_the_language_of_their_suite(name):
    suite, table = load_vocabulary(name), language_table()
    language, checker = table.find(suite.language), TextChecker(table)

    wrong = [entry.word for entry in suite.words if checker.check(entry.answer, language).script.state == "fail"]
    assert wrong == []


@pytest.mark.parametrize("language", ["en", "es", "hi"])
def test_the_prompts_to_the_judge_match_their_snapshot(language, snapshot):
    suite = load_vocabulary("hindi" if language == "hi" else "spanish")
    wording = load_wording(language)

    tasks = word_tasks(suite, ["m"])[:2]
    snapshot(
        f"word-prompts-{language}.txt", "\n\n".join(task.judge_prompt(wording, "Una respuesta.") for task in tasks)
    )


def test_the_prompts_to_models_match_their_snapshot(snapshot):
    tasks = [task for name in sorted(LEAST) for task in word_tasks(load_vocabulary(name), ["m"])[:2]]

    snapshot("word-tasks.txt", "\n".join(task.text for task in tasks) + "\n")


@pytest.mark.parametrize("language", wording_languages())
def test_every_wording_reads_its_own_verdicts(language):
    wording = load_wording(language)

    for word in wording.correct:
        assert read_word_verdict(f"**{word.upper()}**.", wording).verdict == "correct"
    for word in wording.incorrect:
        assert read_word_verdict(f" {word}!", wording).verdict == "incorrect"
    for prompt in (wording.judge_prompt_a, wording.judge_prompt_b):
        assert all(f"{{{place}}}" in prompt for place in ("word", "reference_definition", "model_response"))


def test_braces_in_an_answer_are_text():
    suite = load_vocabulary("spanish")
    task = word_tasks(suite, ["m"])[0]

    prompt = task.judge_prompt(wording_of(suite), "{word} {prompt} {reference_definition} {model_response}")

    assert "\n{word} {prompt} {reference_definition} {model_response}\n</text-" in prompt
