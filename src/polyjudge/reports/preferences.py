"""Report recorded preferences between two systems: how often the first one wins, and what the order changes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any, cast

from polyjudge.records.calibration import Interval
from polyjudge.statistics.intervals import RunningMean, wilson_interval
from polyjudge.text.display import one_line

from .blocks import Block, Lines, Table
from .run_rows import RunRow
from .wording import counted, percent_range

_WORDS = ("first", "tie", "second")
FIRST = "the first"
_LONGEST_NAME = 60


class Preferences:
    """The preferences of a run, counted in constant memory."""

    def __init__(self) -> None:
        self.shares = RunningMean()
        """The shares of preference for the first system."""
        self.verdicts: Counter[str] = Counter()
        self.unjudged = 0
        self.orders: Counter[tuple[str, str]] = Counter()
        """The verdicts in the given and in the swapped order; an empty one is missing."""
        self._systems: set[tuple[str, str]] = set()

    def add(self, row: RunRow) -> None:
        """Count a row, if it is a preference or lacks one."""
        verdict = row.columns.get("verdict")
        if row.score is None:
            self.unjudged += bool(row.failure)
        elif verdict in _WORDS and 0 <= row.score <= 1:
            self.shares.add(row.score)
            self.verdicts[str(verdict)] += 1
            if len(self._systems) < 2:
                self._systems.add((_name(row, "system"), _name(row, "otherSystem")))
        given = row.columns.get("members")
        members = [cast(Mapping[str, Any], each) for each in given if isinstance(each, Mapping)] if given else []
        by_order = {each.get("order"): str(each.get("verdict") or "") for each in members}
        if {"given", "swapped"} <= by_order.keys():
            self.orders[by_order["given"], by_order["swapped"]] += 1

    @property
    def count(self) -> int:
        """The number of preferences."""
        return self.shares.count

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two systems; first and second if they are not known, or not always the same."""
        first, second = next(iter(self._systems)) if len(self._systems) == 1 else ("", "")
        return first or FIRST, second or "the second"

    @property
    def standard_error(self) -> float | None:
        """The standard error of the win rate: the sample standard deviation by the root of the number."""
        deviation = self.shares.standard_deviation
        return None if deviation is None else deviation / sqrt(self.count)

    @property
    def interval(self) -> Interval | None:
        """The 95% interval of the win rate."""
        found = self.shares.interval()
        return None if found is None else Interval(max(0.0, found.low), min(1.0, found.high))

    @property
    def discrete(self) -> float:
        """The share of wins, of which ties are half."""
        return (self.verdicts["first"] + self.verdicts["tie"] / 2) / self.count

    @property
    def in_both(self) -> int:
        """Items with a verdict in both orders."""
        return sum(count for verdicts, count in self.orders.items() if all(verdicts))

    @property
    def changed(self) -> int:
        """Items whose verdict differs between the orders."""
        return sum(count for (one, other), count in self.orders.items() if one and other and one != other)

    @property
    def first_shown(self) -> int:
        """Items whose verdict changes in favour of the one that is shown first."""
        rank = _WORDS[::-1].index
        pairs = self.orders.items()
        return sum(count for (one, other), count in pairs if one and other and rank(one) > rank(other))


def _name(row: RunRow, column: str) -> str:
    return one_line(str(row.columns.get(column) or ""), _LONGEST_NAME)


def preference_blocks(found: Preferences) -> Iterator[Block]:
    """Yield the win rate, and the effect of the order if both orders are recorded."""
    first, second = found.names
    error = "" if found.standard_error is None else f", standard error {100 * found.standard_error:.2f}"
    counts = ", ".join(f"{found.verdicts[word]:,} {word}" for word in _WORDS)
    lines = [f"{first} against {second}, over {counted(found.count, 'item')}: {counts}; {found.unjudged:,} unjudged."]
    lines.append("The win rate is the mean share of preference. The discrete one counts verdicts, ties as half.")
    yield Lines(tuple(lines))
    rows = [
        ("Win rate", f"{100 * found.shares.mean:.2f}%{error}", percent_range(found.interval)),
        ("Discrete win rate", f"{100 * found.discrete:.2f}%", ""),
        *_order_rows(found),
    ]
    yield Table(("Measure", "Value", "95% interval"), tuple(rows), (1, 2))


def _order_rows(found: Preferences) -> Iterator[tuple[str, str, str]]:
    if found.orders:
        same = found.in_both - found.changed
        yield "Same verdict in both orders", *_share(same, found.in_both)
        yield "First shown preferred, of changed verdicts", *_share(found.first_shown, found.changed)
    missing = found.orders.total() - found.in_both
    if missing:
        yield "No verdict in one order or both", f"{missing:,}", ""


def _share(count: int, total: int) -> tuple[str, str]:
    return (f"{count:,} of {total:,}", percent_range(wilson_interval(count, total)))


def preference_json(found: Preferences) -> dict[str, Any]:
    """Return the win rate, from 0 to 1, and the effect of the order."""
    interval = found.interval
    first, second = found.names
    orders = {
        "items": found.orders.total(),
        "missing": found.orders.total() - found.in_both,
        "changed": found.changed,
        "firstShownOfChanged": found.first_shown,
    }
    return {
        "first": first,
        "second": second,
        "items": found.count,
        "winRate": found.shares.mean,
        "standardError": found.standard_error,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "discreteWinRate": found.discrete,
        "verdicts": {word: found.verdicts[word] for word in _WORDS},
        "unjudged": found.unjudged,
        "orders": orders if found.orders else None,
    }
