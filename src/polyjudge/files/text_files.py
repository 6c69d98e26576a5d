"""Read text and TOML files, with DataError for everything that is wrong with them."""

import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from polyjudge.errors import DataError

_LARGEST_BYTES = 256 * 1024
_DEEPEST = 32
# The time to parse a dotted key grows with the square of its parts, so long keys are rejected before parsing. Text in a
# string has no equals sign or bracket after its words, and never that many words with only dots between them.
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED = rf"(?:{_PART}[ \t]*+\.[ \t]*+)"
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_.-])(?:{_DOTTED}{{512}}|{_DOTTED}{{{_DEEPEST},}}+{_PART}[ \t]*+[=\]])")

_HEADER = re.compile(r"[ \t]*\[\[?([^\[\]]+)\]")
_KEY = re.compile(r"""[ \t]*["']?([A-Za-z0-9_-]+)["']?[ \t]*=""")
_BARE_WORD = re.compile(r"[ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*([A-Za-z][A-Za-z0-9_./-]{0,39})[ \t]*(?:#.*)?\r?$")


def read_text(source: Path | Traversable, *, path: Path | None = None) -> str:
    """Return the text of a UTF-8 file; `path` is its name in messages, if it differs."""
    shown = path or Path(str(source))
    try:
        return source.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text ({error.reason} at byte {error.start})", path=shown) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=shown) from None


def read_toml(source: Path | Traversable, *, path: Path | None = None, largest: int = _LARGEST_BYTES) -> dict[str, Any]:
    """Return the content of a TOML file, which may be untrusted; `path` is its name in messages, if it differs."""
    shown = path or Path(str(source))
    try:
        is_too_large = isinstance(source, Path) and source.stat().st_size > largest
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=shown) from None
    if is_too_large:
        raise DataError(f"larger than {largest // 1024} KiB, too large for a TOML file", path=shown)
    return _parsed(read_text(source, path=shown), shown)


def parse_toml(content: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a TOML file that was read before; `path` is its name in messages."""
    if len(content) > _LARGEST_BYTES:
        raise DataError(f"larger than {_LARGEST_BYTES // 1024} KiB, too large for a TOML file", path=path)
    try:
        return _parsed(content.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None


def _parsed(text: str, shown: Path) -> dict[str, Any]:
    if match := _DEEP_KEY.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise DataError(f"a key has more than {_DEEPEST} parts", path=shown, line=line)
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise DataError("nested too deeply", path=shown) from None
    except tomllib.TOMLDecodeError as error:
        reason, line = _without_position(str(error))
        hint = _missing_quotes(text.split("\n")[line - 1]) if line else ""
        raise DataError(hint or f"not TOML: {reason}", path=shown, line=line) from None
    except ValueError as error:  # a number with thousands of digits
        raise DataError(f"not TOML: {error}", path=shown) from None


def line_of(text: str, table: str, key: str = "") -> int:
    """Return the line of a table's header in a TOML file, or of a key in it, or 0; the top level is the table ""."""
    here = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            here = header[1].replace(" ", "")
        found = header if not key else _KEY.match(line)
        if found and here == table and (not key or found[1] == key):
            return number
    return 0


def _without_position(message: str) -> tuple[str, int]:
    """Return a parser's message without the position at its end, and the line, which Python 3.11 has nowhere else."""
    found = re.search(r" \(at line (\d+), column \d+\)$", message)
    return (message[: found.start()], int(found[1])) if found else (message, 0)


def _missing_quotes(line: str) -> str:
    """Return what is wrong with `key = word`; empty for other lines, whose values may be secret."""
    found = _BARE_WORD.match(line)
    return f'invalid value; text needs quotes: {found[1]} = "{found[2]}"' if found else ""
