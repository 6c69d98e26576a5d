"""The key of a question: every part that can change the answer, in one unambiguous spelling."""

from polyjudge.files import fingerprint
from polyjudge.records import Origin, Request

_FORM = "polyjudge-key-1"
"""Named in every key, so that a change of form can never meet an old key by chance."""


def hash_key(model: str, prompt: str, candidate: str, **more: object) -> str:
    """Return the key of a question of one's own; `more` takes whatever else can change the answer."""
    return fingerprint({"form": _FORM, "model": model, "prompt": prompt, "candidate": candidate, "more": more})


def request_key(origin: Origin, request: Request) -> str:
    """Return the key of a request to a provider, made of every field of both."""
    return fingerprint({"form": _FORM, "origin": origin, "request": request})
