"""Which polyjudge this is."""

from importlib.metadata import PackageNotFoundError, version


def _version() -> str:
    try:
        return version("polyjudge")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0+unknown"


__version__ = _version()
