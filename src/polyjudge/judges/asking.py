"""Send a judge's question to a model, and return the outcome in its reply."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, Protocol, TypedDict, cast

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.cache.protocol import cache_at
from polyjudge.errors import NotRecordedError, ProviderError, UnreadableReplyError
from polyjudge.providers.base import Provider, close_provider
from polyjudge.providers.caching import CachedProvider, ReplayProvider
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import open_provider, provider_entry
from polyjudge.providers.retrying import RetryingProvider
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.providers.services import address_of, is_own_server, is_remote
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Failure, FailureKind, JudgeResult, Outcome, Provenance
from polyjudge.records.requests import MOST_LOGPROBS, ModelName, Origin, Reply, Request
from polyjudge.records.runs import Event, Warned
from polyjudge.records.spans import ErrorSpan
from polyjudge.version import __version__

from .reply_text import without_reasoning

_THINKING_TOKENS = 8192


class Question(Struct, frozen=True):
    """A judge's question about one candidate."""

    prompt: str
    schema: Mapping[str, Any] | None
    """The schema of the answer; None if the answer is a plain word."""
    rubric: str
    fingerprint: str
    repeat: int = 0


def with_token_probabilities(fingerprint: str, wanted: bool) -> str:
    """Return the fingerprint of a judge: with token probabilities it is another run than without."""
    return f"{fingerprint} {MOST_LOGPROBS} logprobs" if wanted else fingerprint


class ReplyLimit(NamedTuple):
    """The maximum tokens of a short reply; one that is cut off before its answer is requested again with more."""

    local: int
    """For a local server, which may be slow and has no limit of its own."""
    remote: int | None
    """For a vendor, whose models may reason before they answer; None for the vendor's own limit."""


class Reading(TypedDict):
    """The verdict in a reply, under the names of the fields of a result."""

    score: float
    reason: str
    subscores: NotRequired[dict[str, float]]
    verdict: NotRequired[str]
    flags: NotRequired[dict[str, bool]]
    weighted_score: NotRequired[float | None]
    parse_method: str
    repaired: NotRequired[bool]
    spans: NotRequired[tuple[ErrorSpan, ...]]
    probabilities: NotRequired[dict[str, float]]
    other_probability: NotRequired[float | None]
    expected_score: NotRequired[float | None]


class ProviderSource(Protocol):
    """Opens the providers of a run: with its cache, retries, rate limits and budget."""

    @property
    def emit(self) -> Callable[[Event], None]:
        """Called with events for the caller of the run."""
        ...

    def open(self, name: ModelName) -> Provider:
        """Open the provider of a model."""
        ...

    def around(self, provider: Provider, name: ModelName) -> Provider:
        """Wrap a provider that the caller has opened with the run's cache, retries, rate limits and budget."""
        ...

    @property
    def is_dry(self) -> bool:
        """Whether calls are only counted."""
        ...


class Asker:
    """Sends questions to one model, through the given provider or the one in the model's name.

    Without a model, the default judge is asked. Without `max_tokens`, `limit` limits a reply, by the provider.
    `token_probabilities` asks for the log probabilities of the reply's tokens.
    """

    def __init__(
        self,
        model: str | ModelName,
        *,
        system: str = "",
        cache_db: Path | str | None = None,
        provider: Provider | None = None,
        max_tokens: int | None = None,
        limit: ReplyLimit | None = None,
        token_probabilities: bool = False,
    ) -> None:
        self.given_model = self._name = model or ("opus" if provider is None else provider.origin.provider)
        self._max_tokens = max_tokens
        self._limit = limit if max_tokens is None else None
        self._thinks = False
        self._top_logprobs = MOST_LOGPROBS if token_probabilities else None
        self._emit: Callable[[Event], None] = _warn
        self._has_warned = False
        self._system = system
        self._cache_db = cache_db
        self._given = provider
        self._opened: tuple[Provider, str] | None = None

    async def outcome(self, question: Question, read: Callable[[Reply], Reading]) -> Outcome:
        """Send a question and parse the reply; return a `Failure` if the provider fails, raise all other errors."""
        provider, model = self._open()
        request = Request(
            prompt=question.prompt,
            model=model,
            system=self._system,
            schema=question.schema,
            temperature=0.0,
            max_tokens=self._most_tokens(provider),
            repeat=question.repeat,
            top_logprobs=self._top_logprobs,
        )
        try:
            request, reply = await self._complete(provider, request)
        except ProviderError as error:
            reply = Reply(text="", model="", attempts=error.attempts)
            provenance = provenance_of(provider.origin, request, question, reply)
            return Failure(str(error), cast(FailureKind, error.kind), getattr(error, "text", ""), model, provenance)
        if self._top_logprobs is not None and not reply.tokens and not self._has_warned:
            self._has_warned = True
            self._emit(Warned(f"{self.name} {_why_no_tokens(reply)}, so its results have no token probabilities."))
        return _read(reply, read, provenance_of(provider.origin, request, question, reply))

    @cached_property
    def name(self) -> ModelName:
        """The model, with its provider."""
        if self._given is not None:
            return ModelName(self._given.origin.provider, str(self._name))
        return self._name if isinstance(self._name, ModelName) else resolve_model(self._name)

    @property
    def wants_tokens(self) -> bool:
        """Whether it asks for token probabilities."""
        return self._top_logprobs is not None

    def model(self) -> tuple[ModelName, str]:
        """Return the model with its address, which is empty for the vendor's own."""
        return self.name, address_of(self.name.provider) if self._given is None else self._given.origin.base_url

    def bind(self, stack: ProviderSource) -> "Asker":
        """Return this asker with a provider opened by a run, or with its own provider wrapped by the run."""
        bound, name = copy(self), self.name
        bound._cache_db, bound._opened, bound._thinks = None, None, False
        bound._emit, bound._has_warned = stack.emit, False
        if self._given is not None:
            bound._given = stack.around(self._given, name)
        else:
            bound._given, bound._name = stack.open(name), name.model
        return bound

    def _most_tokens(self, provider: Provider) -> int | None:
        name = provider.origin.provider
        if self._limit is None or not is_remote(name) or provider_entry(name).is_agent:
            return self._max_tokens  # programs and recordings accept no limit
        if self._thinks:
            return _THINKING_TOKENS
        return self._limit.local if is_own_server(name) else self._limit.remote

    async def _complete(self, provider: Provider, request: Request) -> tuple[Request, Reply]:
        """Return the reply and its request, which has a higher limit if the judge reasons before it answers."""
        if self._limit is None or request.max_tokens in (None, _THINKING_TOKENS):
            return request, await provider.complete(request)
        longer = replace(request, max_tokens=_THINKING_TOKENS)
        if isinstance(provider, ReplayProvider):
            # The reply may be stored under the higher limit, or under none by an earlier version.
            for other in (request, longer):
                with suppress(NotRecordedError):
                    return other, await provider.complete(other)
            request = replace(request, max_tokens=None)
            return request, await provider.complete(request)
        reply = await provider.complete(request)
        if reply.finish != "length" or without_reasoning(reply.text).strip():
            return request, reply
        self._thinks = True
        return longer, await provider.complete(longer)

    async def aclose(self) -> None:
        """Close connections; the next question opens new ones."""
        if self._opened is not None:
            await close_provider(self._opened[0])

    def _open(self) -> tuple[Provider, str]:
        """Open the provider on the first question: a judge can be created and show its prompts without a key."""
        if self._opened is None:
            provider, model = self._given, str(self._name)
            if provider is None:
                provider, model = open_provider(self.name), self.name.model
                if not isinstance(provider, ScriptedProvider):  # a recording does not change
                    provider = RetryingProvider(provider)
            if self._cache_db is not None:
                provider = CachedProvider(provider, cache_at(self._cache_db))
            self._opened = provider, model
        return self._opened


def _warn(event: Event) -> None:
    """Warn the caller of a judge outside a run."""
    if isinstance(event, Warned):
        warnings.warn(event.message, stacklevel=4)


def _why_no_tokens(reply: Reply) -> str:
    return "does not give the probabilities of tokens" if "top_logprobs" in reply.dropped else "returned no tokens"


def _read(reply: Reply, read: Callable[[Reply], Reading], provenance: Provenance) -> Outcome:
    if reply.finish == "refusal":
        return Failure("the judge declined to answer", "refused", reply.text, reply.model, provenance)
    try:
        reading = read(reply)
    except UnreadableReplyError as error:
        reason = f"the reply was cut off: {error}" if reply.finish == "length" else str(error)
        return Failure(reason, "unreadable", reply.text, reply.model, provenance)
    model, raw, took_ms, cached = reply.model, reply.text, reply.duration_ms, reply.cached
    return JudgeResult(**reading, model=model, duration_ms=took_ms, cached=cached, raw=raw, provenance=provenance)


def provenance_of(origin: Origin, request: Request, question: Question, reply: Reply) -> Provenance:
    """Return the provenance of the reply to a request."""
    return Provenance(
        provider=origin.provider,
        base_url=origin.base_url,
        model=request.model,
        model_answered=reply.model,
        rubric=question.rubric,
        rubric_fingerprint=question.fingerprint,
        prompt_sha256=prompt_sha256(request.prompt),
        parameters=reply.parameters,
        dropped=reply.dropped,
        repeat=request.repeat,
        attempts=reply.attempts,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
        answered_at=reply.answered_at,
        client=reply.client,
        batch=reply.batch,
        response_id=reply.response_id,
        cached=reply.cached,
        polyjudge_version=__version__,
    )
