"""Messages that choose among texts, split into the texts."""

import pytest
from tests.catalogues.catalogue_files import read
from tests.folding import for_each

from polyjudge.catalogues.message_format import MessageFormatError, branches, parse_message

SOURCE = '{"a": "You have {n, plural, =0 {no files} one {# file} other {# files}} in {place}."}'


def split(catalogue):
    return [(each.plural, each.context, each.source, each.translation, each.is_exact) for each in catalogue.messages]


def test_a_translation_without_a_choice_is_compared_with_the_text_of_the_source_for_other_numbers():
    source = "hours = { $n ->\n    [one] h\n   *[other] hrs\n  }\n"
    catalogue = read("fluent", "hours = 時間\n", source, language="ja")

    assert [(each.source, each.translation) for each in catalogue.messages] == [("hrs", "時間")]


def test_each_plural_form_is_a_message_with_the_source_of_its_numbers():
    target = '{"a": "В {place} {n, plural, =0 {нет файлов} one {# файл} few {# файла} other {# файлов}}."}'

    assert split(read("json", target, SOURCE, language="ru")) == [
        ("=0", "", "You have no files in {place}.", "В {place} нет файлов.", True),
        ("one", "", "You have {n} files in {place}.", "В {place} {n} файл.", False),
        ("few", "", "You have {n} files in {place}.", "В {place} {n} файла.", False),
        ("other", "", "You have {n} files in {place}.", "В {place} {n} файлов.", False),
    ]


def test_a_form_for_one_has_the_source_for_one_also_if_it_is_written_as_a_number():
    target = '{"a": "{n, plural, =1 {Eine Datei} other {# Dateien}}"}'

    assert split(read("json", target, SOURCE))[0] == ("one", "", "You have {n} file in {place}.", "Eine Datei", True)


def test_a_selection_is_compared_with_the_same_selection():
    source = '{"a": "{g, select, female {She has {n, plural, one {#} other {#s}}} other {They have {n}}}"}'
    target = '{"a": "{g, select, female {Sie hat {n, plural, one {#} other {#e}}} male {Er hat {n}} other {x {n}}}"}'

    assert split(read("json", target, source)) == [
        ("one", "g=female", "She has {n}", "Sie hat {n}", True),
        ("other", "g=female", "She has {n}s", "Sie hat {n}e", False),
        ("", "g=male", "They have {n}", "Er hat {n}", False),
        ("", "g=other", "They have {n}", "x {n}", False),
    ]


def test_a_translation_without_the_choice_of_its_source_is_compared_with_the_general_text():
    assert split(read("json", '{"a": "{place}:{n}"}', SOURCE, language="ja")) == [
        ("", "", "You have {n} files in {place}.", "{place}:{n}", False)
    ]


def test_an_invalid_message_stays_whole():
    [message] = read("json", '{"a": "{n, plural, one {x} other {y}"}', SOURCE).messages

    assert (message.translation, message.syntaxes) == ("{n, plural, one {x} other {y}", ("icu",))


def test_in_an_arb_file_an_apostrophe_is_no_quotation():
    target = '{"a": "l\'{n, plural, one {d\'{x}} other {#}}"}'

    assert [each[3] for each in split(read("arb", target, '{"a": "b"}'))] == ["l'd'{x}", "l'{n}"]
    assert [each[3] for each in split(read("json", target, '{"a": "b"}'))] == [
        "l'{n, plural, one {d'{x}} other {#}}",
    ]


@for_each(
    ("text", "texts"),
    [
        ("plain it's '{'", ["plain it's '{'"]),
        ("{a, select, x {1} other {2}}{a, select, x {3} other {4}}", ["13", "24"]),
        ("{a, select, x {1} other {2}}{b, select, x {3} other {4}}", ["13", "14", "23", "24"]),
        ("{n, plural, offset:1 one {{a}#} other {'#'}}", ["{a}{n}", "'#'"]),
        ("{n, selectordinal, two {#nd} other {#th}}", ["{n}nd", "{n}th"]),
        ("# {n, number}", ["# {n, number}"]),
    ],
)
def test_the_texts_of_a_message(text, texts):
    assert [branch.text for branch in branches(parse_message(text))] == texts


@for_each(
    ("text", "place", "message"),
    [
        ("a {", 2, "name of an argument"),
        ("a }", 2, "too many"),
        ("{n", 0, "not closed"),
        ("{n x}", 0, "not closed"),
        ("{n, plural}", 0, "no cases"),
        ("{n, plural, one {x}}", 0, "no case 'other'"),
        ("{n, plural, other {x}", 21, "not closed"),
        ("{n, plural, other {x", 0, "'other'"),
        ("{n, plural, other x}", 12, "not closed"),
        ("{n,plural,other{" * 30, 320, "too deeply"),
    ],
)
def test_an_invalid_message_is_refused_with_the_place(text, place, message):
    with pytest.raises(MessageFormatError, match=message) as caught:
        parse_message(text)

    assert caught.value.place == place


def test_a_message_with_too_many_texts_is_not_split():
    text = "".join(f"{{a{n}, select, x {{1}} y {{2}} other {{3}}}}" for n in range(50))

    assert branches(parse_message(text)) is None
    [message] = read("json", f'{{"a": "{text}"}}', SOURCE).messages
    assert message.translation == text
