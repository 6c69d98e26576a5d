"""`local`: any server that speaks OpenAI's chat completions."""

import json
import os
import secrets
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urljoin

from polyjudge.errors import OddAnswerError, PolyjudgeError, UnusableError
from polyjudge.files import parse_json
from polyjudge.records import Finish, Reply, Request

from .adapting import ParameterFilter, is_same_but_prompt, sent_parameters
from .addresses import origin_of
from .failing import error_for_status, error_for_transport, shown
from .http_client import HttpClient
from .http_reading import HttpResponse
from .keys import checked_key
from .naming import ModelName, model_facts
from .per_loop import PerLoop
from .redacting import REDACTED, without_keys
from .stopwatch import Stopwatch

NO_KEY = "none"
_SHORTEST_SECRET = 12
"""A shorter key, such as EMPTY or x, keeps no secret, and may be a word of an honest answer."""
_FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}
_PARAMETERS = {"temperature": "temperature", "max_tokens": "max_tokens"}


class LocalChatProvider:
    """Posts to one server; connections are kept open as long as the event loop lasts."""

    def __init__(self, model: str, *, timeout_s: float = 120.0) -> None:
        self.origin = origin_of("local")
        self._name = ModelName("local", model)
        # Never OPENAI_API_KEY: it must not reach whatever server is named.
        self._key = checked_key(os.environ.get("LOCAL_OPENAI_API_KEY", "").strip() or NO_KEY, "LOCAL_OPENAI_API_KEY")
        self._bodies = _Bodies()
        self._timeout_s = timeout_s
        self._filter = ParameterFilter(model_facts(self._name))
        self._client = PerLoop(self._open, HttpClient.aclose)

    async def complete(self, request: Request) -> Reply:
        """Ask, and wait for the answer."""
        return await self._filter.call(request, self._send)

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._client.aclose()

    async def _send(self, request: Request) -> Reply:
        watch = Stopwatch()
        body = self._bodies.written(request)
        try:
            response = await self._client.get().send("POST", "/chat/completions", body)
        except OSError as error:
            raise error_for_transport(error, self._name) from None
        if response.status != 200:
            raise error_in(response, self._name, "/chat/completions")
        text = response.body.decode("utf-8-sig", errors="replace")
        if len(self._key) >= _SHORTEST_SECRET:
            text = text.replace(self._key, REDACTED)  # a careless server says it back
        return watch.stamped(read_completion(text, request))

    def _open(self) -> HttpClient:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        return HttpClient(self.origin.base_url, headers, timeout_s=self._timeout_s)


def error_in(response: HttpResponse, name: ModelName, path: str) -> PolyjudgeError:
    """Return the error that a local server's answer to what was sent to a path stands for."""
    moved, base_url = response.headers.get("location", ""), origin_of("local").base_url
    if moved and 300 <= response.status < 400:
        address = shown(urljoin(f"{base_url}{path}", moved).removesuffix(path))
        asked = f"{base_url} answered {response.status}"
        return UnusableError(f"{asked}: it is at {address} now. Set LOCAL_OPENAI_BASE_URL to that address.")
    text = response.body.decode("utf-8-sig", errors="replace")
    return error_for_status(response.status, text, name, headers=response.headers)


class _Bodies:
    """Writes what is posted; all but the prompt is the same throughout a run, and is written once."""

    def __init__(self) -> None:
        self._last: Request | None = None
        self._around = "", ""

    def written(self, request: Request) -> bytes:
        if self._last is None or not is_same_but_prompt(self._last, request):
            mark = secrets.token_hex()
            before, _, after = json.dumps(chat_body(replace(request, prompt=mark))).partition(f'"{mark}"')
            self._last, self._around = request, (before, after)
        before, after = self._around
        return f"{before}{json.dumps(request.prompt)}{after}".encode()


def chat_body(request: Request) -> dict[str, Any]:
    """Return what is posted for a request."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, {"role": "user", "content": request.prompt}],
        **sent_parameters(request, _PARAMETERS),
    }
    if request.schema is not None:
        named = {"name": "verdict", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


def read_completion(text: str, request: Request) -> Reply:
    """Return the reply in a chat completion."""
    try:
        data: Any = parse_json(text)
        choice = data["choices"][0]
        content = choice["message"].get("content") or ""
        usage: dict[str, Any] = data.get("usage") or {}
        reply = Reply(
            text=_text(content),
            model=str(data.get("model") or request.model),
            reasoning=_reasoning(choice["message"]),
            finish=_FINISHES.get(choice.get("finish_reason") or "", "stop"),
            schema_enforced=request.schema is not None,
            parameters=sent_parameters(request, _PARAMETERS),
            input_tokens=_count(usage.get("prompt_tokens")),
            output_tokens=_count(usage.get("completion_tokens")),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        told = repr(without_keys(text)[:200])
        raise OddAnswerError(f"local answered 200 with something that is no chat completion: {told}") from None
    return reply


def _text(content: object) -> str:
    """Return the text of a message, which some servers give in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in cast(list[dict[str, object]], content))
    if isinstance(content, str):
        return content
    raise TypeError("the content is no text")


def _reasoning(message: dict[str, Any]) -> str:
    """Return what a model thought aloud; servers differ in what they call it."""
    told = message.get("reasoning_content") or message.get("reasoning") or ""
    return told if isinstance(told, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
