"""All checks of one text at once."""

import gzip
import os
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest
from benchmarks.checks import NAME, Sentence, measure
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import language_table
from polyjudge.records.findings import ProblemKind, TextCheck

TABLE = language_table()
CHECKER = TextChecker(TABLE)
ANY_TEXT = st.text(alphabet=st.characters())
SOURCE = "Excuse me, where is the nearest train station? I would like to go to the old town."
PROMPT = f"Translate the following text into the language asked for. Reply with the translation only.\n\n{SOURCE}"
DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
CLEAN = {
    "en": SOURCE,
    "de": "Entschuldigung, wo ist der nächste Bahnhof? Ich möchte in die Altstadt fahren.",
    "es": "Disculpe, ¿dónde está la estación de tren más cercana? Me gustaría ir al casco antiguo.",
    "ru": "Извините, где находится ближайший вокзал? Я хотел бы поехать в старый город.",
    "el": "Συγγνώμη, πού είναι ο πλησιέστερος σταθμός; Θα ήθελα να πάω στην παλιά πόλη.",
    "ar": "عفوًا، أين أقرب محطة قطار؟ أود الذهاب إلى المدينة القديمة.",
    "he": "סליחה, איפה תחנת הרכבת הקרובה ביותר? הייתי רוצה לנסוע לעיר העתיקה.",
    "hi": "माफ़ कीजिए, सबसे नज़दीकी रेलवे स्टेशन कहाँ है? मैं पुराने शहर जाना चाहता हूँ।",
    "th": "ขอโทษครับ สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหน ผมอยากไปเมืองเก่า",
    "ko": "실례합니다, 가장 가까운 기차역이 어디예요? 구시가지에 가고 싶어요.",
    "ja": "すみません、一番近い駅はどこですか。旧市街に行きたいのですが。",
    "zh-Hans": "请问，最近的火车站在哪里？我想去老城。",
    "zh-Hant": "請問，最近的火車站在哪裡？我想去老城。",
    "yue": "唔該，最近嘅火車站喺邊度呀？我想去舊城。",
    "am": "ይቅርታ፣ በአቅራቢያው ያለው የባቡር ጣቢያ የት ነው? ወደ አሮጌው ከተማ መሄድ እፈልጋለሁ።",
}


def check(tag: str, text: str, source: str = SOURCE, prompt: str = PROMPT) -> TextCheck:
    language = TABLE.find(tag)
    assert language is not None
    return CHECKER.check(text, language, source=source, prompt=prompt)


@pytest.mark.parametrize("tag", sorted(CLEAN))
def test_a_good_translation_has_no_problem(tag):
    result = check(tag, CLEAN[tag])

    assert (result.script.state, result.language.state, result.problems) == ("pass", "right", ())
    assert not result.fails


NOISE = (
    "Grondal vesti promunde kelda shirong matari, ille besk tunolai when grasp oldur. Fekreti pla nostavi "
    "dhu merkin quasto brelle untvik salamani pergo through tirnak. Ostva melindre kaz bolomir est hafen diurka."
)
PLANTED = {
    "empty": ("de", " \u200b\n"),
    "wrong_script": ("ru", "Izvinite, gde nakhoditsya blizhayshiy vokzal? Ya khotel by poyekhat' v staryy gorod."),
    "mixed_script": ("de", "Entschuldigung, wо ist der nächste Bahnhof? Ich möchte in die Altstadt fahren."),
    "foreign_script": ("de", "Entschuldigung, wo ist der nächste вокзал? Ich möchte in die Altstadt fahren."),
    "broken_characters": ("de", "Entschuldigung, wo ist der n\ufffdchste Bahnhof? Ich möchte in die Altstadt fahren."),
    "wrong_language": ("de", CLEAN["es"]),
    "source_copied": ("de", SOURCE),
    "untranslated": ("de", "Entschuldigung, wo ist the nearest train station? Ich möchte in die Altstadt fahren."),
    "repetition": ("de", "Entschuldigung, wo ist der Bahnhof? " + "Ich möchte in die Altstadt. " * 8),
    "cut_off": ("de", "Entschuldigung, wo ist der nächste Bahnhof,"),
    "template_leak": ("de", CLEAN["de"] + "<|im_end|>"),
    "prompt_leak": ("de", "Reply with the translation only. " + CLEAN["de"]),
    "code_fence": ("de", CLEAN["de"] + "```"),
    "model_note": ("de", CLEAN["de"] + " (Note: this translation is more formal.)"),
    "refusal": ("de", "Es tut mir leid, aber ich kann das nicht übersetzen. Fragen Sie bitte jemand anderen."),
    "wrong_length": ("de", "Wo?"),
    "number_changed": ("de", "Rufen Sie 911 an."),
    "number_lost": ("de", "Rufen Sie die Polizei an."),
    "placeholder_lost": ("de", "Hallo, wo ist der Bahnhof?"),
    "markup_lost": ("de", "Drücken Sie Start."),
    "url_lost": ("de", "Siehe dort."),
    "extra_lines": ("de", "Siehe dort.\n\nDas ist der richtige Ort."),
    "url_added": ("de", "Siehe https://example.org."),
    "mention_lost": ("de", "Danke an @anna_benutzer für das Bild."),
    "untranslated_word": ("de", "Der gerade Schnitt ist straightforward und schnell gemacht."),
    "unclear_language": ("es", NOISE),
    "missing_sentences": ("de", "Die Fähre legte ab. Möwen folgten ihr. Ein Kind winkte."),
    "doubled_punctuation": ("de", "Wir gehen,, und zwar jetzt."),
    "question_lost": ("de", "Du kommst morgen."),
    "ellipsis_lost": ("de", "Nun, wir gehen."),
    "markup_added": ("de", "Wir gehen **jetzt** nach Hause."),
    "emoji_lost": ("de", "Wir gehen nach Hause."),
}
SOURCES = {
    "number_changed": "Call 112.",
    "number_lost": "Call 112.",
    "placeholder_lost": "Hello {name}, where is the station?",
    "markup_lost": "Press <b>Start</b>.",
    "url_lost": "See https://example.org.",
    "extra_lines": "See there, please.",
    "url_added": "See there.",
    "mention_lost": "Thanks to @anna_user for the picture.",
    "untranslated_word": "The straight cut is straightforward and quickly done.",
    "unclear_language": "The night train was late again, so we waited in the small room behind the ticket office.",
    "missing_sentences": "The ferry left. Gulls followed it. A child waved. Nobody waved back. Fog came. A bell rang.",
    "doubled_punctuation": "We go, and we go now.",
    "question_lost": "Will you come tomorrow?",
    "ellipsis_lost": "Well... we go.",
    "markup_added": "We are going home now.",
    "emoji_lost": "We are going home 🎉",
}


def test_every_kind_of_problem_is_planted_here():
    assert set(PLANTED) == set(get_args(ProblemKind))


@pytest.mark.parametrize("kind", sorted(PLANTED))
def test_a_planted_fault_is_found_by_its_kind(kind):
    tag, text = PLANTED[kind]

    assert kind in {problem.kind for problem in check(tag, text, SOURCES.get(kind, SOURCE)).problems}


@pytest.mark.parametrize("tag", sorted(set(CLEAN) - {"en"}))
def test_the_source_left_as_it_is_fails_in_every_language(tag):
    assert check(tag, SOURCE).fails


@for_each(("wanted", "given"), [(a, b) for a in CLEAN for b in CLEAN if a != b and {a, b} != {"yue", "zh-Hant"}])
def test_no_text_passes_for_another_language(wanted, given):
    result = check(wanted, CLEAN[given])

    assert result.fails or result.language.state == "unsure"
    assert result.fails or wanted == "yue"


def test_an_english_text_asked_for_in_english_is_no_copy():
    assert check("en", SOURCE).problems == ()


@pytest.mark.parametrize("tag", ["de", "fr", "tr", "id"])
@pytest.mark.parametrize("name", ["New York", "Taxi", "Angela Merkel"])
def test_a_name_that_stays_a_name_does_not_fail(tag, name):
    assert not check(tag, name, name).fails


def test_without_a_source_only_what_the_text_shows_by_itself_is_reported():
    assert check("de", CLEAN["de"], "", "").problems == ()
    assert {problem.kind for problem in check("de", CLEAN["es"], "", "").problems} == {"wrong_language"}


def test_a_wrong_script_is_reported_once_and_not_as_a_wrong_language_too():
    kinds = [problem.kind for problem in check("ru", CLEAN["es"]).problems]

    assert kinds.count("wrong_script") == 1
    assert "wrong_language" not in kinds


@settings(max_examples=200)
@given(ANY_TEXT, st.sampled_from(list(TABLE)), ANY_TEXT, ANY_TEXT)
def test_any_text_in_any_language_is_checked_and_every_place_is_inside_it(text, language, source, prompt):
    result = CHECKER.check(text, language, source=source, prompt=prompt)

    for problem in result.problems:
        assert (problem.start is None) == (problem.end is None)
        assert problem.start is None or 0 <= problem.start < problem.end <= len(text)
        assert problem.message
        assert problem.severity in ("fail", "warn")


@for_each("language", TABLE, ids=lambda language: language.tag)
@for_each("text", ["\u0301" * 50, "\ud800\udfff", "a\x00b" * 9, "\u202eabc\u2066", "\u200d", "ﷺ" * 30, "🏳️‍🌈" * 9])
def test_hostile_text_is_checked_in_every_language(language, text):
    assert CHECKER.check(text, language, source=SOURCE).problems


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["a", "word ", "Слово ", "我", "ก", "\u0301", "\ufffd", "a@", "9,", "\n", "{", "Paris Париж "]
)
@pytest.mark.parametrize("tag", ["ru", "zh-Hans"])
def test_a_megabyte_is_checked_and_tells_a_bounded_number_of_problems(tag, part):
    """Were any step of it quadratic, this would not end within a day."""
    result = check(tag, part * (1_000_000 // len(part)) + ".", "We met in Paris, at 9.", "Say it in Paris")

    assert 0 < len(result.problems) < 400


def sentences(count: int) -> list[Sentence]:
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        _, _, *tags = next(file).rstrip("\n").split("\t")
        rows = [line.rstrip("\n").split("\t") for line in islice(file, count)]
    found = [
        (tag, TABLE.find(tag), text, source)
        for _, source, *texts in rows
        for tag, text in zip(tags, texts, strict=True)
    ]
    return [(tag, language, text, source) for tag, language, text, source in found if language and text.strip()]


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_file(), reason=f"POLYJUDGE_DATA is not set or lacks {NAME}")
def test_news_of_ntrex_128_in_73_languages_meets_the_bars():
    measured = measure(sentences(40), TABLE)
    share = {
        name: float(value.rstrip("%")) for name, value in measured.items() if value.endswith("%") and "," not in value
    }

    assert share["right text accepted by script"] >= 99
    assert share["right text accepted by language, macro, without unsure"] >= 96
    assert share["unsure outside the inseparable"] <= 10
    assert share["another language accepted, outside the inseparable"] <= 1
    assert share["English left untranslated found"] >= 99


def test_words_that_two_languages_share_are_not_surely_left_from_the_source():
    table = language_table()
    checker = TextChecker(table)

    shared = checker.check("O café está demasiado quente.", table.find("pt"), source="El café está demasiado caliente.")
    left = checker.check(
        "Samahani, where is the nearest train station iko wapi?",
        table.find("sw"),
        source="Excuse me, where is the nearest train station?",
    )

    assert [(each.kind, each.severity) for each in shared.problems] == [("untranslated", "warn")]
    assert ("untranslated", "fail") in [(each.kind, each.severity) for each in left.problems]


def test_one_remark_of_the_model_is_one_finding():
    german = language_table().find("de")
    text = "Die Rechnung beträgt 15 Euro. Here is your translation:"

    found = TextChecker(language_table()).check(text, german, source="The bill is 15 euros.").problems

    assert [each.kind for each in found].count("model_note") == 1
