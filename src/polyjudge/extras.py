"""Import an optional package, or say how to install it into the environment in use."""

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from polyjudge.errors import MissingExtraError

_NAME = "polyjudge"


def require(module: str, *, feature: str, extra: str) -> ModuleType:
    """Return the optional `module`; without it, raise an error that names the command to run."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # An installed package that is broken must show its own error, not ours.
        if error.name is None or module.partition(".")[0] != error.name.partition(".")[0]:
            raise
        raise MissingExtraError(
            f"{feature} needs the package {module!r}, which is not installed. Run: {install_command(extra)}"
        ) from None


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


@dataclass(frozen=True, slots=True)
class Installation:
    """The environment that polyjudge is installed in."""

    prefix: Path
    """The folder of the environment."""
    working_folder: Path
    search_path: str = ""
    """The folders in which a shell looks for programs."""
    origin: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What was installed if it was not a release: the content of `direct_url.json`."""
    has_pip: bool = True


def install_command(extra: str, installation: Installation | None = None) -> str:
    """Return the command that adds an extra to the environment in use."""
    found = installation or _installation()
    if (receipt := found.prefix / "uv-receipt.toml").is_file():
        return _again_as_a_uv_tool(extra, found, receipt)
    if (metadata := found.prefix / "pipx_metadata.json").is_file():
        package = json.loads(metadata.read_text(encoding="utf-8")).get("main_package", {}).get("package_or_url", "")
        return f"pipx install --force {_requirement([*_extras_of(package), extra], found)}"
    if "archive-v0" in found.prefix.parts:  # what uvx runs is not installed
        return f"uvx --from {_requirement([extra], found)} {_NAME}"
    project = found.prefix.parent
    if found.prefix.name == ".venv" and (project / "uv.lock").is_file():
        is_there = project in (found.working_folder, *found.working_folder.parents)
        where = "" if is_there else f" --project {shlex.quote(str(project))}"
        is_own = _is_editable(found) and _origin_path(found) == project
        # Without --inexact, uv would remove the other extras.
        return f"uv sync{where} --inexact --extra {extra}" if is_own else f"uv add{where} {_requirement([extra])}"
    editable = _is_editable(found)
    return f"{_installer(found)} {'-e ' if editable else ''}{_requirement([extra], found if editable else None)}"


def _installation() -> Installation:
    """Return the facts of this process."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import

    origin: dict[str, Any] = {}
    with suppress(PackageNotFoundError):
        origin = json.loads(distribution(_NAME).read_text("direct_url.json") or "{}")
    path = os.environ.get("PATH", "")
    return Installation(Path(sys.prefix), Path.cwd(), path, origin, has_pip=is_installed("pip"))


def _again_as_a_uv_tool(extra: str, found: Installation, receipt: Path) -> str:
    """Return the command that installs the tool again, with the extras and other packages that it has now."""
    requirements = tomllib.loads(receipt.read_text(encoding="utf-8")).get("tool", {}).get("requirements", [])
    extras = [name for each in requirements if each.get("name") == _NAME for name in each.get("extras", [])]
    others = "".join(f" --with {shlex.quote(each['name'])}" for each in requirements if each.get("name") != _NAME)
    editable = "--editable " if _is_editable(found) else ""
    return f"uv tool install {editable}{_requirement([*extras, extra], found)}{others}"


def _installer(found: Installation) -> str:
    """Return the program that installs into an environment which no tool manages."""
    programs = found.prefix / ("Scripts" if sys.platform == "win32" else "bin")
    python = shlex.quote(_shown(programs / "python", found))
    if not found.has_pip:
        is_default = found.prefix == found.working_folder / ".venv"
        return "uv pip install" if is_default else f"uv pip install --python {python}"
    pip = shutil.which("pip", path=found.search_path)
    return "pip install" if pip is not None and Path(pip).parent == programs else f"{python} -m pip install"


def _requirement(extras: Iterable[str], found: Installation | None = None) -> str:
    """Return what to install: the release, or with `found` where it was installed from."""
    named = f"[{','.join(dict.fromkeys(extras))}]"
    path = _origin_path(found) if found is not None else None
    if found is not None and path is not None:
        shown = _shown(path, found)
        return shlex.quote(f"{shown if shown.startswith(('/', '.')) else f'./{shown}'}{named}")
    version_control = found.origin.get("vcs_info", {}).get("vcs") if found is not None else None
    url = f" @ {version_control}+{found.origin.get('url', '')}" if found is not None and version_control else ""
    return shlex.quote(f"{_NAME}{named}{url}")


def _origin_path(found: Installation) -> Path | None:
    parts = urlsplit(str(found.origin.get("url", "")))
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _is_editable(found: Installation) -> bool:
    return bool(found.origin.get("dir_info", {}).get("editable"))


def _shown(path: Path, found: Installation) -> str:
    """Return a path, relative to the working folder if it is inside."""
    is_inside = path.is_relative_to(found.working_folder)
    return str(path.relative_to(found.working_folder)) if is_inside else str(path)


def _extras_of(requirement: str) -> list[str]:
    _, _, rest = requirement.partition("[")
    return [name.strip() for name in rest.partition("]")[0].split(",") if name.strip()]
