"""Judge scores on disk: round trips, lookup by tag or name, and invalid rows."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.translation_scores import TranslationScores, read_score_row, score_row, write_translation_scores
from polyjudge.records.outcomes import Provenance
from polyjudge.records.translation import LanguageScore, PromptScore
from polyjudge.verdicts.translation import scores_pass

FOUNDING = {
    "languageName": "Thai",
    "scriptScore": 5,
    "grammarScore": 4,
    "coherenceScore": 4,
    "isCorrectLanguage": True,
    "notes": "Natural Thai.",
}
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12).filter(
    lambda text: json.loads(json.dumps(text)) == text  # two halves of a character make a whole
)
POINTS = st.none() | st.integers(1, 5) | st.floats(1, 5)
KNOWN = {"schemaVersion", "languageName", "languageCode", "scriptScore", "grammarScore", "coherenceScore", "index"} | {
    *("isCorrectLanguage", "notes", "error", "judge", "judged", "unjudged", "means", "prompts", "batching"),
    "provenance",
}
EXTRA = st.dictionaries(
    TEXTS.filter(lambda name: name not in KNOWN) | st.just("extra"), TEXTS | st.integers() | st.lists(TEXTS), max_size=2
)
PROMPTS = st.builds(
    PromptScore,
    index=st.integers(0, 10**6),
    script_score=POINTS,
    grammar_score=POINTS,
    coherence_score=POINTS,
    is_correct_language=st.none() | st.booleans(),
    notes=TEXTS,
    error=TEXTS,
    provenance=st.none(),
    extra=EXTRA,
)
SCORES = st.builds(
    LanguageScore,
    language_name=TEXTS.filter(bool),
    language_code=TEXTS,
    script_score=POINTS,
    grammar_score=POINTS,
    coherence_score=POINTS,
    is_correct_language=st.none() | st.booleans(),
    notes=TEXTS,
    error=TEXTS,
    judge=TEXTS,
    judged=st.integers(0, 100),
    unjudged=st.integers(0, 100),
    means=st.dictionaries(st.sampled_from(["script", "grammar", "coherence"]), st.floats(1, 5)),
    prompts=st.lists(PROMPTS, max_size=3).map(tuple),
    batching=st.dictionaries(TEXTS, st.integers(), max_size=2),
    extra=EXTRA,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scores.json"


def open_scores(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return TranslationScores(path)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    scores=st.lists(SCORES, max_size=3, unique_by=lambda each: (each.language_code or each.language_name).casefold())
)
def test_what_is_written_is_read_back_unchanged(path, scores):
    write_translation_scores(path, scores, force=True)
    read = TranslationScores(path)

    assert read.problems == []
    for score in scores:
        if score.language_code or not any(each.language_code for each in scores):
            assert read.find(score.language_code, score.language_name) == score


@given(SCORES)
def test_a_row_is_read_as_the_score_that_was_written(score):
    assert read_score_row(json.loads(json.dumps(score_row(score)))) == score


def test_provenance_survives_a_round_trip(path):
    provenance = Provenance(provider="p", model="m", rubric="r", rubric_fingerprint="f", prompt_sha256="s", attempts=2)
    score = LanguageScore(language_name="Thai", prompts=(PromptScore(index=0, script_score=5, provenance=provenance),))
    write_translation_scores(path, [score])

    assert TranslationScores(path).find("", "Thai") == score


def test_an_unknown_score_is_null_on_disk(path):
    write_translation_scores(path, [LanguageScore(language_name="Thai", prompts=(PromptScore(index=3),))])

    [row] = json.loads(path.read_text(encoding="utf-8"))

    nulls = dict.fromkeys(("scriptScore", "grammarScore", "coherenceScore", "isCorrectLanguage"))
    assert row.items() >= {"schemaVersion": 1, "languageName": "Thai", **nulls}.items()
    assert row["prompts"] == [{"index": 3, **nulls}]


def test_a_file_without_scores_can_be_written_and_read(path):
    write_translation_scores(path, [])

    assert json.loads(path.read_text(encoding="utf-8")) == []
    assert len(TranslationScores(path)) == 0


@pytest.mark.parametrize("form", [lambda rows: rows, lambda rows: {"scores": rows}, lambda rows: {"judgeScores": rows}])
def test_rows_of_the_founding_document_are_read_as_a_list_or_in_an_object(path, form):
    scores = open_scores(path, form([FOUNDING]))

    assert scores.find("th", "THAI") == LanguageScore(
        language_name="Thai",
        script_score=5,
        grammar_score=4,
        coherence_score=4,
        is_correct_language=True,
        notes="Natural Thai.",
    )
    assert scores.find("lo", "Lao") is None
    assert scores.find("", "") is None


def test_null_is_the_same_as_missing(path):
    names = ("languageCode", "scriptScore", "notes", "error", "judge", "judged", "means", "batching", "prompts")
    prompt = {"index": 0, "notes": None, "error": None, "provenance": None, "grammarScore": None}

    scores = open_scores(
        path,
        [{"languageName": "Thai", **dict.fromkeys(names)}, {"languageName": "Lao", "prompts": [prompt]}],
    )

    assert scores.problems == []
    assert scores.find("", "Thai") == LanguageScore(language_name="Thai")
    assert scores.find("", "Lao") == LanguageScore(language_name="Lao", prompts=(PromptScore(index=0),))


@pytest.mark.parametrize("field", ["scriptScore", "grammarScore", "coherenceScore"])
@pytest.mark.parametrize("value", ["0", "5.01", "50", "-1", "NaN", "Infinity", "1e999", '"4"', "true", "[4]"])
def test_a_score_off_the_scale_is_reported_and_its_language_is_unjudged(path, field, value):
    rows = f'[{json.dumps(FOUNDING)},\n{{"languageName": "Lao", "languageCode": "lo", "{field}": {value}}}]'
    scores = open_scores(path, rows)

    assert scores.skipped == 1
    assert scores.problems[0].startswith(f"{path}:2: {field}: ")
    lao = scores.find("lo", "Lao")
    assert field in lao.error
    assert scores_pass(lao) is None
    assert scores_pass(scores.find("th", "Thai")) is True


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (7, "must be a JSON object"),
        ("text", "must be a JSON object"),
        ([], "must be a JSON object"),
        ({"scriptScore": 5}, "the key 'languageName' is missing"),
        ({"languageName": 7}, "languageName: expected text, found 7"),
        ({"languageName": "Lao", "isCorrectLanguage": "yes"}, "isCorrectLanguage: expected true or false, found 'yes'"),
        ({"languageName": "Lao", "notes": ["a"]}, "notes: expected text, found ['a']"),
        ({"languageName": "Lao", "prompts": 5}, "prompts must be a list"),
        ({"languageName": "Lao", "prompts": [5]}, "'Lao': a prompt must be a JSON object"),
        ({"languageName": "Lao", "prompts": [{}]}, "'Lao', a prompt: the key 'index' is missing"),
        ({"languageName": "Lao", "prompts": [{"index": 0, "scriptScore": 9}]}, "'Lao', a prompt: scriptScore: 9 is"),
    ],
)
def test_an_invalid_row_is_reported_with_its_line_and_the_rest_is_used(path, row, problem):
    scores = open_scores(path, json.dumps([row, FOUNDING], indent=0))

    assert scores.problems[0].startswith(f"{path}:2: {problem}")
    assert (len(scores.problems), scores.skipped) == (1, 1)
    assert scores.find("", "Thai").script_score == 5


def test_an_invalid_prompt_does_not_affect_its_language(path):
    prompts = [{"index": 0, "scriptScore": 5}, {"index": 1, "scriptScore": 99}, {"index": 2, "scriptScore": 4}]

    thai = open_scores(path, [{**FOUNDING, "prompts": prompts}]).find("", "Thai")

    assert thai.script_score == 5
    assert [each.index for each in thai.prompts] == [0, 2]


def test_the_message_about_a_long_row_is_short(path):
    [problem] = open_scores(path, [{"languageName": "Thai", "notes": ["x" * 100_000]}]).problems

    assert len(problem) < 400 + len(str(path))


def test_many_invalid_rows_are_counted_and_the_first_are_reported(path):
    scores = open_scores(path, [7] * 1000)

    assert (scores.skipped, len(scores.problems)) == (1000, 20)


def test_a_row_is_found_by_tag_before_name(path):
    rows = [
        {"languageName": "Chinese", "languageCode": "zh-Hans", "scriptScore": 5},
        {"languageName": "Chinese", "languageCode": "zh-Hant", "scriptScore": 4},
        {"languageName": "yue", "scriptScore": 3},
    ]
    scores = open_scores(path, rows)

    assert scores.find("ZH-hant", "something else").script_score == 4
    assert scores.find("zh-Hans", "Chinese").script_score == 5
    assert scores.find("yue-HK", "YUE").script_score == 3
    assert scores.find("", "chinese").script_score == 5


def test_scores_of_another_tag_with_the_same_name_are_not_used(path):
    scores = open_scores(path, [{"languageName": "Chinese", "languageCode": "zh-Hans", "scriptScore": 5}])

    assert scores.find("zh-Hant", "Chinese") is None


def test_the_second_row_of_a_language_is_reported_and_ignored(path):
    second = {**FOUNDING, "languageName": "THAI", "scriptScore": 1}

    scores = open_scores(path, f"[{json.dumps(FOUNDING)},\n{json.dumps(second)}]")

    assert scores.find("th", "Thai").script_score == 5
    assert scores.problems == [f"{path}:2: duplicate language 'THAI'"]


def test_fields_that_polyjudge_does_not_know_survive(path, tmp_path):
    row = {**FOUNDING, "tier": "quick", "extra": 5, "prompts": [{"index": 0, "latency": [1, 2], "extra": None}]}
    score = open_scores(path, [row]).find("", "Thai")

    write_translation_scores(tmp_path / "again.json", [score])

    [again] = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again.items() >= {key: value for key, value in row.items() if key != "prompts"}.items()
    assert again["prompts"][0].items() >= row["prompts"][0].items()


def test_a_row_that_is_nested_too_deeply_is_reported(path):
    scores = open_scores(path, f'[{{"languageName": "Lao", "x": {"[" * 500 + "]" * 500}}}, {json.dumps(FOUNDING)}]')

    assert scores.problems == [f"{path}:1: nested too deeply"]
    assert scores.find("", "Thai") is not None


@pytest.mark.parametrize("content", ["", "[", "7", '{"scores": [1,]}'])
def test_a_file_that_is_not_a_scores_file_is_an_error(path, content):
    with pytest.raises(DataError, match=r"scores\.json:1: "):
        open_scores(path, content)


@pytest.mark.parametrize("text", ["\ud800", "\u202eabc", "a\x1b[31m\x9b"])
def test_notes_of_any_kind_are_escaped_and_survive_a_round_trip(path, text):
    score = LanguageScore(language_name="ไทย", notes=text)
    write_translation_scores(path, [score])

    written = path.read_bytes().decode("utf-8")
    assert "ไทย" in written
    assert not set(written) & set("\u202e\x9b\x1b")
    assert TranslationScores(path).find("", "ไทย") == score
