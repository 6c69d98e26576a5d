"""How much work is done at once."""

from .pool import Stop, in_order, together
from .programs import ProgramOutput, run_program
from .running import run_sync

__all__ = ["ProgramOutput", "Stop", "in_order", "run_program", "run_sync", "together"]
