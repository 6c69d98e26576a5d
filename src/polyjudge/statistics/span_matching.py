"""Match the error spans of two annotators one to one, so that the matched spans overlap as far as possible."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

IN_SOURCE = 1 << 40
"""Added to the places of spans in the source, so that they overlap none in the output."""
MOST_MATCHED = 64
"""With more overlapping spans of one annotator, they are matched in order of their overlap instead of optimally."""


class Mark(NamedTuple):
    """A marked part of a text; a text is the output or the source of an item."""

    start: int
    end: int
    """The first code point after it."""
    severity: str = ""
    category: str = ""
    explanation: str = ""


class SpanAnnotation(Struct, frozen=True, kw_only=True):
    """What one annotator marked in one text; no mark means that the annotator found no error."""

    annotator: str
    id: str = ""
    pair: str = ""
    """The languages, such as en-cs."""
    unit: str = ""
    """The part of the text that systems have in common, such as the segment of a test set."""
    system: str = ""
    source: str = ""
    candidate: str = ""
    language: str = ""
    cluster: str = ""
    marks: tuple[Mark, ...] = ()
    without_place: tuple[Mark, ...] = ()
    """Spans that are in no text, such as omissions."""


Weights = Mapping[tuple[int, int], float]
"""By the places of two spans in their lists, how well they match; only of spans that overlap."""


def overlaps(first: Sequence[Mark], second: Sequence[Mark], weight: Callable[[Mark, Mark], float]) -> Weights:
    """Return the weight of all pairs of spans that share a character."""
    found: dict[tuple[int, int], float] = {}
    later = sorted(range(len(second)), key=lambda place: second[place].start)
    open_ones: list[int] = []
    next_one = 0
    for place in sorted(range(len(first)), key=lambda each: first[each].start):
        mark = first[place]
        open_ones = [each for each in open_ones if second[each].end > mark.start]
        while next_one < len(later) and second[later[next_one]].start < mark.end:
            open_ones.append(later[next_one])
            next_one += 1
        for each in open_ones:
            if second[each].start < mark.end and second[each].end > mark.start:
                found[place, each] = weight(mark, second[each])
    return found


def best_matching(weights: Weights) -> list[tuple[int, int]]:
    """Return the pairs of the matching with the greatest sum of weights, each span in at most one."""
    matched: list[tuple[int, int]] = []
    for pairs in _components(weights):
        rows = sorted({row for row, _ in pairs})
        columns = sorted({column for _, column in pairs})
        if len(rows) == 1 or len(columns) == 1:
            matched.append(max(pairs, key=lambda pair: weights[pair]))
        elif min(len(rows), len(columns)) > MOST_MATCHED:
            matched += _by_weight(weights, pairs)
        elif len(rows) <= len(columns):
            matched += _assigned(rows, columns, lambda row, column: weights.get((row, column), 0.0))
        else:
            swapped = _assigned(columns, rows, lambda column, row: weights.get((row, column), 0.0))
            matched += [(row, column) for column, row in swapped]
    return [pair for pair in matched if weights.get(pair, 0.0) > 0]


def _components(weights: Weights) -> list[list[tuple[int, int]]]:
    """Return the pairs in groups that share no span."""
    leader: dict[tuple[str, int], tuple[str, int]] = {}

    def find(name: tuple[str, int]) -> tuple[str, int]:
        while leader.setdefault(name, name) != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for row, column in weights:
        leader[find(("row", row))] = find(("column", column))
    groups: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for pair in weights:
        groups.setdefault(find(("row", pair[0])), []).append(pair)
    return list(groups.values())


def _by_weight(weights: Weights, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    rows, columns, matched = set[int](), set[int](), list[tuple[int, int]]()
    for row, column in sorted(pairs, key=lambda pair: (-weights[pair], pair)):
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            matched.append((row, column))
    return matched


def _assigned(
    rows: Sequence[int], columns: Sequence[int], weight: Callable[[int, int], float]
) -> list[tuple[int, int]]:
    """Return the best assignment of every row to a column of its own, by the Hungarian method with potentials.

    The last column is not there: each row starts at it and looks for a way to a free one.
    """
    start = len(columns)
    cost = np.array([[*(-weight(row, column) for column in columns), np.inf] for row in rows])
    row_price, column_price = np.zeros(len(rows)), np.zeros(start + 1)
    row_of = np.full(start + 1, -1)
    for row in range(len(rows)):
        row_of[start], column = row, start
        least, before = np.full(start + 1, np.inf), np.full(start + 1, start)
        used = np.zeros(start + 1, dtype=bool)
        while row_of[column] >= 0:
            used[column] = True
            reduced = cost[row_of[column]] - row_price[row_of[column]] - column_price
            better = ~used & (reduced < least)
            least[better], before[better] = reduced[better], column
            column = int(np.argmin(np.where(used, np.inf, least)))
            step = least[column]
            row_price[row_of[used]] += step
            column_price[used] -= step
            least[~used] -= step
        while column != start:
            row_of[column] = row_of[before[column]]
            column = before[column]
    return [(rows[row_of[column]], columns[column]) for column in range(start) if row_of[column] >= 0]
