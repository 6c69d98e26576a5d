"""What the checks of messages know of languages, by the first part of their tags."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from msgspec import Struct, convert

from polyjudge.files.text_files import read_toml
from polyjudge.records.findings import Severity


class MarkFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """Marks that languages write otherwise than English, beside letters of a script."""

    languages: frozenset[str]
    script: str
    instead: Mapping[str, str]
    severity: Severity


class QuoteFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """The quotation marks of languages."""

    languages: frozenset[str]
    marks: str


class LanguageFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `language_facts.toml`, which says what each of them is."""

    repeat_words: frozenset[str]
    join_words: frozenset[str]
    without_spaces: frozenset[str]
    without_stops: frozenset[str]
    one_plural_form: frozenset[str]
    side_by_side: Mapping[str, frozenset[str]]
    marks: tuple[MarkFacts, ...]
    quotes: tuple[QuoteFacts, ...]


@lru_cache(maxsize=1)
def language_facts() -> LanguageFacts:
    """Return the facts."""
    return convert(read_toml(files("polyjudge.review") / "language_facts.toml"), LanguageFacts)


def base_of(tag: str) -> str:
    """Return the first part of a tag: `zh` of `zh-Hant`."""
    return tag.replace("_", "-").partition("-")[0].casefold()
