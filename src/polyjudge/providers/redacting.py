"""Redact keys in error messages, and the fragments of keys that servers quote: `sk-ab12…9xyz`.

Only error messages are redacted this way. The reply of a judge is never searched for fragments: a few characters of a
key may also be part of an answer.
"""

import os
import re
from collections.abc import Iterable

REDACTED = "•••"
_KEY_VARIABLES = ("_API_KEY", "_TOKEN")
"""Endings of the names of environment variables that contain keys."""
_PLACEHOLDERS = {
    "empty", "none", "null", "dummy", "test", "fake", "local", "ollama", "lm-studio", "lmstudio", "anything",
    "placeholder", "no-key", "no-key-required", "sk-no-key-required", "not-needed", "not-required",
    "not_needed", "not_required",
}  # fmt: skip
"""Values for servers that require any key at all; such words occur in ordinary messages."""
_SHORTEST_KEY = 4
_SHORTEST_WITH_FRAGMENTS = 12
_RANDOM_SIZE, _ANY_SIZE = 6, 8
"""Characters of a fragment: with a digit or letters of both cases; of any kind, since it may be an ordinary word."""
_LONGEST_TEXT = 4_000
_MASKED = re.compile(r"([\w+/=-]{0,80})(?:\*{2,}|•+|…|\.{3,}|[xX]{4,}|#{3,})([\w+/=-]{0,80})")


def without_keys(text: str, more: Iterable[str] = ()) -> str:
    """Return the start of a message without the keys in the environment, `more` secrets, and fragments of either."""
    text = text[:_LONGEST_TEXT]
    keys = {value.strip() for name, value in os.environ.items() if name.upper().endswith(_KEY_VARIABLES)}
    for secret in {*keys, *more}:
        text = _without(text, secret)
    return text


def _without(text: str, secret: str) -> str:
    if len(secret) < _SHORTEST_KEY or secret.casefold() in _PLACEHOLDERS:
        return text
    text = _MASKED.sub(lambda match: _unmasked(match, secret), text)
    if len(secret) < _SHORTEST_WITH_FRAGMENTS:
        return re.sub(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", REDACTED, text, flags=re.IGNORECASE)
    return _without_fragments(text, secret)


def _unmasked(match: re.Match[str], secret: str) -> str:
    """Return the replacement for a word such as `sk-ab****yz` if it starts or ends like the secret, else the word."""
    before, after = match[1], match[2]
    start = next((size for size in range(len(before), 1, -1) if before[-size:] == secret[:size]), 0)
    end = len(after) if len(after) > 1 and secret.endswith(after) else 0
    if start + end < 3:
        return match[0]
    return f"{before[: len(before) - start]}{REDACTED}{after[end:]}"


def _without_fragments(text: str, secret: str) -> str:
    lowered, own = text.casefold(), secret.casefold()
    if len(lowered) != len(text) or len(own) != len(secret):  # some letters fold to two
        lowered, own = text, secret
    hidden = bytearray(len(text))
    for size in (_RANDOM_SIZE, _ANY_SIZE):
        starts = range(len(secret) - size + 1)
        known = {own[at : at + size] for at in starts if size == _ANY_SIZE or _is_random(secret[at : at + size])}
        for at in range(len(text) - size + 1):
            if lowered[at : at + size] in known:
                hidden[at : at + size] = b"\1" * size
    # Each run of hidden characters becomes one mark.
    runs = re.finditer(rb"\x00+|\x01+", hidden)
    return "".join(REDACTED if hidden[run.start()] else text[run.start() : run.end()] for run in runs)


def _is_random(fragment: str) -> bool:
    """Return whether a few characters are unlikely to be a word."""
    return any(char.isdigit() for char in fragment) or (fragment != fragment.lower() and fragment != fragment.upper())
