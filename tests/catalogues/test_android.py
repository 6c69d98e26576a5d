"""String resources of Android: escapes, markup, plural forms, lines."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moz.l10n.formats import Format
from moz.l10n.model import Expression, Markup, SelectMessage
from moz.l10n.resource import parse_resource
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.errors import DataError

SOURCE = """\
<?xml version="1.0" encoding="utf-8"?>
<!-- Copyright -->

<resources xmlns:xliff="urn:oasis:names:tc:xliff:document:1.2">
    <!-- Shown on the first screen. -->
    <string name="hello">Hello <xliff:g id="name">%1$s</xliff:g>!</string>
    <string name="app" translatable="false">Polyjudge</string>
    <string name="alias">@string/hello</string>
    <string name="late">Later</string>
    <plurals name="files">
        <!-- A single file. -->
        <item quantity="one">One file</item>
        <item quantity="other">%d files</item>
    </plurals>
    <string-array name="days"><item>Mon</item><item>Tue</item></string-array>
</resources>
"""
TARGET = """\
<resources>
    <string name="hello">
        Hallo %1$s!
    </string>
    <string name="app">Polyjudge</string>
    <plurals name="files">
        <item quantity="one">Eine Datei</item>
        <item quantity="other">%d Dateien</item>
    </plurals>
    <string-array name="days"><item>Mo</item>
        <item>Di</item></string-array>
</resources>
"""


def text_of(pattern):
    """Return a pattern of moz.l10n as it stands in the file, without escapes."""
    parts = []
    for part in pattern:
        if isinstance(part, Expression):
            parts.append(part.attributes.get("source") or (part.arg if isinstance(part.arg, str) else part.arg.name))
        elif isinstance(part, Markup):
            options = "".join(f' {name}="{value}"' for name, value in part.options.items())
            parts.append(f"</{part.name}>" if part.kind == "close" else f"<{part.name}{options}>")
        else:
            parts.append(part)
    return "".join(map(str, parts))


def moz_texts(content):
    found = {}
    for entry in parse_resource(Format.android, content, android_ascii_spaces=True).sections[-1].entries:
        if isinstance(entry.value, SelectMessage):
            for (key,), pattern in entry.value.variants.items():
                found[".".join(entry.id), str(getattr(key, "value", key))] = text_of(pattern)
        else:
            found[".".join(entry.id), ""] = text_of(entry.value.pattern)
    return found


def test_strings_plurals_and_arrays_have_sources_comments_and_lines():
    catalogue = read("android", TARGET, SOURCE)

    assert texts(catalogue) == [
        ("hello", "", "Hello %1$s!", "Hallo %1$s!", 2),
        ("files", "one", "One file", "Eine Datei", 7),
        ("files", "other", "%d files", "%d Dateien", 8),
        ("days.0", "", "Mon", "Mo", 10),
        ("days.1", "", "Tue", "Di", 11),
    ]
    assert [each.comment for each in catalogue.messages[:2]] == ["Shown on the first screen.", "A single file."]
    assert [(each.key, each.line) for each in catalogue.missing] == [("late", 9)]


@for_each(
    ("written", "text"),
    [
        (r"It\'s \"here\"\n\tnow", 'It\'s "here"\n\tnow'),
        ('"  kept  \'here\'  "', "  kept  'here'  "),
        ("  a \n   b  ", "a b"),
        (r"\u0020a\u00e9\u0020", " aé "),
        ("a &amp; b &lt;b>c&lt;/b>", "a & b <b>c</b>"),
        ("<b>bold</b> and <a href=\"https://x.org\">link</a><br/>", '<b>bold</b> and <a href="https://x.org">link</a><br/>'),
        ("<![CDATA[<a href=\"x\">y</a>]]>", '<a href="x">y</a>'),
        (r"\@me \?", "@me ?"),
        (r"\ud83d\ude00 \ud83d", "😀 \ufffd"),
        ("a\u00a0 b", "a\u00a0 b"),
    ],
)  # fmt: skip
def test_a_text_is_what_a_program_shows(written, text):
    [message] = read("android", f'<resources><string name="a">{written}</string></resources>').messages

    assert message.translation == text


def test_an_apostrophe_without_a_backslash_is_a_problem_at_its_line():
    content = '<resources>\n<string name="a">Don\'t</string>\n<string name="b">"Don\'t"</string>\n</resources>'

    assert [line for line, _ in read("android", content).problems] == [2]


@for_each(
    ("content", "line", "message"),
    [
        ('<resources>\n<string name="a">b</resources>', 2, "mismatched tag"),
        ('<resources>\n<string name="a">b &nbsp; c</string></resources>', 2, "undefined entity"),
        ('<resources>\n<string name="a">b & c</string></resources>', 2, "not well-formed"),
        ('<!DOCTYPE resources [\n<!ENTITY a "<b/>">]>\n<resources/>', 2, "declares the entity 'a'"),
        (f'<!DOCTYPE resources [\n<!ENTITY a "{"b" * 1001}">]>\n<resources/>', 2, "at most 1,000 characters"),
        ('<!DOCTYPE resources [\n<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<resources/>', 2, "declares the entity"),
        ('<!DOCTYPE r [\n<!ENTITY % a SYSTEM "http://127.0.0.1:9/x">\n%a;]>\n<resources/>', 2, "declares the entity"),
        ("<resources>\n" + "<a>" * 200, 2, "nested"),
        ("<html/>", 1, "the root element is <html>"),
        ("<resources>\n>>>>>>> x\n</resources>", 2, "merge conflict"),
        ("<resources>\n", 2, "no element found"),
        ("<?xml version='1.0' encoding='x-none'?>\n<resources/>", 0, "encoding 'x-none'"),
    ],
)
def test_a_broken_file_gives_one_message_with_the_line(content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read("android", content)

    assert str(caught.value).startswith(f"target.android:{line}: " if line else "target.android: ")


def test_the_entity_of_a_short_text_is_read_as_that_text():
    content = (
        '<!DOCTYPE resources [\n<!ENTITY app "Tom\'s R&#233;sum&#xE9;">\n<!ENTITY lt "&#38;#60;">\n]>\n'
        '<resources>\n<string name="a">"Open &app; &lt; 5"</string>\n<string name="b">%s</string>\n</resources>'
    )

    assert [(each.line, each.translation) for each in read("android", content).messages] == [
        (6, "Open Tom's Résumé < 5"),
        (7, "%s"),
    ]


@for_each(
    ("declared", "used", "message"),
    [
        ("".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)), "&a11;", "the entity 'a1'"),
        (f'<!ENTITY b "{"b" * 1000}">', "&b;" * 2000, "more than 1,000,000 characters"),
        ("".join(f'<!ENTITY c{n} "c">' for n in range(101)), "&c1;", "more than 100 entities"),
    ],
)
def test_an_entity_bomb_is_refused_before_it_grows(declared, used, message):
    start = f'<!DOCTYPE r [<!ENTITY a0 "lol">\n{declared}]>'

    for content in (f'<resources><string name="a">{used}</string></resources>', f'<resources name="{used}"/>'):
        with pytest.raises(DataError, match=message):
            read("android", f"{start}\n{content}")


def test_declared_values_of_attributes_are_not_used():
    declared = f'<!DOCTYPE resources [<!ATTLIST string translatable CDATA "{"false" * 10}">]>'

    [found] = read("android", f'{declared}<resources><string name="a">b</string></resources>').messages

    assert found.translation == "b"


NAMES = st.text("abcdefgh_", min_size=1, max_size=10)
TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\\"'<>@?%\uffff\ufffe"), max_size=30
)


@given(st.dictionaries(NAMES, TEXTS.map(lambda text: " ".join(text.split(" ")).strip())))
def test_what_is_written_reads_back_as_moz_l10n_reads_it_and_with_its_line(strings):
    lines = [f'<string name="{name}">{escape(text)}</string>' for name, text in strings.items()]
    content = "\n".join(["<resources>", *lines, "</resources>"])

    catalogue = read("android", content)

    assert {(each.key, each.plural): each.translation for each in catalogue.messages} == moz_texts(content)
    assert all(f'name="{each.key}"' in content.split("\n")[each.line - 1] for each in catalogue.messages)


def test_the_sample_reads_as_moz_l10n_reads_it():
    for content in (SOURCE, TARGET):
        ours = {(each.key, each.plural): each.translation for each in read("android", content).messages}
        theirs = {key: text for key, text in moz_texts(content).items() if key[0] not in ("app", "alias")}
        assert {key: text for key, text in ours.items() if key[0] != "app"} == theirs
