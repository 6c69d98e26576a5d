"""Weather over a loopback server: its faults change by a seeded timetable, each minute of it in less than a second.

Every kind of trouble comes several times within the hour, in an order of the seed's choice, with calm between. The
first request begins the hour, and after it the sky is clear.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import TracebackType
from typing import Self

from .vendor_server import Faults, Server, ServerThread


@dataclass(frozen=True)
class Spell:
    """What the weather is like for a minute."""

    name: str
    faults: Faults
    wasteful: bool = False
    """Answers are made that the client does not get: it must ask again."""
    gone: bool = False
    """There is no server at all."""


def http_date(seconds: float) -> Callable[[], str]:
    """Return a function that formats a Retry-After as a date, so many seconds from now; dates have no fractions."""
    return lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def spells(chance: random.Random, *, timeout_s: float) -> list[Spell]:
    """Return one spell of every kind, for a client that waits so long; how bad each is, is chance."""
    share = chance.uniform(0.3, 1.0)
    return [
        Spell("latency spike", Faults(latency_s=timeout_s * chance.uniform(0.2, 0.5))),
        Spell("too slow for the client", Faults(latency_s=timeout_s * chance.uniform(1.05, 1.5)), wasteful=True),
        Spell("429 storm", Faults(rate_limited=share)),
        Spell("429 storm, wait in seconds", Faults(rate_limited=share, retry_after="0.2")),
        Spell("429 storm, wait as a date", Faults(rate_limited=share, retry_after=http_date(1.0))),
        Spell("500s", Faults(server_error=share)),
        Spell("dropped before the answer", Faults(dropped=share)),
        Spell("dropped after the answer", Faults(lost=share), wasteful=True),
        Spell("half-open", Faults(half_open=share)),
        Spell("trickle", Faults(trickle_s=timeout_s * chance.uniform(0.1, 0.3))),
        Spell("trickle without end", Faults(trickle_s=timeout_s * chance.uniform(2.0, 3.0)), wasteful=True),
        Spell("200 with garbage", Faults(odd=chance.uniform(0.1, 0.4))),
        Spell("server gone", Faults(), gone=True),
    ]


def timetable(seed: int, *, timeout_s: float, wasteful: bool = True, minutes: int = 60) -> Iterator[Spell]:
    """Yield the spells of an hour: each kind comes in turn, in a new order every time, and calm is between."""
    chance = random.Random(seed)
    while minutes > 0:
        kinds = [spell for spell in spells(chance, timeout_s=timeout_s) if wasteful or not spell.wasteful]
        chance.shuffle(kinds)
        for spell in kinds[: -(-minutes // 2)]:
            yield Spell("calm", Faults(latency_s=0.1 * timeout_s))
            yield spell
            minutes -= 2


class Weather:
    """Runs a server in a thread, and the timetable over it."""

    def __init__(self, server: Server, hour: Iterator[Spell], *, minute_s: float) -> None:
        self.server = server
        self.had: list[str] = []
        """The spells that have started."""
        self._hour = hour
        self._minute_s = minute_s
        self._over = threading.Event()
        self._running = ServerThread(server)
        self._thread = threading.Thread(target=self._pass, daemon=True)

    def __enter__(self) -> Self:
        self._running.__enter__()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._running.__exit__()

    def clear(self) -> None:
        """Let the sky be clear from now on."""
        self._over.set()
        self._thread.join()

    def _pass(self) -> None:
        while not self.server.asked and not self._over.is_set():
            time.sleep(0.005)
        for spell in self._hour:
            if self._over.is_set():
                break
            self._begin(spell)
        self.server.faults = Faults(garbage=self.server.faults.garbage)

    def _begin(self, spell: Spell) -> None:
        self.had.append(spell.name)
        # What prompts have no verdict is the model's doing, and not the weather's.
        self.server.faults = replace(spell.faults, garbage=self.server.faults.garbage)
        if spell.gone:
            self._running.__exit__()
        self._over.wait(self._minute_s)
        if spell.gone:
            self._running = ServerThread(self.server)
            self._running.__enter__()
