"""Moments as polyjudge writes them."""

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the moment as ISO 8601 in UTC, to the millisecond."""
    return written(datetime.now(UTC))


def utc_second() -> str:
    """Return the moment as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def written(moment: datetime) -> str:
    """Return a moment in UTC as it stands in files."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
