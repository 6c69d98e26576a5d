"""Find the localisation files of a project: what they translate, into which language, and where their sources are."""

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.records.messages import CatalogueFile, FoundCatalogues

from .content import read_content
from .language_names import is_same_language, language_tag
from .layouts import Spot, format_of, is_ambiguous, is_in_a_catalogue_folder, is_unmistakable, source_paths, spots
from .xcstrings import xcstrings_languages

_NOT_ENTERED = frozenset({"node_modules", "bower_components", "Pods", "Carthage", "site-packages", "venv"}) | frozenset(
    {"build", "dist", "target", "out", "obj", "DerivedData", "__pycache__"}
)
"""Folders that hold what others wrote, or what a build made."""
_START_BYTES = 65_536
NO_LANGUAGE = "und"
"""The tag of BCP 47 for a language that is not known."""
_LANGUAGES_IN = {
    "gettext": (re.compile(r'"(?:X-)?Language:\s*([\w@.-]+)'), re.compile(r'"X-Source-Language:\s*([\w@.-]+)')),
    "xliff": (
        re.compile(r"<(?:\w+:)?(?:file|xliff)\b[^>]*?\s(?:target-language|trgLang)\s*=\s*[\"']([^\"']*)"),
        re.compile(r"<(?:\w+:)?(?:file|xliff)\b[^>]*?\s(?:source-language|srcLang)\s*=\s*[\"']([^\"']*)"),
    ),
    "qt": (
        re.compile(r"<TS\b[^>]*?\slanguage\s*=\s*[\"']([^\"']*)"),
        re.compile(r"<TS\b[^>]*?\ssourcelanguage\s*=\s*[\"']([^\"']*)"),
    ),
}
"""How files that have the sources beside the translations name the languages of the two."""
_QT = re.compile(r"<(?:!DOCTYPE\s+)?TS\b")
_ROOT_KEY = re.compile(r"""^["']?([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)["']?[ \t]*:[ \t]*(?:#.*)?$""", re.MULTILINE)


def find_catalogues(paths: Sequence[Path], *, source: str = "") -> FoundCatalogues:
    """Return the files with translations among files and in folders; `source` is the language of their sources.

    Without it, sources are taken to be English. Hidden folders, results of builds and links are not followed.
    """
    finder = _Finder(language_tag(source) or source or "en")
    for path in paths:
        outer = _outer_folders(path)
        if path.is_dir():
            for file in _files_in(path, finder.skipped):
                finder.add_found(file, outer)
        elif path.is_file():
            finder.add(path, outer, is_named=True)
        else:
            raise DataError("no such file or folder", path=path)
    files = sorted(finder.files.values(), key=lambda file: (file.path, file.language))
    return FoundCatalogues(files=files, skipped=[*finder.skipped, *finder.unused_varieties()])


def _outer_folders(path: Path) -> int:
    """Return how many folders above a path say nothing of its language: `/home/it/` is the home of a person."""
    if not path.is_absolute() and ".." not in path.parts:
        return len(Path.cwd().parts)
    return len(_absolute(path).parts) - 1 if path.is_dir() else 0


def _files_in(folder: Path, skipped: list[str]) -> Iterator[Path]:
    """Yield the files below a folder by name, without those that links lead to."""

    def note(error: OSError) -> None:
        skipped.append(f"{error.filename}: cannot be read: {error.strerror}")

    for place, folders, files in os.walk(folder, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_ENTERED)
        for name in sorted(files):
            path = Path(place, name)
            if not name.startswith(".") and format_of(path) and path.is_file() and not path.is_symlink():
                yield path


class _Finder:
    def __init__(self, source: str) -> None:
        self._source = source
        self.files: dict[tuple[str, str], CatalogueFile] = {}
        """The files by real path and language."""
        self.skipped: list[str] = []
        self._varieties: dict[str, str] = {}
        """The files in another variety of the language of the sources, by real path, with what is said of them."""

    def unused_varieties(self) -> Iterator[str]:
        """Yield what is said of files in a variety of the language of the sources that are not the sources of any."""
        used = {os.path.realpath(file.source_path) for file in self.files.values() if file.source_path}
        yield from (said for path, said in self._varieties.items() if path not in used)

    def add_found(self, path: Path, outer: int) -> None:
        """Add a file of a folder if it has translations; one that cannot be read has them in no known language."""
        try:
            self.add(path, outer, is_named=False)
        except DataError:
            self._take(path, format_of(path), NO_LANGUAGE, self._source, is_named=False)

    def add(self, path: Path, outer: int, *, is_named: bool) -> None:
        """Add a file if it has translations; a file that the user named is noted if it has none.

        The first `outer` folders of its absolute path name a language only if the sources are beside it.
        """
        found = format_of(path)
        if not found:
            self.skipped.append(f"{path}: its name is of no known localisation format")
        elif found == "xcstrings":
            source, languages = xcstrings_languages(read_content(path), str(path))
            for language in languages:
                self._take(path, found, language, source, is_named=is_named)
        elif found in _LANGUAGES_IN:
            self._add_with_sources(path, found, outer, is_named=is_named)
        else:
            self._add_keyed(path, found, outer, is_named=is_named)

    def _add_with_sources(self, path: Path, found: str, outer: int, *, is_named: bool) -> None:
        """Add a file that has the sources beside the translations."""
        start = _start_of(path)
        if found == "qt" and not _QT.search(start):
            if is_named:
                self.skipped.append(f"{path}: is no file of Qt translations")
            return
        target, source = _LANGUAGES_IN[found]
        source_language = _first_tag(source, start) or self._source
        language = _first_tag(target, start)
        whole = _absolute(path)
        is_compiled = whole.parent.name == "LC_MESSAGES"
        in_path = next((spot for spot in spots(whole, found) if is_compiled or spot.place >= outer), None)
        if in_path and (not language or (found == "gettext" and _is_sure(path, in_path))):
            language = language_tag(in_path.name)
        if not language:
            self.skipped.append(f"{path}: neither its name nor its content says its language")
        else:
            self._take(path, found, language, source_language, is_named=is_named)

    def _add_keyed(self, path: Path, found: str, outer: int, *, is_named: bool) -> None:
        """Add a file of keys and texts, whose sources are in another file."""
        whole = _absolute(path)
        given = list(spots(whole, found))
        language = ""
        if found == "rails":
            language = _root_language(path)
            given = [spot for spot in given if language_tag(spot.name) == language]
        inner = [spot for spot in given if spot.place >= outer]
        if found != "rails" and inner:
            language = language_tag(inner[0].name)
        is_in_folder = is_in_a_catalogue_folder(whole)
        is_likely = is_named or not is_ambiguous(found) or is_in_folder
        for spot in given:
            for name, twin in source_paths(spot, self._source):
                if (name or is_likely) and twin.is_file() and self._is_beside(twin, whole):
                    self._take(
                        path, found, language_tag(spot.name), self._source, _shown(twin, path), is_named=is_named
                    )
                    return
        is_alone = found == "rails" or (inner[:1] and inner[0].is_whole)
        if language and (is_named or is_unmistakable(whole, found) or (is_in_folder and is_alone)):
            self._take(path, found, language, self._source, is_named=is_named)
        elif is_named:
            self.skipped.append(f"{path}: its path names no language, as files with translations do")

    def _is_beside(self, twin: Path, path: Path) -> bool:
        """Say whether no link leads from the sources to a file elsewhere, which a review must not show."""
        common = Path(os.path.commonpath([twin, path]))
        is_beside = twin.resolve().is_relative_to(common.resolve())
        if not is_beside:
            self.skipped.append(f"{_shown(twin, path)}: is a link to a file elsewhere, so its texts are not used")
        return is_beside

    def _take(
        self, path: Path, found: str, language: str, source: str, source_path: str = "", *, is_named: bool
    ) -> None:
        """Add a file, unless it is in the language of the sources."""
        if not is_same_language(language, source):
            file = CatalogueFile(
                path=str(path), format=found, language=language, source_language=source, source_path=source_path
            )
            self.files.setdefault((str(path.resolve()), language), file)
        elif language != source:
            said = f"{path}: {language} is the language of the sources, in another variety"
            self._varieties[os.path.realpath(path)] = said
        elif is_named:
            self.skipped.append(f"{path}: is in {source}, the language of the sources")


def _start_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            start = file.read(_START_BYTES)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    is_utf_16 = start.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE))
    return start.decode("utf-16" if is_utf_16 else "utf-8", "replace")


def _first_tag(pattern: re.Pattern[str], start: str) -> str:
    return next(filter(None, (language_tag(match[1]) for match in pattern.finditer(start))), "")


def _is_sure(path: Path, spot: Spot) -> bool:
    """Say whether the path of a PO file names its language for sure, so that an old header does not count."""
    return path.stem == spot.name or path.parent.name in ("LC_MESSAGES", spot.name)


def _root_language(path: Path) -> str:
    """Return the language that is the first key of a YAML file; empty if that is another key."""
    start = _start_of(path)
    first = next(
        (line for line in start.split("\n") if line[:1].strip() and not line.startswith(("#", "---", "%", "<<<<<<<"))),
        "",
    )
    match = _ROOT_KEY.match(first.removeprefix("\ufeff").rstrip())
    return language_tag(match[1]) if match else ""


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - without following links


def _shown(twin: Path, path: Path) -> str:
    """Return an absolute path as the user wrote that of the file beside it."""
    return str(twin) if path.is_absolute() else os.path.relpath(twin)
