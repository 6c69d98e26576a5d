"""Strings of Apple's systems: .strings, .stringsdict, string catalogues."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogues.catalogue_files import read, texts
from tests.folding import for_each

from polyjudge.catalogues.reading import find_catalogues, read_catalogue
from polyjudge.errors import DataError

STRINGS = """\
/* Copyright */

/* The title
   of the window */
"title" = "Hello %@";
// a button
open = "Open";
/* No comment provided by engineer. */
"both";
"esc" = "say \\"hi\\"\\n\\U00e9\\101 /* no comment */ // none";
"late" /* between */ =
    "Later" ;
"""


def test_strings_have_comments_escapes_and_lines():
    catalogue = read("strings", STRINGS.replace("Hello %@", "Hallo %@"), STRINGS + '"new" = "New";')

    assert texts(catalogue) == [
        ("title", "", "Hello %@", "Hallo %@", 5),
        ("open", "", "Open", "Open", 7),
        ("both", "", "both", "both", 9),
        ("esc", "", 'say "hi"\néA /* no comment */ // none', 'say "hi"\néA /* no comment */ // none', 10),
        ("late", "", "Later", "Later", 12),
    ]
    assert [each.comment for each in catalogue.messages[:3]] == ["The title\n   of the window", "a button", ""]
    assert [each.key for each in catalogue.missing] == ["new"]
    assert {each.syntaxes for each in catalogue.messages} == {("apple",)}


def test_without_a_file_of_sources_a_key_that_is_a_sentence_is_the_source():
    assert [each.source for each in read("strings", '"Open file" = "Öffnen"; "x" = "y";').messages] == ["Open file", ""]


def test_utf_16_and_property_lists_are_read():
    plist = (
        '<?xml version="1.0"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"'
        ' "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0"><dict>\n'
        "<key>a</key>\n<string>b</string></dict></plist>"
    )

    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"):
        assert texts(read("strings", '"a" = "é";\n'.encode(encoding))) == [("a", "", "", "é", 1)]
    assert texts(read("strings", plist)) == [("a", "", "", "b", 5)]


@for_each(
    ("content", "line", "message"),
    [
        ('"a" = "b"\n"c" = "d";', 1, "and a semicolon"),
        ('"a" = "b";\n"c" = "d "e" f";', 2, "quotation marks"),
        ('"a" = "b";\n\n"c" = "d;\n', 3, "quotation marks"),
        ('"a" = "b";\n/* never closed', 2, "not a .strings file"),
        ('"a" = "b";\n<<<<<<< HEAD\n', 2, "merge conflict"),
        (b'"a" = "\xff";', 1, "not UTF-8"),
    ],
)
def test_broken_strings_give_one_message_with_the_line(content, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read("strings", content)

    assert str(caught.value).startswith(f"target.strings:{line}: ")


def strings_text(text):
    for sign, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        text = text.replace(sign, escape)
    return f'"{text}"'


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@given(st.dictionaries(TEXTS, st.tuples(TEXTS, TEXTS)))
def test_what_is_written_reads_back_with_key_text_comment_and_line(entries):
    def remark(comment):
        return " ".join(comment.replace("*", "").replace("/", "").split())

    content = "".join(
        f"/* {remark(comment)} */\n{strings_text(key)} = {strings_text(text)};\n\n"
        for key, (text, comment) in entries.items()
    )
    lines = content.split("\n")

    for each in read("strings", content).messages:
        text, comment = entries[each.key]
        assert (each.translation, " ".join(each.comment.split())) == (text, remark(comment))
        assert lines[each.line - 1] == f"{strings_text(each.key)} = {strings_text(text)};"


DICTIONARY = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <!-- Shown in the list. -->
  <key>files</key>
  <dict>
    <key>NSStringLocalizedFormatKey</key>
    <string>%#@n@</string>
    <key>n</key>
    <dict>
      <key>NSStringFormatSpecTypeKey</key>
      <string>NSStringPluralRuleType</string>
      <key>NSStringFormatValueTypeKey</key>
      <string>d</string>
{forms}
    </dict>
  </dict>
</dict>
</plist>
"""


def dictionary(**forms):
    lines = [f"<key>{category}</key>\n<string>{text}</string>" for category, text in forms.items()]
    return DICTIONARY.format(forms="\n".join(lines))


def test_a_stringsdict_has_plural_forms():
    catalogue = read(
        "stringsdict",
        dictionary(zero="нет", one="%d файл", few="%d файла", many="%d файлов", other="%d"),
        dictionary(one="%d file", other="%d files"),
        language="ru",
    )

    assert texts(catalogue) == [
        ("files", "zero", "%d files", "нет", 17),
        ("files", "one", "%d files", "%d файл", 19),
        ("files", "few", "%d files", "%d файла", 21),
        ("files", "many", "%d files", "%d файлов", 23),
        ("files", "other", "%d files", "%d", 25),
    ]
    assert [each.is_exact for each in catalogue.messages] == [True, False, False, False, False]


CATALOGUE = {
    "sourceLanguage": "en",
    "version": "1.0",
    "strings": {
        "Hello": {},
        "open": {
            "comment": "A button",
            "localizations": {
                "en": {"stringUnit": {"state": "translated", "value": "Open"}},
                "pt-BR": {"stringUnit": {"state": "needs_review", "value": "Abrir"}},
            },
        },
        "%lld files": {
            "localizations": {
                "pl": {
                    "variations": {
                        "plural": {
                            "one": {"stringUnit": {"state": "translated", "value": "%lld plik"}},
                            "other": {"stringUnit": {"state": "translated", "value": "%lld pliku"}},
                        }
                    }
                }
            }
        },
        "gone": {
            "extractionState": "stale",
            "localizations": {"pl": {"stringUnit": {"state": "translated", "value": "x"}}},
        },
        "Polyjudge": {"shouldTranslate": False},
    },
}


def test_a_string_catalogue_has_a_file_for_each_language(tmp_path):
    path = tmp_path / "Localizable.xcstrings"
    path.write_text(json.dumps(CATALOGUE, indent=2), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").split("\n")

    brazil, poland = (read_catalogue(file) for file in find_catalogues([tmp_path]).files[::-1])

    assert (brazil.file.language, poland.file.language) == ("pt-BR", "pl")
    [message] = brazil.messages
    assert (message.key, message.source, message.translation, message.state) == (
        "open",
        "Open",
        "Abrir",
        "needs_review",
    )
    assert (message.comment, message.syntaxes) == ("A button", ("apple",))
    assert '"Abrir"' in lines[message.line - 1]
    assert [each.key for each in brazil.missing] == ["Hello", "%lld files"]
    assert [(each.key, each.plural, each.source, each.translation) for each in poland.messages] == [
        ("%lld files", "one", "%lld files", "%lld plik"),
        ("%lld files", "other", "%lld files", "%lld pliku"),
    ]
    assert [(each.key, each.source) for each in poland.missing] == [("Hello", "Hello"), ("open", "Open")]
    assert '"Hello"' in lines[poland.missing[0].line - 1]
