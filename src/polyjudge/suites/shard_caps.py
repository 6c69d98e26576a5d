"""What a run may use, shared among the shards that are judged at once: calls in flight, rates, and caps."""

from dataclasses import dataclass, fields

from polyjudge.providers import Caps, Spent


@dataclass(frozen=True, slots=True)
class Share:
    """What one shard may use while it is judged."""

    concurrency: int
    rpm: float | None = None
    tpm: float | None = None


def shares(most: int, *, concurrency: int, rpm: float | None = None, tpm: float | None = None) -> list[Share]:
    """Divide what a run may use by so many shards at most; there are never more shares than calls in flight."""
    count = min(most, concurrency)
    each, over = divmod(concurrency, count)
    return [
        Share(each + (number < over), None if rpm is None else rpm / count, None if tpm is None else tpm / count)
        for number in range(count)
    ]


class Allowance:
    """The caps of a run, of which each shard is granted a part before it is begun; together they never go over."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._used = _Amounts()
        self._granted = _Amounts()

    def grant(self, parts: int) -> Caps | None:
        """Grant one of so many equal parts of what is left; None where nothing is left."""
        caps, used, granted = self._caps, self._used, self._granted
        grant = Caps(
            None if caps.calls is None else -((caps.calls - used.calls - granted.calls) // -parts),
            None if caps.tokens is None else -((caps.tokens - used.tokens - granted.tokens) // -parts),
            None if caps.cost_usd is None else (caps.cost_usd - used.cost_usd - granted.cost_usd) / parts,
        )
        if any(left is not None and left <= 0 for left in (grant.calls, grant.tokens, grant.cost_usd)):
            return None
        granted.add(_amounts(grant), 1)
        return grant

    def settle(self, grant: Caps, spent: Spent) -> None:
        """Take back a grant of which so much was used."""
        self._granted.add(_amounts(grant), -1)
        tokens, cost = spent.tokens + spent.lost_tokens, spent.cost_usd + spent.lost_cost_usd
        self._used.add(_Amounts(spent.calls, tokens, cost), 1)

    def lose(self, grant: Caps) -> None:
        """Count a grant as used up: whoever had it is gone, and nobody knows."""
        self._granted.add(_amounts(grant), -1)
        self._used.add(_amounts(grant), 1)

    @property
    def why(self) -> str:
        """Why there is room for no further call."""
        caps, used = self._caps, self._used
        if caps.calls is not None and used.calls >= caps.calls:
            return f"stopped after {used.calls} calls, the most allowed"
        if caps.cost_usd is not None:
            return f"stopped at ${used.cost_usd:.4f}: the next call may cost more than is left of ${caps.cost_usd:g}"
        return f"stopped at {used.tokens} tokens: the next call may take more than is left of {caps.tokens}"


@dataclass(slots=True)
class _Amounts:
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0

    def add(self, other: "_Amounts", sign: int) -> None:
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.cost_usd += sign * other.cost_usd


def _amounts(caps: Caps) -> _Amounts:
    return _Amounts(caps.calls or 0, caps.tokens or 0, caps.cost_usd or 0.0)


def add_spent(total: Spent, more: Spent) -> None:
    """Add what one shard used to what all did."""
    for field in fields(Spent):
        setattr(total, field.name, getattr(total, field.name) + getattr(more, field.name))
