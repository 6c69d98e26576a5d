"""The rule by which failures are asked again: in run files, and in the judgements of words."""

from typing import get_args

from polyjudge.records.outcomes import FailureKind

_TEMPORARY: frozenset[str] = frozenset({"transient"})
"""The kinds whose cause may be gone when the run is resumed."""
_ALL: frozenset[str] = frozenset(get_args(FailureKind))


def asked_again(*, retries_failures: bool) -> frozenset[str]:
    """Return the kinds of failures that a resumed run asks again: with `retries_failures` all, else temporary ones."""
    return _ALL if retries_failures else _TEMPORARY
