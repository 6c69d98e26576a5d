"""Does a translator still say what it said? One case after the other, or several at once, results in their order."""

import os
import unicodedata
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from polyjudge.engine import Stop, in_order
from polyjudge.errors import ConfigError, ProviderError
from polyjudge.programs import filled_command, run_program, split_command
from polyjudge.records import CaseResult, Fixture

Match = Literal["exact", "trim", "normalized"]
Translate = Callable[[Fixture], Awaitable[tuple[str, int]]]
"""Gives the output for a case, and how many milliseconds it took."""
MODEL_VARIABLE = "POLYJUDGE_TRANSLATOR_MODEL"


@dataclass(frozen=True, slots=True)
class TranslatorCommand:
    """A program that reads a text on stdin and writes its translation to stdout."""

    parts: tuple[str, ...]
    """The program and its arguments, with the places {source_lang}, {target_lang} and {model}."""
    environment: Mapping[str, str]
    """All that it sees of the environment."""
    model: Path | None = None
    timeout_s: float = 60.0

    def for_pair(self, source_lang: str, target_lang: str) -> list[str]:
        """Return the command for a pair of languages; what is filled in is text, never syntax."""
        named = {"{source_lang}": source_lang, "{target_lang}": target_lang, "{model}": str(self.model or "")}
        return filled_command(self.parts, named)

    async def translate(self, fixture: Fixture) -> tuple[str, int]:
        """Return the output for a case, and how long it took."""
        command = self.for_pair(fixture.source_lang, fixture.target_lang)
        output = await run_program(command, fixture.input_text, timeout_s=self.timeout_s, environment=self.environment)
        if output.bad_byte is not None:
            raise ProviderError(f"the output is not UTF-8 text, from byte {output.bad_byte} on")
        return checked_output(output.text, fixture), output.duration_ms


def translator_command(
    command: str, *, model: Path | None, environment: Mapping[str, str], timeout_s: float
) -> TranslatorCommand:
    """Split a command without a shell, and see that the model it needs is there."""
    parts = tuple(split_command(command))
    if model is None and any("{model}" in part for part in parts):
        if not os.environ.get(MODEL_VARIABLE):
            raise ConfigError(f"the command has {{model}}: give --model PATH or set {MODEL_VARIABLE}")
        model = Path(os.environ[MODEL_VARIABLE])
    if model is not None and not model.exists():
        raise ConfigError(f"the model {str(model)!r} is not there")
    return TranslatorCommand(parts, environment, model, timeout_s)


def clean_environment(home: Path, names: Sequence[str], settings: Sequence[str]) -> dict[str, str]:
    """Return PATH, an empty home, and what is named: variables of ours by name, others as NAME=VALUE."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    for name in names:
        if name not in os.environ:
            raise ConfigError(f"--env {name}: it is not set")
        environment[name] = os.environ[name]
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ConfigError(f"--set {setting!r} is not NAME=VALUE")
        environment[name] = value
    return environment


def checked_output(output: str, fixture: Fixture) -> str:
    """Return an output without its final line break; nothing at all for a text is an error, whatever the exit code."""
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
    stop: Stop,
) -> AsyncGenerator[CaseResult]:
    """Yield what became of each case, in the order of the file."""

    async def one(fixture: Fixture) -> CaseResult:
        results = [await run_case(translate, fixture, match) for _ in range(repeat)]
        worst = min(results, key=lambda result: ("ERROR", "FAIL", "PASS").index(result.status))
        variants = tuple(dict.fromkeys(result.actual for result in results))
        return replace(worst, variants=variants if len(variants) > 1 else ())

    return in_order(one, fixtures, concurrency=concurrency, stop=stop)


async def run_case(translate: Translate, fixture: Fixture, match: Match) -> CaseResult:
    """Return what became of one case."""
    try:
        actual, duration_ms = await translate(fixture)
    except ProviderError as error:
        return CaseResult(fixture=fixture, status="ERROR", message=str(error))
    status = "PASS" if is_match(fixture.expected_output, actual, match) else "FAIL"
    return CaseResult(fixture=fixture, status=status, actual=actual, duration_ms=duration_ms)


def is_match(expected: str, actual: str, match: Match) -> bool:
    """Say whether an output, already without its final line break, is the expected one; more loosely on request."""
    if match == "trim":
        return expected.strip() == actual.strip()
    if match == "normalized":
        return _normalized(expected) == _normalized(actual)
    return without_final_newline(expected) == actual


def without_final_newline(text: str) -> str:
    """Return a text without one line break at its end."""
    return text.removesuffix("\r\n") if text.endswith("\r\n") else text.removesuffix("\n")


def _normalized(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
