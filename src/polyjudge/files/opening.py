"""Open a file that may be compressed or in another encoding as a stream of UTF-8 bytes."""

import codecs
import gzip
import io
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError, EncodingError
from polyjudge.extras import require

_MARKS = (
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks, the longer ones first, with the encoding to decode; UTF-8 is not decoded here."""
_CHUNK = 1 << 16
_ZSTD_CHUNK = 1 << 11
"""Compressed bytes, of which each four may become 128 KiB."""
_UTF8 = ("utf-8", "utf-8-sig")
COMPRESSED = (".gz", ".zst")


def inner_suffix(path: Path) -> str:
    """Return the suffix of the format in lower case, without that of a compression: `.csv` of `a.csv.gz`."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


def known_encoding(name: str) -> str:
    """Return the usual name of a text encoding, or an empty text if there is none of that name."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)
    except LookupError:
        return ""
    return found


@contextmanager
def open_bytes(path: Path, encoding: str = "", *, offset: int = 0) -> Generator[io.BufferedReader]:
    """Open a file at an offset in its decompressed UTF-8 text; the byte order mark of UTF-8 is included.

    Without an encoding, a byte order mark decides, else the text is UTF-8.
    """
    try:
        with _decompressed(path) as plain:
            start = plain.peek(4)[:4]
            marked = next((name for mark, name in _MARKS if start.startswith(mark)), "")
            name = marked or ("" if known_encoding(encoding) in ("", *_UTF8) else encoding)
            recoded = io.BufferedReader(cast(io.RawIOBase, _Recoded(plain, name, path)), _CHUNK) if name else plain
            stream = cast(io.BufferedReader, recoded)
            if offset and not name and path.suffix.lower() != ".zst":
                plain.seek(offset)
            else:
                _skip(stream, offset)
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"cannot be decompressed ({error}); the file may be damaged, or not compressed", path=path
        ) from None


@contextmanager
def _decompressed(path: Path) -> Generator[io.BufferedReader]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        with gzip.open(path, "rb") as file:
            yield cast(io.BufferedReader, file)
    elif suffix == ".zst":
        zstandard: Any = require("zstandard", feature="reading .zst files", extra="zstd")
        try:
            with path.open("rb") as file:
                yield io.BufferedReader(_Frames(file, zstandard.ZstdDecompressor), _CHUNK)
        except zstandard.ZstdError as error:
            raise DataError(
                f"cannot be decompressed ({error}); the file may be damaged, or not compressed", path=path
            ) from None
    else:
        with path.open("rb") as file:
            yield file


def _skip(stream: io.BufferedReader, count: int) -> None:
    while count and (read := stream.read(min(count, _CHUNK))):
        count -= len(read)


class _Frames(io.RawIOBase):
    """The content of a zstd file of any number of frames; its own reader takes the first part of a cut file for all."""

    def __init__(self, file: io.BufferedReader, decompressor: Any) -> None:
        self._file, self._decompressor = file, decompressor
        self._frame: Any = None
        self._rest, self._ready = b"", b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer with the next bytes."""
        while not self._ready:
            chunk = self._rest or self._file.read(_ZSTD_CHUNK)
            if not chunk:
                if self._frame is not None:
                    raise EOFError("the file ends inside a frame")
                break
            self._frame = self._frame or self._decompressor().decompressobj()
            self._ready, self._rest = self._frame.decompress(chunk), b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count


class _Recoded(io.RawIOBase):
    """A stream of another encoding as UTF-8."""

    def __init__(self, stream: io.BufferedReader, encoding: str, path: Path) -> None:
        self._stream, self._encoding, self._path = stream, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._read = b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer with the next bytes."""
        while not self._ready:
            chunk = self._stream.read1(_CHUNK)
            try:
                text = self._decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                place = self._read + error.start
                message = f"not {self._encoding.upper()} text ({error.reason} at byte {place})"
                raise EncodingError(message, path=self._path) from None
            self._read += len(chunk)
            self._ready = text.encode(errors="surrogatepass")
            if not chunk:
                break
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count
