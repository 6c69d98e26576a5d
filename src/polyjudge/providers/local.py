"""Servers with OpenAI-compatible chat completions: `local`, and each service of `services.toml` with this API."""

import asyncio
import json
import secrets
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, cast
from urllib.parse import urljoin

from msgspec.structs import replace

from polyjudge.concurrency.sync import PerLoop
from polyjudge.errors import MalformedResponseError, PolyjudgeError, UnusableError
from polyjudge.files.json_lines import parse_json
from polyjudge.records.requests import Finish, ModelName, Reply, Request, Token, sent_parameters
from polyjudge.text.display import one_line

from .base import ParameterFilter, is_same_but_prompt
from .http import HttpClient, HttpResponse
from .models import model_facts
from .redacting import REDACTED, without_keys
from .services import chat_path, is_own_server, key_for, key_headers, max_tokens_name, origin_of, services
from .token_lists import tokens_in
from .wire_errors import ResponseTooLargeError, error_for_status, error_for_transport, shown, status_in

_LOADING_WAIT_S = 2.0
_LISTING_S = 10.0
_MOST_NAMES = 20


async def local_models(service: str = "local", *, timeout_s: float = 120.0) -> list[str]:
    """Return the models that a local server lists; raise an error if no server answers.

    Waits while the server is loading a model. A server without such a list has none.
    """
    name = ModelName(service, "")
    address, key = origin_of(service).base_url, key_for(name)
    deadline = asyncio.get_running_loop().time() + timeout_s
    client = HttpClient(address, key_headers(name, key), timeout_s=timeout_s)
    try:
        while True:
            response = await client.send("GET", "/models")
            if response.status != 503 or asyncio.get_running_loop().time() + _LOADING_WAIT_S > deadline:
                return _listed(response, name, key)
            await asyncio.sleep(_LOADING_WAIT_S)
    except OSError as error:
        reason = shown(str(error) or "it took too long")
        row = services()[service]
        raise UnusableError(
            f"no server of local models answers at {address} ({reason}). "
            f"Start one (`{row.start}`) or set {row.address_variables[0]}."
        ) from None
    finally:
        await client.aclose()


def listed_for_choice(models: Sequence[str], service: str, wanted: str = "") -> str:
    """Return a sentence with the models that a server has and, for a wrong name, the one that is most like it."""
    if not models:
        return f"It lists no model. Write {service}/MODEL."
    shown_names = [one_line(each, 80) for each in models[:_MOST_NAMES]]
    more = f" and {len(models) - _MOST_NAMES} more" if len(models) > _MOST_NAMES else ""
    close = get_close_matches(wanted, models, n=1) or [each for each in models if wanted and each.startswith(wanted)]
    hint = f" Did you mean {f'{service}/{one_line(close[0], 80)}'!r}?" if close else ""
    return f"It has: {', '.join(shown_names)}{more}.{hint}"


def _listed(response: HttpResponse, name: ModelName, key: str) -> list[str]:
    """Return the models in a response; raise the error of a response that makes other calls useless as well."""
    if response.status == 200:
        return [each for each in _names(response.body.decode("utf-8-sig", errors="replace")) if each != key]
    error = error_in(response, name, "/models")
    if response.status != 404 and isinstance(error, UnusableError):
        raise error
    return []


def _names(text: str) -> list[str]:
    """Return the ids in a list of models; none if the text is not such a list."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    listed: object = cast(dict[str, object], data).get("data") if isinstance(data, dict) else None
    rows = cast(list[object], listed) if isinstance(listed, list) else []
    found = [cast(dict[str, object], row).get("id") for row in rows if isinstance(row, dict)]
    return [name for name in found if isinstance(name, str) and name.strip()]


_NO_MODEL = {400, 404}
"""Statuses with which servers say that they do not know a model."""
_SHORTEST_SECRET = 12
"""A shorter key, such as EMPTY or x, is not secret, and may be a word of a reply."""
_FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "refusal"}


class ChatProvider:
    """Sends requests to one server."""

    def __init__(self, name: ModelName, *, timeout_s: float = 120.0) -> None:
        self.origin = origin_of(name.provider)
        self._name = name
        self._key = key_for(name)
        self._path = chat_path(name, self.origin.base_url)
        headers = {**key_headers(name, self._key), "Content-Type": "application/json"}
        self._bodies = _Bodies(max_tokens_name(name.provider))
        self._timeout_s = timeout_s
        self._filter = ParameterFilter(model_facts(self._name), "chat")
        open_client = partial(HttpClient, self.origin.base_url, headers, timeout_s=timeout_s)
        self._client = PerLoop(open_client, HttpClient.aclose)

    async def complete(self, request: Request) -> Reply:
        """Send a request, and return the reply."""
        return await self._filter.call(request, self._send)

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._client.aclose()

    async def _send(self, request: Request) -> Reply:
        body = self._bodies.encoded(request)
        try:
            response = await self._client.get().send("POST", self._path, body)
        except ResponseTooLargeError as error:  # not retried: the next response would be as long, and charged again
            raise MalformedResponseError(f"malformed response from {self._name.provider}: {error}") from None
        except OSError as error:
            raise error_for_transport(error, self._name) from None
        if response.status != 200:
            error = error_in(response, self._name, "/chat/completions")
            raise await self._with_models(error) if response.status in _NO_MODEL else error
        text = response.body.decode("utf-8-sig", errors="replace")
        if len(self._key) >= _SHORTEST_SECRET:
            text = text.replace(self._key, REDACTED)  # some servers repeat it
        return read_completion(text, request, self._name.provider)

    async def _with_models(self, error: PolyjudgeError) -> PolyjudgeError:
        """Return the error for a model that the user's own server does not know, with the models that it has."""
        if not isinstance(error, UnusableError) or not is_own_server(self._name.provider):
            return error
        try:
            models = await local_models(self._name.provider, timeout_s=min(self._timeout_s, _LISTING_S))
        except PolyjudgeError:
            return error
        if not models or self._name.model in models:
            return error
        return UnusableError(f"{error} {listed_for_choice(models, self._name.provider, self._name.model)}")


def error_in(response: HttpResponse, name: ModelName, path: str) -> PolyjudgeError:
    """Return the error for a server's response to a request for a path."""
    location, base_url = response.headers.get("location", ""), origin_of(name.provider).base_url
    if location and 300 <= response.status < 400:
        address = shown(urljoin(f"{base_url}{path}", location).removesuffix(path))
        variable = services()[name.provider].address_variables[0]
        problem = f"{base_url} answered {response.status}: the server has moved to {address}"
        return UnusableError(f"{problem}. Set {variable} to that address.")
    text = response.body.decode("utf-8-sig", errors="replace")
    return error_for_status(response.status, text, name, headers=response.headers)


class _Bodies:
    """Encodes requests; everything but the prompt is the same throughout a run, and is encoded once."""

    def __init__(self, max_tokens_as: str) -> None:
        self._max_tokens_as = max_tokens_as
        self._last: Request | None = None
        self._around = "", ""

    def encoded(self, request: Request) -> bytes:
        if self._last is None or not is_same_but_prompt(self._last, request):
            mark = secrets.token_hex()
            given = chat_body(replace(request, prompt=mark))
            body = {self._max_tokens_as if name == "max_tokens" else name: value for name, value in given.items()}
            before, _, after = json.dumps(body).partition(f'"{mark}"')
            self._last, self._around = request, (before, after)
        before, after = self._around
        return f"{before}{json.dumps(request.prompt)}{after}".encode()


def chat_body(request: Request) -> dict[str, Any]:
    """Return the body of a request to the API."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, {"role": "user", "content": request.prompt}],
        **sent_parameters(request, "chat"),
    }
    if request.top_logprobs is not None:
        body["logprobs"] = True
    if request.schema is not None:
        schema = {"name": "verdict", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def read_completion(text: str, request: Request, service: str = "local") -> Reply:
    """Return the reply in a chat completion; raise the error in it, with the text that the model wrote before."""
    name = ModelName(service, request.model)
    try:
        data: Any = parse_json(text)
        _raise_error_in(data, name)
        choice = data["choices"][0]
        message = choice["message"]
        _raise_error_in(choice, name)
        refusal, content = _optional_text(message, "refusal"), _text(message.get("content") or "")
        if not content and not refusal and message.get("tool_calls"):
            functions = [call["function"] for call in message["tool_calls"]]
            calls = "\n".join(f"{function['name']}({function['arguments']})" for function in functions)
            raise MalformedResponseError(f"{service} answered with a tool call and no text", text=calls)
        usage: dict[str, Any] = data.get("usage") or {}
        return Reply(
            text=refusal or content,
            model=str(data.get("model") or request.model),
            response_id=_optional_text(data, "id"),
            reasoning=_optional_text(message, "reasoning_content") or _optional_text(message, "reasoning"),
            finish="refusal" if refusal else _FINISHES.get(choice.get("finish_reason") or "", "stop"),
            schema_enforced=request.schema is not None,
            parameters=sent_parameters(request, "chat"),
            input_tokens=_count(usage.get("prompt_tokens")),
            output_tokens=_count(usage.get("completion_tokens")),
            tokens=_tokens(choice) if request.top_logprobs is not None else (),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        start = repr(without_keys(text)[:200])
        raise MalformedResponseError(f"{service} answered 200, but not with a chat completion: {start}") from None


def _tokens(choice: dict[str, Any]) -> tuple[Token, ...]:
    """Return the tokens of a choice; none from a server that does not give them in the usual form."""
    given: object = choice.get("logprobs")
    return tokens_in([cast(dict[str, object], given).get("content")]) if isinstance(given, dict) else ()


def _raise_error_in(part: dict[str, Any], name: ModelName) -> None:
    """Raise the error in a response with status 200, or in its only choice, if there is one."""
    error, has_failed = part.get("error"), part.get("finish_reason") == "error"
    if not error and not has_failed:
        return
    message = json.dumps(error, ensure_ascii=False) if error else "no reason given"
    status = status_in(error)
    if status is not None:
        raise error_for_status(status, message, name)
    written = _text(part["message"].get("content") or "") if has_failed else ""
    raise MalformedResponseError(f"{name.provider} answered 200 with an error: {shown(message)}", text=written)


def _text(content: object) -> str:
    """Return the text of a message, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in cast(list[dict[str, object]], content))
    if isinstance(content, str):
        return content
    raise TypeError("the content is not text")


def _optional_text(part: dict[str, Any], field: str) -> str:
    """Return a text field that not all servers send."""
    text = part.get(field) or ""
    return text if isinstance(text, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
