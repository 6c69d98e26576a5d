"""autoevals: `LLMClassifier` with polyjudge's prompt and a choice for each score; it asks by a tool's call."""

import asyncio

from autoevals import LLMClassifier
from given import AT_ONCE, BASE_URL, ITEMS, LEVELS, check, prompt_for_braces
from openai import AsyncOpenAI  # noqa: TID253 - a program of its own


async def main() -> None:
    judge = LLMClassifier(
        name="general",
        prompt_template=prompt_for_braces("output", "input"),
        choice_scores={str(level): level / (LEVELS - 1) for level in range(LEVELS)},
        model="m",
        use_cot=True,
        client=AsyncOpenAI(base_url=BASE_URL, api_key="k"),
    )
    places = asyncio.Semaphore(AT_ONCE)

    async def one(row):
        async with places:
            return row["id"], (await judge.eval_async(output=row["candidate"], input=row["source"])).score

    check(dict(await asyncio.gather(*(one(row) for row in ITEMS))))


asyncio.run(main())
