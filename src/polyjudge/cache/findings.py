"""What looking after a cache brings to light."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds."""

    entries: int
    bytes_on_disk: int
    oldest: str
    newest: str
    by_model: tuple[tuple[str, str, str, int, int], ...]
    """Kind, provider, model, number of entries, their bytes."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    new: int
    known: int
    problems: tuple[str, ...] = ()
    """Rows that were skipped, by place."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check found."""

    entries: int
    problems: tuple[str, ...] = field(default=())
