"""What `opus` and `local/gemma3:12b` mean, and what is known of a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from polyjudge.errors import DataError, UnknownNameError
from polyjudge.files import from_json, read_toml
from polyjudge.folder_trust import private_path

USER_FILE = "models.toml"
"""The file in the private folder that holds a user's own models."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A provider and one of its models."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}" if self.model else self.provider


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost in USD."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of the models that fit a pattern."""

    fits: str = ""
    without: tuple[str, ...] = ()
    """Parameters that they do not take."""
    retired: str = ""
    successor: str = ""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class ModelTable:
    """Aliases, default models and facts, as the data file and the user's own hold them."""

    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    models: tuple[ModelFacts, ...] = ()


def resolve_model(name: str) -> ModelName:
    """Return what `name` stands for: an alias, `provider/model`, or a provider with its default model."""
    table = model_table()
    provider, _, model = table.aliases.get(name, name).partition("/")
    model = model or table.defaults.get(provider, "")
    if not provider or not model:
        raise UnknownNameError("model", name, [*table.aliases, *table.defaults, "PROVIDER/MODEL"])
    return ModelName(provider, model)


def model_facts(name: ModelName) -> ModelFacts:
    """Return what is known of a model; of most, nothing."""
    known = model_table().models
    return next((facts for facts in known if fnmatchcase(str(name), facts.fits)), ModelFacts())


def user_models() -> Path:
    """Return where a user's own models are described."""
    return private_path(USER_FILE)


def model_table() -> ModelTable:
    """Return the shipped table with the user's own laid over it."""
    shipped = _shipped_models()
    path = user_models()
    if not path.is_file():
        return shipped
    own = _read(path, path)
    return ModelTable(
        {**shipped.aliases, **own.aliases}, {**shipped.defaults, **own.defaults}, (*own.models, *shipped.models)
    )


@lru_cache(maxsize=1)
def _shipped_models() -> ModelTable:
    return _read(files("polyjudge.providers") / "models.toml", Path("models.toml"))


def _read(source: Path | Traversable, path: Path) -> ModelTable:
    data = read_toml(source, path=path)
    try:
        return from_json(ModelTable, data, strict=True)
    except DataError as error:
        raise DataError(str(error), path=path) from None
