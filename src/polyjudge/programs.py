"""Run a program that reads stdin and writes stdout: no shell, a time limit, and nothing left running."""

import asyncio
import os
import re
import secrets
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from polyjudge.errors import ConfigError, ProviderError, TransientError

_LONGEST_OUTPUT = 10_000_000
_TOLD = 300
_LOOK_S = 0.2
_GRACE_S = 0.5
"""How long the pipes of a program that has ended may stay open."""
_MARK = "POLYJUDGE_CALL"
_ROUNDS = 20
_Streams = tuple[asyncio.StreamReader, asyncio.StreamReader]


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended by itself: what it wrote, its code, and how long it took."""

    out: bytes
    err: bytes
    code: int
    """Below 0 for the signal that ended it."""
    duration_ms: int


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """What a program wrote, and how long it took."""

    text: str
    duration_ms: int
    bad_byte: int | None = None
    """Where it stops being UTF-8; the characters that cannot be read are replaced in the text."""


def split_command(command: str) -> list[str]:
    """Split a command as a shell would, without one."""
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--command cannot be read: {error}") from None
    if not parts:
        raise ConfigError("--command names no program")
    return parts


def filled_command(parts: Sequence[str], places: Mapping[str, str]) -> list[str]:
    """Return a command with its places filled in, once: what is filled in is text and has no places."""
    pattern = re.compile("|".join(map(re.escape, places)))
    return [pattern.sub(lambda match: places[match[0]], part) for part in parts]


def with_final_newline(text: str) -> str:
    """Return a text as a program that reads lines expects it."""
    return text if text.endswith("\n") else f"{text}\n"


async def run_program(
    command: Sequence[str], stdin: str, *, timeout_s: float, environment: Mapping[str, str] | None = None
) -> ProgramOutput:
    """Run a program and return what it wrote to stdout; a code other than 0 is an error with what it said last.

    It sees our environment, or only the one given.
    """
    given = stdin.encode(errors="surrogatepass")
    ended = await run_process(command, given, timeout_s=timeout_s, environment=environment)
    if ended.code:
        told = ended.err.decode(errors="replace").strip()[-_TOLD:]
        raise ProviderError(f"{command[0]} ended with code {ended.code}: {told or 'nothing on stderr'}")
    try:
        return ProgramOutput(ended.out.decode(), ended.duration_ms)
    except UnicodeDecodeError as error:
        return ProgramOutput(ended.out.decode(errors="replace"), ended.duration_ms, error.start)


async def run_process(
    command: Sequence[str],
    stdin: bytes | Path,
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    thorough: bool = False,
) -> Ended:
    """Run a program in a process group of its own; when it ends, for whatever reason, the whole group does.

    It reads what is given, or a file. `thorough` puts a mark in its environment, by which children that left the group
    are found.
    """
    begun, mark = time.monotonic(), secrets.token_hex(16) if thorough else ""
    seen = {**(os.environ if environment is None else environment), **({_MARK: mark} if mark else {})}
    try:
        with nullcontext() if isinstance(stdin, bytes) else stdin.open("rb") as file:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE if file is None else file,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=seen,
                cwd=folder,
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        raise ConfigError(f"the program {command[0]!r} cannot be run: {error}") from None
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await _communicate(process, stdin if isinstance(stdin, bytes) else b"")
    except TimeoutError:
        raise TransientError(f"{command[0]} took longer than {timeout_s:g} seconds", may_be_charged=True) from None
    finally:
        await _end(process, mark)
    if max(len(out), len(err)) > _LONGEST_OUTPUT:
        raise ProviderError(f"{command[0]} wrote more than {_LONGEST_OUTPUT:,} bytes")
    return Ended(out, err, process.returncode or 0, round((time.monotonic() - begun) * 1000))


async def _communicate(process: asyncio.subprocess.Process, given: bytes) -> tuple[bytes, bytes]:
    """Write and read at the same time; a program that writes too much is ended, so that memory holds only so much."""
    stdout, stderr = cast(_Streams, (process.stdout, process.stderr))
    talking = asyncio.gather(_feed(process.stdin, given), _read(process, stdout), _read(process, stderr))
    try:
        while not (await asyncio.wait([talking], timeout=_LOOK_S))[0]:
            if process.returncode is not None:
                await asyncio.wait([talking], timeout=_GRACE_S)
                _kill(process)  # something that the program started may hold its pipes open
        _, out, err = await talking
    finally:
        talking.cancel()  # does nothing to what is done
        await asyncio.gather(talking, return_exceptions=True)
    await process.wait()
    return out, err


async def _feed(stdin: asyncio.StreamWriter | None, given: bytes) -> None:
    if stdin is None:  # it reads a file
        return
    with suppress(BrokenPipeError, ConnectionResetError):  # a program need not read
        stdin.write(given)
        await stdin.drain()
    stdin.close()


async def _read(process: asyncio.subprocess.Process, stream: asyncio.StreamReader) -> bytes:
    """Return what a program writes to one of its streams, up to the first piece too much."""
    pieces, size = list[bytes](), 0
    while piece := await stream.read(65536):
        if size <= _LONGEST_OUTPUT:
            pieces.append(piece)
            size += len(piece)
        if size > _LONGEST_OUTPUT:
            _kill(process)  # and what still stands in the pipe is read, so that it can end
    return b"".join(pieces)


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _end(process: asyncio.subprocess.Process, mark: str) -> None:
    """End the group, also what the program itself started and left behind; with a mark, what left the group too."""
    _kill(process)
    await process.wait()
    for _ in range(_ROUNDS if mark else 0):  # what is killed may just have started another
        if not _kill_marked(f"{_MARK}={mark}".encode()):
            break


def _kill_marked(mark: bytes) -> int:
    """Kill the processes whose environment holds the mark, where the system shows environments; return how many."""
    killed = 0
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it is somebody else's, or has just ended
            if mark in environment.read_bytes().split(b"\0"):
                os.kill(int(environment.parent.name), signal.SIGKILL)
                killed += 1
    return killed
