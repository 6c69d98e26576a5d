"""The options of a translator program, and the environment that it runs in."""

import argparse
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError
from polyjudge.processes import run_program
from polyjudge.suites.regression import TranslatorCommand, clean_environment, translator_command

from .options import Several


def add_translator_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument_group("translator").add_argument
    command = "translator that reads stdin and writes stdout, run without a shell; {source_lang}, {target_lang} and "
    add("--command", required=True, metavar="'PROGRAM …'", help=command + "{model} are filled in")
    add("--model", type=Path, metavar="PATH", help="value of {model}; default: $POLYJUDGE_TRANSLATOR_MODEL")
    add("--env", action=Several, default=[], metavar="NAME", help="pass this environment variable to the program")
    add("--set", action=Several, default=[], metavar="NAME=VALUE", help="set this environment variable of the program")
    one_text = "time limit of one text in seconds; default: %(default)s"
    add("--timeout", type=float, default=60.0, metavar="S", help=one_text)
    add("--version-command", metavar="'PROGRAM …'", help="program that prints the translator's version, for the record")


@contextmanager
def open_translator(options: argparse.Namespace) -> Generator[TranslatorCommand]:
    """Yield the translator, with PATH, an empty home folder and the given variables as its environment."""
    if not 0 < options.timeout < float("inf"):
        raise ConfigError(f"--timeout must be above 0, not {options.timeout:g}")
    with TemporaryDirectory(prefix="polyjudge-home-") as home:
        environment = clean_environment(Path(home), options.env, options.set)
        yield translator_command(
            options.command, model=options.model, environment=environment, timeout_s=options.timeout
        )


def translator_version(options: argparse.Namespace, command: TranslatorCommand) -> str:
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
