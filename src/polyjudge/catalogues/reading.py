"""Read the messages of localisation files; `layouts` has their names and formats, `discovery` finds them."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from polyjudge.records.messages import Catalogue, CatalogueFile

from .android import read_android
from .apple import read_strings, read_stringsdict
from .branches import with_branches
from .content import read_content
from .discovery import find_catalogues
from .entries import Entry, Problems, Texts, paired, without_repeats
from .fluent import read_fluent
from .gettext import read_gettext
from .json_files import read_arb, read_json, read_webextension
from .nested_keys import with_numbered_forms
from .properties import read_properties
from .qt import read_qt
from .rails import read_rails
from .resx import read_resx
from .xcstrings import read_xcstrings
from .xliff import read_xliff

__all__ = ["find_catalogues", "read_catalogue"]

_WITH_SOURCES: dict[str, Callable[[CatalogueFile, bytes], Catalogue]] = {
    "gettext": read_gettext,
    "qt": read_qt,
    "xcstrings": read_xcstrings,
    "xliff": read_xliff,
}
"""Formats whose files have the sources beside the translations."""
_KEYED: dict[str, Callable[[bytes, str, Problems], Iterable[Entry]]] = {
    "android": read_android,
    "arb": read_arb,
    "fluent": read_fluent,
    "json": read_json,
    "properties": read_properties,
    "rails": read_rails,
    "resx": read_resx,
    "strings": read_strings,
    "stringsdict": read_stringsdict,
    "webextension": read_webextension,
}
"""Formats with a file for each language."""
_FILES_OF_SOURCES = 16
"""How many are kept, because the files of many languages are compared with each."""


def read_catalogue(
    file: CatalogueFile, *, content: bytes | None = None, source_content: bytes | None = None
) -> Catalogue:
    """Return the messages of a localisation file; the contents are given if they are not those on the disk.

    Raises `DataError`, with the line if one is at fault, for a file that cannot be read.
    """
    content = read_content(file.path) if content is None else content
    if file.format in _WITH_SOURCES:
        return with_branches(_WITH_SOURCES[file.format](file, content))
    sources = None
    if file.source_path or source_content is not None:
        source_content = read_content(file.source_path) if source_content is None else source_content
        sources = _sources(source_content, file.source_path, file.format)
    targets = _texts(content, file.path, file.format)
    if file.format == "json":
        targets = with_numbered_forms(targets, sources, file.language)
    return with_branches(paired(file, targets, sources))


@lru_cache(maxsize=_FILES_OF_SOURCES)
def _sources(content: bytes, path: str, name: str) -> Texts:
    return _texts(content, path, name)


def _texts(content: bytes, path: str, name: str) -> Texts:
    problems = Problems()
    entries = without_repeats(_KEYED[name](content, path, problems), problems)
    return Texts(entries, problems.all())
