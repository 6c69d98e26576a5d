"""Run other programs with a time limit and a limited output, and end all their child processes."""

import asyncio
import os
import re
import secrets
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

from polyjudge.errors import ConfigError, ProviderError, TransientError

_LONGEST_OUTPUT = 10_000_000
_SHOWN_OF_STDERR = 300
_WATCH_S = 0.2
_GRACE_S = 0.5
"""How long pipes may stay open after their program has ended."""
_KEPT_OF_STDERR = 4_000
_LONGEST_FILE = 50_000_000
_POLL_S = 0.005
_MARK = "POLYJUDGE_CALL"
_ROUNDS = 20
SAFE_GIT = {
    # A repository's own configuration names programs that git runs, even for `git ls-files`; a clone brings its own.
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
    "GIT_CONFIG_KEY_1": "core.hooksPath",
    "GIT_CONFIG_VALUE_1": os.devnull,
    "GIT_CONFIG_KEY_2": "safe.bareRepository",
    "GIT_CONFIG_VALUE_2": "explicit",
    "GIT_TERMINAL_PROMPT": "0",
}
"""The environment of a program that may call git in an untrusted folder."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """A program that has ended by itself: its output, exit code and duration."""

    out: bytes
    err: bytes
    code: int
    """The exit code; below 0 for the signal that ended the program."""
    duration_ms: int


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """The output of a program, and its duration."""

    text: str
    duration_ms: int
    bad_byte: int | None = None
    """Offset of the first byte that is not UTF-8; such bytes are replaced in the text."""


def split_command(command: str) -> list[str]:
    """Split a command as a shell would, without one."""
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"The command cannot be parsed: {error}", option="command") from None
    if not parts:
        raise ConfigError("The command is empty. Give a program", option="command")
    return parts


def filled_command(parts: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return a command with its placeholders replaced; placeholders inside the values stay as they are."""
    pattern = re.compile("|".join(map(re.escape, values)))
    return [pattern.sub(lambda match: values[match[0]], part) for part in parts]


def with_final_newline(text: str) -> str:
    """Return a text with a line break at its end, as programs that read lines expect."""
    return text if text.endswith("\n") else f"{text}\n"


async def run_program(
    command: Sequence[str], stdin: str, *, timeout_s: float, environment: Mapping[str, str] | None = None
) -> ProgramOutput:
    """Run a program and return its stdout; an exit code other than 0 is an error with the end of its stderr.

    Its environment is that of this process, unless one is given.
    """
    given = stdin.encode(errors="surrogatepass")
    ended = await run_process(command, given, timeout_s=timeout_s, environment=environment)
    if ended.code:
        stderr = ended.err.decode(errors="replace").strip()[-_SHOWN_OF_STDERR:]
        raise ProviderError(f"{command[0]} exited with code {ended.code}: {stderr or 'no output on stderr'}")
    try:
        return ProgramOutput(ended.out.decode(), ended.duration_ms)
    except UnicodeDecodeError as error:
        return ProgramOutput(ended.out.decode(errors="replace"), ended.duration_ms, error.start)


async def run_process(
    command: Sequence[str],
    stdin: bytes,
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    private: Path | None = None,
    longest: int = _LONGEST_OUTPUT,
) -> ProcessEnd:
    """Run a program in its own process group, and end the whole group when the program ends for any reason.

    One that writes more than `longest` bytes is ended, and raises an error.

    With a `private` folder its streams are files there, because some programs end before they have written everything
    to a pipe, and a child process may hold a pipe open for ever. The program then also has a mark in its environment,
    which identifies child processes that left the group.
    """
    started, mark = time.monotonic(), secrets.token_hex(16) if private else ""
    own_environment = {**(os.environ if environment is None else environment), **({_MARK: mark} if mark else {})}
    with _Streams(stdin, private) as streams:
        try:
            process = await asyncio.create_subprocess_exec(
                *command, **streams.given, env=own_environment, cwd=folder, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise ConfigError(f"the program {command[0]!r} cannot be run: {error}") from None
    try:
        async with asyncio.timeout(timeout_s):
            communicated = _communicate(process, stdin, longest) if private is None else _watched(process, streams)
            out, err = await communicated
    except TimeoutError:
        name = Path(command[0]).name
        raise TransientError(f"{name} took longer than {timeout_s:g} seconds", may_be_charged=True) from None
    finally:
        await _end(process, mark)
    if len(out) > longest or (private is None and len(err) > longest):
        raise ProviderError(f"{command[0]} wrote more than {longest:,} bytes")
    return ProcessEnd(out, err, process.returncode or 0, round((time.monotonic() - started) * 1000))


class _Streams:
    """The streams of a program: pipes, or files in a folder."""

    def __init__(self, stdin: bytes, private: Path | None) -> None:
        self._open: list[BinaryIO] = []
        self.given: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
        self.private = private
        if private is not None:
            (private / "stdin").write_bytes(stdin)
            modes = {"stdin": "rb", "stdout": "wb", "stderr": "wb"}
            self.given = {name: (private / name).open(mode) for name, mode in modes.items()}
            self._open = list(self.given.values())

    def size(self) -> int:
        """Return the size of the larger output file."""
        return max((self.private / name).stat().st_size for name in ("stdout", "stderr")) if self.private else 0

    def written(self) -> tuple[bytes, bytes]:
        """Return the start of the stdout file and the end of the stderr file."""
        if self.private is None:
            return b"", b""
        with (self.private / "stdout").open("rb") as out, (self.private / "stderr").open("rb") as err:
            err.seek(max(0, err.seek(0, os.SEEK_END) - _KEPT_OF_STDERR))
            return out.read(_LONGEST_OUTPUT + 1), err.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._open:
            file.close()


async def _watched(process: asyncio.subprocess.Process, streams: _Streams) -> tuple[bytes, bytes]:
    """Wait for a program that writes to files; one that writes too much is ended."""
    waiting = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait([waiting], timeout=_WATCH_S))[0]:
            if streams.size() > _LONGEST_FILE:
                _kill(process)
    finally:
        waiting.cancel()
    return streams.written()


async def _communicate(process: asyncio.subprocess.Process, given: bytes, longest: int) -> tuple[bytes, bytes]:
    """Write stdin and read the outputs at the same time; end a program that writes too much."""
    out, err = list[bytes](), list[bytes]()
    streams = asyncio.gather(
        _feed(process.stdin, given),
        _read(process, process.stdout, out, longest),
        _read(process, process.stderr, err, longest),
    )
    try:
        while not (await asyncio.wait([streams], timeout=_WATCH_S))[0]:
            if process.returncode is not None:
                await asyncio.wait([streams], timeout=_GRACE_S)
                _kill(process)  # a child process may hold the pipes open
                await asyncio.wait([streams], timeout=_GRACE_S)
                break  # a child process outside the group may hold them: use the output so far
    finally:
        streams.cancel()  # has no effect on completed tasks
        await asyncio.gather(streams, return_exceptions=True)
    await _ended(process)
    return b"".join(out), b"".join(err)


async def _feed(stdin: asyncio.StreamWriter | None, given: bytes) -> None:
    if stdin is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):  # a program may not read its stdin
        stdin.write(given)
        await stdin.drain()
    stdin.close()


async def _read(
    process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None, pieces: list[bytes], longest: int
) -> None:
    """Read one of a program's streams up to the size limit; above it, end the program."""
    size = 0
    while stream is not None and (piece := await stream.read(65536)):
        if size <= longest:
            pieces.append(piece)
            size += len(piece)
        if size > longest:
            _kill(process)  # the rest of the pipe is read, so that the program can end


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _end(process: asyncio.subprocess.Process, mark: str) -> None:
    """End the process group with all child processes; with a mark, also those that left the group.

    All are killed before the first wait, so that cancelling the wait does not leave any running.
    """
    _kill(process)
    for _ in range(_ROUNDS if mark else 0):  # a killed process may just have started another
        if not _kill_marked(f"{_MARK}={mark}".encode()):
            break
    await _ended(process)
    transport: Any = getattr(process, "_transport", None)
    if transport is not None:  # a child process outside the group may hold its pipe open
        transport.close()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the exit only; `process.wait` also waits until all pipes are closed."""
    while process.returncode is None:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(_POLL_S)


def _kill_marked(mark: bytes) -> int:
    """Kill the processes with the mark in their environment, if the system shows it; return how many."""
    killed = 0
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it is another user's process, or has just ended
            if mark in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)
                killed += 1
    return killed
