"""The options that name a translator program, and the environment that it runs in."""

import argparse
import os
import sys
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
    places = "{source_lang}, {target_lang} and {model} are filled in; there is no shell"
    add("--command", required=True, metavar="'PROGRAM …'", help=f"reads stdin, writes stdout; {places}")
    add("--model", type=Path, metavar="PATH", help="what {model} stands for; default: $POLYJUDGE_TRANSLATOR_MODEL")
    add("--env", action=Several, default=[], metavar="NAME", help="a variable of ours that the program may see")
    add("--set", action=Several, default=[], metavar="NAME=VALUE", help="a variable that the program sees")
    add("--timeout", type=float, default=60.0, metavar="S", help="seconds for one text; default: %(default)s")
    add("--version-command", metavar="'PROGRAM …'", help="prints the translator's version, which is recorded")


@contextmanager
def open_translator(options: argparse.Namespace) -> Generator[TranslatorCommand]:
    """Give the translator, in an environment that holds PATH, an empty home, and what is named."""
    if not 0 < options.timeout < float("inf"):
        raise ConfigError(f"--timeout must be above 0, not {options.timeout:g}")
    with TemporaryDirectory(prefix="polyjudge-home-") as home:
        environment = clean_environment(Path(home), options.env, options.set)
        yield translator_command(
            options.command, model=options.model, environment=environment, timeout_s=options.timeout
        )


def translator_version(options: argparse.Namespace, command: TranslatorCommand) -> str:
    """Return the first line that the version command prints; nothing where none is named."""
    if not options.version_command:
        return ""
    asked = translator_command(
        options.version_command, model=command.model, environment=command.environment, timeout_s=options.timeout
    )
    output = run_sync(
        run_program(asked.for_pair("", ""), "", timeout_s=options.timeout, environment=command.environment)
    )
    return output.text.strip().partition("\n")[0]


def say(message: str) -> None:
    """Warn on stderr."""
    print(f"polyjudge: warning: {message}", file=sys.stderr)


def default_concurrency() -> int:
    """Return as many as there are processors: a translator program keeps one busy."""
    return os.cpu_count() or 1
