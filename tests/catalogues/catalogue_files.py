"""Catalogues from contents that are given as texts."""

from polyjudge.catalogues.reading import read_catalogue
from polyjudge.records.messages import CatalogueFile


def read(format_name, content, source=None, *, language="de"):
    """Return the catalogue of a content, with another content as that of the sources."""
    path = f"target.{format_name}"
    file = CatalogueFile(path=path, format=format_name, language=language, source_language="en", source_path="")
    return read_catalogue(file, content=as_bytes(content), source_content=None if source is None else as_bytes(source))


def as_bytes(content):
    return content if isinstance(content, bytes) else content.encode()


def texts(catalogue):
    """Return key, plural, source, translation and line of each message."""
    return [(each.key, each.plural, each.source, each.translation, each.line) for each in catalogue.messages]
