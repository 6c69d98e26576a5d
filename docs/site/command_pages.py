"""The reference of the commands, from their own parsers."""

import argparse
from collections.abc import Iterator

from rst_text import escaped, heading, indented

from polyjudge.cli import COMMANDS, actions_of, build_parser

WIDTH = 80


def pages() -> dict[str, str]:
    """Return the text of each command's page by the command's name."""
    return {command: "\n".join(_page(command)) for command in COMMANDS}


def overview() -> str:
    """Return the list of all commands and actions with what they do."""
    lines = []
    for command in COMMANDS:
        parser = actions_of(build_parser(command))[command]
        lines += [f"{_link(parser)}", f"    {escaped(parser.description or '')}", ""]
        lines += [f"    - {_link(each)}: {escaped(each.description or '')}" for each in actions_of(parser).values()]
        lines.append("")
    return "\n".join(lines)


def _link(parser: argparse.ArgumentParser) -> str:
    return f":ref:`{parser.prog} <{parser.prog.replace(' ', '-')}>`"


def _page(command: str) -> Iterator[str]:
    parser = actions_of(build_parser(command))[command]
    yield from _section(parser, "=")
    for action in actions_of(parser).values():
        yield from _section(action, "-")


def _section(parser: argparse.ArgumentParser, underline: str) -> Iterator[str]:
    """Describe one command or action, as its --help does."""
    parser.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=WIDTH)
    yield f".. _{parser.prog.replace(' ', '-')}:\n"
    yield heading(parser.prog, underline)
    yield f"{escaped(parser.description or '')}\n"
    usage = parser.format_usage().strip()
    yield f".. code-block:: text\n\n{indented(usage)}\n"
    yield f".. program:: {parser.prog}\n"
    for group in parser._action_groups:
        yield from _group(parser, group)
    if parser.epilog:
        yield f".. code-block:: text\n\n{indented(parser.epilog % {'prog': parser.prog})}\n"


def _group(parser: argparse.ArgumentParser, group: argparse._ArgumentGroup) -> Iterator[str]:
    formatter = parser._get_formatter()
    actions = [action for action in group._group_actions if action.help != argparse.SUPPRESS and action.dest != "help"]
    if not actions:
        return
    if isinstance(actions[0], argparse._SubParsersAction):
        yield from _action_links(parser)
        return
    yield f".. rubric:: {escaped((group.title or '').capitalize())}\n"
    for action in actions:
        yield f".. option:: {_names(formatter, action)}\n"
        yield f"   {escaped(' '.join(formatter._expand_help(action).split()))}\n"


def _action_links(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in actions_of(parser).values():
        yield f"- {_link(action)}: {escaped(action.description or '')}"
    yield ""


def _names(formatter: argparse.HelpFormatter, action: argparse.Action) -> str:
    """Return the spellings of an option with its value, or the name of an argument."""
    default = formatter._get_default_metavar_for_optional(action)
    value = "" if action.nargs == 0 else formatter._format_args(action, default)
    if not action.option_strings:
        return formatter._format_args(action, formatter._get_default_metavar_for_positional(action))
    return ", ".join(f"{name} {value}".strip() for name in action.option_strings)
