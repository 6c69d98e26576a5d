"""The services that are called over the network: their addresses and API keys, from the table `services.toml`."""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from urllib.parse import quote, urlsplit

from msgspec import Struct, convert

from polyjudge.errors import ConfigError, MissingKeyError
from polyjudge.files.text_files import read_toml
from polyjudge.records.requests import ModelName, Origin

NO_KEY = "none"
"""The key that is sent to a server that needs none."""


class Service(Struct, frozen=True, forbid_unknown_fields=True):
    """One service, a row of the table."""

    answers: str
    """Its description."""
    api: str
    """Its API: `anthropic`, `google`, `openai`, or `chat` for OpenAI-compatible chat completions."""
    address: str
    """Its address; empty if each user has another one, which a variable must then contain."""
    address_variables: tuple[str, ...]
    """Environment variables that may contain another address, in order of precedence."""
    keys: tuple[str, ...]
    """Environment variables that may contain the key, in order of precedence."""
    key_example: str = "..."
    own_server: bool = False
    """The user runs it: it needs no key, costs nothing, and `.env` may set its address without one."""
    agents: tuple[str, ...] = ()
    """Agents' command-line programs that call the same service."""
    path: str = ""
    """The path of the API, for variables that contain a host alone."""
    address_example: str = ""
    start: str = ""
    """The command that starts the server."""
    model_example: str = ""
    key_header: str = ""
    """The header of the key; by default `Authorization`, as a bearer token."""
    max_tokens_as: str = ""
    """Its name of the limit of tokens, if it is not `max_tokens`; not in a dated version of its API."""
    prices: str = ""
    """Its name in the package genai-prices, if it is another one."""
    version_variable: str = ""
    """An environment variable with the version of the API. If that is a date, the two fields below apply."""
    dated_path: str = ""
    dated_request: str = ""
    """The path of a request, with the placeholders {model} and {version}."""

    @property
    def dated_version(self) -> str:
        """The dated version of the API that is asked for; empty for the current one."""
        version = os.environ.get(self.version_variable, "").strip() if self.version_variable else ""
        return version if version[:1].isdigit() else ""


@lru_cache(maxsize=1)
def services() -> Mapping[str, Service]:
    """Return the services by the names of their providers."""
    return convert(read_toml(files("polyjudge.providers") / "services.toml"), dict[str, Service])


def _service_of(provider: str) -> Service | None:
    """Return the service that a provider or an agent calls."""
    table = services()
    return table.get(provider) or next((each for each in table.values() if provider in each.agents), None)


def name_in_prices(provider: str) -> str:
    """Return the name that the package genai-prices has for the service that a provider or an agent calls."""
    found = next((name for name, each in services().items() if provider in (name, *each.agents)), provider)
    return services()[found].prices or found if found in services() else found


def origin_of(provider: str) -> Origin:
    """Return the origin of a provider's replies, without opening it."""
    service = _service_of(provider)
    if service is None:
        raise KeyError(provider)
    variables = service.address_variables
    variable = next((name for name in variables if os.environ.get(name, "").strip()), "")
    if not variable and not service.address:
        raise MissingKeyError(variables[0], example=service.address_example, skipped=provider)
    try:
        address = _completed(os.environ[variable].strip(), service) if variable else service.address
        parts = urlsplit(address)
        _ = parts.port, (parts.hostname or "").encode("idna")
    except ValueError:
        address, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{variable} is not an address of the form http://host or https://host/path")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(f"{variable} must have no user name, query or fragment: http://host or https://host/path")
    return Origin(provider, address.rstrip("/"))


def _completed(address: str, service: Service) -> str:
    """Return an address with the scheme, port and path that users leave out: `localhost:11434`."""
    if not address or not service.path:
        return address
    if "://" not in address:
        usual = urlsplit(service.address)
        has_port = re.search(r"(?::\d+|/.*)$", address) is not None
        port = "" if has_port or not usual.port else f":{usual.port}"
        address = f"{usual.scheme or 'https'}://{address}{port}"
    if urlsplit(address).path.strip("/"):
        return address
    return address.rstrip("/") + (service.dated_path if service.dated_version else service.path)


def address_of(provider: str) -> str:
    """Return the address of a provider; empty if it has none, or if none is set yet."""
    try:
        return origin_of(provider).base_url if is_remote(provider) else ""
    except MissingKeyError:
        return ""


def chat_path(name: ModelName, base_url: str) -> str:
    """Return the path of a request for chat completions, after the base URL."""
    service = services()[name.provider]
    version = service.dated_version
    if not version or not base_url.endswith(service.dated_path):
        return "/chat/completions"
    return service.dated_request.format(model=quote(name.model, safe=""), version=quote(version, safe=""))


def max_tokens_name(provider: str) -> str:
    """Return the name of the limit of tokens in a request for chat completions."""
    service = services().get(provider)
    return service.max_tokens_as if service and service.max_tokens_as and not service.dated_version else "max_tokens"


def key_headers(name: ModelName, key: str) -> dict[str, str]:
    """Return the header with the key of a service with OpenAI-compatible chat completions."""
    header = services()[name.provider].key_header
    return {header: key} if header else {"Authorization": f"Bearer {key}"}


def is_remote(provider: str) -> bool:
    """Return whether a provider is reached over the network."""
    return _service_of(provider) is not None


def is_own_server(provider: str) -> bool:
    """Return whether a provider is a server that the user runs."""
    return provider in services() and services()[provider].own_server


def address_variables() -> dict[str, tuple[str, ...]]:
    """Return the providers whose address each environment variable sets."""
    providers: dict[str, tuple[str, ...]] = {}
    for provider, service in services().items():
        for variable in service.address_variables:
            providers[variable] = (*providers.get(variable, ()), provider, *service.agents)
    return providers


def chosen_addresses() -> dict[str, str]:
    """Return the environment variables that set other addresses than the default ones, for `use_addresses`."""
    return {name: os.environ[name] for name in _of_addresses() if os.environ.get(name)}


def use_addresses(chosen: Mapping[str, str]) -> None:
    """Use the same addresses of all providers as another process, which has called `chosen_addresses`."""
    for name in _of_addresses():
        os.environ.pop(name, None)
    os.environ.update(chosen)


def version_variables() -> set[str]:
    """Return the environment variables that set the version of a service's API."""
    return {each.version_variable for each in services().values() if each.version_variable}


def _of_addresses() -> set[str]:
    return {*address_variables(), *version_variables()}


def key_for(name: ModelName) -> str:
    """Return the key of a provider, from the first of its variables that is set.

    Without one, return `NO_KEY` for the user's own server, and raise `MissingKeyError` for other services.
    """
    service = services()[name.provider]
    for variable in service.keys:
        key = os.environ.get(variable, "").strip()
        if key:
            return _checked_key(key, variable)
    if service.own_server:
        return NO_KEY
    raise MissingKeyError(service.keys[0], example=service.key_example, skipped=str(name))


def _checked_key(key: str, variable: str) -> str:
    """Return the key if it is valid in a header; the error message does not show it."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{variable} contains characters that are not valid in a key; copy the key again")
    return key
