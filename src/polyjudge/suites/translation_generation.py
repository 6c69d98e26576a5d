"""Generate translations: every prompt in every language, as the items of a run."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from polyjudge.checks.checker import TextChecker
from polyjudge.errors import DataError, ProviderError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import RowLog, item_line, read_json_lines
from polyjudge.formats.prompt_sets import PromptSet
from polyjudge.formats.translation_results import write_translation_results
from polyjudge.judges.asking import ProviderSource, Question, provenance_of
from polyjudge.judges.base import ModelAddresses
from polyjudge.languages.table import LanguageTable
from polyjudge.processes import filled_command, run_program, with_final_newline
from polyjudge.providers.base import Provider, close_provider
from polyjudge.providers.http_translator import translation_request
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import open_provider
from polyjudge.providers.services import address_of
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.outcomes import Failure, FailureKind, Generated, Item, Provenance, RunOutcome
from polyjudge.records.requests import ModelName, Request
from polyjudge.records.translation import Language, LanguageResult, PromptResult

from .translation import MUST_HAVE

_INSTRUCTION = "instruction"
_LANGUAGE = "language"


def items_for(languages: Sequence[Language], prompts: PromptSet) -> list[Item]:
    """Return an item for every prompt in every language; its context has the instruction to the model."""
    return [
        Item(
            f"{language.tag}:{index}",
            prompt.text,
            {_LANGUAGE: language.name, _INSTRUCTION: prompts.instruction(language.name, prompt.text)},
            language.tag,
        )
        for language in languages
        for index, prompt in enumerate(prompts.prompts)
    ]


class ModelTranslator:
    """Translates by a model, with the instruction of the prompt set."""

    def __init__(
        self, model: str, prompts: PromptSet, *, provider: Provider | None = None, max_tokens: int | None = None
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._provider = provider
        self._max_tokens = max_tokens
        self.fingerprint = f"{fingerprint(prompts, 16)} {max_tokens or ''}".strip()

    @property
    def models(self) -> ModelAddresses:
        """The model with its address."""
        if self._provider is not None:
            return ((self._name, self._provider.origin.base_url),)
        return ((self._name, address_of(self._name.provider)),)

    def bind(self, source: ProviderSource) -> "ModelTranslator":
        """Return this translator with its provider opened by a run."""
        name, given = self._name, self._provider
        provider = source.open(name) if given is None else source.around(given, name)
        return ModelTranslator(name.model, self._prompts, provider=provider, max_tokens=self._max_tokens)

    async def judge(self, item: Item, *, repeat: int = 0) -> RunOutcome:
        """Return the translation of the model, or the failure."""
        if self._provider is None:
            self._provider = open_provider(self._name)
        provider = self._provider
        request = Request(
            prompt=item.context[_INSTRUCTION], model=self._name.model, max_tokens=self._max_tokens, repeat=repeat
        )
        return await _translated(provider, request, self._prompts)

    async def aclose(self) -> None:
        """Close the provider's connections."""
        if self._provider is not None:
            await close_provider(self._provider)

    @property
    def _name(self) -> ModelName:
        if self._provider is not None:
            return ModelName(self._provider.origin.provider, self._model)
        return resolve_model(self._model)


class ServiceTranslator:
    """Translates by a service over HTTP, from one source language."""

    def __init__(self, provider: Provider, prompts: PromptSet, *, source: str, description_sha256: str) -> None:
        self._provider = provider
        self._prompts = prompts
        self._source = source
        self._sha256 = description_sha256
        self.fingerprint = f"{description_sha256[:16]} {source}"

    @property
    def models(self) -> ModelAddresses:
        """The service with its address."""
        return ((ModelName(self._provider.origin.provider, ""), self._provider.origin.base_url),)

    def bind(self, source: ProviderSource) -> "ServiceTranslator":
        """Return this translator with the cache, retries and limits of a run."""
        provider = source.around(self._provider, self.models[0][0])
        return ServiceTranslator(provider, self._prompts, source=self._source, description_sha256=self._sha256)

    async def judge(self, item: Item, *, repeat: int = 0) -> RunOutcome:
        """Return the translation of the service, or the failure."""
        request = translation_request(
            item.candidate, self._source, item.language, description_sha256=self._sha256, repeat=repeat
        )
        return await _translated(self._provider, request, self._prompts)

    async def aclose(self) -> None:
        """Close the service's connections."""
        await close_provider(self._provider)


async def _translated(provider: Provider, request: Request, prompts: PromptSet) -> RunOutcome:
    try:
        reply = await provider.complete(request)
    except ProviderError as error:
        return _failure(error, request.model)
    question = Question(request.prompt, None, prompts.name, fingerprint(prompts, 16), request.repeat)
    return Generated(
        text=reply.text.strip(),
        model=reply.model,
        duration_ms=reply.duration_ms,
        cached=reply.cached,
        finish=reply.finish,
        provenance=provenance_of(provider.origin, request, question, reply),
    )


class CommandTranslator:
    """Translates by a program from stdin to stdout; {tag} and {language} in its arguments are replaced."""

    def __init__(self, command: Sequence[str], *, timeout_s: float, sends_instruction: bool = False) -> None:
        self._command = tuple(command)
        self._timeout_s = timeout_s
        self._sends_instruction = sends_instruction
        self.fingerprint = fingerprint([self._command, sends_instruction], 16)

    async def judge(self, item: Item, *, repeat: int = 0) -> RunOutcome:  # noqa: ARG002 - runs once per item
        """Run the program once."""
        named = {"{tag}": item.language, "{language}": item.context[_LANGUAGE]}
        command = filled_command(self._command, named)
        given = with_final_newline(item.context[_INSTRUCTION] if self._sends_instruction else item.candidate)
        try:
            output = await run_program(command, given, timeout_s=self._timeout_s)
        except ProviderError as error:
            return _failure(error)
        return Generated(output.text.strip("\r\n"), duration_ms=output.duration_ms)


def _failure(error: ProviderError, model: str = "") -> Failure:
    return Failure(str(error), cast(FailureKind, error.kind), getattr(error, "text", ""), model)


class ResultsFile:
    """The results file of a generating run; the same run again adds what failed."""

    retries_failures = True

    def __init__(
        self,
        path: Path,
        languages: Sequence[Language],
        prompts: PromptSet,
        table: LanguageTable,
        *,
        about: Callable[[], Mapping[str, Any]],
        force: bool = False,
    ) -> None:
        """Write results to `path`, with the fields that `about` returns at the end of the run."""
        self.path = path
        self.rows_by_id: dict[str, dict[str, Any]] = {}
        """The translations by item id, as fields of a results file."""
        self.failures: list[str] = []
        """The reason of each failure."""
        self._languages = languages
        self._prompts = prompts
        self._table = table
        self._about = about
        self._force = force

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Add an outcome."""
        if isinstance(outcome, Generated):
            self.rows_by_id[item.id] = translation_row(outcome)
        elif isinstance(outcome, Failure):
            self.failures.append(f"{item.id}: {outcome.reason}")

    def finish(self) -> None:
        """Write the results."""
        languages = assembled(self._languages, self._prompts, self.rows_by_id, self._table)
        write_translation_results(self.path, self._about(), languages, force=self._force)

    def rows(self) -> Iterator[tuple[str, RunOutcome]]:
        """Yield nothing: failures are retried from the rows of the unfinished run."""
        return iter(())


def adopt_rows(partial: Path, items: Sequence[Item], prompts: PromptSet, name: ModelName | None) -> None:
    """Convert the rows of an unfinished run of version 0.1, which are not in order, to those of a run file."""
    if not partial.exists():
        return
    log = RowLog(partial)
    try:
        log.lock()
        log.drop_incomplete_row()
        first = next(iter(log.lines()), b"")
        if b'"generatedOutput"' not in first:
            return
        known = {item.id: item for item in items}
        with write_atomically(partial.with_suffix(".ahead"), force=True) as file:
            for _, row in read_json_lines(partial):
                if row.get("id") not in known or not isinstance(row.get("generatedOutput"), str):
                    raise DataError(
                        "unexpected rows in the unfinished run; remove the file to start again", path=partial
                    )
                item = known[row["id"]]
                file.write(item_line(item, _generated(row, item, prompts, name)))
        os.ftruncate(log.descriptor, 0)
    finally:
        log.close()


def _generated(row: Mapping[str, Any], item: Item, prompts: PromptSet, name: ModelName | None) -> Generated:
    text, duration_ms = str(row["generatedOutput"]), int(row.get("durationMs") or 0)
    if name is None:
        return Generated(text, duration_ms=duration_ms)
    origin = Provenance(
        provider=name.provider,
        model=name.model,
        rubric=prompts.name,
        rubric_fingerprint=fingerprint(prompts, 16),
        prompt_sha256=prompt_sha256(item.context[_INSTRUCTION]),
        output_tokens=row.get("tokenCount"),
    )
    return Generated(text, duration_ms=duration_ms, provenance=origin)


def translation_row(text: Generated) -> dict[str, Any]:
    """Return a translation as fields of a results file."""
    tokens = text.provenance.output_tokens if text.provenance is not None else None
    rate = tokens / text.duration_ms * 1000 if tokens and text.duration_ms else None
    return {
        "generatedOutput": text.text,
        "tokenCount": tokens,
        "tokensPerSecond": None if rate is None else round(rate, 2),
        "durationMs": text.duration_ms,
    }


def assembled(
    languages: Sequence[Language], prompts: PromptSet, rows: Mapping[str, Mapping[str, Any]], table: LanguageTable
) -> list[LanguageResult]:
    """Assemble the results of all languages, with the script check; prompts without a row are omitted."""
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
        results.append(
            LanguageResult(
                language_name=language.name,
                language_code=language.tag,
                script_family=language.family,
                priority="must-have" if language.tag in MUST_HAVE else "standard",
                prompts=tuple(done),
            )
        )
    return results
