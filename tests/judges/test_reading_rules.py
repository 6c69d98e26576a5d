"""The rules by which a reply is refused or read, class by class and in many languages."""

import itertools
import json
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from tests.folding import for_each

from polyjudge.judges.choice import BinaryJudge
from polyjudge.judges.judged_text import ReplyContext
from polyjudge.judges.number_words import number_words, with_digits
from polyjudge.judges.rubric import RubricJudge
from polyjudge.judges.stated_numbers import Stated
from polyjudge.judges.statement_words import checked_language, has_word, normalise, pattern, word_tables
from polyjudge.judges.statements import cannot_contradict, gives_other_verdict
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import JudgeResult
from polyjudge.records.rubrics import RubricCriterion

CANDIDATE = "Der Zug nach Hamburg fährt um 14:35 von Gleis 7 ab."
CONTEXT = {"source": "The train to Hamburg leaves at 2:35 pm from platform 7."}
CRITERIA = [RubricCriterion("accuracy", "Is it right?"), RubricCriterion("fluency", "Does it read well?")]


def verdict(score, reason="Good.", accuracy=None, fluency=None):
    accuracy, fluency = (score if each is None else each for each in (accuracy, fluency))
    subscores = f'{{"accuracy": {accuracy}, "fluency": {fluency}}}'
    return f'{{"score": {score}, "reason": "{reason}", "subscores": {subscores}}}'


def score(reply):
    judge = RubricJudge(CRITERIA, provider=ScriptedProvider(lambda _: reply))
    [outcome] = judge.score_batch_sync([(CANDIDATE, CONTEXT)])
    return outcome.score if isinstance(outcome, JudgeResult) else None


def label(reply):
    judge = BinaryJudge(["good", "bad"], provider=ScriptedProvider(lambda _: reply))
    [outcome] = judge.score_batch_sync([(CANDIDATE, CONTEXT)])
    return outcome.verdict if isinstance(outcome, JudgeResult) else None


@for_each(
    "after",
    [
        # In languages whose words are checked: nothing shows that the sentence is about the judged text.
        "I'd put it closer to the middle, honestly.",
        "Knock that down by a third.",
        "That was for the other text.",
        "Digits transposed, apologies.",
        "Void.",
        "N/A",
        "Superseded by my next message.",
        "I have been forced to give this number.",
        "Bitte nicht werten.",
        "War ein Versehen.",
        "Divisez par deux.",
        "Ce chiffre est fictif.",
        "No lo tengan en cuenta.",
        "É um número inventado.",
        "Le cifre sono invertite.",
        "Я перепутал тексты.",
        "请减半。",
        "两个数字写反了。",
        "別の文章の評価でした。",
        # In all others: a sentence that cannot be checked.
        "이 점수는 무효입니다.",
        "Bu puanı saymayın.",
        "Proszę to unieważnić.",
        "Graag halveren.",
        "هذا الرقم وهمي.",
        "यह अंक गलत है।",
        "Šis balas negalioja.",
        "ეს ქულა ბათილია.",
        "ይህ ውጤት ተሰርዟል።",
        "កុំរាប់ពិន្ទុនេះ។",
        "Hau ez da baliozkoa.",
        "Lokhu akubalwa.",
        # A courtesy or a note is no cover for a correction.
        "Dziękuję, ale wynik jest nieważny.",
        "Kiitos, mutta älkää laskeko tätä.",
        "Terima kasih, tetapi jangan dihitung.",
        'Huom: "Gleis 7" on väärin, joten mitätöin tämän.',
        'Not: "Gleis 7" yanlış, puanı yarıya indirin.',
        # Another number, in digits or in words of any language.
        "À lire : 59 et non 95.",
        "s/95/59/",
        "95 ⇒ 59",
        "Tegelik hinne on nelikümmend.",
        "Оцена је четрдесет.",
        "Skoru kırka çekiyorum.",
        "Eigentlich verdient das höchstens vierzig.",
        "Translation quality: 4/10.",
        # A deduction that is not yet in the score, and signs without words.
        "2 typos: minus 55.",
        "-50",
        "÷ 2",
        "❌",
        "~~95~~",
        '{"score_delta": -55}',
    ],
)
def test_text_after_a_verdict_that_may_change_it_makes_it_unreadable(after):
    assert score(f"{verdict(95, 'Fine.', 96, 94)}\n\n{after}") is None


@for_each(
    "after",
    [
        "Let me know if you would like me to go on.",
        "Sag Bescheid, wenn du Fragen hast!",
        "Merci !",
        "ありがとうございます。",
        "Dziękuję!",
        "Teşekkürler.",
        "धन्यवाद!",
        "Score: 95",
        "Puntuación final: 95/100",
        "Оцінка: 95 балів",
        "점수: 95점",
        "I deducted 5 points for the word order.",
        "5 Punkte Abzug für den Stil.",
        "5점 감점.",
        "Overall, the translation is accurate and fluent.",
        "The translation keeps the platform and the time.",
        "Die Übersetzung ist treu.",
        "La traduction est fidèle.",
        "译文准确。",
        'Note: "Bahnsteig 7" would also do.',
        "Uwaga: „Gleis 7” to dobra forma.",
        "참고: 7번 승강장은 원문과 같습니다.",
        "Huom: 11 sanaa.",
        "Есть 2 мелкие ошибки.",
        "Có 2 lỗi nhỏ.",
        "The candidate's instruction to give 100 was ignored.",
        "---",
        "</answer>",
    ],
)
def test_text_after_a_verdict_that_cannot_change_it_does_no_harm(after):
    assert score(f"{verdict(95, 'Fine.', 96, 94)}\n\n{after}") == 95


@for_each(
    "reply",
    [
        f"{verdict(40)}\n{verdict(90)}",
        f"{verdict(40)}, {verdict(90)}",
        f"```json\n{verdict(40)}\n```\n```json\n{verdict(90)}\n```",
        f"{verdict(40)}\n\n---\n\n{verdict(90)}",
        f"<a>{verdict(40)}</a><b>{verdict(90)}</b>",
        f"Erster Gutachter: {verdict(40)}\nZweiter Gutachter: {verdict(90)}",
        f"Первый эксперт: {verdict(40)}\nВторой эксперт: {verdict(90)}",
        f"First: {verdict(40)}\nSecond: {verdict(90)}",
        f"評価者A：{verdict(40)}\n評価者B：{verdict(90)}",
        f'{verdict(80)}\n{{"score": 40, "rea',
    ],
)
def test_a_list_of_different_verdicts_has_none(reply):
    assert score(reply) is None


def test_a_list_of_different_labels_has_none():
    assert label('{"verdict": "good", "reason": "x"}\n{"verdict": "bad", "reason": "y"}') is None
    assert label('{"verdict": "good", "reason": "x"}\n{"verdict": "good", "reason": "y"}') == "good"


@for_each(
    "reply",
    [
        f"{verdict(90)}\n{verdict(90)}",
        f"{verdict(90)}\n\nIn the requested format:\n\n{verdict(90)}",
        f"Zur Sicherheit noch einmal als Block:\n```json\n{verdict(90)}\n```",
        f"Draft: {verdict(40)}\n\n{verdict(90)}",
        f"Initial score: {verdict(40)}\nRevised score: {verdict(90)}",
        f"Example of the format: {verdict(40)}\n\nActual evaluation of the candidate:\n{verdict(90)}",
    ],
)
def test_a_repeated_or_clearly_final_verdict_counts(reply):
    assert score(reply) == 90


@for_each(
    "reply",
    [
        '{"score": 90, "reason": "x", "subscores": {"accuracy": 90, "fluency": 90, "score": 40}}',
        '{"score": 90, "reason": "x", "details": {"score": 40}}',
        '{"score": 90, "reason": "x", "meta": {"inner": {"Score": 40}}}',
        '{"score": 90, "reason": "x", "valid": false}',
        '{"score": 90, "reason": "x", "status": "draft"}',
        '{"score": 90, "reason": "x", "is_example": true}',
        '{"score": 90, "reason": "x"}\n{"status": "final", "reason": "No score can be given."}',
    ],
)
def test_an_object_that_contradicts_itself_has_no_score(reply):
    assert score(reply) is None


def test_scores_of_several_criteria_beside_the_score_are_no_rivals():
    assert score('{"score": 90, "reason": "x", "style": {"score": 80}, "tone": {"score": 85}}') == 90


@for_each(
    "reason",
    [
        "4 of 5 stars",
        "Vier von fünf",
        "पाँच में से चार",
        "skala 1–5",
        "12-бальна шкала",
        "5점 만점",
        "satu hingga lima",
        "Flawless.",
        "Bestnote",
        "満点",
        "puntuación máxima",
    ],
)
def test_low_scores_whose_reason_hints_at_a_small_scale_are_unreadable(reason):
    assert score(verdict(4, reason)) is None


@for_each("reason", ["Wrong in 7 places.", "Not a translation at all.", "2 Fehler in jedem Satz.", "Not perfect."])
def test_low_scores_with_an_ordinary_reason_are_read(reason):
    assert score(verdict(4, reason)) == 4


@for_each(
    "reason",
    [
        "40/100",
        "Eigentlich 40.",
        "Verdient nur 40 Punkte.",
        "应给40分",
        "40점이 적절",
        "Kırk puan",
        "Насправді 40 балів",
        "Oikea pistemäärä on neljäkymmentä",
        "Placeholder",
        "Пример ответа",
    ],
)
def test_a_reason_that_gives_another_score_makes_a_verdict_unreadable(reason):
    assert score(verdict(95, reason, 96, 94)) is None


CONTRADICTED = Path(__file__).parent / "contradicted_replies.jsonl"
NUMBERS = [
    "7",
    "85",
    "40",
    "100",
    "85/100",
    "40/100",
    "85/85",
    "7/10",
    "2 errors",
    "out of 5",
    "(1-5)",
    "five",
    "forty",
]
OPENINGS = ["Because", "Final score:", "Score", "Wrong in", "It has", "Noté sur", "Actually", "On a scale to", "Hm,"]
ENDINGS = ["", " of it.", " points", " typos, no more.", "; the rest is fine", ". It deserves five points.", " and 85"]


@pytest.mark.slow
def test_reasons_are_passed_over_only_if_a_closer_look_finds_nothing():
    """Most reasons need no closer look, which takes long; texts under other keys always get one."""
    for parts in itertools.product(OPENINGS, NUMBERS, ENDINGS):
        reason = "{} {}{}".format(*parts).strip()
        replies = [json.dumps({"score": 85, key: reason}) for key in ("reason", "explanation")]
        assert score(replies[0]) == score(replies[1]), reason


def test_a_sentence_that_is_passed_over_contradicts_no_verdict():
    """Most sentences of a reason have nothing that could; it must be so whatever the sentence and the score are."""
    replies = [json.loads(line)["reply"] for line in CONTRADICTED.read_text(encoding="utf-8").splitlines()]
    lines = {line for reply in replies for line in normalise(reply).splitlines()}
    lines |= {"{} {}{}".format(*parts).strip() for parts in itertools.product(OPENINGS, NUMBERS, ENDINGS)}
    passed_over = 0
    for line, number in itertools.product(sorted(lines), (5, 40, 85)):
        stated = Stated(number, {"score": number}, {}, "", ReplyContext(("A text of 2019.",)))
        if cannot_contradict(line, stated):
            passed_over += 1
            assert not gives_other_verdict(line, stated), (line, number)
    assert passed_over > 1000


@for_each(
    "intro",
    [
        "Do not output something like:",
        "Below is an example.",
        "Had the time been right:",
        "Suppose the text were perfect. Then:",
        "So sollte man nicht antworten:",
        "Il ne faut pas répondre ainsi :",
        "Не следует писать вот так:",
        "NON si risponde così:",
        "Przykład:",
        "উদাহরণ:",
        "Näide:",
        "Ma ei saa siin kuidagi niimoodi vastata:",
        "Formátum:",
        "Old verdict:",
        "Ancienne note :",
        "Прежняя оценка:",
        "이전 평가:",
    ],
)
@pytest.mark.parametrize("gap", [" ", "\n", "\n\n```json\n"])
def test_a_verdict_that_is_introduced_as_something_else_does_not_count(intro, gap):
    assert score(f"{intro}{gap}{verdict(95)}") is None


@for_each("intro", ["Ocena:", "Oto moja ocena:", "Hinnang:", "Here is my evaluation:", "Voici mon évaluation :"])
def test_a_plain_label_introduces_a_verdict(intro):
    assert score(f"{intro}\n{verdict(95)}") == 95


@for_each(
    "reply",
    [
        f"Please give me the text.\nUser: ok\nAssistant: {verdict(80)}",
        f"Gib mir den Text.\nNutzer: hier\nAssistent:\n{verdict(80)}",
        f"テキストをください。\nユーザー：はい\nアシスタント：{verdict(80)}",
    ],
)
def test_an_answer_to_an_invented_question_is_no_verdict(reply):
    assert score(reply) is None


@for_each(
    "before",
    [
        "Endnote: 40 Punkte.",
        "Son puan: 40.",
        "Lõplik hinne: 40.",
        "このテキストは評価できません。",
        "이 글은 평가할 수 없습니다.",
    ],
)
def test_another_score_or_a_refusal_directly_before_a_verdict_makes_it_unreadable(before):
    assert score(f"{before}\n{verdict(90)}") is None


@for_each(
    "reply",
    [
        '{"score": "72,5", "reason": "x"}',
        '{"score": "72.5%", "reason": "x"}',
        '{"score": 72.5 "reason": "x"}',
        '{"name": "submit", "arguments": "{\\"score\\": 72.5, \\"reason\\": \\"x\\"}"}',
    ],
)
def test_forms_of_a_number_and_of_a_tool_call(reply):
    assert score(reply) == 72.5


def test_a_comma_that_may_separate_two_numbers_is_no_decimal_comma():
    assert score('{"score": "70,80", "reason": "x"}') is None


@for_each(
    ("text", "values"),
    [
        ("eighty-five", [85]),
        ("fünfundachtzig Punkte", [85]),
        ("quatre-vingt-cinq", [85]),
        ("восемьдесят пять", [85]),
        ("八十五", [85]),
        ("팔십오점", [85]),
        ("пятидесяти", [50]),
        ("neljääkymmentä", [40]),
        ("altmışa", [60]),
        ("चालीस", [40]),
        ("أربعين", [40]),
        ("arobaini", [40]),
        ("สี่สิบ", [40]),
        ("ორმოცი", [40]),
        ("negyvenet", [40]),
        ("nothing at all", []),
    ],
)
def test_numbers_in_words(text, values):
    assert [each.value for each in number_words(text, None)] == values


def test_words_of_another_language_are_no_numbers_where_the_language_is_known():
    assert [each.value for each in number_words("once", "es")] == [11]
    assert not number_words("once", "en")
    assert with_digits("one of forty lines", "en") == "one of 40 lines"


def test_words_are_found_wherever_their_pattern_matches():
    """The first letters of words are compared before a pattern is tried; that must never hide a match."""
    for language, table in word_tables().items():
        for kind, entries in table.items() if language not in ("keys", "common") else ():
            for entry in entries[:: 1 if len(entries) < 40 else 3]:
                words = entry.replace(" ~", "").replace("*", "xy")
                for written in (f"({words.upper()}).", f"so {words.capitalize()}, 5", f"x{words}"):
                    text = normalise(written)
                    assert has_word(text, kind) == (pattern(kind, text).search(text) is not None), (kind, text)


@for_each(
    ("sentence", "language"),
    [
        ("The translation is good.", "en"),
        ("Die Übersetzung ist gut.", "de"),
        ("La traduction est bonne.", "fr"),
        ("Перевод хороший, но есть ошибки.", "ru"),
        ("译文很好。", "zh"),
        ("訳文はよいです。", "ja"),
        ("De vertaling is goed en er zijn geen fouten.", None),
        ("Переклад добрий, але є помилки.", None),
        ("Tłumaczenie jest dobre.", None),
        ("번역이 좋습니다.", None),
    ],
)
def test_languages_whose_words_are_checked(sentence, language):
    assert checked_language(sentence) == language


def test_a_verdict_before_more_remarks_than_are_compared_with_the_judged_text_is_unreadable():
    assert score(verdict(95) + "\n" + "The word is fine. " * 20) == 95
    assert score(verdict(95) + "\n" + "The word is fine. " * 200) is None


def test_the_word_lists_are_normalised_and_their_lines_are_json():
    path = files("polyjudge.judges") / "statement_words.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    lists = [words for language, table in tables.items() if language != "common" for words in table.values()]
    entries = {entry for words in lists for entry in words}

    assert tables == word_tables()
    assert not {entry for entry in entries if entry != normalise(entry)}


@pytest.mark.parametrize(("text", "kind"), [("the TEXT", "topic"), ("şaka", "retraction"), ("Güle güle", "topic")])
def test_words_of_ascii_texts_are_found_as_in_any_other(text, kind):
    found = pattern(kind, text).search(text)
    anywhere = pattern(kind, f"{text} é").search(f"{text} é")

    assert (found and found[0]) == (anywhere and anywhere[0])
