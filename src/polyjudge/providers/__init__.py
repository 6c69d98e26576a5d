"""Who answers: one file a provider, and the table of their names."""

from .access import Access
from .addresses import is_remote
from .base import Provider, close_provider
from .cached import CachedProvider, ReplayProvider
from .counting import Estimate
from .local_server import local_models
from .metering import Caps, Meter, MeteredProvider, Spent, most_tokens
from .naming import ModelName, Price, model_facts, model_table, resolve_model
from .pacing import Pace, PacedProvider, likely_tokens
from .prices import cost_usd, parse_price, price_of
from .retrying import RetryingProvider, RetryPolicy
from .scripted import ScriptedProvider, prompt_sha256
from .table import PROVIDERS, ProviderEntry, Readiness, check_workspace, open_provider, readiness

__all__ = [
    "PROVIDERS",
    "Access",
    "CachedProvider",
    "Caps",
    "Estimate",
    "Meter",
    "MeteredProvider",
    "ModelName",
    "Pace",
    "PacedProvider",
    "Price",
    "Provider",
    "ProviderEntry",
    "Readiness",
    "ReplayProvider",
    "RetryPolicy",
    "RetryingProvider",
    "ScriptedProvider",
    "Spent",
    "check_workspace",
    "close_provider",
    "cost_usd",
    "is_remote",
    "likely_tokens",
    "local_models",
    "model_facts",
    "model_table",
    "most_tokens",
    "open_provider",
    "parse_price",
    "price_of",
    "prompt_sha256",
    "readiness",
    "resolve_model",
]
