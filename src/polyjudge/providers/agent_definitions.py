"""Agent programs, as described by the files in `agent_programs/`."""

import os
import shutil
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from polyjudge.errors import DataError, MissingExtraError, MissingKeyError
from polyjudge.extras import install_command
from polyjudge.records.codec import from_json

_FOLDER = "agent_programs"


class Login(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Describes where a CLI stores the credentials of a user who has logged in instead of setting a key."""

    folder_variable: str
    """Environment variable with the CLI's own folder, if the user has moved it."""
    folder: str
    """Its default, within the home folder."""
    file: str
    """The file in it with the credentials, the only one that is copied."""
    files: Mapping[str, str] = {}
    """Used instead of the agent's own `files`."""


class AgentCli(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Describes how one CLI is found, called and read."""

    answers: str
    program: str
    dialect: str
    """The format of its stdin and stdout: a name in `agent_protocols.DIALECTS`."""
    arguments: tuple[str, ...]
    install: str = ""
    """The command that installs the program."""
    extra: str = ""
    """The extra of polyjudge that installs it too."""
    bundled: str = ""
    """`package:path` of a program that is included in a Python package."""
    model: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    """Arguments after all others."""
    without_tools: tuple[str, ...] = ()
    with_key: tuple[str, ...] = ()
    """Arguments that are passed with a key, but not with a login."""
    with_workspace: tuple[str, ...] = ()
    """Arguments that let it read only the files in its folder; empty for a CLI that cannot be confined."""
    most_characters: int | None = None
    most_bytes: int | None = None
    keys: tuple[str, ...] = ()
    """Environment variables that may contain its key."""
    key_example: str = "..."
    key_variable: str = ""
    """The variable that the CLI itself reads the key from; if empty, the same as ours."""
    base_url_variable: str = ""
    environment: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    """Files that are written to its private home folder before it starts."""
    login: Login | None = None
    at_once: int = 4
    """Maximum number of concurrent processes: each takes some hundred megabytes."""


def agent_names() -> list[str]:
    """Return the names of all described agents."""
    return sorted(entry.name.removesuffix(".toml") for entry in (files("polyjudge.providers") / _FOLDER).iterdir())


@lru_cache(maxsize=16)
def load_agent(name: str) -> AgentCli:
    """Return the description of an agent."""
    text = (files("polyjudge.providers") / _FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    try:
        return from_json(AgentCli, tomllib.loads(text))
    except DataError as error:
        raise DataError(str(error), path=f"{name}.toml") from None


def program_of(agent: AgentCli) -> Path:
    """Return the path of the program; if it is not installed, raise an error with the command to install it."""
    found = shutil.which(agent.program)
    if found is not None:
        return Path(found)
    package, _, inside = agent.bundled.partition(":")
    spec = find_spec(package) if package else None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / inside
        if os.access(path, os.X_OK):
            return path
    raise MissingExtraError(f"{agent.program} CLI not found. Install: {how_to_install(agent)}")


def how_to_install(agent: AgentCli) -> str:
    """Return the command that installs the program, or both if there are two."""
    return ", or ".join(filter(None, [install_command(agent.extra) if agent.extra else "", agent.install]))


def key_of(agent: AgentCli) -> tuple[str, str] | None:
    """Return the variable that the CLI reads its key from, and the key; None if no key is set."""
    for variable in agent.keys:
        key = os.environ.get(variable, "").strip()
        if key:
            return agent.key_variable or variable, key
    return None


def credential_of(agent: AgentCli) -> Path | None:
    """Return the file with the credentials of a login, if there is one."""
    if agent.login is None:
        return None
    moved = os.environ.get(agent.login.folder_variable, "").strip()
    folder = Path(moved) if moved else Path.home() / agent.login.folder
    path = folder / agent.login.file
    return path if path.is_file() else None


def need_access(agent: AgentCli, name: str) -> None:
    """Raise an error that names the key to set if there is neither a key nor a login."""
    if agent.keys and key_of(agent) is None and credential_of(agent) is None:
        raise MissingKeyError(agent.keys[0], example=agent.key_example, skipped=name)
