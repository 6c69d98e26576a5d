"""The local provider with a server on loopback: requests, replies and errors."""

import asyncio
import json
import zlib
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from msgspec.structs import replace as replace_request

from polyjudge.cache.protocol import open_cache
from polyjudge.errors import (
    ConfigError,
    MalformedResponseError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.base import close_provider
from polyjudge.providers.local import read_completion
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import open_provider
from polyjudge.providers.retrying import RetryingProvider
from polyjudge.records.requests import Request

REQUEST = Request(
    prompt="judge item-7 ไทย", model="m", system="be fair", temperature=0.0, max_tokens=50, schema={"type": "object"}
)


@pytest.fixture
def ask(server, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-that-must-not-travel")

    def ask(request=REQUEST, timeout_s=20.0, retrying=False, on_retry=None):
        return asyncio.run(asked(request, timeout_s, retrying, on_retry))

    return ask


@asynccontextmanager
async def open_cache_at(path):
    cache = await open_cache(path)
    try:
        yield cache
    finally:
        await cache.aclose()


async def asked(request=REQUEST, timeout_s=20.0, retrying=False, on_retry=None):
    provider = open_provider(resolve_model("local/m"), timeout_s=timeout_s)
    provider = RetryingProvider(provider, on_retry=on_retry) if retrying else provider
    try:
        return await provider.complete(request)
    finally:
        await close_provider(provider)


def test_a_request_is_sent_as_the_protocol_has_it(ask, server):
    reply = ask()

    assert server.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "be fair"}, {"role": "user", "content": "judge item-7 ไทย"}],
            "temperature": 0.0,
            "max_tokens": 50,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "schema": {"type": "object"}, "strict": True},
            },
        }
    ]
    assert (reply.model, reply.finish, reply.schema_enforced) == ("m", "stop", True)
    assert (reply.input_tokens, reply.output_tokens) == (100, 20)
    assert reply.parameters == {"temperature": 0.0, "max_tokens": 50}
    assert '"score": 7' in reply.text
    assert reply.answered_at


def test_the_openai_key_is_never_sent_to_a_local_server(ask, server, monkeypatch):
    ask()
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", "local-key")
    ask()

    assert [headers["Authorization"] for headers in server.headers] == ["Bearer none", "Bearer local-key"]


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        ({"rate_limited": 1.0, "retry_after": "7"}, RateLimitedError),
        ({"server_error": 1.0}, TransientError),
        ({"dropped": 1.0}, TransientError),
        ({"keys": ("right",)}, UnusableError),
        ({"models": ("another",)}, UnusableError),
        ({"refused_parameters": ("messages",)}, RefusedError),
    ],
)
def test_each_kind_of_failure_becomes_its_own_error(ask, server, faults, error):
    server.faults = replace(server.faults, **faults)

    with pytest.raises(error) as caught:
        ask()

    assert type(caught.value) is error
    if error is RateLimitedError:
        assert caught.value.retry_after_s == 7


def test_a_call_that_hangs_ends_at_its_timeout(ask, server):
    server.faults.hang = True

    with pytest.raises(TransientError, match="took too long"):
        ask(timeout_s=0.1)


def whole(body, head=b"HTTP/1.1 200 OK\r\n"):
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def completion(text):
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 429, "message": "slow down"}, RateLimitedError),
        ({"code": "502", "message": "upstream is gone"}, TransientError),
        ({"code": None, "type": "overloaded_error"}, TransientError),
        ({"code": "rate_limit_exceeded"}, RateLimitedError),
        ({"status": 503}, TransientError),
        ({"code": 400, "message": "bad input"}, RefusedError),
        ({"code": 401}, UnusableError),
        ({"message": "no code"}, MalformedResponseError),
        ({"code": 200}, MalformedResponseError),
        ("text", MalformedResponseError),
    ],
)
@pytest.mark.parametrize("place", ["response", "choice"])
def test_an_error_with_status_200_is_recognised_by_its_code(ask_raw, error, kind, place):
    choice = {"message": {"content": "half an ans"}, "finish_reason": "error", "error": error}
    body = {"error": error} if place == "response" else {"choices": [choice]}

    with pytest.raises(kind) as caught:
        ask_raw(whole(json.dumps(body).encode()))

    assert type(caught.value) is kind


def test_a_temporary_error_with_status_200_is_retried(ask, server):
    server.odd_body = json.dumps({"error": {"code": 503, "message": "starting"}}).encode()
    said = []

    def repair(error, wait_s):
        said.append(str(error))
        server.odd_body = b""

    assert '"score": 7' in ask(retrying=True, on_retry=repair).text
    assert len(said) == 1
    assert "starting" in said[0]


def test_an_empty_error_field_is_ignored(ask_raw):
    assert ask_raw(whole(json.dumps({**json.loads(completion("good")), "error": None}).encode())).text == "good"


def test_an_answer_that_ended_in_an_error_is_a_failure_with_its_text(ask_raw):
    choice = {"message": {"content": "half an ans"}, "finish_reason": "error"}

    with pytest.raises(MalformedResponseError, match="200 with an error") as caught:
        ask_raw(whole(json.dumps({"choices": [choice]}).encode()))
    assert caught.value.text == "half an ans"


@pytest.mark.parametrize("content", [None, ""])
def test_a_refusal_keeps_its_text(ask_raw, content):
    choice = {"message": {"content": content, "refusal": "I will not judge this."}, "finish_reason": "stop"}

    reply = ask_raw(whole(json.dumps({"choices": [choice]}).encode()))

    assert (reply.text, reply.finish) == ("I will not judge this.", "refusal")


def test_a_tool_call_is_an_error_with_its_text(ask_raw):
    call = {"type": "function", "function": {"name": "verdict", "arguments": '{"score": 5}'}}
    choice = {"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}

    with pytest.raises(MalformedResponseError, match="tool call") as caught:
        ask_raw(whole(json.dumps({"choices": [choice]}).encode()))
    assert caught.value.text == 'verdict({"score": 5})'


@pytest.mark.parametrize(("given", "recorded"), [("chatcmpl-1", "chatcmpl-1"), (None, ""), (7, "")])
def test_the_id_of_a_response_is_recorded(ask_raw, given, recorded):
    body = {**json.loads(completion("good")), "id": given}

    assert ask_raw(whole(json.dumps(body).encode())).response_id == recorded


def test_a_response_that_is_too_long_is_not_requested_again(ask_raw):
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([*(packer.compress(bytes(2**20)) for _ in range(65)), packer.flush()])

    with pytest.raises(MalformedResponseError, match="longer than 64 MB"):
        ask_raw(whole(bomb, b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"))


@pytest.mark.parametrize(
    ("location", "address"),
    [
        (b"https://elsewhere.example/v1", "https://elsewhere.example/v1"),
        (b"https://elsewhere.example/v1/chat/completions", "https://elsewhere.example/v1"),
        (b"/openai/v1/chat/completions", r"http://127.0.0.1:\d+/openai/v1"),
    ],
)
def test_a_server_that_has_moved_says_where_to_and_is_not_followed(ask_raw, location, address):
    # The key and the texts go to the address that was named, and to no other.
    with pytest.raises(UnusableError, match=rf"308: the server has moved to {address}. Set LOCAL_OPENAI_BASE"):
        ask_raw(whole(b"", b"HTTP/1.1 308 Moved\r\nLocation: %b\r\n" % location))


@pytest.mark.parametrize("key", ["1", "x", "EMPTY", "choices"])
def test_a_key_that_is_no_secret_is_left_in_the_answer(ask_raw, monkeypatch, key):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", key)

    assert ask_raw(whole(completion("1 EMPTY box"))).text == "1 EMPTY box"


def test_a_key_that_a_server_repeats_is_redacted(ask_raw, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", "sk-0123456789")

    assert ask_raw(whole(completion("the key sk-0123456789"))).text == "the key •••"
    with pytest.raises(RefusedError, match="no key •••"):
        ask_raw(whole(b"no key sk-0123456789", b"HTTP/1.1 400 Bad Request\r\n"))


def test_a_byte_order_mark_is_ignored(ask_raw):
    assert ask_raw(whole("\ufeff".encode() + completion("good"))).text == "good"


def test_a_model_that_is_being_loaded_is_waited_for_like_a_limit(ask_raw):
    with pytest.raises(RateLimitedError, match="Loading model"):
        ask_raw(whole(b'{"error": {"message": "Loading model"}}', b"HTTP/1.1 503 Service Unavailable\r\n"))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b'{"error": {"code": "model_not_found"}}', UnusableError),
        (b'{"error": "bad input", "input": "what does model_not_found mean?"}', RefusedError),
        (json.dumps({"error": "bad input", "input": '{"code": "model_not_found"}'}).encode(), RefusedError),
    ],
)
def test_a_prompt_about_models_in_an_error_does_not_stop_the_run(ask_raw, body, error):
    with pytest.raises(error):
        ask_raw(whole(body, b"HTTP/1.1 422 Unprocessable\r\n"))


def test_an_impossible_date_to_wait_for_is_ignored(ask_raw):
    with pytest.raises(RateLimitedError) as caught:
        ask_raw(whole(b"", b"HTTP/1.1 429 Slow\r\nRetry-After: Mon, 01 Jan 99999999999 00:00:00 GMT\r\n"))
    assert caught.value.retry_after_s is None


def test_an_unreachable_server_is_a_temporary_error(ask, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    with pytest.raises(TransientError, match="the call to local failed"):
        ask()


def test_a_parameter_that_the_model_refuses_is_left_out_and_the_reply_says_so(ask, server):
    server.faults.refused_parameters = ("temperature",)

    reply = ask(retrying=True)

    assert (reply.dropped, reply.attempts) == (("temperature",), 2)
    assert "temperature" not in reply.parameters
    assert ["temperature" in body for body in server.bodies] == [True, False]


def test_the_bound_on_an_answer_is_never_dropped(ask, server):
    """A cap on spend rests on it."""
    server.faults.refused_parameters = ("max_tokens",)

    with pytest.raises(RefusedError, match="max_tokens"):
        ask()


@pytest.mark.parametrize(
    "body",
    [
        b"<html>502</html>",
        b"{}",
        b"[]",
        b"null",
        b"not json",
        b'\xff\xfe{"a": 1}',
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": null}]}',
    ],
)
def test_a_200_without_a_completion_is_a_provider_error_and_not_retried(ask, server, body):
    server.odd_body = body

    with pytest.raises(MalformedResponseError):
        ask()
    assert server.asked == 1


def test_content_in_parts_is_read_and_invalid_usage_is_ignored(ask, server):
    content = [{"type": "text", "text": "a"}, {"text": "b"}]
    odd = {"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": "12"}}
    server.odd_body = json.dumps(odd).encode()

    reply = ask()

    assert (reply.text, reply.input_tokens) == ("ab", None)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOCAL_OPENAI_API_KEY", "a\nb"),
        ("LOCAL_OPENAI_API_KEY", "ключ"),
        ("LOCAL_OPENAI_BASE_URL", "localhost:1/v1"),
        ("LOCAL_OPENAI_BASE_URL", "http://localhost:99999/v1"),
        ("LOCAL_OPENAI_BASE_URL", "http://a..b/v1"),
    ],
)
def test_a_key_or_an_address_that_can_never_work_is_wrong_usage(ask, monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigError) as caught:
        ask()
    assert "ключ" not in str(caught.value)


def test_a_schema_that_the_server_does_not_know_is_left_out_and_not_claimed(ask, server):
    server.faults.refused_parameters = ("response_format",)

    reply = ask(retrying=True)

    assert (reply.dropped, reply.schema_enforced) == (("schema",), False)


def test_one_provider_serves_one_loop_after_another(server, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    provider = open_provider(resolve_model("local/m"))

    async def once():
        reply = await provider.complete(REQUEST)
        await close_provider(provider)
        return reply.text

    assert asyncio.run(once()) == asyncio.run(once())


TOKENS = [('{"score": ', -0.5, {}), ("7", -0.25, {"8": -2.0, b"\xe0\xb9": -3.0}), ("}", 0.0, {})]


def test_token_probabilities_come_with_the_bytes_of_each_token(server, ask):
    server.verdict = lambda _: '{"score": 7}'
    server.tokens = lambda _: TOKENS
    reply = ask(replace_request(REQUEST, top_logprobs=20))

    assert (server.bodies[0]["logprobs"], server.bodies[0]["top_logprobs"]) == (True, 20)
    assert [token.text for token in reply.tokens] == ['{"score": ', "7", "}"]
    assert reply.tokens[1].others == {"8": -2.0, "\udce0\udcb9": -3.0}
    assert ask().tokens == ()
    assert "logprobs" not in server.bodies[1]


@pytest.mark.parametrize(
    "given",
    [
        None, [], "x", 7, {}, {"content": None}, {"content": []}, {"content": "abc"}, {"content": [None]},
        {"content": [{"token": "7"}]}, {"content": [{"token": 7, "logprob": -1.0}]},
        {"content": [{"token": "7", "logprob": None}]}, {"content": [{"token": "7", "logprob": True}]},
        {"content": [{"token": "7", "logprob": -1.0, "bytes": [300]}]},
        {"content": [{"token": "7", "logprob": -1.0, "top_logprobs": [{"token": "8"}]}]},
        {"tokens": ["7"], "token_logprobs": [-1.0]},
    ],
)  # fmt: skip
def test_a_reply_is_whole_where_its_tokens_are_not_as_documented(given):
    body = {"model": "m", "choices": [{"message": {"content": "7"}, "finish_reason": "stop", "logprobs": given}]}
    reply = read_completion(json.dumps(body), Request(prompt="x", model="m", top_logprobs=20))

    assert (reply.text, reply.tokens) == ("7", ())


def test_tokens_that_are_no_text_are_kept_by_the_cache(tmp_path, server, ask):
    server.verdict = lambda _: "ไ"
    server.tokens = lambda _: [(b"\xe0\xb9", -0.5, {b"\xff": -1.0}), (b"\x84", 0.0, {})]
    reply = ask(replace_request(REQUEST, top_logprobs=20))

    async def kept():
        async with open_cache_at(tmp_path / "c.sqlite") as cache:
            await cache.put("k", reply)
            return await cache.get("k")

    found = asyncio.run(kept())
    assert found.tokens == reply.tokens
    assert [token.text for token in found.tokens] == ["\udce0\udcb9", "\udc84"]
