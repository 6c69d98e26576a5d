"""Settings from `polyjudge.toml`; the command line takes precedence."""

import argparse
import tomllib
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError

PROJECT_FILE = Path("polyjudge.toml")
_OPTIONS_TOO = {"batch", "cache"}
"""Commands whose names other commands have as options; at the top level, what is no table is meant for those."""


def apply_project_file(
    parser: argparse.ArgumentParser, command: str, known_tables: Collection[str], action: str = ""
) -> None:
    """Make what `polyjudge.toml` says the parser's defaults: its top level, then its table of the command's name.

    A command of several actions has a table for all of them, and within it one for each: `[translation.quick]`.

    What stands at the top level may be meant for another command, so there a name that this one does not know is only
    warned about.
    """
    if not PROJECT_FILE.is_file():
        return
    data = _read_project_file()
    options = _options(parser)
    general = {
        key: value
        for key, value in data.items()
        if not isinstance(value, dict) and (key not in known_tables or key in options)
    }
    shared, own = _of_action(_table(data, command), action)
    for key, value in {**general, **shared, **own}.items():
        name = key.replace("-", "_")
        if name in options:
            parser.set_defaults(**{options[name].dest: _setting(options[name], key, value)})
            _need_no_more(parser, options[name])
        elif key in own:
            table = f"{command}.{action}" if action else command
            raise DataError(f"[{table}] has an unknown key {key!r}", path=PROJECT_FILE)
        elif "judge" in options:
            warnings.warn(f"{PROJECT_FILE}: {key!r} is no option of {command} {action}".rstrip(), stacklevel=2)


def _table(data: dict[str, Any], command: str) -> dict[str, Any]:
    """Return the table of a command."""
    own: object = data.get(command, {})
    if isinstance(own, dict):
        return cast(dict[str, Any], own)
    if command in _OPTIONS_TOO:
        return {}
    raise DataError(f"{command} must be a table: [{command}]", path=PROJECT_FILE)


def _options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """Return the options by the names that the command line has for them."""
    actions = parser._actions  # pyright: ignore[reportPrivateUsage]
    return {
        name.lstrip("-").replace("-", "_"): option
        for option in actions
        for name in option.option_strings or [option.dest]
    }


def _need_no_more(parser: argparse.ArgumentParser, option: argparse.Action) -> None:
    """Let an option that must be given be left out of the command line, since the file gives it."""
    if option.option_strings:
        option.required = False
    for group in parser._mutually_exclusive_groups:  # pyright: ignore[reportPrivateUsage]
        if option in group._group_actions:  # pyright: ignore[reportPrivateUsage]
            group.required = False


def refuse_unknown_tables(command: str, actions: Collection[str]) -> None:
    """Refuse a table in a command's own that is none of its actions: `[translation.quik]`."""
    if not actions or not PROJECT_FILE.is_file():
        return
    given: object = _read_project_file().get(command, {})
    own = cast(dict[str, Any], given) if isinstance(given, dict) else {}
    tables = [key for key, value in own.items() if isinstance(value, dict)]
    unknown = [name for name in tables if name not in actions]
    if unknown:
        told = f"[{command}.{unknown[0]}] is no action of {command}; there are {', '.join(actions)}"
        raise DataError(told, path=PROJECT_FILE)


def _read_project_file() -> dict[str, Any]:
    try:
        return tomllib.loads(PROJECT_FILE.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"is not TOML: {error}", path=PROJECT_FILE) from None


def _of_action(table: dict[str, Any], action: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a command's table says for all its actions, and for one of them; without actions all is its own."""
    if not action:
        return {}, table
    own: object = table.get(action, {})
    if not isinstance(own, dict):
        raise DataError(f"{action} must be a table", path=PROJECT_FILE)
    return {key: value for key, value in table.items() if not isinstance(value, dict)}, cast(dict[str, Any], own)


def _setting(action: argparse.Action, key: str, value: Any) -> Any:
    """Return a value as the option itself would have read it."""
    if action.nargs == 0 or isinstance(value, bool):
        if action.nargs == 0 and isinstance(value, bool):
            return value
        wanted = "true or false" if action.nargs == 0 else "text or a number"
        raise DataError(f"{key} must be {wanted}", path=PROJECT_FILE)
    values = [
        _converted(action, key, each) for each in cast(list[object], value if isinstance(value, list) else [value])
    ]
    takes_several = isinstance(action.default, list)
    if not takes_several and len(values) != 1:
        raise DataError(f"{key} takes one value, not a list", path=PROJECT_FILE)
    return values if takes_several else values[0]


def _converted(action: argparse.Action, key: str, value: object) -> Any:
    if isinstance(value, dict | list):
        raise DataError(f"{key} takes one value, not several in one", path=PROJECT_FILE)  # it may hold a password
    convert = action.type if callable(action.type) else str
    if "\0" in str(value):
        raise DataError(f"{key} holds a character that nothing can have", path=PROJECT_FILE)
    try:
        read = convert(str(value))
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise DataError(f"{key}: {error}", path=PROJECT_FILE) from None
    if action.choices is not None and read not in action.choices:
        raise DataError(f"{key}: {read!r} is none of {', '.join(map(str, action.choices))}", path=PROJECT_FILE)
    return read
