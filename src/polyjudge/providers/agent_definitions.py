"""Agent programs as described by the files in `agents/`."""

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
from polyjudge.records.codec import from_json

_FOLDER = "agent_programs"


class Login(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How somebody is known who logged in to the CLI instead of setting a key."""

    folder_variable: str
    """Names the CLI's own folder, where the user moved it."""
    folder: str
    """Where it is else, within the home folder."""
    file: str
    """The one file of it that is copied."""
    files: Mapping[str, str] = {}
    """Instead of the agent's own `files`."""


class AgentCli(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one CLI is found, called and read."""

    answers: str
    program: str
    install: str
    dialect: str
    """How its stdin is written and its stdout read: a name in `agent_dialects`."""
    arguments: tuple[str, ...]
    bundled: str = ""
    """`package:path` of a program that comes inside a Python package."""
    model: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    """What must stand after all other arguments."""
    without_tools: tuple[str, ...] = ()
    with_key: tuple[str, ...] = ()
    """Arguments that a CLI takes with a key and not with a login."""
    with_workspace: tuple[str, ...] = ()
    """What lets it read the files in its folder and no others; empty for a CLI that cannot be confined so."""
    most_characters: int | None = None
    most_bytes: int | None = None
    keys: tuple[str, ...] = ()
    """Variables of ours that may hold its key."""
    key_example: str = "..."
    key_variable: str = ""
    """What the CLI itself calls the key; the same as ours where it is empty."""
    base_url_variable: str = ""
    environment: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    """What is written into its private home folder before it starts."""
    login: Login | None = None
    at_once: int = 4
    """Processes at the same time at most: each takes some hundred megabytes."""


def agent_names() -> list[str]:
    """Return the agents that are described."""
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
    """Return where the program is; without one, raise an error that names the command to install it."""
    found = shutil.which(agent.program)
    if found is not None:
        return Path(found)
    package, _, inside = agent.bundled.partition(":")
    spec = find_spec(package) if package else None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / inside
        if os.access(path, os.X_OK):
            return path
    raise MissingExtraError(f"{agent.program} CLI not found. Install: {agent.install}")


def key_of(agent: AgentCli) -> tuple[str, str] | None:
    """Return the name that the CLI has for its key, and the key; None where there is none."""
    for variable in agent.keys:
        key = os.environ.get(variable, "").strip()
        if key:
            return agent.key_variable or variable, key
    return None


def credential_of(agent: AgentCli) -> Path | None:
    """Return the file by which the CLI knows who logged in, if somebody did."""
    if agent.login is None:
        return None
    moved = os.environ.get(agent.login.folder_variable, "").strip()
    folder = Path(moved) if moved else Path.home() / agent.login.folder
    path = folder / agent.login.file
    return path if path.is_file() else None


def need_access(agent: AgentCli, name: str) -> None:
    """Raise an error that names the key to set, where there is neither a key nor a login."""
    if agent.keys and key_of(agent) is None and credential_of(agent) is None:
        raise MissingKeyError(agent.keys[0], example=agent.key_example, skipped=name)
