"""Translation results: the founding app's format, tables, invalid files, and round trips."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.translation_results import (
    TranslationResults,
    language_row,
    read_language_row,
    write_translation_results,
)
from polyjudge.records.translation import LanguageResult, PromptResult

FOUNDING = [
    {
        "languageName": "Chinese (Mandarin)",
        "languageCode": "zh",
        "scriptFamily": "cjk",
        "priority": "mustHave",
        "prompts": [
            {
                "category": "directions",
                "sourceText": "Where is the nearest subway station?",
                "prompt": "Translate to Mandarin: Where is the nearest subway station?",
                "generatedOutput": "最近的地铁站在哪里？",
                "tokenCount": 12,
                "tokensPerSecond": 12.3,
                "scriptValidationPassed": True,
                "durationMs": 976,
            },
            {
                "category": "food",
                "sourceText": "Water, please",
                "prompt": "Translate to Mandarin: Water, please",
                "generatedOutput": "",
                "tokenCount": 0,
                "tokensPerSecond": 0,
                "scriptValidationPassed": False,
                "durationMs": 4,
            },
        ],
    },
    {"languageName": "Thai", "languageCode": "th", "scriptFamily": "thai", "priority": "standard", "prompts": []},
]


def save(path, content):
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
    return path


def prompt(output="hola", **more):
    return {"generatedOutput": output, **more}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.json"


def test_the_file_of_the_founding_app_is_read_whole(path):
    results = TranslationResults(save(path, FOUNDING))

    chinese, thai = results

    assert (chinese.language_name, chinese.language_code) == ("Chinese (Mandarin)", "zh")
    assert (chinese.script_family, chinese.priority) == ("cjk", "mustHave")
    assert chinese.prompts[0] == PromptResult(
        category="directions",
        source_text="Where is the nearest subway station?",
        prompt="Translate to Mandarin: Where is the nearest subway station?",
        generated_output="最近的地铁站在哪里？",
        token_count=12,
        tokens_per_second=12.3,
        script_validation_passed=True,
        duration_ms=976,
    )
    assert chinese.prompts[1].generated_output == ""
    assert (chinese.prompts[1].token_count, chinese.prompts[1].script_validation_passed) == (0, False)
    assert thai.prompts == ()
    assert (results.about, results.problems, results.skipped) == ({}, [], 0)


def test_the_file_of_the_founding_app_survives_a_round_trip_unchanged(path, tmp_path):
    write_translation_results(tmp_path / "again.json", {}, TranslationResults(save(path, FOUNDING)))

    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8")) == FOUNDING


@pytest.mark.parametrize("name", ["results", "languageResults"])
@pytest.mark.parametrize(
    "about",
    [
        {
            "bindingUsed": "llama_cpp",
            "deviceInfo": {"model": "Pixel 8", "ram": 8, "os": ["Android", 15]},
            "model": "q4",
        },
        {"binding": "fllama", "device": "iPhone", "schemaVersion": 1},
        {},
    ],
)
def test_fields_of_the_run_are_kept_wherever_they_are(path, tmp_path, name, about):
    head, tail = dict(list(about.items())[:1]), dict(list(about.items())[1:])
    results = TranslationResults(save(path, {**head, name: FOUNDING, **tail}))

    languages = list(results)
    write_translation_results(tmp_path / "again.json", results.about, languages)
    again = TranslationResults(tmp_path / "again.json")

    assert results.about == about
    assert (list(again), again.about) == (languages, about)


def test_a_second_iteration_reads_and_counts_the_same(path):
    results = TranslationResults(save(path, [*FOUNDING, 7]))

    assert list(results) == list(results)
    assert (results.skipped, len(results.problems)) == (1, 1)


def test_lines_can_be_languages(tmp_path):
    lines = "".join(json.dumps(language) + "\n" for language in FOUNDING)
    path = save(tmp_path / "results.jsonl", lines)

    assert list(TranslationResults(path)) == list(TranslationResults(save(tmp_path / "results.json", FOUNDING)))


def test_lines_can_be_single_prompts_and_are_grouped_by_language(tmp_path):
    rows = [
        {"languageCode": "es-419", "languageName": "Spanish", "generatedOutput": "hola", "seed": 1},
        {"languageCode": "th", "generatedOutput": "สวัสดี", "tokenCount": 3},
        {"languageCode": "ES-419", "priority": "mustHave", "generatedOutput": "adiós", "scriptValidationPassed": None},
    ]
    path = save(tmp_path / "rows.JSONL", "\n".join(map(json.dumps, rows)))

    spanish, thai = TranslationResults(path)

    assert [each.generated_output for each in spanish.prompts] == ["hola", "adiós"]
    assert (spanish.language_name, spanish.language_code, spanish.priority) == ("Spanish", "es-419", "mustHave")
    assert spanish.prompts[0].extra == {"seed": 1}
    assert (thai.language_name, thai.prompts[0].token_count) == ("th", 3)


@pytest.mark.parametrize(("suffix", "comma"), [(".csv", ","), (".tsv", "\t")])
def test_tables_of_prompts_are_read_and_an_empty_cell_is_a_missing_value(tmp_path, suffix, comma, text):
    header = ["languageCode", "generatedOutput", "tokenCount", "tokensPerSecond", "scriptValidationPassed", "own"]
    rows = [["xx", text, "12", "3.5", "true", "a"], ["xx", "", "", "", "", ""], ["xx", "b", "7.0", "8", "FALSE", "c"]]
    lines = [comma.join(f'"{cell}"' if cell else "" for cell in row) for row in [header, *rows]]
    results = TranslationResults(save(tmp_path / f"rows{suffix}", "\n".join(lines)))

    [language] = results

    assert results.problems == []
    assert [each.generated_output for each in language.prompts] == [text, "", "b"]
    assert [each.token_count for each in language.prompts] == [12, None, 7]
    assert [each.tokens_per_second for each in language.prompts] == [3.5, None, 8.0]
    assert [each.script_validation_passed for each in language.prompts] == [True, None, False]
    assert language.prompts[0].extra == {"own": "a"}


def test_an_invalid_row_of_a_table_is_reported_with_its_line(tmp_path):
    lines = ["languageCode,generatedOutput,tokenCount", "es,hola,1", "es,adiós,many", ",no name,1", ",none,2", "es,x"]
    results = TranslationResults(save(tmp_path / "rows.csv", "\n".join(lines)))

    [language] = results

    assert [each.generated_output for each in language.prompts] == ["hola", "adiós"]
    assert results.skipped == 4
    assert sorted(results.problems) == [
        f"{results.path}:3: prompt es:1: tokenCount: expected a number, found 'many'",
        f"{results.path}:4: 'language' is missing",
        f"{results.path}:5: 'language' is missing",
        f"{results.path}:6: expected 3 fields, found 2",
    ]


@pytest.mark.parametrize(
    ("language", "problem"),
    [
        (7, "a language must be a JSON object"),
        ("\x1b[31mtext", "a language must be a JSON object"),
        (None, "a language must be a JSON object"),
        ({"prompts": []}, "languageName and languageCode are missing"),
        ({"languageName": "", "languageCode": None, "prompts": []}, "languageName and languageCode are missing"),
    ],
)
def test_an_invalid_language_is_skipped_and_the_rest_is_read(path, language, problem):
    results = TranslationResults(save(path, [FOUNDING[1], language, FOUNDING[0]]))

    assert [each.language_code for each in results] == ["th", "zh"]
    assert results.skipped == 1
    assert results.problems == [f"{path}:1: {problem}"]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (7, "must be a JSON object"),
        ([], "must be a JSON object"),
        ({}, "generatedOutput must be text"),
        (prompt(None), "generatedOutput must be text"),
        (prompt(["hola"]), "generatedOutput must be text"),
        (prompt(5), "generatedOutput must be text"),
    ],
)
def test_an_invalid_prompt_is_skipped_and_the_rest_is_read(path, bad, problem):
    results = TranslationResults(save(path, [{"languageName": "Spanish", "prompts": [prompt(), bad, prompt("adiós")]}]))

    [language] = results

    assert [each.generated_output for each in language.prompts] == ["hola", "adiós"]
    assert (results.skipped, results.problems) == (1, [f"{path}:1: prompt Spanish:1: {problem}"])


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("tokenCount", '"many"'),
        ("tokenCount", "1.5"),
        ("tokenCount", "true"),
        ("tokenCount", "1e999"),
        ("tokenCount", "Infinity"),
        ("tokenCount", "-Infinity"),
        ("tokenCount", '"inf"'),
        ("tokensPerSecond", "NaN"),
        ("tokensPerSecond", "1e999"),
        ("tokensPerSecond", "1" * 400),
        ("tokensPerSecond", '"nan"'),
        ("tokensPerSecond", "[1]"),
        ("durationMs", "{}"),
        ("scriptValidationPassed", "1"),
        ("scriptValidationPassed", '"maybe"'),
        ("category", "[]"),
        ("sourceText", "false"),
        ("reference", '{"a": 1}'),
    ],
)
def test_a_field_of_the_wrong_type_is_reported_and_left_out(path, field, text):
    rows = f'[{{"languageName": "Spanish", "prompts": [{{"generatedOutput": "hola", "{field}": {text}}}]}}]'
    results = TranslationResults(save(path, rows))

    [language] = results

    assert language.prompts == (PromptResult(generated_output="hola"),)
    [problem] = results.problems
    assert problem.startswith(f"{path}:1: prompt Spanish:0: {field}: ")
    assert len(problem) < 300 + len(str(path))


def test_the_tag_replaces_a_name_of_the_wrong_type(path):
    results = TranslationResults(save(path, [{"languageName": {"en": "Thai"}, "languageCode": "th", "prompts": []}]))

    [language] = results

    assert (language.language_name, language.language_code) == ("th", "th")
    assert "languageName" in results.problems[0]


@pytest.mark.parametrize("prompts", [{}, "text", 3, None])
def test_a_language_without_a_list_of_prompts_has_none(path, prompts):
    results = TranslationResults(save(path, [{"languageName": "Spanish", "prompts": prompts}]))

    [language] = results

    assert language.prompts == ()
    assert results.problems == [f"{path}:1: Spanish: prompts must be a list"]


def test_all_problems_are_counted_and_the_first_are_reported(path):
    results = TranslationResults(save(path, [{"languageName": "Spanish", "prompts": [7] * 1000}]))

    list(results)

    assert (results.skipped, len(results.problems)) == (1000, 20)


def test_problems_are_reported_with_the_line_of_their_language(path):
    results = TranslationResults(save(path, json.dumps([FOUNDING[1], 7], indent=1)))

    list(results)

    line = json.dumps([FOUNDING[1], 7], indent=1).splitlines().index(" 7") + 1
    assert results.problems[0].startswith(f"{path}:{line}: ")


def test_control_characters_of_a_name_are_escaped_in_messages(path):
    results = TranslationResults(save(path, json.dumps([{"languageName": "a\x1b[31m\u202e\ud800", "prompts": 1}])))

    list(results)

    assert r"'a\x1b[31m\u202e\ud800'" in results.problems[0]


def test_a_value_that_is_nested_too_deeply_is_left_out(path):
    deep = "[" * 500 + "]" * 500
    rows = f'[{{"languageName": "Spanish", "x": {deep}, "prompts": [{{"generatedOutput": "hola", "y": {deep}}}]}}]'
    results = TranslationResults(save(path, rows))

    assert list(results) == [LanguageResult(language_name="Spanish", prompts=(PromptResult(generated_output="hola"),))]
    assert results.problems == [
        f"{path}:1: 'x' is nested too deeply",
        f"{path}:1: prompt Spanish:0: 'y' is nested too deeply",
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"languageCode": "es"}, {"languageCode": "ES"}),
        ({"languageName": "Spanish"}, {"languageName": "SPANISH"}),
        ({"languageName": "Spanish", "languageCode": "es"}, {"languageName": "Other", "languageCode": "es"}),
    ],
)
def test_a_duplicate_language_is_an_error_with_both_lines(path, first, second):
    rows = json.dumps([{**first, "prompts": []}, {**second, "prompts": []}], indent=0)

    with pytest.raises(DataError, match=r"results\.json:\d+: duplicate language '(es|spanish)', first at line 2"):
        list(TranslationResults(save(path, rows)))


def test_two_tags_with_one_name_are_two_languages(path):
    rows = [{"languageName": "Chinese", "languageCode": code, "prompts": []} for code in ("zh-Hans", "zh-Hant")]

    assert len(list(TranslationResults(save(path, rows)))) == 2


@pytest.mark.parametrize(
    ("name", "content"), [("r.json", "[]"), ("r.json", "{}"), ("r.json", "[7]"), ("r.jsonl", ""), ("r.csv", "")]
)
def test_a_file_without_a_language_is_an_error(tmp_path, name, content):
    with pytest.raises(DataError, match=rf"{name}: no (languages found|usable rows)"):
        list(TranslationResults(save(tmp_path / name, content)))


def test_a_table_without_a_language_column_is_an_error_with_its_columns(tmp_path):
    path = save(tmp_path / "my.csv", "id,tongue,output\n1,th,Hello\n")

    with pytest.raises(DataError, match=r"my\.csv: no language column\. Found: id, tongue, output\."):
        list(TranslationResults(path))


@pytest.mark.parametrize("name", ["r.json", "r.jsonl", "r.csv", "r.tsv"])
def test_a_file_that_is_missing_or_a_folder_is_an_error(tmp_path, name):
    with pytest.raises(DataError, match=rf"{name}: cannot be read"):
        list(TranslationResults(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=rf"{name}: no tables found"):
        list(TranslationResults(tmp_path / name))


def test_fields_that_polyjudge_does_not_know_survive(path, tmp_path):
    rows = [
        {
            "languageName": "Spanish",
            "extra": 5,
            "own": {"deep": [1, {"a": None}]},
            "prompts": [prompt(sourceText="hi", extra="x", seed=7, prompts=["p"], generated_output="other")],
        }
    ]
    about = {"deviceInfo": {"a": [1]}, "extra": 1, "timestamp": "then"}

    results = TranslationResults(save(path, {**about, "results": rows}))
    languages = list(results)
    write_translation_results(tmp_path / "again.json", results.about, languages)

    assert json.loads((tmp_path / "again.json").read_text(encoding="utf-8")) == {**about, "results": rows}
    assert [read_language_row(language_row(each)) for each in languages] == languages


NAMES = {"languageName", "languageCode", "scriptFamily", "priority", "prompts", "category", "sourceText", "prompt"} | {
    "generatedOutput",
    "tokenCount",
    "tokensPerSecond",
    "scriptValidationPassed",
    "durationMs",
    "reference",
}
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12).filter(
    lambda text: json.loads(json.dumps(text)) == text  # two halves of a character make a whole
)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
EXTRA = st.dictionaries(TEXTS.filter(lambda name: name not in NAMES) | st.just("extra"), JSON, max_size=3)
PROMPTS = st.builds(
    PromptResult,
    category=TEXTS,
    source_text=TEXTS,
    prompt=TEXTS,
    generated_output=TEXTS,
    token_count=st.none() | st.integers(0, 10**6),
    tokens_per_second=NUMBERS,
    script_validation_passed=st.none() | st.booleans(),
    duration_ms=NUMBERS,
    reference=TEXTS,
    extra=EXTRA,
)
LANGUAGES = st.builds(
    LanguageResult,
    language_name=TEXTS.filter(bool),
    language_code=TEXTS,
    script_family=TEXTS,
    priority=TEXTS,
    prompts=st.lists(PROMPTS, max_size=3).map(tuple),
    extra=EXTRA,
)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    languages=st.lists(
        LANGUAGES,
        min_size=1,
        max_size=3,
        unique_by=lambda each: (each.language_code or each.language_name).casefold(),
    ),
    about=st.dictionaries(TEXTS.filter(lambda name: name not in ("results", "languageResults")), JSON, max_size=3),
)
def test_what_is_written_is_read_back_unchanged(path, languages, about):
    write_translation_results(path, about, languages, force=True)
    results = TranslationResults(path)

    assert list(results) == languages
    assert (results.about, results.problems) == (about, [])


@pytest.mark.parametrize("output", ["\ud83d", "a\udc00b", "नमस्ते \udfff", "\u202eabc\u202c", "\x9b31m", "\x1b[0m"])
def test_lone_surrogates_and_control_characters_are_escaped_and_survive_a_round_trip(path, output):
    language = LanguageResult(language_name="नमस्ते", prompts=(PromptResult(generated_output=output),))
    write_translation_results(path, {}, [language], force=True)

    text = path.read_bytes().decode("utf-8")
    assert "नमस्ते" in text
    assert not set(text) & set("\u202e\u202c\x9b\x1b")
    assert list(TranslationResults(path)) == [language]


def test_an_error_while_writing_leaves_the_old_file(path):
    save(path, FOUNDING)

    def failing():
        yield LanguageResult(language_name="Spanish")
        raise DataError("no more")

    with pytest.raises(DataError, match="no more"):
        write_translation_results(path, {}, failing(), force=True)

    assert json.loads(path.read_text(encoding="utf-8")) == FOUNDING
    assert [each.name for each in path.parent.iterdir()] == ["results.json"]
