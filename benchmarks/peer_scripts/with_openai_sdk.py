"""No framework: the OpenAI SDK as it comes, over its own HTTP client, which is what the frameworks stand on."""

import asyncio
import json

from given import AT_ONCE, BASE_URL, ITEMS, check, prompt_for_format
from openai import AsyncOpenAI  # noqa: TID253 - a program of its own


async def main() -> None:
    client, places = AsyncOpenAI(base_url=BASE_URL, api_key="k"), asyncio.Semaphore(AT_ONCE)
    prompt = prompt_for_format("candidate", "source")

    async def one(row):
        async with places:
            asked = [{"role": "user", "content": prompt.format(**row)}]
            reply = await client.chat.completions.create(
                model="m", messages=asked, response_format={"type": "json_object"}
            )
            return row["id"], json.loads(reply.choices[0].message.content)["score"]

    check(dict(await asyncio.gather(*(one(row) for row in ITEMS))), highest=10)


asyncio.run(main())
