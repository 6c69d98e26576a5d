"""Pin the answers of a judge, ask the same again, and test whether the judge has changed."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from msgspec.structs import replace

from polyjudge.judges.base import ItemJudge, ModelAddresses, ProviderSource, bound, close_judge
from polyjudge.judges.jury import combined
from polyjudge.languages.table import LANGUAGE, LanguageTable
from polyjudge.records.calibration import Figure
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, Provenance, RunOutcome
from polyjudge.records.watches import PinnedAnswer, PinnedQuestion, PinnedSet, Rewording
from polyjudge.runs.plan import models_of, prompt_hashes_of, rubric_of
from polyjudge.statistics.change_test import ChangeTest, Gains, confirmation, fewest_questions, oddness, shift
from polyjudge.statistics.resampling import mean_error
from polyjudge.verdicts.items import with_passed


@dataclass(slots=True)
class Pinnable:
    """The items of a run that can be asked again, and why others cannot."""

    questions: list[PinnedQuestion] = field(default_factory=list[PinnedQuestion])
    origin: Provenance | None = None
    """Of the first answer."""
    unjudged: int = 0
    other_prompts: int = 0
    """Items whose prompt would not be the one that was asked."""


def pinnable(
    items: Iterable[Item], outcomes: Mapping[str, RunOutcome], judge: ItemJudge, table: LanguageTable
) -> Pinnable:
    """Return the items of a run with their answers, if the judge would be asked the same again.

    Results name the language by its tag. The judge may have seen its name instead, or none.
    """
    found, hashes = Pinnable(), prompt_hashes_of(judge)
    for given in items:
        outcome = outcomes.get(given.id)
        if not isinstance(outcome, JudgeResult):
            found.unjudged += outcome is not None
            continue
        origins = [each.provenance for each in leaves(outcome) if each.provenance is not None]
        asked = {each.prompt_sha256 for each in origins}
        item = next((each for each in _as_seen(given, table) if asked and asked <= hashes(each)), None)
        if item is None:
            found.other_prompts += 1
            continue
        answers = tuple(answers_of(outcome, rubric_of(judge)))
        if not answers:
            found.unjudged += 1
            continue
        found.origin = found.origin or origins[0]
        question = PinnedQuestion(
            id=item.id,
            candidate=item.candidate,
            context=item.context,
            language=item.language,
            answers=answers,
        )
        found.questions.append(question)
    return found


def _as_seen(item: Item, table: LanguageTable) -> Iterator[Item]:
    """Yield an item with what the judge may have seen of its language."""
    yield item
    if LANGUAGE in item.context:
        found = table.find(item.context[LANGUAGE])
        if found is not None:
            yield replace(item, context={**item.context, LANGUAGE: found.name})
        yield replace(item, context={name: text for name, text in item.context.items() if name != LANGUAGE})


def leaves(outcome: Outcome) -> Iterator[Outcome]:
    """Yield the single answers in an outcome: of each member of a jury, and of each repeat."""
    for member in outcome.members:
        yield from leaves(member)
    if not outcome.members:
        yield outcome


def answers_of(outcome: JudgeResult, rubric: object) -> list[PinnedAnswer]:
    """Return the answers that a judge gave to one question: one, or one for each repeat; of a jury, its verdicts.

    The mean of repeats is no answer: it is less noisy than a new one.
    """
    singles = list(leaves(outcome))
    models = {(each.provenance.provider, each.provenance.model) for each in singles if each.provenance is not None}
    given = singles if len(models) == 1 else [outcome]
    if len(models) > 1 and any(each.members for each in outcome.members):
        rounds = zip(*(each.members for each in outcome.members), strict=False)
        given = [with_passed(rubric, combined(each, len(each) // 2 + 1)) for each in rounds]
    return [_answer(each) for each in given if isinstance(each, JudgeResult)]


def _answer(result: JudgeResult) -> PinnedAnswer:
    return PinnedAnswer(score=result.score, verdict=result.verdict, passed=result.passed)


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
        if len(question.answers) > 1 or _same(question.answers, _answer(first)):
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
        then, now = self._pinned[item.id].answers, _answer(outcome)
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
        third = next((_answer(each) for each in more if isinstance(each, JudgeResult)), None)
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
            self._flips += is_other(self._answers[item.id], _answer(outcome))

    @property
    def found(self) -> Rewording:
        """The counts so far."""
        return Rewording(number=self._number, asked=self._asked, flips=self._flips)


def items_of(questions: Iterable[PinnedQuestion]) -> list[Item]:
    """Return questions as items of a run."""
    return [Item(each.id, each.candidate, each.context, each.language) for each in questions]


@dataclass(slots=True)
class Origins:
    """Who gave the answers of a run, and by which rubrics."""

    models: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """Providers with their models, in their order."""
    rubrics: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    """Names with fingerprints."""
    judged: list[str] = field(default_factory=list[str])
    """The ids of the items with a verdict."""

    def add(self, item_id: str, outcome: RunOutcome) -> None:
        """Add an outcome."""
        if not isinstance(outcome, JudgeResult):
            return
        self.judged.append(item_id)
        for each in leaves(outcome):
            if each.provenance is not None:
                self.models[each.provenance.provider, each.provenance.model] = None
                self.rubrics[each.provenance.rubric, each.provenance.rubric_fingerprint] = None

    def chosen(self, count: int) -> set[str]:
        """Return as many ids, drawn whatever the answers are: else new ones would differ without a change."""
        return set(random.Random("pinned").sample(sorted(self.judged), min(count, len(self.judged))))


def fewest_to_show(questions: Iterable[PinnedQuestion], false_alarms: float) -> int:
    """Return the number of questions below which a watch cannot show any change."""
    return fewest_questions(false_alarms, max((float(len(each.answers)) for each in questions), default=1.0))


def has_one_answer(questions: Iterable[PinnedQuestion]) -> bool:
    """Return whether there is a question with a single answer, which may have to be asked twice."""
    return any(len(each.answers) == 1 for each in questions)
