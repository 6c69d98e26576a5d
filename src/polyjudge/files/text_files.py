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


def read_text(source: Path | Traversable, *, path: Path | None = None) -> str:
    """Return the text of a UTF-8 file; `path` is its name in messages, if it differs."""
    shown = path or Path(str(source))
    try:
        return source.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=shown) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=shown) from None


def read_toml(source: Path | Traversable, *, path: Path | None = None) -> dict[str, Any]:
    """Return the content of a TOML file, which may be untrusted; `path` is its name in messages, if it differs."""
    shown = path or Path(str(source))
    try:
        is_too_large = isinstance(source, Path) and source.stat().st_size > _LARGEST_BYTES
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=shown) from None
    if is_too_large:
        raise DataError(f"is larger than {_LARGEST_BYTES // 1024} KiB, too large for a TOML file", path=shown)
    return _parsed(read_text(source, path=shown), shown)


def parse_toml(content: bytes, path: Path) -> dict[str, Any]:
    """Return the content of a TOML file that was read before; `path` is its name in messages."""
    if len(content) > _LARGEST_BYTES:
        raise DataError(f"is larger than {_LARGEST_BYTES // 1024} KiB, too large for a TOML file", path=path)
    try:
        return _parsed(content.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None


def _parsed(text: str, shown: Path) -> dict[str, Any]:
    if match := _DEEP_KEY.search(text):
        line = text.count("\n", 0, match.start()) + 1
        raise DataError(f"a key has more than {_DEEPEST} parts", path=shown, line=line)
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError:
        raise DataError("is nested too deeply", path=shown) from None
    except ValueError as error:  # TOMLDecodeError, and numbers with thousands of digits
        raise DataError(f"is not TOML: {error}", path=shown) from None
