"""Fluent: messages, terms, attributes, selections, lines."""

import pytest
from fluent.syntax import parse
from fluent.syntax.ast import Message, Pattern, Placeable, StringLiteral, Term, TextElement
from fluent.syntax.serializer import serialize_expression
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.catalogues.fluent import parse_fluent
from polyjudge.catalogues.message_format import MessageFormatError

SOURCE = """\
### The whole file

## The menu

# A button
open = Open { $name }
    .title = Opens a file
-brand = Firefox
files = { $count ->
    [one] One file in { -brand }
   *[other] { $count } files in { -brand }
}
long =
    First line
      indented
    last line

# Not of a message

empty = { "" }
quoted = { "  kept  " }text
"""


def test_messages_terms_and_attributes_have_comments_and_lines():
    catalogue = read("fluent", SOURCE, SOURCE)

    assert [(each.key, each.line, each.translation) for each in catalogue.messages] == [
        ("open", 6, "Open { $name }"),
        ("open.title", 7, "Opens a file"),
        ("-brand", 8, "Firefox"),
        ("files", 9, "One file in { -brand }"),
        ("files", 9, "{ $count } files in { -brand }"),
        ("long", 13, "First line\n  indented\nlast line"),
        ("quoted", 21, "  kept  text"),
    ]
    assert [each.comment for each in catalogue.messages[:3]] == ["The menu\nA button", "The menu\nA button", "The menu"]
    assert catalogue.problems == ()


def test_plural_forms_have_the_source_of_their_numbers_and_the_default_the_form_that_lacks():
    target = """\
files = { $count ->
    [one] { $count } файл
    [few] { $count } файла
   *[other] { $count } файлов
}
"""

    catalogue = read("fluent", target, SOURCE, language="ru")

    assert [(each.plural, each.source, each.translation) for each in catalogue.messages] == [
        ("one", "{ $count } files in { -brand }", "{ $count } файл"),
        ("few", "{ $count } files in { -brand }", "{ $count } файла"),
        ("many", "{ $count } files in { -brand }", "{ $count } файлов"),
    ]


def test_other_selections_are_contexts():
    source = "-brand = Firefox\nsave = { PLATFORM() ->\n    [macos] Keep\n   *[other] Save\n  }\n"
    target = (
        "-brand = { $case ->\n   *[nominative] Firefox\n    [genitive] Firefoxu\n}\n"
        "save = { PLATFORM() ->\n    [macos] Zachovat\n    [linux] Schovat\n   *[other] Uložit\n  } teď\n"
    )

    catalogue = read("fluent", target, source, language="cs")

    assert [(each.key, each.context, each.source, each.translation) for each in catalogue.messages] == [
        ("-brand", "$case=other", "Firefox", "Firefox"),
        ("-brand", "$case=genitive", "Firefox", "Firefoxu"),
        ("save", "PLATFORM()=macos", "Keep", "Zachovat teď"),
        ("save", "PLATFORM()=linux", "Save", "Schovat teď"),
        ("save", "PLATFORM()=other", "Save", "Uložit teď"),
    ]


def test_what_is_not_valid_is_a_problem_at_its_line():
    catalogue = read("fluent", "a = A\nnonsense\n    more\n\nb = B\na = again\n")

    assert [line for line, _ in catalogue.problems] == [2, 3, 6]
    assert [(each.key, each.translation) for each in catalogue.messages] == [("b", "B"), ("a", "again")]


@for_each(
    ("text", "message"),
    [
        ("{ $a", "closing brace"),
        ("a }", "too many"),
        ("{ $a -> [one] x }", "marked by"),
        ("{ $a -> *[one] x", "not closed"),
        ("{ a b }", "valid expression"),
        ("{ }", "valid expression"),
        ("{ $a -> *[x] " * 30, "too deeply"),
    ],
)
def test_an_invalid_text_is_refused(text, message):
    with pytest.raises(MessageFormatError, match=message):
        parse_fluent(text)


def theirs(content):
    """Return the texts of all messages without selections as fluent.syntax reads them."""
    found = {}
    for entry in parse(content).body:
        if isinstance(entry, Message | Term):
            name = f"{'-' if isinstance(entry, Term) else ''}{entry.id.name}"
            patterns = [(name, entry.value), *((f"{name}.{each.id.name}", each.value) for each in entry.attributes)]
            found.update({key: _text(pattern) for key, pattern in patterns if pattern is not None})
    return found


def _text(pattern: Pattern):
    parts = []
    for element in pattern.elements:
        if isinstance(element, TextElement):
            parts.append(element.value)
        elif isinstance(element, Placeable) and isinstance(element.expression, StringLiteral):
            parts.append(element.expression.parse()["value"])
        else:
            parts.append(f"{{ {serialize_expression(element.expression)} }}")
    return "".join(parts)


WORDS = st.lists(
    st.sampled_from(
        ["Text", "über", "{ $name }", "{ -brand }", '{ "x\\"y" }', "=", "#", "日本", "\n    ", "\n\n      "]
    ),
    min_size=1,
    max_size=8,
)


@given(st.dictionaries(st.text("abc-", min_size=1, max_size=5).map(lambda name: f"k{name}"), WORDS, max_size=5))
def test_what_is_written_reads_as_fluent_syntax_reads_it_and_with_its_line(entries):
    content = "".join(f"{name} = a{' '.join(words)} z\n    .attr = b\n" for name, words in entries.items())

    catalogue = read("fluent", content)

    assert {each.key: each.translation for each in catalogue.messages} == theirs(content)
    for each in catalogue.messages:
        line = content.split("\n")[each.line - 1]
        assert line.startswith(f"{each.key} =") or (each.key.endswith(".attr") and line.strip().startswith(".attr ="))


def test_the_sample_reads_as_fluent_syntax_reads_it():
    ours = {key: translation for key, _, _, translation, _ in texts(read("fluent", SOURCE)) if key != "files"}

    assert ours == {key: text for key, text in theirs(SOURCE).items() if key != "files"}
