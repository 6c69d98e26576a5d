"""DeepEval: `GEval` by given steps, so that it asks once an item; the prompt around them is its own.

Its models open a client, TLS included, for every call. One of them can be given connections to share.
"""

import sys

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import LocalModel, OpenAIModel
from deepeval.test_case import LLMTestCase, SingleTurnParams
from given import AT_ONCE, BASE_URL, CACHED, CRITERIA, ITEMS, check
from openai import DefaultAsyncHttpxClient  # noqa: TID253 - a program of its own

if "local-model" in sys.argv:
    model = LocalModel(model="m", base_url=BASE_URL, api_key="k")
else:
    shared = DefaultAsyncHttpxClient()
    model = OpenAIModel(model="gpt-5", base_url=BASE_URL, api_key="k", async_http_client=shared)
metric = GEval(
    name="general",
    evaluation_steps=CRITERIA,
    evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
    model=model,
)
found = evaluate(
    [LLMTestCase(name=row["id"], input=row["source"], actual_output=row["candidate"]) for row in ITEMS],
    [metric],
    async_config=AsyncConfig(max_concurrent=AT_ONCE),
    display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
    cache_config=CacheConfig(write_cache=CACHED, use_cache=CACHED),
)
check({result.name: result.metrics_data[0].score for result in found.test_results})
