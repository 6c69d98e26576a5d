"""What the workers of the tests do; it imports little, because each worker imports it."""

import os
import signal
import time
import warnings
from pathlib import Path

from polyjudge.errors import ConfigError, DataError


def times(setup):
    return lambda chunk: [setup * each for each in chunk]


def of_which_process(_):
    return lambda chunk: [os.getpid() for _ in chunk]


def failing(setup):
    kind, number = setup

    def work(chunk):
        if number in chunk:
            if kind == "data":
                raise DataError("has no text", path=Path("texts.csv"), line=number)
            if kind == "config":
                raise ConfigError("too many", option="limit", value="3")
            raise ZeroDivisionError(f"at {number}")
        return list(chunk)

    return work


def warning(_):
    def work(chunk):
        warnings.warn("this check is old", UserWarning, stacklevel=1)
        return list(chunk)

    return work


def killed_once(setup):
    mark = Path(setup)

    def work(chunk):
        if not mark.exists():
            mark.write_text("", encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)
        return list(chunk)

    return work


def killed_always(_):
    def work(chunk):
        os.kill(os.getpid(), signal.SIGKILL)

    return work


def waiting(setup):
    folder, seconds = setup

    def work(chunk):
        (Path(folder) / str(os.getpid())).write_text("", encoding="utf-8")
        time.sleep(seconds)

    return work
