"""Parse the command line, and explain wrong words in one line, with the option, command or action probably meant."""

import argparse
import re
import sys
from collections.abc import Collection, Sequence
from typing import NoReturn, cast

from polyjudge.errors import suggestion
from polyjudge.text.display import harmless

_REQUIRED = re.compile(r"^(?:the following arguments are required|one of the arguments)")
_ARGUMENT = re.compile(r"^argument ([^\s:]+): (?:(?=must )|())")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line; where something is missing, the usage comes first."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with code 2."""
        if _REQUIRED.match(message):
            self.print_usage(sys.stderr)
        named = _ARGUMENT.sub(lambda found: f"{found[1]} " if found[2] is None else f"{found[1]}: ", message)
        self.exit(2, f"{self.prog}: {harmless(named)}\n")


def refuse_unknown_options(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """End with an error for a word that is no option of the command; argparse would first ask for what is missing."""
    known = [name for action in parser._actions for name in action.option_strings]  # pyright: ignore[reportPrivateUsage]
    for word in given:
        if word == "--":
            return
        name = word.partition("=")[0]
        if name.startswith("--") and not any(option.startswith(name) for option in known):
            hint = suggestion(name, known, "{}") or f" See: {parser.prog} --help"
            parser.error(f"unknown option {name}.{hint}")


def refuse_unknown_name(parser: argparse.ArgumentParser, name: str, known: Collection[str], *, what: str) -> None:
    """End with an error for a command or action that does not exist."""
    if name not in known:
        parser.error(f"unknown {what} {name!r}.{suggestion(name, known)} Available: {', '.join(known)}.")


def refuse_unknown(parser: argparse.ArgumentParser, command: str, given: Sequence[str]) -> None:
    """End with an error for an unknown action, and for options that the command or action does not have."""
    rest, actions = list(given[given.index(command) + 1 :]), actions_of(parser)
    if actions:
        action = next((word for word in rest if not word.startswith("-")), "")
        if not action:
            return
        refuse_unknown_name(parser, action, actions, what="action")
        parser, rest = actions[action], rest[rest.index(action) + 1 :]
    refuse_unknown_options(parser, rest)


def asks_for_help(given: Sequence[str]) -> bool:
    """Return whether help is asked for, also by a shortened form that argparse accepts."""
    return any(word == "-h" or (len(word) > len("--") and "--help".startswith(word)) for word in given)


def subparser_of(parser: argparse.ArgumentParser, command: str) -> argparse.ArgumentParser:
    """Return the part of the parser that reads a command's own options."""
    return actions_of(parser)[command]


def actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands or actions below this one, which argparse does not expose."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action.choices, dict):
            return cast(dict[str, argparse.ArgumentParser], action.choices)
    return {}
