"""Statistics, pruning, export, import and verification of any cache."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from polyjudge.errors import CacheError

from . import postgres_maintenance, sqlite_maintenance
from .address import is_url, shown
from .protocol import CacheStats, Imported, Verified


def statistics_of(place: Path | str) -> CacheStats:
    """Count what a cache holds, by kind, provider and model."""
    return (
        postgres_maintenance.statistics_of(str(place))
        if is_url(place)
        else sqlite_maintenance.statistics_of(Path(place))
    )


def prune(place: Path | str, *, before: str = "", provider: str = "", model: str = "", dry_run: bool = False) -> int:
    """Drop entries made before a moment and of a provider or model, as far as given; return how many."""
    if not (before or provider or model):
        raise CacheError("nothing to go by: say how old, which provider or which model", path=shown(place))
    if is_url(place):
        return postgres_maintenance.prune(str(place), before=before, provider=provider, model=model, dry_run=dry_run)
    return sqlite_maintenance.prune(Path(place), before=before, provider=provider, model=model, dry_run=dry_run)


def export_entries(place: Path | str, problems: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield every sound entry as a JSON object, oldest first; `problems` is told of the others."""
    told = [] if problems is None else problems
    if is_url(place):
        return postgres_maintenance.export_entries(str(place), told)
    return sqlite_maintenance.export_entries(Path(place), told)


def import_entries(place: Path | str, source: Path) -> Imported:
    """Take in what `export` wrote, or what can still be read of a cache file; entries already here stay as they are."""
    if is_url(place):
        return postgres_maintenance.import_entries(str(place), source)
    return sqlite_maintenance.import_entries(Path(place), source)


def verify(place: Path | str) -> Verified:
    """Check every entry's checksum and content, and the structure of a file."""
    return postgres_maintenance.verify(str(place)) if is_url(place) else sqlite_maintenance.verify(Path(place))
