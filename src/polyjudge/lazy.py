"""Packages whose modules are loaded on first use: who asks for one name must not wait for all the others.

Such a package imports its names under `if TYPE_CHECKING:`, for people and type checkers to read. At run time that very
block is the table of where each name is found, so nothing is written twice.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

_IMPORT = re.compile(r"^    from \.(\w+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NAME = re.compile(r"\w+")


def lazily(package: str) -> None:
    """Have a package find its names in the modules that its import block names."""
    module = sys.modules[package]
    block = Path(str(module.__file__)).read_text(encoding="utf-8")
    module.__dict__["_homes"] = {name: home for home, names in _IMPORT.findall(block) for name in _NAME.findall(names)}
    module.__class__ = _LazyPackage


class _LazyPackage(ModuleType):
    _homes: dict[str, str]

    def __getattr__(self, name: str) -> object:
        home = self._homes.get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{self.__name__}.{home}"), name)
        setattr(self, name, value)  # the next time nobody asks here
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """Keep a module from taking the name of what it is the home of, as it would when it is loaded."""
        if not (isinstance(value, ModuleType) and name in self._homes):
            super().__setattr__(name, value)
