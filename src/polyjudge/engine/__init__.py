"""How much work is done at once."""

from .pool import Stop, in_order, together, unless_stopped
from .running import run_sync

__all__ = [
    "Stop",
    "in_order",
    "run_sync",
    "together",
    "unless_stopped",
]
