"""The same prompts through a bare client, without storing or checking anything, as one would do without polyjudge."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

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


async def bare_openai(url: str) -> Opened:
    import openai

    client = openai.AsyncOpenAI(
        api_key="k", base_url=f"{url}/v1", max_retries=0, http_client=openai.DefaultAioHttpClient()
    )

    async def ask(request: Request) -> str:
        form = {"type": "json_schema", "name": "verdict", "schema": request.schema, "strict": True}
        response = await client.responses.create(model="m", input=request.prompt, store=False, text={"format": form})
        return response.output_text

    return ask, client.close


async def bare_anthropic(url: str) -> Opened:
    import anthropic

    client = anthropic.AsyncAnthropic(
        api_key="k", base_url=url, max_retries=0, http_client=anthropic.DefaultAioHttpClient()
    )

    async def ask(request: Request) -> str:
        message = await client.messages.create(
            model="m",
            max_tokens=4096,
            messages=[{"role": "user", "content": request.prompt}],
            output_config={"format": {"type": "json_schema", "schema": request.schema}},
        )
        return message.content[0].text

    return ask, client.close


async def bare_google(url: str) -> Opened:
    from google import genai

    client = genai.Client(api_key="k", http_options=genai.types.HttpOptions(base_url=url))
    config = {"response_mime_type": "application/json"}

    async def ask(request: Request) -> str:
        form = genai.types.GenerateContentConfig(**config, response_json_schema=dict(request.schema or {}))
        response = await client.aio.models.generate_content(model="m", contents=request.prompt, config=form)
        return response.text or ""

    return ask, client.aio.aclose


CLIENTS = {"aiohttp": bare_aiohttp, "openai": bare_openai, "anthropic": bare_anthropic, "google": bare_google}

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
