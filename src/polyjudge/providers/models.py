"""Aliases, prices and other known facts about models."""

import json
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from msgspec import Struct

from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.text_files import read_toml
from polyjudge.folder_trust import private_path
from polyjudge.records.codec import from_json
from polyjudge.records.requests import ModelName, Price

from .services import is_own_server, name_in_prices

_PRICE_CACHE = "prices.json"
_FREE = Price(0.0, 0.0)
_SAMPLE_TOKENS = 1_000  # small, because prices of very long requests are higher


def price_of(name: ModelName) -> Price | None:
    """Return a model's price: 0 for the user's own server, None if it is unknown."""
    if not name.model:  # a translator over HTTP is not paid for by tokens
        return None
    own = model_facts(name).price
    if own is not None:
        return own
    if name.provider == "scripted" or is_own_server(name.provider):
        return _FREE
    return _price_in_genai_prices(name)


def _price_in_genai_prices(name: ModelName) -> Price | None:
    """Return a price from the package genai-prices, through a cache file: loading the package takes half a second."""
    from importlib.metadata import version  # slow to import, and local models need no prices

    edition = version("genai-prices")
    cached = _cached_prices(edition)
    if str(name) not in cached:
        cached[str(name)] = _from_genai_prices(name)
        with suppress(DataError), write_atomically(private_path(_PRICE_CACHE), force=True) as file:  # it may be lost
            json.dump({"edition": edition, "prices": cached}, file)
    found = cached[str(name)]
    return None if found is None else Price(*found)


def _cached_prices(edition: str) -> dict[str, list[float] | None]:
    try:
        data: Any = json.loads(private_path(_PRICE_CACHE).read_text(encoding="utf-8"))
        return dict(data["prices"]) if data["edition"] == edition else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _from_genai_prices(name: ModelName) -> list[float] | None:
    from genai_prices import Usage, calc_price  # here, because it takes longer to load than everything else

    try:
        sample = Usage(input_tokens=_SAMPLE_TOKENS, output_tokens=_SAMPLE_TOKENS)
        found = calc_price(sample, model_ref=name.model, provider_id=name_in_prices(name.provider))
    except LookupError:
        return None
    return [float(each) * 1e6 / _SAMPLE_TOKENS for each in (found.input_price, found.output_price)]


def parse_price(text: str) -> Price:
    """Parse a price given as `INPUT,OUTPUT` in USD per million tokens."""
    try:
        price = Price(*(float(part) for part in text.split(",", maxsplit=1)))
    except (ValueError, TypeError):
        price = None
    if price is None or not (0 <= price.input < float("inf") and 0 <= price.output < float("inf")):
        raise ConfigError(f"invalid price {text!r}; write INPUT,OUTPUT in USD per million tokens, such as 3,15")
    return price


def in_batches(price: Price | None) -> Price | None:
    """Return a model's price in batches, which is half of its price at every provider that has them."""
    return None if price is None else Price(price.input / 2, price.output / 2)


USER_FILE = "models.toml"
"""The file in the private folder with the user's own models."""


class ModelFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about the models that match a pattern."""

    fits: str = ""
    without: tuple[str, ...] = ()
    """Parameters that they do not accept."""
    retired: str = ""
    successor: str = ""
    price: Price | None = None


class ModelTable(Struct, frozen=True, forbid_unknown_fields=True):
    """Aliases, default models and facts, as in the shipped file and the user's own."""

    aliases: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    models: tuple[ModelFacts, ...] = ()


def resolve_model(name: str) -> ModelName:
    """Return the model of an alias, of `provider/model`, or of a provider with a default model."""
    table = model_table()
    provider, _, model = table.aliases.get(name, name).partition("/")
    model = model or table.defaults.get(provider, "")
    if not provider or not model:
        raise UnknownNameError("model", name, [*table.aliases, *table.defaults, "PROVIDER/MODEL"])
    return ModelName(provider, model)


def model_facts(name: ModelName) -> ModelFacts:
    """Return the facts about a model, which are empty for most models."""
    known, written = model_table().models, str(name)
    return next((facts for facts in known if fnmatchcase(written, facts.fits)), ModelFacts())


def user_models() -> Path:
    """Return the path of the file with the user's own models."""
    return private_path(USER_FILE)


def model_table() -> ModelTable:
    """Return the shipped table, overridden by the user's own."""
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
        return from_json(ModelTable, data)
    except DataError as error:
        raise DataError(str(error), path=path) from None
