"""Is anything missing from a translation: its end, its sentences, or most of its length?"""

import pytest

from polyjudge.checks.completeness import cut_off, length, missing_sentences

# Cut off


@pytest.mark.parametrize(
    ("tag", "source", "text"),
    [
        ("de", "Please call a doctor.", "Bitte rufen Sie,"),
        ("de", "He said it was art.", "Er sagte: „"),
        ("zh-Hans", "Bring bread, milk and eggs.", "请带面包、"),
        ("ar", "Bring bread, milk and eggs.", "أحضر الخبز،"),
        ("fr", "He said hello.", "Il a dit «"),
        ("en", "Er sagte es dem Mann.", "He said (“"),
        ("es", "Please call a doctor now. He is ill. Hurry!", "Por favor, llame a un médico ahora. Él está"),
        ("hi", "Please call a doctor. He is ill. Hurry up now!", "कृपया डॉक्टर को बुलाइए"),
        ("ta", "Please call a doctor. He is ill. Hurry up now!", "தயவுசெய்து மருத்துவரை அழைக்கவும்"),
        ("ru", "I would like to know where the nearest train station is.", "Я хотел бы"),
    ],
)
def test_an_end_before_the_end_is_found_at_the_last_sign(tag, source, text):
    [problem] = cut_off(text, source, tag)

    assert problem.kind == "cut_off"
    assert (problem.start, problem.end) == (len(text.rstrip()) - 1, len(text.rstrip()))


@pytest.mark.parametrize(
    ("tag", "source", "text"),
    [
        ("de", "Please call a doctor.", "Bitte rufen Sie einen Arzt."),
        ("de", "Please call a doctor.", "Bitte rufen Sie einen Arzt"),
        ("de", "He called it art.", "Er nannte es „Kunst“"),
        ("de", "He called it art.", "Er nannte es »Kunst«"),
        ("sv", "He called it art.", "Han kallade det »konst»"),
        ("ja", "He called it art.", "彼はそれを「芸術」と呼んだ。」"),
        ("el", "Where is the station?", "Πού είναι ο σταθμός;"),
        ("am", "It is here.", "እዚህ ነው::"),
        ("th", "It is here. Come now. I wait.", "อยู่ที่นี่ มาเดี๋ยวนี้ ฉันรออยู่"),
        ("lo", "It is here. Come now. I wait.", "ມັນຢູ່ນີ້ ມາດຽວນີ້"),
        ("hi", "It is here.", "यह यहाँ है।"),
        ("hy", "It is here.", "Այն այստեղ է։"),
        ("my", "It is here.", "ဒီမှာပါ။"),
        ("ur", "It is here.", "یہ یہاں ہے۔"),
        ("es", "Shopping list:", "Lista de la compra:"),
        ("es", "bread, milk,", "pan, leche,"),
        ("en", "", "Hello,"),
    ],
)
def test_a_text_that_ends_as_its_language_and_source_do_is_not_cut_off(tag, source, text):
    assert list(cut_off(text, source, tag)) == []


def test_a_text_that_is_short_and_ends_within_a_sentence_fails():
    source = "We arrived late at night. The house was dark. Nobody had waited for us, and the key was gone."
    text = "Wir kamen spät in der Nacht an. Das Haus war dunkel. Niemand"

    [problem] = cut_off(text, source, "de")

    assert (problem.kind, problem.severity) == ("cut_off", "fail")


# Missing sentences


STORY = (
    "The ferry left at dawn. Gulls followed it. A child waved from the pier. Nobody waved back. "
    "The captain poured coffee. Then the fog came. They heard a bell. It was very close."
)
GERMAN = (
    "Die Fähre legte im Morgengrauen ab. Möwen folgten ihr. Ein Kind winkte vom Pier. Niemand winkte zurück. "
    "Der Kapitän goss Kaffee ein. Dann kam der Nebel. Sie hörten eine Glocke. Sie war ganz nah."
)


@pytest.mark.parametrize(("sentences", "severity"), [(4, "fail"), (5, "fail"), (6, "warn")])
def test_a_text_with_fewer_sentences_than_its_source_lacks_some(sentences, severity):
    text = ". ".join(GERMAN.split(". ")[:sentences]) + "."

    [problem] = missing_sentences(text, STORY, "de")

    assert (problem.kind, problem.severity) == ("missing_sentences", severity)
    assert f"8 sentences, the text {sentences}" in problem.message


@pytest.mark.parametrize(
    ("tag", "source", "text"),
    [
        ("de", STORY, GERMAN),
        ("de", STORY, GERMAN.replace(". ", " und dann auch noch, ") + " So war das an jenem Morgen."),
        ("th", STORY, "เรือออกแต่เช้า นกนางนวลบินตาม"),
        ("de", "It is late. Go home.", "Geh heim."),
        (
            "ja",
            STORY,
            "フェリーは夜明けに出た。カモメがついてきた。子供が桟橋から手を振った。誰も振り返さなかった。"
            "船長はコーヒーを注いだ。それから霧が出た。鐘が聞こえた。とても近かった。",
        ),
    ],
)
def test_joined_sentences_are_not_missing(tag, source, text):
    assert list(missing_sentences(text, source, tag)) == []


# Length


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "OK, thank you!",
            "Eny, misaotra betsaka anao tompoko, tena mankasitraka anao izahay noho izany fanampiana izany",
        ),
        ("最近的车站在哪里？", "Aiza ho aiza ny gara akaiky indrindra azafady tompoko?"),
        ("Where is the nearest train station?", "最近的车站在哪？"),
        ("Where is the nearest train station?", "역이 어디예요?"),
        ("Hi", "Ich grüße Sie ganz herzlich und wünsche Ihnen einen schönen guten Tag"),
        ("Internationalization", "国際化"),
        ("", "Something"),
        ("Something long enough", ""),
    ],
)
def test_lengths_that_scripts_and_languages_explain_are_fine(source, text):
    assert list(length(text, source)) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Where is the nearest train station?", "Wo?"),
        ("Where is the nearest train station?", "哪"),
        ("Where is the station?", "Der Bahnhof ist dort. " * 20),
        ("Where is the station?", "车站在哪里" * 30),
        ("最近的车站在哪里？", "Der Bahnhof ist dort. " * 20),
    ],
)
def test_a_length_wrong_by_an_order_of_magnitude_is_found(source, text):
    assert [problem.kind for problem in length(text, source)] == ["wrong_length"]


def test_an_unusual_length_is_a_warning():
    [short] = length(GERMAN[:100], STORY)
    [long] = length(GERMAN + GERMAN, STORY)

    assert (short.severity, long.severity) == ("warn", "warn")
    assert "Shorter than expected" in short.message
    assert "Longer than expected" in long.message


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            STORY,
            "ጀልባው ጎህ ሲቀድ ተነሳ። ወፎች ተከተሉት። አንድ ልጅ ከወደቡ እጁን አውለበለበ። ማንም መልስ አልሰጠም። "
            "ካፒቴኑ ቡና ቀዳ። ከዚያም ጭጋግ መጣ። ደወል ሰሙ። በጣም ቅርብ ነበር።",
        ),
        (
            STORY,
            "המעבורת יצאה עם שחר. שחפים עקבו אחריה. ילד נופף מהמזח. איש לא נופף בחזרה. "
            "הקברניט מזג קפה. אז בא הערפל. הם שמעו פעמון. הוא היה קרוב מאוד.",
        ),
        (
            STORY,
            "渡轮在黎明时分离开了。海鸥跟随着它。一个孩子在码头上挥手。没有人向他挥手。船长倒了咖啡。然后雾来了。他们听到了铃声。它非常近。",
        ),
    ],
)
def test_scripts_that_say_more_with_a_character_are_not_short(source, text):
    assert list(length(text, source)) == []
