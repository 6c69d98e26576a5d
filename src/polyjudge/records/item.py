"""What is to be judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Item:
    """One candidate, with what the judge may know about it."""

    id: str
    candidate: str
    context: Mapping[str, str] = field(default_factory=dict[str, str])
    language: str = ""
    """BCP 47 tag, where the item has one; it goes into the results, not to the judge."""
    cluster: str = ""
    """What it belongs together with, such as its document; for the results too."""
