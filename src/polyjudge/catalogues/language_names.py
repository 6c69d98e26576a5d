"""The languages that names of files and folders stand for: `pt_BR`, `values-b+sr+Latn`, `sr@latin`, `zh-Hant-TW`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from polyjudge.languages.table import language_table

_TAG = re.compile(
    r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]r?([A-Za-z]{2}|\d{3}))?(?:[-_]([A-Za-z0-9]{5,8}))?"
    r"(?:\.[A-Za-z0-9-]{3,15})?(?:@([A-Za-z]{2,12}))?"
)
_MODIFIERS = {"latin": "Latn", "cyrillic": "Cyrl", "arabic": "Arab", "devanagari": "Deva", "hebrew": "Hebr"}
_ENGLISH_REGIONS = ("US", "GB", "EN")
"""Those that files of sources name; `en_EN` is no region, but some projects write it."""
_WORDS = frozenset(("arm", "mac", "may", "per"))
"""Old codes of languages that are words in names of files: `accelerators_mac.properties`."""


@lru_cache(maxsize=4000)
def language_tag(name: str) -> str:
    """Return the tag of a language as the table of languages has it, else as BCP 47 writes it; empty if it is none."""
    if name.lower() in _WORDS:
        return ""
    match = _TAG.fullmatch(name.strip().removeprefix("b+").replace("+", "-"))
    if match is None:
        return ""
    language, script, region, variant, modifier = match.groups()
    language = language.lower()
    table = language_table()
    if language not in _codes() and not table.has(language):
        return ""
    script = script or _MODIFIERS.get((modifier or "").lower(), "")
    variant = variant or ("" if script else modifier)
    parts = (language, (script or "").title(), (region or "").upper(), (variant or "").lower())
    tag = "-".join(filter(None, parts))
    found = table.find(tag)
    if found is None:
        return tag
    if table.has(tag):
        return found.tag
    # The table may have the language without its region, or by another code, such as `he` for `iw`.
    own = table.find(language)
    return "-".join(filter(None, (own.tag if own and "-" not in own.tag else language, *parts[1:])))


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    """Return the codes of ISO 639-1, old ones too, and those of ISO 639-3 that catalogues have."""
    return frozenset(files("polyjudge.catalogues").joinpath("language_codes.txt").read_text(encoding="utf-8").split())


def is_same_language(tag: str, other: str) -> bool:
    """Say whether two tags are of the same language in the table: `en-GB` and `en`, but not `pt-BR` and `pt`."""
    if tag == other:
        return True
    table = language_table()
    first, second = table.find(tag), table.find(other)
    return first is not None and second is not None and first.tag == second.tag


def names_of(tag: str) -> Iterator[str]:
    """Yield how files name a language, the plain names first."""
    found = language_table().find(tag)
    language = tag.partition("-")[0]
    regions = _ENGLISH_REGIONS if language == "en" else (language.upper(),)
    tags = [tag, *(found.aliases if found else ()), *(f"{language}-{region}" for region in regions)]
    for each in dict.fromkeys(tags):
        if "-" in each:
            yield from dict.fromkeys((each, each.replace("-", "_"), each.lower(), each.lower().replace("-", "_")))
        else:
            yield each
