"""How much work is done at once."""

from .pool import in_order
from .running import run_sync

__all__ = ["in_order", "run_sync"]
