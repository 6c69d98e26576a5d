"""Ask a judge again what it has answered, and test whether it has changed."""

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from msgspec.structs import replace

from polyjudge.judges.asking import ProviderSource
from polyjudge.judges.base import ItemJudge, ModelAddresses, bound, close_judge
from polyjudge.records.calibration import Figure
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.watches import PinnedAnswer, PinnedQuestion, PinnedSet, Rewording
from polyjudge.runs.plan import models_of
from polyjudge.statistics.change_test import ChangeTest, Gains, confirmation, fewest_questions, oddness, shift
from polyjudge.statistics.resampling import mean_error

from .pinning import answer_of, leaves


def is_other(one: PinnedAnswer, other: PinnedAnswer) -> bool:
    """Return whether two answers differ: in their verdict, or in the score if there is none."""
    if None not in (one.passed, other.passed):
        return one.passed != other.passed
    if one.verdict or other.verdict:
        return one.verdict != other.verdict
    return one.score != other.score


def distance(one: PinnedAnswer, other: PinnedAnswer, width: float) -> float:
    """Return how far two answers are apart: 1 for another verdict, else by their scores on the scale."""
    has_verdict = (one.passed is not None and other.passed is not None) or bool(one.verdict or other.verdict)
    by_score = abs(one.score - other.score) / width
    return max(by_score, 1.0) if has_verdict and is_other(one, other) else by_score


class WatchJudge:
    """Asks a pinned question again; if it has one answer of then and the new one differs, once more."""

    def __init__(self, judge: ItemJudge, pinned: Mapping[str, PinnedQuestion]) -> None:
        self._judge = judge
        self._pinned = pinned
        self.started: set[str] = set()
        """The ids of the questions for which a call was made; shared with the judge that a run opens."""
        self.rubric: object = getattr(judge, "rubric", None)
        self.models: ModelAddresses = models_of(judge)
        self.fingerprint: str = f"watch {getattr(judge, 'fingerprint', '')}"

    def bind(self, source: ProviderSource) -> "WatchJudge":
        """Return this judge with its provider opened by a run."""
        bound_judge = copy(self)
        bound_judge._judge = bound(self._judge, source)
        return bound_judge

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Return the new answer; its members are that answer and, if it was asked again, the third one."""
        await asyncio.sleep(0)  # a stop that the last answer has led to must come before this question
        self.started.add(item.id)
        first = await self._judge.judge(item, repeat=repeat)
        question = self._pinned[item.id]
        if isinstance(first, Failure):
            return first
        if len(question.answers) > 1 or _same(question.answers, answer_of(first)):
            return replace(first, members=(first,))
        return replace(first, members=(first, await self._judge.judge(item, repeat=repeat + 1)))

    async def aclose(self) -> None:
        """Close the judge's connections."""
        await close_judge(self._judge)


class EveryCall:
    """Asks all that a watch can ask about a question, to count it in a dry run."""

    def __init__(self, judges: Sequence[ItemJudge]) -> None:
        self._judges = judges
        self.models: ModelAddresses = models_of(judges[0])
        self.fingerprint = "every call of a watch"

    def bind(self, source: ProviderSource) -> "EveryCall":
        """Return this judge with its providers opened by a run."""
        return EveryCall([bound(judge, source) for judge in self._judges])

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Ask every judge."""
        outcomes = [await judge.judge(item, repeat=repeat) for judge in self._judges]
        return outcomes[0]

    async def aclose(self) -> None:
        """Close the judges' connections."""
        for judge in self._judges:
            await close_judge(judge)


def _same(then: Sequence[PinnedAnswer], now: PinnedAnswer) -> bool:
    return all(each.score == now.score and not is_other(each, now) for each in then)


def order_of(questions: Sequence[PinnedQuestion], count: int, seed: int) -> list[PinnedQuestion]:
    """Return as many of the questions in a random order."""
    ordered = sorted(questions, key=lambda each: each.id)
    random.Random(f"watch {seed}").shuffle(ordered)
    return ordered[:count]


class Watching:
    """Takes the new answers in the order in which the questions were asked, and decides."""

    def __init__(self, pinned: PinnedSet, false_alarms: float) -> None:
        scale = pinned.rubric.scale
        self._width = max(float(scale.highest) - float(scale.lowest), 1e-9)
        self._pinned = {each.id: each for each in pinned.questions}
        self.test = ChangeTest(false_alarms)
        self.then = pinned.judge.model_answered
        self.model_answered = ""
        self.answers: dict[str, PinnedAnswer] = {}
        """The new answers up to the decision, by the ids of their questions."""
        self.taken: set[str] = set()
        """The ids of the questions up to the decision, with or without a verdict."""
        self.unjudged = self.flips = self.asked_twice = self.confirmed = self.reverted = 0
        self.reason = ""
        """Of the first question without a verdict."""
        self._shifts: list[float] = []
        self._most = 1.0

    @property
    def model_changed(self) -> bool:
        """Whether the provider names another model than then."""
        return bool(self.then and self.model_answered and self.then != self.model_answered)

    @property
    def shift(self) -> Figure:
        """The mean score now minus that of then; the 95% interval only if what was found did not end the watch."""
        found = mean_error(self._shifts)
        return Figure(found.mean) if self.test.is_shown else Figure(found.mean, found.low, found.high)

    @property
    def noticeable(self) -> float | None:
        """The smallest share of changed answers that would have been shown with a probability of 80%."""
        return self.test.noticeable(most=self._most)

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Take the next answer; those after the decision are left out."""
        if self.test.is_shown:
            return
        self.taken.add(item.id)
        if not isinstance(outcome, JudgeResult):
            self.unjudged += 1
            self.reason = self.reason or (outcome.reason if isinstance(outcome, Failure) else "")
            return
        answered = (each.provenance.model_answered for each in leaves(outcome) if each.provenance is not None)
        self.model_answered = self.model_answered or next(filter(None, answered), "")
        then, now = self._pinned[item.id].answers, answer_of(outcome)
        self.answers[item.id] = now
        self.flips += all(is_other(each, now) for each in then)
        self._shifts.append(now.score - sum(each.score for each in then) / len(then))
        gain = self._oddness(then, now) if len(then) > 1 else self._confirmation(then, now, outcome.members[1:])
        self.test.add(Gains(gain, shift([each.score for each in then], now.score)))

    def _oddness(self, then: Sequence[PinnedAnswer], now: PinnedAnswer) -> float:
        self._most = max(self._most, float(len(then)))
        every = [*then, now]
        return oddness(
            [
                min(distance(one, other, self._width) for place, other in enumerate(every) if place != own)
                for own, one in enumerate(every)
            ]
        )

    def _confirmation(self, then: Sequence[PinnedAnswer], now: PinnedAnswer, more: Sequence[Outcome]) -> float:
        self.asked_twice += bool(more)
        third = next((answer_of(each) for each in more if isinstance(each, JudgeResult)), None)
        if third is None:
            return 0.0
        gain = confirmation(distance(third, then[0], self._width), distance(third, now, self._width))
        self.confirmed += gain > 0
        self.reverted += gain < 0
        return gain


class Reworded:
    """Takes the answers by a reworded rubric, and counts those unlike the new answers by the pinned one."""

    def __init__(self, number: int, answers: Mapping[str, PinnedAnswer]) -> None:
        self._number = number
        self._answers = answers
        self._asked = self._flips = 0

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Take an answer."""
        if isinstance(outcome, JudgeResult):
            self._asked += 1
            self._flips += is_other(self._answers[item.id], answer_of(outcome))

    @property
    def found(self) -> Rewording:
        """The counts so far."""
        return Rewording(number=self._number, asked=self._asked, flips=self._flips)


def items_of(questions: Iterable[PinnedQuestion]) -> list[Item]:
    """Return questions as items of a run."""
    return [Item(each.id, each.candidate, each.context, each.language) for each in questions]


def fewest_to_show(questions: Iterable[PinnedQuestion], false_alarms: float) -> int:
    """Return the number of questions below which a watch cannot show any change."""
    return fewest_questions(false_alarms, max((float(len(each.answers)) for each in questions), default=1.0))


def has_one_answer(questions: Iterable[PinnedQuestion]) -> bool:
    """Return whether there is a question with a single answer, which may have to be asked twice."""
    return any(len(each.answers) == 1 for each in questions)
