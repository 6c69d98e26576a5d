"""Translate HTTP statuses, transport errors and error replies into our errors."""

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
    """What came is no HTTP/1.1 response, or only the beginning of one."""


class ResponseTooLargeError(ConnectionError):
    """The response is longer than is read of one."""


ODD_REPLY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What taking apart an answer raises when it is none."""
_NO_SUCH_MODEL = re.compile(r"""(?<!\\)(["'])code\1:\s*(["'])model_not_found\2""")
"""As a part of the error itself, not of a prompt that a server repeats in it."""
_NAMED_STATUSES = {
    "rate_limit_exceeded": 429, "rate_limit_error": 429, "too_many_requests": 429, "resource_exhausted": 429,
    "timeout": 408, "request_timeout": 408, "server_error": 500, "internal_server_error": 500, "internal_error": 500,
    "api_error": 500, "overloaded": 503, "overloaded_error": 503, "service_unavailable": 503, "unavailable": 503,
}  # fmt: skip
"""What services call the statuses of trouble that passes."""
_LATER = {408, 409, 425}
_LONGEST_MESSAGE = 300


def error_for_status(
    status: int, message: str, name: ModelName, *, headers: Mapping[str, str] | None = None
) -> PolyjudgeError:
    """Return the error that an HTTP status stands for; the message is kept short and free of keys."""
    told = shown(message)
    text = f"{name.provider} answered {status}: {told}"
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
    """Return the HTTP status that an error object means, as it stands in a response whose own status is 200."""
    fields = cast(dict[str, object], error) if isinstance(error, dict) else {}
    for value in (fields.get("code"), fields.get("status"), fields.get("type")):
        status = _NAMED_STATUSES.get(str(value).lower(), value)
        if str(status).isdecimal() and 400 <= int(str(status)) <= 599:
            return int(str(status))
    return None


def shown(text: str) -> str:
    """Return what a server or a library says as an error message may hold it: short, and free of keys."""
    return one_line(without_keys(text), _LONGEST_MESSAGE)


def unknown_model_hint(name: ModelName) -> str:
    """Return what to do about a model that the provider does not know."""
    facts = model_facts(name)
    if facts.successor:
        when = f" was retired on {facts.retired};" if facts.retired else " is gone;"
        return f"{name}{when} use {facts.successor}."
    if is_own_server(name.provider):
        return f"Has it a model {name.model!r}, and is {origin_of(name.provider).base_url} its address?"
    return f"Is {name.model!r} the right name, and may this key use it?"


def error_for_reply(error: BaseException, name: ModelName) -> ProviderError:
    """Return the error for an answer that cannot be taken apart, or a question that cannot be put."""
    told = shown(str(error))
    message = f"{name.provider} answered with something else than an answer: {type(error).__name__}: {told}"
    return ProviderError(message) if isinstance(error, UnicodeEncodeError) else MalformedResponseError(message)


def error_for_transport(
    error: BaseException, name: ModelName, *, unconnected: tuple[type[Exception], ...] = ()
) -> TransientError:
    """Return the error for a call that brought no answer at all: refused, dropped, timed out.

    `unconnected` are the classes of errors by which a library says that there was no connection.
    """
    causes = list(_causes(error))
    never_sent = any(isinstance(each, (ConnectionRefusedError, NotReachedError, *unconnected)) for each in causes)
    what = "took too long" if any(isinstance(each, TimeoutError) for each in causes) else "broke off"
    told = shown(str(error))
    message = f"the call to {name.provider} {what}: {type(error).__name__}{f': {told}' if told else ''}"
    return TransientError(message, may_be_charged=not never_sent, unreachable=never_sent)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it was raised from: an SDK raises its own over those of its HTTP client."""
    while error is not None:
        yield error
        error = error.__cause__


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = max(0.0, float(value))
    except ValueError:
        return _seconds_until(_moment(value), headers)
    return seconds if math.isfinite(seconds) else None


def _seconds_until(moment: datetime | None, headers: Mapping[str, str]) -> float | None:
    """Return how far off a date is by the clock of the server that named it: ours may be wrong, or set meanwhile."""
    if moment is None:
        return None
    seconds = (moment - (_moment(headers.get("date", "")) or datetime.now(UTC))).total_seconds()
    return seconds if seconds > 0 else None  # a moment that has passed does not say how long to wait


def _moment(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC)
