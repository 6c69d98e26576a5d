"""The URL of a shared cache is parsed or rejected, and never shown with its password."""

import socket
import ssl
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cache.address import read_address, shown
from polyjudge.cache.postgres_connection import UnreachableCacheError, problem_of
from polyjudge.cache.protocol import is_url
from polyjudge.errors import CacheError

PASSWORD = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=6).map(lambda text: f"§{text}§")


@pytest.fixture(autouse=True)
def _default_port(monkeypatch):
    monkeypatch.delenv("PGPORT", raising=False)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("postgresql://me:geheim@db.example:5433/polls", "postgresql://me@db.example:5433/polls"),
        ("postgres://me:geheim@db.example/polls", "postgresql://me@db.example:5432/polls"),
        ("POSTGRESQL://db.example/polls", "postgresql://db.example:5432/polls"),
        ("postgresql:///polls", "postgresql:///polls"),
        ("postgresql://[::1]/polls", "postgresql://[::1]:5432/polls"),
        ("postgresql://[::1]:5433/polls", "postgresql://[::1]:5433/polls"),
        ("postgresql://me:geheim@one:1,two:2/polls", "postgresql://me@one:1,two:2/polls"),
        ("postgresql://me@%2Frun%2Fpostgresql/polls", "postgresql://me@%2Frun%2Fpostgresql:5432/polls"),
        ("postgresql://me@h/d?sslmode=require&password=geheim", "postgresql://me@h:5432/d?sslmode=require"),
        ("postgresql:///d?host=/run/postgresql&sslpassword=geheim", "postgresql:///d?host=/run/postgresql"),
    ],
)
def test_a_url_is_shown_without_its_password(url, place):
    address = read_address(url)

    assert address.place == shown(url) == place
    assert "geheim" not in repr(address)
    assert address.without_secrets("it is geheim, really") == (
        "it is ***, really" if "geheim" in url else "it is geheim, really"
    )


@given(PASSWORD)
def test_no_form_of_a_password_is_shown(password):
    for url in (
        f"postgresql://me:{quote(password, safe='')}@db.example/polls",
        f"postgresql://me@db.example/polls?password={quote(password, safe='')}",
        f"postgresql://me:{password}@db.example/polls",
        f"postgresql://me@db.example/polls?password={password}",
    ):
        try:
            message = shown(url) + repr(read_address(url))
        except CacheError as error:
            message = str(error)
        assert "§" not in message
        assert quote("§") not in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:geh@eim@db.example/polls",
        "postgresql://me:geh/eim@db.example/polls",
        "postgresql://me:geh?eim@db.example/polls",
        "postgresql://me:geh#eim@db.example/polls",
        "postgresql://me:geheim@[db.example/polls",
        "postgresql://me:geheim@db.example:port/polls",
        "postgresql://me:geheim@db.example/polls?geheim",
        "postgresql://me:gehe im@db.example/polls",
        "postgresql://me:geheim@db.example/polls\n",
        "postgresql://me:geheim\uff0f@db.example/polls",
        "mysql://me:geheim@db.example/polls",
    ],
)
def test_an_invalid_url_is_an_error_that_does_not_quote_it(url):
    with pytest.raises(CacheError) as raised:
        read_address(url)

    message = str(raised.value)
    assert "postgresql://USER@HOST:5432/DATABASE" in message
    assert "eim" not in message
    assert "\n" not in message


def test_a_path_is_not_a_url(tmp_path):
    assert not is_url(tmp_path)
    assert not is_url("postgresql.sqlite")
    assert shown(tmp_path) == str(tmp_path)


@pytest.mark.parametrize(
    ("error", "message", "is_unreachable"),
    [
        (socket.gaierror(-2, "Name or service not known"), "unknown host", True),
        (TimeoutError(), "connection timed out", True),
        (
            ConnectionResetError(104, "Connection reset by peer"),
            "the server is unreachable (Connection reset by peer)",
            True,
        ),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed"), "connection refused", True),
        (ssl.SSLCertVerificationError(1, "self-signed geheim"), "TLS handshake failed (self-signed ***)", False),
        (ValueError("port geheim"), "cannot be used: port ***", False),
    ],
)
def test_a_connection_error_is_translated_with_a_remedy(error, message, is_unreachable):
    problem = problem_of(error, read_address("postgresql://me:geheim@db.example/polls"))

    assert str(problem).startswith("postgresql://me@db.example:5432/polls: ")
    assert message in str(problem)
    assert isinstance(problem, UnreachableCacheError) == is_unreachable
