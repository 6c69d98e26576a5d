"""Output that is no translation: copied, looping, cut off, leaked, refused, far too long or short."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.degeneration import copied, cut_off, length, looping
from polyjudge.checks.leaks import leaked
from polyjudge.records.findings import Finding

ANY_TEXT = st.text(alphabet=st.characters())
REPETITIVE = st.text(alphabet="ab 哈。ก1", max_size=200)


def texts_of(problems: list[Finding], text: str) -> list[str]:
    return [text[problem.start : problem.end] for problem in problems]


# Copied


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Where is the station?", "Where is the station?"),
        ("Where is the station?", "  where IS the station "),
        ("Good morning", "Good morning!"),
        ("Où êtes-vous ?", "Ou\u0300 e\u0302tes-vous ?"),
        ("最近的车站在哪里？谢谢。", "最近的车站在哪里？谢谢。"),
        ("أين أقرب محطة؟", "أين أقرب محطة؟"),
    ],
)
def test_the_source_given_back_is_found(source, text):
    [problem] = copied(text, source)

    assert (problem.kind, problem.severity) == ("source_copied", "fail")


@pytest.mark.parametrize("text", ["Taxi", "Berlin", "New York", "Angela Merkel"])
def test_a_word_or_a_name_that_is_the_same_is_only_a_warning(text):
    [problem] = copied(text, text)

    assert (problem.kind, problem.severity) == ("source_copied", "warn")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Where is the station?", "Wo ist der Bahnhof?"),
        ("42", "42"),
        ("{name}", "{name}"),
        ("See https://example.org", "Siehe https://example.org"),
        ("", "Hallo"),
        ("I met John Smith in New York", "Ich traf John Smith in New York"),
        ("Trump met Theresa May and Emmanuel Macron", "Trump traf Theresa May und Emmanuel Macron"),
    ],
)
def test_what_is_the_same_in_every_language_is_not_copied(source, text):
    assert list(copied(text, source)) == []


@pytest.mark.parametrize(
    ("source", "text", "span"),
    [
        (
            "Where is the nearest train station, please?",
            "¿Dónde está the nearest train station, por favor?",
            "the nearest train station",
        ),
        ("I would like to go home", "Ich would like to gehen", "would like to"),
        ("我想去最近的 车站 那里 买票", "I want 车站 那里 买票 now", "车站 那里 买票"),
        ("где находится ближайшая станция сегодня", "where is ближайшая станция сегодня", ""),
    ],
)
def test_a_part_left_as_it_was_is_found_and_located(source, text, span):
    problems = list(copied(text, source))

    assert all(problem.kind == "untranslated" for problem in problems)
    assert texts_of(problems, text) == ([span] if span else ["ближайшая станция сегодня"])


# Looping


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("the the the the the the the", 20),
        ("I do not know. " * 6, 80),
        ("Guten Tag. " + "Wo ist der Bahnhof? " * 8, 150),
        ("我不知道。" * 6, 20),
        ("好的" * 8, 16),
        ("车站在哪里" * 20, 100),
        ("สวัสดี" * 10, 50),
        ("ไม่ทราบ " * 8, 50),
        ("لا أعرف " * 8, 50),
        ("मुझे नहीं पता। " * 8, 90),
        ("aaaaaaaaaaaaaaaa", 16),
        ("Hallooooooooooooooooo", 10),
        ("哈" * 50, 50),
        ("." * 60, 60),
        ("😂" * 100, 100),
        ("0" * 80, 80),
        ((" ".join(f"word{n}x" for n in map(str, range(60))) + ". ") * 5, 500),
        ("la la " * 200_000, 30_000),
    ],
)
def test_a_loop_is_found_and_located_in_any_script(text, least):
    [problem] = looping(text, "Where is the station?")

    assert problem.kind == "repetition"
    assert problem.end - problem.start >= least


@pytest.mark.parametrize(
    "text",
    [
        "bye bye",
        "Ha ha ha!",
        "No, no, no!",
        "No, no, no, no, I won't",
        "Anak-anak bermain-main di rumah-rumah itu",
        "Kupu-kupu, laki-laki, kura-kura, sayur-sayuran",
        "哈哈哈哈",
        "谢谢谢谢",
        "ดีๆ มากๆ ๆ",
        "จริงจริง เร็วเร็ว",
        "Very, very, very good",
        "Monday, Tuesday, Wednesday, Thursday, Friday",
        "a red apple, a red pear, a red plum, a red grape",
        "1. Öl\n2. Brot\n3. Milch\n4. Käse",
        "one by one, two by two, three by three, four by four",
        "Row, row, row your boat",
        "-----------------",
        "Chapter 1 .............. 5",
        "aaa bbb ccc",
        "かわいいねこがいるいる",
        "Buffalo buffalo Buffalo buffalo buffalo",
    ],
)
def test_natural_repetition_is_no_loop(text):
    assert list(looping(text)) == []


def test_a_loop_that_the_source_has_too_is_none_unless_it_is_far_longer():
    source = "La la la la la la la la!"

    assert list(looping("Ла ла ла ла ла ла ла ла!", source)) == []
    assert [problem.kind for problem in looping("ла " * 300, source)] == ["repetition"]


def test_a_short_loop_in_a_long_text_is_left_alone():
    text = "He sang na na na na na na and then " + " ".join(f"w{n}" for n in range(100))

    assert list(looping(text)) == []


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
def test_an_end_before_the_end_is_a_warning_at_the_last_sign(tag, source, text):
    [problem] = cut_off(text, source, tag)

    assert (problem.kind, problem.severity) == ("cut_off", "warn")
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


# Leaked and refused


@pytest.mark.parametrize(
    "mark",
    [
        "<|im_end|>",
        "<|endoftext|>",
        "</s>",
        "<s>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "<end_of_turn>",
        "<think>",
        "[PAD]",
        "▁Guten",
        "\nAssistant:",
        "### Response",
    ],
)
def test_a_mark_of_a_chat_is_found_unless_the_source_has_it(mark):
    text = f"{mark} Hallo" if mark.startswith("#") else f"Hallo {mark}"
    [problem] = leaked(text, "Hello", "")

    assert problem.kind == "template_leak"
    assert text[problem.start : problem.end].strip() == mark.strip()
    assert list(leaked(text, f"Hello {mark.upper()}", "")) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Usuario: admin", "User: admin"),
        ("Sistema: Linux\nUsuario: x", "System: Linux\nUser: x"),
        ("Antwort: ja", "Answer: yes"),
        ("Im Sommer kann man im See schwimmen.", "In summer, you can swim in the lake."),
        ("In Paris regnet es.", "In Paris, it is raining."),
        ("La traducción de la Biblia fue larga.", "The translation of the Bible took long."),
        ("Claro, aquí tienes.", "Sure, here you are."),
        ("De acuerdo, esto es todo.", "Okay, this is all."),
        ("Als KI-Forscherin mag ich das.", "As an AI researcher, I like that."),
        ("Perdona, mañana no puedo venir.", "Sorry, I can't come tomorrow."),
        ("Sorry, we do not accept cards.", "申し訳ありませんが、カードはご利用できません。"),
        ("Unfortunately I have no time tomorrow.", "Es tut mir leid, ich kann morgen leider nicht kommen."),
        ("I am sorry, I cannot help you with that.", "Es tut mir leid, dabei kann ich Ihnen nicht helfen."),
        ("“I'm sorry, but I can't help you.”", "„Lo siento, pero no puedo ayudarle.“"),
        ("Lo siento, no puedo ayudarle.", "I'm sorry, I can't help you."),
        ("对不起，我无法提供帮助。", "Sorry, I am unable to help."),
        ("Use a < b here", "Hier a < b"),
        ("¿Puede ayudarme?", "Can you help me?"),
    ],
)
def test_a_translation_that_only_resembles_talk_or_refusal_is_left_alone(source, text):
    assert list(leaked(text, source, "")) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I cannot translate this text.",
        "I cannot assist with that request.",
        "Sorry, I'm not able to help with that.",
        "As an AI language model, I do not have opinions.",
        "As a large language model, I cannot",
        "Lo siento, pero no puedo ayudar con eso.",
        "Je suis désolé, mais je ne peux pas vous aider.",
        "Es tut mir leid, aber ich kann dir dabei nicht helfen.",
        "Desculpe, não posso ajudar com isso.",
        "Mi dispiace, ma non posso aiutarti.",
        "Извините, я не могу вам помочь с этим.",
        "抱歉，我无法协助您完成这个请求。",
        "對不起，我無法提供翻譯。",
        "申し訳ありませんが、その翻訳はできません。",
        "申し訳ございませんが、お手伝いできません。",
        "آسف، ولكن لا أستطيع مساعدتك",
        "**I cannot help with that.**",
    ],
)
def test_a_refusal_is_found_in_many_languages(text):
    [problem] = leaked(text, "Where is the nearest station?", "")

    assert problem.kind == "refusal"
    assert 0 <= problem.start < problem.end <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "Sure! Here is the translation: Wo ist der Bahnhof?",
        "Here's the translation:\nWo ist der Bahnhof?",
        "Here is your Spanish translation: ¿Dónde?",
        "The translation is: Wo ist der Bahnhof?",
        'The translation of the text into German is "Wo ist der Bahnhof?"',
        "Translation: Wo ist der Bahnhof?",
        "Certainly, here you go:\nWo ist der Bahnhof?",
        "In German, you would say Wo ist der Bahnhof?",
        "**Translation:** Wo ist der Bahnhof?",
    ],
)
def test_talk_about_the_task_is_found(text):
    assert [problem.kind for problem in leaked(text, "Where is the station?", "")] == ["prompt_leak"]


def test_a_part_of_the_prompt_is_found_and_located_even_when_the_source_is_a_word_of_it():
    prompt = "Translate the following text into Spanish. Reply with the translation only.\n\na"
    text = "Reply with the translation only. un"

    for source in ("a", "no", "the", "Where is the station?"):
        [problem] = leaked(text, source, prompt)
        assert (problem.kind, text[problem.start : problem.end]) == ("prompt_leak", "Reply with the translation only")


def test_what_the_source_says_is_no_part_of_the_prompt():
    source = "Please translate the following text for me"

    assert list(leaked(source, source, f"Translate it.\n\n{source}")) == []


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


# All of them


@given(st.one_of(ANY_TEXT, REPETITIVE), st.one_of(ANY_TEXT, REPETITIVE), ANY_TEXT)
def test_any_text_is_gone_through_and_every_place_is_inside_it(text, source, prompt):
    problems = [
        *copied(text, source),
        *leaked(text, source, prompt),
        *looping(text, source),
        *cut_off(text, source, "en"),
        *length(text, source),
    ]

    for problem in problems:
        if problem.start is not None:
            assert 0 <= problem.start < problem.end <= len(text)


@given(st.sampled_from(["no way ", "我不知道。", "ไม่รู้ ", "لا أدري ", "नहीं पता ", "не знаю, "]), st.integers(6, 200))
def test_any_phrase_said_often_enough_is_a_loop(phrase, times):
    assert [problem.kind for problem in looping(phrase * times)] == ["repetition"]


@pytest.mark.parametrize(
    "part", ["\n", " ", "a", "a ", "ab ", "<<", "<|", "▁", "我", "User:\n", "Reply with it only now "]
)
def test_a_great_length_of_one_thing_is_gone_through_once(part):
    """With a pattern that looks back at what it has seen this would not end within a day."""
    text = part * (300_000 // len(part)) + "x"
    prompt = "Reply with it only now"
    problems = [
        *leaked(text, "Hello", prompt),
        *looping(text, "Hello"),
        *copied(text, "Hello you there"),
        *cut_off(text, "Hi."),
    ]

    assert len(problems) <= 200
