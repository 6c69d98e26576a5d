"""One server on loopback that speaks four protocols: OpenAI chat and responses, Anthropic messages, Gemini.

It answers each prompt with a verdict that depends on the prompt alone, counts the requests, and has the faults that
a test sets.
In tests it runs in a thread; `python -m tests.loopback.vendor_server` runs it alone, for measurements.
"""

import asyncio
import hashlib
import json
import random
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from aiohttp import web

USAGE = {"in": 100, "out": 20}


@dataclass
class Faults:
    """Shares of requests that go wrong, and other ways to misbehave."""

    rate_limited: float = 0.0
    server_error: float = 0.0
    dropped: float = 0.0
    lost: float = 0.0
    """Share of answers that are made, and lost with the connection before a byte of them is sent."""
    half_open: float = 0.0
    """Share of requests that are taken and never answered."""
    odd: float = 0.0
    """Share of answers that come with a 200 and are none."""
    trickle_s: float = 0.0
    """How long the body of an answer takes, piece by piece."""
    garbage: float = 0.0
    """Share of *prompts* whose reply has no verdict: asking again would not help."""
    latency_s: float = 0.0
    retry_after: str | Callable[[], str] = ""
    bucket_rate: float = 0.0
    """Requests a second that a token bucket lets through; 0 is no bucket."""
    bucket_size: float = 0.0
    keys: tuple[str, ...] = ()
    """Keys that are accepted; none means all."""
    models: tuple[str, ...] = ()
    """Models that are known; none means all."""
    refused_parameters: tuple[str, ...] = ()
    hang: bool = False


@dataclass
class Server:
    """What is asked of it, and what it does."""

    faults: Faults = field(default_factory=Faults)
    seed: int = 1
    verdict: Callable[[str], str | tuple[str, ...]] | None = None
    """Answers by the prompt: a text or, where the model did not come to an end, a text and `length` or `refusal`.

    In OpenAI's chat protocol what the model thought aloud may stand third.
    """
    speak: Callable[[str, str], str | tuple[str, ...]] | None = None
    """The same by model and prompt, in place of `verdict`."""
    asked: int = 0
    delivered: Counter[str] = field(default_factory=Counter)
    """How often each prompt was answered with a 200."""
    lost: Counter[str] = field(default_factory=Counter)
    """How often the answer to each prompt was made and lost on its way."""
    asked_for: Counter[str] = field(default_factory=Counter)
    """How often each prompt was asked, whatever became of it."""
    limited: int = 0
    bodies: list[dict] = field(default_factory=list)
    headers: list[dict] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    keep_bodies: bool = True
    odd_body: bytes = b""
    """Sent with a 200 instead of an answer."""
    tokens: Callable[[str], list[tuple[str | bytes, float, dict[str | bytes, float]]]] | None = None
    """The tokens of a reply with their log probabilities and other tokens, for requests that ask for them."""
    loading: int = 0
    """How often it says that it is still loading, when it is asked for its models."""
    port: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._tokens = 0.0
        self._refilled = time.monotonic()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._handler(_chat_prompt, _chat_reply, _openai_error))
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/counts", self._counts)
        app.router.add_post("/v1/responses", self._handler(_responses_prompt, _responses_reply, _openai_error))
        app.router.add_post("/v1/messages", self._handler(_messages_prompt, _messages_reply, _anthropic_error))
        for version in ("v1", "v1beta"):
            handler = self._handler(_gemini_prompt, _gemini_reply, _gemini_error)
            app.router.add_post(f"/{version}/models/{{model}}:generateContent", handler)
        return app

    def _handler(self, prompt_of, reply_of, error_of):
        async def handle(request: web.Request) -> web.StreamResponse:
            self.asked += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                return await self._answer(request, prompt_of, reply_of, error_of)
            finally:
                self.in_flight -= 1

        return handle

    async def _answer(self, request, prompt_of, reply_of, error_of) -> web.StreamResponse:
        body = await request.json()
        if self.keep_bodies:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
        model = body.get("model") or request.match_info.get("model", "")
        prompt = prompt_of(body)
        digest = hashlib.sha256(prompt.encode()).hexdigest()
        self.asked_for[digest] += 1
        trouble = await self._trouble(request, body, model)
        if trouble is not None:
            status, message = trouble
            if status == 0:
                return _dropped(request)
            headers = {"retry-after": wait} if status == 429 and (wait := self._retry_after()) else {}
            return web.json_response(error_of(status, message), status=status, headers=headers)
        if self.odd_body or self._happens(self.faults.odd):
            return web.Response(body=self.odd_body or b"<html>Welcome</html>", content_type="application/json")
        if self._happens(self.faults.lost):
            self.lost[digest] += 1
            return _dropped(request)
        self.delivered[digest] += 1
        answer = self.reply_to(prompt) if self.speak is None else self.speak(model, prompt)
        parts = (answer, "stop") if isinstance(answer, str) else answer
        reply = reply_of(parts[0], model, *parts[1:])
        if self.tokens is not None:
            _add_tokens(reply, body, self.tokens(parts[0]))
        if self.faults.trickle_s:
            return await _trickled(request, json.dumps(reply).encode(), self.faults.trickle_s)
        return web.json_response(reply)

    def _retry_after(self) -> str:
        wait = self.faults.retry_after
        return wait if isinstance(wait, str) else wait()

    def _happens(self, share: float) -> bool:
        return bool(share) and self._random.random() < share

    async def _models(self, _request: web.Request) -> web.Response:
        if self.loading:
            self.loading -= 1
            return web.json_response(_openai_error(503, "Loading model"), status=503)
        rows = [{"id": name, "object": "model"} for name in self.faults.models or ("m",)]
        return web.json_response({"object": "list", "data": rows})

    async def _counts(self, _request: web.Request) -> web.Response:
        """Tell another process what was asked."""
        counts = {"asked": self.asked, "delivered": self.delivered.total(), "prompts": len(self.delivered)}
        return web.json_response({**counts, "most_in_flight": self.most_in_flight})

    async def _trouble(self, request, body, model) -> tuple[int, str] | None:
        faults = self.faults
        if faults.hang or self._happens(faults.half_open):
            await asyncio.sleep(3600)
        if faults.latency_s:
            await asyncio.sleep(faults.latency_s)
        refusal = self._refusal(request, body, model)
        if refusal is not None:
            return refusal
        if faults.bucket_rate and not self._take_token():
            self.limited += 1
            return 429, "too many requests"
        return self._bad_luck()

    def _refusal(self, request, body, model) -> tuple[int, str] | None:
        faults, headers = self.faults, request.headers
        given = (headers.get("authorization") or headers.get("x-goog-api-key") or "").removeprefix("Bearer ")
        if faults.keys and given not in faults.keys:
            return 401, f"invalid api key: {given}"
        if faults.models and model not in faults.models:
            return 404, f"model {model} not found"
        written = json.dumps(body)
        refused = next((name for name in faults.refused_parameters if name in written), None)
        return (400, f"Unsupported parameter: {refused}") if refused else None

    def _bad_luck(self) -> tuple[int, str] | None:
        faults, chance = self.faults, self._random.random()
        for share, status, message in (
            (faults.rate_limited, 429, "too many requests"),
            (faults.server_error, 500, "internal error"),
            (faults.dropped, 0, ""),
        ):
            if chance < share:
                self.limited += status == 429
                return status, message
            chance -= share
        return None

    def _take_token(self) -> bool:
        now = time.monotonic()
        self._tokens = min(self.faults.bucket_size, self._tokens + (now - self._refilled) * self.faults.bucket_rate)
        self._refilled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def reply_to(self, prompt: str) -> str | tuple[str, ...]:
        if self.verdict is not None:
            return self.verdict(prompt)
        digest = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16)
        if digest % 1000 < self.faults.garbage * 1000:
            return "I would rather not put a number on it."
        found = re.search(r"item-(\d+)", prompt)
        score = (int(found[1]) if found else digest) % 101
        return json.dumps({"score": score, "reason": f"because {score}", "subscores": {}})


def _dropped(request: web.Request) -> web.Response:
    if request.transport is not None:  # the client may have gone first
        request.transport.close()
    return web.Response()


async def _trickled(request: web.Request, body: bytes, seconds: float, pieces: int = 4) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json", "content-length": str(len(body))})
    await response.prepare(request)
    size = -(-len(body) // pieces)
    with suppress(ConnectionError):  # the client may have left
        for start in range(0, len(body), size):
            await response.write(body[start : start + size])
            await asyncio.sleep(seconds / pieces)
    return response


def _add_tokens(reply, body, tokens):
    """Add the tokens to a reply in the form of its API, if the request asks for them as its API wants it."""
    listed = [{**_named(text, each), "top_logprobs": [_named(*pair) for pair in {text: each, **others}.items()]}
              for text, each, others in tokens]  # fmt: skip
    if body.get("logprobs") is True and body.get("top_logprobs"):
        reply["choices"][0]["logprobs"] = {"content": listed}
    if "message.output_text.logprobs" in body.get("include", ()) and body.get("top_logprobs"):
        reply["output"][0]["content"][0]["logprobs"] = listed
    config = body.get("generationConfig", {})
    if config.get("responseLogprobs") and config.get("logprobs"):
        reply["candidates"][0]["logprobsResult"] = {
            "chosenCandidates": [_candidate(text, each) for text, each, _ in tokens],
            "topCandidates": [
                {"candidates": [_candidate(*pair) for pair in {text: each, **others}.items()]}
                for text, each, others in tokens
            ],
        }


def _named(text, logprob):
    raw = text if isinstance(text, bytes) else text.encode()
    return {"token": raw.decode(errors="replace"), "logprob": logprob, "bytes": list(raw)}


def _candidate(text, logprob):
    return {"token": text, "tokenId": 1, "logProbability": logprob}


def _text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _chat_prompt(body):
    return "\n".join(_text_of(message["content"]) for message in body["messages"])


def _chat_reply(text, model, finish, thought=""):
    message = {"role": "assistant", "content": text} | ({"reasoning_content": thought} if thought else {})
    reason = {"refusal": "content_filter"}.get(finish, finish)
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": USAGE["in"], "completion_tokens": USAGE["out"], "total_tokens": 120},
    }  # fmt: skip


def _responses_prompt(body):
    return (body.get("instructions") or "") + body["input"]


def _responses_reply(text, model, finish):
    assert finish == "stop", "not needed so far"
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": "r", "object": "response", "created_at": 1, "model": model, "status": "completed", "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1,
        "tool_choice": "auto", "tools": [], "top_p": 1,
        "output": [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}],
        "usage": {
            "input_tokens": USAGE["in"], "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": USAGE["out"], "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
    }  # fmt: skip


def _messages_prompt(body):
    return (body.get("system") or "") + body["messages"][0]["content"]


def _messages_reply(text, model, finish):
    reason = {"stop": "end_turn", "length": "max_tokens"}.get(finish, finish)
    return {
        "id": "msg", "type": "message", "role": "assistant", "model": model,
        "content": [{"type": "text", "text": text}], "stop_reason": reason, "stop_sequence": None,
        "usage": {"input_tokens": USAGE["in"], "output_tokens": USAGE["out"]},
    }  # fmt: skip


def _gemini_prompt(body):
    return "".join(part["text"] for content in body["contents"] for part in content["parts"])


def _gemini_reply(text, model, finish):
    reason = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}[finish]
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": USAGE["in"], "candidatesTokenCount": USAGE["out"]},
        "modelVersion": model,
    }  # fmt: skip


def _openai_error(status, message):
    return {"error": {"message": message, "type": "error", "param": None, "code": None}}


def _anthropic_error(status, message):
    return {"type": "error", "error": {"type": "error", "message": message}}


def _gemini_error(status, message):
    return {"error": {"code": status, "message": message, "status": "ERROR"}}


async def _serve(server: "Served", port: int = 0) -> web.AppRunner:
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server.port = runner.addresses[0][1]
    return runner


class Served(Protocol):
    """Anything with an application, and a place for the port that it is given."""

    port: int

    def app(self) -> web.Application: ...


Running = TypeVar("Running", bound=Served)


class ServerThread(Generic[Running]):
    """Runs a server beside the test; one that was stopped is started again at the same address."""

    def __init__(self, server: Running) -> None:
        self.server = server
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Running:
        self._thread.start()
        self._started.wait()
        return self.server

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = self._loop.run_until_complete(_serve(self.server, self.server.port))
        self._started.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        pending = asyncio.all_tasks(self._loop)
        for task in pending:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        self._loop.close()


async def _alone(latency_s: float) -> None:
    server = Server(Faults(latency_s=latency_s), keep_bodies=False)
    await _serve(server)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_alone(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
