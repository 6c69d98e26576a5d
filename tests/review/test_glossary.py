"""The terms of a glossary: which files are read, and which translations use a term."""

import pytest
from tests.folding import for_each
from tests.review.messages import kinds

from polyjudge.errors import DataError
from polyjudge.languages.table import language_table
from polyjudge.review.glossary import is_used, read_glossary

TABLE = language_table()


def glossary(folder, text, name="terms.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_glossary(path, TABLE)


def checked(terms, source, translation, language="de"):
    from tests.review.messages import catalogue, message

    from polyjudge.review.message_checks import MessageChecker

    checker = MessageChecker(TABLE, glossary=terms)
    found = checker.findings(catalogue(message(source, translation), language=language))
    return [(each.finding.kind, each.finding.severity) for each in found]


LONG = """source,target,language,forbidden,case,note
file,Datei,de,Feile,,
profile,Profil,de,,,
Apple,Apple,de,Apfel,yes,the firm
"""


def test_a_term_of_the_source_must_be_in_the_translation(tmp_path):
    terms = glossary(tmp_path, LONG)

    assert checked(terms, "Open the file", "Das Dokument öffnen") == [("term_missing", "warn")]
    assert checked(terms, "Open the file", "Die Datei öffnen") == []
    assert checked(terms, "Open all files", "Alle Dateien öffnen") == []
    assert checked(terms, "Open the profile", "Das Profil öffnen") == []


def test_a_term_holds_for_its_language_and_its_varieties_alone(tmp_path):
    terms = glossary(tmp_path, LONG)

    assert checked(terms, "Open the file", "Ouvrir le document", "fr") == []
    assert checked(terms, "Open the file", "Das Dokument öffnen", "de-AT") == [("term_missing", "warn")]


def test_a_forbidden_word_fails_and_a_form_of_it_warns(tmp_path):
    terms = glossary(tmp_path, LONG)

    assert checked(terms, "Open the file", "Die Feile öffnen") == [("term_forbidden", "fail")]
    assert checked(terms, "Open the files", "Die Feilen öffnen") == [("term_forbidden", "warn")]
    assert checked(terms, "Sharpen the edge", "Mit der Feile schärfen") == []


def test_case_counts_where_the_glossary_says_so(tmp_path):
    terms = glossary(tmp_path, LONG)

    assert checked(terms, "Eat an apple", "Einen Apfel essen") == []
    assert checked(terms, "Buy from Apple", "Beim Apfel kaufen") == [("term_forbidden", "fail")]


def test_a_shortcut_within_the_word_does_not_hide_a_term(tmp_path):
    terms = glossary(tmp_path, LONG)

    assert checked(terms, "Open _file", "Da_tei öffnen") == []


def test_one_column_for_each_language_and_several_translations_in_a_cell(tmp_path):
    terms = glossary(tmp_path, "Source\tde\tfr\tzh-Hans\nfolder\tOrdner|Verzeichnis\tdossier\t文件夹\n", "terms.tsv")

    assert checked(terms, "Open folder", "Verzeichnis öffnen") == []
    assert checked(terms, "Open folder", "Ouvrir le répertoire", "fr") == [("term_missing", "warn")]
    assert checked(terms, "Open folder", "打开文件夹", "zh-Hans") == []


def test_a_row_may_say_that_its_translation_is_the_forbidden_one(tmp_path):
    terms = glossary(tmp_path, "term,translation,lang,forbidden\nfile,Akte,de,yes\n")

    assert checked(terms, "Open the file", "Die Akte öffnen") == [("term_forbidden", "fail")]
    assert checked(terms, "Open the file", "Die Datei öffnen") == []


def test_a_finding_says_what_is_expected_and_why(tmp_path):
    from tests.review.messages import catalogue, message

    from polyjudge.review.message_checks import MessageChecker

    terms = glossary(tmp_path, LONG)
    [found] = MessageChecker(TABLE, glossary=terms).findings(catalogue(message("By Apple", "Von Birne")))

    assert found.finding.message == "The term 'Apple' should be 'Apple' here (the firm)."


@for_each(
    ("language", "target", "text", "used"),
    [
        ("tr", "kitap", "Kitabı aç", True),
        ("fi", "tiedosto", "Avaa tiedostossa", True),
        ("hu", "fájl", "A fájlokat", True),
        ("ru", "файл", "Открыть файлы", True),
        ("ru", "настройки", "в настройках", True),
        ("pl", "ustawienia", "W ustawieniach", True),
        ("ar", "ملف", "افتح الملفات", True),
        ("de", "Datei", "Bilddatei", True),
        ("ja", "ファイル", "画像ファイルを開く", True),
        ("th", "ไฟล์", "เปิดไฟล์", True),
        ("fr", "mode nuit", "nuit en mode", True),
        ("fr", "nuit", "nuage", False),
        ("de", "Datei", "Dokument", False),
        ("es", "red", "reducir", False),
    ],
)
def test_a_term_is_found_in_its_forms(language, target, text, used):
    assert is_used(target, text, TABLE.find(language)) is used


@for_each(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "no column for the source terms. Found: a, b"),
        ("source,note\nfile,x\n", "no column for the translations"),
        ("source,target,language\nfile,Datei,germn\n", "terms.csv:2: unknown language 'germn'. Did you mean German"),
        ("source,target\n,Datei\n", "terms.csv:2: the source term is empty"),
        ("source,target,case\nfile,Datei,maybe\n", "case must be yes or no, not 'maybe'"),
        ("source,target\nfile,Datei,too much\n", "expected 2 fields, found 3"),
        ("source,target\n", "no terms found"),
        ("", "no column for the source terms|no terms found"),
    ],
)
def test_a_bad_glossary_gets_one_clear_message(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        glossary(tmp_path, text)


def test_a_glossary_that_is_not_there_gets_a_message(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_glossary(tmp_path / "none.csv", TABLE)


def test_without_a_glossary_no_term_is_looked_for():
    assert kinds("Open the file", "Das Dokument öffnen") == {}
