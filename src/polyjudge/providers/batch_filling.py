"""A batch that is being filled."""

import secrets
from collections.abc import Mapping

from polyjudge.clock import utc_now
from polyjudge.records import BatchForm, BatchIntent, Origin, Request

from .batch_clients import BatchLimits, item_name


class OpenBatch:
    """Requests of one form to one model that wait to be handed over together."""

    def __init__(self, limits: BatchLimits) -> None:
        self._limits = limits
        self._requests: dict[str, Request] = {}
        self._bytes = self._most_tokens = 0
        self._most_cost = 0.0

    def __len__(self) -> int:
        return len(self._requests)

    def __contains__(self, key: str) -> bool:
        return key in self._requests

    def has_room_for(self, size: int) -> bool:
        """Say whether a request of so many bytes still fits; one alone always does."""
        if not self._requests:
            return True
        return len(self._requests) < self._limits.requests and self._bytes + size <= self._limits.bytes

    @property
    def is_full(self) -> bool:
        """Not even a small request fits any more."""
        return len(self._requests) >= self._limits.requests or self._bytes >= self._limits.bytes

    @property
    def most(self) -> tuple[int, float]:
        """The most tokens and dollars that all can take."""
        return self._most_tokens, self._most_cost

    def add(self, key: str, request: Request, size: int, most: tuple[int, float]) -> None:
        """Put in a request, with the most tokens and dollars that it can take."""
        self._requests[key] = request
        self._bytes += size
        self._most_tokens += most[0]
        self._most_cost += most[1]

    def intent(self, origin: Origin, model: str, form: BatchForm) -> BatchIntent:
        """Return what is to be written down before this is handed over, under a new tag."""
        return BatchIntent(
            tag=f"pj{secrets.token_hex(8)}",
            provider=origin.provider,
            base_url=origin.base_url,
            model=model,
            created_at=utc_now(),
            form=form,
            most_tokens=self._most_tokens,
            most_cost_usd=self._most_cost,
            keys=tuple(self._requests),
        )

    def named(self, tag: str) -> Mapping[str, Request]:
        """Return the requests under the names that they have in the batch."""
        return {item_name(tag, key): request for key, request in self._requests.items()}
