"""The JSON Schemas that ship with polyjudge: one for each kind of file it reads and writes."""

import json
from importlib.resources import files
from typing import Any, cast

from polyjudge.errors import UnknownNameError


def schema_names() -> list[str]:
    """Return the names of the schemas."""
    folder = files("polyjudge.files") / "schemas"
    return sorted(entry.name.removesuffix(".schema.json") for entry in folder.iterdir())


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of file, such as 'outcome'."""
    if name not in schema_names():
        raise UnknownNameError("JSON Schema", name, schema_names())
    text = (files("polyjudge.files") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return cast(dict[str, Any], json.loads(text))
