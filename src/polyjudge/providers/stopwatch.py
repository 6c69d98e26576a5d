"""When an answer arrived and how long it took."""

import time
from dataclasses import replace

from polyjudge.clock import utc_now
from polyjudge.records import Reply


class Stopwatch:
    """Begins when it is made."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def stamped(self, reply: Reply) -> Reply:
        """Return the reply with its time of arrival and duration, unless it has them already."""
        duration_ms = reply.duration_ms or round((time.monotonic() - self._begun) * 1000)
        return replace(reply, duration_ms=duration_ms, answered_at=reply.answered_at or utc_now())
