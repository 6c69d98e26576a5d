"""The one door from ordinary code into the async core."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_sync(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end; also inside a notebook, where a loop is running already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_beside(work)


def _run_beside(work: Coroutine[Any, Any, Result]) -> Result:
    """Run in a thread with a loop of its own: the caller's loop cannot be entered twice."""
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 - handed to the caller as it is
            outcome.set_exception(error)

    thread = threading.Thread(target=run, name="polyjudge-run", daemon=True)
    thread.start()
    return outcome.result()
