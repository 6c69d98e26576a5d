"""Open a cache by its path or its PostgreSQL URL."""

import re
from pathlib import Path

from polyjudge.errors import CacheError

from .address import is_url
from .protocol import Cache
from .sqlite import JudgeCache

_OTHER_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def open_cache(place: Path | str, *, read_only: bool = False) -> Cache:
    """Open the cache at a path or a URL; `read_only` is for replaying."""
    if isinstance(place, str) and is_url(place):
        from .postgres import PostgresCache  # here, because most runs need none of it

        return PostgresCache(place, read_only=read_only)
    if isinstance(place, str) and (other := _OTHER_URL.match(place)):
        raise CacheError(f"a cache is a file or postgresql://…, not {other[1]}://…")
    return JudgeCache(place, read_only=read_only)
