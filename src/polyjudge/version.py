"""The version of polyjudge."""

from importlib.metadata import PackageNotFoundError, version


def _version() -> str:
    try:
        return version("polyjudge")
    except PackageNotFoundError:  # a checkout that is not installed
        return "0+unknown"


__version__ = _version()
