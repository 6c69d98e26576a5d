"""Have a translator write what is judged later: every prompt in every language, kept as it comes."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from polyjudge.checks.checker import TextChecker
from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.errors import ProviderError
from polyjudge.formats.prompt_sets import PromptSet
from polyjudge.languages.table import LanguageTable
from polyjudge.processes import filled_command, run_program, with_final_newline
from polyjudge.providers.base import Provider
from polyjudge.records.requests import Request
from polyjudge.records.translation import Language, LanguageResult, PromptResult

from .translation import MUST_HAVE


@dataclass(frozen=True, slots=True)
class Translation:
    """What a translator wrote."""

    text: str
    duration_ms: int
    tokens: int | None = None


class Translator(Protocol):
    """Anything that translates."""

    async def translate(self, text: str, instruction: str, language: Language) -> Translation:
        """Return the translation of a text; `instruction` says the same to a model, with the text in it."""
        ...


class ModelTranslator:
    """A model, told what to do."""

    def __init__(self, provider: Provider, model: str, *, max_tokens: int | None = None) -> None:
        self._provider = provider
        self._model = model
        self._max_tokens = max_tokens

    async def translate(self, text: str, instruction: str, language: Language) -> Translation:  # noqa: ARG002
        """Ask the model."""
        reply = await self._provider.complete(
            Request(prompt=instruction, model=self._model, max_tokens=self._max_tokens)
        )
        return Translation(reply.text.strip(), reply.duration_ms, reply.output_tokens)


class CommandTranslator:
    """A program that reads stdin and writes stdout; {tag} and {language} in its arguments name the language."""

    def __init__(self, command: Sequence[str], *, timeout_s: float, sends_instruction: bool = False) -> None:
        self._command = tuple(command)
        self._timeout_s = timeout_s
        self._sends_instruction = sends_instruction

    async def translate(self, text: str, instruction: str, language: Language) -> Translation:
        """Run the program once."""
        named = {"{tag}": language.tag, "{language}": language.name}
        command = filled_command(self._command, named)
        given = with_final_newline(instruction if self._sends_instruction else text)
        output = await run_program(command, given, timeout_s=self._timeout_s)
        return Translation(output.text.strip("\r\n"), output.duration_ms)


@dataclass(frozen=True, slots=True)
class Order:
    """One prompt to be translated into one language."""

    language: Language
    index: int

    @property
    def id(self) -> str:
        """A name that stays the same from run to run."""
        return f"{self.language.tag}:{self.index}"


def orders_for(languages: Sequence[Language], prompts: PromptSet) -> list[Order]:
    """Return every prompt in every language."""
    return [Order(language, index) for language in languages for index in range(len(prompts.prompts))]


def generate(
    translator: Translator,
    orders: Sequence[Order],
    prompts: PromptSet,
    *,
    concurrency: int,
    stop: StopToken,
    done: Callable[[Order, Translation], None] | None = None,
) -> AsyncGenerator[tuple[Order, Translation | ProviderError]]:
    """Yield what the translator wrote for each order, or why it wrote nothing; `done` is told as soon as it has."""

    async def one(order: Order) -> tuple[Order, Translation | ProviderError]:
        text = prompts.prompts[order.index].text
        instruction = prompts.instruction(order.language.name, text)
        try:
            made = await translator.translate(text, instruction, order.language)
        except ProviderError as error:
            return order, error
        if done is not None:
            done(order, made)
        return order, made

    return in_order(one, orders, concurrency=concurrency, stop=stop)


def translation_row(translation: Translation) -> dict[str, Any]:
    """Return a translation as the fields of a results file that the translator fills."""
    rate = (
        translation.tokens / translation.duration_ms * 1000 if translation.tokens and translation.duration_ms else None
    )
    return {
        "generatedOutput": translation.text,
        "tokenCount": translation.tokens,
        "tokensPerSecond": None if rate is None else round(rate, 2),
        "durationMs": translation.duration_ms,
    }


def assembled(
    languages: Sequence[Language], prompts: PromptSet, rows: Mapping[str, Mapping[str, Any]], table: LanguageTable
) -> list[LanguageResult]:
    """Return the results of all languages, with the script check made; orders without a row are left out."""
    checker, results = TextChecker(table), list[LanguageResult]()
    for language in languages:
        done: list[PromptResult] = []
        for index, prompt in enumerate(prompts.prompts):
            row = rows.get(f"{language.tag}:{index}")
            if row is not None:
                check = checker.check(row["generatedOutput"], language, source=prompt.text)
                done.append(
                    PromptResult(
                        category=prompt.category,
                        source_text=prompt.text,
                        prompt=prompts.instruction(language.name, prompt.text),
                        generated_output=row["generatedOutput"],
                        token_count=row.get("tokenCount"),
                        tokens_per_second=row.get("tokensPerSecond"),
                        script_validation_passed=check.script.state != "fail",
                        duration_ms=row.get("durationMs"),
                        reference=prompt.reference,
                    )
                )
        results.append(_language_result(language, tuple(done)))
    return results


def _language_result(language: Language, prompts: tuple[PromptResult, ...]) -> LanguageResult:
    return LanguageResult(
        language_name=language.name,
        language_code=language.tag,
        script_family=language.family,
        priority="must-have" if language.tag in MUST_HAVE else "standard",
        prompts=prompts,
    )
