"""Write the command-line reference from the commands' own help: `make docs`."""

import argparse
from typing import cast

from . import COMMANDS, build_parser

_HEADING = """\
# Command line

Written by `make docs` from the commands' own help; a test fails when it is out of date.
"""


def reference() -> str:
    """Return the reference of all commands as Markdown."""
    sections = [_section(build_parser())]
    for command in COMMANDS:
        sections += [_section(parser) for parser in _with_actions(_choices(build_parser(command))[command])]
    return "\n".join([_HEADING, *sections])


def _with_actions(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    return [parser, *_choices(parser).values()]


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    # argparse has no public way to list a parser's commands.
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action.choices, dict):
            return cast(dict[str, argparse.ArgumentParser], action.choices)
    return {}


def _section(parser: argparse.ArgumentParser) -> str:
    # A fixed width, whatever the terminal: the page must not change with it.
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100)
    return f"## {parser.prog}\n\n```text\n{parser.format_help().strip()}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
