"""Keys come from the environment; one that is missing is explained before anything is opened."""

import os

from polyjudge.errors import MissingKeyError

from .naming import ModelName


def key_for(name: ModelName, *variables: str, example: str) -> str:
    """Return the first of the variables that is set; without one, raise an error with the two-line instruction."""
    for variable in variables:
        if os.environ.get(variable):
            return os.environ[variable]
    first = variables[0]
    raise MissingKeyError(f"{first} not set — skipping {name}.\nTo enable: export {first}={example}")
