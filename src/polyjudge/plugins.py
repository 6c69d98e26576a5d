"""The names that other packages add, in one table that all registries read.

A name comes from an entry point of an installed package (group `polyjudge.checks`, for example) or from a decorator of
`polyjudge.register`. Each registry looks up its own built-in names first, so that commands with built-in names only do
not read the entry points.
"""

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from polyjudge.errors import ConfigError, PolyjudgeError

Group = Literal["providers", "judges", "checks", "perturbations", "formats", "languages"]
GROUPS: tuple[Group, ...] = get_args(Group)
_PREFIX = "polyjudge."
_LONGEST = 300
_ONE_OF = {
    "providers": "provider",
    "judges": "judge",
    "checks": "check",
    "perturbations": "perturbation",
    "formats": "format",
    "languages": "language table",
}


class PluginWarning(UserWarning):
    """A plugin cannot be used; commands that do not need it work as usual."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One name that a package, or the caller's code, adds."""

    group: Group
    name: str
    package: str = ""
    """The package that adds it; empty if it was registered from Python."""
    version: str = ""
    place: str = ""
    """`module:attribute` of the entry point."""
    problem: str = ""
    """Why it cannot be used."""

    def __str__(self) -> str:
        origin = f"of {self.package} {self.version}" if self.package else "registered from Python"
        return f"the {_ONE_OF[self.group]} {self.name!r} {origin}"


Key = tuple[Group, str]
Offers = dict[Key, "list[tuple[Plugin, Callable[[], object]]]"]
"""The plugins of installed packages by name, each with a function that imports it; the first one is used."""


class Plugins:
    """Plugins by group and name; entry points are read, and modules imported, on first use."""

    def __init__(self) -> None:
        self._registered: dict[Key, object] = {}
        self._offers: Offers | None = None
        self._loaded: dict[Key, object] = {}
        self._warned: set[str] = set()

    @property
    def is_read(self) -> bool:
        """Whether the entry points were read."""
        return self._offers is not None

    @property
    def are_of_packages(self) -> bool:
        """Whether another process finds all of them: none was registered from Python."""
        return not self._registered

    def add(self, group: Group, name: str, target: object) -> None:
        """Register a name from Python; it is used instead of an entry point of the same name."""
        if not name.isprintable() or not name or set(name) & set("/, "):
            raise ConfigError(
                f"Invalid plugin name {name!r}. A name has no spaces, commas or slashes, and is not empty."
            )
        self._registered[group, name] = target

    def remove(self, group: Group, name: str) -> None:
        """Remove a name that was registered from Python."""
        self._registered.pop((group, name), None)

    def names(self, group: Group, built_in: Collection[str] = ()) -> list[str]:
        """Return the names of a group without importing anything; warn of built-in names and leave them out."""
        found = self._names(group)
        for name in found:
            if name in built_in:
                self._warn_once(f"{self.plugin(group, name)} is not used: {_TAKEN}")
        return [name for name in found if name not in built_in]

    def plugin(self, group: Group, name: str) -> Plugin:
        """Return the plugin with a name."""
        key = (group, name)
        return Plugin(group, name) if key in self._registered else self._offered()[key][0][0]

    def load(self, group: Group, name: str) -> object:
        """Return the object of one of the `names`; a plugin that cannot be imported is a `ConfigError`."""
        key = (group, name)
        if key in self._registered:
            return self._registered[key]
        if key not in self._loaded:
            plugin, imported = self._offered()[key][0]
            try:
                self._loaded[key] = imported()
            except Exception as error:  # other packages' code may raise anything when imported
                raise ConfigError(f"{plugin} cannot be loaded: {described(error)}") from error
        return self._loaded[key]

    def make(self, group: Group, name: str, *arguments: object) -> object:
        """Load a function or class and call it; a failure is a `ConfigError`."""
        function = self.load(group, name)
        try:
            return cast(Callable[..., object], function)(*arguments)
        except PolyjudgeError:
            raise
        except Exception as error:
            raise ConfigError(f"{self.plugin(group, name)} failed: {described(error)}") from error

    def each(self, group: Group, built_in: Collection[str] = ()) -> Iterator[tuple[Plugin, object]]:
        """Yield the plugins of a group that can be loaded; warn of the others."""
        for name in self.names(group, built_in):
            try:
                yield self.plugin(group, name), self.load(group, name)
            except ConfigError as error:
                self._warn_once(str(error))

    def warn(self, plugin: Plugin, problem: str) -> None:
        """Warn of a plugin, once per problem."""
        self._warn_once(f"{plugin} {problem}")

    def installed(self, built_in: Mapping[Group, Collection[str]]) -> list[Plugin]:
        """Import all plugins, and return each with its problem, if any."""
        found: list[Plugin] = []
        for group in GROUPS:
            for name in self._names(group):
                used = self.plugin(group, name)
                problem = _TAKEN if name in built_in.get(group, ()) else self._load_problem(group, name)
                others = [plugin for plugin, _ in self._offered().get((group, name), []) if plugin != used]
                found.append(replace(used, problem=problem))
                found += [replace(each, problem=f"not used: {used} has the same name") for each in others]
        return found

    def _names(self, group: Group) -> list[str]:
        return sorted({name for kind, name in (*self._registered, *self._offered()) if kind == group})

    def _load_problem(self, group: Group, name: str) -> str:
        try:
            self.load(group, name)
        except ConfigError as error:
            return described(error.__cause__ or error)
        return ""

    def _offered(self) -> Offers:
        if self._offers is None:
            self._offers = _installed_offers()
            for (used, _), *others in self._offers.values():
                for other, _ in others:
                    self._warn_once(f"{other} is not used: {used} has the same name")
        return self._offers

    def _warn_once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warnings.warn(message, PluginWarning, stacklevel=3)


_TAKEN = "the name is built in"


def described(error: BaseException) -> str:
    """Return the class and message of an exception from other packages' code."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:_LONGEST]}" if text else type(error).__name__


def _installed_offers() -> Offers:
    """Read the entry points of all installed packages, each package once.

    `python -m` puts the working folder on the path. It may be untrusted, so packages in it are not used.
    """
    from importlib.metadata import distributions  # here, because most commands use built-in names only

    here = Path.cwd().resolve()
    found: Offers = {}
    packages: set[str] = set()
    for distribution in distributions(path=[place for place in sys.path if Path(place).resolve() != here]):
        if _PREFIX not in (distribution.read_text("entry_points.txt") or ""):  # most packages: parsing is not needed
            continue
        package, version = distribution.metadata["Name"], distribution.version
        if package in packages:
            continue
        packages.add(package)
        for entry in distribution.entry_points:
            group = entry.group.removeprefix(_PREFIX)
            if entry.group.startswith(_PREFIX) and group in GROUPS:
                plugin = Plugin(group, entry.name, package, version, entry.value)
                found.setdefault((group, entry.name), []).append((plugin, entry.load))
    return {key: sorted(offers, key=lambda offer: offer[0].package) for key, offers in sorted(found.items())}


PLUGINS = Plugins()
"""The plugins of this process."""
