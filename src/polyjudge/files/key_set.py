"""Many keys in little room: eight bytes each, for asking whether one is among them."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable

_DIGITS = 16


class KeySet:
    """Hex keys, known by their first sixteen digits; each can be marked once."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = array("Q", sorted(int(key[:_DIGITS], 16) for key in keys))
        self._marks = bytearray(len(self._keys))

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: str) -> bool:
        return self._place(key) is not None

    def mark(self, key: str) -> bool:
        """Mark a key; say whether it is here and was not marked before."""
        place = self._place(key)
        if place is None or self._marks[place]:
            return False
        self._marks[place] = 1
        return True

    def _place(self, key: str) -> int | None:
        number = int(key[:_DIGITS], 16)
        place = bisect_left(self._keys, number)
        return place if place < len(self._keys) and self._keys[place] == number else None
