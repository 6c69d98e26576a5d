"""The judge without a model: it scores what the checks see, says why, and says nothing of what they cannot see."""

import subprocess
import sys

import pytest

from polyjudge.errors import ConfigError
from polyjudge.judges.offline import OfflineJudge
from polyjudge.languages.table import language_table
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.rubrics.loading import load_rubric

RUBRIC = load_rubric("translation")
SOURCE = "My friend had an accident on the road. Please call 112 quickly!"
GOOD = {
    "de": "Mein Freund hatte einen Unfall auf der Straße. Bitte rufen Sie schnell die 112 an!",
    "ru": "Мой друг попал в аварию на дороге. Пожалуйста, скорее позвоните по номеру 112!",
    "ja": "友達が道路で事故に遭いました。急いで112に電話してください！",
    "hi": "मेरे दोस्त का सड़क पर हादसा हो गया है। कृपया जल्दी से 112 पर फ़ोन करें!",
}


def judged(candidate, language, source=SOURCE, **context):
    [outcome] = OfflineJudge(RUBRIC).score_batch_sync(
        [(candidate, {"language": language, "source": source, **context})]
    )
    return outcome


@pytest.mark.parametrize("language", sorted(GOOD))
def test_of_a_good_translation_the_script_and_the_language_are_seen_and_nothing_is_guessed(language):
    outcome = judged(GOOD[language], language)

    assert outcome.subscores == {"script": 5.0}
    assert outcome.flags == {"isCorrectLanguage": True}
    assert "the checks found no problem" in outcome.reason
    assert "grammar and coherence cannot be judged without a model" in outcome.reason


@pytest.mark.parametrize(
    ("candidate", "language", "subscores", "message"),
    [
        ("", "de", {"script": 1, "grammar": 1, "coherence": 1}, "empty"),
        (" \n\u200b", "de", {"script": 1, "grammar": 1, "coherence": 1}, "empty"),
        (SOURCE, "ga", {"script": 5, "coherence": 1}, "source copied"),
        ("I'm sorry, but I can't help with that request.", "ha", {"script": 5, "coherence": 1}, "refusal"),
        ("der Bus und " * 80, "de", {"script": 5, "grammar": 1, "coherence": 1}, "repetition"),
        (f"Here is the translation: {GOOD['de']}", "de", {"script": 5, "coherence": 1}, "prompt leak"),
        (f"{GOOD['de']}<|im_end|>", "de", {"script": 5, "grammar": 2}, "template leak"),
        (GOOD["ru"], "de", {"script": 1, "coherence": 2}, "wrong script"),
        (GOOD["de"].replace("112", "211"), "de", {"script": 5, "coherence": 2}, "number changed"),
        ("Ja.", "de", {"script": 5, "coherence": 2}, "wrong length"),
        ("Mein Freund hatte einen Unfall auf der", "de", {"script": 5, "coherence": 2}, "cut off"),
        (
            "Mein Freund hatte einen Unfall auf der Autobahn nach Köln, bitte wählen Sie sofort 112,",
            "de",
            {"script": 5, "coherence": 3},
            "cut off",
        ),
    ],
)
def test_each_fault_moves_the_scores_that_it_concerns_and_is_named(candidate, language, subscores, message):
    outcome = judged(candidate, language)

    assert outcome.subscores == subscores
    assert message in outcome.reason


def test_another_language_is_named_and_lowers_what_is_said_of_the_meaning():
    outcome = judged(GOOD["hi"], "mr")

    assert outcome.flags == {"isCorrectLanguage": False}
    assert outcome.subscores == {"script": 5.0, "coherence": 2.0}
    assert "Hindi, not Marathi" in outcome.reason


def test_broken_characters_are_no_good_script_and_no_good_sentence():
    outcome = judged(GOOD["de"].replace("ß", "\ufffd"), "de")

    assert outcome.subscores["script"] == 2
    assert outcome.subscores["grammar"] == 2


def test_a_leak_of_another_script_is_between_right_and_wrong():
    mixed = judged(GOOD["ru"].replace("дороге", "дорoге"), "ru")  # a Latin o

    assert mixed.subscores["script"] == 3.0
    assert "mixed script" in mixed.reason


def test_a_language_that_cannot_be_identified_is_left_open():
    outcome = judged("Taksi", "id", source="Taxi")

    assert outcome.flags == {}
    assert "the checks cannot determine whether it is Indonesian" in outcome.reason


@pytest.mark.parametrize("candidate", ["112", "25 €", "12:30 – 14:45", "!?"])
def test_where_nothing_can_be_seen_there_is_no_verdict_and_no_guess(candidate):
    outcome = judged(candidate, "th", source=candidate)

    assert isinstance(outcome, Failure)
    assert outcome.kind == "bad_item"
    assert "nothing to score" in outcome.reason


@pytest.mark.parametrize("language", ["xx-nope", "", "Klingon", "99"])
def test_an_unknown_language_is_an_item_that_cannot_be_judged(language):
    outcome = judged("nuqneH", language)

    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.model) == ("bad_item", "checks-4")
    assert repr(language) in outcome.reason


def test_a_language_is_found_by_its_name_and_a_script_in_the_tag_counts():
    assert judged(GOOD["de"], "German").flags == judged(GOOD["de"], "xx", language_name="German").flags
    latin, cyrillic = "Gde je najbliža železnička stanica?", "Где је најближа железничка станица?"
    assert judged(latin, "sr-Latn", source="").subscores["script"] == 5
    assert judged(cyrillic, "sr-Latn", source="").subscores["script"] == 1
    assert judged(cyrillic, "sr", source="").subscores["script"] == 5


def test_without_a_source_only_the_text_itself_is_looked_at():
    outcome = judged("Ja.", "de", source="")

    assert outcome.subscores == {"script": 5.0}
    assert isinstance(judged("", "de", source=""), JudgeResult)


@pytest.mark.parametrize("context", [None, {}])
def test_without_a_context_there_is_no_language_to_judge_by(context):
    [outcome] = OfflineJudge(RUBRIC).score_batch_sync([("Hallo", context)])

    assert isinstance(outcome, Failure)


def test_without_sacrebleu_a_reference_is_not_used():
    """In a process of its own, where the package cannot be imported."""
    code = (
        "import sys; sys.modules['sacrebleu'] = None\n"
        "from polyjudge.judges.offline import OfflineJudge\n"
        "from polyjudge.rubrics.loading import load_rubric\n"
        "context = {'language': 'de', 'reference': 'Guten Tag, wie geht es Ihnen heute?'}\n"
        "result = OfflineJudge(load_rubric('translation')).score_sync('Guten Tag, wie geht es Ihnen heute?', context)\n"
        "assert dict(result.subscores) == {'script': 5.0}, result\n"
        "assert 'chrF' not in result.reason\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_rubric_of_other_criteria_is_refused():
    with pytest.raises(ConfigError, match="cannot judge by 'general'"):
        OfflineJudge(load_rubric("general"))


def test_a_result_says_where_it_came_from_and_is_the_same_each_time():
    first, second = judged(GOOD["de"], "de"), judged(GOOD["de"], "de")

    assert first == second
    assert (first.provenance.provider, first.provenance.model_answered) == ("offline", "checks-4")
    assert first.provenance.rubric == "translation"
    assert first.provenance.rubric_fingerprint
    assert first.provenance.polyjudge_version


@pytest.mark.parametrize(
    "hostile", ["half \ud800", "\x00", "\x1b[31mrot", "\u202egnal", "{}", "%s" * 1000, "ا" * 20000]
)
def test_any_text_in_any_language_has_an_outcome(hostile):
    judge = OfflineJudge(RUBRIC)
    items = [(hostile, {"language": each.tag, "source": hostile[::-1]}) for each in list(language_table())[::8]]

    for outcome in judge.score_batch_sync(items):
        assert isinstance(outcome, JudgeResult | Failure)
        if isinstance(outcome, JudgeResult):
            assert all(1 <= value <= 5 for value in outcome.subscores.values())
            assert outcome.subscores
