"""Select the rows of files by the values of their columns."""

from collections.abc import Mapping
from pathlib import Path

from polyjudge.errors import ConfigError, suggestion
from polyjudge.languages.table import LanguageMatcher
from polyjudge.text.display import harmless, one_line

from .columns import MISSING, Row, cell

_MOST_VALUES = 20
_LONGEST = 400


class RowFilter:
    """Selects rows by the values of their columns, and says what they are if none is selected."""

    def __init__(self, filters: Mapping[str, frozenset[str]]) -> None:
        self._filters, self._matcher = filters, LanguageMatcher()
        self._values: dict[str, set[str]] = {name: set() for name in filters}
        self._has_any = not filters

    def selects(self, row: Row) -> bool:
        """Return whether a row has one of the wanted values in each column."""
        if not self._filters:
            return True
        found = {name: _as_text(cell(row, name)) for name in self._filters}
        for name, value in found.items():
            if value and len(self._values[name]) < _MOST_VALUES:
                self._values[name].add(value)
        selected = self._matcher.selects(self._filters, found.__getitem__)
        self._has_any |= selected
        return selected

    def check(self, path: Path) -> None:
        """Raise ConfigError if no row was selected."""
        if self._has_any:
            return
        wanted, known = next(((each, known) for each, known in self._values.items() if not known), ("", set[str]()))
        if wanted:
            raise ConfigError(harmless(f"{path}: no row has the column {wanted!r}"), option="filter")
        given = " and ".join(f"{name}={','.join(sorted(values))}" for name, values in self._filters.items())
        name, known = next(iter(self._values.items()))
        close = suggestion(next(iter(self._filters[name])), known)
        shown = one_line(f"no row has {given}.{close} Values of {name}: {', '.join(sorted(known))}", _LONGEST)
        raise ConfigError(harmless(f"{path}: {shown}"), option="filter")


def _as_text(value: object) -> str:
    """Return a value as it is written in a filter: true and false as in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is MISSING or value is None else str(value)
