"""What can be said of a text, and done to it, without a model."""

from .checking import TextChecker
from .digits import fold_digits, plain_number
from .display import harmless, one_line
from .fencing import FENCE_NOTE, fence
from .reference import chrf, chrf_signature

__all__ = [
    "FENCE_NOTE",
    "TextChecker",
    "chrf",
    "chrf_signature",
    "fence",
    "fold_digits",
    "harmless",
    "one_line",
    "plain_number",
]
