"""Test, question by question, whether a judge still answers as it did.

If nothing has changed, the earlier and the new answers to a question are exchangeable: which of them came first says
nothing. Each question is then a fair bet on which answer is the odd one, whatever the noise of the judge is. What the
bets have won so far is an e-process: it reaches 20 in at most 5% of all watches of an unchanged judge, however often it
is looked at (Ville's inequality).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .resampling import Floats

FALSE_ALARMS = 0.05
_STAKES = {0.95: 0.4, 0.65: 0.3, 0.4: 0.3}
"""The shares of the winnings that are bet, and how the first unit is divided among them.

A high stake finds a change of few answers without noise, a low one a change in noise.
"""
_OF_ANSWERS = 0.7
"""The share of the unit that is bet on other answers; the rest is bet on shifts of the score."""
_MOST = 1e100
"""Evidence is not counted beyond this."""
_MOST_QUESTIONS = 1_000
"""Evidence for less than 1 false alarm in 1e100 watches is never reached."""
_LIKELY = 0.8
_SIMULATIONS = 400
_STEPS = 9


class Gains(NamedTuple):
    """What a bet on one question wins for each unit; the mean is 0 for an unchanged judge, and the least is -1."""

    other: float
    """The new answer is unlike the earlier ones, and not by chance."""
    shift: float = 0.0
    """The new score is higher than the earlier ones; at most 1."""


def confirmation(to_earlier: float, to_new: float) -> float:
    """Return the gain of a question whose new answer differed and that was asked again, from -1 to 1.

    The arguments are the distances of the third answer to the earlier and to the new one. For an unchanged judge the
    first two could as well have come in the other order, so the gain has either sign with the same probability.
    """
    total = to_earlier + to_new
    return (to_earlier - to_new) / total if total > 0 else 0.0


def oddness(nearest: Sequence[float]) -> float:
    """Return the gain of a question with several earlier answers, from -1 to their number.

    The arguments are the distances of each answer to the one nearest to it, the new answer last. For an unchanged judge
    each answer is equally likely to be the new one.
    """
    total = sum(nearest)
    return nearest[-1] * len(nearest) / total - 1 if total > 0 else 0.0


def shift(earlier: Sequence[float], new: float) -> float:
    """Return how far the new score is above the mean of all, relative to the largest deviation; from -1 to 1."""
    if all(each == new for each in earlier):
        return 0.0
    middle = (sum(earlier) + new) / (len(earlier) + 1)
    return (new - middle) / max(abs(each - middle) for each in (*earlier, new))


class _Bets:
    """What several stakes have won together."""

    def __init__(self, direction: float = 1.0) -> None:
        self._direction = direction
        self._won = dict(_STAKES)

    def add(self, gain: float) -> None:
        if gain:
            for stake, won in self._won.items():
                self._won[stake] = min(won * (1 + stake * gain * self._direction), _MOST)

    @property
    def value(self) -> float:
        return sum(self._won.values())


class ChangeTest:
    """The sequential test of whether a judge has changed: whether its answers do, or its scores shift."""

    def __init__(self, false_alarms: float = FALSE_ALARMS) -> None:
        self.needed = 1 / false_alarms
        """The e-value at which a change is shown."""
        self.asked = 0
        self.highest = 1.0
        """The highest e-value so far; 1 divided by it is a p-value."""
        self.gains: list[float] = []
        self._other = _Bets()
        self._up, self._down = _Bets(), _Bets(-1.0)

    def add(self, gains: Gains) -> None:
        """Add a question."""
        self.asked += 1
        self.gains.append(gains.other)
        self._other.add(gains.other)
        self._up.add(gains.shift)
        self._down.add(gains.shift)
        self.highest = max(self.highest, self.value)

    @property
    def value(self) -> float:
        """The e-value after the questions so far."""
        shifts = (self._up.value + self._down.value) / 2
        return _OF_ANSWERS * self._other.value + (1 - _OF_ANSWERS) * shifts

    @property
    def is_shown(self) -> bool:
        """Whether a change is shown; once it is, it stays so."""
        return self.highest >= self.needed

    def noticeable(self, *, most: float = 1.0) -> float | None:
        """Return the smallest share of changed answers that as many questions would show with a probability of 80%.

        A changed answer has the gain `most`; the others have the gains of the questions asked, as if the judge had not
        changed: from a repeated question with either sign. None if not even a change of all answers would be shown.
        """
        if not self.asked:
            return None
        random = np.random.default_rng(0)
        shape = (_SIMULATIONS, self.asked)
        unchanged = random.choice(np.array(self.gains), shape)
        if most == 1.0:
            unchanged = np.abs(unchanged) * random.choice([-1.0, 1.0], shape)
        order = random.random(shape)
        needed = self.needed / _OF_ANSWERS
        low, high = 0.0, 1.0
        if _power(np.full(shape, most), needed) < _LIKELY:
            return None
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if _power(np.where(order < middle, most, unchanged), needed) < _LIKELY:
                low = middle
            else:
                high = middle
        return high


def fewest_questions(false_alarms: float, most: float = 1.0) -> int:
    """Return how many questions at least show a change, if each has the highest gains: `most`, and 1 of the shift."""
    test = ChangeTest(false_alarms)
    while not test.is_shown and test.asked < _MOST_QUESTIONS:
        test.add(Gains(most, 1.0))
    return test.asked


def _power(gains: Floats, needed: float) -> float:
    """Return in which share of the rows the bets win enough at some time."""
    values = np.zeros_like(gains)
    for stake, share in _STAKES.items():
        values += share * np.exp(np.minimum(np.log1p(stake * gains).cumsum(axis=1), 200.0))
    return float((values.max(axis=1) >= needed).mean())
