"""The options that name a translator: a program, a model, or a service over HTTP."""

import argparse
import os
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.folder_trust import is_trusted_description
from polyjudge.formats.prompt_sets import PromptSet
from polyjudge.languages.table import language_table
from polyjudge.processes import run_program, split_command
from polyjudge.providers.base import Provider, close_provider
from polyjudge.providers.http_translator import HttpTranslator, translation_request
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import names_a_model, provider_names
from polyjudge.providers.translator_descriptions import (
    TranslatorDescription,
    read_description,
    shipped_translator,
    translator_names,
)
from polyjudge.records.requests import ModelName, Request
from polyjudge.records.sessions import Fixture, Recorded
from polyjudge.runs.stack import ProviderStack
from polyjudge.suites.fixtures import recorded_now, recorded_service
from polyjudge.suites.regression import (
    ProviderTranslator,
    Translate,
    TranslatorCommand,
    clean_environment,
    named_variables,
    translator_command,
)

from .environment import load_environment
from .options import Several, positive

_SHARED_ENVIRONMENT = "pass this environment variable to the program, or use it for the service over HTTP"
_USUAL_TIMEOUT_S = 60.0

TranslatorKind = Literal["model", "http", "command"]


def translator_help() -> str:
    """Return the help of the option that takes every kind of translator."""
    return f"a model, {', '.join(translator_names())}, a description of a service over HTTP (FILE.toml), or a program"


def add_translator_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a translator whose cases are run."""
    group = parser.add_argument_group("translator")
    translators = group.add_mutually_exclusive_group(required=True)
    command = "program that reads stdin and writes stdout, run without a shell; {source_lang}, {target_lang} and "
    translators.add_argument("--command", metavar="'PROGRAM …'", help=command + "{model} are filled in")
    translators.add_argument("--translator", metavar="NAME[/MODEL]", help=translator_help())
    add = group.add_argument
    add("--model", type=Path, metavar="PATH", help="value of {model}; default: $POLYJUDGE_TRANSLATOR_MODEL")
    add_variable_options(add)
    one_text = "time limit of one text in seconds; default: %(default)s"
    add("--timeout", type=positive, default=_USUAL_TIMEOUT_S, metavar="S", help=one_text)
    add(
        "--rpm",
        type=positive,
        metavar="N",
        help="maximum number of texts per minute that are sent to a model or service",
    )
    add("--version-command", metavar="'PROGRAM …'", help="program that prints the translator's version, for the record")


def add_variable_options(add: Callable[..., object]) -> None:
    """Add the options that give variables to a translator."""
    add("--env", action=Several, default=[], metavar="NAME", help=_SHARED_ENVIRONMENT)
    add("--set", action=Several, default=[], metavar="NAME=VALUE", help="set this variable for the program or service")


def translator_kind(name: str) -> TranslatorKind:
    """Return what a translator is by its name; raise an error for a program that is not found."""
    if names_a_model(name):
        return "model"
    if name in translator_names() or (name.endswith(".toml") and (" " not in name or Path(name).exists())):
        return "http"
    [program, *rest] = split_command(name)
    if shutil.which(program) is None and not rest:
        known = [*translator_names(), *provider_names(), "FILE.toml", "PROGRAM"]
        raise UnknownNameError("translator", program.partition("/")[0], known)
    return "command"


@dataclass(frozen=True, slots=True)
class HttpService:
    """A described service with the variables that it may use."""

    name: str
    sha256: str
    """The hash of its description."""
    description: TranslatorDescription
    variables: dict[str, str]

    def open(self, *, timeout_s: float, gathers: bool) -> HttpTranslator:
        """Open the service; `gathers` allows several texts in a call."""
        return HttpTranslator(self.name, self.description, self.variables, timeout_s=timeout_s, gathers=gathers)


def http_service(options: argparse.Namespace) -> HttpService:
    """Return the service that `--translator` names, with the variables of `--env` and `--set`."""
    variables = named_variables(options.env, options.set)
    if options.translator in translator_names():
        description, digest = shipped_translator(options.translator)
        return HttpService(options.translator, digest, description, variables)
    path = Path(options.translator)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if not is_trusted_description(path, content):
        message = "not trusted yet: this file decides where texts and keys are sent. Read it, then run: polyjudge trust"
        raise DataError(f"{message} {path}", path=path)
    return HttpService(path.stem, sha256(content).hexdigest(), read_description(content, path), variables)


@dataclass(frozen=True, slots=True)
class OpenTranslator:
    """A translator that is ready, and how it is recorded."""

    translate: Translate
    recorded: Recorded
    command: TranslatorCommand | None = None
    """The program, if it is one."""
    aclose: Callable[[], Awaitable[None]] | None = None


@asynccontextmanager
async def closed_at_end(translator: OpenTranslator) -> AsyncGenerator[None]:
    """Close a translator's connections when its last text is done."""
    try:
        yield
    finally:
        if translator.aclose is not None:
            await translator.aclose()


@contextmanager
def open_translator(options: argparse.Namespace) -> Generator[OpenTranslator]:
    """Yield the translator; a program has PATH, an empty home folder and the given variables as its environment."""
    if options.command and options.translator:  # the command line takes one of them, so one is from polyjudge.toml
        raise ConfigError("--translator and --command are both set. Give only one.")
    kind = "command" if options.command else translator_kind(options.translator or "")
    if kind != "command":
        yield _open_service(options, kind)
        return
    if options.rpm is not None:
        raise ConfigError("--rpm is for models and services over HTTP. For a program, use --concurrency.")
    with TemporaryDirectory(prefix="polyjudge-home-") as home:
        environment = clean_environment(Path(home), options.env, options.set)
        command = translator_command(
            options.command or options.translator,
            model=options.model,
            environment=environment,
            timeout_s=options.timeout,
        )
        recorded = recorded_now(command, _version(options, command))
        yield OpenTranslator(command.translate, recorded, command)


def _open_service(options: argparse.Namespace, kind: TranslatorKind) -> OpenTranslator:
    """Open a model or a service over HTTP, with retries and rate limits; replies are not cached."""
    for name, value in (("--model", options.model), ("--version-command", options.version_command)):
        if value is not None:
            raise ConfigError(f"{name} is for programs. Leave it out with --translator {options.translator}.")
    stack = ProviderStack(concurrency=options.concurrency, rpm=options.rpm, timeout_s=options.timeout)
    provider: Provider
    if kind == "http":
        service = http_service(options)
        opened = service.open(timeout_s=options.timeout, gathers=False)
        provider = stack.around(opened, ModelName(service.name, ""))
        recorded = recorded_service(service.name, service.sha256)

        def request_for(fixture: Fixture) -> Request:
            source, target = fixture.source_lang, fixture.target_lang
            return translation_request(fixture.input_text, source, target, description_sha256=service.sha256)

    else:
        refuse_variables(options)
        load_environment()
        model = resolve_model(options.translator)
        provider, recorded = stack.open(model), recorded_service(str(model))
        table, instructions = language_table(), PromptSet("", ())

        def request_for(fixture: Fixture) -> Request:
            language = table.find(fixture.target_lang)
            name = language.name if language is not None else fixture.target_lang
            return Request(prompt=instructions.instruction(name, fixture.input_text), model=model.model)

    translator = ProviderTranslator(provider, request_for)
    return OpenTranslator(translator.translate, recorded, aclose=lambda: close_provider(provider))


def refuse_variables(options: argparse.Namespace) -> None:
    """Refuse variables for a translator that takes none."""
    if options.env or options.set:
        raise ConfigError(
            "--env and --set give variables to a service over HTTP. Leave them out for a model or a program."
        )


def _version(options: argparse.Namespace, command: TranslatorCommand) -> str:
    """Return the first line that the version command prints; empty without such a command."""
    if not options.version_command:
        return ""
    version = translator_command(
        options.version_command, model=command.model, environment=command.environment, timeout_s=options.timeout
    )
    output = run_sync(
        run_program(version.for_pair("", ""), "", timeout_s=options.timeout, environment=command.environment)
    )
    return output.text.strip().partition("\n")[0]


def default_concurrency() -> int:
    """Return the number of processors: a translator program keeps one busy."""
    return os.cpu_count() or 1
