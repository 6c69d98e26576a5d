"""PO files: every entry, with the line of its translation."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moz.l10n.formats import Format
from moz.l10n.model import SelectMessage
from moz.l10n.resource import parse_resource
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.catalogues.reading import find_catalogues, read_catalogue
from polyjudge.errors import DataError

HEADER = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: {language}\\n"
"Plural-Forms: {plural}\\n"
"""
SAMPLES = Path(os.environ.get("POLYJUDGE_DATA", "")) / "po_sample"
COUNTS = {
    # file: entries, with plural forms, with context, fuzzy, untranslated
    "gnome-control-center.ar.po": (1622, 14, 210, 4, 88),
    "gnome-control-center.ga.po": (1465, 8, 167, 149, 424),
    "gnome-control-center.hi.po": (1454, 8, 167, 0, 0),
    "gedit.pl.po": (663, 13, 73, 0, 0),
    "gedit.ja.po": (700, 14, 72, 0, 0),
    "nemo.sr.po": (1395, 73, 63, 0, 22),
}


def with_header(entries, *, language="de", plural="nplurals=2; plural=n != 1;"):
    return HEADER.format(language=language, plural=plural) + entries


def test_an_entry_has_its_comment_context_flags_and_the_line_of_its_translation():
    content = with_header("""
# a translator's remark
#. Shown in the menu.
#. Keep it short. max-length:12
#: src/menu.c:20
#, fuzzy, c-format
#| msgctxt "Menu"
#| msgid "Opens %s"
msgctxt "Menu"
msgid ""
"Open "
"%s\\n"
msgstr ""
"%s öffnen\\n"
"und \\"mehr\\"\\t\\\\"

#~ msgid "Old"
#~ msgstr "Alt"

msgid "New"
msgstr ""
""")

    catalogue = read("gettext", content)
    first, second = catalogue.messages

    assert (first.key, first.context, first.line) == ("Open %s\n", "Menu", 18)
    assert first.source == "Open %s\n"
    assert first.translation == '%s öffnen\nund "mehr"\t\\'
    assert first.comment == "Shown in the menu.\nKeep it short. max-length:12"
    assert (first.state, first.syntaxes, first.max_length) == ("fuzzy", ("printf",), 12)
    assert (second.key, second.state, second.line) == ("New", "untranslated", 26)
    assert catalogue.plural_categories == ("one", "other")
    assert catalogue.problems == ()


def test_plural_forms_have_categories_and_the_source_that_they_translate():
    rule = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
    entry = (
        'msgid "One file"\nmsgid_plural "%d files"\nmsgstr[0] "%d файл"\nmsgstr[1] "%d файла"\nmsgstr[2] "%d файлов"\n'
    )

    russian = read("gettext", with_header(entry, language="ru", plural=rule), language="ru")
    german = read(
        "gettext",
        with_header('msgid "One file"\nmsgid_plural "%d files"\nmsgstr[0] "Eine Datei"\nmsgstr[1] "%d Dateien"\n'),
    )

    assert texts(russian) == [
        ("One file", "one", "%d files", "%d файл", 8),
        ("One file", "few", "%d files", "%d файла", 9),
        ("One file", "many", "%d files", "%d файлов", 10),
    ]
    assert not any(message.is_exact for message in russian.messages)
    assert [(each.plural, each.source, each.is_exact) for each in german.messages] == [
        ("one", "One file", True),
        ("other", "%d files", False),
    ]


def test_a_plural_rule_that_cannot_be_used_is_a_problem_at_its_line():
    entry = 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\nmsgstr[1] "d"\n'

    catalogue = read("gettext", with_header(entry, plural="nplurals=INTEGER; plural=EXPRESSION;"))

    assert [message.plural for message in catalogue.messages] == ["0", "1"]
    assert [line for line, _ in catalogue.problems] == [5]
    assert "Plural-Forms" in catalogue.problems[0][1]


def test_a_form_too_many_and_an_entry_twice_are_problems_at_their_lines():
    entries = 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\n\nmsgid "x"\nmsgstr "1"\n\nmsgid "x"\nmsgstr "2"\n'

    catalogue = read("gettext", with_header(entries))

    assert [line for line, _ in catalogue.problems] == [6, 13]
    assert [message.translation for message in catalogue.messages] == ["c", "1"]


@for_each(
    ("content", "line", "message"),
    [
        ('msgid "a"\nmsgstr "b"\n<<<<<<< HEAD\nmsgid "c"\n', 3, "merge conflict"),
        ('msgid "a"\nmsgstr "b', 2, "not closed"),
        ('msgid "a"\nmsgstr "b "c" d"\n', 2, "unescaped quotation mark"),
        ('msgid "a"\n\n"b"\nmsgid "x"\nmsgstr "c"\n', 4, "msgid occurs twice"),
        ('msgid "a"\n', 1, "without a msgstr"),
        ('msgstr "a"\n', 1, "without a msgid"),
        ('"a"\n', 1, "belongs to no"),
        ("{}\n", 1, "not a PO file"),
        ('msgid "a"\nmsgstr "\0"\n', 2, "null character"),
        ('msgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr "\xff"\n'.encode("latin-1"), 5, "not UTF-8"),
    ],
)
def test_a_broken_file_gives_one_message_with_the_line(content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read("gettext", content)

    assert str(caught.value).startswith(f"target.gettext:{line}: ")


def test_the_declared_encoding_and_other_line_ends_are_read():
    text = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset={}\\n"\n\nmsgid "a"\nmsgstr "Žluťoučký"\n'

    for content in (
        text.format("ISO-8859-2").encode("iso-8859-2"),
        text.format("UTF-8").replace("\n", "\r\n").encode("utf-8-sig"),
        text.format("UTF-16").encode("utf-16"),
    ):
        assert texts(read("gettext", content)) == [("a", "", "a", "Žluťoučký", 6)]
    with pytest.raises(DataError, match="encoding 'punycode'"):
        read("gettext", text.format("punycode"))


def test_an_empty_file_is_a_problem_and_no_error():
    catalogue = read("gettext", "")

    assert (catalogue.messages, catalogue.problems) == ((), ((1, "is empty"),))


def quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\r", "\\r")
    lines = re.sub("(?<=\n)(?=.)", "\0", escaped).split("\0") if escaped else [""]
    first = ["" if len(lines) > 1 else lines.pop()]
    return "\n".join('"{}"'.format(line.replace("\n", "\\n")) for line in (first if not lines else ["", *lines]))


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


@given(st.dictionaries(TEXTS.filter(bool), st.tuples(TEXTS, TEXTS)), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_reads_back_with_key_text_and_line(entries, end):
    content = "".join(
        f"#. {' '.join(comment.split())}\nmsgid {quoted(key)}\nmsgstr {quoted(text)}\n\n"
        for key, (text, comment) in entries.items()
    )

    catalogue = read("gettext", content.replace("\n", end))
    lines = content.split("\n")

    assert {each.key: each.translation for each in catalogue.messages} == {
        key: text for key, (text, _) in entries.items()
    }
    assert all(lines[each.line - 1].startswith("msgstr ") for each in catalogue.messages)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="POLYJUDGE_DATA with po_sample is not set")
@pytest.mark.parametrize("name", COUNTS)
def test_real_files_have_the_counts_of_their_description_and_the_texts_that_moz_l10n_reads(name):
    [file] = find_catalogues([SAMPLES / name]).files
    catalogue = read_catalogue(file)
    lines = (SAMPLES / name).read_text(encoding="utf-8").split("\n")
    entries = {(each.key, each.context): each for each in catalogue.messages}
    theirs = {}
    for entry in parse_resource(Format.gettext, (SAMPLES / name).read_bytes()).sections[0].entries:
        if not entry.get_meta("obsolete"):
            value = entry.value
            variants = value.variants.values() if isinstance(value, SelectMessage) else [value.pattern]
            theirs[(entry.id[0], (*entry.id, "")[1])] = ["".join(variant) for variant in variants]
    ours = {}
    for each in catalogue.messages:
        ours.setdefault((each.key, each.context), []).append(each.translation)

    assert ours == theirs
    assert COUNTS[name] == (
        len(entries),
        sum(bool(each.plural) for each in entries.values()),
        sum(bool(each.context) for each in entries.values()),
        len({each.key + each.context for each in catalogue.messages if each.state == "fuzzy"}),
        sum(each.state == "untranslated" for each in entries.values()),
    )
    assert catalogue.problems == ()
    for each in catalogue.messages:
        assert lines[each.line - 1].startswith("msgstr")
        plain = re.split(r'[\\"\n\t]', each.translation)[0]
        assert plain in "".join(re.findall(r'"(.*)"', "\n".join(lines[each.line - 1 : each.line + 20])))
