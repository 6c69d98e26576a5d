"""Connect to a Ray cluster, or start one.

Nothing here depends on what the work is. Each piece of work gets a function that reports its progress and returns when
it must stop.
"""

import asyncio
import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from polyjudge.errors import ConfigError
from polyjudge.extras import is_installed, require

Notify = Callable[[Any], Awaitable[float | None]]
"""Reports the progress of some work; returns the seconds that are left if it must stop, otherwise None."""
Work = Callable[[Any, Notify], Any]
"""Carries out an order and returns a report; it runs in another process, so all of these must be plain data."""

_OBJECT_STORE_BYTES = 100 * 2**20
_LONGEST_FOLDER = 30
"""Ray puts sockets into its folder, and the path of a socket must be short."""
_NO_MODULE = re.compile("No module named '([^']+)'")
_WAIT_S = 5.0
_TRIES, _PAUSE_S = 50, 0.1


@dataclass(frozen=True, slots=True)
class Finished:
    """How a piece of work ended."""

    name: str
    report: Any = None
    is_lost: bool = False
    """The process or machine that did it is gone, and there is no report."""


class RayCluster:
    """Somewhere to place work."""

    def __init__(self, ray: Any, *, is_ours: bool) -> None:
        self._ray = ray
        self.is_ours = is_ours
        """It runs on this machine and for this run alone."""
        self._board: Any = ray.remote(num_cpus=0, max_restarts=-1)(_Board).remote()
        self._task: Any = ray.remote(num_cpus=1, max_retries=0)(_do)
        self._refs: dict[str, Any] = {}
        self._waiting: dict[asyncio.Future[Any], str] = {}

    @property
    def slots(self) -> int:
        """How many pieces of work run at once: one on each CPU."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 0)))

    @property
    def hosts(self) -> set[str]:
        """The machines that it is made of."""
        return {node["NodeManagerHostname"] for node in self._ray.nodes() if node["Alive"]}

    def place(self, name: str, work: Work, order: Any) -> None:
        """Start a piece of work; names must be unique."""
        ref = self._task.options(name=f"polyjudge {name}").remote(work, order, self._board, name)
        self._refs[name] = ref
        self._waiting[asyncio.ensure_future(self._finished(name, ref))] = name

    async def finished(self, wait_s: float) -> list[Finished]:
        """Return the work that has ended; wait at most so many seconds for the first."""
        done, _ = await asyncio.wait(self._waiting, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            del self._refs[self._waiting.pop(each)]
        return [each.result() for each in done]

    async def notes(self, grace_s: float | None) -> Mapping[str, Any]:
        """Return the last note of each piece of work; with `grace_s`, tell them to stop."""
        try:
            async with asyncio.timeout(_WAIT_S):
                return await self._board.read.remote(grace_s)
        except (self._ray.exceptions.RayError, TimeoutError):
            return {}  # the actor that keeps the notes was lost too, and is started again

    def kill(self) -> None:
        """End all work at once."""
        for ref in self._refs.values():
            self._ray.cancel(ref, force=True)

    async def _finished(self, name: str, ref: Any) -> Finished:
        errors = self._ray.exceptions
        try:
            return Finished(name, await ref)
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError, errors.TaskCancelledError):
            return Finished(name, is_lost=True)
        except (errors.RayError, RuntimeError) as error:
            missing = _NO_MODULE.search(str(error))
            if missing is None:
                raise
            message = f"a worker of the Ray cluster has no module {missing[1]!r}"
            raise ConfigError(f"{message}; install the same extras on all workers, including polyjudge[ray]") from None


def need_ray() -> None:
    """Raise an error if Ray is not installed; Ray is not loaded yet, because it reads its settings on import."""
    if not is_installed("ray"):
        require("ray", feature="the engine ray", extra="ray")


@contextmanager
def ray_cluster(workers: int | None) -> Generator[RayCluster]:
    """Join the cluster that RAY_ADDRESS names, or start one on this machine with so many workers, one for each CPU."""
    address = os.environ.get("RAY_ADDRESS", "").strip()
    is_ours = address in ("", "local")
    with ExitStack() as opened:
        opened.enter_context(_variables({"RAY_USAGE_STATS_ENABLED": "0", **(_private() if is_ours else {})}))
        ray: Any = require("ray", feature="the engine ray", extra="ray")
        # Ray prints on the driver's stdout when it loses a worker, whatever its log settings are.
        opened.enter_context(redirect_stdout(opened.enter_context(Path(os.devnull).open("w", encoding="utf-8"))))
        opened.callback(ray.shutdown)
        try:
            if is_ours:
                _start(ray, opened, workers or os.cpu_count() or 1)
            else:
                _join(ray, address)
        except (OSError, RuntimeError, ValueError, OverflowError) as error:
            where = "be started on this machine" if is_ours else f"be reached at RAY_ADDRESS={address}"
            raise ConfigError(f"no Ray cluster can {where}: {str(error).partition(chr(10))[0]}") from None
        yield RayCluster(ray, is_ours=is_ours)


def _join(ray: Any, address: str) -> None:
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        # Ray itself would try for minutes.
        socket.create_connection((host.strip("[]"), int(port)), timeout=_WAIT_S).close()
    ray.init(address, logging_level="ERROR", log_to_driver=False)


def _start(ray: Any, opened: ExitStack, workers: int) -> None:
    folder = tempfile.mkdtemp(prefix="polyjudge-")
    if len(folder) > _LONGEST_FOLDER and Path("/tmp").is_dir():
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix="polyjudge-", dir="/tmp")
    opened.callback(_remove, folder)
    opened.callback(ray.shutdown)  # before its folder is removed
    ray.init(
        "local",
        num_cpus=workers,
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        _node_ip_address="127.0.0.1",
        _temp_dir=str(Path(folder) / "ray"),  # inside, because Ray makes its own folder readable by everyone
        logging_level="ERROR",
        log_to_driver=False,
    )


def _remove(folder: str) -> None:
    """Remove the folder of a cluster that is gone, though the last of its processes may still be writing."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not Path(folder).exists():
            return
        time.sleep(_PAUSE_S)


def _private() -> dict[str, str]:
    """Return the settings of a private cluster: it listens on loopback only, and needs a secret token."""
    return {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # with it Ray listens on all interfaces, whatever address it is given
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
    }


@contextmanager
def _variables(values: Mapping[str, str]) -> Generator[None]:
    """Set variables of the environment for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Board:
    """The last note of each piece of work, and the stop request; an actor with a process of its own."""

    def __init__(self) -> None:
        self._notes: dict[str, Any] = {}
        self._grace_s: float | None = None

    def note(self, name: str, what: Any) -> float | None:
        self._notes[name] = what
        return self._grace_s

    def read(self, grace_s: float | None) -> dict[str, Any]:
        self._grace_s = grace_s
        return self._notes


def _do(work: Work, order: Any, board: Any, name: str) -> Any:
    """Do a piece of work on a worker."""
    return work(order, partial(_notify, board, name))


async def _notify(board: Any, name: str, what: Any) -> float | None:
    exceptions: Any = sys.modules["ray"].exceptions
    try:
        async with asyncio.timeout(_WAIT_S):  # and not wait_for, which may swallow a cancellation
            return await board.note.remote(name, what)
    except (exceptions.RayError, TimeoutError):
        return None
