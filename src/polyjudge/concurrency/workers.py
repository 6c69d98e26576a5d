"""Spread work that takes CPU over processes: results in order, a bounded number of chunks in flight, nothing left over.

A worker is a new interpreter that is sent a function and then chunks, over a connection of its own. It is not forked,
because the caller may have threads, and it does not import the caller's script. It ends when its connection closes, so
that it outlives the caller by one chunk at most, whatever ends the caller.
"""

import gc
import math
import os
import pickle
import socket
import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from polyjudge.errors import ConfigError
from polyjudge.plugins import PLUGINS

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Setup = TypeVar("Setup")
Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

FEW = 4_000
"""Items that are done in this process first: a worker takes a second of CPU to start."""
_CHUNKS_EACH = 24
"""Chunks in flight for each worker, so that none waits while the caller sums up a long language."""
_TRIES = 2
_END_S = 2.0
_CGROUP = Path("/sys/fs/cgroup")
_GARBAGE_THRESHOLD = 50_000
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; from polyjudge.concurrency.workers import serve; serve(int(sys.argv[1]))"
)


def usable_cores() -> int:
    """Return how many cores this process may use, by its affinity and by the limits of its control group."""
    counted: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)
    allowed = counted() or 1
    if hasattr(os, "sched_getaffinity"):
        allowed = min(allowed, len(os.sched_getaffinity(0)))
    limits = (_quota(path) for path in _quota_files())
    return max(1, min([allowed, *(math.ceil(limit) for limit in limits if limit is not None)]))


def _quota_files(own: Path = Path("/proc/self/cgroup"), root: Path = _CGROUP) -> Iterator[Path]:
    """Yield the files with the limits of this process's control group and of those around it."""
    yield root / "cpu" / "cpu.cfs_quota_us"
    with suppress(OSError):
        for line in own.read_text(encoding="utf-8").splitlines():
            if line.startswith("0::"):
                group = root / line.removeprefix("0::").lstrip("/")
                yield from (each / "cpu.max" for each in (group, *group.parents) if each.is_relative_to(root))


def _quota(path: Path) -> float | None:
    """Return the cores that a control group may use; None without a limit."""
    try:
        if path.name == "cpu.max":
            quota, period = path.read_text(encoding="utf-8").split()
        else:
            quota = path.read_text(encoding="utf-8").strip()
            period = path.with_name("cpu.cfs_period_us").read_text(encoding="utf-8").strip()
        return int(quota) / int(period) if int(quota) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or the limit is "max"
        return None


class Workers(Generic[Setup, Chunk, Result]):
    """Does chunks of items in processes; `prepare` turns the setup into what does a chunk, once in each process.

    `prepare` is a function of a module, and the setup, the chunks and the results can be pickled. With one job all is
    done in this process, else the first `few` items, of which a chunk has `size`. All is done here as well if something
    was registered from Python, because other processes would not have it.
    """

    def __init__(
        self,
        prepare: Callable[[Setup], Callable[[Chunk], Result]],
        setup: Setup,
        *,
        size: Callable[[Chunk], int],
        jobs: int,
        few: int = FEW,
    ) -> None:
        self._prepare, self._setup = prepare, setup
        self._size, self._few = size, few
        self._jobs = jobs if sys.executable and PLUGINS.are_of_packages else 1
        self._work: Callable[[Chunk], Result] | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._processes: list[_Process] = []
        self._idle = SimpleQueue[_Process]()
        self._warned = set[str]()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=error is not None)

    def close(self, *, at_once: bool) -> None:
        """End the processes; `at_once` if the results of the chunks that are left are not wanted."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            for process in self._processes:
                process.close(at_once=at_once)
            self._threads.shutdown()

    def map(self, chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Yield the result of each chunk, in order; chunks are taken as they are needed."""
        rest, left = iter(chunks), math.inf if self._jobs == 1 else self._few
        while self._threads is None and left > 0:
            chunk = next(rest, None)
            if chunk is None:
                return
            left -= self._size(chunk)
            yield self._do_here(chunk)
        yield from self._spread(rest)

    def _do_here(self, chunk: Chunk) -> Result:
        if self._work is None:
            self._work = self._prepare(self._setup)
        return self._work(chunk)

    def _spread(self, chunks: Iterator[Chunk]) -> Iterator[Result]:
        if self._threads is None:
            task = pickle.dumps((self._prepare, self._setup))
            self._processes = [_Process(task) for _ in range(self._jobs)]
            self._threads = ThreadPoolExecutor(self._jobs, thread_name_prefix="polyjudge-worker")
            for process in self._processes:
                self._idle.put(process)
        threads, asked = self._threads, deque[Future[_Answer]]()
        for chunk in chunks:
            asked.append(threads.submit(self._ask, chunk))
            if len(asked) >= _CHUNKS_EACH * self._jobs:
                yield self._result(asked.popleft().result())
        while asked:
            yield self._result(asked.popleft().result())

    def _ask(self, chunk: Chunk) -> "_Answer":
        process = self._idle.get()
        try:
            return process.ask(chunk)
        finally:
            self._idle.put(process)

    def _result(self, answer: "_Answer") -> Result:
        value, error, warned = answer
        for message in warned:
            if str(message) not in self._warned:
                self._warned.add(str(message))
                warnings.warn(message, stacklevel=3)
        if error is not None:
            raise error
        return value


_Answer = tuple[Any, BaseException | None, Sequence[Warning]]
"""What a chunk gave, or the error that ended it, and the warnings on the way."""


class _Process:
    """One worker, which is started when it is first asked, and again if something else ends it."""

    def __init__(self, task: bytes) -> None:
        self._task = task
        self._running: tuple[subprocess.Popen[bytes], Connection[Any, Any]] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def ask(self, chunk: object) -> _Answer:
        """Return the answer for a chunk; if the process is ended meanwhile, another one does the chunk once more."""
        code = 0
        for _ in range(_TRIES):
            process, connection = self._opened()
            try:
                connection.send(chunk)
                return connection.recv()
            except (EOFError, ConnectionError):
                if self._is_closed:
                    break
                code = process.wait()
                self._forget()
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        why = f"A worker process ended twice on the same texts, {how}. There may be too little memory."
        raise ConfigError(f"{why} Use a single process", option="jobs", value="1")

    def _opened(self) -> "tuple[subprocess.Popen[bytes], Connection[Any, Any]]":
        with self._lock:
            if self._is_closed:
                raise EOFError
            if self._running is None:
                self._running = _started(self._task)
            return self._running

    def _forget(self) -> None:
        with self._lock:
            if self._running is not None:
                self._running[1].close()
            self._running = None

    def close(self, *, at_once: bool) -> None:
        """End the process; it has no more work, or `at_once` its results are not wanted."""
        with self._lock:
            self._is_closed = True
            if self._running is None:
                return
            process, connection = self._running
            if at_once:
                process.kill()
            else:
                connection.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _started(task: bytes) -> "tuple[subprocess.Popen[bytes], Connection[Any, Any]]":
    """Start a process that imports from where this one does, and send it its task.

    It is in a session of its own: Ctrl-C is for the caller, who ends it.
    """
    from multiprocessing.connection import Connection  # here: most commands have little to do

    left, right = socket.socketpair()
    ours: Connection[Any, Any] = Connection(left.detach())
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(right.fileno()), *sys.path],
            stdin=subprocess.DEVNULL,
            pass_fds=[right.fileno()],
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise ConfigError(
            f"A worker process cannot be started: {error.strerror}. Use a single process", option="jobs", value="1"
        ) from None
    finally:
        right.close()
    with suppress(ConnectionError):  # it has ended already, which the first question finds
        ours.send_bytes(task)
    return process, ours


def serve(descriptor: int) -> None:
    """Do the chunks that come over a connection, until it is closed."""
    from multiprocessing.connection import Connection

    gc.set_threshold(_GARBAGE_THRESHOLD)
    warned = list[Warning]()

    def note(message: Warning | str, category: type[Warning], *_: object) -> None:
        warned.append(message if isinstance(message, Warning) else category(message))

    warnings.showwarning = note
    connection: Connection[Any, Any] = Connection(descriptor)
    with suppress(EOFError, ConnectionError, KeyboardInterrupt), connection:
        prepare, setup = connection.recv()
        prepared = list[Callable[[Any], Any]]()
        while True:
            chunk = connection.recv()
            try:
                prepared = prepared or [prepare(setup)]
                answer = _packed((prepared[0](chunk), None, warned))
            except Exception as error:  # noqa: BLE001 - it is raised where the results are taken
                answer = _packed((None, error, warned))
            connection.send_bytes(answer)
            warned.clear()


def _packed(answer: _Answer) -> bytes:
    """Return an answer as bytes; an error that cannot be sent becomes one that can."""
    try:
        packed = pickle.dumps(answer)
        pickle.loads(packed) if answer[1] is not None else None
    except Exception:
        if answer[1] is None:
            raise
        return pickle.dumps((None, RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}"), answer[2]))
    return packed
