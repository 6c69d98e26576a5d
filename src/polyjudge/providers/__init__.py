"""Who answers: one file a provider, and the table of their names."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .access import Access
    from .addresses import address_of, address_variables, chosen_addresses, is_remote, origin_of, use_addresses
    from .agent_cli import NOT_IN_WORKSPACE
    from .base import Provider, close_provider
    from .batch_clients import BatchClient, BatchLimits, BatchStatus
    from .batch_patience import BatchPatience
    from .batches import Batches, BatchProgress
    from .cached import CachedProvider, ReplayProvider
    from .counting import Estimate
    from .local_server import local_models
    from .metering import Caps, Meter, MeteredProvider, Spent, most_tokens
    from .naming import ModelName, Price, model_facts, model_table, resolve_model, user_models
    from .pacing import Pace, PacedProvider, likely_tokens
    from .prices import cost_usd, parse_price, price_of
    from .retrying import RetryingProvider, RetryPolicy
    from .scripted import ScriptedProvider, prompt_sha256
    from .table import (
        PROVIDERS,
        ProviderEntry,
        Readiness,
        check_workspace,
        key_variables,
        need_batches,
        open_batch_client,
        open_provider,
        readiness,
    )

__all__ = [
    "NOT_IN_WORKSPACE",
    "PROVIDERS",
    "Access",
    "BatchClient",
    "BatchLimits",
    "BatchPatience",
    "BatchProgress",
    "BatchStatus",
    "Batches",
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
    "address_of",
    "address_variables",
    "check_workspace",
    "chosen_addresses",
    "close_provider",
    "cost_usd",
    "is_remote",
    "key_variables",
    "likely_tokens",
    "local_models",
    "model_facts",
    "model_table",
    "most_tokens",
    "need_batches",
    "open_batch_client",
    "open_provider",
    "origin_of",
    "parse_price",
    "price_of",
    "prompt_sha256",
    "readiness",
    "resolve_model",
    "use_addresses",
    "user_models",
]

lazily(__name__)
