"""Run regression cases against a translator command."""

import asyncio
import os
import re
import signal
import unicodedata
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from msgspec.structs import replace

from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.errors import ConfigError, ProviderError, suggestion
from polyjudge.processes import filled_command, run_program, split_command
from polyjudge.providers.base import Provider
from polyjudge.records.requests import Request
from polyjudge.records.sessions import CaseResult, Fixture

Match = Literal["exact", "trim", "normalized"]
Translate = Callable[[Fixture], Awaitable[tuple[str, int]]]
"""Returns the output for a case and the milliseconds that it took."""
MODEL_VARIABLE = "POLYJUDGE_TRANSLATOR_MODEL"
_PLACEHOLDERS = ("source_lang", "target_lang", "model")
_IN_BRACES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class TranslatorCommand:
    """A program that reads a text on stdin and writes its translation to stdout."""

    parts: tuple[str, ...]
    """The program and its arguments, with the placeholders {source_lang}, {target_lang} and {model}."""
    environment: Mapping[str, str]
    """The whole environment of the program."""
    model: Path | None = None
    timeout_s: float = 60.0

    def for_pair(self, source_lang: str, target_lang: str) -> list[str]:
        """Return the command for a pair of languages; values are inserted as text, not as shell syntax."""
        named = {"{source_lang}": source_lang, "{target_lang}": target_lang, "{model}": str(self.model or "")}
        return filled_command(self.parts, named)

    async def translate(self, fixture: Fixture) -> tuple[str, int]:
        """Translate a case; return the output and the milliseconds that it took."""
        command = self.for_pair(fixture.source_lang, fixture.target_lang)
        output = await run_program(command, fixture.input_text, timeout_s=self.timeout_s, environment=self.environment)
        if output.bad_byte is not None:
            raise ProviderError(f"the output is not UTF-8 from byte {output.bad_byte} on")
        return checked_output(output.text, fixture), output.duration_ms


def translator_command(
    command: str, *, model: Path | None, environment: Mapping[str, str], timeout_s: float
) -> TranslatorCommand:
    """Split a command without a shell, and check that its model exists."""
    parts = tuple(split_command(command))
    _refuse_misspelt(parts)
    if model is None and any("{model}" in part for part in parts):
        if not os.environ.get(MODEL_VARIABLE):
            raise ConfigError(f"the command contains {{model}}: name a model or set {MODEL_VARIABLE}", option="model")
        model = Path(os.environ[MODEL_VARIABLE])
    if model is not None and not model.exists():
        raise ConfigError(f"the model {str(model)!r} does not exist")
    return TranslatorCommand(parts, environment, model, timeout_s)


def _refuse_misspelt(parts: Sequence[str]) -> None:
    """Refuse a placeholder that is like a known one; other words in braces are the program's own, as in awk."""
    for name in (name for part in parts for name in _IN_BRACES.findall(part)):
        if name not in _PLACEHOLDERS and suggestion(name, _PLACEHOLDERS):
            known = ", ".join(f"{{{each}}}" for each in _PLACEHOLDERS)
            raise ConfigError(f"the command contains the unknown placeholder {{{name}}}. Known: {known}.")


def clean_environment(home: Path, names: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """Return an environment of PATH, an empty home, inherited variables by name, and settings as NAME=VALUE."""
    own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    return {**own, **named_variables(names, settings)}


def named_variables(names: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """Return inherited variables by name, and settings as NAME=VALUE."""
    environment: dict[str, str] = {}
    for name in names:
        if name not in os.environ:
            raise ConfigError(f"the variable {name} is not set", option="env", value=name)
        environment[name] = os.environ[name]
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"the setting {setting!r} must be NAME=VALUE", option="set")
        environment[name] = value
    return environment


@dataclass(frozen=True, slots=True)
class ProviderTranslator:
    """A translator that is asked as a provider: a model, or a service over HTTP."""

    provider: Provider
    request_for: Callable[[Fixture], Request]

    async def translate(self, fixture: Fixture) -> tuple[str, int]:
        """Translate a case; return the output and the milliseconds that it took."""
        reply = await self.provider.complete(self.request_for(fixture))
        return checked_output(reply.text, fixture), reply.duration_ms


def checked_output(output: str, fixture: Fixture) -> str:
    """Return an output without its final line break; an empty output for a text is an error."""
    text = without_final_newline(output)
    if not text.strip() and fixture.input_text.strip():
        raise ProviderError("the translation is empty")
    return text


def run_cases(
    translate: Translate,
    fixtures: Sequence[Fixture],
    *,
    match: Match,
    concurrency: int,
    repeat: int = 1,
    stop: StopToken,
) -> AsyncGenerator[CaseResult]:
    """Run cases and yield their results in the order of the file."""

    async def one(fixture: Fixture) -> CaseResult:
        results = [await run_case(translate, fixture, match) for _ in range(repeat)]
        worst = min(results, key=lambda result: ("ERROR", "FAIL", "PASS").index(result.status))
        variants = tuple(dict.fromkeys(result.actual for result in results))
        return replace(worst, variants=variants if len(variants) > 1 else ())

    return in_order(one, fixtures, concurrency=concurrency, stop=stop)


async def run_case(translate: Translate, fixture: Fixture, match: Match) -> CaseResult:
    """Run one case."""
    try:
        actual, duration_ms = await translate(fixture)
    except ProviderError as error:
        return CaseResult(fixture=fixture, status="ERROR", message=str(error))
    status = "PASS" if is_match(fixture.expected_output, actual, match) else "FAIL"
    return CaseResult(fixture=fixture, status=status, actual=actual, duration_ms=duration_ms)


def is_match(expected: str, actual: str, match: Match) -> bool:
    """Return whether an output, already without its final line break, equals the expected one under `match`."""
    if match == "trim":
        return expected.strip() == actual.strip()
    if match == "normalized":
        return _normalized(expected) == _normalized(actual)
    return without_final_newline(expected) == actual


def without_final_newline(text: str) -> str:
    """Remove one line break at the end of a text."""
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")


def _normalized(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


_MAX_LINE_BYTES = 10_000_000
_TOO_LONG = f"a line is longer than {_MAX_LINE_BYTES:,} bytes"


class OutOfStepError(Exception):
    """Lines and answers no longer correspond."""


class LineProcess:
    """A program that reads one line and answers with one line."""

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
                limit=_MAX_LINE_BYTES,
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
        """Send a line and return the answer; an unrequested or missing answer raises `OutOfStepError`."""
        if self._ahead.done():
            raise OutOfStepError("the program wrote an unexpected line, or ended")
        try:
            async with asyncio.timeout(self._timeout_s):
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._stdin.write(line.encode(errors="surrogatepass") + b"\n")
                    await self._stdin.drain()
                answer = await asyncio.shield(self._ahead)
        except TimeoutError:
            raise OutOfStepError(f"no line within {self._timeout_s:g} seconds") from None
        except ValueError:
            raise OutOfStepError(_TOO_LONG) from None
        if not answer.endswith(b"\n"):
            raise OutOfStepError("the program ended in the middle of a line")
        self._ahead = asyncio.create_task(self._stdout.readline())
        return answer.decode(errors="replace").removesuffix("\n").removesuffix("\r")

    async def end(self) -> None:
        """Close the program's input; a line after all answers means that an earlier answer was out of step."""
        self._stdin.close()
        try:
            async with asyncio.timeout(self._timeout_s):
                if await asyncio.shield(self._ahead):
                    raise OutOfStepError("the program wrote an unexpected line")
        except TimeoutError:
            return  # it writes nothing more but does not end, which is harmless
        except ValueError:
            raise OutOfStepError(_TOO_LONG) from None


async def run_line_by_line(
    command: TranslatorCommand, fixtures: Sequence[Fixture], *, match: Match, warn: Callable[[str], None]
) -> dict[str, CaseResult]:
    """Run cases in one process and return the results that are certain; the others must be run one by one.

    All cases must have the same pair of languages and one line. An unexpected answer is not trusted, because the lines
    may be out of step; once they are, neither is an answer that several cases expect.
    """
    settled: dict[str, CaseResult] = {}
    program = command.for_pair(fixtures[0].source_lang, fixtures[0].target_lang)
    try:
        async with LineProcess(program, command.environment, command.timeout_s) as process:
            for fixture in fixtures:
                actual = await process.ask(without_final_newline(fixture.input_text))
                if not actual.strip():
                    raise OutOfStepError(f"empty line for {fixture.case_id}")
                if is_match(fixture.expected_output, actual, match):
                    settled[fixture.case_id] = CaseResult(fixture=fixture, status="PASS", actual=actual)
            await process.end()
    except OutOfStepError as error:
        expected = Counter(fixture.expected_output for fixture in fixtures)
        settled = {name: result for name, result in settled.items() if expected[result.fixture.expected_output] == 1}
        remaining = len(fixtures) - len(settled)
        warn(f"line mode failed ({error}); {len(settled)} cases are done, {remaining} are run one by one")
    return settled


def fits_one_line(fixture: Fixture) -> bool:
    """Return whether the input and the expected output of a case have one line each."""
    return len(fixture.input_text.splitlines()) == 1 and len(fixture.expected_output.splitlines()) <= 1
