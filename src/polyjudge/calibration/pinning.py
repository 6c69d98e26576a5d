"""Pin the answers of a judge: the questions of a run that can be asked again, and what was answered then."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from polyjudge.judges.base import ItemJudge
from polyjudge.judges.jury import combined
from polyjudge.languages.table import LANGUAGE, LanguageTable
from polyjudge.records.outcomes import Item, JudgeResult, Outcome, Provenance, RunOutcome
from polyjudge.records.watches import PinnedAnswer, PinnedQuestion
from polyjudge.runs.plan import prompt_hashes_of, rubric_of
from polyjudge.verdicts.items import with_passed


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
    return [answer_of(each) for each in given if isinstance(each, JudgeResult)]


def answer_of(result: JudgeResult) -> PinnedAnswer:
    """Return what is compared of a verdict."""
    return PinnedAnswer(score=result.score, verdict=result.verdict, passed=result.passed)
