"""The loopback server of the tests, able to answer every framework: chat in text, by schema or by a tool's call.

`python -m benchmarks.peer_server LATENCY_S` prints its port. One verdict holds the fields that any of them looks for.
`/counts` tells what was asked since it was last looked at, and how many calls were in flight at the most.
"""

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from tests.loopback.vendor_server import Faults, Server

LEVELS = 11
"""Scores from 0 to 10: on polyjudge's scale of 0 to 100, and on those of the frameworks that stop at 10."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PeerServer:
    """Answers chat itself, passes the other protocols to the tests' server, and counts both."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._others = Server(Faults(latency_s=latency_s), verdict=verdict, keep_bodies=False)
        self._asked = self._in_flight = self._most = 0

    def app(self) -> web.Application:
        app = self._others.app()
        app.middlewares.append(self._each)
        return app

    @web.middleware
    async def _each(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path == "/counts":
            return self._counts()
        self._asked += 1
        self._in_flight += 1
        self._most = max(self._most, self._in_flight)
        try:
            return await (self._chat(request) if request.path == "/v1/chat/completions" else handler(request))
        finally:
            self._in_flight -= 1

    def _counts(self) -> web.Response:
        counts = {"asked": self._asked, "most_in_flight": self._most}
        self._asked = self._most = 0
        return web.json_response(counts)

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        await asyncio.sleep(self._latency_s)
        answer = verdict("\n".join(_text(message["content"]) for message in body["messages"]))
        return web.json_response(_completion(body, answer))


def verdict(prompt: str) -> str:
    """Return the verdict on the item that a prompt names."""
    found = re.search(r"item-(\d+)", prompt)
    score = int(found[1]) % LEVELS if found else 0
    reason = f"because {score}"
    fields = {"score": score, "reason": reason, "reasoning": reason, "reasons": reason, "choice": str(score)}
    return json.dumps({**fields, "pass": True, "subscores": {}})


def _text(content: Any) -> str:
    """Return a message's text, which some clients send in parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def _completion(body: dict[str, Any], answer: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if body.get("tools"):
        function = {"name": body["tools"][0]["function"]["name"], "arguments": answer}
        message |= {"content": None, "tool_calls": [{"id": "t", "type": "function", "function": function}]}
    finish = "tool_calls" if body.get("tools") else "stop"
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }  # fmt: skip


async def main(latency_s: float) -> None:
    runner = web.AppRunner(PeerServer(latency_s).app(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
