"""What a model writes beside the text: chat tokens, parts of the prompt, notes, refusals."""

import pytest

from polyjudge.checks.language import language_identifier
from polyjudge.checks.leaks import added_lines, leaked, remarks_in_english
from polyjudge.languages.table import language_table

TABLE = language_table()

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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Der Laden schließt früh. (Note: I kept the informal tone.)", "Note:"),
        ("Le magasin ferme tôt. Remarque : le ton est familier.", "Remarque"),
        ("店は早く閉まります。\n注：直訳です。", "注："),
        ("Obchod zavírá brzy. This translation is more literal.", "This translation is"),
        ("La tienda cierra pronto. The phrase could also be translated as “cierra temprano”.", "be translated as"),
        ("Here are a few options for the translation: Der Laden schließt früh.", "Here are"),
        ("Le magasin ferme tôt. Explication : le verbe est au présent.", "Explication"),
        ("店は早く閉まります。補足：直訳です。", "補足："),
        ("Butikken lukker tidligt. Bemærk: navnet er bevaret.", "Bemærk:"),
        ("Der Laden schließt früh. (Wörtlich: er macht früh zu.)", "Wörtlich"),
        ("[Translation] Der Laden schließt früh.", "[Translation]"),
        ("Bien sûr ! Voici le texte traduit : Le magasin ferme tôt.", "traduit :"),
        ("译文：商店很早关门。", "译文："),
        ("当然可以！商店很早关门。", "当然可以！"),
        ("Selvfølgelig! Butikken lukker tidligt.", "Selvfølgelig!"),
        ("Negozio chiude presto. Fammi sapere se hai bisogno di altro.", "Fammi sapere"),
        ("Магазин рано закрывается. Если нужно что-то ещё, обращайтесь.", "Если нужно"),
    ],
)
def test_a_note_of_the_model_is_found_where_it_begins(text, said):
    [problem] = leaked(text, "The shop closes early", "")

    assert problem.kind in ("model_note", "prompt_leak")
    assert said in text[problem.start : problem.end]


@pytest.mark.parametrize(
    "text", ["Der Laden schließt früh.```", "```\nDer Laden schließt früh.\n```", "```json\nDer Laden"]
)
def test_a_stray_code_fence_is_found_wherever_it_is(text):
    [problem] = leaked(text, "The shop closes early.", "")

    assert (problem.kind, problem.severity) == ("code_fence", "fail")
    assert text[problem.start : problem.end] == "```"
    assert list(leaked(text, "```\nThe shop closes early.\n```", "")) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Note: the shop closes early.", "Hinweis: Der Laden schließt früh."),
        ("Her translation is better than mine.", "Ihre Übersetzung (translation) ist besser."),
        ("Pick one of these options.", "Wählen Sie eine dieser Optionen (options)."),
        ("注意：この店は早く閉まります。", "Note: this shop closes early."),
        ("Of course! The shop closes early.", "Natürlich! Der Laden schließt früh."),
        ("The shop closes early. Let me know if you come.", "Il negozio chiude presto. Fammi sapere se vieni."),
    ],
)
def test_notes_and_talk_of_the_source_are_not_the_models(source, text):
    assert list(leaked(text, source, "")) == []


def is_english(text):
    german = TABLE.find("de")
    return language_identifier(TABLE).can_weigh(german, "en") and language_identifier(TABLE).is_surely_english(text)


@pytest.mark.parametrize(
    "remark",
    ["I hope that is what you need!", "You can let me know if it should be shorter.", "This is how one would say it:"],
)
@pytest.mark.parametrize("text", ["{} Der Laden schließt früh.", "Der Laden schließt früh. {}"])
def test_a_sentence_in_english_that_the_source_does_not_have_is_a_remark(text, remark):
    given = text.format(remark)
    [problem] = remarks_in_english(given, "La tienda cierra pronto.", is_english)

    assert (problem.kind, problem.severity) == ("model_note", "fail")
    assert given[problem.start : problem.end].strip() == remark


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("He said: I hope that is what you need!", "Er sagte: I hope that is what you need!"),
        ("Watch it here.", "Sehen Sie es hier. Das ist gut."),
        ("The band played last.", "Die Band spielte zuletzt. The Who."),
    ],
)
def test_quoted_english_and_names_are_no_remarks(source, text):
    assert list(remarks_in_english(text, source, is_english)) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("Der Laden schließt früh.\n\nEr öffnet um neun.", "fail"),
        ("Der Laden schließt früh.\nEr öffnet um neun.", "warn"),
    ],
)
def test_a_line_more_than_the_source_has_is_found(text, severity):
    [problem] = added_lines(text, "The shop closes early.")

    assert (problem.kind, problem.severity) == ("extra_lines", severity)
    assert list(added_lines(text, "The shop closes early.\nIt opens at nine.")) == []
    assert list(added_lines(text, "translator-credits")) == []
    assert [each.severity for each in added_lines(text, "It is. It was. It will be. It may be. The end.")] == ["warn"]


@pytest.mark.parametrize(
    "text", ["Ecco la traduzione: Il negozio chiude presto.", "Oto tłumaczenie: Sklep zamyka się wcześnie."]
)
def test_a_heading_that_speaks_of_translation_is_found_in_many_languages(text):
    [problem] = leaked(text, "The shop closes early.", "")

    assert problem.kind == "model_note"
    assert list(leaked(text, "A translation: the shop closes early.", "")) == []
