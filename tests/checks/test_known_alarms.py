"""Classes of false alarms and of misses that were found on real references, each with a new example."""

import pytest

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import language_table
from polyjudge.records.findings import CheckedText, TextCheck

TABLE = language_table()
CHECKER = TextChecker(TABLE, plugins=())


def check(tag: str, text: str, source: str = "") -> TextCheck:
    language = TABLE.find(tag)
    assert language is not None
    return CHECKER.check(text, language, source=source)


@pytest.mark.parametrize(
    ("tag", "text", "source", "kind", "severity"),
    [
        ("ja", "lfg $tslq 笑", "lfg $tslq lol", "wrong_script", "warn"),
        ("ja", "<div id=a>part 1</div>", "<div id=a>part 1</div>", "wrong_script", "warn"),
        ("ru", "https : //example.org/a-long-name", "https://example.org/a-long-name", "url_lost", "warn"),
        (
            "fr",
            "Voir https://fr.wikipedia.org/wiki/Paris.",
            "See https://en.wikipedia.org/wiki/Paris.",
            "url_lost",
            "warn",
        ),
        ("hu", "Lásd: http://example.org/a", "See https://example.org/a", "url_lost", "warn"),
        ("de", "Siehe https://shop.org/artikel/7", "See https://shop.org/article/7", "url_lost", "fail"),
        ("sv", "Fel ECC on-the-fly uppstod", "Number of ECC on-the-fly errors", "untranslated", "warn"),
        ("or", "Maple (_M)", "_Maple", "wrong_script", "warn"),
        ("zh-Hans", "警告：sigprocmask", "warning: sigprocmask", "wrong_script", "warn"),
        ("fr", "Office 2021 Pro Plus for Mac", "Office 2021 Pro Plus for Mac", "source_copied", "warn"),
        ("de", "Um drei.", "At 2:30.", "number_lost", "warn"),
        ("cs", "Nejdřív 5, pak nic.", "From 1980 to 1995, 37 of 412 closed.", "number_lost", "fail"),
        ("de", "Heute regnet es. Wir bleiben", "It rains today. In 1995 we left. Do we stay?", "cut_off", "fail"),
        ("ja", "@anna はそのまま表記します。翻訳する必要はありません。", "@anna", "model_note", "fail"),
        ("es", "https://t.example.org es una dirección y no se traduce", "https://t.example.org", "model_note", "fail"),
        (
            "ru",
            "Они долго обсуждали новый закон о школах и больницах. " * 3 + "Страна, " * 12,
            "They debated the new law on schools and hospitals for long, in many a country.",
            "repetition",
            "fail",
        ),
    ],
)
def test_a_finding_is_as_severe_as_its_evidence(tag, text, source, kind, severity):
    found = {problem.kind: problem.severity for problem in check(tag, text, source).problems}

    assert found[kind] == severity
    assert severity == "fail" or "fail" not in found.values()


@pytest.mark.parametrize(
    ("tag", "text", "source"),
    [
        # Mentions, hashtags, tickers and bare domains are no words.
        ("de", "@anna_k @ben.f", "@anna_k @ben.f"),
        ("ja", "$abcd #sale #ウィンター", "$abcd #sale #ウィンター"),
        ("uk", "Галерея: oakhillgallery.org", "Gallery: oakhillgallery.org"),
        ("th", "@mika_77 ขอบคุณ #roadtrip", "@mika_77 thanks #roadtrip"),
        ("cs", "Navštivte www.obchod nebo zavolejte.", "Visit www.obchod or call us."),
        # Numbers across clocks, abbreviations, units and number systems.
        ("cs", "V 06:00 odjíždíme.", "We leave at 0600."),
        ("ja", "3億2千万人が見た。", "320 million people watched."),
        ("cs", "V 60. letech to bylo jiné.", "It was different in the 1960s."),
        ("de", "Das Brett ist 30 cm breit.", "The board is 12 inches wide."),
        ("en", "The snow fell in March.", "雪は3月に降った。"),
        ("ja", "会議は１５時に始まります。", "The meeting starts at 15."),
        ("zh-Hans", "大约2.5亿人。", "About 250 million people."),
        # 唔 alone is a sound in Mandarin as well.
        ("zh-Hant", "咿唔的讀書聲從屋裡傳來。", "The sound of reading came from the house."),
        # Titles and signs in Japanese have no kana.
        ("ja", "東京大学入学試験", "Tokyo University entrance exam"),
        ("ja", "非常口", "Emergency exit"),
        # Numbered placeholders, and those with a sign for grouping.
        ("de", "%1$s wurde nach %2$s kopiert.", "%s was copied to %s."),
        ("pl", "%'d plików", "%d files"),
        # Stretched words and rows of emoji.
        ("cs", "Nééééééééééé!", "Nooooooo!"),
        ("es", "¡Genial! 😂😂😂😂😂😂😂😂😂😂😂😂", "Great! 😂😂😂😂😂😂😂😂😂😂😂😂"),
        # Names of products in another script, without a source.
        ("ja", "Python と Rust で書きました。", ""),
        ("ru", "Мы пользуемся Slack и Zoom.", ""),
        ("el", "Το iPhone και το Wi-Fi δεν λειτουργούν.", ""),
        # Igbo, which looks like Yoruba.
        ("ig", "Biko nyere m aka ịchọta ụlọ ọgwụ dị nso.", "Please help me find a hospital nearby."),
        ("ig", "Kedu ebe ụlọ akwụkwọ dị?", "Where is the school?"),
        # Cents and percent, degrees, clocks, calendars, ranges, Roman figures, floors.
        ("de", "Ein Anteil von 35 %", "A share of .35"),
        ("de", "Bei -,75 kaufen wir.", "We buy at -.75."),
        ("es", "Está a 35º y hace calor.", "It is at 95 and it is hot."),
        ("ru", "Выезжаем в 6 утра всем взводом.", "We leave at 0600 with the whole platoon."),
        ("tr", "Buluşma saat 15.00'te.", "The meeting is at 3 p.m."),
        ("sw", "Tutaonana saa 3:30 usiku.", "See you at 9:30 p.m."),
        ("fa", "این کتاب در سال ۱۳۸۰ منتشر شد.", "This book was published in 2001."),
        ("ru", "Билет стоит от 2 до 2,5 тыс. рублей.", "A ticket costs from 2,000 to 2,500 roubles."),
        ("es", "El siglo XIX fue difícil.", "The 19th century was difficult."),
        ("fr", "C'était au XIXe siècle.", "It was in the 19th century."),
        ("de", "Wir wohnen im 2. Stock.", "We live on the 3rd floor."),
        ("ko", "2만 5천 원이에요.", "It's 25,000 won."),
        ("ta", "விலை ரூ.2,50,000 மட்டுமே.", "The price is only Rs 250,000."),
        ("de", "Raum VX 12, Gang IIII", "Room VX 12, hallway IIII"),
        # A number of a list, abbreviations, quotation marks and pauses end no sentence.
        ("ja", "2. 見出し、段落などのHTML", "2. HTML for headings, paragraphs, etc."),
        (
            "cs",
            "„Počkej!“ volal. „Stůj!“ Nikdo tam nebyl. Otočil se.",
            '"Wait!" he called. "Stop!" No one was there. He turned.',
        ),
        # Options of commands, names in programs and paths are no words.
        ("ru", "  -k, --keep-old-files  не заменять файлы", "  -k, --keep-old-files  do not replace files"),
        ("el", "Η INPUT_FILE_NAME δεν ορίστηκε.", "INPUT_FILE_NAME is not set."),
        ("uk", "Файл /usr/share/themes/index.theme пошкоджено.", "The file /usr/share/themes/index.theme is damaged."),
        # Every language has an order and a clock of its own for dates.
        ("es", "%-d de %B de %Y a las %H:%M", "%B %-d, %Y at %l:%M %p"),
        ("fa", "%A، %-Od %B %Oy، %OH:%OM", "%A, %B %-d, %Y, %H:%M"),
        # A letter after a placeholder belongs to the language.
        ("az", "%s: növbəti arqument olaraq %st.", "%s: the next argument is %s."),
        ("te", "సంవత్సరం%sనెల%sరోజు", "Year%sMonth%sDay"),
        # A translation may have no letters where the source has few, and another key.
        ("et", "15.", "15th"),
        ("kk", "%s, %s", "%s at %s"),
        # Words beside a mention are added; a word in angle brackets or of a program is translated.
        ("mk", "<Непознато дејство>", "<Unknown Action>"),
        # A note of the source, a heading of the source, and words that only begin like those of translation.
        ("hu", "Megjegyzés: „%s” kijelölése „%s” helyett", "Note, selecting '%s' instead of '%s'"),
        ("vi", "Không đăng ký được dịch vụ: %s", "Unable to register the service: %s"),
        ("th", "จะเปลี่ยนแปลงรายการต่อไปนี้:", "The following will be changed:"),
        ("ms", "Cipta salinan 1:1 bagi cakera ini", "Create a 1:1 copy of this disc"),
        # Relatives of a language in its parts are no mixture of languages.
        ("hr", "Visina papira u desetinkama milimetra (ili 0 za automatsko prepoznavanje papira).", ""),
        # Abbreviations are of no language.
        ("ru", "т. е., и т. п., т. д.", "i.e., and the like, etc."),
    ],
)
def test_a_right_text_of_a_class_that_was_an_alarm_has_no_finding(tag, text, source):
    result = check(tag, text, source)

    assert result.problems == ()
    assert result.language.state != "wrong"


@pytest.mark.parametrize("text", ["khun yu thi nai khrap", "sabai dee mai krub", "chan rak muang thai"])
def test_romanised_thai_is_the_wrong_script_and_surely_no_other_language(text):
    result = check("th", text, "Where are you now, my friend?")

    assert [problem.kind for problem in result.problems] == ["wrong_script"]
    assert result.language.state == "unsure"


HINDI = ["सहेजें", "फ़ाइल खोलें", "नया फ़ोल्डर बनाएँ", "क्या आप बाहर जाना चाहते हैं", "सभी को चुनें", "खोज के परिणाम", "पासवर्ड बदलें"]


def test_short_strings_in_a_neighbour_are_found_together_and_named_one_by_one():
    language = TABLE.find("mr")
    assert language is not None
    found = CHECKER.check_together([CheckedText(text=text, language=language) for text in HINDI])
    wrong = [each for each in found if each.language.state == "wrong"]

    assert len(wrong) >= len(HINDI) - 1
    assert all("Hindi, not Marathi" in each.problems[0].message for each in wrong)
    assert any("identified together with" in each.problems[0].message for each in wrong)
    assert sum(check("mr", text).language.state == "wrong" for text in HINDI) < len(wrong)


def test_letters_that_are_no_roman_number_raise_nothing():
    kinds = {problem.kind for problem in check("de", "Raum VX, Gang IIII", "Room 15, hallway 44").problems}

    assert "number_lost" in kinds
