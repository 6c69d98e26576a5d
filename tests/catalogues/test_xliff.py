"""XLIFF 1.2 and 2: units, segments, states, limits, inline codes, lines."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moz.l10n.formats import Format
from moz.l10n.model import Expression, Markup
from moz.l10n.resource import parse_resource
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.errors import DataError

VERSION_1 = """\
<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="app.txt" source-language="en" target-language="pt-BR" datatype="plaintext">
    <body>
      <group id="menu">
        <trans-unit id="open" maxwidth="12" size-unit="char">
          <source>Open <x id="FILE"/> <g id="1">now</g></source>
          <target state="needs-review-translation">Abrir <x id="FILE"/> <g id="1">agora</g></target>
          <note>A button.</note>
          <note>Short.</note>
        </trans-unit>
        <trans-unit id="name" translate="no"><source>Polyjudge</source></trans-unit>
        <trans-unit id="new">
          <source>New</source>
        </trans-unit>
        <trans-unit id="code">
          <source><ph id="1">%s</ph> of <bpt id="2">&lt;b></bpt>all<ept id="2">&lt;/b></ept></source>
          <target>
            <ph id="1">%s</ph> de <mrk mtype="term">todos</mrk></target>
          <alt-trans><target>another</target></alt-trans>
        </trans-unit>
        <trans-unit id="unsure" approved="no"><source>A</source><target>B</target></trans-unit>
      </group>
    </body>
  </file>
</xliff>
"""
VERSION_2 = """\
<xliff version="2.1" srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0"
       xmlns:slr="urn:oasis:names:tc:xliff:sizerestriction:2.0">
  <file id="f">
    <unit id="u1" slr:sizeRestriction="0,20">
      <notes><note category="description">A title.</note></notes>
      <originalData><data id="d1">%s</data><data id="d2">&lt;b&gt;</data><data id="d3">&lt;/b&gt;</data></originalData>
      <segment state="initial">
        <source>Hi <ph id="1" dataRef="d1"/> <pc id="2" dataRefStart="d2" dataRefEnd="d3">you</pc></source>
        <target>Hallo <ph id="1" dataRef="d1"/> <pc id="2" dataRefStart="d2" dataRefEnd="d3">du</pc></target>
      </segment>
    </unit>
    <group id="g">
      <unit id="u2">
        <segment id="a" state="final"><source>One.</source><target>Eins.</target></segment>
        <ignorable><source> </source></ignorable>
        <segment id="b"><source>Two <ph id="3" equiv="N"/>.</source></segment>
      </unit>
    </group>
  </file>
</xliff>
"""


def test_version_1_has_notes_states_limits_and_lines():
    catalogue = read("xliff", VERSION_1, language="")

    assert (catalogue.file.language, catalogue.file.source_language) == ("pt-BR", "en")
    assert texts(catalogue) == [
        ("open", "", 'Open <x id="FILE"/> <g id="1">now</g>', 'Abrir <x id="FILE"/> <g id="1">agora</g>', 8),
        ("new", "", "New", "", 13),
        ("code", "", "%s of <b>all</b>", "\n            %s de todos", 18),
        ("unsure", "", "A", "B", 22),
    ]
    assert [each.state for each in catalogue.messages] == ["needs_review", "untranslated", "translated", "needs_review"]
    assert (catalogue.messages[0].comment, catalogue.messages[0].max_length) == ("A button.\nShort.", 12)


def test_version_2_has_segments_and_the_code_of_the_original():
    catalogue = read("xliff", VERSION_2, language="")

    assert (catalogue.file.language, catalogue.file.source_language) == ("de", "en")
    assert texts(catalogue) == [
        ("u1", "", "Hi %s <b>you</b>", "Hallo %s <b>du</b>", 9),
        ("u2.a", "", "One.", "Eins.", 14),
        ("u2.b", "", 'Two <ph id="3"/>.', "", 16),
    ]
    assert [each.state for each in catalogue.messages] == ["needs_review", "translated", "untranslated"]
    assert (catalogue.messages[0].comment, catalogue.messages[0].max_length) == ("A title.", 20)


def test_plural_forms_of_xcode_and_of_gettext_are_known():
    units = "".join(
        f'<trans-unit id="{name}"><source>s</source><target>t</target></trans-unit>'
        for name in ("/files:dict/n:dict/one:dict/:string", "k|==|plural.few", "item[0]", "item[2]")
    )
    catalogue = read(
        "xliff",
        '<xliff version="1.2"><file original="a.stringsdict" source-language="en" target-language="pl">'
        f"<body>{units}</body></file></xliff>",
    )

    assert [(each.key, each.plural, each.is_exact) for each in catalogue.messages] == [
        ("files.n", "one", True),
        ("k", "few", False),
        ("item", "one", True),
        ("item", "many", False),
    ]
    assert catalogue.messages[0].syntaxes == ("apple",)


def test_units_of_several_files_have_their_file_as_context():
    unit = '<body><trans-unit id="1"><source>a</source><target>b</target></trans-unit></body>'
    files = "".join(f'<file original="{name}">{unit}</file>\n' for name in ("x.html", "y.html"))
    content = f'<xliff version="1.2">{files}</xliff>'

    catalogue = read("xliff", content)

    assert [each.context for each in catalogue.messages] == ["x.html", "y.html"]
    assert catalogue.problems == ()


@for_each(
    ("content", "line", "message"),
    [
        ("<html/>", 1, "the root element is <html>"),
        ("<xliff>\n<file>\n<body>", 3, "no element found"),
        ('<xliff><file>\n<trans-unit id="a"><source>a & b</source></trans-unit></file></xliff>', 2, "not well-formed"),
        ('<!DOCTYPE xliff [\n<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<xliff/>', 2, "declares the entity"),
        (VERSION_1.encode("utf-16").replace(b"<\0/\0x\0l\0i\0f\0f\0", b""), 27, "no element found"),
        (VERSION_1.replace("Abrir", "\xff\xfe").encode("latin-1"), 8, "not UTF-8"),
    ],
)
def test_a_broken_file_gives_one_message_with_the_line(content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read("xliff", content)

    assert str(caught.value).startswith(f"target.xliff:{line}: ")


def test_utf_16_with_a_mark_is_read():
    expected = texts(read("xliff", VERSION_1))

    assert texts(read("xliff", VERSION_1.replace("UTF-8", "UTF-16").encode("utf-16"))) == expected


def test_an_empty_file_is_a_problem():
    assert read("xliff", "").problems == ((1, "is empty"),)


def moz_text(pattern):
    parts = []
    for part in pattern:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Expression):
            options = "".join(f' {key}="{value}"' for key, value in part.options.items())
            inner = part.attributes.get("source")
            parts.append(inner if isinstance(inner, str) else f"<{part.function}{options}/>")
        elif isinstance(part, Markup):
            options = "".join(f' {key}="{value}"' for key, value in part.options.items())
            ends = {"open": f"<{part.name}{options}>", "close": f"</{part.name}>"}
            parts.append(ends.get(part.kind, f"<{part.name}{options}/>"))
    return "".join(parts)


TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufffe\uffff"), max_size=30
).map(lambda text: " ".join(text.split()))


@given(st.lists(st.tuples(TEXTS.filter(bool), TEXTS, st.booleans()), max_size=6))
def test_what_is_written_reads_back_as_moz_l10n_reads_it_and_with_its_line(units):
    code = '<x id="1"/>'
    lines = [
        f'<trans-unit id="u{place}"><source>{escape(source)}</source>\n'
        f"<target>{escape(text)}{code if has_code else ''}</target></trans-unit>"
        for place, (source, text, has_code) in enumerate(units)
    ]
    body = "\n".join(lines)
    content = (
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en"'
        f' target-language="de" datatype="plaintext"><body>\n{body}\n</body></file></xliff>'
    )

    catalogue = read("xliff", content)
    theirs = {
        entry.id[0]: moz_text(entry.value.pattern)
        for section in parse_resource(Format.xliff, content).sections
        for entry in section.entries
    }

    assert {each.key: each.translation for each in catalogue.messages} == theirs
    assert [each.source for each in catalogue.messages] == [source for source, _, _ in units]
    assert all(content.split("\n")[each.line - 1].startswith("<target>") for each in catalogue.messages)
