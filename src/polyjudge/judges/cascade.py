"""Ask a cheap judge first, and the next one only where it is not sure; where none is, people are to say."""

from collections.abc import Sequence
from copy import copy

from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.verdicts.confidence import confidence_of

from .asking import ProviderSource
from .base import ItemJudge, ModelAddresses, asked_fingerprint, bound, close_judge
from .jury import joint_provenance


class Cascade:
    """Asks its judges one after the other, until one is as sure as the plan wants in the language of the item.

    The result is that judge's, with its name in `answered_by`; `members` has the outcomes of all that were asked, if
    there were several. Where none is sure enough, the outcome is an abstention: a failure of the kind `abstained`.
    """

    def __init__(self, judges: Sequence[ItemJudge], plan: CascadePlan) -> None:
        _refuse_other_judges(judges, plan)
        self.judges = tuple(judges)
        self.plan = plan
        self.rubric: object = getattr(self.judges[0], "rubric", None)

    @property
    def models(self) -> ModelAddresses:
        """The judges' models with their addresses."""
        return tuple(model for judge in self.judges for model in getattr(judge, "models", ()))

    @property
    def fingerprint(self) -> str:
        """A hash that changes with the prompts of the judges and with the plan."""
        plan = self.plan
        own = [getattr(judge, "fingerprint", "") for judge in self.judges]
        return fingerprint([own, plan.rule, plan.languages, sorted(plan.groups.items())], 16)

    @property
    def repeats(self) -> int:
        """How often each judge is asked about an item."""
        return self.plan.repeats

    def bind(self, source: ProviderSource) -> "Cascade":
        """Return this cascade with the providers of its judges opened by a run."""
        cascade = copy(self)
        cascade.judges = tuple(bound(judge, source) for judge in self.judges)
        return cascade

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Return the result of the first judge that is sure enough, or an abstention."""
        name = item.language if item.language in self.plan.groups else ""
        group = self.plan.groups.get(name)
        if group is None or (not name and item.language not in self.plan.languages):
            language = f"the language {item.language!r}" if item.language else "items without a language"
            return Failure(f"the cascade has no guarantee for {language}", "abstained")
        asked: list[Outcome] = []
        said: list[str] = []
        for judge, threshold in zip(self.judges, group.thresholds, strict=True):
            outcome = await judge.judge(item, repeat=repeat)
            if isinstance(outcome, Failure) and outcome.kind == "not_recorded":  # its batch is not back, or a dry run
                return outcome
            asked.append(outcome)
            sure = confidence_of(outcome, self.plan.rule)
            if isinstance(outcome, JudgeResult) and sure is not None and threshold is not None and sure >= threshold:
                members = tuple(asked) if len(asked) > 1 else outcome.members
                return replace(outcome, answered_by=_name_of(judge), confidence=round(sure, 6), members=members)
            said.append(f"{_name_of(judge)} {'had no verdict' if sure is None else f'{sure:.3g}'}")
        if isinstance(asked[-1], Failure):
            return replace(asked[-1], members=tuple(asked))
        reason = f"no judge was confident enough: {', '.join(said)}"
        return Failure(reason, "abstained", provenance=joint_provenance(asked), members=tuple(asked))

    async def aclose(self) -> None:
        """Close the judges' connections."""
        for judge in self.judges:
            await close_judge(judge)


def _name_of(judge: object) -> str:
    return ", ".join(str(name) for name, _ in getattr(judge, "models", ()))


def _refuse_other_judges(judges: Sequence[ItemJudge], plan: CascadePlan) -> None:
    """Refuse judges for which the plan says nothing."""
    own = [_name_of(judge) for judge in judges]
    planned = [str(ModelName(judge.provider, judge.model)) for judge in plan.judges]
    again = "Learn a new plan, or use the same settings as the plan"
    if not all(judge.provider for judge in plan.judges):
        files = ", ".join(judge.model for judge in plan.judges if not judge.provider)
        message = (
            f"the plan cannot be used to ask models, because it was learnt from files that name no model ({files})"
        )
        raise ConfigError(f"{message}. Learn one from results of polyjudge score or pairwise")
    if own != planned:
        raise ConfigError(f"the plan is for {' → '.join(planned)}, not for {' → '.join(own)}. {again}")
    for judge, known in zip(judges, plan.judges, strict=True):
        if asked_fingerprint(judge) != known.rubric_fingerprint:
            raise ConfigError(f"the plan was learnt with another rubric or prompt ({known.rubric!r}). {again}")
    repeats: list[int] = [getattr(judge, "repeats", 1) for judge in judges]
    if set(repeats) != {plan.repeats}:
        raise ConfigError(f"the plan was learnt with repeats: {plan.repeats}, not {repeats[0]}. {again}")
    if not plan.groups:
        raise ConfigError("the plan has no thresholds, because its target could not be guaranteed")
