"""Settings from `polyjudge.toml`; options on the command line take precedence.

The file may come with another person's folder. Until the user has trusted its content (`polyjudge trust`), its paths
must stay inside the folder, and it may not set options that run a command, open or name an address, or replace the
user's decision: see `_NEED_TRUST`.
"""

import argparse
import sys
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError, suggestion
from polyjudge.files.text_files import line_of, read_text, read_toml
from polyjudge.folder_trust import PROJECT_FILE, is_trusted_file
from polyjudge.providers.registry import names_a_model
from polyjudge.text.display import harmless

CHECKS_TABLE = "checks"
"""The table of the severities of checks, which several commands use."""
_OPTIONS_TOO = {"batch", "cache"}
"""Commands that are also options of other commands; at the top level, a value that is not a table is the option."""
_NEED_TRUST = {
    "command": "runs a program",
    "version_command": "runs a program",
    "env": "gives a program variables of your environment",
    "set": "sets a program's environment",
    "engine": "chooses where the run takes place",
    "workers": "chooses where the run takes place",
    "cache": "chooses where replies are read from",
    "local_cache": "chooses where replies are read from",
    "card": "decides how far a judge is trusted",
    "price": "decides what a cost limit allows",
    "host": "opens a page to other machines",
    "write_accepted": "accepts findings in your place",
    "force": "replaces files",
    "yes": "replaces files",
    "update": "replaces files",
}
"""Options that an untrusted file may not set, and why."""
_NOT_SETTINGS = {"judge_of_results", "rubric_of_results"}
"""Options that say what is in the files of one command, and that no project sets."""
_SECRET = {"cache", "set"}
"""Options whose values are not shown: they may hold a password."""
_PATH_WORDS = ("FILE", "DIR", "PATH")


class _InvalidSettingError(Exception):
    """A value cannot be used; the message continues the name of its key."""


class ProjectFile:
    """What `polyjudge.toml` sets for one command."""

    def __init__(self, command: str, action: str = "") -> None:
        self._command = command
        self._action = action
        self._data = read_toml(PROJECT_FILE) if PROJECT_FILE.is_file() else {}
        self._applied: dict[str, tuple[str, object]] = {}

    def apply(self, parser: argparse.ArgumentParser, known_tables: Collection[str], given: Sequence[str]) -> None:
        """Make the settings the parser's defaults: those of the top level, then those of the command's table.

        A command with actions has a table for all of them, and in it one for each: `[translation.quick]`. The top level
        applies to all commands, so an option of another command is only a warning there. Options that are `given` on
        the command line are skipped.
        """
        options = _options(parser)
        general = {
            key: value
            for key, value in self._data.items()
            if not isinstance(value, dict) and (key not in known_tables or key in options)
        }
        shared, own = self._of_action(_table(self._data, self._command))
        its_table = f"{self._command}.{self._action}" if self._action else self._command
        tables = {**dict.fromkeys(general, ""), **dict.fromkeys(shared, self._command), **dict.fromkeys(own, its_table)}
        for key, value in {**general, **shared, **own}.items():
            name = key.replace("-", "_")
            if name in options:
                try:
                    self._set(parser, options[name], key, value, given)
                except _InvalidSettingError as error:
                    raise self._error(f"{key}{error}", tables[key], key) from None
            elif key in own:
                raise self._unknown_key(its_table, key, options)
            elif "judge" in options:
                command = f"{self._command} {self._action}".rstrip()
                warnings.warn(f"{PROJECT_FILE}: {key!r} is not an option of {command}", stacklevel=2)

    def _of_action(self, table: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the command's table sets for all its actions, and for one; without actions, all is the second."""
        if not self._action:
            return {}, table
        own: object = table.get(self._action, {})
        if not isinstance(own, dict):
            message = f"{self._action} must be a table: [{self._command}.{self._action}]"
            raise self._error(message, self._command, self._action)
        return {key: value for key, value in table.items() if not isinstance(value, dict)}, cast(dict[str, Any], own)

    def print_applied(self) -> None:
        """Print which options the file has set."""
        if self._applied:
            shown = [f"{key}={_shown(name, value)}" for name, (key, value) in self._applied.items()]
            print(f"polyjudge: from {PROJECT_FILE}: {harmless(', '.join(shown))}", file=sys.stderr)

    def refuse_unknown_tables(self, commands: Collection[str], actions: Mapping[str, Collection[str]]) -> None:
        """Refuse a table that is not a command, or in it one that is not an action of it: `[translation.quik]`."""
        for name, table in self._data.items():
            if name in commands or name == CHECKS_TABLE or not _is_table(table):
                continue
            hint = suggestion(name, commands, "[{}]")
            raise self._error(f"unknown table [{name}].{hint}", name)
        for name, known in actions.items():
            own: object = self._data.get(name)
            for key, value in cast(dict[str, Any], own).items() if isinstance(own, dict) else ():
                if known and key not in known and isinstance(value, dict):
                    table = f"{name}.{key}"
                    message = f"[{table}]: unknown action. Available: {', '.join(known)}.{suggestion(key, known)}"
                    raise self._error(message, table)

    def refuse_unknown_keys(self, commands: Collection[str], parsers: Iterable[argparse.ArgumentParser]) -> None:
        """Refuse a key that no command has as an option; `parsers` are read as far as they are needed."""
        given = {key for key, value in self._data.items() if key not in commands and not _is_table(value)}
        known: set[str] = set()
        for parser in parsers if given else ():
            known |= _options(parser).keys()
            if all(key.replace("-", "_") in known for key in given):
                return
        for key in given:
            if key.replace("-", "_") not in known:
                raise self._unknown_key("", key, known)

    def _unknown_key(self, table: str, key: str, known: Collection[str]) -> DataError:
        names = [name.replace("_", "-") for name in known]
        where = f"[{table}]: " if table else ""
        return self._error(f"{where}unknown key {key!r}.{suggestion(key.replace('_', '-'), names)}", table, key)

    def _error(self, message: str, table: str, key: str = "") -> DataError:
        """Return an error with the line of a table or key."""
        return DataError(message, path=PROJECT_FILE, line=line_of(read_text(PROJECT_FILE), table, key))

    def _set(
        self, parser: argparse.ArgumentParser, option: argparse.Action, key: str, value: object, given: Sequence[str]
    ) -> None:
        setting = _setting(option, value)
        _make_optional(parser, option)
        if _is_given(option, given):
            return
        if not is_trusted_file(PROJECT_FILE):
            _refuse_untrusted(option, setting)
        parser.set_defaults(**{option.dest: setting})
        self._applied[option.dest] = (key, value)


def _refuse_untrusted(option: argparse.Action, setting: object) -> None:
    """Refuse a setting that needs the user's trust."""
    why = _NEED_TRUST.get(option.dest, "")
    if option.dest == "cache" and setting == "none":
        why = ""
    if option.dest == "translator" and not names_a_model(str(setting)):
        why = "runs a program or names an address"
    here = Path.cwd().resolve()
    paths = _paths_in(option, cast(list[object], setting if isinstance(setting, list) else [setting]))
    outside = [path for path in paths if not path.resolve().is_relative_to(here)]
    if not why and outside:
        why = f"is {str(outside[0])!r}, a path outside the folder"
    if why:
        message = f" {why}, so the file must be trusted first. Read it, then run: polyjudge trust"
        raise _InvalidSettingError(message)


def _paths_in(option: argparse.Action, values: Sequence[object]) -> list[Path]:
    """Return the paths that values are or contain."""
    if any(word in str(option.metavar) for word in _PATH_WORDS) or option.type is Path:
        return [Path(str(value)) for value in values]
    names = [name.strip() for value in values if isinstance(value, str) for name in value.split(",")]
    # A recording: scripted/FILE.
    return [Path(name.removeprefix("scripted/")) for name in names if name.startswith("scripted/")]


def _is_given(option: argparse.Action, words: Sequence[str]) -> bool:
    """Say whether an option is on the command line, also in a shortened form that argparse accepts."""
    names = [word.partition("=")[0] for word in words if word.startswith("--")]
    return any(own.startswith(name) for own in option.option_strings for name in names if len(name) > len("--"))


def _shown(name: str, value: object) -> str:
    if name in _SECRET:
        return "•••"
    return ",".join(map(str, cast(list[object], value))) if isinstance(value, list) else str(value)


def _is_table(value: object) -> bool:
    if isinstance(value, list):
        rows = cast(list[object], value)
        return bool(rows) and all(isinstance(each, dict) for each in rows)
    return isinstance(value, dict)


def _table(data: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the table of a command."""
    own: object = data.get(command, {})
    if isinstance(own, dict):
        return cast(dict[str, Any], own)
    if command in _OPTIONS_TOO:
        return {}
    line = line_of(read_text(PROJECT_FILE), "", command)
    raise DataError(f"{command} must be a table. Write [{command}] on a line of its own.", path=PROJECT_FILE, line=line)


def _options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options by their names on the command line."""
    actions = [each for each in parser._actions if each.dest not in _NOT_SETTINGS]  # pyright: ignore[reportPrivateUsage]
    return {
        name.lstrip("-").replace("-", "_"): option
        for option in actions
        for name in option.option_strings or [option.dest]
    }


def _make_optional(parser: argparse.ArgumentParser, option: argparse.Action) -> None:
    """Let a required option be left out of the command line, because the file sets it."""
    if option.option_strings:
        option.required = False
    for group in parser._mutually_exclusive_groups:  # pyright: ignore[reportPrivateUsage]
        if option in group._group_actions:  # pyright: ignore[reportPrivateUsage]
            group.required = False


def _setting(action: argparse.Action, value: Any) -> Any:
    """Return a value as the option's own type reads it."""
    if action.nargs == 0 or isinstance(value, bool):
        if action.nargs == 0 and isinstance(value, bool):
            return value
        wanted = "true or false" if action.nargs == 0 else "text or a number"
        raise _InvalidSettingError(f" must be {wanted}")
    values = [_converted(action, each) for each in cast(list[object], value if isinstance(value, list) else [value])]
    takes_several = isinstance(action.default, list)
    if not takes_several and len(values) != 1:
        raise _InvalidSettingError(" takes one value, not a list")
    return values if takes_several else values[0]


def _converted(action: argparse.Action, value: object) -> Any:
    if isinstance(value, dict | list):
        raise _InvalidSettingError(" must be a single value")  # not shown: it may be a password
    convert = action.type if callable(action.type) else str
    if "\0" in str(value):
        raise _InvalidSettingError(" contains a null character")
    try:
        read = convert(str(value))
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise _InvalidSettingError(f" {error}") from None
    if action.choices is not None and read not in action.choices:
        raise _InvalidSettingError(f": {read!r} is not one of {', '.join(map(str, action.choices))}")
    return read
