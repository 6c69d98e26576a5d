"""Compare the verdicts of two judges, and of a judge and the checks, on the languages of a report."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from polyjudge.statistics.intervals import wilson_interval
from polyjudge.verdicts.items import OFFLINE
from polyjudge.verdicts.translation import NEEDED_SHARE, scores_pass

from .blocks import Block, Lines, Table
from .translation import Report


def judges_compared(report: Report) -> Iterator[Block]:
    """Yield how often two judges, or a judge and the checks, give the same verdict on a language."""
    rows = [_pair_row(one, two, report) for one, two in combinations(report.judges, 2)]
    rows += [_checks_row(judge, report) for judge in report.judges if not _is_offline(judge, report)]
    if rows:
        header = (
            "Compared",
            "Languages",
            "Both pass",
            "Both fail",
            "Only the first passes",
            "Only the second passes",
            "Same",
        )
        yield Table(header, tuple(rows), (1, 2, 3, 4, 5, 6))
        needed = f"at least {NEEDED_SHARE:.0%} of its outputs must have no failing finding"
        yield Lines((f"For the checks to pass a language, {needed}.",))


def _is_offline(judge: str, report: Report) -> bool:
    """Return whether a judge is `offline`, which would be compared with itself."""
    return all(verdict.scores[judge].judge == OFFLINE for verdict in report.verdicts if judge in verdict.scores)


def _pair_row(one: str, two: str, report: Report) -> tuple[str, ...]:
    pairs = [
        (scores_pass(verdict.scores[one]), scores_pass(verdict.scores[two]))
        for verdict in report.verdicts
        if one in verdict.scores and two in verdict.scores
    ]
    return _counts(f"{one} and {two}", [(a, b) for a, b in pairs if a is not None and b is not None])


def _checks_row(judge: str, report: Report) -> tuple[str, ...]:
    pairs = [
        (scores_pass(verdict.scores[judge]), verdict.passes_checks)
        for verdict in report.verdicts
        if judge in verdict.scores and report.table.find(verdict.language, verdict.name)
    ]
    return _counts(f"{judge} and the checks", [(a, b) for a, b in pairs if a is not None and b is not None])


def _counts(name: str, pairs: Sequence[tuple[bool, bool]]) -> tuple[str, ...]:
    kinds = [(True, True), (False, False), (True, False), (False, True)]
    counts = [pairs.count(kind) for kind in kinds]
    interval = wilson_interval(counts[0] + counts[1], len(pairs))
    same = f"{(counts[0] + counts[1]) / len(pairs):.0%} [{interval.low:.0%}, {interval.high:.0%}]" if interval else "–"
    return (name, str(len(pairs)), *map(str, counts), same)
