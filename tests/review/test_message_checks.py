"""The checks of messages: each kind of fault is found, and what looks like one and is none is not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each
from tests.review.messages import catalogue, findings, kinds, message

from polyjudge.checks.catalogue import known_findings, message_findings
from polyjudge.checks.policy import CheckPolicy, check_policy
from polyjudge.errors import ConfigError
from polyjudge.review.accelerators import accelerator_mark
from polyjudge.review.plain_text import plain_text
from polyjudge.review.punctuation import end_of

PLANTED = [
    # kind, severity, language, source, translation
    ("markup_lost", "fail", "de", "Click <b>here</b>", "Hier klicken"),
    ("markup_added", "fail", "fr", "Click here", "Cliquez <b>ici</b>"),
    ("markup_lost", "fail", "cs", "Read the <1>terms</1> first", "Přečtěte si <1>podmínky"),
    ("markup_lost", "fail", "it", "Hello <0/>, welcome", "Ciao, benvenuto"),
    ("markup_added", "fail", "it", "Read the <1>terms</1> first", "Leggi i <2><1>termini</1></2>"),
    ("markup_unbalanced", "fail", "ru", "A <b>bold</b> word", "Одно </b>жирное<b> слово"),
    ("entity_broken", "fail", "es", "Tom &amp; Jerry", "Tom &amp Jerry"),
    ("entity_broken", "fail", "pl", "Cats and dogs", "Koty &amp; psy"),
    ("entity_broken", "fail", "it", "Tom &amp; Jerry", "Tom &amp;amp; Jerry"),
    ("entity_broken", "fail", "de", "&copy; 2026", "&kopie; 2026"),
    ("escape_broken", "fail", "tr", r"One\nTwo", r"Bir\ nİki"),
    ("escape_broken", "fail", "nl", "One line", r"Een\nRegel"),
    ("escape_broken", "warn", "sv", r"One\nTwo", "Ett två"),
    ("accelerator_lost", "warn", "uk", "_Merge", "Злити _ все"),
    ("accelerator_doubled", "warn", "es", "_Open file", "_Abrir _archivo"),
    ("space_changed", "warn", "de", "Name: ", "Name:"),
    ("space_changed", "info", "de", "Name", "Der Name "),
    ("line_break_changed", "fail", "ar", "Done.\n", "تم."),
    ("end_mark_changed", "warn", "cs", "Name:", "Jméno"),
    ("end_mark_changed", "warn", "el", "Open…", "Άνοιγμα"),
    ("end_mark_changed", "info", "pt-BR", "The file was saved.", "O arquivo foi salvo"),
    ("language_mark", "warn", "ar", "Delete the file?", "حذف الملف?"),
    ("language_mark", "warn", "ar", "Delete the file %s?", "حذف الملف %s?"),
    ("language_mark", "warn", "fa", "Yes, please", "بله, لطفا"),
    ("language_mark", "warn", "zh-Hans", "The file was saved.", "文件已保存."),
    ("language_mark", "warn", "ja", "The file was saved.", "ファイルを保存しました."),
    ("language_mark", "warn", "el", "Delete the file?", "Διαγραφή του αρχείου?"),
    ("language_mark", "warn", "es", "Delete the file?", "Quiere borrar el archivo?"),
    ("language_mark", "warn", "es", 'Really delete "%@"?', 'Quiere borrar "%@"?'),
    ("quotation_marks", "info", "fr", "Open “%s”", "Ouvrir “%s”"),
    ("invisible_character", "warn", "de", "File name", "Datei\u200bname"),
    ("invisible_character", "warn", "he", "File name", "\u202bשם הקובץ"),
    ("doubled_word", "warn", "fr", "The file was saved", "Le fichier a été été enregistré"),
    ("needs_review", "info", "de", "Save", "Sichern"),
    (
        "source_copied",
        "fail",
        "fi",
        "The file could not be saved to the disk.",
        "The file could not be saved to the disk.",
    ),
    ("wrong_script", "fail", "ru", "The file could not be saved", "Fayl ne udalos sokhranit"),
    ("question_lost", "warn", "hu", "Do you want to delete the file?", "Törli a fájlt."),
    ("wrong_length", "warn", "de", "Open the contents of your desktop in a folder", "Den Inhalt des"),
    ("space_changed", "info", "ja", "Name: ", "名前："),
    ("number_changed", "fail", "da", "At least 12 characters are needed", "Der kræves mindst 14 tegn"),
    (
        "url_lost",
        "fail",
        "cs",
        "See https://gnome.org/wiki/A for help",
        "Viz https://cs.example.net/wiki/A pro pomoc",
    ),
    ("wrong_language", "fail", "de", "The order has been placed.", "Votre commande a bien été enregistrée."),
    ("wrong_language", "warn", "hr", "Enter the Code", "Unesite kôd za prijavu"),
    ("markup_lost", "warn", "de", "<html>Always white background</html>", "Immer weißer Hintergrund"),
    ("markup_added", "warn", "ja", "Run a script.<br/>It is here", "スクリプトを<br/>実行します。<br/>ここにあります"),
    ("wrong_script", "warn", "zh-Hans", "Pause torrents", "暂停 torrent"),
    ("wrong_script", "warn", "ko", "URLs", "URL"),
    ("wrong_script", "fail", "mk", "This project cannot be archived", "This project can not be archived"),
    ("wrong_script", "fail", "de", "Delete the file", "حذف الملف الآن"),
    ("markup_added", "warn", "uk", "We <Bold>don't</Bold> do so", "Ми <Bold>не</Bold> робимо й <Bold>не</Bold> будемо"),
    ("wrong_script", "warn", "ko", "Event Hub SAS Key", "Event Hub SAS 키"),
    ("url_lost", "warn", "fr", "Match a scheme (e.g., https://example.com)", "Schéma (ex. : https://exemple.com)"),
    ("url_lost", "fail", "ko", "See https://gnome.org/help for help", "도움말은 https://gnome.org/halp 을 보세요"),
]


@for_each(("kind", "severity", "language", "source", "translation"), PLANTED, ids=lambda case: f"{case[0]} {case[2]}")
def test_a_planted_fault_is_found_with_its_severity(kind, severity, language, source, translation):
    state = "needs_review" if kind == "needs_review" else "translated"

    assert kinds(source, translation, language, state=state).get(kind) == severity


FINE = [
    ("ru", "This feature has been disabled in about:config", "Эта функция была отключена в about:config"),
    ("ja", "Use a <code>legend</code> element for it", "それには <code>legend</code> 要素を使ってください"),
    ("th", "You can continue with your default resolver", "คุณสามารถไปต่อด้วย resolver เริ่มต้นของคุณได้"),
    ("es", "Learn more about deceptive sites and phishing", "Más información sobre los sitios engañosos y el phishing"),
    ("pl", "The password is wrong. Note that case counts.", "Hasło jest błędne. Uwaga: wielkość liter ma znaczenie."),
    ("fa", "Error on line %d: %s", "خطا در سطر %Id: %s"),
    ("fr", "failed to truncate to %<PRIdMAX> bytes in %s", "impossible de tronquer %2$s à %1$<PRIdMAX> octets"),
    ("sv", "Invalid %-encoding in URI", "Ogiltig %-kodning i URI"),
    ("ru", "Widgets on { -home-brand-name }", 'Виджеты на { -home-brand-name(case: "prepositional") }'),
    ("ja", 'At { DATETIME($date, month: "long") }', '{ DATETIME($date, month: "long") } に'),
    ("de", "KP_Delete", "Entf (Ziffernblock)"),
    ("de", "'-W PAGE_WIDTH' invalid number of characters", "'-W SEITENBREITE' ungültige Zahl von Zeichen"),
    ("pl", r"\ at end of pattern", r"\ na końcu wzoru"),
    ("ja", "B5", "B5 (ISO)"),
    ("ja", "w", "b"),
    ("nl", "FILE [PATH]", "BESTAND [PAD]"),
    ("hu", "Error reverse-resolving “%s”: %s", "Hiba a(z) „%s” fájl fordított feloldásakor: %s"),
    ("ka", "A folder cannot be called “..”", "საქაღალდეს არ შეიძლება „..“ ერქვას"),
    ("pl", "  PATH      A resource path\n", "  ŚCIEŻKA   Ścieżka do zasobu\n"),
    ("de", "The %s the user has chosen", "Die %s die %s"[:6] + " hat der Benutzer gewählt"),
    ("zh-Hant", "Failed to write file '%s': write() failed: %s", "無法寫入檔案「%s」：write() 失敗：%s"),
    ("ro", "  nofollow  do not follow symlinks\n", "  nofollow  nu urma legăturile simbolice\n"),
    ("hu", "Ignoring the invalid tab size", "Az érvénytelen tabulátorméret\nfigyelmen kívül hagyása"),
    (
        "ko",
        "This file is too big. Maximum file size %(m)s.",
        "이 파일 사이즈는 너무 큽니다. 최대 허용 가능한 파일 사이즈는 %(m)s 입니다.",
    ),
    ("sr", "Email Confirmation", "Потврда е-поште"),
    (
        "fr",
        'See <a href="https://docs.example.org/en/%s/ref/">it</a>',
        'Voyez <a href="https://docs.example.org/fr/%s/ref/">cela</a>',
    ),
    ("cs", "See https://wikipedia.org/wiki/Not_safe_for_work here", "Viz https://cs.wikipedia.org/wiki/Nevhodné zde"),
    ("vi", "Your old password was wrong. Please enter it again.", "Mật khẩu cũ không chính xác. Hãy nhập lại lần nữa"),
    ("de", "Press <1> or <2> to go on", "Drücken Sie <1> oder <3>"),
    ("de", "Go to <0>settings</0> and <1/>", "<1/> und <0>Einstellungen</0>"),
    ("de", 'Hello, <x id="INTERPOLATION_WITH_A_LONG_NAME"/>!', "Hallo, <x/>!"),
    ("es", 'Really delete "%@"?', '¿Borrar "%@"?'),
    ("de", "_Open", "Ö_ffnen"),
    ("ja", "_Open", "開く(_O)"),
    ("ja", "_Open…", "開く(_O)…"),
    ("zh-Hans", "&File", "文件(&F)"),
    ("ar", "Delete %s?", "حذف %s؟"),
    ("el", "Delete the file?", "Διαγραφή του αρχείου;"),
    ("hy", "Delete the file?", "Ջնջե՞լ ֆայլը"),
    ("th", "The file was saved.", "บันทึกไฟล์แล้ว"),
    ("es", "Delete the file?", "¿Borrar el archivo?"),
    ("fr", "Delete the file?", "Supprimer le fichier ?"),
    ("zh-Hans", "Version 2.5 is out", "版本 2.5 已发布"),
    ("id", "Be careful", "Hati hati"),
    ("fa", "You can", "می\u200cتوانید"),
    ("de", "<unknown>", "<unbekannt>"),
    ("de", "<br>New line", "<br/>Neue Zeile"),
    ("de", "R&D department", "Abteilung R&D"),
    ("ru", "A &amp; B", "А &amp; Б"),
    ("fr", "Tom &amp; Jerry", "Tom&nbsp;&amp; Jerry"),
    ("de", "C:\\new", "C:\\new"),
    ("ar", "Wayland", "Wayland"),
    ("ar", "preferences-system", "preferences-system"),
    ("hi", "%s %d-bit", "%s %d-bit"),
    ("de", "translator-credits", "Jane Doe <jane@example.org>\nJohn Doe"),
    ("fr", "Nothing to see", "Nous nous arrêtons"),
    ("zh-Hans", "video, driver, card, hardware", "视频, 驱动, 卡, 硬件"),
    ("nl", "Usage: %s [<option>...] <link>", "Gebruik: %s [<optie>...] <koppeling>"),
    ("lv", "<Answer: {question}>", "<Atbilde: {question}>"),
    ("fr", "Usage: --force-<thing>", "Utilisation : --force-<option>"),
    ("sv", "I<section> B<Note:> see below", "I<sektion> B<Observera:> se nedan"),
    (
        "ru",
        "Too many failed attempts, please try again in %minutes% minutes.",
        "Слишком много попыток, повторите через %minutes% минуту.|Слишком много попыток, повторите через %minutes% "
        "минуты.|Слишком много попыток, повторите через %minutes% минут.",
    ),
    ("ru", "", "%(date)s в %(time)s"),
    ("ru", "{{count}} files of {total}", "{{count}} файлов из {total}"),
]


@for_each(("language", "source", "translation"), FINE, ids=lambda case: f"{case[0]} {case[1]}")
def test_a_good_translation_has_no_finding_that_fails_or_warns(language, source, translation):
    assert {kind: level for kind, level in kinds(source, translation, language).items() if level != "info"} == {}


def test_a_text_that_begins_with_a_tag_is_html_in_qt():
    texts = "Allows positioning of sound", '<p dir="RTL">מאפשר מיקום של צלילים</p>'

    assert kinds(*texts, language="he", form="qt") == {"markup_added": "warn"}
    assert kinds(*texts, language="he") == {"markup_added": "fail"}


def test_every_finding_of_messages_is_described_and_has_a_name_of_its_own():
    assert not set(message_findings()) & set(known_findings())
    for known in message_findings().values():
        assert known.finds.endswith(".")
        assert known.matters.endswith(".")


def test_a_placeholder_a_tag_and_a_shortcut_do_not_disturb_the_checks_of_any_text():
    plain = plain_text("Ö_ffnen Sie <b>%s</b> {name} &amp; \\n", "_")

    assert plain.text.split() == ["Öffnen", "Sie"]


@given(st.text(alphabet="aä_&%s{}<b>/ \\n🙂مر", max_size=40), st.sampled_from(["", "_", "&"]))
def test_the_place_of_each_character_in_the_plain_text_is_that_in_the_message(text, mark):
    plain = plain_text(text, mark)

    for place, char in enumerate(plain.text):
        assert char in (" ", text[plain.original(place)])
    assert plain.original(len(plain.text)) <= len(text)


def test_a_finding_behind_a_shortcut_has_its_place_in_the_message():
    text = "_Überschrift \x9e hier"

    [found] = [each for each in findings(message("_Title here", text)) if each.kind == "broken_characters"]

    assert text[found.start : found.end] == "\x9e"


@for_each(
    ("source", "mark"),
    [
        ("_Open", "_"), ("E_xit", "_"), ("Plu_gins", "_"), ("&File", "&"), ("E&xit", "&"), ("~Close", "~"),
        ("snake_case", ""), ("en_US", ""), ("A __b__ c", ""), ("R&D", ""), ("Tom & Jerry", ""), ("&amp;", ""),
        ("/usr/lib_x", ""), ("a_b_c", ""), ("", ""), ("NVIDIA_DRIVER", ""),
    ],
)  # fmt: skip
def test_the_mark_of_a_shortcut_is_recognised(source, mark):
    assert accelerator_mark(source) == mark


def test_a_language_without_shortcuts_is_fine_and_one_that_lost_a_few_is_not():
    lost = {"Close it": "Fermer ceci", "Close all": "Fermer tout", "Print it": "Imprimer ceci"}
    kept = {
        "Open it": "_Ouvrir ceci",
        "Open all": "_Ouvrir tout",
        "Undo it": "_Annuler ceci",
        "Redo it": "_Refaire ceci",
    }
    without = [message(f"_{source}", text) for source, text in lost.items()]
    given = [message(f"_{source}", text) for source, text in kept.items()]

    assert [each.kind for each in findings(*without, language="fr")] == []
    assert [each.kind for each in findings(*without, *given, language="fr")] == ["accelerator_lost"] * 3


@for_each(
    ("text", "base", "end"),
    [
        ("Name:", "", "colon"), ("名称：", "", "colon"), ("Open...", "", "ellipsis"), ("“Done.”", "", "full stop"),
        ("(done)", "", ""), ("何ですか？", "", "question mark"), ("Τι;", "el", "question mark"), ("Что;", "ru", ""),
        ("سلام۔", "ur", "full stop"), ("ठीक है।", "hi", "full stop"), ("Ինչ՞", "hy", "question mark"),
    ],
)  # fmt: skip
def test_the_end_of_a_text_is_recognised_in_every_script(text, base, end):
    assert end_of(text, base) == end


def test_the_ends_are_not_compared_where_one_is_a_placeholder():
    assert kinds("Unsupported version: %d", "バージョン %d はサポートされていません", "ja") == {}


def test_a_limit_counts_what_a_reader_sees():
    family, limit = "👩‍👩‍👧", 3

    assert kinds("Pen", "Stift", max_length=4)["too_long"] == "fail"
    assert "too_long" not in kinds("Pen", "Stift", max_length=5)
    assert kinds("Pen", family, max_length=limit).get("too_long") == "warn"


def test_a_line_break_at_an_edge_fails_where_the_compiler_refuses_it():
    assert kinds("Done.\n", "Fertig.", form="gettext")["line_break_changed"] == "fail"
    assert kinds("Done.\n", "Fertig.", form="json")["line_break_changed"] == "warn"


def test_a_fuzzy_translation_is_only_named_because_no_reader_sees_it():
    assert kinds("Click <b>here</b>", "Klick", state="fuzzy") == {"needs_review": "info"}


def test_a_message_without_a_translation_and_one_that_the_file_lacks_are_for_information():
    found = findings(message("Save", "", state="untranslated"), missing=(message("Open", "", state="untranslated"),))

    assert [(each.kind, each.severity) for each in found] == [("not_translated", "info")] * 2


def test_what_the_reader_of_a_file_noted_is_a_finding_at_its_line():
    checker_findings = findings(message("Save", "Sichern"), problems=((3, "has the key 'a' twice"),))

    assert [(each.kind, each.message) for each in checker_findings] == [("file_problem", "Has the key 'a' twice.")]


def test_a_variant_of_the_source_language_may_keep_its_words():
    assert (
        kinds(
            "The colour of the window border can be changed", "The colour of the window border can be changed", "en-GB"
        )
        == {}
    )


def test_short_labels_that_look_like_a_neighbour_warn_and_a_file_in_another_language_fails():
    sources = [f"Please enter the {word} of your account" for word in ("name", "number", "address", "city", "password")]
    words = ("el nombre", "el número", "la dirección", "la ciudad", "la contraseña")
    spanish = [f"Introduzca {word} de su cuenta" for word in words]
    found = findings(*map(message, sources, spanish), language="de")

    assert {each.severity for each in found if each.kind == "wrong_language"} == {"fail"}


def test_one_sentence_in_another_language_does_not_make_the_labels_beside_it_wrong():
    labels = (("Save", "Зберегти"), ("Saved", "Збережено"), ("note", "нотатка"), ("notes", "нотаток"))
    sentence = message("This is important, read it.", "Это важное сообщение, прочитайте его.")
    found = findings(*(message(*pair) for pair in labels), sentence, language="uk")

    assert [each.kind for each in found] == ["wrong_language"]


def test_a_product_name_that_many_messages_keep_is_no_word_left_untranslated():
    messages = [
        message(f"Whether gedit should {verb} the files", f"Ob gedit die Dateien {german} soll")
        for verb, german in (("save", "speichern"), ("print", "drucken"), ("close", "schließen"))
    ]

    assert [each.kind for each in findings(*messages)] == []


def test_settings_of_a_project_hold_for_the_findings_of_messages():
    policy = check_policy(settings={"end_mark_changed": "fail", "spacing": "off"})
    found = findings(message("Size: ", "Größe"), policy=policy)

    assert [(each.kind, each.severity) for each in found] == [("end_mark_changed", "fail")]
    only = findings(message("Size: ", "Größe"), policy=check_policy(only=["spacing"]))
    assert [each.kind for each in only] == ["space_changed"]
    with pytest.raises(ConfigError, match="Did you mean 'spacing'"):
        check_policy(only=["spacin"])


def test_a_language_that_is_not_in_the_table_is_checked_for_its_form_alone():
    found = findings(message("Save", "", state="untranslated"), message("Open", "x <b>"), language="tlh")

    assert [each.kind for each in found] == ["not_translated"]


def test_the_checker_has_no_findings_in_an_empty_file():
    assert catalogue().messages == ()
    assert findings(policy=CheckPolicy()) == []


@pytest.mark.slow
@for_each(
    "part",
    [
        *(
            "a",
            "1",
            "ا",
            "中",
            "_",
            "_a",
            "a_b",
            "!!",
            ".",
            "?",
            "%",
            "%I",
            "%<PRI",
            "{",
            "{ A(",
            "{{a ",
            "<",
            "<1",
            "&",
        ),
        *("\\", "\u0301", "\u200d", "\u202b", " ", "a  ", "\n", '"ab ', "(_a", "http://a.", "a@b.", "1,", "a:", "a-"),
    ],
    ids=repr,
)
def test_a_message_of_great_length_is_checked_in_time_that_grows_with_its_length(part):
    source, long = "Delete %s {{a}} <b>x</b> &amp; the _file? http://a.b/c 12", part * (200_000 // len(part))
    start = time.process_time()

    findings(message(source, long), language="es")
    findings(message(long + source, long), language="es")

    assert time.process_time() - start < 30  # what grows with the square of the length takes minutes
