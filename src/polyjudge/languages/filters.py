"""Select rows by the values of their columns; a language may be written as a tag or as a name, in rows and filters."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from polyjudge.records.translation import Language

from .table import LanguageTable, language_table

LANGUAGE = "language"


class LanguageMatcher:
    """Compares values with filters; looks up each way of writing a language once."""

    def __init__(self, table: LanguageTable | None = None) -> None:
        self._given = table
        self._found: dict[str, Language | None] = {}

    @cached_property
    def table(self) -> LanguageTable:
        """The given table, else the one of the working folder, which is read when it is first needed."""
        return self._given or language_table()

    def selects(self, filters: Mapping[str, frozenset[str]], value_of: Callable[[str], str]) -> bool:
        """Say whether a row has one of the allowed values in the column of each filter."""
        for column, allowed in filters.items():
            value = value_of(column)
            if value not in allowed and not (column == LANGUAGE and self.is_among(value, allowed)):
                return False
        return True

    def is_among(self, language: str, wanted: Iterable[str]) -> bool:
        """Say whether a language is one of those wanted, whether they are written as tags or as names."""
        if language in wanted:
            return True
        found = self._find(language)
        return found is not None and any(self._find(each) == found for each in wanted)

    def suggestions(self, wanted: Iterable[str]) -> str:
        """Return a sentence for each wanted language that is unknown, with the one that was probably meant."""
        return "".join(map(self.table.suggestion, sorted(wanted)))

    def _find(self, language: str) -> Language | None:
        if language not in self._found:
            self._found[language] = self.table.find(language)
        return self._found[language]
