"""The vendors' own SDKs against a server on loopback that speaks their protocols."""

import asyncio
import dataclasses
import json
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from polyjudge.cli import main
from polyjudge.errors import ProviderError, RateLimitedError, RefusedError, TransientError, UnusableError
from polyjudge.files.json_lines import read_json_lines
from polyjudge.providers.base import close_provider
from polyjudge.providers.local import chat_body, read_completion
from polyjudge.providers.registry import open_provider
from polyjudge.providers.retrying import RetryingProvider
from polyjudge.records.outcomes import Failure, JudgeResult, read_outcome_row
from polyjudge.records.requests import ModelName, Request

SECRET = "sk-very-secret-key-0123456789"
REQUEST = Request(
    prompt="judge item-7 ไทย", model="", system="be fair", temperature=0.0, max_tokens=50, schema={"type": "object"}
)
# provider, package, model that takes a temperature, model that does not
VENDORS = [
    ("anthropic", "anthropic", "claude-opus-4-6", "claude-sonnet-5-5"),
    ("openai", "openai", "gpt-4o", "gpt-5"),
    ("google", "google.genai", "gemini-2.5-pro", "gemini-3.6-flash"),
]


@pytest.fixture(params=VENDORS, ids=[vendor[0] for vendor in VENDORS])
def vendor(request, server, monkeypatch):
    """A vendor whose address is the loopback server."""
    provider, package, *models = request.param
    pytest.importorskip(package, reason=f"the SDK {package} is not installed")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("POLYJUDGE_OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENAI_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    return provider, *models


def ask(provider, model, timeout_s=20.0, retrying=False, **changes):
    async def once():
        opened = open_provider(ModelName(provider, model), timeout_s=timeout_s)
        opened = RetryingProvider(opened) if retrying else opened
        try:
            return await opened.complete(replace(REQUEST, model=model, **changes))
        finally:
            await close_provider(opened)

    return asyncio.run(once())


def test_a_question_is_asked_and_answered(vendor, server):
    provider, model, _ = vendor
    reply = ask(provider, model)

    assert '"score": 7' in reply.text
    assert (reply.model, reply.finish, reply.schema_enforced) == (model, "stop", True)
    assert (reply.input_tokens, reply.output_tokens, reply.attempts) == (100, 20, 1)
    assert reply.parameters["temperature"] == 0.0
    assert reply.dropped == ()
    body = json.dumps(server.bodies[0])
    assert "be fair" in body
    assert '"type": "object"' in body
    assert '"temperature": 0.0' in body or '"temperature": 0' in body


def test_token_probabilities_are_asked_for_as_each_api_wants_it_and_come_back(vendor, server):
    provider, model, _ = vendor
    server.verdict = lambda _: '{"score": 7}'
    server.tokens = lambda _: [('{"score": ', -0.5, {}), ("7", -0.25, {"8": -2.0, " ไ": -3.0}), ("}", -0.0, {})]
    reply = ask(provider, model, top_logprobs=20)

    if provider == "anthropic":
        assert (reply.dropped, reply.tokens) == (("top_logprobs",), ())
        assert "logprobs" not in json.dumps(server.bodies)
        return
    assert reply.dropped == ()
    assert [token.text for token in reply.tokens] == ['{"score": ', "7", "}"]
    assert (reply.tokens[1].logprob, reply.tokens[1].others) == (-0.25, {"8": -2.0, " ไ": -3.0})
    assert 20 in reply.parameters.values()
    without = ask(provider, model)
    assert without.tokens == ()
    assert "logprobs" not in json.dumps(server.bodies[-1])


def test_a_model_that_gives_no_token_probabilities_is_asked_without(vendor, server):
    provider, model, _ = vendor
    server.faults.refused_parameters = ("logprobs",)
    reply = ask(provider, model, retrying=True, top_logprobs=20)

    assert reply.dropped == ("top_logprobs",)
    assert reply.tokens == ()


def test_a_model_that_takes_no_temperature_is_asked_without_and_the_reply_says_so(vendor, server):
    provider, _, model = vendor
    reply = ask(provider, model)

    assert reply.dropped == ("temperature",)
    assert "temperature" not in json.dumps(server.bodies)
    assert "temperature" not in reply.parameters


def test_a_parameter_that_is_refused_unexpectedly_is_left_out(vendor, server):
    provider, model, _ = vendor
    server.faults.refused_parameters = ("temperature",)

    reply = ask(provider, model, retrying=True)

    assert reply.dropped == ("temperature",)
    assert server.asked == 2


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        ({"rate_limited": 1.0, "retry_after": "7"}, RateLimitedError),
        ({"server_error": 1.0}, TransientError),
        ({"dropped": 1.0}, TransientError),
        ({"keys": ("right",)}, UnusableError),
        ({"models": ("another",)}, UnusableError),
        ({"refused_parameters": ("item-7",)}, RefusedError),
    ],
)
def test_each_kind_of_trouble_becomes_our_error_after_one_request(vendor, server, faults, error):
    provider, model, _ = vendor
    server.faults = dataclasses.replace(server.faults, **faults)

    with pytest.raises(error) as caught:
        ask(provider, model)

    assert type(caught.value) is error
    assert SECRET not in str(caught.value)
    # The SDK's own retries are off; a dropped connection may be tried once more by the transport below it.
    assert server.asked <= (2 if faults.get("dropped") else 1)
    if error is RateLimitedError:
        assert caught.value.retry_after_s == 7


@pytest.mark.parametrize("body", [b"<html>502</html>", b"{}", b"not json", b'\xff\xfe{"a": 1}', b"null"])
def test_a_200_that_is_no_answer_is_an_error_of_the_provider(vendor, server, body):
    provider, model, _ = vendor
    server.odd_body = body

    with pytest.raises(ProviderError):
        ask(provider, model)
    assert server.asked == 1


def test_half_a_character_in_a_text_fails_alone(vendor, server):
    provider, model, _ = vendor

    # Whether it can be sent depends on the SDK; what must not happen is an error that ends the whole run.
    with suppress(ProviderError):
        assert ask(provider, model, prompt="a\ud800b").text


def test_a_call_that_hangs_ends_at_its_timeout(vendor, server):
    provider, model, _ = vendor
    server.faults.hang = True

    with pytest.raises(TransientError, match="took too long"):
        ask(provider, model, timeout_s=0.2)


def test_a_server_that_is_not_there_is_trouble_that_may_pass(vendor, monkeypatch):
    provider, model, _ = vendor
    for name in ("ANTHROPIC_BASE_URL", "POLYJUDGE_OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    with pytest.raises(TransientError, match=f"the call to {provider}"):
        ask(provider, model)


def test_two_thousand_items_in_every_kind_of_trouble_end_judged_or_with_their_reason(vendor, server, in_folder, capsys):
    provider, model, _ = vendor
    server.faults.rate_limited, server.faults.server_error = 0.05, 0.02
    server.faults.dropped, server.faults.garbage = 0.01, 0.01
    server.faults.retry_after = "0.05"
    rows = ({"id": str(number), "candidate": f"item-{number}"} for number in range(2000))
    (in_folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["score", "items.jsonl", "--rubric", "general", "--judge", f"{provider}/{model}", "--output", "r.jsonl"]

    assert main([*command, "--concurrency", "32"]) == 0

    results = [read_outcome_row(row) for _, row in read_json_lines(Path("r.jsonl"))]
    assert [item_id for item_id, _ in results] == [str(number) for number in range(2000)]
    judged = {item_id: outcome for item_id, outcome in results if isinstance(outcome, JudgeResult)}
    assert len(judged) > 1900
    assert all(int(item_id) % 101 == outcome.score for item_id, outcome in judged.items())
    assert {outcome.kind for _, outcome in results if isinstance(outcome, Failure)} <= {"unreadable"}
    assert len(server.delivered) == 2000
    assert set(server.delivered.values()) == {1}
    for file in in_folder.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()


def test_the_summary_knows_the_cost(vendor, server, in_folder, capsys):
    provider, model, _ = vendor
    (in_folder / "items.jsonl").write_text('{"id": "a", "candidate": "item-1"}\n', encoding="utf-8")

    assert (
        main(["score", "items.jsonl", "--rubric", "general", "--judge", f"{provider}/{model}", "--format", "json"]) == 0
    )

    spent = json.loads(capsys.readouterr().err)["spent"]
    assert (spent["calls"], spent["input_tokens"], spent["output_tokens"]) == (1, 100, 20)
    assert spent["cost_usd"] > 0


def test_local_sends_and_reads_what_the_openai_sdk_would(server):
    openai = pytest.importorskip("openai", reason="the SDK openai is not installed")
    request = replace(REQUEST, model="m")

    async def through_the_sdk():
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
            body = chat_body(request)
            return await client.chat.completions.create(**body)

    completion = asyncio.run(through_the_sdk())
    reply = read_completion(completion.model_dump_json(), request)

    assert server.bodies == [chat_body(request)]
    assert reply.text == completion.choices[0].message.content
    assert (reply.model, reply.input_tokens, reply.output_tokens) == (
        completion.model, completion.usage.prompt_tokens, completion.usage.completion_tokens,
    )  # fmt: skip


def test_gemini_is_reached_through_the_proxy_that_the_environment_names(monkeypatch):
    """The session is our own, and looks for proxies only where there are some."""
    pytest.importorskip("google.genai", reason="the SDK google.genai is not installed")
    asked = []

    async def forward(reader, writer):
        asked.append((await reader.readline()).decode().split()[1])
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        writer.close()

    async def play():
        async with await asyncio.start_server(forward, "127.0.0.1", 0) as proxy:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
            provider = open_provider(ModelName("google", "gemini-2.5-pro"))
            with suppress(ProviderError):
                await provider.complete(replace(REQUEST, model="gemini-2.5-pro"))
            await close_provider(provider)

    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://gemini.example")
    monkeypatch.setenv("GOOGLE_GENAI_API_KEY", SECRET)
    asyncio.run(play())

    assert [url.partition("/v1")[0] for url in asked] == ["http://gemini.example"]
