"""Read the messages of localisation files; `find_catalogues` finds the files."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from polyjudge.records.messages import Catalogue, CatalogueFile

from .android import read_android
from .content import read_content
from .entries import Entry, Problems, Texts, paired, without_repeats
from .finding import find_catalogues
from .gettext import read_gettext
from .json_files import read_arb, read_json, read_webextension
from .nested_keys import with_numbered_forms

__all__ = ["find_catalogues", "read_catalogue"]

_WITH_SOURCES: dict[str, Callable[[CatalogueFile, bytes], Catalogue]] = {
    "gettext": read_gettext,
}
"""Formats whose files have the sources beside the translations."""
_KEYED: dict[str, Callable[[bytes, str, Problems], Iterable[Entry]]] = {
    "android": read_android,
    "arb": read_arb,
    "json": read_json,
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
        return _WITH_SOURCES[file.format](file, content)
    sources = None
    if file.source_path or source_content is not None:
        source_content = read_content(file.source_path) if source_content is None else source_content
        sources = _sources(source_content, file.source_path, file.format)
    targets = _texts(content, file.path, file.format)
    if file.format == "json":
        targets = with_numbered_forms(targets, sources, file.language)
    return paired(file, targets, sources)


@lru_cache(maxsize=_FILES_OF_SOURCES)
def _sources(content: bytes, path: str, name: str) -> Texts:
    return _texts(content, path, name)


def _texts(content: bytes, path: str, name: str) -> Texts:
    problems = Problems()
    entries = without_repeats(_KEYED[name](content, path, problems), problems)
    return Texts(entries, problems.all())
