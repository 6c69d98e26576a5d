"""Decode the bytes of a localisation file, or say why they are not text."""

import codecs
import re
from pathlib import Path

from polyjudge.errors import DataError, EncodingError
from polyjudge.files.opening import known_encoding

_LARGEST_BYTES = 100_000_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, the longer ones first."""
_NOT_OF_FILES = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf-7", "mbcs", "oem", "undefined")
"""Encodings that Python has and no localisation file; some need quadratic time."""
_CONFLICT = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
_LONE = re.compile("[\ud800-\udfff]")


def read_content(path: str | Path) -> bytes:
    """Return the bytes of a file; one that is too large is an error."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None
    return content


def text_of(content: bytes, path: str, *, declared: str = "", otherwise: str = "utf-8") -> str:
    """Return the text with line feeds as its only line breaks.

    A byte order mark decides on the encoding, then what the file declares, then null bytes of UTF-16. `otherwise` is
    used where the content is not valid UTF-8.
    """
    if len(content) > _LARGEST_BYTES:
        raise DataError(f"larger than {_LARGEST_BYTES // 1000000} MB", path=path)
    mark, encoding = next(((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", ""))
    encoding = encoding or _declared(declared, path) or _utf_16(content) or "utf-8"
    text = _decoded(content[len(mark) :], encoding, otherwise, path)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise DataError(
            "contains a null character, so it is not a text file", path=path, line=line_at(text, text.index("\0"))
        )
    if ("<<<<<<<" in text or ">>>>>>>" in text) and (conflict := _CONFLICT.search(text)):
        raise DataError("merge conflict; resolve it first", path=path, line=line_at(text, conflict.start()))
    return text


def line_at(text: str, place: int) -> int:
    """Return the line of a place in a text, from 1."""
    return text.count("\n", 0, place) + 1


def well_formed(text: str) -> str:
    """Return a text in which halves of surrogate pairs are joined, or replaced where the other half is missing."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _LONE.search(text) else text


def character(code: str, base: int) -> str:
    """Return the character of a code, which XML cannot contain itself; a replacement if it is none."""
    try:
        return chr(int(code, base) or 0xFFFD)
    except (ValueError, OverflowError):
        return "\ufffd"


def _declared(name: str, path: str) -> str:
    if not name:
        return ""
    found = known_encoding(name)
    if not found or found in _NOT_OF_FILES:
        raise EncodingError(f"unknown encoding {name!r} in the file's declaration", path=path)
    # Text without a mark whose declaration can be read is not UTF-16; it was converted without changing it.
    return "" if found.startswith(("utf-16", "utf-32")) else found


def _utf_16(content: bytes) -> str:
    if content[:1] == b"\0" and content[1:2] not in (b"", b"\0"):
        return "utf-16-be"
    return "utf-16-le" if content[1:2] == b"\0" and content[:1] not in (b"", b"\0") else ""


def _decoded(content: bytes, encoding: str, otherwise: str, path: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" != otherwise:
            return content.decode(otherwise)
        line = content.count(b"\n", 0, error.start) + 1
        reason = f"not {encoding.upper()} text ({error.reason} at byte {error.start})"
        raise EncodingError(reason, path=path, line=line) from None
    except UnicodeError as error:  # some encodings have no positions
        raise EncodingError(f"not {encoding.upper()} text ({error})", path=path) from None
