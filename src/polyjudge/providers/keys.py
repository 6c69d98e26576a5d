"""Keys come from the environment; one that is missing is explained before anything is opened."""

import os

from polyjudge.errors import ConfigError, MissingKeyError

from .naming import ModelName


def key_for(name: ModelName, *variables: str, example: str) -> str:
    """Return the first of the variables that is set; without one, raise an error with the two-line instruction."""
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if key:
            return checked_key(key, variable)
    raise MissingKeyError(variables[0], example=example, skipped=str(name))


def checked_key(key: str, variable: str) -> str:
    """Return a key that can stand in a header; the message does not show it."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{variable} holds characters that no key has; copy it anew")
    return key
