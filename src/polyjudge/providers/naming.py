"""What `opus` and `local/gemma3:12b` mean."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from polyjudge.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class ModelName:
    """A provider and one of its models."""

    provider: str
    model: str


def resolve_model(name: str) -> ModelName:
    """Return the provider and model that `name` stands for: an alias, or `provider/model`."""
    known = _aliases()
    provider, slash, model = known.get(name, name).partition("/")
    if not slash or not provider or not model:
        raise UnknownNameError("model", name, [*known, "PROVIDER/MODEL"])
    return ModelName(provider, model)


@cache
def _aliases() -> dict[str, str]:
    text = (files("polyjudge.providers") / "models.toml").read_text(encoding="utf-8")
    return dict(tomllib.loads(text)["aliases"])
