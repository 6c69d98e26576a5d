"""Plural forms: those that a language needs, by CLDR or by the header of the file."""

from tests.folding import for_each
from tests.review.messages import findings, message

from polyjudge import review_files


def forms(language, form, given, syntaxes=(), **more):
    messages = [
        message("%d files", text, plural=plural, key="files", syntaxes=syntaxes) for plural, text in given.items()
    ]
    return [(each.kind, each.severity) for each in findings(*messages, language=language, form=form, **more)]


def test_a_form_that_the_language_needs_is_missed():
    assert forms("pl", "json", {"one": "%d plik", "other": "%d pliku"}) == [("plural_missing", "fail")]
    assert forms("pl", "android", {"one": "%d plik", "few": "%d pliki", "many": "%d plików", "other": "%d pliku"}) == []


@for_each(
    ("form", "syntaxes"),
    [("android", ()), ("arb", ("brace",)), ("fluent", ("fluent",)), ("stringsdict", ("apple",)), ("xliff", ("icu",))],
)
def test_a_form_in_whose_place_a_program_shows_the_form_other_warns(form, syntaxes):
    found = forms("ru", form, {"one": "%d файл", "few": "%d файла", "other": "%d файлов"}, syntaxes)
    assert found == [("plural_missing", "warn")]
    assert forms("ru", form, {"one": "%d файл", "few": "%d файла"}, syntaxes) == [("plural_missing", "fail")]


def test_a_form_that_no_number_has_is_compared_with_the_same_form_of_the_source_and_named(tmp_path):
    for name, text in {
        "en-US": "[one] Close tab\n       *[other] Close { $n } tabs",
        "ja": "[one] タブを閉じます\n       *[other] { $n } 個のタブを閉じます",
    }.items():
        (tmp_path / "locales" / name).mkdir(parents=True)
        (tmp_path / "locales" / name / "app.ftl").write_text(
            f"close =\n    {{ $n ->\n        {text}\n    }}\n", encoding="utf-8"
        )

    [found] = review_files(tmp_path).findings

    assert (found.kind, found.plural, found.source) == ("plural_unknown", "one", "Close tab")


def test_forms_for_millions_may_be_left_out():
    assert forms("fr", "android", {"one": "%d fichier", "other": "%d fichiers"}) == []


def test_a_form_that_the_language_does_not_have_is_named_and_zero_may_be_given_in_any():
    found = forms("ja", "json", {"other": "%d 個のファイル", "few": "%d 個のファイル"})

    assert found == [("plural_unknown", "warn")]
    assert forms("ja", "json", {"other": "%d 個のファイル", "zero": "ファイルはありません"}) == []


@for_each("form", ["json", "rails"])
def test_a_file_without_any_form_beside_one_and_other_warns_once(form):
    messages = [
        message("%d files", f"%d soubor {plural}", plural=plural, key=key)
        for key in "abc"
        for plural in ("one", "other")
    ]

    [found] = findings(*messages, language="cs", form=form)

    assert (found.kind, found.severity) == ("plural_missing", "warn")
    assert "Almost none of the 3 messages with plural forms has 'few'" in found.message
    few = message("%d files", "%d soubory", plural="few", key="a")
    again = findings(*messages, few, language="cs", form=form)
    assert [(each.kind, each.severity) for each in again] == [("plural_missing", "fail")] * 2


def test_a_form_of_the_source_that_the_language_does_not_have_is_for_information():
    assert forms("ja", "json", {"one": "%d 個", "other": "%d 個のファイル"}) == [("plural_unknown", "info")]


def test_a_number_that_is_missing_in_the_form_one_of_more_numbers_is_explained():
    given = {"one": "Удалена страница", "few": "%d страницы", "many": "%d страниц", "other": "%d страницы"}
    messages = [message("%d pages", text, plural=plural, key="k") for plural, text in given.items()]

    [found] = findings(*messages, language="ru", form="android")

    assert (found.kind, found.severity) == ("placeholder_lost", "fail")
    assert "The form 'one' is for 1, 21, 31 and others." in found.message


def test_an_empty_form_beside_others_fails_and_a_message_without_any_is_not_translated():
    found = forms("de", "gettext", {"one": "%d Datei", "other": ""}, plural_categories=("one", "other"))

    assert found == [("plural_missing", "fail")]
    assert forms("de", "gettext", {"one": "", "other": ""}) == [("not_translated", "info")] * 2


def test_a_header_with_another_number_of_forms_is_named_for_the_file():
    found = findings(message("Save", "Zapisz"), language="pl", plural_categories=("one", "other"))

    assert [(each.kind, each.severity) for each in found] == [("plural_unknown", "warn")]
    assert "declares 2 plural forms, and the language has 3: one, few, many" in found[0].message


def test_languages_that_need_no_plural_after_a_number_may_have_one_form():
    assert findings(message("Save", "Kaydet"), language="tr", plural_categories=("other",)) == []


def test_forms_that_are_numbered_are_not_compared_with_categories():
    assert forms("tlh", "gettext", {"0": "%d a", "1": "%d b"}, plural_categories=("0", "1")) == []
