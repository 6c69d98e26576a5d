"""Cases are read unchanged, and errors name the file and line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.fixtures import read_fixtures

ROW = "greeting\ten\tes\tGood morning.\tBuenos días."
CELL = st.text(st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: text.strip()
)


def tsv(folder, *lines, name="translation.tsv", newline="\n"):
    path = folder / name
    path.write_bytes(newline.join(lines).encode())
    return path


def case(folder, name="letter", toml='source_lang = "en"\ntarget_lang = "es"\n', **files):
    place = folder / name
    place.mkdir()
    texts = {"input.txt": "One.\nTwo.\n", "expected.txt": "Uno.\nDos.\n", "case.toml": toml}
    for file, text in {**texts, **{f"{key}.txt": text for key, text in files.items()}}.items():
        if text is not None:
            (place / file).write_bytes(text.encode())
    return place


def error_message(path, **options):
    with pytest.raises(DataError) as raised:
        read_fixtures(path, **options)
    return str(raised.value)


def test_a_row_of_five_columns_is_a_case_with_its_place(tmp_path):
    path = tsv(tmp_path, "# natural phrases", "", ROW, "")

    [fixture] = read_fixtures(path).fixtures

    assert (fixture.case_id, fixture.source_lang, fixture.target_lang) == ("greeting", "en", "es")
    assert (fixture.input_text, fixture.expected_output) == ("Good morning.", "Buenos días.")
    assert (fixture.suite, fixture.path, fixture.line) == ("translation", str(path), 3)


def test_comments_and_blank_lines_are_kept_and_are_not_cases(tmp_path):
    file = read_fixtures(tsv(tmp_path, "# one", "   ", ROW, "#two", ""))

    assert len(file.fixtures) == 1
    assert file.lines == ("# one", "   ", ROW, "#two", "")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_windows_line_breaks_and_a_byte_order_mark_are_accepted(newline, mark, tmp_path):
    file = read_fixtures(tsv(tmp_path, f"{mark}# suite: preserve", ROW, "", newline=newline))

    [fixture] = file.fixtures
    assert (fixture.case_id, fixture.suite, fixture.expected_output) == ("greeting", "preserve", "Buenos días.")


@pytest.mark.parametrize(
    ("name", "suite"),
    [
        ("translation.tsv", "translation"),
        ("preserve.tsv", "preserve"),
        ("preserve-ids.tsv", "preserve"),
        ("cases.tsv", "translation"),
        ("not-preserve.tsv", "translation"),
    ],
)
def test_the_file_name_sets_the_suite(name, suite, tmp_path):
    [fixture] = read_fixtures(tsv(tmp_path, ROW, name=name)).fixtures

    assert fixture.suite == suite


@pytest.mark.parametrize("line", ["# suite: preserve", "#suite:preserve", "#  suite:  preserve  "])
def test_a_comment_line_sets_the_suite_of_the_following_cases(line, tmp_path):
    path = tsv(
        tmp_path, ROW, line, ROW.replace("greeting", "two"), "# suite: translation", ROW.replace("greeting", "3")
    )

    assert [fixture.suite for fixture in read_fixtures(path).fixtures] == ["translation", "preserve", "translation"]


def test_an_unknown_suite_is_an_error_with_its_line(tmp_path):
    assert error_message(tsv(tmp_path, ROW, "# suite: keep")).endswith(
        "translation.tsv:2: unknown suite 'keep'; expected translation or preserve"
    )


def test_a_comment_that_mentions_suites_is_only_a_comment(tmp_path):
    [fixture] = read_fixtures(tsv(tmp_path, "# suite: preserve is another file", ROW)).fixtures

    assert fixture.suite == "translation"


@given(given=CELL, expected=CELL)
def test_every_text_without_tabs_and_line_breaks_is_read_unchanged(given, expected, tmp_path_factory):
    path = tsv(tmp_path_factory.mktemp("any"), f"a\ten\tes\t{given}\t{expected}")

    [fixture] = read_fixtures(path).fixtures

    assert (fixture.input_text, fixture.expected_output) == (given, expected)


@pytest.mark.parametrize("text", [r"a\tb", r"a\nb", '"quoted"', "'", "$(touch made)", " padded ", "a\u2028b", "a\x0bb"])
def test_a_backslash_sequence_is_text(text, tmp_path):
    [fixture] = read_fixtures(tsv(tmp_path, f"a\ten\tes\t{text}\t{text}")).fixtures

    assert (fixture.input_text, fixture.expected_output) == (text, text)


@pytest.mark.parametrize(("row", "count"), [("a", 1), (f"{ROW}\tmore", 6), ("a en es Hello Hola", 1)])
def test_a_wrong_number_of_columns_is_an_error_with_its_line(row, count, tmp_path):
    assert error_message(tsv(tmp_path, ROW, "# note", row)).endswith(
        f"translation.tsv:3: expected 5 columns (case_id, source_lang, target_lang, input_text, expected_output), "
        f"found {count}"
    )


@pytest.mark.parametrize("place", range(4))
def test_an_empty_cell_is_an_error_with_its_column(place, tmp_path):
    cells = ROW.split("\t")
    cells[place] = " "
    name = ("case_id", "source_lang", "target_lang", "input_text")[place]

    assert error_message(tsv(tmp_path, "\t".join(cells))).endswith(f"translation.tsv:1: {name} is empty")


def test_the_expected_output_may_be_empty(tmp_path):
    [fixture] = read_fixtures(tsv(tmp_path, "a\ten\tes\tHello\t")).fixtures

    assert fixture.expected_output == ""


@pytest.mark.parametrize("language", ["-d/tmp/evil", "--help", "../../etc", "en es", "/etc/passwd", "{model}", "a;b"])
def test_a_language_that_looks_like_an_option_or_a_path_is_an_error(language, tmp_path):
    assert "invalid language code" in error_message(tsv(tmp_path, f"a\ten\t{language}\tHello\tHola"))


@pytest.mark.parametrize("language", ["en", "zh-Hans", "es-419", "cat_valencia", "sr@latin", "eng-US+x"])
def test_the_language_codes_of_translators_are_accepted(language, tmp_path):
    [fixture] = read_fixtures(tsv(tmp_path, f"a\t{language}\tes\tHello\tHola")).fixtures

    assert fixture.source_lang == language


def test_a_duplicate_id_is_an_error_with_both_places(tmp_path):
    message = error_message(tsv(tmp_path, ROW, "", ROW))

    assert message.endswith(f"duplicate case 'greeting', first in {tmp_path}/translation.tsv:1")
    assert message.startswith(f"{tmp_path}/translation.tsv:3: ")


@pytest.mark.parametrize("lines", [[""], ["", "", ""], ["# only a comment"], ["\t\t\t\t"]])
def test_a_file_without_cases_is_an_error(lines, tmp_path):
    assert error_message(tsv(tmp_path, *lines)).endswith("translation.tsv: no cases found; write a row for each")


def test_invalid_utf8_is_an_error_with_its_byte(tmp_path):
    path = tmp_path / "translation.tsv"
    path.write_bytes(b"a\ten\tes\tHello\t\xff\n")

    assert "not UTF-8 text (invalid start byte at byte 14)" in error_message(path)


def test_a_missing_file_is_an_error(tmp_path):
    assert "none.tsv: cannot be read: No such file" in error_message(tmp_path / "none.tsv")


def test_a_file_of_inputs_has_four_or_five_columns(tmp_path):
    path = tsv(tmp_path, "a\ten\tes\tHello", "b\ten\tes\tBye\tAdiós")

    assert [each.expected_output for each in read_fixtures(path, with_expected=False).fixtures] == ["", "Adiós"]
    assert "expected 4 columns (case_id, source_lang, target_lang, input_text), found 3" in error_message(
        tsv(tmp_path, "a\ten\tes"), with_expected=False
    )


def test_the_recorded_translator_is_read_back(tmp_path):
    path = tsv(
        tmp_path,
        "# polyjudge command: apertium -u {source_lang}-{target_lang}",
        "# polyjudge model: 0123abcd",
        "# polyjudge version polyjudge: 1.2",
        "# polyjudge version translator: apertium 3.9: the second",
        "# polyjudge is fine",
        ROW,
    )

    recorded = read_fixtures(path).recorded

    assert recorded.command == "apertium -u {source_lang}-{target_lang}"
    assert recorded.model_sha256 == "0123abcd"
    assert recorded.versions == {"polyjudge": "1.2", "translator": "apertium 3.9: the second"}


# Folders


def test_a_folder_case_can_have_texts_of_several_lines(tmp_path):
    case(tmp_path, "b-letter")
    case(tmp_path, "a-list", 'case_id = "list"\nsource_lang = "en"\ntarget_lang = "fr"\nsuite = "preserve"\n')

    first, second = read_fixtures(tmp_path).fixtures

    assert (first.case_id, first.target_lang, first.suite) == ("list", "fr", "preserve")
    assert (second.case_id, second.input_text, second.expected_output) == ("b-letter", "One.\nTwo.\n", "Uno.\nDos.\n")
    assert (second.suite, second.line) == ("translation", 0)


def test_the_folder_of_a_single_case_can_be_read(tmp_path):
    [fixture] = read_fixtures(case(tmp_path)).fixtures

    assert fixture.case_id == "letter"


def test_a_folder_of_tsvs_and_cases_is_read_in_the_order_of_names(tmp_path):
    tsv(tmp_path, ROW, name="translation.tsv")
    tsv(tmp_path, ROW.replace("greeting", "id"), name="preserve.tsv")
    (tmp_path / "README.md").write_text("words", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    case(tmp_path)

    found = [(fixture.case_id, fixture.suite) for fixture in read_fixtures(tmp_path).fixtures]

    assert found == [("letter", "translation"), ("id", "preserve"), ("greeting", "translation")]


def test_a_duplicate_id_in_two_files_of_a_folder_is_an_error(tmp_path):
    tsv(tmp_path, ROW, name="a.tsv")
    tsv(tmp_path, "", ROW, name="b.tsv")

    assert error_message(tmp_path) == f"{tmp_path}/b.tsv:2: duplicate case 'greeting', first in {tmp_path}/a.tsv:1"


@pytest.mark.parametrize("missing", ["input.txt", "expected.txt", "case.toml"])
def test_a_case_with_a_missing_file_is_an_error(missing, tmp_path):
    tsv(tmp_path, ROW)
    (case(tmp_path) / missing).unlink()

    assert error_message(tmp_path) == f"{tmp_path}/letter: {missing} is missing"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("source_lang = ", "not TOML"),
        ('source_lang = "en"\n', "source_lang and target_lang are required"),
        ('source_lang = 1\ntarget_lang = "es"\n', "source_lang and target_lang are required"),
        ('source_lang = "en"\ntarget_lang = "es"\nsuite = "keep"\n', "suite must be translation or preserve"),
        ('source_lang = "en"\ntarget_lang = "es"\nsuite = []\n', "suite must be translation or preserve"),
        ('source_lang = "en"\ntarget_lang = "es"\nsuit = "preserve"\n', "unknown key 'suit'"),
        ('source_lang = "en"\ntarget_lang = "-x"\n', "invalid language code '-x'"),
        ('source_lang = ""\ntarget_lang = "es"\n', "invalid language code ''"),
        ('case_id = ""\nsource_lang = "en"\ntarget_lang = "es"\n', "the case_id '' is empty or has control characters"),
        ('case_id = "a\\n[PASS] b"\nsource_lang = "en"\ntarget_lang = "es"\n', "is empty or has control characters"),
    ],
)
def test_an_invalid_case_file_is_an_error(toml, message, tmp_path):
    case(tmp_path, toml=toml)

    found = error_message(tmp_path)

    assert found.startswith(f"{tmp_path}/letter")
    assert message in found


def test_a_case_with_nothing_to_translate_is_an_error(tmp_path):
    case(tmp_path, input=" \n")

    assert error_message(tmp_path) == f"{tmp_path}/letter: input_text is empty"


def test_an_empty_folder_is_an_error(tmp_path):
    assert error_message(tmp_path) == f"{tmp_path}: no cases found; expected .tsv files or folders with a case.toml"
