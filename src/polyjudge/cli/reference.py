"""Write the command-line reference from the commands' own help: `make docs`."""

import argparse

from polyjudge.cli import COMMANDS, actions_of, build_parser

_HEADING = """\
# Command line

Written by `make docs` from the commands' own help; a test fails when it is out of date.
"""


def reference() -> str:
    """Return the reference of all commands as Markdown."""
    sections = [_section(build_parser())]
    for command in COMMANDS:
        parser = actions_of(build_parser(command))[command]
        sections += [_section(each) for each in (parser, *actions_of(parser).values())]
    return "\n".join([_HEADING, *sections])


def _section(parser: argparse.ArgumentParser) -> str:
    # A fixed width, whatever the terminal: the page must not change with it.
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100)
    return f"## {parser.prog}\n\n```text\n{parser.format_help().strip()}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
