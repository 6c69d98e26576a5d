"""Whether a local server is there, and which models it has."""

import asyncio
import json
import os
from typing import Any, cast

from polyjudge.errors import UnusableError

from .addresses import origin_of
from .failing import shown
from .http_client import HttpClient
from .http_reading import HttpResponse
from .keys import checked_key
from .local_chat import NO_KEY, error_in
from .naming import ModelName

_HOW_TO_START = (
    "Start one (`ollama serve`, or `llama-server -m MODEL.gguf --port 8080`) "
    "or name another with LOCAL_OPENAI_BASE_URL."
)
_PATIENCE_S = 2.0


async def local_models(*, timeout_s: float = 120.0) -> list[str]:
    """Return the models that the local server lists, none where it keeps no list; raise when nobody answers.

    A server that says it is loading is waited for.
    """
    address = origin_of("local").base_url
    deadline = asyncio.get_running_loop().time() + timeout_s
    key = checked_key(os.environ.get("LOCAL_OPENAI_API_KEY", "").strip() or NO_KEY, "LOCAL_OPENAI_API_KEY")
    client = HttpClient(address, {"Authorization": f"Bearer {key}"}, timeout_s=timeout_s)
    try:
        while True:
            response = await client.send("GET", "/models")
            if response.status != 503 or asyncio.get_running_loop().time() + _PATIENCE_S > deadline:
                return _listed(response, key)
            await asyncio.sleep(_PATIENCE_S)
    except OSError as error:
        why = shown(str(error) or "it took too long")
        raise UnusableError(f"no server of local models answers at {address} ({why}). {_HOW_TO_START}") from None
    finally:
        await client.aclose()


def _listed(response: HttpResponse, key: str) -> list[str]:
    """Return the models in an answer; raise where it says that nothing else will be answered either."""
    if response.status == 200:
        return [name for name in _names(response.body.decode("utf-8-sig", errors="replace")) if name != key]
    error = error_in(response, ModelName("local", ""), "/models")
    if response.status != 404 and isinstance(error, UnusableError):
        raise error
    return []


def _names(text: str) -> list[str]:
    """Return the ids in a list of models; what is no such list holds none."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    listed: object = cast(dict[str, object], data).get("data") if isinstance(data, dict) else None
    rows = cast(list[object], listed) if isinstance(listed, list) else []
    found = [cast(dict[str, object], row).get("id") for row in rows if isinstance(row, dict)]
    return [name for name in found if isinstance(name, str) and name.strip()]
