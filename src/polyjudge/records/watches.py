"""A pinned set of answers of a judge, and what each later watch of that judge found."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from .calibration import Figure, JudgeIdentity
from .codec import Number
from .rubrics import Rubric

WatchVerdict = Literal["changed", "no change shown"]


class PinnedAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """One answer of the judge."""

    score: Number
    verdict: str = ""
    passed: bool | None = None


class PinnedQuestion(Struct, frozen=True, kw_only=True, rename="camel"):
    """An item, as the judge saw it, and what it answered then."""

    id: str
    candidate: str
    context: Mapping[str, str] = {}
    language: str = ""
    answers: tuple[PinnedAnswer, ...]
    """More than one if the question was asked repeatedly; what differs among them is noise."""


class PinnedSet(Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of `pinned.json`: what is asked again, and the judge that is asked."""

    name: str
    judge: JudgeIdentity
    models: tuple[str, ...]
    """The models that are asked, several of a jury."""
    pinned_at: str
    results: str
    """The name of the file of the results."""
    rubric: Rubric
    questions: tuple[PinnedQuestion, ...]


class Rewording(Struct, frozen=True, kw_only=True, rename="camel"):
    """How the judge answered the same questions by the rubric in other words."""

    number: int
    asked: int
    """Questions with a verdict by both wordings."""
    flips: int
    """Of them, those whose answer is not that by the pinned wording, asked at the same time."""


class Watch(Struct, frozen=True, kw_only=True, rename="camel"):
    """One row of `history.jsonl`: what one watch found."""

    name: str
    at: str
    """When the first question was asked."""
    verdict: WatchVerdict
    judge: JudgeIdentity
    """The pinned judge, with the model that answered then."""
    model_answered: str = ""
    """The model that answered now."""
    model_changed: bool = False
    """Whether the provider names another model than then."""
    pinned_at: str
    questions: int
    """Questions that could have been asked."""
    asked: int
    """Questions with a verdict, up to the decision."""
    in_flight: int = 0
    """Questions that were in flight at the decision: their calls are paid, and their answers do not count."""
    unjudged: int = 0
    flips: int = 0
    """Questions with another answer than before."""
    asked_twice: int = 0
    """Of them, those that were asked again, because there is one answer of then."""
    confirmed: int = 0
    """Of these, those whose third answer is nearer to the new one than to that of then."""
    reverted: int = 0
    """Of these, those whose third answer is nearer to that of then: the noise of the judge."""
    e_value: Number
    """The highest value of the evidence against an unchanged judge; 1 divided by it is a p-value."""
    needed: Number
    """The value from which a change is shown."""
    false_alarms: Number
    """In at most this share of the watches of an unchanged judge, a change is shown."""
    noticeable: Number | None = None
    """The smallest share of changed answers that would have been shown with a probability of 80%."""
    shift: Figure = Figure()
    """Mean score now minus that of then. Its 95% interval only without a change: one that is shown ends the watch when
    it looks large, so that an interval would not hold."""
    rewordings: tuple[Rewording, ...] = ()
    calls: int = 0
    cost_usd: Number = 0.0
    seed: int = 0
    """The seed of the order of the questions."""
