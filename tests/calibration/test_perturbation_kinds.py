"""What each perturbation does, by example."""

import re
import unicodedata
from importlib.resources import files

import pytest

from polyjudge.calibration.edits import EditContext
from polyjudge.calibration.perturbations import apply_perturbation, perturbed_versions
from polyjudge.languages.table import language_table
from polyjudge.text.difference import graphemes

GERMAN = EditContext("de", "John bought 25 apples.", "John kocht 25 appels.", ("Das Wetter ist schön.",))


def test_replacements_start_at_the_start_and_end_as_the_other_text():
    text = "John kaufte 25 Äpfel."

    assert apply_perturbation(text, "echo_source", 1, 0, GERMAN) == GERMAN.source
    assert apply_perturbation(text, "wrong_language", 1, 0, GERMAN) == GERMAN.neighbour
    assert apply_perturbation(text, "other_text", 1, 0, GERMAN) == GERMAN.others[0]
    assert apply_perturbation(text, "echo_source", 0.5, 0, GERMAN) == "John bought 25 Äpfel."


def test_an_untranslated_span_leaves_about_half_of_the_text():
    version = apply_perturbation(
        "Eins zwei drei vier fünf sechs.", "untranslated_span", 1, 0, EditContext(source="A b c d e f.")
    )

    kept = [word for word in ("Eins", "zwei", "drei", "vier", "fünf", "sechs") if word in version]
    assert len(kept) == 3


def test_a_truncated_text_keeps_its_first_word():
    versions = perturbed_versions("One two three four five.", "truncate", [0.25, 0.5, 1])

    assert versions == ["One two three four", "One two three", "One"]


def test_a_loop_repeats_the_last_words_until_the_text_is_several_times_as_long():
    text = "We went to the old town and stayed there."
    version = apply_perturbation(text, "loop", 1)

    assert version.endswith("and stayed there town and stayed there.")
    assert 3 * len(text) < len(version) < 6 * len(text)


def test_a_loop_in_thai_has_no_spaces():
    assert " " not in apply_perturbation("สถานีที่ใกล้ที่สุดอยู่ที่ไหน", "loop", 1)


@pytest.mark.parametrize("text", ["1,234.50", "۱۲۳", "१२३४", "๒๕๖๗", "٣٤", "７", "𝟙𝟚"])
def test_numbers_change_and_keep_their_length_separators_and_digits(text):
    for seed in range(10):
        version = apply_perturbation(f"x {text} y", "change_numbers", 1, seed)[2:-2]

        assert version != text
        assert len(version) == len(text)
        for old, new in zip(text, version, strict=True):
            assert old.isdecimal() == new.isdecimal()
            if old.isdecimal():
                assert ord(old) - unicodedata.decimal(old) == ord(new) - unicodedata.decimal(new)


def test_numbers_in_addresses_and_placeholders_are_kept():
    text = "See https://a.org/12 and {v3} and 7."

    assert re.fullmatch(
        r"See https://a\.org/12 and \{v3\} and [1-689]\.", apply_perturbation(text, "change_numbers", 1)
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "It was on 2024-03-12."),
        ("en", "It was on 12/03/2024."),
        ("de", "Am 12.3.2024 war es."),
        ("ja", "3月12日に来た。"),
        ("ko", "2024년에 왔다."),
        ("en", "In 1984 it rained."),
        ("fa", "در سال ۲۰۲۴ بود."),
        ("ru", "Это было в марта месяце."),
        ("fi", "Se oli syyskuussa."),
        ("hi", "यह मार्च में था।"),
        ("zh-Hans", "星期一见。"),
        ("tr", "Salı günü geldi."),
        ("pl", "Wtorek to dobry dzień, poniedziałek też."),
    ],
)
def test_dates_change(language, text):
    for seed in range(5):
        version = apply_perturbation(text, "change_dates", 1, seed, EditContext(language))

        assert version != text
        assert len(re.findall(r"\d", version)) == len(re.findall(r"\d", text))


def test_a_month_is_a_whole_word_and_keeps_its_capital():
    english = EditContext("en")

    assert apply_perturbation("We marched; maybe not.", "change_dates", 1, 0, english) == "We marched; maybe not."
    assert apply_perturbation("Septiembre fue frío.", "change_dates", 1, 0, EditContext("es"))[0].isupper()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "This is not good.", "This is good."),
        ("en", "You can't go.", "You can go."),
        ("en", "The bus is late.", "It is not true that the bus is late."),
        ("fr", "Je ne sais pas.", "Je sais."),
        ("fr", "Il n’est pas là.", "Il est là."),
        ("de", "Das ist nicht gut.", "Das ist gut."),
        ("es", "¿No vienes?", "¿Vienes?"),
        ("ru", "Я не знаю.", "Я знаю."),
        ("zh-Hans", "我没有钱。", "我有钱。"),
        ("ja", "肉を食べません。", "肉を食べます。"),
        ("hi", "मैं नहीं जाऊँगा।", "मैं जाऊँगा।"),
        ("ar", "أنا لا أعرف.", "أنا أعرف."),
        ("ta", "அவர் வந்தார்.", "அவர் வந்தார் என்பது உண்மையல்ல."),
        ("ko", "그는 왔다.", "그는 왔다는 것은 사실이 아니다."),
        ("he", "הוא בא.", "זה לא נכון שהוא בא."),
        ("es-MX", "Él no viene.", "Él viene."),
        ("wo", "Dafa neex.", "Du dëgg ni dafa neex."),
    ],
)
def test_a_sentence_is_negated_or_loses_its_negation(language, text, expected):
    assert apply_perturbation(text, "negate", 1, 0, EditContext(language)) == expected


def test_a_name_keeps_its_capital_in_a_negated_sentence():
    version = apply_perturbation("John vino.", "negate", 1, 0, EditContext("es", "Yes, John came."))

    assert version == "No es cierto que John vino."


@pytest.mark.parametrize(
    ("language", "text", "source"),
    [
        ("en", "Yesterday Anna met Peter in Paris.", ""),
        ("ru", "Вчера Анна встретила Петра.", ""),
        ("zh-Hans", "他住在德国。", ""),
        ("th", "เขาอยู่ที่ญี่ปุ่น", ""),
        ("hi", "वह कैनसस में रहता है।", "He lives in Kansas."),
        ("ja", "彼はMicrosoftで働く。", "He works at Microsoft."),
        ("de", "Er lebt in Deutschland.", "He lives in Germany."),
    ],
)
def test_names_are_replaced(language, text, source):
    assert apply_perturbation(text, "swap_names", 1, 0, EditContext(language, source)) != text


def test_german_nouns_are_not_names():
    text = "Der Hund hat einen Ball."

    assert apply_perturbation(text, "swap_names", 1, 0, EditContext("de")) == text


def test_typos_in_hangul_change_a_part_of_the_syllable():
    text = "가장 가까운 역이 어디예요"
    version = apply_perturbation(text, "typos", 1)

    assert all("가" <= sign <= "힣" for sign in version.replace(" ", ""))
    for old, new in zip(text, version, strict=True):
        parts = zip(unicodedata.normalize("NFD", old), unicodedata.normalize("NFD", new), strict=True)
        assert sum(one != other for one, other in parts) <= 1


def test_typos_in_indic_scripts_keep_the_marks_of_each_letter():
    text = "क्षत्रिय लोग नज़दीकी स्टेशन जाते हैं"
    version = apply_perturbation(text, "typos", 1)

    assert [sign[1:] for sign in graphemes(version)] == [sign[1:] for sign in graphemes(text)]
    assert all("\u0900" <= sign[0] <= "\u097f" for sign in graphemes(version) if sign != " ")


@pytest.mark.parametrize(
    "text", ["Где ближайшая станция", "Πού είναι ο σταθμός", "איפה התחנה הקרובה", "أين أقرب محطة", "ሰላም ደህና ነህ"]
)
def test_typos_stay_in_the_script(text):
    script = unicodedata.name(text[0]).split()[0]
    version = apply_perturbation(text, "typos", 1)

    assert version != text
    assert all(unicodedata.name(sign).startswith(script) for sign in version if sign.isalpha())


def test_letters_are_swapped_inside_words_and_first_letters_of_long_words_stay():
    version = apply_perturbation("Bahnhof Station", "swap_letters", 1)

    assert sorted(version) == sorted("Bahnhof Station")
    assert [word[0] for word in version.split()] == ["B", "S"]


def test_words_in_arabic_are_shuffled_as_they_are():
    text = "أين أقرب محطة قطار من هنا"

    assert sorted(apply_perturbation(text, "shuffle_words", 1).split()) == sorted(text.split())


def test_dropped_words_are_removed_with_their_spaces_and_commas():
    for severity in (0.2, 0.5, 0.8, 1):
        version = apply_perturbation("Bread, milk, eggs and cheese, please.", "drop_words", severity, 3)

        assert not re.search(r" [,.]|,,|,\.|^[ ,]|  ", version), version


def test_a_single_sentence_loses_clauses_and_keeps_its_mark():
    version = apply_perturbation("When it rains, we stay at home, as you know.", "drop_sentences", 0.5)

    assert version.endswith(".")
    assert version.count(",") == 1


def test_another_script_is_latin_or_cyrillic():
    assert apply_perturbation("Где станция", "wrong_script", 1) == "Gde stantsiya"
    assert apply_perturbation("Die alte Stadt", "wrong_script", 1) == "Дие алте Стадт"
    assert apply_perturbation("가까운 역", "wrong_script", 1).isascii()


def test_diacritics_are_removed_but_not_the_parts_of_hangul():
    assert apply_perturbation("żółć ångström đường", "strip_diacritics", 1) == "zolc angstrom duong"
    assert apply_perturbation("가장 가까운", "strip_diacritics", 1) == "가장 가까운"


def test_homoglyphs_differ_in_their_code_points():
    version = apply_perturbation("cope", "homoglyphs", 1)

    assert version != "cope"
    assert {unicodedata.name(sign).split()[0] for sign in version} == {"CYRILLIC"}
    assert apply_perturbation("كيف", "homoglyphs", 1) == "کیف"
    assert unicodedata.normalize("NFKC", apply_perturbation("馬", "homoglyphs", 1)) == "馬"


def test_removing_invisible_characters_restores_the_text():
    for kind in ("zero_width", "bidi_marks"):
        version = apply_perturbation("وقال إن الغالبية", kind, 1)
        assert version != "وقال إن الغالبية"
        assert "".join(sign for sign in version if unicodedata.category(sign) != "Cf") == "وقال إن الغالبية"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Können Sie kommen?", "Können du kommen?"),
        ("fr", "Vous êtes là.", "Tu êtes là."),
        ("fr", "Tu es là.", "Vous es là."),
        ("ru", "Вы здесь.", "Ты здесь."),
        ("zh-Hans", "您好", "你好"),
        ("ja", "これは本です。", "これは本だ。"),
        ("en", "I do not know.", "I don't know."),
    ],
)
def test_the_register_changes(language, text, expected):
    assert apply_perturbation(text, "register", 1, 0, EditContext(language)) == expected


def test_added_sentences_are_those_of_other_texts():
    version = apply_perturbation("Es regnet.", "add_sentence", 1, 0, GERMAN)

    assert version == "Es regnet. Das Wetter ist schön."


def test_fact_tables_are_small_name_their_source_and_cover_every_language():
    folder = files("polyjudge.calibration") / "fact_tables"
    texts = {
        name: (folder / f"{name}.tsv").read_text(encoding="utf-8")
        for name in ("calendar", "places", "negations", "neighbours", "registers", "homoglyphs")
    }

    assert all(text.startswith("# ") for text in texts.values())
    assert len((texts["calendar"] + texts["places"]).encode()) < 60_000
    assert all("CLDR" in texts[name] and "Unicode License" in texts[name] for name in ("calendar", "places"))
    assert all("no native speaker has read it" in texts[name] for name in ("negations", "registers"))
    for each in language_table():
        assert f"\n{each.tag}\t" in texts["negations"]
        assert f"\n{each.tag}\t" in texts["calendar"]
