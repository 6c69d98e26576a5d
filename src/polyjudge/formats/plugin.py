"""Formats of plugins: files that rows are read from besides JSON Lines, CSV, TSV and Parquet."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast

from polyjudge.errors import DataError, PolyjudgeError
from polyjudge.files.json_lines import Mark
from polyjudge.plugins import PLUGINS, Plugin, described

Row = Mapping[str, Any]
MarkedRows = Iterator[tuple[int, Row | str, int]]
"""Line number, the row or what is wrong with it, and how many bytes of the file lie behind it."""
_HEAD = 4096


class Format(Protocol):
    """A kind of file that holds rows: items, results or scores, under the usual names of columns."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """How the names of such files end, such as `.ini`."""
        ...

    def recognises(self, path: Path, head: bytes) -> bool:
        """Say, by its first bytes, whether a file with one of the suffixes is of this kind."""
        ...

    def read(self, path: Path) -> Iterable[Row | str]:
        """Yield the rows of a file; in place of one that cannot be used, what is wrong with it."""
        ...


@dataclass(frozen=True, slots=True)
class PluginFormat:
    """A format that another package, or the caller, has added."""

    plugin: Plugin
    format: Format

    def rows(self, path: Path, start: Mark) -> MarkedRows:
        """Yield the rows behind a place; a place in such a file is a number of rows."""
        try:
            for number, row in islice(enumerate(self.format.read(path), start=1), start.line, None):
                yield number, _checked(row), 0
        except (PolyjudgeError, OSError):
            raise
        except Exception as error:
            raise DataError(f"cannot be read: {self.plugin} failed: {described(error)}", path=path) from error

    def recognises(self, path: Path) -> bool:
        """Say whether a file is of this kind; a plugin that fails at that is warned of."""
        try:
            if path.suffix.lower() not in self.format.suffixes:
                return False
            with path.open("rb") as file:
                return self.format.recognises(path, file.read(_HEAD))
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - code that is not ours may raise anything
            PLUGINS.warn(self.plugin, f"is not used: {described(error)}")
            return False


def format_of(path: Path, built_in: Collection[str]) -> PluginFormat | None:
    """Return the plugin's format of a file; suffixes that are built in are not for plugins."""
    if path.suffix.lower() in built_in or not path.is_file():
        return None
    return next((each for each in _formats() if each.recognises(path)), None)


def plugin_suffixes(built_in: Collection[str]) -> list[str]:
    """Return how the names of files end that plugins read."""
    found = {suffix for each in _formats() for suffix in each.format.suffixes}
    return sorted(found.difference(built_in))


def _formats() -> Iterator[PluginFormat]:
    for plugin, target in PLUGINS.each("formats"):
        try:
            format = target() if isinstance(target, type) else target
        except Exception as error:  # noqa: BLE001 - code that is not ours may raise anything
            PLUGINS.warn(plugin, f"is not used: {described(error)}")
            continue
        yield PluginFormat(plugin, cast(Format, format))


def _checked(row: object) -> Row | str:
    if isinstance(row, str | Mapping):
        return cast(Row | str, row)
    raise TypeError(f"{row!r} is neither a row nor a text that says what is wrong with one")
