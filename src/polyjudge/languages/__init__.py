"""The table of languages, and who is meant by a tag or a name."""

from .table import LanguageTable, language_table

__all__ = ["LanguageTable", "language_table"]
