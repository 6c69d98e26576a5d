"""Keys from the `.env` file of the working folder, which may be untrusted; the real environment takes precedence.

Only known names are read: the keys, addresses and API versions of providers, and three settings. The address of a
vendor counts only together with a key from the same file, so that a key from the shell is never sent to an address that
a folder names. The address of a local server counts by itself, and then no key from the shell is sent to it.
"""

import os
import re
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from polyjudge.errors import ConfigError, DataError
from polyjudge.providers.registry import PROVIDERS, key_variables
from polyjudge.providers.services import address_variables, is_own_server, version_variables
from polyjudge.text.display import harmless

ENVIRONMENT_FILE = Path(".env")
_SETTINGS = ("JUDGE_MODEL", "POLYJUDGE_TEMPERATURE", "POLYJUDGE_TRANSLATOR_MODEL")
_PASSWORD = "PGPASSWORD"
_SENT_BESIDE_KEYS = (
    # SDKs send these from the environment with each call; they are removed for an address that the folder names.
    *("ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
)
_LARGEST = 1_000_000
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_QUOTED = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""", re.DOTALL)


def load_environment() -> None:
    """Take the known variables from `.env` that the environment lacks, and print their names."""
    if not ENVIRONMENT_FILE.is_file():
        return
    given = _read(ENVIRONMENT_FILE)
    addresses = address_variables()
    keys = set(chain.from_iterable(map(key_variables, PROVIDERS)))
    known = {*keys, *version_variables(), *_SETTINGS, _PASSWORD}
    taken = {name: given[name] for name in given if name in known and name not in os.environ}
    for name, providers in addresses.items():
        if given.get(name) and name not in os.environ:
            if any(map(is_own_server, providers)):
                continue
            _refuse_without_key(name, {key for each in providers for key in key_variables(each)}, given)
            taken[name] = given[name]
            for name_sent in _SENT_BESIDE_KEYS:
                os.environ.pop(name_sent, None)
    for server in filter(is_own_server, PROVIDERS):
        taken |= _own_server(server, given)
    os.environ.update(taken)
    if taken:
        shown = [f"{name}={harmless(taken[name])}" if name in addresses else name for name in sorted(taken)]
        print(f"polyjudge: from {ENVIRONMENT_FILE}: {', '.join(shown)}", file=sys.stderr)


def _refuse_without_key(address: str, keys: set[str], given: Mapping[str, str]) -> None:
    """Refuse an address to which a key from elsewhere would be sent."""
    own = sorted(key for key in keys if given.get(key))
    if not own:
        raise ConfigError(
            f"{ENVIRONMENT_FILE} sets {address} without a key for it, so a key from your shell would be sent there. "
            f"If that is what you want, run: export {address}=... ; otherwise remove the line."
        )
    others = sorted(key for key in keys if os.environ.get(key) and os.environ[key] != given.get(key))
    if others:
        raise ConfigError(
            f"{ENVIRONMENT_FILE} sets {address}, but {others[0]} in your shell takes precedence and would be sent "
            f"there. Unset {others[0]} to use the key in {ENVIRONMENT_FILE}, or remove {address} from it."
        )


def _own_server(server: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the address of a local server if the file names it; a key from the shell is then removed."""
    variables = [name for name, providers in address_variables().items() if server in providers]
    in_use = next((name for name in variables if os.environ.get(name) or given.get(name)), "")
    if not in_use or os.environ.get(in_use):
        return {}
    for key in key_variables(server):
        os.environ.pop(key, None)
    return {name: given[name] for name in (in_use, *key_variables(server)) if given.get(name)}


def _read(path: Path) -> dict[str, str]:
    """Return the variables of a file; the first of several with one name counts."""
    if path.stat().st_size > _LARGEST:
        raise DataError(f"larger than {_LARGEST:,} bytes, too large for a .env file; shorten or remove it", path=path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text; save it as UTF-8", path=path) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None or "\0" in line:
            raise DataError("expected NAME=VALUE.", path=path, line=number)  # the line is not shown: it may be a key
        found.setdefault(match[1], _unquoted(match[2]))
    return found


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return match[2] if match else re.split(r"\s+#", value, maxsplit=1)[0]
