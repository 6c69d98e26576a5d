"""Choose one of several labels, or one of two verdicts."""

import unicodedata
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from polyjudge.errors import ConfigError, UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import JudgeResult, Outcome
from polyjudge.records.requests import ModelName, Reply
from polyjudge.rubrics.prompts import FENCE_NOTE, fence, fill_template, judged_texts, render_context

from . import base
from .asking import Asker, ProviderSource, Question, Reading, ReplyLimit, with_token_probabilities
from .judged_text import ReplyContext
from .parsing import JudgeJson, read_reply
from .reply_text import first_turn, without_reasoning
from .token_probabilities import Probabilities, label_probabilities, place_of_label

LABEL_LIMIT = ReplyLimit(local=2048, remote=None)
"""The limit of a reply with one label and a brief reason."""
_AROUND_LABEL = " \t\r\n*_`#>\"'“”‘’«».。।!:"


class ChoiceJudge:
    """Asks a model which label fits a candidate.

    A list of labels goes from best to worst, with scores in equal steps from 1.0 to 0.0. Otherwise, give a mapping of
    labels to scores, or use only the result's `verdict`.

    With `token_probabilities`, results have the probability of each label, if the provider gives those of tokens.
    """

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync
    judge = base.judge
    bind = base.bind
    aclose = base.aclose
    models = property(base.models)

    def __init__(
        self,
        labels: Sequence[str] | Mapping[str, float],
        model: str | ModelName = "",
        system: str = "",
        cache_db: Path | str | None = None,
        provider: Provider | None = None,
        *,
        token_probabilities: bool = False,
    ) -> None:
        self.labels = Labels(labels)
        self._template = read_prompt("choice")
        self.asked_fingerprint = fingerprint([self._template, self.labels.scores], 16)
        self.fingerprint = with_token_probabilities(self.asked_fingerprint, token_probabilities)
        self.asker = Asker(
            model,
            system=system,
            cache_db=cache_db,
            provider=provider,
            limit=LABEL_LIMIT,
            token_probabilities=token_probabilities,
        )
        self.model = self.asker.given_model

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the result for one candidate, or a failure with its reason."""
        prompt = self.build_prompt(candidate, context)
        question = Question(prompt, self.labels.schema(), "choice", self.asked_fingerprint, repeat)
        return await self.asker.outcome(question, partial(self.labels.read, judged=judged_texts(candidate, context)))

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        filled = fill_template(
            self._template,
            labels=self.labels.listed(),
            context=render_context(context or {}),
            candidate=fence(candidate),
        )
        return f"{FENCE_NOTE}\n\n{filled}"


class Labels:
    """The labels of a choice and their scores; parses a reply for one of them."""

    def __init__(self, labels: Sequence[str] | Mapping[str, float], *, called: str = "") -> None:
        if isinstance(labels, str):
            raise ConfigError(f"labels must be a list, not the text {labels!r}")
        names = list(labels)
        if len(names) < 2:
            raise ConfigError(f"a choice needs at least 2 labels, got {len(names)}")
        self._by_form = {_form(name): name for name in names}
        if len(self._by_form) != len(names) or "" in self._by_form:
            raise ConfigError(f"labels must be different words, not {names!r}")
        if called:  # the prompt speaks of "Answer A", and so may the judge
            self._by_form |= {f"{called} {form}": name for form, name in list(self._by_form.items())}
        steps = len(names) - 1
        even = {name: 1.0 - place / steps for place, name in enumerate(names)}
        self.scores = dict(labels) if isinstance(labels, Mapping) else even

    def listed(self) -> str:
        """Return the labels as an enumeration: a, b or c."""
        *most, last = self.scores
        return f"{', '.join(most)} or {last}"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the answer."""
        properties = {"verdict": {"type": "string", "enum": list(self.scores)}, "reason": {"type": "string"}}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

    def read(self, reply: Reply, judged: tuple[str, ...] = ()) -> Reading:
        """Return the label that a reply chooses; raise an error if it is not one of the labels.

        Args:
            reply: The judge's reply.
            judged: The texts in the prompt.
        """
        found = self._find(reply, ReplyContext(judged, labels=tuple(self.scores)))
        label = self._by_form.get(_form(str(found.value["verdict"])))
        if label is None:
            message = f"the verdict must be {self.listed()}, not {found.value['verdict']!r}"
            raise UnreadableReplyError(message, text=reply.text)
        reading: Reading = {
            "score": self.scores[label],
            "reason": str(found.value.get("reason") or ""),
            "verdict": label,
            "parse_method": found.parse_method,
            "repaired": found.repaired,
        }
        shares = self._probabilities(reply, found, label) if reply.tokens else None
        if shares is not None:
            reading["probabilities"], reading["other_probability"] = shares
            reading["expected_score"] = shares.expected(self.scores)
        return reading

    def _probabilities(self, reply: Reply, found: JudgeJson, label: str) -> Probabilities | None:
        place = place_of_label(reply.text, found, "verdict", label)
        return None if place is None else label_probabilities(reply, place, tuple(self.scores))

    def _find(self, reply: Reply, context: ReplyContext) -> JudgeJson:
        bare = _form(without_reasoning(first_turn(reply.text)))
        if bare in self._by_form and reply.finish != "length":
            return JudgeJson({"verdict": bare}, "label")
        return read_reply(
            reply.text,
            ["verdict"],
            also=["reason"],
            schema_enforced=reply.schema_enforced,
            cut_off=reply.finish == "length",
            context=context,
        )


def read_prompt(name: str) -> str:
    """Return the text of a shipped prompt."""
    return (files("polyjudge.judges") / "prompts" / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


def _form(label: str) -> str:
    """Return a label in one spelling, without the markup that judges put around it."""
    return unicodedata.normalize("NFC", label).strip(_AROUND_LABEL).casefold()


class BinaryJudge:
    """Scores 1.0 for the first verdict and 0.0 for the second; other replies are failures."""

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync
    judge = base.judge

    def __init__(
        self,
        verdicts: Sequence[str],
        model: str | ModelName = "",
        system: str = "",
        cache_db: Path | str | None = None,
        provider: Provider | None = None,
        *,
        token_probabilities: bool = False,
    ) -> None:
        if isinstance(verdicts, str) or len(verdicts) != 2:
            count = 1 if isinstance(verdicts, str) else len(verdicts)
            raise ConfigError(f"BinaryJudge requires exactly 2 verdicts, got {count}")
        self.verdicts = list(verdicts)
        self._choice = ChoiceJudge(
            self.verdicts, model, system, cache_db, provider, token_probabilities=token_probabilities
        )
        self.model = self._choice.model

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the result for one candidate, or a failure with its reason."""
        outcome = await self._choice.outcome(candidate, context, repeat=repeat)
        return replace(outcome, passed=outcome.score == 1.0) if isinstance(outcome, JudgeResult) else outcome

    def bind(self, source: ProviderSource) -> "BinaryJudge":
        """Return this judge with its provider opened by a run."""
        bound = copy(self)
        bound._choice = self._choice.bind(source)
        return bound

    @property
    def models(self) -> tuple[tuple[ModelName, str], ...]:
        """The judge's model with its address."""
        return self._choice.models

    @property
    def fingerprint(self) -> str:
        """A hash that changes with the prompt."""
        return self._choice.fingerprint

    async def aclose(self) -> None:
        """Close the provider's connections; the next question opens new ones."""
        await self._choice.aclose()

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        return self._choice.build_prompt(candidate, context)

    _build_prompt = build_prompt  # the founding document's name
