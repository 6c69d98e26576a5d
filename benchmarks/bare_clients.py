"""The same prompts through a bare client, without storing or checking anything, as one would do without polyjudge."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from polyjudge.providers.local import chat_body
from polyjudge.records.requests import Request
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import answer_schema, render_prompt

AT_ONCE = 64


def requests_for(items: str) -> list[Request]:
    rubric = load_rubric("general")
    schema = answer_schema(rubric)
    rows = [json.loads(line) for line in Path(items).read_text(encoding="utf-8").splitlines()]
    return [
        Request(prompt=render_prompt(rubric, row["candidate"], {"source": row["source"]}), model="m", schema=schema)
        for row in rows
    ]


async def main(client: str, items: str, url: str) -> None:
    requests = requests_for(items)
    ask, close = await CLIENTS[client](url)
    places = asyncio.Semaphore(AT_ONCE)

    async def one(request: Request) -> float:
        async with places:
            return json.loads(await ask(request))["score"]

    scores = await asyncio.gather(*(one(request) for request in requests))
    assert len(scores) == len(requests)
    await close()


Opened = tuple[Callable[[Request], Awaitable[str]], Callable[[], Awaitable[None]]]


async def bare_aiohttp(url: str) -> Opened:
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def ask(request: Request) -> str:
        async with session.post(f"{url}/v1/chat/completions", json=chat_body(request)) as response:
            return (await response.json())["choices"][0]["message"]["content"]

    return ask, session.close


async def bare_openai(url: str, *, by_default: bool = False) -> Opened:
    import openai

    transport = openai.DefaultAsyncHttpxClient() if by_default else openai.DefaultAioHttpClient()
    client = openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0, http_client=transport)

    async def ask(request: Request) -> str:
        form = {"type": "json_schema", "name": "verdict", "schema": request.schema, "strict": True}
        response = await client.responses.create(model="m", input=request.prompt, store=False, text={"format": form})
        return response.output_text

    return ask, client.close


async def bare_anthropic(url: str, *, by_default: bool = False) -> Opened:
    import anthropic

    transport = anthropic.DefaultAsyncHttpxClient() if by_default else anthropic.DefaultAioHttpClient()
    client = anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0, http_client=transport)

    async def ask(request: Request) -> str:
        message = await client.messages.create(
            model="m",
            max_tokens=4096,
            messages=[{"role": "user", "content": request.prompt}],
            output_config={"format": {"type": "json_schema", "schema": request.schema}},
        )
        return message.content[0].text

    return ask, client.close


async def bare_google(url: str, transport: str = "aiohttp") -> Opened:
    import aiohttp
    import httpx2
    from google import genai

    own: dict[str, Any] = {}
    if transport == "session":
        own["aiohttp_client"] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    elif transport == "httpx2":
        own["httpx_async_client"] = httpx2.AsyncClient(limits=httpx2.Limits(max_connections=None))
    client = genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=url, **own))
    config = {"response_mime_type": "application/json"}

    async def ask(request: Request) -> str:
        form = genai.types.GenerateContentConfig(**config, response_json_schema=dict(request.schema or {}))
        response = await client.aio.models.generate_content(model="m", contents=request.prompt, config=form)
        return response.text or ""

    async def close() -> None:
        await client.aio.aclose()
        if transport == "session":
            await own["aiohttp_client"].close()

    return ask, close


CLIENTS = {
    "aiohttp": bare_aiohttp,
    "openai": bare_openai,
    "openai-httpx2": partial(bare_openai, by_default=True),
    "anthropic": bare_anthropic,
    "anthropic-httpx2": partial(bare_anthropic, by_default=True),
    "google": bare_google,
    "google-httpx2": partial(bare_google, transport="httpx2"),
    "google-session": partial(bare_google, transport="session"),
}

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
