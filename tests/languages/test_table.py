"""The table of languages: what is shipped holds together, and any usual way to name a language finds it."""

import re
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.folder_trust import make_folder
from polyjudge.languages.table import LanguageTable, language_table

TABLE = language_table()
PUBLIC_TAGS = """
    en es-419 es nl fr it pt ro cs pl hr ca gl cy ga eu sk sl et fi hu da sv de lv lt mt tr tl ms id jv vi sw ha ig mg
    sn wo xh yo zu no pcm az so ar fa ur he zh-Hans zh-Hant yue ja ko th lo km my ru uk bg hi mr ne bn ta te gu pa am
    el sr
"""
RIGHT_TO_LEFT = {"Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm"}
HEADER = "tag\tname\tnative_name\tscripts\tfamily\tdirection\tspeakers_millions\tdetector\tinseparable\taliases"


def test_every_language_of_the_public_list_is_in_the_shipped_table():
    tags = PUBLIC_TAGS.split()

    assert len(tags) == len(set(tags)) == 73
    assert set(tags) <= {language.tag for language in TABLE}
    assert len(TABLE) >= 73


def test_every_script_of_the_table_is_one_that_letters_can_have():
    scripts = {script for language in TABLE for script in language.scripts} - {"Hans", "Hant"}

    for script in scripts:
        assert regex.compile(rf"\p{{sc={script}}}")


def test_no_tag_or_alias_stands_for_two_languages():
    counted = Counter(tag.casefold() for each in TABLE for tag in (each.tag, *each.aliases))

    assert [tag for tag, count in counted.items() if count > 1] == []


def test_languages_that_cannot_be_distinguished_say_so_of_each_other():
    rows = {each.tag: each for each in TABLE}

    for each in TABLE:
        for other in each.inseparable:
            assert each.tag in rows[other].inseparable
            assert other != each.tag


def test_the_direction_is_that_of_the_script():
    for each in TABLE:
        assert (each.direction == "rtl") == (each.scripts[0] in RIGHT_TO_LEFT), each.tag


def test_every_row_has_what_reports_show():
    for each in TABLE:
        assert each.name.strip() == each.name != ""
        assert each.native_name.strip() == each.native_name != ""
        assert each.family
        assert 0 < each.speakers_millions < 2_000
        assert re.fullmatch(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?", each.tag)


def test_every_language_is_found_by_its_tag_its_aliases_and_its_names():
    for each in TABLE:
        for tag in (each.tag, *each.aliases):
            assert TABLE.find(tag) == each
            assert TABLE.find(f"  {tag.upper().replace('-', '_')} ") == each
        assert TABLE.find("", each.name) == each
        assert TABLE.find("", each.native_name) == each


@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ("de-AT", "de"),
        ("en_GB", "en"),
        ("es-MX", "es-419"),
        ("es-ES", "es"),
        ("pt-BR", "pt-BR"),
        ("pt-AO", "pt"),
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("zh-TW", "zh-Hant"),
        ("zh-Hant-TW", "zh-Hant"),
        ("zh_hant_HK", "zh-Hant"),
        ("zh-yue", "yue"),
        ("nb", "no"),
        ("iw", "he"),
        ("fil", "tl"),
        ("cmn-Hans-CN", "zh-Hans"),
        ("de-1996", "de"),
        ("en-x-abcd", "en"),
        ("zh-Hans-u-co-pinyin", "zh-Hans"),
    ],
)
def test_a_region_or_variant_that_the_table_does_not_distinguish_is_ignored(tag, found):
    language = TABLE.find(tag)

    assert language is not None
    assert language.tag == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Chinese (Mandarin)", "zh-Hans"),
        ("Mandarin Chinese", "zh-Hans"),
        ("Mandarin", "zh-Hans"),
        ("chinese", "zh-Hans"),
        ("Simplified Chinese", "zh-Hans"),
        ("Chinese, Traditional", "zh-Hant"),
        ("Latin American Spanish", "es-419"),
        ("Spanish (Latin American)", "es-419"),
        ("SPANISH", "es"),
        ("Brazilian Portuguese", "pt-BR"),
        ("Norwegian", "no"),
        ("Filipino", "tl"),
        ("日本語", "ja"),
        ("العربية", "ar"),
    ],
)
def test_a_name_finds_its_language_in_any_usual_order(name, found):
    for language in (TABLE.find("", name), TABLE.find(name)):
        assert language is not None
        assert language.tag == found


@pytest.mark.parametrize("name", ["", "   ", "()", "xx", "Klingon", "tlh", "-", "not a tag", "zzz-Latn", "en-Abcd"])
def test_what_the_table_does_not_have_is_not_found(name):
    assert TABLE.find(name) is None
    assert TABLE.find(name, name) is None


def test_the_tag_goes_before_the_name_and_the_name_before_nothing():
    assert TABLE.find("de", "French").tag == "de"
    assert TABLE.find("xx", "French").tag == "fr"


@given(st.text(), st.text())
def test_looking_up_any_text_finds_a_language_or_none(tag, name):
    found = TABLE.find(tag, name)

    assert found is None or found.scripts


@pytest.mark.parametrize(
    ("tag", "scripts", "family", "direction"),
    [
        ("sr-Latn", ("Latn",), "Latin", "ltr"),
        ("sr-Cyrl-RS", ("Cyrl",), "Cyrillic", "ltr"),
        ("sr_latn_rs", ("Latn",), "Latin", "ltr"),
        ("uz-Cyrl", ("Cyrl",), "Cyrillic", "ltr"),
        ("yue-Hans", ("Hans",), "CJK", "ltr"),
        ("ja-Jpan", ("Hira", "Kana", "Hani"), "Japanese", "ltr"),
        ("ko-Kore-KR", ("Hang", "Hani"), "Hangul", "ltr"),
        ("ur-Aran", ("Arab",), "Arabic", "rtl"),
    ],
)
def test_a_script_in_the_tag_is_the_one_accepted_and_brings_its_family_and_direction(tag, scripts, family, direction):
    language = TABLE.find(tag)

    assert language is not None
    assert (language.scripts, language.family, language.direction) == (scripts, family, direction)
    assert language.detector


def test_a_language_in_a_script_that_is_not_its_own_is_not_identified_and_runs_as_that_script_does():
    punjabi, arabic = TABLE.find("pa-Arab"), TABLE.find("ar-Latn")

    assert (punjabi.tag, punjabi.scripts, punjabi.direction, punjabi.detector) == ("pa-Arab", ("Arab",), "rtl", "")
    assert (arabic.tag, arabic.scripts, arabic.direction, arabic.detector) == ("ar-Latn", ("Latn",), "ltr", "")


def own(path: Path, *rows: str, header: str = HEADER) -> LanguageTable:
    path.write_text("\n".join((header, *rows)), encoding="utf-8")
    return language_table(path)


def test_rows_of_a_file_stand_on_top_of_the_shipped_ones(tmp_path):
    table = own(
        tmp_path / "own.tsv",
        "nds\tLow German\tPlattdüütsch\tLatn\t\tltr\t4.5\t\t\tnds-DE",
        "en\tPlain English\t\tLatn\tLatin\tltr\t\ten",
    )

    assert table.find("nds-DE").name == table.find("Plattdüütsch").name == "Low German"
    assert table.find("nds").family == "Latn"
    assert table.find("en").name == "Plain English"
    assert len(table) == len(TABLE) + 1
    assert table.find("fr") == TABLE.find("fr")


def test_rows_in_the_working_folder_are_used_without_being_asked_for(in_folder):
    assert language_table().find("nds") is None
    make_folder(in_folder / ".polyjudge")
    own(in_folder / ".polyjudge" / "languages.tsv", "nds\tLow German\t\tLatn\t\tltr\t4.5")

    assert language_table().find("nds").name == "Low German"


def test_a_row_without_a_native_name_is_not_found_by_nothing(tmp_path):
    table = own(tmp_path / "own.tsv", "nds\tLow German\t\tLatn\t\tltr\t4.5")

    assert table.find("", "") is None
    assert table.find("?", "!") is None


def test_a_file_may_leave_out_columns_that_are_not_needed_and_have_a_mark_of_byte_order(tmp_path):
    (tmp_path / "own.tsv").write_bytes(
        "\ufefftag\tname\tnative_name\tscripts\tfamily\tdirection\tspeakers_millions\r\n\r\n"
        "ain\tAinu\tアイヌ・イタㇰ\tKana;Latn\tJapanese\tltr\t\r\n".encode()
    )

    assert language_table(tmp_path / "own.tsv").find("ain").scripts == ("Kana", "Latn")


@pytest.mark.parametrize(
    ("rows", "line", "says"),
    [
        (["x1\tOne\t\tLatn\t\tltr\t1", "\tNone\t\tLatn\t\tltr\t1"], 3, "needs a tag"),
        (["x1\t\t\tLatn\t\tltr\t1"], 2, "a name"),
        (["x1\tOne\t\t\t\tltr\t1"], 2, "at least one script"),
        (["x1\tOne\t\tLatin\t\tltr\t1"], 2, "'Latin'"),
        (["x1\tOne\t\tlatn\t\tltr\t1"], 2, "'latn'"),
        (["x1\tOne\t\tAbcd\t\tltr\t1"], 2, "'Abcd'"),
        (["x1\tOne\t\tZyyy\t\tltr\t1"], 2, "'Zyyy'"),
        (["x1\tOne\t\tLatn\t\tleft\t1"], 2, "'left'"),
        (["x1\tOne\t\tLatn\t\tltr\tmany"], 2, "'many'"),
        (["x1\tOne\t\tLatn\t\tltr\tnan"], 2, "'nan'"),
        (["x1\tOne\t\tLatn\t\tltr\t-3"], 2, "'-3'"),
        (["x1\tOne\t\tLatn\t\tltr\t1", "", "x1\tTwo\t\tLatn\t\tltr\t1"], 4, "duplicate tag"),
        (["too few"], 2, "needs"),
    ],
)
def test_a_bad_row_is_one_error_with_its_place(tmp_path, rows, line, says):
    path = tmp_path / "own.tsv"

    with pytest.raises(DataError, match=re.escape(says)) as caught:
        own(path, *rows)

    assert (caught.value.path, caught.value.line) == (path, line)
    assert f"{path}:{line}: " in str(caught.value)


@pytest.mark.parametrize("header", ["", "tag\tname", HEADER.replace("scripts", "script"), HEADER.replace("\t", ",")])
def test_a_file_without_the_columns_is_an_error_that_names_one(tmp_path, header):
    with pytest.raises(DataError, match="no column") as caught:
        own(tmp_path / "own.tsv", header=header)

    assert caught.value.line == 1


def test_a_file_that_cannot_be_read_is_an_error_with_its_path(tmp_path):
    (tmp_path / "latin.tsv").write_bytes(HEADER.encode() + b"\nnds\tPlattd\xfc\xfctsch")

    for path in (tmp_path / "missing.tsv", tmp_path, tmp_path / "latin.tsv"):
        with pytest.raises(DataError, match="cannot be read") as caught:
            language_table(path)
        assert caught.value.path == path


@given(st.binary(max_size=300))
def test_any_bytes_are_a_table_or_one_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("own") / "own.tsv"
    path.write_bytes(HEADER.encode() + b"\n" + content)

    with suppress(DataError):
        assert len(language_table(path)) >= len(TABLE)
