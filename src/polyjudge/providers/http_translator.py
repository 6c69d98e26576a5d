"""Translators over HTTP, each as its description says: LibreTranslate, DeepL, Google, Azure, Apertium, or your own.

A request's prompt is the text, and its model the pair of languages. As a provider, a translator has the retries, rate
limits, budget and cache of a run.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast
from urllib.parse import urlencode, urljoin

from polyjudge.concurrency.sync import PerLoop
from polyjudge.errors import (
    ConfigError,
    MalformedResponseError,
    PolyjudgeError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.files.json_lines import parse_json
from polyjudge.records.requests import ModelName, Origin, Reply, Request

from .base import Stopwatch
from .http import HttpClient, HttpResponse
from .redacting import without_keys
from .translator_descriptions import (
    TranslatorDescription,
    address_and_path,
    filled,
    filled_json,
    filled_path,
    language_code,
    translations_in,
)
from .wire_errors import ResponseTooLargeError, error_for_status, error_for_transport, shown

_GATHERING_S = 0.005
"""How long a text waits for others of its pair, if a call may have several."""
_SEPARATOR = ">"


def translation_request(text: str, source: str, target: str, *, description_sha256: str, repeat: int = 0) -> Request:
    """Return the request for the translation of a text; another description is another question."""
    model = f"{source}{_SEPARATOR}{target}"
    return Request(prompt=text, model=model, system=f"description {description_sha256}", repeat=repeat)


class HttpTranslator:
    """Sends texts to one service."""

    def __init__(
        self,
        name: str,
        description: TranslatorDescription,
        variables: Mapping[str, str],
        *,
        timeout_s: float = 120.0,
        gathers: bool = True,
    ) -> None:
        """Use the given variables alone; `gathers` sends several texts in a call where the service allows it."""
        self._name = name
        self._description = description
        self._variables = _checked(name, description, variables)
        address, self._path = address_and_path(description, self._variables)
        self.origin = Origin(name, address)
        self._timeout_s = timeout_s
        self._most = description.texts_per_call if gathers else 1
        self._connection = PerLoop(self._open, _Connection.aclose)

    async def complete(self, request: Request) -> Reply:
        """Return the translation of the request's prompt."""
        watch = Stopwatch()
        source, _, target = request.model.partition(_SEPARATOR)
        pair = (
            language_code(self._description, source, is_target=False),
            language_code(self._description, target, is_target=True),
        )
        text = await self._connection.get().translate(request.prompt, pair)
        if request.prompt.strip() and not text.strip():
            raise ProviderError(f"{self._name} returned an empty translation")
        return watch.stamped(Reply(text=text, model=request.model))

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._connection.aclose()

    def _open(self) -> "_Connection":
        described = {name: filled(value, self._variables) for name, value in self._description.headers.items()}
        headers = {name: value for name, value in described.items() if value is not None}
        body_type = "application/json" if self._description.json is not None else "application/x-www-form-urlencoded"
        if self._description.json is not None or self._description.form:
            headers["Content-Type"] = body_type
        client = HttpClient(self.origin.base_url, headers, timeout_s=self._timeout_s)
        return _Connection(client, self._most, self._description.characters_per_call, self._send)

    async def _send(self, client: HttpClient, texts: Sequence[str], pair: tuple[str, str]) -> list[str]:
        """Translate texts in one call."""
        source, target = pair
        shared = {**self._variables, "source_lang": source, "target_lang": target}
        values = [{**shared, "text": text} for text in texts]
        path = filled_path(self._path, self._description.query, values[0])
        try:
            response = await client.send(self._description.method, path, self._body(values))
        except ResponseTooLargeError as error:
            raise MalformedResponseError(f"malformed response from {self._name}: {error}") from None
        except OSError as error:
            raise error_for_transport(error, ModelName(self._name, "")) from None
        if response.status != 200:
            raise self._error(response, pair)
        return self._translations(response, len(texts))

    def _body(self, values: Sequence[Mapping[str, str]]) -> bytes:
        description = self._description
        if description.json is not None:
            return json.dumps(filled_json(description.json, values)).encode()
        fields = [
            (name, text) for name, form in description.form.items() if (text := filled(form, values[0])) is not None
        ]
        return urlencode(fields, errors="replace").encode()

    def _translations(self, response: HttpResponse, texts: int) -> list[str]:
        try:
            found = translations_in(parse_json(response.body.decode("utf-8-sig")), self._description.answer)
        except (ValueError, RecursionError, MalformedResponseError) as error:
            reason = f"{error}" if isinstance(error, MalformedResponseError) else "it is not JSON"
            start = self._shown(response)
            raise MalformedResponseError(f"{self._name} answered 200, but {reason}: {start!r}") from None
        if len(found) != texts:
            raise MalformedResponseError(f"{self._name} answered {len(found)} translations for {texts} texts")
        return found

    def _error(self, response: HttpResponse, pair: tuple[str, str]) -> PolyjudgeError:
        """Return the error for a response."""
        status, known = response.status, self._description.errors
        said, detail = {status, *_values_in(response.body)}, self._shown(response)
        text = f"{self._name} answered {status} for {pair[0]} to {pair[1]}: {detail}"
        if 300 <= status < 400 and (location := response.headers.get("location")):
            moved = self._redacted(urljoin(self.origin.base_url, location))
            return UnusableError(f"{self._name} answered {status}: the server has moved to {moved}")
        error = error_for_status(status, detail, ModelName(self._name, ""), headers=response.headers)
        if said & {*known.quota}:
            return UnusableError(f"{text}. The quota of the account is used up")
        if said & {*known.rate}:
            return RateLimitedError(text, retry_after_s=getattr(error, "retry_after_s", None))
        if status in (401, 403) or said & {*known.key}:
            used = ", ".join(each for each in self._description.used_variables if each in self._variables)
            return UnusableError(f"{text}. Check the key{f' in {used}' if used else ', if it needs one'}")
        if status in (404, 405):
            return UnusableError(f"{text}. Check the address {self.origin.base_url}")
        return error if isinstance(error, TransientError) else RefusedError(text)

    def _shown(self, response: HttpResponse) -> str:
        return self._redacted(response.body.decode("utf-8-sig", errors="replace"))

    def _redacted(self, text: str) -> str:
        """Return a message without the values of variables, except for the address."""
        own = [value for name, value in self._variables.items() if name != self._description.address_variable]
        return shown(without_keys(text, own))


def _checked(name: str, description: TranslatorDescription, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are given, without empty ones; raise an error for a missing or an invalid one."""
    used = description.used_variables
    given = {variable: value.strip() for variable, value in variables.items() if value.strip()}
    for variable in description.variables:
        if variable not in given:
            reason = "is empty" if variable in variables else "is needed"
            raise ConfigError(f"{name}: the variable {variable} {reason}", option="env", value=variable)
    for variable, value in given.items():
        if variable not in used:
            raise ConfigError(f"{name} does not use the variable {variable}. It uses: {', '.join(used) or 'none'}")
        if not value.isascii() or not value.isprintable():
            raise ConfigError(f"{variable} contains characters that are not valid in a key; copy it again")
    return given


def _values_in(body: bytes) -> set[int | str]:
    """Return the numbers and texts in the JSON of an error; none if it is not JSON."""
    try:
        return set(_leaves(json.loads(body)))
    except (ValueError, RecursionError):
        return set()


def _leaves(part: object) -> list[int | str]:
    if isinstance(part, dict | list):
        inner = cast(dict[str, object], part).values() if isinstance(part, dict) else cast(list[object], part)
        return [leaf for each in inner for leaf in _leaves(each)]
    return [part] if isinstance(part, int | str) else []


_Send = Callable[[HttpClient, Sequence[str], tuple[str, str]], Awaitable[list[str]]]


class _Connection:
    """The client of one event loop, and the texts that wait to be sent together."""

    def __init__(self, client: HttpClient, most: int, most_characters: int, send: "_Send") -> None:
        self._client = client
        self._most = most
        self._most_characters = most_characters
        self._send = send
        self._waiting: dict[tuple[str, str], list[tuple[str, asyncio.Future[str]]]] = {}
        self._calls: set[asyncio.Task[None]] = set()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def translate(self, text: str, pair: tuple[str, str]) -> str:
        """Return the translation of a text, from a call of its own or with others of the same pair."""
        if self._most == 1:
            return (await self._send(self._client, [text], pair))[0]
        loop = asyncio.get_running_loop()
        waiting = self._waiting.get(pair, [])
        size = len(text) + sum(len(each) for each, _ in waiting)
        if waiting and self._most_characters and size > self._most_characters:
            self._start(pair, waiting)
        waiting, future = self._waiting.setdefault(pair, []), loop.create_future()
        waiting.append((text, future))
        if len(waiting) >= self._most:
            self._start(pair, waiting)
        elif len(waiting) == 1:
            loop.call_later(_GATHERING_S, self._start, pair, waiting)
        return await future

    def _start(self, pair: tuple[str, str], waiting: list[tuple[str, asyncio.Future[str]]]) -> None:
        """Send the texts that wait, unless they were sent already."""
        if self._waiting.get(pair) is not waiting:
            return
        del self._waiting[pair]
        task = asyncio.get_running_loop().create_task(self._finish(pair, waiting))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _finish(self, pair: tuple[str, str], waiting: Sequence[tuple[str, asyncio.Future[str]]]) -> None:
        asked = [(text, future) for text, future in waiting if not future.done()]  # others were cancelled
        try:
            texts = await self._send(self._client, [text for text, _ in asked], pair) if asked else []
        except RefusedError as error:
            if len(asked) > 1:  # one text may be at fault: each is asked by itself
                for each in asked:
                    await self._finish(pair, [each])
            else:
                _fail(asked, error)
        except PolyjudgeError as error:
            _fail(asked, error)
        else:
            for (_, future), text in zip(asked, texts, strict=True):
                if not future.done():
                    future.set_result(text)


def _fail(asked: Sequence[tuple[str, asyncio.Future[str]]], error: PolyjudgeError) -> None:
    for _, future in asked:
        if not future.done():
            future.set_exception(error)
