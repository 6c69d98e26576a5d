"""An event loop in a thread of its own, for what belongs to one loop but is used from many, and from ordinary code."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class LoopThread:
    """Runs a loop until it is stopped; the thread does not keep the program from ending."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do something in the loop and wait for it, in another thread."""
        doing = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return doing.result()
        except BaseException:  # Ctrl-C: what nobody waits for any more must not go on
            doing.cancel()
            raise

    def finish(self, last: Coroutine[Any, Any, None]) -> None:
        """Do one last thing in the loop, and end it."""
        asyncio.run_coroutine_threadsafe(self._finish(last), self.loop)
        if self._thread is not threading.current_thread():  # the garbage collector may call from anywhere
            self._thread.join()

    async def _finish(self, last: Coroutine[Any, Any, None]) -> None:
        try:
            await last
        finally:
            self.loop.stop()

    def _run(self) -> None:
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(_end_all())
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
        finally:
            self.loop.close()


async def _end_all() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
