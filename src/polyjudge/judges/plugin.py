"""Judges of plugins: add the provenance to their results, and turn their errors into failures."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec.structs import replace

from polyjudge.errors import PolyjudgeError, ProviderError, StoppedError, UnreadableReplyError
from polyjudge.plugins import PLUGINS, described
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.outcomes import Failure, FailureKind, Item, JudgeResult, Outcome, Provenance
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.prompts import PromptRenderer, rubric_fingerprint
from polyjudge.verdicts.items import with_passed
from polyjudge.version import __version__

from . import base
from .asking import ProviderSource
from .base import ItemJudge, ModelAddresses, bound, close_judge

_NO_MODEL = "default"


def judge_plugin_name(name: str) -> ModelName:
    """Return the name that results and trust cards have for a plugin's judge `NAME` or `NAME/MODEL`."""
    judge, _, model = name.partition("/")
    return ModelName(judge, model or _NO_MODEL)


class PluginJudge:
    """A plugin's judge by a rubric; an error that it raises is a failure of one item."""

    score = base.score
    score_batch = base.score_batch
    score_sync = base.score_sync
    score_batch_sync = base.score_batch_sync

    def __init__(self, name: ModelName, rubric: Rubric, inner: ItemJudge | None = None) -> None:
        model = "" if name.model == _NO_MODEL else name.model
        self.name = name
        self.rubric = rubric
        self._plugin = PLUGINS.plugin("judges", name.provider)
        self._inner = inner or cast(ItemJudge, PLUGINS.make("judges", name.provider, rubric, model))
        own: str = getattr(self._inner, "fingerprint", f"{self._plugin.package} {self._plugin.version}")
        self.fingerprint = fingerprint([rubric_fingerprint(rubric), own], 16)
        self._renderer = PromptRenderer(rubric)
        """Renders a prompt that identifies the item, if the judge does not report its own."""
        self.models: ModelAddresses = getattr(self._inner, "models", ((name, ""),))

    def bind(self, source: ProviderSource) -> "PluginJudge":
        """Return this judge with its providers opened by a run, if it supports that."""
        return PluginJudge(self.name, self.rubric, bound(self._inner, source))

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:
        """Judge an item of a run."""
        try:
            outcome = _checked(await self._inner.judge(item, repeat=repeat))
        except StoppedError:
            raise
        except (ProviderError, UnreadableReplyError) as error:
            outcome = Failure(str(error), cast(FailureKind, error.kind), getattr(error, "text", ""))
        except PolyjudgeError:
            raise
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            outcome = Failure(f"{self._plugin} failed: {described(error)}", "provider_error")
        outcome = with_passed(self.rubric, outcome)
        if outcome.provenance is not None:
            return outcome
        return replace(outcome, model=outcome.model or self.name.model, provenance=self._provenance(item, repeat))

    async def outcome(self, candidate: str, context: Mapping[str, Any] | None = None, *, repeat: int = 0) -> Outcome:
        """Judge a text with its context."""
        given = {name: str(value) for name, value in (context or {}).items()}
        return await self.judge(Item("", candidate, given, given.get("language", "")), repeat=repeat)

    async def aclose(self) -> None:
        """Close the plugin's judge."""
        await close_judge(self._inner)

    def _provenance(self, item: Item, repeat: int) -> Provenance:
        return Provenance(
            provider=self.name.provider,
            model=self.name.model,
            rubric=self.rubric.name,
            rubric_fingerprint=rubric_fingerprint(self.rubric),
            prompt_sha256=prompt_sha256(self._renderer.render(item.candidate, item.context)),
            repeat=repeat,
            client=f"{self._plugin.package} {self._plugin.version}".strip(),
            polyjudge_version=__version__,
        )


def _checked(outcome: object) -> Outcome:
    if not isinstance(outcome, JudgeResult | Failure):
        raise TypeError(f"{outcome!r} is neither a JudgeResult nor a Failure")
    return outcome
