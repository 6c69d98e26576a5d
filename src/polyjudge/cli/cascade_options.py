"""The options of token probabilities and cascades."""

from collections.abc import Callable


def add_token_option(add: Callable[..., object]) -> None:
    """Add the option of commands whose judges can give the probabilities of tokens."""
    wanted = "ask for token probabilities, for expected scores and confidence; cached replies without them are not used"
    add("--token-probabilities", action="store_true", help=wanted)
