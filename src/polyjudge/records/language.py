"""What is known of a language."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["ltr", "rtl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language, or one way of writing it."""

    tag: str
    """BCP 47."""
    name: str
    """In English."""
    native_name: str
    scripts: tuple[str, ...]
    """Accepted scripts by ISO 15924, the most usual first."""
    family: str
    """Script family, as reports group languages."""
    direction: Direction = "ltr"
    speakers_millions: float = 0.0
    detector: str = ""
    """The label that language identification has for it; variants of one language share it."""
    inseparable: tuple[str, ...] = ()
    """Tags of languages that cannot be told from it on short text."""
    aliases: tuple[str, ...] = ()
    """Other tags for it."""
