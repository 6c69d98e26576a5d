"""Import an optional package, or say what to install."""

from importlib import import_module
from types import ModuleType

from polyjudge.errors import MissingExtraError


def require(module: str, *, feature: str, extra: str) -> ModuleType:
    """Return the optional `module`; without it, raise an error that names the command to run."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # An installed package that is broken must show its own error, not ours.
        if error.name is None or module.partition(".")[0] != error.name.partition(".")[0]:
            raise
        raise MissingExtraError(
            f"{feature} needs the package {module!r}, which is not installed. Run: pip install 'polyjudge[{extra}]'"
        ) from None
