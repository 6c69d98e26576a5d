"""Lines of a UTF-8 text with their places in bytes, so that reading can begin in the middle of a large file."""

from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from polyjudge.errors import DataError

_MARK_OF_UTF8 = b"\xef\xbb\xbf"
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 27
"""Bytes of a line. A file without line breaks, such as a sparse one of gigabytes, must not fill the memory."""


def lines_from(path: Path, offset: int = 0) -> Iterator[tuple[str, int]]:
    """Yield each line with its end as it stands there, and how many bytes of the file lie behind it."""
    with path.open("rb") as file:
        if offset:
            file.seek(offset)
        elif file.peek(len(_MARK_OF_UTF8)).startswith(_MARK_OF_UTF8):
            offset = len(file.read(len(_MARK_OF_UTF8)))
        for line in _lines(file):
            if line is None:
                raise DataError(f"has a line of more than {_LONGEST_LINE >> 20} MB; is it JSON Lines?", path=path)
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                place = offset + error.start
                raise DataError(f"is not UTF-8 text ({error.reason} at byte {place})", path=path) from None
            offset += len(line)
            yield text, offset


def _lines(file: BufferedReader) -> Iterator[bytes | None]:
    """Split at line feeds, carriage returns, or both together, as Python does with text; None for a line too long."""
    unfinished: list[bytes] = []
    size = 0
    while chunk := _whole_chunk(file):
        lines = chunk.splitlines(keepends=True)
        if unfinished:
            unfinished.append(lines[0])
            size += len(lines[0])
            if size > _LONGEST_LINE:
                yield None
            if not lines[0].endswith((b"\n", b"\r")):
                continue
            lines[0] = b"".join(unfinished)
            unfinished = []
        if not lines[-1].endswith((b"\n", b"\r")):
            unfinished.append(lines.pop())
            size = len(unfinished[0])
        yield from lines
    if unfinished:
        yield b"".join(unfinished)


def _whole_chunk(file: BufferedReader) -> bytes:
    """Return some bytes that do not end between a carriage return and its line feed."""
    chunk = file.read1(_CHUNK)
    while chunk.endswith(b"\r") and (more := file.read(1)):
        chunk += more
    return chunk
