"""Moments as polyjudge writes them."""

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the moment as ISO 8601 in UTC, to the millisecond."""
    return written(datetime.now(UTC))


def written(moment: datetime) -> str:
    """Return a moment in UTC as it stands in files."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
