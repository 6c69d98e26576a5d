"""Waits that a server requests after an error."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from multidict import CIMultiDict

from polyjudge.errors import RateLimitedError
from polyjudge.providers.wire_errors import error_for_status
from polyjudge.records.requests import ModelName

SERVER_TIME = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)  # not ours, by years


def wait_s(**headers: str) -> float | None:
    named = CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})
    error = error_for_status(429, "slow down", ModelName("local", "m"), headers=named)
    assert isinstance(error, RateLimitedError)
    return error.retry_after_s


def date(seconds: float, now: datetime = SERVER_TIME) -> str:
    return format_datetime(now + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(("message", "seconds"), [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("inf", None), ("soon", None)])
def test_a_wait_is_given_in_seconds(message, seconds):
    assert wait_s(Retry_After=message) == seconds


@pytest.mark.parametrize(("later_s", "seconds"), [(90, 90.0), (0, None), (-3600, None)])
def test_a_wait_until_a_date_uses_the_clock_of_the_server(later_s, seconds):
    assert wait_s(Retry_After=date(later_s), Date=date(0)) == seconds


def test_without_a_date_header_our_clock_is_used():
    waited = wait_s(Retry_After=date(3600, datetime.now(UTC)), Date="today")

    assert waited is not None
    assert 3000 < waited <= 3600
