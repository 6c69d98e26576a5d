"""A local file for what was paid for and cannot be written where it belongs just now."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from polyjudge.errors import CacheError

from .entries import Entry
from .judge_cache import JudgeCache


class Aside:
    """Keeps entries in a cache on this machine, and knows how they are brought home."""

    def __init__(self, path: Path, place: str) -> None:
        self._shown, self._path = path, path.absolute()  # the working folder may be another one by then
        self._place = place
        self._problem: CacheError | None = None

    def keep(self, entries: Sequence[Entry]) -> bool:
        """Write entries to disk; False where that is not possible either."""
        try:
            with JudgeCache(self._path) as cache:
                for written in [cache.write(entry) for entry in entries]:
                    written.result()
        except CacheError as error:
            self._problem = error
            return False
        self._problem = None
        return True

    @property
    def told(self) -> str:
        """What became of the entries, and what to do about it."""
        if self._problem is not None:
            return f"What was paid for last cannot be kept aside either: {self._problem}"
        return f"What was paid for is kept in {self._shown}; bring it home with: {homeward(self._shown, self._place)}"


def homeward(path: Path | str, place: str) -> str:
    """Return the command that takes a local cache into the shared one."""
    return f"polyjudge cache import {shlex.quote(str(path))} --cache {shlex.quote(place)}"
