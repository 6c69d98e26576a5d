"""Ask a judge about the meaning of messages: several of one language in a call, each question only once."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import cast

from msgspec.structs import replace

from polyjudge.checks.policy import CheckPolicy
from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import Slots, StopToken
from polyjudge.judges.asking import ProviderSource
from polyjudge.judges.base import ModelAddresses
from polyjudge.judges.grouped import BatchItem, GroupedJudge, GroupForm
from polyjudge.judges.rubric import identity_of_models
from polyjudge.judges.shared_calls import SharedCalls
from polyjudge.languages.table import LanguageTable
from polyjudge.providers.base import Provider
from polyjudge.records.findings import Finding, Severity
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.messages import Review, ReviewFinding, UnjudgedMessage
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.loading import load_rubric
from polyjudge.store.trust_cards import trust_in
from polyjudge.verdicts.trust import JudgeTrust

from .findings import review_finding, with_judgements
from .reviewing import MessageToJudge
from .verdict_store import MessageVerdict, VerdictStore

RUBRIC = "localisation"
MESSAGES_IN_A_CALL = 10
_KINDS = {"meaning": "wrong_meaning", "sense": "wrong_sense", "tone": "wrong_tone", "idiom": "too_literal"}
"""The finding of each criterion, the more serious first."""
_CAN_FAIL = {"meaning", "sense"}
_MAJOR, _MINOR = 2, 3
"""The highest scores of a major and of a minor error."""
_LONGEST_SUGGESTION = 2_000


@dataclass(frozen=True, slots=True)
class Question:
    """The question about one message; several places of the files may have the same one."""

    key: str
    item: BatchItem
    language: str


class Questions:
    """The questions about messages: which are answered already, and which are to be asked."""

    def __init__(
        self,
        messages: Sequence[MessageToJudge],
        model: str,
        table: LanguageTable,
        *,
        provider: Provider | None = None,
        store: VerdictStore | None = None,
        refresh: bool = False,
    ) -> None:
        self.messages = messages
        self.rubric = load_rubric(RUBRIC)
        self._store = store
        form = GroupForm("messages.txt", ("suggestion",))
        self._judge = GroupedJudge(self.rubric, model, provider=provider, allow_single=True, form=form)
        self.name = self._judge.asker.name
        """The model that is asked."""
        asked = [str(name) + address for name, address in self._judge.models]
        self._keys = list[str]()
        self.questions = dict[str, Question]()
        for each in messages:
            item = batch_item(each, table)
            key = fingerprint([*asked, self._judge.fingerprint, prompt_sha256(self._judge.prompt([item]))], 32)
            self._keys.append(key)
            self.questions.setdefault(key, Question(key, item, each.language))
        self.known = {} if store is None or refresh else store.known(self.questions)
        """The verdicts that were stored."""

    def items(self) -> list[Item]:
        """Return the items of a run: one for each question that is not answered yet, by language."""
        left = [each for key, each in self.questions.items() if key not in self.known]
        left.sort(key=lambda each: each.language)
        return [Item(each.key, each.item.candidate, _texts(each.item), each.language) for each in left]

    def judge(self) -> "MeaningJudge":
        """Return the judge of a run about those items."""
        left = [self.questions[item.id] for item in self.items()]
        return MeaningJudge(self._judge, left, self._store)

    def prompt(self) -> str:
        """Return the prompt of the first call."""
        left = [self.questions[item.id].item for item in self.items()] or [
            each.item for each in self.questions.values()
        ]
        return self._judge.prompt(left[:MESSAGES_IN_A_CALL]) if left else ""

    def answers(
        self, outcomes: Iterable[tuple[Item, RunOutcome]], trust: JudgeTrust, policy: CheckPolicy, table: LanguageTable
    ) -> "Answers":
        """Return the findings in all messages, from the stored verdicts and the outcomes of a run."""
        found = dict(outcomes_by_key(outcomes))
        answers = Answers(policy)
        for key, each in zip(self._keys, self.messages, strict=True):
            outcome = self.known.get(key) or found.get(key)
            if isinstance(outcome, MessageVerdict):
                is_trusted = trust.word(each.language, table) == "reliable"
                answers.add(each, outcome, trust.judge, is_trusted=is_trusted)
            else:
                answers.add_unjudged(each, outcome)
        return answers


def with_meaning(
    review: Review,
    questions: Questions,
    outcomes: Iterable[tuple[Item, RunOutcome]],
    policy: CheckPolicy,
    table: LanguageTable,
) -> Review:
    """Return a review with what a judge said of its messages, and how far the judge can be trusted."""
    judge = questions.name
    trust = trust_in(identity_of_models([judge], questions.rubric))
    answers = questions.answers(outcomes, trust, policy, table)
    joined = with_judgements(review, answers.findings, answers.unjudged, answers.judged, policy.accepted)
    languages = {each.language for each in questions.messages}
    return replace(joined, judge=str(judge), trust=trust_lines(trust, languages, table))


def outcomes_by_key(outcomes: Iterable[tuple[Item, RunOutcome]]) -> Iterator[tuple[str, MessageVerdict | str]]:
    """Yield the verdict on each question of a run, or why there is none."""
    for item, outcome in outcomes:
        if isinstance(outcome, JudgeResult):
            yield item.id, verdict_of(item.id, outcome)
        elif isinstance(outcome, Failure):
            yield item.id, outcome.reason


@dataclass(slots=True)
class Answers:
    """What a judge said of the messages, with the severities that the project wants."""

    policy: CheckPolicy
    findings: list[ReviewFinding] = field(default_factory=list[ReviewFinding])
    unjudged: list[UnjudgedMessage] = field(default_factory=list[UnjudgedMessage])
    judged: Counter[str] = field(default_factory=Counter[str])
    """Messages with a verdict, by language."""

    def add(self, asked: MessageToJudge, verdict: MessageVerdict, judge: str, *, is_trusted: bool) -> None:
        """Count a verdict, and add its finding if it has one."""
        self.judged[asked.language] += 1
        finding = finding_of(verdict, is_trusted=is_trusted)
        finding = self.policy.wanted(finding) if finding is not None else None
        if finding is not None:
            message = asked.message
            found = review_finding(finding, message, asked.file, asked.language, message.line)
            suggestion = "" if verdict.suggestion == message.translation else verdict.suggestion
            self.findings.append(replace(found, judge=judge, suggestion=suggestion))

    def add_unjudged(self, asked: MessageToJudge, reason: MessageVerdict | str | None) -> None:
        """Add a message without a verdict."""
        why = reason if isinstance(reason, str) else "not reached"
        message = asked.message
        self.unjudged.append(
            UnjudgedMessage(file=asked.file, line=message.line, key=message.key, language=asked.language, reason=why)
        )


def batch_item(asked: MessageToJudge, table: LanguageTable) -> BatchItem:
    """Return the question about a message; it does not depend on other translations."""
    message, known = asked.message, table.find(asked.language)
    context = {
        "language": f"{known.name} ({known.native_name})" if known else asked.language,
        "source": message.source,
        "key": "" if message.key == message.source else message.key,
        "context of the message": message.context,
        "what the developers say": message.comment,
        "plural form": message.plural,
        "texts before and after": "\n".join(asked.neighbours),
    }
    return BatchItem(message.translation, {name: text for name, text in context.items() if text.strip()})


def _texts(item: BatchItem) -> Mapping[str, str]:
    return {str(name): str(text) for name, text in item.context.items()}


def verdict_of(key: str, result: JudgeResult) -> MessageVerdict:
    """Return the verdict on a message, with the suggestion of its row."""
    try:
        row: object = json.loads(result.raw)
    except ValueError:
        row = None  # it was asked about alone
    suggestion = cast(dict[str, object], row).get("suggestion") if isinstance(row, dict) else ""
    return MessageVerdict(
        key=key,
        subscores=result.subscores,
        reason=result.reason,
        suggestion=suggestion.strip()[:_LONGEST_SUGGESTION] if isinstance(suggestion, str) else "",
        model=result.model,
        at=result.provenance.answered_at if result.provenance is not None else "",
    )


def finding_of(verdict: MessageVerdict, *, is_trusted: bool) -> Finding | None:
    """Return the finding of a verdict, by its worst criterion; None if there is no error.

    A judge that is not known to be reliable in the language warns at most.
    """
    scores = [(verdict.subscores.get(name, _MINOR + 1), place, name) for place, name in enumerate(_KINDS)]
    score, _, name = min(scores)
    if score > _MINOR:
        return None
    severity: Severity = "fail" if score <= _MAJOR and name in _CAN_FAIL and is_trusted else "warn"
    reason = " ".join(verdict.reason.split()) or "The judge gave no reason."
    return Finding(_KINDS[name], severity, reason)


class MeaningJudge:
    """Judges the questions of a run in calls about several; each verdict is stored by itself before it is reported."""

    def __init__(self, judge: GroupedJudge, questions: Sequence[Question], store: VerdictStore | None) -> None:
        self._judge = judge
        self._store = store
        # A group has one language, and is filled in order: a resumed run has the same ones.
        self._groups = [
            group
            for _, same in groupby(questions, key=lambda each: each.language)
            for group in _chunks(list(same), MESSAGES_IN_A_CALL)
        ]
        self._group_of = {each.key: number for number, group in enumerate(self._groups) for each in group}
        self._calls = SharedCalls[Mapping[str, Outcome]](None)

    @property
    def rubric(self) -> Rubric:
        """The rubric."""
        return self._judge.rubric

    @property
    def models(self) -> ModelAddresses:
        """The model with its address."""
        return self._judge.models

    @property
    def fingerprint(self) -> str:
        """Identifies the prompts."""
        return f"{self._judge.fingerprint} {MESSAGES_IN_A_CALL}"

    def bind(self, source: ProviderSource) -> "MeaningJudge":
        """Return this judge with its provider opened by a run; a dry run stores nothing."""
        bound = copy(self)
        bound._judge = self._judge.bind(source)
        bound._store = None if source.is_dry else self._store
        bound._calls = SharedCalls[Mapping[str, Outcome]](None)
        return bound

    async def prepare(self, stored: object, *, concurrency: int | Slots, stop: StopToken) -> None:
        """Let messages that wait for their group lend their slots."""
        del stored, stop
        self._calls = SharedCalls[Mapping[str, Outcome]](concurrency if isinstance(concurrency, Slots) else None)

    def settled(self, item: Item) -> None:
        """Return None: nothing is judged in the preparation."""
        del item

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - one call per group
        """Judge a message with its group."""
        number = self._group_of[item.id]
        answers = await self._calls.answer(number, partial(self._asked, self._groups[number]))
        return answers[item.id]

    async def aclose(self) -> None:
        """Close connections."""
        await self._judge.aclose()

    async def _asked(self, group: Sequence[Question]) -> Mapping[str, Outcome]:
        outcomes = await self._judge.outcomes([each.item for each in group])
        found = {each.key: outcome for each, outcome in zip(group, outcomes, strict=True)}
        verdicts = [verdict_of(key, outcome) for key, outcome in found.items() if isinstance(outcome, JudgeResult)]
        if self._store is not None and verdicts:
            at = utc_now()
            self._store.add([replace(verdict, at=verdict.at or at) for verdict in verdicts])
        return found


def _chunks(questions: Sequence[Question], size: int) -> Iterator[Sequence[Question]]:
    for start in range(0, len(questions), size):
        yield questions[start : start + size]


def trust_lines(trust: JudgeTrust, languages: Collection[str], table: LanguageTable) -> tuple[str, ...]:
    """Say for each language how far the judge can be believed, and what follows from it."""
    lines = list[str]()
    for tag in sorted(languages):
        word = trust.word(tag, table)
        why = f" ({trust.why})" if trust.card is None else ""
        effect = "" if word == "reliable" else "; what it finds is a warning at most"
        lines.append(f"{tag}: {trust.judge} is {word}{why}{effect}")
    return tuple(lines)
