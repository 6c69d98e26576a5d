"""No part of a key is in an error message, however a server quotes it; ordinary words and replies are unchanged."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import PolyjudgeError
from polyjudge.providers.redacting import without_keys
from polyjudge.providers.wire_errors import error_for_reply, error_for_status, error_for_transport
from polyjudge.records.requests import ModelName

KEY = "sk-local-9fQ2xR7tVb1LmZ4cY8wK3nHj"
QUOTED = [
    KEY,
    KEY[:12],
    KEY[-8:],
    KEY[10:20],
    KEY.upper(),
    f"{KEY[:7]}...{KEY[-4:]}",
    f"{KEY[:4]}****************{KEY[-4:]}",
    f"key={KEY[:11]}…",
    f"xxxxxxxx{KEY[-4:]}",
    f"[{KEY[:6]}•••{KEY[-2:]}]",
    f"Bearer {KEY[:20]}",
    f"{KEY[:16]} {KEY[16:]}",
    f"%22{KEY[3:12]}%22",
]


def quoted_parts(text, key=KEY, size=6):
    """Return the parts of a key of this size that are in a text, without the common prefix."""
    parts = (key[at : at + size] for at in range(len("sk-local"), len(key) - size + 1))
    return [part for part in parts if part.casefold() in text.casefold()]


@pytest.mark.parametrize("quoted", QUOTED)
def test_no_fragment_of_a_key_stays_in_a_message(quoted, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", KEY)
    message = f"Incorrect API key provided: {quoted}. Get one at http://localhost/keys."

    shown = without_keys(message)

    assert quoted_parts(shown) == []
    assert KEY[-4:] not in shown
    assert shown.startswith("Incorrect API key provided: ")
    assert shown.endswith(". Get one at http://localhost/keys.")
    assert "•••" in shown


@given(
    start=st.integers(0, len(KEY) - 8),
    size=st.integers(8, len(KEY)),
    before=st.text(alphabet="ab \n\"'=:", max_size=5),
    after=st.text(alphabet="ab \n\"'=:", max_size=5),
)
def test_any_eight_characters_in_a_row_are_redacted(start, size, before, after):
    fragment = KEY[start : start + size]

    assert fragment not in without_keys(before + fragment + after, [KEY])


@pytest.mark.parametrize(
    "key", ["", "x", "1", "EMPTY", "none", "ollama", "lm-studio", "sk-no-key-required", "not-needed"]
)
def test_a_key_that_is_not_secret_is_not_redacted(key, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", key)
    message = "x: the field 'messages' is required and not EMPTY; ollama has none (1 key needed)... lm-studio"

    assert without_keys(message) == message


def test_a_short_key_is_redacted_as_a_word_and_not_within_others(monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", "port")

    assert (
        without_keys("the port is closed; report it, or give --port") == "the ••• is closed; report it, or give --port"
    )


def test_ordinary_words_that_a_key_is_made_of_stay(monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", "my-local-server-for-tests")

    assert without_keys("the local server is down") == "the local server is down"
    assert "server-for" not in without_keys("bad key my-local-server-for")


def test_no_kind_of_error_contains_a_key(monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", KEY)
    name, message = ModelName("local", "m"), f"{KEY[:15]} and {KEY}"
    errors = [error_for_status(status, message, name) for status in (400, 401, 404, 429, 500)]
    errors += [error_for_reply(ValueError(message), name), error_for_transport(OSError(message), name)]

    assert [quoted_parts(str(error)) for error in errors] == [[]] * len(errors)


@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad Request", b"401 Unauthorized", b"404 Not Found", b"500 No"])
@pytest.mark.parametrize("quoted", QUOTED[:6])
def test_no_fragment_comes_from_a_server(ask_raw, monkeypatch, status, quoted):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", KEY)
    body = b"the key %b is wrong" % quoted.encode()
    answer = b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)

    with pytest.raises(PolyjudgeError) as raised:
        ask_raw(answer)
    assert quoted_parts(str(raised.value)) == []


def test_a_redirect_does_not_show_the_key(ask_raw, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", KEY)

    with pytest.raises(PolyjudgeError) as raised:
        ask_raw(b"HTTP/1.1 302 Found\r\nLocation: /login?key=%b\r\nContent-Length: 0\r\n\r\n" % KEY[:20].encode())
    assert quoted_parts(str(raised.value)) == []


def test_fragments_stay_in_a_good_reply(server, monkeypatch, ask_local):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", KEY)
    server.verdict = lambda _: f"it begins with {KEY[:14]}"

    assert asyncio.run(ask_local()).text == f"it begins with {KEY[:14]}"
