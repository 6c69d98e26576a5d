"""Is a text in the language asked for, and not in its neighbour?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.checks.language import language_identifier
from polyjudge.checks.language_signs import neighbours_of, signs_of
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.findings import LanguageCheck
from polyjudge.records.translation import Language

TABLE = language_table()
ANY_TEXT = st.text(alphabet=st.characters())
ANY_LANGUAGE = st.sampled_from(list(TABLE))
LONG = {
    "en": "Excuse me, where is the nearest train station? I would like to go to the old town this evening.",
    "es": "Disculpe, ¿dónde está la estación de tren más cercana? Quisiera ir al casco antiguo esta noche.",
    "pt": "Com licença, onde fica a estação de comboios mais próxima? Gostaria de ir ao centro histórico esta noite.",
    "gl": "Desculpe, onde está a estación de tren máis próxima? Gustaríame ir á zona vella esta noite.",
    "da": "Undskyld, hvor ligger den nærmeste togstation? Jeg vil gerne ind til den gamle bydel i aften med vennerne.",
    "no": "Unnskyld, hvor er den nærmeste togstasjonen? Jeg vil gjerne dra til gamlebyen i kveld, vet du hvordan?",
    "sv": "Ursäkta, var ligger närmaste järnvägsstation? Jag skulle vilja åka till gamla stan i kväll.",
    "hr": "Oprostite, gdje je najbliži željeznički kolodvor? Želio bih večeras otići u stari grad.",
    "sr-Latn": "Izvinite, gde je najbliža železnička stanica? Želeo bih večeras da odem u stari grad.",
    "sr": "Извините, где је најближа железничка станица? Желео бих вечерас да одем у стари град.",
    "bs": "Izvinite, gdje je najbliža željeznička stanica? Želio bih večeras otići u stari grad.",
    "id": "Permisi, di mana stasiun kereta terdekat? Saya ingin pergi ke kota tua malam ini.",
    "ms": "Maafkan saya, di manakah stesen kereta api yang terdekat? Saya mahu pergi ke bandar lama malam ini.",
    "hi": "माफ़ कीजिए, सबसे नज़दीकी रेलवे स्टेशन कहाँ है? मैं आज शाम पुराने शहर जाना चाहता हूँ।",
    "mr": "माफ करा, सर्वात जवळचे रेल्वे स्थानक कुठे आहे? मला आज संध्याकाळी जुन्या शहरात जायचे आहे.",
    "ne": "माफ गर्नुहोस्, सबैभन्दा नजिकको रेल स्टेशन कहाँ छ? म आज साँझ पुरानो सहर जान चाहन्छु।",
    "ar": "عفوا، أين أقرب محطة قطار؟ أود أن أذهب إلى المدينة القديمة هذا المساء.",
    "fa": "ببخشید، نزدیک‌ترین ایستگاه قطار کجاست؟ می‌خواهم امشب به شهر قدیمی بروم.",
    "ur": "معاف کیجیے، قریب ترین ریلوے اسٹیشن کہاں ہے؟ میں آج شام پرانے شہر جانا چاہتا ہوں۔",
    "ru": "Извините, где находится ближайший вокзал? Я хотел бы сегодня вечером поехать в старый город.",
    "uk": "Вибачте, де найближчий вокзал? Я хотів би сьогодні ввечері поїхати до старого міста.",
    "bg": "Извинете, къде е най-близката гара? Бих искал да отида в стария град тази вечер.",
    "ja": "すみません、一番近い駅はどこですか。今晩、旧市街に行きたいのですが。",
    "ko": "실례합니다, 가장 가까운 기차역이 어디예요? 오늘 저녁에 구시가지에 가고 싶어요.",
    "zh-Hans": "请问，最近的火车站在哪里？我今天晚上想去老城。",
    "zh-Hant": "請問，最近的火車站在哪裡？我今天晚上想去老城。",
    "yue": "唔該，最近嘅火車站喺邊度呀？我今晚想去舊城。",
    "wo": "Baal ma, fan la gare bi gëna jege nekk? Damaa bëgg dem ci dëkk bu mag bi ci ngoon gi.",
    "cs": "Promiňte, kde je nejbližší vlakové nádraží? Chtěl bych dnes večer jít do starého města.",
    "sk": "Prepáčte, kde je najbližšia vlaková stanica? Chcel by som ísť dnes večer do starého mesta.",
}
CLOSE = [("hr", "sr-Latn"), ("hr", "bs"), ("bs", "sr-Latn"), ("id", "ms")]


def check(tag: str, text: str, table: LanguageTable = TABLE) -> LanguageCheck:
    language = table.find(tag)
    assert language is not None
    return language_identifier(table).check(text, language)


@pytest.mark.parametrize("tag", sorted(set(LONG) - {"hr", "sr-Latn", "bs", "id", "ms"}))
def test_a_long_text_is_right_for_its_language_and_names_it(tag):
    result = check(tag, LONG[tag])

    assert (result.state, result.found) == ("right", tag)
    assert 0 < result.confidence <= 1


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("mr", "hi"),
        ("hi", "mr"),
        ("ne", "hi"),
        ("hi", "ne"),
        ("no", "da"),
        ("da", "no"),
        ("sv", "da"),
        ("fa", "ar"),
        ("ar", "fa"),
        ("ur", "fa"),
        ("fa", "ur"),
        ("pt", "es"),
        ("es", "pt"),
        ("pt", "gl"),
        ("gl", "es"),
        ("ru", "uk"),
        ("uk", "bg"),
        ("bg", "ru"),
        ("cs", "sk"),
        ("sk", "cs"),
        ("wo", "en"),
        ("en", "wo"),
        ("ja", "zh-Hans"),
        ("zh-Hans", "ja"),
        ("ko", "ja"),
        ("hr", "cs"),
        ("id", "en"),
        ("yue", "en"),
        ("yue", "ja"),
    ],
)
def test_a_long_text_in_a_neighbour_of_the_language_is_wrong(wanted, given):
    result = check(wanted, LONG[given])

    assert result.state == "wrong"
    assert result.found.partition("-")[0] == given.partition("-")[0]


@pytest.mark.parametrize(("one", "other"), [*CLOSE, *((other, one) for one, other in CLOSE)])
def test_languages_that_cannot_be_distinguished_are_never_wrong_for_each_other(one, other):
    words = LONG[other].split()

    for count in range(1, len(words) + 1):
        assert check(one, " ".join(words[:count])).state != "wrong", " ".join(words[:count])
    assert check(one, LONG[other]).state != "wrong"


@pytest.mark.parametrize("tag", ["zh-Hans", "zh-Hant", "zh-TW"])
def test_mandarin_is_never_right_for_cantonese_and_cantonese_is_wrong_for_mandarin(tag):
    assert check("yue", LONG["zh-Hans"]).state == check("yue", LONG["zh-Hant"]).state == "unsure"
    assert check(tag, LONG["yue"]) == LanguageCheck(state="wrong", found="yue", confidence=1.0)
    assert check(tag, LONG["zh-Hant"]).state == "right"


@pytest.mark.parametrize(
    "text", ["我哋走先", "你係咪香港人", "佢冇嚟", "唔該", "食咗飯未", "點解你聽日唔返工", "点解佢而家先嚟"]
)
def test_a_word_of_cantonese_proves_it(text):
    assert check("yue", text).state == "right"
    assert check("zh-Hant", text).state == "wrong"


@pytest.mark.parametrize(
    "text",
    [
        "這一點解決了我們的問題",
        "我想一點解釋也沒有",
        "我們到那邊度假",
        "那边个子最高的人是我哥哥",
        "他每天聽日本歌",
        "她不想去，而家人都同意",
        "他們的關係很好，週末一起去飲茶",
        "貓咪聽到喇叭聲就跑了",
        "問君能有幾多愁",
        "這和俾斯麥有關係嗎",
        "多謝您的幫助，我們去食飯吧",
    ],
)
def test_mandarin_that_holds_the_signs_of_cantonese_by_chance_is_mandarin(text):
    assert check("zh-Hant", text).state == "right"
    assert check("yue", text).state == "unsure"


@pytest.mark.parametrize(
    "text", ["", " ", "OK", "Taxi", "да", "5 €", "...", "{name}", "https://example.org/where/is/it", "ja", "😀"]
)
@pytest.mark.parametrize("tag", ["en", "de", "ru", "wo", "hr"])
def test_a_very_short_text_is_unsure(tag, text):
    assert check(tag, text).state == "unsure"


@pytest.mark.parametrize("text", [*LONG.values(), "OK"])
def test_a_language_that_no_identifier_knows_is_unsure(text):
    """Ewe has a label in pycld2, which never finds it."""
    ewe = Language(tag="ee", name="Ewe", native_name="Eʋegbe", scripts=("Latn",), family="Latin")
    arabic = TABLE.find("ar-Latn")

    assert arabic is not None
    for language in (ewe, arabic, replace(ewe, detector="ee"), replace(ewe, tag="art-x-own")):
        assert language_identifier(TABLE).check(text, language) == LanguageCheck(state="unsure")


@given(ANY_TEXT, ANY_LANGUAGE)
def test_any_text_gets_an_answer_that_holds_together(text, language):
    result = language_identifier(TABLE).check(text, language)

    assert result.state in ("right", "wrong", "unsure")
    assert 0 <= result.confidence <= 1
    assert (result.state != "right") or result.found == language.tag
    assert (result.state != "wrong") or result.found not in ("", language.tag)
    assert result.found not in language.inseparable or result.state != "wrong"


@pytest.mark.parametrize("tag", ["en", "es-419", "pt-BR", "zh-Hant", "yue", "tl", "no", "he"])
def test_what_is_found_is_a_tag_of_the_table(tag):
    for text in LONG.values():
        found = check(tag, text).found
        assert found == "" or TABLE.find(found) is not None


def test_a_label_that_only_the_second_opinion_knows_may_stand_in_a_row_of_ones_own(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_text(
        "tag\tname\tnative_name\tscripts\tfamily\tdirection\tspeakers_millions\tdetector\n"
        "wo\tWolof\tWolof\tLatn\tLatin\tltr\t12\two\n",
        encoding="utf-8",
    )
    table = language_table(path)

    assert check("wo", LONG["wo"], table).state == "right"
    assert check("wo", LONG["en"], table).state == "wrong"


def test_a_table_without_chinese_can_be_asked_about_chinese():
    english = TABLE.find("en")
    chinese = TABLE.find("zh-Hant")
    assert english is not None
    assert chinese is not None

    assert language_identifier(LanguageTable({"en": english})).check(LONG["zh-Hant"], chinese).state != "wrong"


def test_a_text_of_many_languages_or_none_is_in_no_language():
    noise = (
        "Grondal vesti promunde kelda shirong matari, ille besk tunolai when grasp oldur. Fekreti pla nostavi dhu "
        "merkin quasto brelle untvik salamani pergo through tirnak. Ostva melindre kaz bolomir est hafen diurka."
    )
    result = check("es", noise)

    assert result.state == "unsure"
    assert result.strange_share >= 0.4
    assert all(check(tag, text).strange_share == 0 for tag, text in LONG.items())


def test_words_are_weighed_between_two_languages_by_their_letters():
    identifier, german = language_identifier(TABLE), TABLE.find("de")

    assert german is not None
    assert identifier.can_weigh(german, "en")
    assert not identifier.can_weigh(german, "de")
    assert identifier.likelihood_of("straightforward", german, "en") < 0.3
    assert identifier.likelihood_of("Eisenbahnstraße", german, "en") > 0.7


@pytest.mark.parametrize(
    ("wanted", "found", "text"),
    [
        ("mr", "hi", "फ़ाइलें चुनें"),
        ("mr", "hi", "यह सुविधा उपलब्ध नहीं है"),
        ("hi", "mr", "पर्याय निवडा"),
        ("ne", "hi", "नई फ़ाइल खोलें"),
        ("hi", "ne", "फाइल खोल्नुहोस्"),
        ("no", "da", "Vælg indstillinger"),
        ("da", "no", "Velg innstillinger"),
        ("sk", "cs", "Otevřít soubor"),
        ("cs", "sk", "Ďalšie možnosti súboru"),
        ("ru", "uk", "Відкрити інші"),
        ("uk", "ru", "Сохранить объект"),
        ("bg", "mk", "Вашиот уред ќе се исклучи"),
        ("es", "pt", "Não há conexões"),
        ("pt", "es", "Opción del menú"),
    ],
)
def test_a_word_of_a_neighbour_shows_it_in_a_short_text(wanted, found, text):
    assert (check(wanted, text).state, check(wanted, text).found) == ("wrong", found)
    assert check(found, text).state != "wrong"


def test_names_alone_are_of_no_wrong_language():
    assert {check(tag, "Elite League: Dundee Stars mod Belfast Giants 5-3").state for tag in ("da", "sv", "fr")} == {
        "unsure"
    }


def test_the_mark_of_a_shortcut_divides_no_word():
    assert check("es", "_Visor de com_plementos").state != "wrong"


@pytest.mark.parametrize(
    ("one", "other"), [("hi", "mr"), ("da", "no"), ("cs", "sk"), ("ru", "uk"), ("es", "pt"), ("es", "gl")]
)
def test_a_text_has_signs_of_its_own_language_and_none_of_the_neighbour(one, other):
    assert other in neighbours_of(one)
    assert signs_of(one, other, LONG[one]) > 0 == signs_of(other, one, LONG[one])
    assert signs_of(other, one, LONG[other]) > 0 == signs_of(one, other, LONG[other])
