"""Look languages up by tag or by name, also those of rows; the user's own file adds languages or replaces them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import cast

from msgspec import convert, to_builtins
from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.folder_trust import private_path
from polyjudge.plugins import PLUGINS, described
from polyjudge.records.translation import Language

OWN_ROWS = "languages.tsv"
"""The file of the user's own languages, in the private folder."""
_COLUMNS = ("tag", "name", "native_name", "scripts", "family", "direction", "speakers_millions")
_MORE_COLUMNS = ("detector", "inseparable", "aliases")
_SEVERAL = {"Jpan": ("Hira", "Kana", "Hani"), "Kore": ("Hang", "Hani"), "Hrkt": ("Hira", "Kana"), "Aran": ("Arab",)}
"""Codes of ISO 15924 without one in Unicode: several scripts together, and a style of a script."""
_USUAL_SCRIPTS = (
    "Arab Armn Beng Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hans Hant Hebr Hira Kana Khmr Knda Laoo Latn Mlym Mymr"
    " Orya Sinh Taml Telu Thai"
)
_MOST_SPEAKERS = 10_000
_TAG = re.compile(r"[A-Za-z]{2}([-_][A-Za-z0-9]{1,8})*")
"""A tag whose language has two letters; no name is so short."""
_MOST_KNOWN = 10_000
_WITHOUT_LETTERS = {"Zyyy", "Zinh", "Zzzz", "Qaai"}
LANGUAGE = "language"
"""The column of the language in filters."""


class LanguageTable:
    """Languages in their order, found by any of their tags or names."""

    def __init__(self, languages: Mapping[str, Language]) -> None:
        self._by_tag = dict(languages)
        self._by_any_tag: dict[str, Language] = {}
        self._by_name: dict[str, Language] = {}
        self._families = {each.family.casefold(): each.family for each in languages.values()}
        for each in languages.values():
            for tag in (*each.aliases, each.tag):
                self._by_any_tag[tag.casefold()] = each
            for name in filter(None, (_plain_name(each.name), _plain_name(each.native_name))):
                self._by_name.setdefault(name, each)
        self._by_script = {script: each for each in reversed(self._by_tag.values()) for script in each.scripts[:1]}

    def __iter__(self) -> Iterator[Language]:
        """Yield the languages, the must-have ones first."""
        return iter(self._by_tag.values())

    def __len__(self) -> int:
        """Return the number of languages."""
        return len(self._by_tag)

    def has(self, tag: str) -> bool:
        """Say whether a language has exactly this tag."""
        return tag.casefold() in self._by_any_tag

    def find(self, tag: str, name: str = "") -> Language | None:
        """Return the language of a tag, else of a name; None if the table does not have it.

        A region is ignored unless the table has it (`de-AT` is German). A script in the tag is the only accepted one
        (`sr-Latn`); a language in a script that the table does not have cannot be identified.
        """
        found = self._of_tag(tag.strip().replace("_", "-")) if tag.strip() else None
        return found or self._of_name(name) or self._of_name(tag)

    def family(self, given: str, tag: str, name: str = "") -> str:
        """Return a script family as reports write it: the given one in the table's spelling, else the language's."""
        if given:
            return self._families.get(given.casefold(), given)
        found = self.find(tag, name)
        return found.family if found else ""

    def suggestion(self, unknown: str) -> str:
        """Return a sentence with the language that is most like an unknown tag or name; empty if none is."""
        if self.find(unknown):
            return ""
        languages = reversed(self._by_tag.values())  # the first language of a name is the one that is meant
        named = {
            name.casefold(): each for each in languages for name in (each.tag, each.name.partition(" (")[0], each.name)
        }
        close = get_close_matches(unknown.casefold(), named, n=1)
        return f" Did you mean {named[close[0]].name} ({named[close[0]].tag})?" if close else ""

    def _of_name(self, name: str) -> Language | None:
        """Return the language of a name, also without its part in brackets: `Chinese (Mandarin)`."""
        plain = _plain_name(name)
        if not plain or plain in self._by_name:
            return self._by_name.get(plain)
        if name.strip().casefold() in self._by_any_tag:
            return self._by_any_tag[name.strip().casefold()]
        words = set(plain.split())
        return next((each for each in self if _core(each) <= words <= set(_plain_name(each.name).split())), None)

    def _of_tag(self, tag: str) -> Language | None:
        parts = tag.casefold().split("-")
        end = next((place for place, part in enumerate(parts) if place and len(part) == 1), len(parts))
        parts = parts[:end]  # a single letter starts an extension, which does not name the language
        script = next((part.title() for part in parts[1:3] if len(part) == 4 and part.isalpha()), "")
        for count in range(len(parts), 0, -1):
            found = self._by_any_tag.get("-".join(parts[:count]))
            if found is not None:
                return self._written_in(found, script, tag) if script.casefold() in parts[count:] else found
        return None

    def _written_in(self, language: Language, script: str, tag: str) -> Language | None:
        scripts = _SEVERAL.get(script, (script,))
        if not all(map(_is_script, scripts)):
            return None
        model = self._by_script.get(scripts[0], language)
        family = model.family if scripts[0] != language.scripts[0] else language.family
        written = replace(language, scripts=scripts, family=family, direction=model.direction)
        return written if set(scripts) <= set(language.scripts) else replace(written, tag=tag, detector="")


def language_table(own_rows: Path | None = None) -> LanguageTable:
    """Return the shipped table with the languages of plugins and the user's rows, which replace both.

    The user's rows are those of a file, else of `.polyjudge/languages.tsv`.
    """
    path = private_path(OWN_ROWS) if own_rows is None else own_rows
    table = _with_languages(plugin_languages())
    if own_rows is None and not path.is_file():
        return table
    return LanguageTable({**{each.tag: each for each in table}, **_read(path)})


class LanguageTags(dict[str, str]):
    """The tags of languages: `fr` of `French` and `français`; what is not known as a name is returned as it is."""

    def __missing__(self, given: str) -> str:
        """Look a language up, once; the table is read only if one is given that is no plain tag."""
        tag = given if not given or _TAG.fullmatch(given) else _of_word(given)
        if len(self) < _MOST_KNOWN:
            self[given] = tag
        return tag


def _of_word(given: str) -> str:
    table = language_table()
    found = table.find("", given)
    # Some tags of three letters are names too, such as that of Lao.
    is_name = found is not None and (not table.has(given) or found.name.casefold() == given.casefold())
    return found.tag if found is not None and is_name else given


class LanguageMatcher:
    """Compares values with filters; looks up each way of writing a language once."""

    def __init__(self, table: LanguageTable | None = None) -> None:
        self._given = table
        self._found: dict[str, Language | None] = {}

    @cached_property
    def table(self) -> LanguageTable:
        """The given table, else the one of the working folder, which is read when it is first needed."""
        return self._given or language_table()

    def selects(self, filters: Mapping[str, frozenset[str]], value_of: Callable[[str], str]) -> bool:
        """Say whether a row has one of the allowed values in the column of each filter."""
        for column, allowed in filters.items():
            value = value_of(column)
            if value not in allowed and not (column == LANGUAGE and self.is_among(value, allowed)):
                return False
        return True

    def is_among(self, language: str, wanted: Iterable[str]) -> bool:
        """Say whether a language is one of those wanted, whether they are written as tags or as names."""
        if language in wanted:
            return True
        found = self._find(language)
        return found is not None and any(self._find(each) == found for each in wanted)

    def suggestions(self, wanted: Iterable[str]) -> str:
        """Return a sentence for each wanted language that is unknown, with the one that was probably meant."""
        return "".join(map(self.table.suggestion, sorted(wanted)))

    def _find(self, language: str) -> Language | None:
        if language not in self._found:
            self._found[language] = self.table.find(language)
        return self._found[language]


def plugin_languages() -> tuple[Language, ...]:
    """Return the languages that plugins add; warn of unusable ones, and of tags that the table has.

    A plugin is a function that returns a `Language` or several.
    """
    found: dict[str, Language] = {}
    for plugin, target in PLUGINS.each("languages"):
        try:
            given = cast(Callable[[], Language | Iterable[Language]], target)()
            for each in map(_checked, [given] if isinstance(given, Language) else given):
                if _shipped().has(each.tag) or each.tag in found:
                    PLUGINS.warn(plugin, f"adds {each.tag!r}, which is ignored: the table has it already")
                else:
                    found[each.tag] = each
        except Exception as error:  # noqa: BLE001 - other packages' code may raise anything
            PLUGINS.warn(plugin, f"failed: {described(error)}")
    return tuple(found.values())


def _checked(given: object) -> Language:
    """Return a plugin's language with tuples for lists; raise an error if it is not valid."""
    if not isinstance(given, Language):
        raise TypeError(f"{given!r} is not a Language")
    language = convert(to_builtins(given), Language)
    wrong = [script for script in language.scripts if not _is_script(script)]
    if not language.tag or not language.name or not language.scripts or wrong:
        raise ValueError(f"a language needs a tag, a name, and scripts of ISO 15924 such as Latn: {language!r}")
    return language


@lru_cache(maxsize=8)
def _with_languages(added: tuple[Language, ...]) -> LanguageTable:
    """Return the shipped table with languages added; cached, because detectors belong to a table."""
    shipped = _shipped()
    return LanguageTable({each.tag: each for each in (*shipped, *added)}) if added else shipped


@lru_cache(maxsize=1)
def _shipped() -> LanguageTable:
    return LanguageTable(_read(cast(Path, files("polyjudge.languages") / "table.tsv")))


def _read(path: Path) -> dict[str, Language]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None
    header, *lines = text.split("\n")
    columns = [name.strip() for name in header.split("\t")]
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        raise DataError(f"no column {missing[0]!r}. Required: {', '.join(_COLUMNS)}.", path=path, line=1)
    languages: dict[str, Language] = {}
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        cells = dict(zip(columns, line.split("\t"), strict=False))
        try:
            each = _language({name: cells.get(name, "").strip() for name in (*_COLUMNS, *_MORE_COLUMNS)})
        except ValueError as error:
            raise DataError(str(error), path=path, line=number) from None
        if each.tag in languages:
            raise DataError(f"duplicate tag {each.tag!r}.", path=path, line=number)
        languages[each.tag] = each
    return languages


def _language(row: Mapping[str, str]) -> Language:
    scripts = _parts(row["scripts"])
    if not row["tag"] or not row["name"] or not scripts:
        raise ValueError("a language needs a tag, a name and at least one script")
    scripts = tuple(one for script in scripts for one in _SEVERAL.get(script, (script,)))
    wrong = [script for script in scripts if not _is_script(script)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is not a script of ISO 15924, such as Latn")
    if row["direction"] not in ("ltr", "rtl"):
        raise ValueError(f"the direction must be ltr or rtl, not {row['direction']!r}")
    return Language(
        tag=row["tag"],
        name=row["name"],
        native_name=row["native_name"],
        scripts=scripts,
        family=row["family"] or scripts[0],
        direction=row["direction"],
        speakers_millions=_millions(row["speakers_millions"] or "0"),
        detector=row["detector"],
        inseparable=_parts(row["inseparable"]),
        aliases=_parts(row["aliases"]),
    )


def _is_script(script: str) -> bool:
    """Say whether a code is a script of ISO 15924 that Unicode assigns to letters."""
    if script in _USUAL_SCRIPTS.split():
        return True
    if len(script) != 4 or not script.isascii() or not script.isalpha() or not script.istitle():
        return False
    import regex  # here, because it loads slowly and the shipped table does not need it

    try:
        regex.compile(rf"\p{{sc={script}}}")
    except regex.error:
        return False
    return script not in _WITHOUT_LETTERS


def _millions(cell: str) -> float:
    try:
        millions = float(cell)
    except ValueError:
        millions = -1.0
    if not 0 <= millions <= _MOST_SPEAKERS:
        raise ValueError(f"the speakers in millions must be a number such as 7.5, not {cell!r}")
    return millions


def _core(language: Language) -> set[str]:
    """Return the required words of a name: those before the brackets."""
    return set(_plain_name(language.name.partition("(")[0]).split())


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(";") if part.strip())


def _plain_name(name: str) -> str:
    """Return a name in the form for comparison: without case, punctuation and the order of its parts."""
    return " ".join(sorted("".join(letter if letter.isalnum() else " " for letter in name.casefold()).split()))
