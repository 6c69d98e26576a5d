"""The command `polyjudge`: this module finds the command's own module and turns errors into exit codes."""

import argparse
import gc
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TextIO, cast

from polyjudge.errors import CacheWarning, ForeignFileError, PolyjudgeError, UnsharedRepliesError

from .output import import_command, silence_stdout

COMMANDS = {
    # name: what it does; its module in this folder is imported only when the command is given
    "demo": "judge a packaged sample: no key, no network",
    "score": "judge any items by any rubric with any judge",
    "translation": "check and judge a translator's output in many languages, or make it",
    "regression": "see whether a translator program still says what it said",
    "vocabulary": "see how well local models understand words",
    "transcript": "have an agent's session reviewed and scored",
    "calibrate": "find out whether a judge can be trusted, and correct it",
    "report": "turn results and judge scores into a report",
    "compare": "say what changed between two runs",
    "label": "label a sample of what was judged, on a local page",
    "view": "look at runs on a local page",
    "providers": "show who can answer, and what is missing",
    "plugins": "show what other packages add, and what cannot be loaded",
    "cache": "look after the replies already paid for",
    "batch": "look after batches that providers still work on",
    "trust": "allow a folder's polyjudge.toml and .polyjudge to be used",
}
ACTIONS = {
    # command: its actions, each with what it does; the module of an action is `COMMAND_ACTION`
    "translation": {
        "generate": "have a model or a program translate a set of prompts into many languages",
        "check": "run the checks that need no model",
        "quick": "judge the must-have languages and one of each script family",
        "full": "judge all languages, several in a call",
    },
    "regression": {
        "run": "see whether a translator still says what it said",
        "capture": "fill the expected outputs of cases from a working translator",
        "audit": "see whether cases are safe to commit, worth running, and right",
    },
    "vocabulary": {
        "run": "ask local models about words, have the answers judged, and sum up",
        "generate": "ask local models about words",
        "judge": "have the answers judged, and sum up",
        "summary": "sum up what was judged",
    },
    "transcript": {
        "judge": "have an agent's session reviewed: what it did, what the system around it did, where it broke"
    },
    "calibrate": {
        "perturb": "see whether a judge notices texts that were perturbed on purpose",
        "agreement": "compare a judge with people, or with another judge",
        "bias": "see what moves a judge that should not: order, length, format, language, a plea",
        "correct": "estimate what people would say, from many judged items and few labels",
        "card": "show what is known of a judge",
    },
}
_GARBAGE_THRESHOLD = 50_000
"""Objects made between two searches for garbage; nearly all of ours die by themselves, and searching takes a tenth."""
_EPILOG = (
    "Exit codes: 0 done, 1 what was judged missed its bar, 2 wrong usage or input, "
    "3 the judge could not do its work, 130 interrupted."
)


_WITHOUT_PROGRESS = {
    "compare",
    "calibrate agreement",
    "calibrate correct",
    *(f"cache {action}" for action in ("stats", "prune", "export", "import", "verify")),
}
"""Work that reads and computes, and may take long, without a count to show."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = _show_warning
    gc.set_threshold(_GARBAGE_THRESHOLD)
    _prepare_streams()
    try:
        code = _run(given)
        sys.stdout.flush()
    except ForeignFileError as error:
        return _report(error, remedy=". Name another file, or replace this one with --force.")
    except PolyjudgeError as error:
        return _report(error)
    except KeyboardInterrupt:
        print("polyjudge: interrupted. Progress saved.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        silence_stdout()
        return 0
    except OSError as error:
        if os.environ.get("VERBOSE") == "1":
            raise
        if error.filename is not None:
            print(f"polyjudge: {str(error.filename)[:200]!r} cannot be used: {error.strerror}", file=sys.stderr)
            return 2
        silence_stdout()
        print(f"polyjudge: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return code


def _prepare_streams() -> None:
    """Make sure that there is somewhere to write, and that no character is an error there."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def build_parser(command: str = "") -> argparse.ArgumentParser:
    """Return the parser, with the options of `command` in it and of the others only their names."""
    parser = argparse.ArgumentParser(
        prog="polyjudge",
        description="Judge what language models write, in any language, with judges that have themselves been checked.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="polyjudge_command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        subparser = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == command and name in ACTIONS:
            _add_actions(subparser, name)
        elif name == command:
            _module(name).configure(subparser)
    return parser


def _add_actions(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the actions of a command with their options."""
    added = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, summary in ACTIONS[command].items():
        action = added.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        _module(f"{command}_{name}").configure(action)


def subparser_of(parser: argparse.ArgumentParser, command: str) -> argparse.ArgumentParser:
    """Return the part of the parser that reads a command's own options."""
    return actions_of(parser)[command]


def actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands or actions below this one; argparse has no public way to ask for them."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action.choices, dict):
            return cast(dict[str, argparse.ArgumentParser], action.choices)
    return {}


def _run(given: list[str]) -> int:
    command = next((word for word in given if not word.startswith("-")), "")
    parser = build_parser(command)
    say_settings: Callable[[], None] = _say_nothing
    if command in COMMANDS:
        if command == "transcript":
            given = _module("transcript_judge").prepared(given)
        say_settings = _apply_settings(subparser_of(parser, command), command, given)
    options = parser.parse_args(given)
    if options.version:
        print(f"polyjudge {import_module('polyjudge.version').__version__}")
        return 0
    if not options.polyjudge_command:
        parser.print_help(sys.stderr)
        return 2
    say_settings()
    work = f"{options.polyjudge_command} {getattr(options, 'action', '')}".strip()
    module = _module(work.replace(" ", "_") if options.polyjudge_command in ACTIONS else options.polyjudge_command)
    if work not in _WITHOUT_PROGRESS:
        return module.run(options)
    with _module("progress").Heartbeat(lambda: f"{work} is still working"):
        return module.run(options)


def _apply_settings(parser: argparse.ArgumentParser, command: str, given: list[str]) -> Callable[[], None]:
    """Apply the project file, and return what says which options came from it; help and trust do without it."""
    if command == "trust" or "-h" in given or "--help" in given:
        return _say_nothing
    settings = import_module("polyjudge.cli.settings")
    actions = actions_of(parser)
    action = next((word for word in given if word in actions), "")
    project = settings.ProjectFile(command, action)
    project.refuse_unknown_tables(actions)
    if action or not actions:
        project.apply(actions[action] if action else parser, COMMANDS, given)
    return project.say_what_was_applied


def _say_nothing() -> None:
    pass


def _module(command: str) -> ModuleType:
    return import_module(f"polyjudge.cli.{command}")


def _report(error: PolyjudgeError, *, remedy: str = "") -> int:
    if os.environ.get("VERBOSE") == "1":
        traceback.print_exception(error)
    else:
        print(f"polyjudge: {error}{_flag(error)}{_import_hint(error)}{remedy}", file=sys.stderr)
    return error.exit_code


_FLAGS = {"max_cost_usd": "max-cost", "timeout_s": "timeout", "deadline_s": "deadline"}
"""Options that the command line calls otherwise than the library."""


def _flag(error: PolyjudgeError) -> str:
    """Return the option that would help, as it is written on the command line."""
    name = _FLAGS.get(error.option, error.option.replace("_", "-"))
    return f" (--{name} {error.value})".replace(" )", ")") if name else ""


def _import_hint(error: Exception | None) -> str:
    """Return the command that imports the paid replies of a local cache, if there are any."""
    if not isinstance(error, UnsharedRepliesError):
        return ""
    return f" Run: {import_command(error.fallback, error.cache)}"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning as a message to a person, without the line of code that gave it."""
    del category, filename, lineno, line
    hint = _import_hint(message.error) if isinstance(message, CacheWarning) else ""
    print(f"polyjudge: warning: {message}{hint}", file=file or sys.stderr)
