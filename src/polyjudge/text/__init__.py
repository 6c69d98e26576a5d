"""What can be said of a text, and done to it, without a model."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .checking import TextChecker
    from .difference import Difference, Part, difference, graphemes, shown
    from .digits import fold_digits, plain_number
    from .display import harmless, one_line
    from .fencing import FENCE_NOTE, fence
    from .reference import Agreement, agreement, chrf, chrf_signature
    from .unsafe import is_opaque, unsafe_parts

__all__ = [
    "FENCE_NOTE",
    "Agreement",
    "Difference",
    "Part",
    "TextChecker",
    "agreement",
    "chrf",
    "chrf_signature",
    "difference",
    "fence",
    "fold_digits",
    "graphemes",
    "harmless",
    "is_opaque",
    "one_line",
    "plain_number",
    "shown",
    "unsafe_parts",
]

lazily(__name__)
