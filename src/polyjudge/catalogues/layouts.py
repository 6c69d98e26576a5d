"""Where projects keep localisation files: the language in a path, and the file with the sources beside it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .language_names import language_tag, names_of

FORMATS = {
    ".po": "gettext",
    ".xml": "android",
    ".strings": "strings",
    ".stringsdict": "stringsdict",
    ".xcstrings": "xcstrings",
    ".arb": "arb",
    ".json": "json",
    ".properties": "properties",
    ".ftl": "fluent",
    ".xlf": "xliff",
    ".xliff": "xliff",
    ".ts": "qt",
    ".resx": "resx",
    ".yml": "rails",
    ".yaml": "rails",
}
_AMBIGUOUS = frozenset(("json", "rails"))
"""Formats whose file names other files have too."""
_FOLDERS = re.compile(
    r"_?(?:locales?|i18n|l10n|lang|langs|languages?|translations?|intl|messages?|strings|resources)", re.IGNORECASE
)
"""Names of folders with catalogues."""
_SIGN = re.compile(r"(?<=.)[._-]")
_SHOUTED = re.compile(r"[A-Z]{3}")
"""Codes of three letters are small in the names of files; `Linux-PAM` is no language."""
_MOST_FOLDERS = 4
_VALUES = re.compile(r"values-(?:mcc\d+-)?(?:mnc\d+-)?(b\+[A-Za-z0-9+]+|[a-z]{2,3}(?:-r[A-Z]{2})?)(?:-.*)?")
_NO_LANGUAGE = ("car",)
"""Qualifiers of Android that look like a language."""


class Spot(NamedTuple):
    """A place in a path that names a language."""

    before: str
    name: str
    after: str
    without: str = ""
    """The path that names no language; empty if there is none."""
    is_whole: bool = True
    """The name is all of a file's name, or of a folder's: little else is called so."""

    @property
    def place(self) -> int:
        """How many folders are above the name."""
        return len(Path(self.before).parts)

    def with_name(self, name: str) -> Path:
        """Return the path with another name, or with none."""
        return Path(f"{self.before}{name}{self.after}" if name else self.without)


def format_of(path: Path) -> str:
    """Return the format that a path suggests; empty if it is none of ours."""
    found = FORMATS.get(path.suffix.lower(), "")
    if found == "json" and path.name == "messages.json" and path.parent.parent.name == "_locales":
        return "webextension"
    return found


def spots(path: Path, found_format: str) -> Iterator[Spot]:
    """Yield the places in a path that may name its language, the likeliest first."""
    if found_format == "android":
        yield from _of_android(path)
    elif found_format in ("strings", "stringsdict") and path.parent.suffix == ".lproj":
        folder = path.parent
        if language_tag(folder.stem):
            base = str(folder.with_name("Base.lproj") / path.name)
            yield Spot(f"{folder.parent}/", folder.stem, f".lproj/{path.name}", base)
    else:
        # `de/LC_MESSAGES/Linux-PAM.po` is in German.
        readers = (_of_name, _of_folders) if path.parent.name != "LC_MESSAGES" else (_of_folders, _of_name)
        for read in readers:
            yield from read(path)


def source_paths(spot: Spot, source: str) -> Iterator[tuple[str, Path]]:
    """Yield where the file with the sources may be, and its name of the language, empty for a path without one."""
    first, *others = names_of(source)
    for name in dict.fromkeys((first, first.replace("-", "_"), "", *others)):
        path = spot.with_name(name)
        if path.name:
            yield name, path


def is_in_a_catalogue_folder(path: Path) -> bool:
    """Say whether one of the nearest folders has a name that those of catalogues have."""
    return any(_FOLDERS.fullmatch(name) for name in path.parts[-1 - _MOST_FOLDERS : -1])


def is_ambiguous(found_format: str) -> bool:
    """Say whether files of other kinds have such names too, so that the name alone makes no catalogue."""
    return found_format in _AMBIGUOUS


def is_unmistakable(path: Path, found_format: str) -> bool:
    """Say whether a path that names a language can be nothing but that of a translation."""
    return found_format in ("android", "arb") or path.parent.suffix == ".lproj"


def _of_android(path: Path) -> Iterator[Spot]:
    folder = path.parent
    match = _VALUES.fullmatch(folder.name)
    if match and match[1] not in _NO_LANGUAGE:
        values = str(folder.with_name("values"))
        yield Spot(f"{values}-", match[1], f"/{path.name}", f"{values}/{path.name}")


def _of_name(path: Path) -> Iterator[Spot]:
    stem, suffix, folder = path.stem, path.suffix, f"{path.parent}/"
    if language_tag(stem):
        yield Spot(folder, stem, suffix)
        return
    for sign in _SIGN.finditer(stem):
        name, before = stem[sign.end() :], stem[: sign.start()]
        if language_tag(name) and not _SHOUTED.match(name):
            yield Spot(f"{folder}{before}{sign[0]}", name, suffix, f"{folder}{before}{suffix}", is_whole=False)
            break
    name, sign, rest = stem.partition(".")
    if sign and language_tag(name):
        yield Spot(folder, name, f".{rest}{suffix}", is_whole=False)


def _of_folders(path: Path) -> Iterator[Spot]:
    folders = path.parts[:-1]
    for up in range(1, min(_MOST_FOLDERS, len(folders)) + 1):
        if language_tag(folders[-up]):
            before, after = Path(*folders[:-up]), Path(*path.parts[len(folders) - up + 1 :])
            yield Spot(f"{before}/", folders[-up], f"/{after}")
