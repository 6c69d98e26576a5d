"""Read from the rows of a judge how sure it was of each verdict."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import pstdev
from typing import Any, cast

from .columns import TableOptions
from .rating_values import finite_number
from .row_files import named_rows_of


@dataclass(frozen=True, slots=True)
class Doubt:
    """How unsure a judge was of one item; None where its row does not say it."""

    spread: float | None = None
    """The standard deviation of its repeats, or of the members of a jury."""
    chance_of_another: float | None = None
    """1 minus the probability of the most likely verdict."""


def read_doubts(path: Path, table: TableOptions) -> dict[str, Doubt]:
    """Return the doubts of a judge by the ids of its items, of the rows that say any."""
    found: dict[str, Doubt] = {}
    for _, row in named_rows_of(path, table, "id"):
        if not isinstance(row, str) and row.get("id") not in (None, ""):
            doubt = Doubt(_spread(row), _chance_of_another(row))
            if doubt != Doubt():
                found[str(row["id"])] = doubt
    return found


def _spread(row: Mapping[str, Any]) -> float | None:
    scores = list(_scores(row.get("members")))
    return pstdev(scores) if len(scores) > 1 else None


def _scores(members: object) -> Iterator[float]:
    for member in cast(list[object], members) if isinstance(members, list) else ():
        score = finite_number(cast(dict[str, object], member).get("score") if isinstance(member, dict) else None)
        if score is not None:
            yield score


def _chance_of_another(row: Mapping[str, Any]) -> float | None:
    given = row.get("probabilities")
    values = list(cast(dict[str, object], given).values()) if isinstance(given, dict) else []
    chances = [chance for each in values if (chance := finite_number(each)) is not None]
    return 1 - max(chances) if chances and all(0 <= each <= 1 for each in chances) else None
