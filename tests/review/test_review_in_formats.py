"""Each format from its file to the finding: the line of the message, and what its placeholders are."""

from pathlib import Path

from tests.folding import for_each

from polyjudge import review_files

XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="de" original="a" datatype="plaintext"><body>
<trans-unit id="a"><source>Save</source><target>Sichern</target></trans-unit>
<trans-unit id="b"><source>Delete %@?</source><target>Löschen?</target></trans-unit>
</body></file></xliff>"""
QT = """<?xml version="1.0"?>
<TS version="2.1" language="de" sourcelanguage="en"><context><name>Main</name>
<message><source>Delete %1?</source><translation>Löschen?</translation></message>
</context></TS>"""
RESX = '<root>\n<data name="a"><value>{}</value></data>\n</root>'
XCSTRINGS = """{"sourceLanguage": "en", "version": "1.0", "strings": {
"Delete %@?": {"localizations": {
"de": {"stringUnit": {"state": "translated", "value": "Löschen?"}}}}}}"""
PO = 'msgid ""\nmsgstr "Language: de\\n"\n\n#, c-format\nmsgid "Delete %s?"\nmsgstr "Löschen?"\n'

FORMATS = [
    # format, line, files
    ("gettext", 6, {"de.po": PO}),
    ("android", 2, {"res/values/strings.xml": '<resources>\n<string name="a">Delete %1$s?</string></resources>',
                    "res/values-de/strings.xml": '<resources>\n<string name="a">Löschen?</string></resources>'}),
    ("json", 2, {"locales/en.json": '{\n"a": "Delete {{name}}?"}', "locales/de.json": '{\n"a": "Löschen?"}'}),
    ("webextension", 2, {"_locales/en/messages.json": '{\n"a": {"message": "Delete $NAME$?"}}',
                         "_locales/de/messages.json": '{\n"a": {"message": "Löschen?"}}'}),
    ("arb", 3, {"lib/l10n/app_en.arb": '{\n"@@locale": "en",\n"a": "Delete {name}?"}',
                "lib/l10n/app_de.arb": '{\n"@@locale": "de",\n"a": "Löschen?"}'}),
    ("strings", 2, {"en.lproj/Localizable.strings": '/* x */\n"a" = "Delete %@?";\n',
                    "de.lproj/Localizable.strings": '/* x */\n"a" = "Löschen?";\n'}),
    ("xcstrings", 3, {"Localizable.xcstrings": XCSTRINGS}),
    ("properties", 2, {"messages.properties": "# x\na=Delete {0}?\n", "messages_de.properties": "# x\na=Löschen?\n"}),
    ("fluent", 2, {"locales/en/main.ftl": "b = Save\na = Delete { $name }?\n",
                   "locales/de/main.ftl": "b = Sichern\na = Löschen?\n"}),
    ("xliff", 4, {"de.xlf": XLIFF}),
    ("qt", 3, {"app_de.ts": QT}),
    ("resx", 2, {"Strings.resx": RESX.format("Delete {0}?"), "Strings.de.resx": RESX.format("Löschen?")}),
    ("rails", 3, {"config/locales/en.yml": 'en:\n  b: Save\n  a: "Delete %{name}?"\n',
                  "config/locales/de.yml": 'de:\n  b: Sichern\n  a: "Löschen?"\n'}),
]  # fmt: skip


@for_each(("name", "line", "files"), FORMATS, ids=lambda case: case[0])
def test_a_lost_placeholder_is_found_at_its_line_in_every_format(tmp_path, name, line, files):
    folder = tmp_path / name
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")

    review = review_files(folder, checks=["preservation"])

    found = [(Path(each.file).name, each.line, each.kind, each.severity) for each in review.findings]
    assert found == [(Path(list(files)[-1]).name, line, "placeholder_lost", "fail")]
    assert [(each.language, each.files) for each in review.languages] == [("de", 1)]
