"""The command `polyjudge`: find the command's own module, explain wrong words, and turn errors into exit codes."""

import argparse
import gc
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn, TextIO, cast

from polyjudge.errors import (
    CacheWarning,
    ConfigError,
    ForeignFileError,
    MissingColumnError,
    PolyjudgeError,
    UnsharedRepliesError,
    suggestion,
)

COMMANDS = {
    # name: what it does; its module in this folder is imported only when the command is used
    "demo": "judge a packaged sample, and write files for the examples; needs no key and no network",
    "score": "judge any items by any rubric with any judge",
    "check": "check one text without a model",
    "translation": "generate, check and judge translations in many languages",
    "review": "review localisation files: placeholders, plurals, language, terms and, with a judge, meaning",
    "regression": "test whether a translator program still gives the same outputs",
    "vocabulary": "test how well local models understand words",
    "transcript": "review and score an agent's session",
    "calibrate": "measure how reliable a judge is, and correct its scores",
    "report": "write a report of any run, or of translations with their scores",
    "explain": "explain what decided a status, with the evidence",
    "compare": "compare two or more runs: which is better, in which languages, and on which items",
    "rank": "rank two or more systems by scores of the same items, or by preferences",
    "pairwise": "ask a judge which of two systems' texts is better, in both orders",
    "convert": "convert tables, other tools' results or people's ratings to another format",
    "label": "label a sample of judged items on a local page",
    "view": "show runs on a local page",
    "providers": "list providers, and what each one still needs",
    "plugins": "list installed plugins, and those that cannot be loaded",
    "cache": "inspect and maintain the cache of replies",
    "batch": "list, check and cancel batches at providers",
    "trust": "trust the polyjudge.toml and .polyjudge of a folder",
}
ACTIONS = {
    # command: its actions, each with what it does; the module of an action is `COMMAND_ACTION`
    "translation": {
        "generate": "translate a set of prompts into many languages with a model, a service or a program",
        "check": "run the checks, which need no model",
        "quick": "judge the must-have languages and the most spoken language of each script family",
        "full": "judge all languages, several in one call",
    },
    "regression": {
        "run": "run a translator on stored cases and compare its outputs",
        "capture": "store the outputs of a working translator as expected outputs",
        "audit": "find cases that are unsafe to commit, redundant or wrong",
    },
    "vocabulary": {
        "run": "ask local models about words, judge the answers and summarise them",
        "generate": "ask local models about words",
        "judge": "judge the stored answers and summarise them",
        "summary": "summarise the stored judgements",
    },
    "transcript": {
        "judge": "review a session: what the agent did, what its system did, what failed",
    },
    "calibrate": {
        "perturb": "measure whether a judge notices perturbed texts",
        "agreement": "measure how far a judge agrees with people, or with another judge",
        "consensus": "combine the error spans of several judges, by weights learnt from people",
        "replace": "test whether a judge could take the place of a person",
        "bias": "measure how order, length, format, language and injected requests change a judge's scores",
        "cascade": "learn when a cheap judge's answer can be used, with a guaranteed agreement with people",
        "correct": "estimate people's scores from many judged items and few labels",
        "card": "show a judge's trust card",
        "watch": "repeat questions that a judge has answered, and test whether it has changed",
    },
}
_GARBAGE_THRESHOLD = 50_000
"""Allocations between two garbage collections; most objects are freed by reference count, and collecting costs 10%."""
_EPILOG = """\
Examples:
  polyjudge demo
  polyjudge score polyjudge-demo/answers.csv --rubric general --judge openai/gpt-5-mini

Exit codes: 0 done, 1 the judged texts failed, 2 wrong usage or input,
3 the judge could not do its work, 130 interrupted."""
_LACKS = re.compile(r"^(?:the following arguments are required|one of the arguments)")
_NAMED = re.compile(r"^argument ([^\s:]+): (?:(?=must )|())")
_WITHOUT_PROGRESS = {
    "compare",
    "rank",
    "calibrate agreement",
    "calibrate cascade",
    "calibrate consensus",
    "calibrate correct",
    "calibrate replace",
    *(f"cache {action}" for action in ("stats", "prune", "export", "import", "verify")),
}
"""Commands that may run for long without a count to show."""


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
        return _report(error, remedy="Give another file, or replace this one with --force.")
    except PolyjudgeError as error:
        return _report(error)
    except KeyboardInterrupt:
        print("polyjudge: interrupted. Results already stored are kept. Run the same command again.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        _module("output").silence_stdout()
        return 0
    except OSError as error:
        if os.environ.get("VERBOSE") == "1":
            raise
        if error.filename is not None:
            print(f"polyjudge: {str(error.filename)[:200]!r} cannot be used: {error.strerror}", file=sys.stderr)
            return 2
        _module("output").silence_stdout()
        print(f"polyjudge: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return code


def _prepare_streams() -> None:
    """Open closed streams on the null device, and escape characters that their encoding lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the parent process
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - used until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _CommandParser(argparse.ArgumentParser):
    """A parser whose errors are one line; where something is missing, the usage comes first."""

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with code 2."""
        if _LACKS.match(message):
            self.print_usage(sys.stderr)
        named = _NAMED.sub(lambda found: f"{found[1]} " if found[2] is None else f"{found[1]}: ", message)
        self.exit(2, f"{self.prog}: {_harmless(named)}\n")


def build_parser(command: str = "", *, with_examples: bool = True) -> argparse.ArgumentParser:
    """Return the parser with the options of `command`; the other commands have only their names."""
    parser = _CommandParser(
        prog="polyjudge",
        description="Judge what language models write, in any language, with judges that have themselves been checked.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="polyjudge_command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        subparser = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name == command and name in ACTIONS:
            _add_actions(subparser, name)
        elif name == command:
            _module(name).configure(subparser)
        if name == command and with_examples:
            _add_examples(subparser, name)
    return parser


def _add_examples(parser: argparse.ArgumentParser, command: str) -> None:
    """End the help of a command, and of each of its actions, with examples."""
    from .examples import examples_of, heading_of

    shown = "\n".join(f"  {example}" for example in examples_of(command))
    parser.epilog = "\n\n".join(filter(None, [parser.epilog, f"{heading_of(command)}\n{shown}"]))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for name, action in actions_of(parser).items():
        _add_examples(action, f"{command} {name}")


def _add_actions(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the actions of a command with their options."""
    added = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, summary in ACTIONS[command].items():
        action = added.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        _module(f"{command}_{name}").configure(action)


def _run(given: list[str]) -> int:
    command = next((word for word in given if not word.startswith("-")), "")
    # argparse also accepts shortened forms of --help
    is_help = any(word == "-h" or (len(word) > len("--") and "--help".startswith(word)) for word in given)
    parser = build_parser(command, with_examples=is_help)
    if command:
        _refuse_unknown_name(parser, command, COMMANDS, what="command")
    print_settings: Callable[[], None] = _print_nothing
    if command in COMMANDS:
        if command == "transcript":
            given = _module("transcript_judge").prepared(given)
        own = actions_of(parser)[command]
        _refuse_unknown(own, command, given)
        if not is_help and command != "trust":
            print_settings = _apply_settings(own, command, given)
    options = parser.parse_args(given)
    _settle(options)
    if options.version:
        print(f"polyjudge {import_module('polyjudge.version').__version__}")
        return 0
    if not options.polyjudge_command:
        parser.print_help(sys.stderr)
        return 2
    print_settings()
    work = f"{options.polyjudge_command} {getattr(options, 'action', '')}".strip()
    module = _module(work.replace(" ", "_") if options.polyjudge_command in ACTIONS else options.polyjudge_command)
    if work not in _WITHOUT_PROGRESS:
        return module.run(options)
    with _module("progress").Heartbeat(lambda: f"{work} is still working"):
        return module.run(options)


def _refuse_unknown(parser: argparse.ArgumentParser, command: str, given: Sequence[str]) -> None:
    """End with an error for an unknown action, and for options that the command or action does not have."""
    rest, actions = list(given[given.index(command) + 1 :]), actions_of(parser)
    if actions:
        action = next((word for word in rest if not word.startswith("-")), "")
        if not action:
            return
        _refuse_unknown_name(parser, action, actions, what="action")
        parser, rest = actions[action], rest[rest.index(action) + 1 :]
    known = [name for option in parser._actions for name in option.option_strings]  # pyright: ignore[reportPrivateUsage]
    for word in rest:  # argparse would first ask for what is missing
        if word == "--":
            return
        name = word.partition("=")[0]
        if name.startswith("--") and not any(option.startswith(name) for option in known):
            hint = suggestion(name, known, "{}") or f" See: {parser.prog} --help"
            parser.error(f"unknown option {name}.{hint}")


def _refuse_unknown_name(parser: argparse.ArgumentParser, name: str, known: Collection[str], *, what: str) -> None:
    """End with an error for a command or action that does not exist."""
    if name not in known:
        parser.error(f"unknown {what} {name!r}.{suggestion(name, known)} Available: {', '.join(known)}.")


def actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands or actions below this one, which argparse does not expose."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action.choices, dict):
            return cast(dict[str, argparse.ArgumentParser], action.choices)
    return {}


def _settle(options: argparse.Namespace) -> None:
    """Refuse values of common options that no command can use, and choose the format of a report."""
    if "format" in options:
        _module("options").settle_format(options)
    if getattr(options, "refresh", False) and getattr(options, "reread", False):
        raise ConfigError(
            "--refresh and --reread cannot be combined: --refresh asks again, --reread makes no calls. Give only one."
        )
    if str(getattr(options, "output", "")) == "-":
        raise ConfigError("--output takes a file or folder, not '-'. Where the default is stdout, leave it out.")


def _apply_settings(parser: argparse.ArgumentParser, command: str, given: list[str]) -> Callable[[], None]:
    """Apply the project file, if there is one; return a function that prints which options it set."""
    from polyjudge.folder_trust import PROJECT_FILE  # here, because `--help` need not load it

    if not PROJECT_FILE.is_file():
        return _print_nothing
    settings = import_module("polyjudge.cli.settings")
    actions = actions_of(parser)
    action = next((word for word in given if word in actions), "")
    project = settings.ProjectFile(command, action)
    project.refuse_unknown_tables(COMMANDS, {**ACTIONS, command: actions})
    project.refuse_unknown_keys(COMMANDS, _parsers(command, parser))
    if action or not actions:
        project.apply(actions[action] if action else parser, COMMANDS, given)
    return project.print_applied


def _parsers(command: str, parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of a command and its actions, then of all others: their options are the keys of the file."""
    yield from actions_of(parser).values() or [parser]
    for other in COMMANDS:
        if other != command:
            own = actions_of(build_parser(other, with_examples=False))[other]
            yield from actions_of(own).values() or [own]


def _print_nothing() -> None:
    pass


def _module(command: str) -> ModuleType:
    return import_module(f"polyjudge.cli.{command}")


_FLAGS = {"max_cost_usd": "max-cost", "timeout_s": "timeout", "deadline_s": "deadline"}
"""Options that have another name on the command line than in Python."""


def _report(error: PolyjudgeError, *, remedy: str = "") -> int:
    """Print an error with the option that would help; return the exit code."""
    if os.environ.get("VERBOSE") == "1":
        import_module("traceback").print_exception(error)
        return error.exit_code
    text, name = str(error), _FLAGS.get(error.option, error.option.replace("_", "-"))
    if name:
        flag = f" (--{name} {error.value})".replace(" )", ")")
        text = f"{text[:-1]}{flag}." if text.endswith(".") else f"{text}{flag}"
    if remedy := remedy or _import_hint(error) or _column_hint(error):
        text = f"{text.removesuffix('.')}. {remedy}"
    print(f"polyjudge: {_harmless(text)}", file=sys.stderr)
    return error.exit_code


def _harmless(message: str) -> str:
    """Escape what acts on a terminal: messages may quote names and values of a user's file."""
    return import_module("polyjudge.text.display").harmless(message)


def _column_hint(error: Exception) -> str:
    """Return how to name the column that a table lacks."""
    if not isinstance(error, MissingColumnError):
        return ""
    option = "columns" if error.is_role else "target-columns"
    hint = f"Map one with --{option} {error.role}=COLUMN."
    if not error.may_lack_header:
        return hint
    return f"{hint} If the first row is data, add --no-header and map by position: --columns {error.role}=1."


def _import_hint(error: Exception | None) -> str:
    """Return how to import the paid replies of a local cache, if there are any."""
    if not isinstance(error, UnsharedRepliesError):
        return ""
    return f"Run: {_module('output').import_command(error.fallback, error.cache)}"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as a message, without the line of code that raised it."""
    del category, filename, lineno, line
    hint = _import_hint(message.error) if isinstance(message, CacheWarning) else ""
    print(f"polyjudge: warning: {_harmless(str(message))}{f' {hint}' if hint else ''}", file=file or sys.stderr)
