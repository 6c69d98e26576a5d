"""Run a program that reads stdin and writes stdout: no shell, a time limit, and nothing left running."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from polyjudge.errors import ConfigError, ProviderError, TransientError

_LONGEST_OUTPUT = 10_000_000
_TOLD = 300


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """What a program wrote, and how long it took."""

    text: str
    duration_ms: int


async def run_program(command: Sequence[str], stdin: str, *, timeout_s: float) -> ProgramOutput:
    """Run a program in a process group of its own; on a timeout or a cancellation the whole group ends."""
    begun = time.monotonic()
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise ConfigError(f"the program {command[0]!r} cannot be run: {error}") from None
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await process.communicate(stdin.encode(errors="surrogatepass"))
    except TimeoutError:
        raise TransientError(f"{command[0]} took longer than {timeout_s:g} seconds") from None
    finally:
        await _end(process)
    if process.returncode:
        told = err.decode(errors="replace").strip()[-_TOLD:]
        raise ProviderError(f"{command[0]} ended with code {process.returncode}: {told or 'nothing on stderr'}")
    if len(out) > _LONGEST_OUTPUT:
        raise ProviderError(f"{command[0]} wrote {len(out):,} bytes, more than {_LONGEST_OUTPUT:,}")
    return ProgramOutput(out.decode(errors="replace"), round((time.monotonic() - begun) * 1000))


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the group, also what the program itself started and left behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
