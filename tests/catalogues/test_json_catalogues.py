"""Catalogues in JSON: keys, plural forms, descriptions, lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moz.l10n.formats import Format
from moz.l10n.resource import parse_resource
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.errors import DataError


def test_nested_keys_are_joined_and_have_the_lines_of_their_values():
    source = '{"menu": {"open": "Open", "list": ["One", "Two"]}, "new": "New", "limit": 3}'
    target = '{\n "menu": {\n  "open":\n   "Öffnen",\n  "list": ["Eins",\n "Zwei"]},\n "limit": 3,\n "old": "Alt"\n}'

    catalogue = read("json", target, source)

    assert texts(catalogue) == [
        ("menu.open", "", "Open", "Öffnen", 4),
        ("menu.list.0", "", "One", "Eins", 5),
        ("menu.list.1", "", "Two", "Zwei", 6),
        ("old", "", "", "Alt", 8),
    ]
    assert [(each.key, each.source, each.line, each.state) for each in catalogue.missing] == [
        ("new", "New", 1, "untranslated")
    ]


def test_without_a_file_of_sources_a_key_that_is_a_sentence_is_the_source():
    catalogue = read("json", '{"Save all files": "Alle Dateien sichern", "menu_open": "Öffnen"}')

    assert [each.source for each in catalogue.messages] == ["Save all files", ""]


@for_each(
    ("source", "target", "expected"),
    [
        (
            {"item_one": "{{count}} item", "item_other": "{{count}} items", "one_other": "x"},
            {"item_one": "a", "item_few": "b", "item_many": "c", "item_other": "d", "one_other": "y"},
            [("item", "one"), ("item", "few"), ("item", "many"), ("item", "other"), ("one", "")],
        ),
        ({"a": {"one": "1", "other": "2"}}, {"a": {"few": "y", "other": "z"}}, [("a", "few"), ("a", "other")]),
        ({"item": "a", "item_plural": "b"}, {"item_0": "x", "item_2": "z"}, [("item", "one"), ("item", "many")]),
        ({"item": "a", "item_plural": "b"}, {"item": "x", "item_plural": "y"}, [("item", "one"), ("item", "other")]),
        ({"x": {"other": "a", "name": "b"}}, {"x": {"other": "x", "name": "y"}}, [("x.other", ""), ("x.name", "")]),
        ({"step_0": "a", "step_1": "b"}, {"step_0": "x", "step_1": "y"}, [("step_0", ""), ("step_1", "")]),
        ({"at_ordinal_other": "a"}, {"at_ordinal_other": "x"}, [("at_ordinal_other", "")]),
    ],
)  # fmt: skip
def test_plural_forms_are_known_by_their_keys(source, target, expected):
    catalogue = read("json", json.dumps(target), json.dumps(source), language="pl")

    assert [(each.key, each.plural) for each in catalogue.messages] == expected
    assert all(each.source for each in catalogue.messages)
    assert not catalogue.missing


def test_a_lone_other_is_a_plural_form_only_if_the_source_has_another():
    source = (
        '{"c": "Why?", "c_other": "Other", "a": {"other": "Other"}, "b": {"one": "{{n}} file", "other": "{{n}} files"}}'
    )

    catalogue = read(
        "json", '{"c": "?", "c_other": "Autre", "a": {"other": "Autre"}, "b": {"other": "{{n}} fichiers"}}', source
    )

    assert [(each.key, each.plural, each.source) for each in catalogue.messages] == [
        ("c", "", "Why?"),
        ("c", "", "Other"),
        ("a", "", "Other"),
        ("b", "other", "{{n}} files"),
    ]


def test_the_form_one_is_for_one_alone_where_the_program_knows_no_other_forms():
    source = {key: {"one": "a file", "other": "{{n}} files"} for key in "abcd"}
    target = {key: {"one": "файл", "other": "{{n}} файлов"} for key in "abcd"}

    binary = read("json", json.dumps(target), json.dumps(source), language="ru")
    target["a"] |= {"few": "{{n}} файла", "many": "{{n}} файлов"}
    by_number = read("json", json.dumps(target), json.dumps(source), language="ru")

    assert [(each.source, each.is_exact) for each in binary.messages[:2]] == [("a file", True), ("{{n}} files", False)]
    assert [(each.source, each.is_exact) for each in by_number.messages[:1]] == [("{{n}} files", False)]


def test_the_authors_in_files_of_translatewiki_are_no_messages():
    content = '{"@metadata": {"authors": ["Amire80", "YaronSh"]}, "save": "שמירה"}'

    assert [each.key for each in read("json", content, '{"save": "Save"}').messages] == ["save"]


def test_a_webextension_has_descriptions():
    source = (
        '{"hi": {"message": "Hi $USER$", "description": "A greeting", "placeholders": {"user": {"content": "$1"}}}}'
    )
    target = '{"hi": {\n"message": "Hallo $USER$"}}'

    [message] = read("webextension", target, source).messages

    assert (message.key, message.source, message.translation, message.line) == ("hi", "Hi $USER$", "Hallo $USER$", 2)
    assert (message.comment, message.syntaxes) == ("A greeting", ("template",))


def test_an_arb_file_has_the_descriptions_of_its_template():
    source = '{"@@locale": "en", "hi": "Hi {name}", "@hi": {"description": "A greeting", "placeholders": {"name": {}}}}'
    target = '{\n"@@locale": "de",\n"hi": "Hallo {name}"\n}'

    catalogue = read("arb", target, source)

    [message] = catalogue.messages
    assert (message.key, message.source, message.translation, message.line) == ("hi", "Hi {name}", "Hallo {name}", 3)
    assert (message.comment, message.syntaxes, catalogue.missing) == ("A greeting", ("brace",), ())


def test_null_is_untranslated_and_a_key_twice_is_a_problem():
    catalogue = read("json", '{"a": null,\n "b": "x",\n "b": "y"}', '{"a": "A", "b": "B"}')

    assert [(each.key, each.state, each.translation) for each in catalogue.messages] == [
        ("a", "untranslated", ""),
        ("b", "translated", "y"),
    ]
    assert [line for line, _ in catalogue.problems] == [3]


@for_each(
    ("content", "line", "message"),
    [
        ('{"a": "b"', 1, "ends too early"),
        ('{"a": "b",\n "c": ', 2, "ends too early"),
        ('{"a": "b",\n "c": "d}\n', 2, "not closed"),
        ('{"a": "b",\n}', 2, "expected a key"),
        ('{"a" "b"}', 1, "expected a colon"),
        ('{"a": "b"\n "c": "d"}', 2, "expected a comma"),
        ('{"a": "b"}\n}', 2, "after the end"),
        ('{"a": \\u0041}', 1, "expected a value"),
        ('{"a": "\\q"}', 1, "backslash"),
        ('{"a": 01}', 1, "expected a value"),
        ("[" * 200, 1, "nested"),
        ('"a"', 1, "JSON object"),
        ('{"a": "b",\n=======\n"c": "d"}', 2, "expected a key"),
        ('{"a": "b",\n<<<<<<< HEAD\n"c": "d"}', 2, "merge conflict"),
        (b'{"a": "\xff"}', 1, "not UTF-8"),
        ('{"a": "x\0"}', 1, "null character"),
    ],
)
def test_a_broken_file_gives_one_message_with_the_line(content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read("json", content)

    assert str(caught.value).startswith(f"target.json:{line}: ")


NESTED = st.recursive(
    st.text(max_size=20), lambda inner: st.dictionaries(st.text(max_size=8), inner, max_size=5), max_leaves=20
)


def paths(value, before=()):
    if isinstance(value, str):
        return {before: value}
    return {path: text for key, each in value.items() for path, text in paths(each, (*before, key)).items()}


@given(st.dictionaries(st.text(max_size=8), NESTED, max_size=5), st.booleans(), st.sampled_from([None, 0, 2]))
def test_what_is_written_reads_back_with_key_text_and_line(value, is_ascii, indent):
    content = json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")
    expected = {}
    for path, text in paths(value).items():
        expected.setdefault(".".join(path), []).append(text)
    lines = content.decode().split("\n")

    for each in read("json", content).messages:
        if not each.plural and not each.key.endswith(tuple(f"_{n}" for n in ("other", "plural"))):
            assert each.translation in expected[each.key]
        assert json.dumps(each.translation, ensure_ascii=is_ascii) in lines[each.line - 1]


@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), NESTED, max_size=5))
def test_the_texts_are_those_that_moz_l10n_reads(value):
    theirs = {}
    for section in parse_resource(Format.plain_json, json.dumps(value)).sections:
        for entry in section.entries:
            theirs[".".join((*section.id, *entry.id))] = "".join(entry.value.pattern)

    ours = {each.key: each.translation for each in read("json", json.dumps(value)).messages}

    assert ours == theirs
