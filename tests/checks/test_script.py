"""Is a text in a script of its language, and where is it not?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.script import check_script
from polyjudge.languages.table import language_table
from polyjudge.records.findings import ScriptCheck

TABLE = language_table()
ANY_TEXT = st.text(alphabet=st.characters())
ANY_LANGUAGE = st.sampled_from(list(TABLE))
LETTERS = {
    "Latn": "abcdefgž",
    "Cyrl": "абвгдежщ",
    "Grek": "αβγδεζλω",
    "Arab": "ابتثجحخد",
    "Hebr": "אבגדהוזח",
    "Deva": "कखगघचछजझ",
    "Beng": "কখগঘচছজঝ",
    "Thai": "กขคงจฉชซ",
    "Hang": "가나다라마바사아",
    "Ethi": "ሀለሐመሠረሰሸ",
    "Hira": "あいうえおかきく",
    "Geor": "აბგდევზთ",
    "Khmr": "កខគឃងចឆជ",
    "Taml": "கஙசஞடணதந",
}
"""Eight letters of each, so that words can be made of them."""


def check(tag: str, text: str, source: str = "") -> ScriptCheck:
    language = TABLE.find(tag)
    assert language is not None
    return check_script(text, language, source)


def kinds(result: ScriptCheck) -> set[str]:
    return {problem.kind for problem in result.problems}


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en", "Where is the station?"),
        ("ru", "Где ближайшая станция?"),
        ("sr", "Где је станица?"),
        ("sr", "Gde je stanica?"),
        ("el", "Πού είναι ο σταθμός;"),
        ("ar", "أين أقرب محطة؟"),
        ("fa", "نزدیک‌ترین ایستگاه کجاست؟"),
        ("he", "איפה התחנה הקרובה?"),
        ("hi", "स्टेशन कहाँ है? क्षत्रिय"),
        ("th", "สถานีอยู่ที่ไหน"),
        ("ko", "가장 가까운 역이 어디예요?"),
        ("ko", "大韓民國은 민주공화국이다"),
        ("ja", "一番近い駅はどこですか。"),
        ("ja", "コーヒーをください"),
        ("ja", "東京駅"),
        ("ja", "関係者以外立入禁止"),
        ("ja", "年中無休二十四時間営業中"),
        ("zh-Hans", "最近的车站在哪里？"),
        ("zh-Hant", "最近的車站在哪裡？"),
        ("yue", "最近嘅車站喺邊度呀？"),
        ("yue", "最近嘅车站喺边度呀？"),
        ("am", "ጣቢያው የት ነው?"),
        ("my", "ဘူတာရုံ ဘယ်မှာလဲ"),
        ("vi", "Nhà ga gần nhất ở đâu?"),
        ("yo", "Níbo ni ibùdó ọkọ̀ ojú irin wà?"),
    ],
)
def test_text_in_a_script_of_its_language_passes(tag, text):
    result = check(tag, text)

    assert (result.state, result.share, result.problems) == ("pass", 1.0, ())


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("ru", "Gde blizhayshaya stantsiya?"),
        ("en", "Где ближайшая станция?"),
        ("hi", "Station kahan hai?"),
        ("ar", "Ayna aqrab mahatta?"),
        ("fa", "ایستگاه where is the nearest station"),
        ("ja", "最近的车站在哪里我不知道"),
        ("ja", "最近的車站在哪裡我不知道"),
        ("ko", "最近的车站在哪里我不知道"),
        ("ja", "가장 가까운 역이 어디예요?"),
        ("ko", "一番近い駅はどこですか"),
        ("zh-Hans", "最近的車站在哪裡？我們遲到了。"),
        ("zh-Hant", "最近的车站在哪里？我们迟到了。"),
        ("sr-Latn", "Где је станица?"),
        ("sr-Cyrl", "Gde je stanica?"),
        ("zh-Hans", "Zuìjìn de chēzhàn zài nǎlǐ?"),
        ("th", "Sathani yu thi nai"),
    ],
)
def test_text_in_another_script_fails(tag, text):
    result = check(tag, text)

    assert result.state == "fail"
    assert "wrong_script" in kinds(result)


@given(st.data())
def test_text_of_a_foreign_script_never_passes_in_any_language(data):
    language = data.draw(ANY_LANGUAGE)
    script = data.draw(st.sampled_from(sorted(set(LETTERS) - set(language.scripts))))
    text = data.draw(st.text(alphabet=LETTERS[script] + " .,1", min_size=1).filter(lambda text: text.strip(" .,1")))

    assert check_script(text, language).state == "fail"


@given(st.data())
def test_more_foreign_letters_never_make_the_share_larger(data):
    language = data.draw(ANY_LANGUAGE)
    script = data.draw(st.sampled_from(sorted(set(LETTERS) - set(language.scripts))))
    ours = LETTERS.get(language.scripts[0], "")
    text = data.draw(st.text(alphabet=ours + " ", min_size=1)) if ours else ""
    foreign = data.draw(st.text(alphabet=LETTERS[script], min_size=1))

    before, after = check_script(text, language).share, check_script(f"{text} {foreign}", language).share

    assert after is not None
    assert after <= (1.0 if before is None else before)


@given(ANY_TEXT, ANY_LANGUAGE, ANY_TEXT)
def test_any_text_in_any_language_is_checked_and_every_place_is_inside_it(text, language, source):
    result = check_script(text, language, source)

    assert result.share is None or 0 <= result.share <= 1
    assert result.state in ("pass", "warn", "fail", "unknown")
    assert not (result.state == "pass" and result.problems)
    for problem in result.problems:
        if problem.start is not None:
            assert 0 <= problem.start < problem.end <= len(text)


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "\u200b\u200b", "\ufeff", "\u202e\u202c", "\x00\x00"])
def test_nothing_to_see_is_empty(text):
    result = check("en", text, "Hello there")

    assert result.state == "fail"
    assert "empty" in kinds(result)


@pytest.mark.parametrize(
    "text", ["123", "...", "👍🏽", "\u0301\u0302\u0303", "€ 5,00", "{name}", "https://example.org"]
)
def test_text_without_letters_fails_only_where_the_source_has_words(text):
    assert check("de", text, "Where is the station?").state == "fail"
    assert check("de", text, "42").state == "unknown"


@pytest.mark.parametrize(("tag", "text"), [("ru", "я"), ("ru", "12 — я!"), ("hi", "क"), ("ar", "و"), ("en", "a")])
def test_one_stray_letter_of_the_right_script_does_not_pass(tag, text):
    assert check(tag, text).state == "warn"
    assert check(tag, text, "Where is the next station?").state == "fail"


def test_one_letter_may_be_the_whole_answer_to_a_word():
    assert check("zh-Hans", "我", "I").state == "pass"
    assert check("ru", "я", "I").state == "pass"


def test_one_right_letter_among_foreign_ones_does_not_pass():
    assert check("ru", "Where is the station? я").state == "fail"


@pytest.mark.parametrize(
    ("tag", "text", "word"),
    [
        ("en", "Where is the stаtion?", "stаtion"),  # a Cyrillic а
        ("de", "Wo ist dеr Bahnhof?", "dеr"),  # a Cyrillic е
        ("ru", "Где ближайшaя станция?", "ближайшaя"),  # a Latin a
        ("el", "Πού είναι o στaθμός;", "στaθμός"),  # a Latin a
        ("es", "La estaciοn está cerca", "estaciοn"),  # a Greek ο
        ("sr", "Гoдинe су лепе", "Гoдинe"),  # Latin o and e, where both scripts are accepted
    ],
)
def test_one_letter_of_another_script_inside_a_word_is_found_and_located(tag, text, word):
    result = check(tag, text)
    places = {text[problem.start : problem.end] for problem in result.problems if problem.kind == "mixed_script"}

    assert word in places
    assert result.state == "warn"


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("ru", "USB-кабель и Wi-Fi"),
        ("en", "The π-meson"),
        ("ja", "Tシャツを3枚ください"),
        ("ru", "5-HT-рецепторы и так далее"),
    ],
)
def test_words_joined_to_terms_of_another_script_are_not_mixed_words(tag, text):
    assert not any("mixes" in problem.message for problem in check(tag, text).problems)


def test_a_span_left_in_another_script_is_located():
    text = "Пожалуйста, скажите мне, где находится the next station сегодня утром"
    found = [text[problem.start : problem.end] for problem in check("ru", text).problems]

    assert found == ["the next station"]


@pytest.mark.parametrize(
    ("tag", "text", "source"),
    [
        ("ru", "Я купил iPhone 15 в магазине Apple", "I bought an iPhone 15 at the Apple store"),
        ("ja", "NATOの会議は東京で行われました。", "The NATO meeting was held in Tokyo."),
        ("ko", "NATO는 오늘 회의를 열었다", "Today NATO held a meeting"),
        ("th", "ฉันชอบ Spotifyมาก", "I like Spotify very much"),
        ("ar", "اشتريت سيارة Toyota جديدة", "I bought Toyota's new car"),
        ("zh-Hans", "我在用WiFi上网", "WiFi is what I use to get online"),
        ("hi", "मेरे पास iPhone है", "iPhone is what I have"),
        ("ru", "COVID19 отступает", "We see COVID19 retreat"),
        ("el", "Το όνομά του είναι O'Brien", "His name is O'Brien"),
    ],
)
def test_names_of_the_source_may_stand_as_they_are(tag, text, source):
    assert check(tag, text, source).state == "pass"
    assert check(tag, text).state != "pass"


def test_a_source_in_capitals_is_not_made_of_names():
    assert check("ru", "WHERE IS STATION", "WHERE IS THE STATION").state == "fail"


def test_words_of_the_source_that_are_no_names_are_still_foreign():
    assert check("ru", "where is the station", "Where is the station?").state == "fail"


def test_addresses_placeholders_and_markup_are_no_letters_of_any_script():
    text = "Привет, {user_name}! <strong>Пиши</strong> на help@example.org или https://example.org/very/long/path"

    assert check("ru", text).state == "pass"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Guten\ufffd Tag", (5, 6)),
        ("Gr\ufffd\ufffd\ufffdße", (2, 5)),
        ("Guten \ue000Tag", (6, 7)),  # private use
        ("Guten Tag\U0010ffff", (9, 10)),  # no character
        ("Guten\x00 Tag", (5, 6)),
        ("Guten\x1b[31m Tag", (5, 6)),
        ("Guten \ud800Tag", (6, 7)),  # half of a pair
        ("Guten Tag\u0378", (9, 10)),  # unassigned
    ],
)
def test_characters_of_no_text_are_found_and_located(text, place):
    result = check("de", text)

    assert [(p.start, p.end) for p in result.problems if p.kind == "broken_characters"] == [place]
    assert result.state == "warn"


@pytest.mark.parametrize(
    ("tag", "right"),
    [
        ("fr", "Où êtes-vous ? À l’école, déjà"),
        ("cs", "Příjemný večer, děkuji"),
        ("pl", "Dziękuję, proszę o łyżkę"),
        ("de", "Grüße aus Köln"),
        ("es", "¿Dónde está la mañana?"),
        ("ru", "Привет, мир"),
        ("el", "Καλημέρα κόσμε"),
        ("ar", "مرحبا بالعالم"),
        ("he", "שלום עולם"),
        ("hi", "नमस्ते दुनिया"),
        ("th", "สวัสดีชาวโลก"),
        ("ja", "こんにちは世界"),
        ("zh-Hans", "你好，世界"),
        ("ko", "안녕하세요 세계"),
        ("am", "ሰላም ለዓለም"),
        ("en", "It’s fine 👍"),
    ],
)
@pytest.mark.parametrize("wrongly", ["latin-1", "cp1252"])
def test_text_decoded_wrongly_is_found_and_the_same_text_decoded_rightly_is_not(tag, right, wrongly):
    wrong = "".join(_as_read(byte, wrongly) for byte in right.encode())

    assert "broken_characters" in kinds(check(tag, wrong))
    assert "broken_characters" not in kinds(check(tag, right))


def _as_read(byte: int, encoding: str) -> str:
    """Return what browsers make of a byte: where Windows-1252 has a hole, the control character."""
    try:
        return bytes([byte]).decode(encoding)
    except UnicodeDecodeError:
        return chr(byte)


def test_cyrillic_read_as_windows_1251_is_found():
    assert "broken_characters" in kinds(check("ru", "Привет, мир".encode().decode("cp1251", errors="replace")))


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("pt", "«ATÉ AMANHû, disse a IRMÃ"),
        ("pt", "NÃO É A AÇÃO"),
        ("es", "«CAFÉ» y NESCAFɮ"),
        ("de", "„MENÜ“ und „ÄÖÜ“"),
        ("fr", "grâce à\u00a0«\u00a0l’été\u00a0»"),
        ("cs", "VÍŠ, ÚŽASNÉ"),
        ("vi", "KHÔNG ĐÃ À"),
        ("is", "ÞÐÆ: Það er gaman"),
        ("ru", "С.С.С.Р., РСФСР и США"),
        ("uk", "РІК і РІЧКА"),
        ("ca", "L·L: «col·legi»"),
        ("en", "2×3, 5°C, ½ ± ¼, § 7, ©"),
        ("fa", "می‌روم"),
        ("en", "soft\u00adhyphen,\u00a0no-break,\u202fthin\nnew line\ttab\r\n"),
        ("he", "\u200fשלום\u200e abc"),
    ],
)
def test_letters_that_only_look_like_a_wrong_decoding_are_left_alone(tag, text):
    assert "broken_characters" not in kinds(check(tag, text))


def test_a_few_characters_of_the_other_kind_of_chinese_are_a_warning():
    result = check("zh-Hans", "我们去车站买票，然后回家吃飯。")

    assert result.state == "warn"
    assert kinds(result) == {"mixed_script"}


@pytest.mark.parametrize("text", ["\ufffd" * 100_000, "a\ufffd" * 50_000, "аa " * 50_000, "слово word " * 20_000])
def test_the_reported_places_do_not_grow_with_the_text(text):
    assert 0 < len(check("ru", text).problems) <= 200


@pytest.mark.parametrize(
    ("text", "said"),
    [("مرحبا بالعالم", "None"), ("مرحبا " * 100 + "ก", "Almost none"), ("مرحبا กก", "Only 29%")],
)
def test_a_share_that_would_be_shown_as_nothing_is_put_in_words(text, said):
    [found] = [each for each in check("th", text).problems if each.kind == "wrong_script"]

    assert found.message.startswith(f"{said} of the letters are in the right script.")
