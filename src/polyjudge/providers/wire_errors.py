"""Translate HTTP statuses, transport errors and malformed responses into our errors."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

from polyjudge.errors import (
    MalformedResponseError,
    PolyjudgeError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.records.requests import ModelName
from polyjudge.text.display import one_line

from .models import model_facts
from .redacting import without_keys
from .services import is_own_server, origin_of


class NotReachedError(ConnectionError):
    """No connection could be made, so nothing was sent."""


class BadResponseError(ConnectionError):
    """The response is not HTTP/1.1, or is incomplete."""


class ResponseTooLargeError(ConnectionError):
    """The response is longer than the limit."""


MALFORMED_REPLY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that reading the fields of a malformed response raises."""
_NO_SUCH_MODEL = re.compile(r"""(?<!\\)(["'])code\1:\s*(["'])model_not_found\2""")
"""A field of the error itself, not part of a prompt that a server repeats in it."""
_NAMED_STATUSES = {
    "rate_limit_exceeded": 429, "rate_limit_error": 429, "too_many_requests": 429, "resource_exhausted": 429,
    "timeout": 408, "request_timeout": 408, "server_error": 500, "internal_server_error": 500, "internal_error": 500,
    "api_error": 500, "overloaded": 503, "overloaded_error": 503, "service_unavailable": 503, "unavailable": 503,
}  # fmt: skip
"""Names that services use for the statuses of temporary errors."""
_LATER = {408, 409, 425}
_LONGEST_MESSAGE = 300


def error_for_status(
    status: int, message: str, name: ModelName, *, headers: Mapping[str, str] | None = None
) -> PolyjudgeError:
    """Return the error for an HTTP status, with a short message without keys."""
    text = f"{name.provider} answered {status}: {shown(message)}"
    if status in (401, 403):
        return UnusableError(f"{text}. Check the key that is set for {name.provider}.")
    if status == 404 or _NO_SUCH_MODEL.search(message):
        return UnusableError(f"{text}. {unknown_model_hint(name)}")
    if "insufficient_quota" in message or "credit balance is too low" in message:
        return UnusableError(text)
    retry_after_s = _retry_after_s(headers or {})
    if status == 429 or (status == 503 and "loading model" in message.lower()):
        return RateLimitedError(text, retry_after_s=retry_after_s)
    if status in _LATER or status >= 500:
        return TransientError(text, retry_after_s=retry_after_s)
    return RefusedError(text)


def status_in(error: object) -> int | None:
    """Return the HTTP status in an error object of a response whose own status is 200, or None."""
    fields = cast(dict[str, object], error) if isinstance(error, dict) else {}
    for value in (fields.get("code"), fields.get("status"), fields.get("type")):
        status = _NAMED_STATUSES.get(str(value).lower(), value)
        if str(status).isdecimal() and 400 <= int(str(status)) <= 599:
            return int(str(status))
    return None


def shown(text: str) -> str:
    """Return a message of a server or a library on one line, shortened and without keys."""
    return one_line(without_keys(text), _LONGEST_MESSAGE)


def unknown_model_hint(name: ModelName) -> str:
    """Return advice for a model that the provider does not know."""
    facts = model_facts(name)
    if facts.successor:
        when = f" was retired on {facts.retired};" if facts.retired else " is gone;"
        return f"{name}{when} use {facts.successor}."
    if is_own_server(name.provider):
        return f"Check that the server at {origin_of(name.provider).base_url} has a model {name.model!r}."
    return f"Check the name {name.model!r}, and that this key has access to it."


def error_for_reply(error: BaseException, name: ModelName) -> ProviderError:
    """Return the error for a malformed response, or for a request that cannot be encoded."""
    if isinstance(error, UnicodeEncodeError):
        return ProviderError(f"the request to {name.provider} cannot be encoded: {shown(str(error))}")
    return MalformedResponseError(
        f"malformed response from {name.provider}: {type(error).__name__}: {shown(str(error))}"
    )


def error_for_transport(
    error: BaseException, name: ModelName, *, unconnected: tuple[type[Exception], ...] = ()
) -> TransientError:
    """Return the error for a call without a response: connection refused, connection lost, or timeout.

    `unconnected` are the classes of errors that a library raises if no connection could be made.
    """
    causes = list(_causes(error))
    never_sent = any(isinstance(each, (ConnectionRefusedError, NotReachedError, *unconnected)) for each in causes)
    problem = "took too long" if any(isinstance(each, TimeoutError) for each in causes) else "failed"
    detail = shown(str(error))
    message = f"the call to {name.provider} {problem}: {type(error).__name__}{f': {detail}' if detail else ''}"
    return TransientError(message, may_be_charged=not never_sent, unreachable=never_sent)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes: an SDK raises its own errors from those of its HTTP client."""
    while error is not None:
        yield error
        error = error.__cause__


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Parse a Retry-After header: seconds, or a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = max(0.0, float(value))
    except ValueError:
        return _seconds_until(_time_in(value), headers)
    return seconds if math.isfinite(seconds) else None


def _seconds_until(time: datetime | None, headers: Mapping[str, str]) -> float | None:
    """Return the seconds until a time, by the server's clock, since ours may be wrong; None if it has passed."""
    if time is None:
        return None
    seconds = (time - (_time_in(headers.get("date", "")) or datetime.now(UTC))).total_seconds()
    return seconds if seconds > 0 else None


def _time_in(value: str) -> datetime | None:
    try:
        time = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return time.replace(tzinfo=time.tzinfo or UTC)
