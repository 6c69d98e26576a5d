"""Errors in the responses of an SDK become our own errors, without the key."""

import asyncio

import pytest

from polyjudge.errors import PolyjudgeError, ProviderError, RefusedError
from polyjudge.providers.sdk import Sdk, SdkCalls
from polyjudge.records.requests import ModelName

SECRET = "sk-very-secret-key-0123456789"


async def close(client):
    del client


def calls():
    sdk = Sdk(open=object, close=close, errors=(KeyboardInterrupt,), mapped=PolyjudgeError, status=lambda _: None)
    return SdkCalls(ModelName("openai", "gpt-5"), sdk, timeout_s=5.0)


@pytest.mark.parametrize("kind", [ProviderError, RefusedError])
def test_an_error_message_that_repeats_the_key_is_shown_without_it(kind, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    async def answer(client):
        raise kind(f"openai failed to respond: {SECRET} is unknown")

    with pytest.raises(kind, match="failed to respond") as caught:
        asyncio.run(calls().make(answer))

    assert SECRET not in str(caught.value)
