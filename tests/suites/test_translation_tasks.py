"""The languages and prompts of a results file that are judged."""

import pytest

from polyjudge.languages.table import language_table
from polyjudge.records.translation import LanguageResult, PromptResult
from polyjudge.suites.translation import quick_choice, tasks_of

TABLE = language_table()


def language(code="", name="", family="", prompts=1):
    given = tuple(
        PromptResult(generated_output=f"{code}{name} {number}", source_text=f"s{number}") for number in range(prompts)
    )
    return LanguageResult(language_name=name or code, language_code=code, script_family=family, prompts=given)


def chosen(*languages):
    found, absent = quick_choice(languages, TABLE)
    return [each.language_code or each.language_name for each in found], [each.tag for each in absent]


def test_the_must_have_languages_come_first_in_their_order():
    file = [language(tag) for tag in ("th", "en", "es-419", "yue", "zh-Hans")]

    assert chosen(*file) == (["zh-Hans", "yue", "es-419", "en", "th"], [])


@pytest.mark.parametrize("alias", ["zh", "zh-cmn", "zh-Hans", "ZH-hans", "zh_Hans", "zh-CN"])
def test_mandarin_is_found_by_several_tags(alias):
    found, absent = chosen(language(alias), language("th"))

    assert alias in found
    assert "zh-Hans" not in absent


def test_a_language_without_a_known_tag_is_found_by_its_name():
    file = [language("", "Cantonese"), language("x-own", "Spanish (Latin American)"), language("", "English")]

    found, absent = chosen(*file)

    assert found == ["Cantonese", "x-own", "English"]
    assert absent == ["zh-Hans"]


def test_a_tag_has_precedence_over_a_name():
    file = [language("", "English"), language("en", "Inglés")]

    assert chosen(*file)[0][0] == "en"


def test_missing_must_have_languages_are_named():
    assert chosen(language("th"))[1] == ["zh-Hans", "yue", "es-419", "en"]
    assert chosen()[1] == ["zh-Hans", "yue", "es-419", "en"]
    assert chosen(language("zh-Hant"), language("es"))[1] == ["zh-Hans", "yue", "es-419", "en"]


def test_the_most_spoken_language_of_each_script_family_is_chosen():
    file = [language(tag) for tag in ("is", "de", "uk", "ru", "mk", "ne", "hi", "mr", "th")]

    assert chosen(*file)[0] == ["de", "ru", "hi", "th"]


def test_a_must_have_language_that_is_the_most_spoken_of_its_family_is_chosen_once():
    assert chosen(language("en"), language("de"), language("zh-Hans"))[0] == ["zh-Hans", "en"]


def test_families_come_from_the_file_in_any_spelling():
    file = [
        language("zh-Hans", family="cjk"), language("ja", family="CJK"),
        language("q1", family="Quipu"), language("q2", family="quipu"),
    ]  # fmt: skip

    assert chosen(*file)[0] == ["zh-Hans", "q1"]


def test_a_language_without_prompts_does_not_represent_its_family():
    assert chosen(language("ru", prompts=0), language("mk"), language("uk", prompts=0))[0] == ["mk"]
    assert chosen(language("ru", prompts=0))[0] == ["ru"]


def test_every_prompt_is_a_task_with_an_id_of_tag_and_index():
    tasks = tasks_of([language("th", prompts=2), language("", "Klingon", prompts=1)], TABLE)

    assert [task.id for task in tasks] == ["th:0", "th:1", "Klingon:0"]
    assert [task.known.tag if task.known else None for task in tasks] == ["th", "th", None]


def test_the_sample_of_a_language_depends_only_on_the_seed():
    many = [language(tag, prompts=30) for tag in ("th", "ru", "el")]

    def sample(languages, seed):
        return [task.id for task in tasks_of(languages, TABLE, samples=5, seed=seed)]

    first = sample(many, 1)
    assert len(first) == len(set(first)) == 15
    assert first == sample(many, 1)
    assert first != sample(many, 2)
    assert set(sample(many[1:], 1)) <= set(first)
    places = [[int(task.rpartition(":")[2]) for task in first[start : start + 5]] for start in (0, 5, 10)]
    assert all(place == sorted(place) for place in places)
    assert places[0] != places[1] != places[2]


def test_a_sample_larger_than_the_language_is_all_of_it():
    assert len(tasks_of([language("th", prompts=3)], TABLE, samples=10)) == 3
    assert tasks_of([language("th", prompts=0)], TABLE, samples=1) == []


def test_the_context_has_both_names_of_the_language_and_no_empty_field():
    [task] = tasks_of([language("th")], TABLE)

    assert task.context() == {"language": "Thai (ไทย)", "source": "s0"}
    [unknown] = tasks_of([language("", "Klingon")], TABLE)
    assert unknown.context()["language"] == "Klingon"
    given = PromptResult(generated_output="x", source_text="a", reference="b", category="c", prompt="say a")
    [task] = tasks_of([LanguageResult(language_name="Thai", prompts=(given,))], TABLE)
    assert task.context() == {"language": "Thai (ไทย)", "source": "a", "reference": "b"}
    assert task.item().context == task.context()
    assert task.item(offline=True).context["prompt"] == "say a"


def test_the_checks_use_the_script_of_the_tag():
    [task] = tasks_of([language("sr-Latn", "Serbian")], TABLE)

    item = task.item(offline=True)
    assert TABLE.find(item.language, item.context["language_name"]).scripts == ("Latn",)


@pytest.mark.parametrize(
    ("code", "name", "asked"),
    [
        ("yue", "", True), ("yue-HK", "", True), ("", "Cantonese", True), ("YUE", "", True),
        ("zh-Hans", "", False), ("zh-Hant", "", False), ("th", "", False), ("", "Klingon", False),
    ],
)  # fmt: skip
def test_the_cantonese_question_is_asked_only_about_cantonese(code, name, asked):
    [task] = tasks_of([language(code, name)], TABLE)

    assert ("Cantonese (Yue) or Mandarin" in task.question()) == asked
    assert task.batch_item().question == task.question()


def test_tasks_are_compared_by_identity():
    twice = language("th")
    first, second = tasks_of([twice, twice], TABLE)

    assert first != second
    assert len({first, second}) == 2
