"""Qt, .NET, Java properties and Rails: keys, comments, states, lines."""

from xml.sax.saxutils import escape

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from moz.l10n.formats import Format
from moz.l10n.resource import parse_resource
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.catalogues.content import read_content
from polyjudge.errors import DataError

QT = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="pl_PL" sourcelanguage="en">
<context>
    <name>Window</name>
    <message>
        <location filename="a.cpp" line="3"/>
        <source>&amp;Open %1</source>
        <comment>menu</comment>
        <extracomment>Opens a file.</extracomment>
        <translation>&amp;Otwórz %1</translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished">Zamknij</translation>
    </message>
    <message>
        <source>New</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Old</source>
        <translation type="vanished">Stary</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s)</source>
        <translation>
            <numerusform>%n plik</numerusform>
            <numerusform>%n pliki</numerusform>
            <numerusform>%n plików</numerusform>
        </translation>
    </message>
</context>
</TS>
"""
RESX = """\
<?xml version="1.0" encoding="utf-8"?>
<root>
  <resheader name="version"><value>2.0</value></resheader>
  <data name="Open" xml:space="preserve">
    <value>{open}</value>
    <comment>A button</comment>
  </data>
  <data name="Icon" type="System.Resources.ResXFileRef"><value>a.ico</value></data>
  <data name="$this.Text"><value>x</value></data>
</root>
"""


def test_qt_files_have_contexts_states_plural_forms_and_lines():
    catalogue = read("qt", QT, language="")

    assert (catalogue.file.language, catalogue.file.source_language) == ("pl-PL", "en")
    assert texts(catalogue) == [
        ("&Open %1", "", "&Open %1", "&Otwórz %1", 11),
        ("Close", "", "Close", "Zamknij", 15),
        ("New", "", "New", "", 19),
        ("%n file(s)", "one", "%n file(s)", "%n plik", 28),
        ("%n file(s)", "few", "%n file(s)", "%n pliki", 29),
        ("%n file(s)", "many", "%n file(s)", "%n plików", 30),
    ]
    first, second, third, *_ = catalogue.messages
    assert (first.context, first.comment, first.syntaxes) == ("Window|menu", "Opens a file.\nmenu", ("qt",))
    assert [each.state for each in (first, second, third)] == ["translated", "needs_review", "untranslated"]


def test_resx_files_have_comments_and_no_objects():
    catalogue = read("resx", RESX.replace("{open}", "Öffnen"), RESX.replace("{open}", "Open"))

    assert texts(catalogue) == [("Open", "", "Open", "Öffnen", 5)]
    assert catalogue.messages[0].comment == "A button"


def test_properties_have_escapes_continued_lines_and_the_old_encoding():
    content = "# Comment\n a.b : Gr\\u00fc\\u00DFe \\\n   an {0}\nkey\\ x=1\\=2\\n\n! other\nempty\nlast \\\\\n"
    content += "smile=\\ud83d\\ude00"

    catalogue = read("properties", content)

    assert [(each.key, each.translation, each.line) for each in catalogue.messages] == [
        ("a.b", "Grüße an {0}", 2),
        ("key x", "1=2\n", 4),
        ("empty", "", 6),
        ("last", "\\", 7),
        ("smile", "😀", 8),
    ]
    assert catalogue.messages[0].comment == "Comment"
    assert texts(read("properties", "a=é".encode("latin-1"))) == [("a", "", "", "é", 1)]
    assert read("properties", "a=b\nc=\\u12").problems == ((2, "has \\u without four digits of a character"),)


RAILS = """\
# comment
de:
  date:
    formats: {short: "%e. %b", long: '%d'}
    order:
    - :day
    names: [~, "Jan", Feb]
  files:
    one: "1 Datei"
    other: "%{count} Dateien"
  long: |
    Erste
    Zweite
  yes_no: no
  shared: &shared Gleich
  again: *shared
"""


def test_rails_files_have_plural_forms_and_lines_and_no_language_in_their_keys():
    source = RAILS.replace("de:", "en:", 1).replace("yes_no: no", 'yes_no: "No"')

    catalogue = read("rails", RAILS, source)

    assert [(each.key, each.plural, each.translation, each.line) for each in catalogue.messages] == [
        ("date.formats.short", "", "%e. %b", 4),
        ("date.formats.long", "", "%d", 4),
        ("date.names.1", "", "Jan", 7),
        ("date.names.2", "", "Feb", 7),
        ("files", "one", "1 Datei", 9),
        ("files", "other", "%{count} Dateien", 10),
        ("long", "", "Erste\nZweite\n", 11),
        ("shared", "", "Gleich", 15),
        ("again", "", "Gleich", 16),
    ]
    assert catalogue.messages[4].syntaxes == ("ruby",)
    assert catalogue.problems == ((14, "has no text for the key 'yes_no', but another value"),)


@for_each(
    ("format_name", "content", "line", "message"),
    [
        ("rails", "de:\n  a: [1, 2\n", 3, "not YAML"),
        ("rails", "de:\n\ta: b", 2, "not YAML"),
        ("rails", "de:\n  a: ä\n  b: c\x7f", 3, "control characters"),
        ("rails", "just text", 1, "first key"),
        ("rails", "- a\n- b", 1, "expected a key, found a list or an object"),
        ("rails", "de: " + "[" * 200, 1, "nested"),
        ("rails", "de:\n  ? [a]\n  : b", 2, "expected a key, found a list or an object"),
        ("rails", "de:\n<<<<<<< HEAD\n  a: b", 2, "merge conflict"),
        ("qt", "<TS>\n<context>", 2, "no element found"),
        ("qt", "<ts/>", 1, "the root element is <ts>"),
        ("resx", "<root>\n<data name='a'>", 2, "no element found"),
        ("stringsdict", "<plist><array/></plist>", 1, "not a property list"),
    ],
)
def test_a_broken_file_gives_one_message_with_the_line(format_name, content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read(format_name, content)

    assert str(caught.value).startswith(f"target.{format_name}:{line}: ")


def test_aliases_of_a_long_text_are_refused_where_they_become_too_much():
    content = f'de:\n  a: &a "{"x" * 100_000}"\n' + "".join(f"  k{number}: *a\n" for number in range(200))

    with pytest.raises(DataError, match=r"target\.rails:103: aliases repeat more than 10,000,000 characters"):
        read("rails", content)


def test_aliases_of_yaml_are_not_expanded():
    bomb = "de:\n  a0: &a0 [x, x]\n" + "".join(f"  a{n}: &a{n} [{f'*a{n - 1}, ' * 9}x]\n" for n in range(1, 20))

    catalogue = read("rails", bomb)

    assert len(catalogue.messages) < 30
    assert catalogue.problems[0] == (3, "has the alias 'a0' for several texts, which is not followed")


@for_each("format_name", ["qt", "resx", "properties", "rails", "fluent", "strings", "stringsdict", "json", "android"])
def test_an_empty_file_is_a_problem_and_lacks_every_key(format_name):
    catalogue = read(format_name, " \n")

    assert catalogue.messages == ()
    assert catalogue.problems == (((1, "is empty"),) if format_name != "properties" else ())


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(100_000_001)

    with pytest.raises(DataError, match="larger than 100 MB"):
        read("json", read_content(path))


KEYS = st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff"), max_size=20)


@given(st.dictionaries(KEYS, TEXTS), st.booleans())
def test_properties_read_back_as_moz_l10n_reads_them_and_with_their_lines(entries, is_ascii):
    def written(text):
        text = text.replace("\\", "\\\\")
        text = f"\\{text}" if text.startswith(" ") else text
        return "".join(code(letter) if is_ascii and not letter.isascii() else letter for letter in text)

    def code(letter):
        digits = letter.encode("utf-16-be").hex()
        return "".join(f"\\u{digits[place : place + 4]}" for place in range(0, len(digits), 4))

    content = "".join(f"{key} = {written(text)}\n" for key, text in entries.items())
    theirs = {
        entry.id[0]: "".join(map(str, entry.value.pattern))
        for entry in parse_resource(Format.properties, content).sections[0].entries
    }

    catalogue = read("properties", content)

    assert {each.key: each.translation for each in catalogue.messages} == entries
    if not is_ascii or all(ord(letter) < 0x10000 for text in entries.values() for letter in text):
        assert theirs == entries
    assert all(content.split("\n")[each.line - 1].startswith(f"{each.key} = ") for each in catalogue.messages)


@given(st.dictionaries(KEYS.map(lambda key: f"k{key}"), TEXTS, min_size=1))
@example({"k": "0E0"})
def test_rails_resx_and_qt_files_read_back_with_their_lines(entries):
    rails = yaml.safe_dump({"de": entries}, allow_unicode=True, width=10_000)
    resx = "".join(
        f'<data name="{escape(key)}">\n<value>{escape(text)}</value></data>\n' for key, text in entries.items()
    )
    qt = "".join(
        f"<message><source>{escape(key)}</source>\n<translation>{escape(text)}</translation></message>\n"
        for key, text in entries.items()
    )
    files = {
        "rails": rails,
        "resx": f"<root>\n{resx}</root>",
        "qt": f"<TS><context><name>a</name>\n{qt}</context></TS>",
    }
    for format_name, content in files.items():
        catalogue = read(format_name, content)
        assert {each.key: each.translation for each in catalogue.messages} == entries
        for each in catalogue.messages:
            start = {"rails": f"  {each.key}:", "resx": "<value>", "qt": "<translation>"}[format_name]
            assert content.split("\n")[each.line - 1].startswith(start)
