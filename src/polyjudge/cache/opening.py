"""Open a cache by its name: a file of this machine, or the URL of one that many machines share."""

import re
from pathlib import Path

from polyjudge.errors import CacheError

from .base import Cache
from .judge_cache import JudgeCache
from .postgres_address import is_url

_OTHER_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def open_cache(place: Path | str, *, read_only: bool = False) -> Cache:
    """Open the cache at a path or a URL; `read_only` is for replaying."""
    if isinstance(place, str) and is_url(place):
        from .postgres_cache import PostgresCache  # here, because most runs need none of it

        return PostgresCache(place, read_only=read_only)
    if isinstance(place, str) and (other := _OTHER_URL.match(place)):
        raise CacheError(f"a cache is a file or postgresql://…, not {other[1]}://…")
    return JudgeCache(place, read_only=read_only)
