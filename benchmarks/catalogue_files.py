"""Write messages as localisation files of each format, with the line of each translation."""

# ruff: noqa: ARG001 - all writers are called alike

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {language}\\n"\n'


class Entry(NamedTuple):
    """A message to write: a text, or several with their plural categories."""

    key: str
    source: str
    text: str
    source_forms: Mapping[str, str] = {}
    forms: Mapping[str, str] = {}
    flags: Sequence[str] = ()
    max_length: int = 0


class Written(NamedTuple):
    """A translation as it stands in its file."""

    text: str
    lines: Mapping[tuple[str, str], int]
    """By key and plural category."""


class Lines:
    """A file while it is written."""

    def __init__(self, *first: str) -> None:
        self.lines = list(first)
        self.places: dict[tuple[str, str], int] = {}

    def add(self, line: str, key: str = "", plural: str = "") -> None:
        if key:
            self.places[key, plural] = len(self.lines) + 1
        self.lines += line.split("\n")

    def written(self, *last: str) -> Written:
        return Written("\n".join([*self.lines, *last]) + "\n", self.places)


def po_text(text: str) -> str:
    for sign, code in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(sign, code)
    return f'"{text}"'


def android_text(text: str) -> str:
    """Return a text as a resource file has it; tags are written as text."""
    for sign, code in (("\\", "\\\\"), ("'", "\\'"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(sign, code)
    if text[:1] in (" ", "@", "?"):
        text = f"\\u0020{text[1:]}" if text[0] == " " else f"\\{text}"
    text = f"{text[:-1]}\\u0020" if text.endswith(" ") else text
    return escape(text.replace("  ", " \\u0020"))


def gettext(entries: Iterable[Entry], language: str, *, is_source: bool, rule: str = "") -> Written:
    file = Lines(*HEADER.format(language=language).rstrip("\n").split("\n"))
    if rule:
        file.add(f'"Plural-Forms: {rule}\\n"')
    for each in entries:
        file.add("")
        if each.max_length:
            file.add(f"#. max-length:{each.max_length}")
        if each.flags:
            file.add(f"#, {', '.join(each.flags)}")
        if each.key.startswith("same_"):
            file.add(f'msgctxt "{each.key}"')
        if each.forms:
            file.add(f"msgid {po_text(each.source_forms['one'])}")
            file.add(f"msgid_plural {po_text(each.source_forms['other'])}")
            for place, (category, text) in enumerate(each.forms.items()):
                file.add(f"msgstr[{place}] {po_text(text)}", each.key, category)
        else:
            file.add(f"msgid {po_text(each.source)}")
            file.add(f"msgstr {po_text(each.text)}", each.key)
    return file.written()


def android(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines('<?xml version="1.0" encoding="utf-8"?>', "<resources>")
    for each in entries:
        forms = each.source_forms if is_source else each.forms
        if each.forms:
            file.add(f'    <plurals name="{each.key}">')
            for category, text in forms.items():
                file.add(f'        <item quantity="{category}">{android_text(text)}</item>', each.key, category)
            file.add("    </plurals>")
        else:
            text = each.source if is_source else each.text
            file.add(f'    <string name="{each.key}">{android_text(text)}</string>', each.key)
    return file.written("</resources>")


def json_file(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines("{")
    for each in entries:
        forms = each.source_forms if is_source else each.forms
        texts = {f"{each.key}_{category}": (category, text) for category, text in forms.items()}
        if not each.forms:
            texts = {each.key: ("", each.source if is_source else each.text)}
        for key, (category, text) in texts.items():
            file.add(f"  {json.dumps(key)}: {json.dumps(text, ensure_ascii=False)},", each.key, category)
    file.lines[-1] = file.lines[-1].removesuffix(",")
    return file.written("}")


def xliff(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines(
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">',
        f'<file original="a" source-language="en" target-language="{language}" datatype="plaintext"><body>',
    )
    for each in entries:
        forms = {f"{each.key}|==|plural.{category}": (category, text) for category, text in each.forms.items()}
        for key, (category, text) in (forms or {each.key: ("", each.text)}).items():
            source = each.source_forms.get(category, each.source_forms["other"]) if forms else each.source
            state = ' state="needs-review-translation"' if "fuzzy" in each.flags else ""
            limit = f' maxwidth="{each.max_length}" size-unit="char"' if each.max_length else ""
            file.add(f'<trans-unit id="{key}"{limit}><source>{escape(source)}</source>')
            file.add(f"<target{state}>{escape(text)}</target></trans-unit>", each.key, category)
    return file.written("</body></file></xliff>")


def strings(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines()
    for each in entries:
        file.add(f'"{each.key}" = {po_text(each.source if is_source else each.text)};', each.key)
    return file.written()


def stringsdict(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines('<?xml version="1.0" encoding="UTF-8"?>', '<plist version="1.0"><dict>')
    for each in entries:
        file.add(f"<key>{each.key}</key><dict><key>NSStringLocalizedFormatKey</key><string>%#@n@</string>")
        file.add("<key>n</key><dict><key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string>")
        file.add("<key>NSStringFormatValueTypeKey</key><string>d</string>")
        for category, text in (each.source_forms if is_source else each.forms).items():
            file.add(f"<key>{category}</key><string>{escape(text)}</string>", each.key, category)
        file.add("</dict></dict>")
    return file.written("</dict></plist>")


def properties(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines()
    for each in entries:
        text = each.source if is_source else each.text
        file.add(f"{each.key}=" + po_text(text)[1:-1].replace('\\"', '"'), each.key)
    return file.written()


def arb(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    written = json_file(entries, language, is_source=is_source)
    return Written(written.text.replace("{\n", f'{{"@@locale": "{language}",\n', 1), written.lines)


def resx(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines('<?xml version="1.0" encoding="utf-8"?>', "<root>")
    for each in entries:
        text = escape(each.source if is_source else each.text)
        file.add(f'<data name="{each.key}" xml:space="preserve"><value>{text}</value></data>', each.key)
    return file.written("</root>")


def qt(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines('<?xml version="1.0" encoding="utf-8"?>', f'<!DOCTYPE TS><TS version="2.1" language="{language}">')
    file.add("<context><name>Main</name>")
    for each in entries:
        file.add(f"<message><source>{escape(each.source)}</source>")
        file.add(f"<translation>{escape(each.text)}</translation></message>", each.key)
    return file.written("</context></TS>")


def rails(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines(f"{'en' if is_source else language}:")
    for each in entries:
        text = each.source if is_source else each.text
        file.add(f"  {each.key}: {json.dumps(text, ensure_ascii=not text.isprintable())}", each.key)
    return file.written()


def fluent(entries: Iterable[Entry], language: str, *, is_source: bool) -> Written:
    file = Lines()
    for each in entries:
        text = each.source if is_source else each.text
        file.add(f"{each.key} = {' '.join(text.replace('{', '(').replace('}', ')').split())}", each.key)
    return file.written()


class Format(NamedTuple):
    """How the files of a format are written, and where those of a language and of the sources are."""

    write: Callable[..., Written]
    target: str
    source: str = ""


FORMATS = {
    "gettext": Format(gettext, "po/{language}.po"),
    "android": Format(android, "res/values-{android}/strings.xml", "res/values/strings.xml"),
    "json": Format(json_file, "locales/{language}.json", "locales/en.json"),
    "xliff": Format(xliff, "xliff/{language}.xlf"),
    "strings": Format(strings, "App/{language}.lproj/Localizable.strings", "App/en.lproj/Localizable.strings"),
    "stringsdict": Format(
        stringsdict, "App/{language}.lproj/Localizable.stringsdict", "App/en.lproj/Localizable.stringsdict"
    ),
    "properties": Format(properties, "java/messages_{language}.properties", "java/messages.properties"),
    "arb": Format(arb, "l10n/app_{language}.arb", "l10n/app_en.arb"),
    "resx": Format(resx, "net/Resources.{language}.resx", "net/Resources.resx"),
    "qt": Format(qt, "qt/app_{language}.ts"),
    "rails": Format(rails, "config/locales/{language}.yml", "config/locales/en.yml"),
    "fluent": Format(fluent, "fluent/{language}/app.ftl", "fluent/en/app.ftl"),
}


def write_files(
    folder: Path, name: str, language: str, entries: Sequence[Entry], **options: str
) -> tuple[Path, Written]:
    """Write a file of a language, and the one with its sources if the format has one; return it and its content."""
    form = FORMATS[name]
    path = folder / form.target.format(language=language, android=f"b+{language.replace('-', '+')}")
    written = form.write(entries, language, is_source=False, **options)
    files = {path: written}
    if form.source:
        files[folder / form.source] = form.write(entries, "en", is_source=True)
    for each, content in files.items():
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_text(content.text, encoding="utf-8", newline="\n")
    return path, written
