"""openevals: `create_async_llm_as_judge` with polyjudge's prompt, over LangChain or over the OpenAI client itself."""

import asyncio
import sys

from given import AT_ONCE, BASE_URL, ITEMS, check, prompt_for_format
from openevals.llm import create_async_llm_as_judge


def judge():
    if "sdk" in sys.argv:
        from openai import AsyncOpenAI

        asked = {"judge": AsyncOpenAI(base_url=BASE_URL, api_key="k"), "model": "m"}
    else:
        from langchain_openai import ChatOpenAI

        asked = {"judge": ChatOpenAI(model="m", base_url=BASE_URL, api_key="k")}
    return create_async_llm_as_judge(prompt=prompt_for_format("outputs", "inputs"), continuous=True, **asked)


async def main() -> None:
    score, places = judge(), asyncio.Semaphore(AT_ONCE)

    async def one(row):
        async with places:
            return row["id"], (await score(inputs=row["source"], outputs=row["candidate"]))["score"]

    check(dict(await asyncio.gather(*(one(row) for row in ITEMS))), highest=10)


asyncio.run(main())
