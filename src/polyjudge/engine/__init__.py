"""How much work is done at once."""

from .pool import Stop, in_order, together
from .programs import ProgramOutput, filled_command, run_program, split_command, with_final_newline
from .running import run_sync

__all__ = [
    "ProgramOutput",
    "Stop",
    "filled_command",
    "in_order",
    "run_program",
    "run_sync",
    "split_command",
    "together",
    "with_final_newline",
]
