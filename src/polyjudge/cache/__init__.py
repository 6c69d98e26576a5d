"""Replies already paid for."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .aside import homeward
    from .base import Cache
    from .entries import Entry
    from .findings import CacheStats, Imported, Verified
    from .judge_cache import JudgeCache
    from .keeping import export_entries, import_entries, prune, statistics_of, verify
    from .keys import hash_key, request_key
    from .opening import open_cache
    from .postgres_address import is_url, shown
    from .postgres_cache import PostgresCache
    from .postgres_problems import NoCacheYetError, OutOfReachError

__all__ = [
    "Cache",
    "CacheStats",
    "Entry",
    "Imported",
    "JudgeCache",
    "NoCacheYetError",
    "OutOfReachError",
    "PostgresCache",
    "Verified",
    "export_entries",
    "hash_key",
    "homeward",
    "import_entries",
    "is_url",
    "open_cache",
    "prune",
    "request_key",
    "shown",
    "statistics_of",
    "verify",
]

lazily(__name__)
