"""Which items people are asked about: some of every language, and of each kind of verdict as many as there are."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Literal

Status = Literal["unjudged", "flagged", "low", "high"]
_LEAST_PULL = 0.5
"""How much a language without any spread draws, beside one of the usual spread, which draws 1."""
_MOST_PULL = 2.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may be asked about."""

    id: str
    language: str
    score: float | None
    """The judge's; None where it has no verdict. No person gets to see it."""
    flagged: bool = False
    """The checks find something wrong with it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item that people are asked about."""

    candidate: Candidate
    weight: float
    """How many items of its language it stands for."""


def draw(candidates: Sequence[Candidate], count: int, seed: int) -> list[Drawn]:
    """Return a sample in which every language is, where there is room, and within a language every item as likely."""
    by_language: defaultdict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        by_language[each.language].append(each)
    middle = _middle([each.score for each in candidates if each.score is not None])
    shares = allotted(by_language, min(count, len(candidates)), seed)
    drawn: list[Drawn] = []
    for language, share in shares.items():
        group = by_language[language]
        chance = random.Random(f"{seed} {language}")
        ordered = sorted(group, key=lambda each: (status(each, middle), chance.random()))
        drawn += [Drawn(each, len(group) / share) for each in _evenly(ordered, share, chance.random())]
    return drawn


def status(candidate: Candidate, middle: float) -> Status:
    """Return what is known of an item before people see it."""
    if candidate.score is None:
        return "unjudged"
    if candidate.flagged:
        return "flagged"
    return "high" if candidate.score >= middle else "low"


def allotted(by_language: Mapping[str, Sequence[Candidate]], count: int, seed: int) -> dict[str, int]:
    """Return how many items of each language are drawn: one of each, the rest by size and by how scores differ."""
    chance = random.Random(seed)
    order = sorted(by_language, key=lambda language: (-len(by_language[language]), chance.random()))
    shares = dict.fromkeys(order[:count], 1)
    pull = _pull({language: by_language[language] for language in shares})
    left = count - len(shares)
    while left:
        # Whoever has the least for what it draws gets the next one: the rule that parliaments share seats by.
        open_ones = [language for language in shares if shares[language] < len(by_language[language])]
        neediest = max(open_ones, key=lambda language: pull[language] / (2 * shares[language] + 1))
        shares[neediest] += 1
        left -= 1
    return shares


def order_for(annotator: str, ids: Sequence[str], seed: int) -> list[str]:
    """Return the items in an order of a person's own, so that no two tire at the same ones."""
    ordered = sorted(ids)
    random.Random(f"{seed} {annotator}").shuffle(ordered)
    return ordered


def _pull(by_language: Mapping[str, Sequence[Candidate]]) -> dict[str, float]:
    spreads = {
        language: pstdev(scores)
        for language, group in by_language.items()
        if len(scores := [each.score for each in group if each.score is not None]) > 1
    }
    usual = fmean(spreads.values()) if spreads else 0.0
    factors = {
        language: min(_MOST_PULL, max(_LEAST_PULL, spread / usual)) if usual else 1.0
        for language, spread in spreads.items()
    }
    return {language: len(group) * factors.get(language, 1.0) for language, group in by_language.items()}


def _evenly(ordered: Sequence[Candidate], count: int, start: float) -> list[Candidate]:
    """Return every so many-th item from a random start: each is as likely, and each status has its share."""
    step = len(ordered) / count
    return [ordered[min(int((place + start) * step), len(ordered) - 1)] for place in range(count)]


def _middle(scores: Sequence[float]) -> float:
    return sorted(scores)[len(scores) // 2] if scores else 0.0
