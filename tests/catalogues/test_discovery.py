"""Which files are taken for translations, of which language, and with which sources."""

import os
from pathlib import Path

import pytest
from tests.folding import for_each

from polyjudge.catalogues.language_names import language_tag
from polyjudge.catalogues.reading import find_catalogues
from polyjudge.errors import DataError

LAYOUTS = [
    # files of a project: {a translation: (language, its source)}
    (["po/de.po", "po/app.pot"], {"po/de.po": ("de", "")}),
    (["locale/de/LC_MESSAGES/Linux-PAM.po"], {"locale/de/LC_MESSAGES/Linux-PAM.po": ("de", "")}),
    (["po/Linux-PAM.po"], {}),
    (["locale/pt_BR/LC_MESSAGES/app.po"], {"locale/pt_BR/LC_MESSAGES/app.po": ("pt-BR", "")}),
    (["locale/sr@latin/app.po"], {"locale/sr@latin/app.po": ("sr-Latn", "")}),
    (["po/app.zh_CN.po", "po/app-it.po"], {"po/app.zh_CN.po": ("zh-Hans", ""), "po/app-it.po": ("it", "")}),
    (
        ["res/values/strings.xml", "res/values-de/strings.xml", "res/values-night/colors.xml", "res/values-v21/s.xml"],
        {"res/values-de/strings.xml": ("de", "res/values/strings.xml")},
    ),
    (
        ["res/values/strings.xml", "res/values-b+sr+Latn/strings.xml", "res/values-pt-rBR/strings.xml"],
        {
            "res/values-b+sr+Latn/strings.xml": ("sr-Latn", "res/values/strings.xml"),
            "res/values-pt-rBR/strings.xml": ("pt-BR", "res/values/strings.xml"),
        },
    ),
    (
        ["res/values/strings.xml", "res/values-iw/strings.xml", "res/values-in-rID-land/strings.xml"],
        {
            "res/values-iw/strings.xml": ("he", "res/values/strings.xml"),
            "res/values-in-rID-land/strings.xml": ("id-ID", "res/values/strings.xml"),
        },
    ),
    (
        ["App/en.lproj/Localizable.strings", "App/Base.lproj/Localizable.strings", "App/de.lproj/Localizable.strings"],
        {"App/de.lproj/Localizable.strings": ("de", "App/en.lproj/Localizable.strings")},
    ),
    (
        ["App/Base.lproj/Main.strings", "App/zh-Hant.lproj/Main.strings"],
        {"App/zh-Hant.lproj/Main.strings": ("zh-Hant", "App/Base.lproj/Main.strings")},
    ),
    (["lib/l10n/app_en.arb", "lib/l10n/app_de.arb"], {"lib/l10n/app_de.arb": ("de", "lib/l10n/app_en.arb")}),
    (["l10n/app_en.arb", "l10n/app_zh_Hant_TW.arb"], {"l10n/app_zh_Hant_TW.arb": ("zh-Hant-TW", "l10n/app_en.arb")}),
    (["locales/en.json", "locales/de.json", "package.json"], {"locales/de.json": ("de", "locales/en.json")}),
    (["x/en-US.json", "x/nb.json", "x/tsconfig.json"], {"x/nb.json": ("no", "x/en-US.json")}),
    (["locales/en/a.json", "locales/de/a.json"], {"locales/de/a.json": ("de", "locales/en/a.json")}),
    (["a/en/b/c/d.json", "a/de/b/c/d.json"], {"a/de/b/c/d.json": ("de", "a/en/b/c/d.json")}),
    (["i18n/messages_en.json", "i18n/messages_de.json"], {"i18n/messages_de.json": ("de", "i18n/messages_en.json")}),
    (
        ["_locales/en/messages.json", "_locales/pt_PT/messages.json"],
        {"_locales/pt_PT/messages.json": ("pt", "_locales/en/messages.json")},
    ),
    (["messages.properties", "messages_fr.properties"], {"messages_fr.properties": ("fr", "messages.properties")}),
    (["locales/en-US/a.ftl", "locales/de/a.ftl"], {"locales/de/a.ftl": ("de", "locales/en-US/a.ftl")}),
    (["Resources.resx", "Resources.de-AT.resx"], {"Resources.de-AT.resx": ("de-AT", "Resources.resx")}),
    (["tsconfig.json", "tsconfig.es.json", "src/is/is.json", "log.it.json"], {}),
    (["src/com/my/app/log.properties", "it/app.resx", "a/no/b.strings"], {}),
    (["l10n/de.json", "values-de/strings.xml"], {"l10n/de.json": ("de", ""), "values-de/strings.xml": ("de", "")}),
    (["node_modules/x/locales/de.json", ".git/po/de.po", "build/po/de.po"], {}),
]


def write(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("", encoding="utf-8")


@pytest.mark.parametrize(("files", "expected"), LAYOUTS)
def test_a_layout_gives_languages_and_sources(files, expected, tmp_path, monkeypatch):
    write(tmp_path, *files)
    monkeypatch.chdir(tmp_path)

    found = find_catalogues([tmp_path])
    by_path = {file.path: (file.language, file.source_path) for file in found.files}

    assert by_path == {
        str(tmp_path / path): (language, source and str(tmp_path / source))
        for path, (language, source) in expected.items()
    }
    for path, (language, source) in expected.items():
        [file] = find_catalogues([tmp_path.joinpath(path).relative_to(tmp_path)]).files
        assert (file.path, file.language, file.source_path) == (path, language, source)


@for_each(
    ("name", "tag"),
    [
        *[("pt_BR", "pt-BR"), ("zh_CN", "zh-Hans"), ("zh-Hant-TW", "zh-Hant-TW"), ("iw", "he"), ("in", "id")],
        *[
            ("nb", "no"),
            ("nn", "nn"),
            ("sr@latin", "sr-Latn"),
            ("de_DE.UTF-8", "de-DE"),
            ("ca@valencia", "ca-valencia"),
        ],
        *[("b+sr+Latn", "sr-Latn"), ("pt-rBR", "pt-BR"), ("eo", "eo"), ("strings", ""), ("car", ""), ("", "")],
    ],
)
def test_names_of_languages_become_tags_of_the_table(name, tag):
    assert language_tag(name) == tag


def test_another_language_of_sources_can_be_named(tmp_path):
    write(tmp_path, "locales/en.json", "locales/de.json", "locales/fr.json")

    files = find_catalogues([tmp_path], source="de").files

    assert [(file.language, file.source_language) for file in files] == [("en", "de"), ("fr", "de")]
    assert {file.source_path for file in files} == {str(tmp_path / "locales/de.json")}


def test_a_variety_of_the_source_language_is_not_reviewed_and_said_so(tmp_path):
    write(tmp_path, "locales/en.json", "locales/en-GB.json")

    found = find_catalogues([tmp_path])

    assert not found.files
    assert "en-GB" in found.skipped[0]


def test_a_variety_that_is_itself_the_source_is_not_named(tmp_path):
    write(tmp_path, "locales/en-US/app.ftl", "locales/de/app.ftl")

    found = find_catalogues([tmp_path])

    assert [file.language for file in found.files] == ["de"]
    assert found.skipped == []


def test_the_header_of_a_po_file_names_its_language_if_the_path_does_not(tmp_path):
    header = 'msgid ""\nmsgstr ""\n"Language: uk\\n"\n'
    (tmp_path / "messages.po").write_text(header, encoding="utf-8")
    (tmp_path / "empty.po").write_text("", encoding="utf-8")

    found = find_catalogues([tmp_path])

    assert [file.language for file in found.files] == ["uk"]
    assert found.skipped == [f"{tmp_path / 'empty.po'}: neither its name nor its content says its language"]


def test_links_do_not_lead_outside_or_in_circles(tmp_path):
    write(tmp_path, "outside/po/de.po", "project/po/fr.po")
    (tmp_path / "project/linked").symlink_to(tmp_path / "outside")
    (tmp_path / "project/po/it.po").symlink_to(tmp_path / "outside/po/de.po")
    (tmp_path / "project/po/again").symlink_to(tmp_path / "project")

    assert [file.language for file in find_catalogues([tmp_path / "project"]).files] == ["fr"]


def test_the_folders_above_the_reviewed_one_name_no_language(tmp_path, monkeypatch):
    write(tmp_path, "it/app/Resources/Strings.resx", "it/app/Resources/Strings.nl.resx", "it/app/po/messages.po")
    folder = tmp_path / "it" / "app"
    monkeypatch.chdir(folder)

    for path in (Path(), folder, Path("Resources")):
        found = find_catalogues([path])
        assert [file.language for file in found.files] == ["nl"]


def test_the_folder_of_one_language_can_be_reviewed_from_inside(tmp_path, monkeypatch):
    write(tmp_path, "locales/de/common.json", "locales/en/common.json", "locale/fr/LC_MESSAGES/app.po")
    monkeypatch.chdir(tmp_path / "locales" / "de")
    [file] = find_catalogues([Path()]).files
    assert (file.language, file.source_path) == ("de", "../en/common.json")

    monkeypatch.chdir(tmp_path / "locale" / "fr" / "LC_MESSAGES")
    assert [file.language for file in find_catalogues([Path()]).files] == ["fr"]


def test_sources_that_a_link_takes_from_elsewhere_are_not_used(tmp_path):
    write(tmp_path, "secret.json", "project/locales/de.json", "project/res/values-de/strings.xml", "values/strings.xml")
    (tmp_path / "project/locales/en.json").symlink_to(tmp_path / "secret.json")
    (tmp_path / "project/res/values").symlink_to(tmp_path / "values")

    found = find_catalogues([tmp_path / "project"])

    assert [file.source_path for file in found.files] == ["", ""]
    assert [each.endswith("is a link to a file elsewhere, so its texts are not used") for each in found.skipped] == [
        True,
        True,
    ]


def test_a_link_to_sources_beside_the_translations_is_followed(tmp_path):
    write(tmp_path, "locales/de.json", "locales/en-US.json")
    (tmp_path / "locales/en.json").symlink_to("en-US.json")

    found = find_catalogues([tmp_path])

    assert [file.source_path for file in found.files] == [str(tmp_path / "locales/en.json")]
    assert found.skipped == []


def test_a_pipe_is_no_file(tmp_path):
    (tmp_path / "po").mkdir()
    os.mkfifo(tmp_path / "po" / "de.po")

    assert find_catalogues([tmp_path]).files == []
    with pytest.raises(DataError, match="no such file or folder"):
        find_catalogues([tmp_path / "po" / "de.po"])


def test_a_broken_file_of_a_folder_is_taken_to_be_reported_and_one_that_is_named_is_an_error(tmp_path):
    (tmp_path / "A.xcstrings").write_text("{", encoding="utf-8")

    assert [(file.path, file.language) for file in find_catalogues([tmp_path]).files] == [
        (str(tmp_path / "A.xcstrings"), "und")
    ]
    with pytest.raises(DataError, match=r"A\.xcstrings:1: not JSON"):
        find_catalogues([tmp_path / "A.xcstrings"])


def test_a_file_is_taken_once(tmp_path):
    write(tmp_path, "po/de.po")

    assert len(find_catalogues([tmp_path, tmp_path / "po", tmp_path / "po" / "de.po"]).files) == 1


def test_a_named_file_that_is_no_translation_is_said(tmp_path):
    write(tmp_path, "notes.txt", "locales/en.json", "res/values/strings.xml")

    for name in ("notes.txt", "locales/en.json", "res/values/strings.xml"):
        found = find_catalogues([tmp_path / name])
        assert not found.files
        assert name in found.skipped[0]
    with pytest.raises(DataError, match=r"nothing\.po: no such file or folder"):
        find_catalogues([tmp_path / "nothing.po"])


XLIFF = '<xliff version="1.2"><file original="a" source-language="fr"{target}><body/></file></xliff>'


@for_each(
    ("name", "content", "languages"),
    [
        ("app.xlf", XLIFF.format(target=' target-language="de"'), [("de", "fr")]),
        ("app.xlf", XLIFF.format(target=""), []),
        ("messages.pt-BR.xlf", XLIFF.format(target=""), [("pt-BR", "fr")]),
        ("app.xliff", '<xliff version="2.0" srcLang="en" trgLang="de-CH"><file id="a"/></xliff>', [("de-CH", "en")]),
        ("app.xliff", XLIFF.format(target=' target-language="fr"'), []),
        ("app.ts", '<!DOCTYPE TS>\n<TS version="2.1" language="zh_CN">', [("zh-Hans", "en")]),
        ("app_uk.ts", '<?xml version="1.0"?>\n<!DOCTYPE TS><TS version="2.1">', [("uk", "en")]),
        ("app_uk.ts", "export const a = 1", []),
        ("config/locales/devise.pt-BR.yml", "---\n# by hand\npt-BR:\n  a: b\n", [("pt-BR", "en")]),
        ("config/locales/anything.yml", "de:\n  a: b\n", [("de", "en")]),
        ("config/anything.yml", "no:\n  a: b\n", []),
        ("docker-compose.yml", "services:\n  a: b\n", []),
        ("de.yml", "services:\n", []),
        ("A.xcstrings", '{"strings": {"a": {"localizations": {"de": {"stringUnit": {"value": ""}}}}}}', [("de", "en")]),
    ],
)  # fmt: skip
def test_the_content_says_the_languages_of_some_formats(name, content, languages, tmp_path_factory):
    path = tmp_path_factory.mktemp("project") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")

    found = find_catalogues(
        [tmp_path_factory.getbasetemp() / path.relative_to(tmp_path_factory.getbasetemp()).parts[0]]
    )

    assert [(file.language, file.source_language) for file in found.files] == languages


def test_a_rails_file_has_the_file_of_the_other_language_as_its_source(tmp_path):
    write(tmp_path, "config/locales/en.yml", "config/locales/models/en.yml")
    for name in ("config/locales/de.yml", "config/locales/models/de.yml"):
        (tmp_path / name).write_text("de:\n  a: b\n", encoding="utf-8")

    files = find_catalogues([tmp_path]).files

    assert [file.source_path for file in files] == [
        str(tmp_path / "config/locales/en.yml"),
        str(tmp_path / "config/locales/models/en.yml"),
    ]
