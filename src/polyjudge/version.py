"""The version of polyjudge, from the file that a build writes, or else from the installed metadata."""

from importlib import import_module


def _version() -> str:
    try:
        return import_module("polyjudge._version").VERSION
    except ModuleNotFoundError:  # installed in another way
        from importlib.metadata import PackageNotFoundError, version  # slow to import

        try:
            return version("polyjudge")
        except PackageNotFoundError:  # a checkout that is not installed
            return "0+unknown"


__version__ = _version()
