"""Timestamps as polyjudge writes them."""

from datetime import UTC, datetime
from functools import lru_cache
from time import time_ns


def utc_now() -> str:
    """Return the current time as ISO 8601 in UTC, to the millisecond."""
    seconds, milliseconds = divmod(time_ns() // 1_000_000, 1000)
    return f"{_second(seconds)}.{milliseconds:03d}Z"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    """Return a second of Unix time as text, cached because a busy run asks for it thousands of times."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def utc_second() -> str:
    """Return the current time as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def timestamp(time: datetime) -> str:
    """Return a time in UTC as ISO 8601, to the millisecond."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
