"""A server on loopback that streams as the vendors do for their agent CLIs: Anthropic, OpenAI (both ways), Gemini.

It answers with `says`, and misbehaves as `acts` tells it, request by request; the last act goes on for ever.
`ServerThread` of `vendor_server` runs it.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web

USAGE = {"in": 120, "out": 7}
OK = "ok"


@dataclass
class AgentServer:
    """What it was asked, and what it does."""

    says: Callable[[str], str] = lambda _: "SCORE: fine"
    acts: list[str] = field(default_factory=list)
    """Of each request: `ok`, a status such as `429`, `hang`, `cut`, `empty`, or `call NAME {arguments}` for a tool."""
    requests: list[dict] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict] = field(default_factory=list)
    models: tuple[str, ...] = ()
    """Models that are known; none means all."""
    unknown_model: str = ""
    """What is said of the others, where it is not the usual."""
    retry_after: str = ""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def prompts(self) -> list[str]:
        """All text of each request, as one."""
        return [json.dumps(body, ensure_ascii=False) for body in self.requests]

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/messages", self._handler(_anthropic_events))
        app.router.add_post("/v1/responses", self._handler(_responses_events))
        app.router.add_post("/v1/chat/completions", self._handler(_chat_events))
        app.router.add_post("/v1beta/models/{model}:streamGenerateContent", self._handler(_gemini_events))
        app.router.add_post("/v1beta/models/{model}:generateContent", self._handler(_gemini_events))
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/responses", self._no_socket)
        app.router.add_route("*", "/{rest:.*}", self._other)
        return app

    async def _models(self, _request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})

    async def _no_socket(self, _request: web.Request) -> web.Response:
        return web.Response(status=426)

    async def _other(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        return web.json_response({"error": {"message": "not found", "type": "not_found_error"}}, status=404)

    def _handler(self, events_of):
        async def handle(request: web.Request) -> web.StreamResponse:
            body = await request.json()
            self.requests.append(body)
            self.paths.append(request.path)
            self.headers.append(dict(request.headers))
            number = len(self.requests) - 1
            act = self.acts[min(number, len(self.acts) - 1)] if self.acts else OK
            model = body.get("model") or request.match_info.get("model", "")
            if self.models and model not in self.models:
                return _error(404, self.unknown_model or f"model: {model}", "")
            if act.isdecimal():
                return _error(int(act), "as configured", self.retry_after)
            if act == "hang":
                await asyncio.sleep(3600)
            return await self._stream(request, body, model, events_of, act)

        return handle

    async def _stream(self, request, body, model, events_of, act) -> web.StreamResponse:
        text = "" if act == "empty" else self.says(json.dumps(body, ensure_ascii=False))
        call = act.split(" ", 2)[1:] if act.startswith("call ") else None
        events = list(events_of(text, model, call, body))
        if len(events) == 1 and events[0][0] == "whole":
            return web.json_response(events[0][1])
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        if act == "cut":
            events = events[: max(1, len(events) // 2)]
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            payload = data if isinstance(data, str) else json.dumps(data)
            await response.write(f"{head}data: {payload}\n\n".encode())
        if act == "cut":
            request.transport.close()
            return response
        await response.write_eof()
        return response


def _error(status, message, retry_after):
    body = {"type": "error", "error": {"type": "error", "message": message, "code": status, "status": "ERROR"}}
    return web.json_response(body, status=status, headers={"retry-after": retry_after} if retry_after else {})


def _anthropic_events(text, model, call, body):
    message = {
        "id": "msg", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": USAGE["in"], "output_tokens": 1},
    }  # fmt: skip
    yield "message_start", {"type": "message_start", "message": message}
    block = {"type": "tool_use", "id": "t1", "name": call[0], "input": {}} if call else {"type": "text", "text": ""}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    delta = {"type": "input_json_delta", "partial_json": call[1]} if call else {"type": "text_delta", "text": text}
    yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": {"output_tokens": USAGE["out"]}}
    yield "message_stop", {"type": "message_stop"}


def _responses_events(text, model, call, body):
    yield "response.created", {"type": "response.created", "response": {"id": "r"}}
    item = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    if call:
        item = {"type": "function_call", "id": "f", "call_id": "c", "name": call[0], "arguments": call[1]}
    yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {
        "input_tokens": USAGE["in"], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": USAGE["out"],
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 127,
    }  # fmt: skip
    yield "response.completed", {"type": "response.completed", "response": {"id": "r", "usage": usage}}


def _chat_events(text, model, call, body):
    usage = {"prompt_tokens": USAGE["in"], "completion_tokens": USAGE["out"], "total_tokens": 127}
    head = {"id": "c", "created": 1, "model": model}
    if not body.get("stream"):
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        yield "whole", {**head, "object": "chat.completion", "choices": choices, "usage": usage}
        return
    head = {**head, "object": "chat.completion.chunk"}
    delta = {"role": "assistant", "content": text}
    if call:
        function = {"name": call[0], "arguments": call[1]}
        delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": "t", "type": "function", "function": function}]}
    yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if call else "stop"
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield "", {**head, "choices": [], "usage": usage}
    yield "", "[DONE]"


def _gemini_events(text, model, call, body):
    part = {"functionCall": {"name": call[0], "args": json.loads(call[1])}} if call else {"text": text}
    usage = {"promptTokenCount": USAGE["in"], "candidatesTokenCount": USAGE["out"], "totalTokenCount": 127}
    half = {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}
    yield "", half
    end = {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}]}
    yield "", {**end, "usageMetadata": usage}
