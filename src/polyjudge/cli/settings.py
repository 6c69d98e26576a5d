"""Settings from `polyjudge.toml`, and keys from `.env`; the command line and the real environment win."""

import argparse
import os
import re
import tomllib
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError

PROJECT_FILE = Path("polyjudge.toml")
ENVIRONMENT_FILE = Path(".env")
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_QUOTED = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""", re.DOTALL)


def load_environment() -> None:
    """Take variables from the working folder's `.env` that the environment does not hold."""
    if not ENVIRONMENT_FILE.is_file():
        return
    for number, line in enumerate(ENVIRONMENT_FILE.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            raise DataError("is not NAME=VALUE", path=ENVIRONMENT_FILE, line=number)  # never the line: it may be a key
        os.environ.setdefault(match[1], _unquoted(match[2]))


def apply_project_file(parser: argparse.ArgumentParser, command: str) -> None:
    """Make what `polyjudge.toml` says the parser's defaults: its top level, then its table of the command's name."""
    if not PROJECT_FILE.is_file():
        return
    try:
        data = tomllib.loads(PROJECT_FILE.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"is not TOML: {error}", path=PROJECT_FILE) from None
    general = {key: value for key, value in data.items() if not isinstance(value, dict)}
    own = data.get(command, {})
    actions = {action.dest: action for action in parser._actions}  # pyright: ignore[reportPrivateUsage]
    for key, value in {**general, **own}.items():
        name = key.replace("-", "_")
        if name in actions:
            parser.set_defaults(**{name: _setting(actions[name], key, value)})
        elif key in own:
            raise DataError(f"[{command}] has an unknown key {key!r}", path=PROJECT_FILE)


def _setting(action: argparse.Action, key: str, value: Any) -> Any:
    """Return a value as the option itself would have read it."""
    if action.nargs == 0 or isinstance(value, bool):
        if action.nargs == 0 and isinstance(value, bool):
            return value
        wanted = "true or false" if action.nargs == 0 else "text or a number"
        raise DataError(f"{key} must be {wanted}", path=PROJECT_FILE)
    if isinstance(value, list):
        return [_converted(action, key, each) for each in cast(list[object], value)]
    return _converted(action, key, value)


def _converted(action: argparse.Action, key: str, value: object) -> Any:
    convert = action.type if callable(action.type) else str
    try:
        read = convert(str(value))
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise DataError(f"{key}: {error}", path=PROJECT_FILE) from None
    if action.choices is not None and read not in action.choices:
        raise DataError(f"{key}: {read!r} is none of {', '.join(map(str, action.choices))}", path=PROJECT_FILE)
    return read


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return match[2] if match else re.split(r"\s+#", value, maxsplit=1)[0]
