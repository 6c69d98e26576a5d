"""Addresses in a message: the same as in its source, or those of the same pages in the language of the message."""

from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from polyjudge.catalogues.language_names import language_tag
from polyjudge.checks.preservation import addresses, lost_addresses
from polyjudge.records.findings import Finding

_HOST_LABELS = 3
"""A host with fewer has none before its domain."""


def address_findings(text: str, source: str) -> Iterator[Finding]:
    """Find addresses that are missing, changed or added."""
    if "://" not in text and "://" not in source and "@" not in source:
        return
    theirs = addresses(source)
    for own in dict.fromkeys(addresses(text)) if theirs else ():
        same = next((each for each in theirs if _is_same_page(own, each)), None) if own not in source else None
        text = text.replace(own, same) if same else text
    yield from lost_addresses(text, source)


def _is_same_page(own: str, theirs: str) -> bool:
    """Say whether two addresses differ only by a language: `https://de.example.org/a`, `https://example.org/de/a`."""
    ours, others = _split(own), _split(theirs)
    if ours is None or others is None or _domain(ours) != _domain(others):
        return False
    # Another language has its own pages and their own names, as in Wikipedia.
    has_own_site = _language_of(ours) != "" and _language_of(ours) != _language_of(others)
    return has_own_site or (_pages(ours) == _pages(others) and ours.query == others.query)


def _split(address: str) -> SplitResult | None:
    try:
        return urlsplit(address)
    except ValueError:
        return None


def _language_of(address: SplitResult) -> str:
    labels = address.netloc.split(".")
    return language_tag(labels[0]) if len(labels) >= _HOST_LABELS else ""


def _domain(address: SplitResult) -> str:
    host = address.netloc.casefold().removeprefix("www.")
    return host.partition(".")[2] if _language_of(address) else host


def _pages(address: SplitResult) -> list[str]:
    return [part for part in address.path.split("/") if part and not language_tag(part)]
