"""Score a candidate by a rubric in one call."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from polyjudge.errors import ConfigError, UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.calibration import JudgeIdentity, TrustCard
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Outcome
from polyjudge.records.requests import ModelName, Reply
from polyjudge.records.rubrics import Rubric, RubricCriterion, Scale
from polyjudge.rubrics.loading import check_rubric, load_rubric
from polyjudge.rubrics.prompts import PromptRenderer, answer_schema, judged_texts, render_prompt, rubric_fingerprint
from polyjudge.store.trust_cards import find_card, read_card
from polyjudge.text.numbers import plain_number
from polyjudge.verdicts.items import with_passed

from . import base
from .asking import Asker, Question, Reading, with_token_probabilities
from .judged_text import ReplyContext
from .parsing import JudgeJson, read_reply
from .token_probabilities import Probabilities, number_probabilities, place_of_number

if TYPE_CHECKING:
    from polyjudge.checks.policy import CheckPolicy


def judge_identity(provider: str, model: str, rubric: Rubric) -> JudgeIdentity:
    """Return the identity of a provider's model as a judge by a rubric."""
    return JudgeIdentity(
        provider=provider,
        model=model,
        rubric=rubric.name,
        rubric_fingerprint=rubric_fingerprint(rubric),
        prompt_sha256=prompt_sha256(render_prompt(rubric, "")),
    )


def identity_of_models(
    judges: Sequence[ModelName], rubric: Rubric, *, checks: "CheckPolicy | None" = None
) -> JudgeIdentity:
    """Return the identity of a judge by these models: of one model, of a jury, or of the checks if there are none."""
    if not judges:
        from .offline import offline_model  # here, because most runs have a model

        return judge_identity("offline", offline_model(checks), rubric)
    if len(judges) == 1:
        return judge_identity(judges[0].provider, judges[0].model, rubric)
    return judge_identity("jury", "+".join(map(str, judges)), rubric)


def trust_card(judge: base.ItemJudge | Path | str) -> TrustCard | None:
    """Return the trust card of a judge by a rubric, or the one in a file.

    Return None if there is no card of this judge, or the judge has changed since.
    """
    if isinstance(judge, Path | str):
        return read_card(Path(judge))
    rubric: object = getattr(judge, "rubric", None)
    if not isinstance(rubric, Rubric):
        raise ConfigError("only judges by a rubric have trust cards")
    models: base.ModelAddresses = getattr(judge, "models", ())
    checks: CheckPolicy | None = getattr(judge, "policy", None)
    return find_card(identity_of_models([name for name, _ in models], rubric, checks=checks)).card


def weighted_mean(rubric: Rubric, subscores: Mapping[str, float]) -> float | None:
    """Return the mean of the subscores by the criteria's weights; None unless every criterion has one."""
    total = weights = 0.0
    for criterion in rubric.criteria:
        score = subscores.get(criterion.name)
        if score is None:
            return None
        total += criterion.weight * score
        weights += criterion.weight
    return total / weights


def with_expected_score(rubric: Rubric, reading: Reading, found: JudgeJson, reply: Reply) -> Reading:
    """Return a reading with its expected score, if it is certain which tokens are the scores that make it up."""

    def probabilities(key: str, value: float) -> Probabilities | None:
        place = place_of_number(reply.text, found, key, value)
        return None if place is None else number_probabilities(reply, place, rubric.scale)

    if rubric.overall:
        own = probabilities("score", reading["score"])
        if own is None:
            return reading
        expected = own.expected({name: float(name) for name in own.values})
        return {**reading, "probabilities": own.values, "other_probability": own.other, "expected_score": expected}
    means = dict[str, float]()
    for name, value in reading.get("subscores", {}).items():
        own = probabilities(name, value)
        if own is not None:
            means[name] = own.expected({each: float(each) for each in own.values})
    return {**reading, "expected_score": weighted_mean(rubric, means)}


_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


def read_verdict(rubric: Rubric, found: JudgeJson) -> Reading:
    """Return the verdict in one reply, or one row of it; raise `ValueError` if it is no verdict by the rubric."""
    subscores = _subscores(rubric, found)
    weighted = weighted_mean(rubric, subscores)
    own = read_number(found.value["score"], rubric.scale, "score") if rubric.overall else weighted
    if own is None or (weighted is None and rubric.passing is not None):
        # Without all scores the pass rule cannot be applied, so this is not a failed candidate.
        missing = [criterion.name for criterion in rubric.criteria if criterion.name not in subscores]
        raise ValueError(f"no score for {', '.join(missing)}")
    return {
        "score": own,
        "reason": _text(found.value.get("reason")),
        "subscores": subscores,
        "flags": {flag.name: _yes_or_no(flag.name, found.value[flag.name]) for flag in rubric.flags},
        "weighted_score": weighted,
        "parse_method": found.parse_method,
        "repaired": found.repaired,
    }


def _subscores(rubric: Rubric, found: JudgeJson) -> dict[str, float]:
    """Return the scores of the rubric's criteria; other scores of the judge are ignored."""
    is_flat = found.parse_method == "lines" or not (rubric.overall or "subscores" in found.value)
    scores = found.value if is_flat else found.value.get("subscores") or {}
    if not isinstance(scores, dict):
        raise ValueError(f"'subscores' must be an object, not {scores!r}")
    by_name: dict[str, list[Any]] = {}
    for name, value in cast(dict[str, Any], scores).items():
        by_name.setdefault(str(name).casefold(), []).append(value)
    subscores: dict[str, float] = {}
    for criterion in rubric.criteria:
        same_name = by_name.get(criterion.name.casefold())
        if same_name is None:
            continue
        values = {read_number(value, rubric.scale, criterion.name) for value in same_name}
        if len(values) > 1:
            raise ValueError(f"{criterion.name} is given twice with different values")
        subscores[criterion.name] = values.pop()
    return subscores


def read_number(value: object, scale: Scale, name: str) -> float:
    """Return a number of the scale from 85, 85.0, '85' or '85/100'; raise `ValueError` with the name for others."""
    if (type(value) is float or type(value) is int) and scale.lowest <= value <= scale.highest:
        return float(value)
    number = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        # An integer too large for a float is outside every scale; infinity avoids an OverflowError.
        number = float(value) if abs(value) < 1e300 else math.inf
    elif isinstance(value, str) and (parts := plain_number(value)) and parts[1] in (None, scale.highest):
        number = parts[0]
    if number is None:
        raise ValueError(f"{name}: {value!r} is not a number")
    if not math.isfinite(number) or not scale.lowest <= number <= scale.highest:
        raise ValueError(f"{name}: {value!r} is off the scale {scale.lowest:g} to {scale.highest:g}")
    return number


def _yes_or_no(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _YES_NO:
        return _YES_NO[value.strip().casefold()]
    raise ValueError(f"{name}: expected true or false, found {value!r}")


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(map(str, cast(list[object], value)))
    return str(value)


class RubricJudge:
    """Asks a model to score a candidate by criteria on a scale of 0 to 100, or by a rubric.

    Args:
        criteria: The criteria, or a `Rubric` with its own scale, wording and flags.
        model: An alias, by default "opus", or "provider/model", also as a `ModelName`. With `provider` it is passed on
            unchanged, and is by default the provider's name.
        system: System prompt.
        cache_db: SQLite file, or URL of PostgreSQL, that stores all replies, so that no question is paid for twice.
        prompt_template: The prompt, with {criteria} {candidate} {context} {subscores_schema} to be filled in.
        provider: Used instead of the provider in the model's name.
        max_tokens: Maximum tokens of a reply; None for the provider's own limit.
        token_probabilities: Ask for the probabilities of tokens, which providers charge for in replies that are longer
            to send; results then have the expected score and its distribution, if the provider gives them.
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
        criteria: Sequence[RubricCriterion] | Rubric | str,
        model: str | ModelName = "",
        system: str = "",
        cache_db: Path | str | None = None,
        prompt_template: str = "",
        provider: Provider | None = None,
        max_tokens: int | None = None,
        *,
        token_probabilities: bool = False,
    ) -> None:
        self.rubric = _rubric(criteria, prompt_template)
        check_rubric(self.rubric)
        if self.rubric.spans is not None:
            raise ConfigError(f"the rubric {self.rubric.name!r} asks for error spans; use SpanJudge")
        self.asked_fingerprint = rubric_fingerprint(self.rubric)
        self.fingerprint = with_token_probabilities(self.asked_fingerprint, token_probabilities)
        self._schema = answer_schema(self.rubric)
        self._renderer = PromptRenderer(self.rubric)
        names = [criterion.name for criterion in self.rubric.criteria]
        flags = [flag.name for flag in self.rubric.flags]
        overall = ["score"] if self.rubric.overall else []
        self._wanted = [*(overall or ["subscores"]), *flags]
        self._on_lines = [*(overall or names), *flags]
        self._also = [*names, "reason"]
        self.asker = Asker(
            model,
            system=system,
            cache_db=cache_db,
            provider=provider,
            max_tokens=max_tokens,
            token_probabilities=token_probabilities,
        )
        self.model = self.asker.given_model

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Return the result for one candidate, or a failure with its reason."""
        prompt = self.build_prompt(candidate, context)
        question = Question(prompt, self._schema, self.rubric.name, self.asked_fingerprint, repeat)
        read = partial(self._read, judged=judged_texts(candidate, context))
        return with_passed(self.rubric, await self.asker.outcome(question, read))

    def build_prompt(self, candidate: str, context: Mapping[str, Any] | None = None) -> str:
        """Return the prompt that would be sent."""
        return self._renderer.render(candidate, context)

    _build_prompt = build_prompt  # the founding document's name

    def _read(self, reply: Reply, judged: tuple[str, ...]) -> Reading:
        try:
            found = self._find(reply, ReplyContext(judged, self.rubric.scale))
            reading = read_verdict(self.rubric, found)
            return with_expected_score(self.rubric, reading, found, reply) if reply.tokens else reading
        except UnreadableReplyError:
            raise
        except ValueError as error:
            raise UnreadableReplyError(str(error), text=reply.text) from None

    def _find(self, reply: Reply, context: ReplyContext) -> JudgeJson:
        """Return the values in the reply, with the subscores in their own object or, failing that, beside the rest."""
        read = partial(
            read_reply,
            reply.text,
            schema_enforced=reply.schema_enforced,
            cut_off=reply.finish == "length",
            context=context,
        )
        try:
            return read(self._wanted, on_lines=self._on_lines, also=self._also)
        except UnreadableReplyError:
            if self.rubric.overall:
                raise
            return read(self._on_lines, also=["reason"])


def _rubric(criteria: Sequence[RubricCriterion] | Rubric | str, template: str) -> Rubric:
    if isinstance(criteria, str):
        criteria = load_rubric(criteria)
    if not isinstance(criteria, Rubric):
        general = load_rubric("general")
        criteria = Rubric(name="custom", instruction=general.instruction, criteria=tuple(criteria), scale=general.scale)
    return replace(criteria, instruction=template) if template else criteria
