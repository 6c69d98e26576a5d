"""What a run may spend, what it has spent, and what it is expected to spend."""

from dataclasses import dataclass


@dataclass(slots=True)
class Estimate:
    """What a run would take; tokens and cost are estimates."""

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that a run may use; None is no cap."""

    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(slots=True)
class Spent:
    """What a run has used so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    """Calls whose cost nobody knows."""
    rate_limited: int = 0
    lost_calls: int = 0
    """Calls that broke off without an answer; they may have been charged, and the caps count them as if."""
    lost_tokens: int = 0
    lost_cost_usd: float = 0.0
    in_flight: int = 0
    """Calls that are being made now."""

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens
