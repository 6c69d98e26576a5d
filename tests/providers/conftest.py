"""Questions to the local server, and one whose answers are bytes."""

import asyncio

import pytest

from polyjudge.providers.base import close_provider
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import open_provider
from polyjudge.records.requests import Request


@pytest.fixture
def ask_local():
    """Ask the local server a question, in a loop that runs already."""

    async def asked():
        provider = open_provider(resolve_model("local/m"), timeout_s=20.0)
        try:
            return await provider.complete(Request(prompt="x", model="m"))
        finally:
            await close_provider(provider)

    return asked


@pytest.fixture
def ask_raw(ask_local, monkeypatch):
    """Ask a server that answers with the bytes that it is given."""

    def ask(answer):
        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()

        async def play():
            async with await asyncio.start_server(serve, "127.0.0.1", 0) as host:
                monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"http://127.0.0.1:{host.sockets[0].getsockname()[1]}/v1")
                return await ask_local()

        return asyncio.run(play())

    return ask
