"""One process for many cases: a translator that answers line by line, checked at every line that it still does."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import cast

from polyjudge.errors import ConfigError
from polyjudge.records import CaseResult, Fixture

from .regression import Match, TranslatorCommand, is_match, without_final_newline

_LONGEST_LINE = 10_000_000
_TOO_LONG = f"a line is longer than {_LONGEST_LINE:,} bytes"


class LostStepError(Exception):
    """Lines and answers no longer go together."""


class LineProcess:
    """A program that is given a line and answers with one."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], timeout_s: float) -> None:
        self._command = tuple(command)
        self._environment = dict(environment)
        self._timeout_s = timeout_s

    async def __aenter__(self) -> "LineProcess":
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
                limit=_LONGEST_LINE,
            )
        except (OSError, ValueError) as error:
            raise ConfigError(f"the program {self._command[0]!r} cannot be run: {error}") from None
        self._stdin = cast(asyncio.StreamWriter, self._process.stdin)
        self._stdout = cast(asyncio.StreamReader, self._process.stdout)
        self._ahead: asyncio.Task[bytes] = asyncio.create_task(self._stdout.readline())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ahead.cancel()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.gather(self._ahead, return_exceptions=True)
        await self._process.wait()

    async def ask(self, line: str) -> str:
        """Return the answer to a line; one that comes unasked or not at all means that the step is lost."""
        if self._ahead.done():
            raise LostStepError("a line came that was not asked for, or the program ended")
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._write(line)
                answer = await asyncio.shield(self._ahead)
        except TimeoutError:
            raise LostStepError(f"no line came within {self._timeout_s:g} seconds") from None
        except ValueError:
            raise LostStepError(_TOO_LONG) from None
        if not answer.endswith(b"\n"):
            raise LostStepError("the program ended in the middle")
        self._ahead = asyncio.create_task(self._stdout.readline())
        return answer.decode(errors="replace").removesuffix("\n").removesuffix("\r")

    async def end(self) -> None:
        """Close the program's input; a line that comes after all answers means that the step was lost before."""
        self._stdin.close()
        try:
            async with asyncio.timeout(self._timeout_s):
                if await asyncio.shield(self._ahead):
                    raise LostStepError("a line came that was not asked for")
        except TimeoutError:
            return  # it neither says more nor ends, which does no harm
        except ValueError:
            raise LostStepError(_TOO_LONG) from None

    async def _write(self, line: str) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self._stdin.write(line.encode(errors="surrogatepass") + b"\n")
            await self._stdin.drain()


async def run_line_by_line(
    command: TranslatorCommand, fixtures: Sequence[Fixture], *, match: Match, warn: Callable[[str], None]
) -> dict[str, CaseResult]:
    """Return the results of the cases that one process settled; the others are to be run singly.

    All cases are of one pair of languages and of one line. An answer that is not the expected one is not believed,
    since a shift that went unnoticed could make it; when the step is lost, neither is one that other cases expect too.
    """
    settled: dict[str, CaseResult] = {}
    program = command.for_pair(fixtures[0].source_lang, fixtures[0].target_lang)
    try:
        async with LineProcess(program, command.environment, command.timeout_s) as process:
            for fixture in fixtures:
                actual = await process.ask(without_final_newline(fixture.input_text))
                if not actual.strip():
                    raise LostStepError(f"an empty line came for {fixture.case_id}")
                if is_match(fixture.expected_output, actual, match):
                    settled[fixture.case_id] = CaseResult(fixture=fixture, status="PASS", actual=actual)
            await process.end()
    except LostStepError as error:
        often = Counter(fixture.expected_output for fixture in fixtures)
        settled = {name: result for name, result in settled.items() if often[result.fixture.expected_output] == 1}
        left = len(fixtures) - len(settled)
        warn(f"line by line failed ({error}); {len(settled)} cases are settled, {left} are run singly")
    return settled


def fits_one_line(fixture: Fixture) -> bool:
    """Say whether a case can be put to a program that answers line by line."""
    return len(fixture.input_text.splitlines()) == 1 and len(fixture.expected_output.splitlines()) <= 1
