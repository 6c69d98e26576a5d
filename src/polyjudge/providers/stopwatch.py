"""When an answer arrived and how long it took."""

import time

from polyjudge.clock import utc_now
from polyjudge.records import Reply, amended


class Stopwatch:
    """Begins when it is made."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def stamped(self, reply: Reply) -> Reply:
        """Return the reply with its time of arrival and duration, unless it has them already."""
        duration_ms = reply.duration_ms or round((time.monotonic() - self._begun) * 1000)
        return amended(reply, duration_ms=duration_ms, answered_at=reply.answered_at or utc_now())
