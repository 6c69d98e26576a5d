"""Replies already paid for."""

from .base import Cache
from .entries import Entry
from .judge_cache import JudgeCache
from .keeping import CacheStats, Imported, Verified, export_entries, import_entries, prune, statistics_of, verify
from .keys import hash_key, request_key

__all__ = [
    "Cache",
    "CacheStats",
    "Entry",
    "Imported",
    "JudgeCache",
    "Verified",
    "export_entries",
    "hash_key",
    "import_entries",
    "prune",
    "request_key",
    "statistics_of",
    "verify",
]
