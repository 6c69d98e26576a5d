"""The table of services, and that one row adds a service."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import polyjudge
from polyjudge.errors import ConfigError, MissingKeyError
from polyjudge.providers.models import price_of
from polyjudge.providers.registry import PROVIDERS, key_variables
from polyjudge.providers.services import (
    NO_KEY,
    address_of,
    address_variables,
    chat_path,
    is_own_server,
    key_for,
    name_in_prices,
    origin_of,
    services,
)
from polyjudge.records.requests import ModelName

ROW = """
[acme]
answers = "Acme's models"
api = "chat"
address = "https://api.acme.example/v1"
address_variables = ["ACME_BASE_URL"]
keys = ["ACME_API_KEY"]
key_example = "acme-..."
"""


def test_every_row_is_a_provider_with_its_key_and_address(monkeypatch):
    for name, service in services().items():
        for variable in (*service.keys, *service.address_variables):
            monkeypatch.delenv(variable, raising=False)
        assert key_variables(name) == service.keys
        assert address_of(name) == service.address
        assert PROVIDERS[name].answers == service.answers
        assert PROVIDERS[name].needs_key != service.own_server
        assert all(PROVIDERS[agent].is_agent for agent in service.agents)
        assert all(name in address_variables()[variable] for variable in service.address_variables)


def test_only_an_own_server_shares_no_key_and_needs_none(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.delenv("LOCAL_OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    assert is_own_server("local")
    assert not is_own_server("openai")
    assert key_for(ModelName("local", "m")) == NO_KEY
    assert key_for(ModelName("openai", "m")) == "sk-of-openai"
    with pytest.raises(MissingKeyError, match="export ANTHROPIC_API_KEY=sk-ant-"):
        key_for(ModelName("anthropic", "m"))
    monkeypatch.setenv("OPENAI_API_KEY", "a b")
    with pytest.raises(ConfigError, match="OPENAI_API_KEY contains characters"):
        key_for(ModelName("openai", "m"))


def test_no_two_services_share_a_key_or_a_variable_for_their_address():
    for what in ("keys", "address_variables"):
        names = [name for service in services().values() for name in getattr(service, what)]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("variable", "given", "provider", "address"),
    [
        ("OLLAMA_HOST", "192.168.1.5", "ollama", "http://192.168.1.5:11434/v1"),
        ("OLLAMA_HOST", "gpu:8000", "ollama", "http://gpu:8000/v1"),
        ("OLLAMA_HOST", "[::1]", "ollama", "http://[::1]:11434/v1"),
        ("OLLAMA_HOST", "https://ollama.example", "ollama", "https://ollama.example/v1"),
        ("OLLAMA_BASE_URL", "http://gpu:11434/v1/", "ollama", "http://gpu:11434/v1"),
        ("VLLM_BASE_URL", "http://gpu:8000/", "vllm", "http://gpu:8000/v1"),
        ("LMSTUDIO_BASE_URL", "localhost", "lmstudio", "http://localhost:1234/v1"),
        ("LLAMACPP_BASE_URL", "http://gpu/prefix/v1", "llamacpp", "http://gpu/prefix/v1"),
        ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/", "azure", "https://r.openai.azure.com/openai/v1"),
        ("AZURE_OPENAI_ENDPOINT", "r.openai.azure.com", "azure", "https://r.openai.azure.com/openai/v1"),
        ("AZURE_OPENAI_BASE_URL", "https://r.example/openai/v1", "azure", "https://r.example/openai/v1"),
        ("LOCAL_OPENAI_BASE_URL", "http://gpu:8000", "local", "http://gpu:8000"),
    ],
)
def test_an_address_may_lack_what_people_leave_out(monkeypatch, variable, given, provider, address):
    monkeypatch.setenv(variable, given)

    assert origin_of(provider).base_url == address


@pytest.mark.parametrize("given", ["http://", "ftp://host", "http://u:p@host", "http://[::1", "http://host?x=1"])
@pytest.mark.parametrize("variable", ["OLLAMA_HOST", "AZURE_OPENAI_ENDPOINT", "GROQ_BASE_URL"])
def test_an_address_that_is_none_names_its_variable_and_not_its_value(monkeypatch, variable, given):
    monkeypatch.setenv(variable, given)
    [provider] = address_variables()[variable]

    with pytest.raises(ConfigError) as caught:
        origin_of(provider)

    assert str(caught.value).startswith(f"{variable} ")
    assert given.removeprefix("http://") not in str(caught.value) or given == "http://"


def test_azure_needs_the_address_of_a_resource_and_takes_a_dated_version(monkeypatch):
    for name in ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    model = ModelName("azure", "my gpt/5?x")

    assert address_of("azure") == ""
    with pytest.raises(MissingKeyError, match=r"export AZURE_OPENAI_ENDPOINT=https://RESOURCE\.openai\.azure\.com"):
        origin_of("azure")

    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com")
    for version, address, path in (
        ("", "/openai/v1", "/chat/completions"),
        ("preview", "/openai/v1", "/chat/completions"),
        ("2024-10-21&a=b", "/openai", "/deployments/my%20gpt%2F5%3Fx/chat/completions?api-version=2024-10-21%26a%3Db"),
    ):
        monkeypatch.setenv("AZURE_OPENAI_API_VERSION", version)
        assert address_of("azure") == f"https://r.openai.azure.com{address}"
        assert chat_path(model, address_of("azure")) == path


def test_prices_are_those_of_the_service_that_answers(in_folder):
    assert [name_in_prices(each) for each in ("claude", "codex", "gemini", "llm", "xai", "groq", "acme")] == [
        *("anthropic", "openai", "google", "openai", "x-ai", "groq", "acme"),
    ]
    assert price_of(ModelName("ollama", "gemma3:12b")) == price_of(ModelName("local", "gemma3:12b"))
    assert price_of(ModelName("nvidia", "no-such-model")) is None


def test_the_guides_name_every_service_with_its_key_and_variable():
    folder = Path(__file__).parents[2] / "docs" / "guides"
    guides = "".join((folder / name).read_text(encoding="utf-8") for name in ("providers.md", "local-models.md"))
    for name, service in services().items():
        assert f"`{name}`" in guides or f"`{name}/…`" in guides
        assert all(f"`{variable}`" in guides for variable in (*service.keys, service.address_variables[0]))


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package with one more row in its table."""
    folder = tmp_path_factory.mktemp("package")
    source = Path(polyjudge.__file__).parent
    shutil.copytree(source, folder / "polyjudge", ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "polyjudge" / "providers" / "services.toml").open("a", encoding="utf-8") as table:
        table.write(ROW)
    return folder


def run(package, *words, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ACME_")}
    return subprocess.run(
        [sys.executable, "-m", "polyjudge", *words],
        env={**kept, "PYTHONPATH": str(package), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_row_adds_a_service_with_its_own_key_and_address(package, server, in_folder):
    Path("items.jsonl").write_text('{"id": "a", "candidate": "item-7"}\n', encoding="utf-8")
    command = ("score", "items.jsonl", "--rubric", "general", "--judge", "acme/judge-1", "--output", "r.jsonl")
    keys = {"ACME_API_KEY": "acme-key", "OPENAI_API_KEY": "sk-of-openai", "LOCAL_OPENAI_API_KEY": "of-the-local-one"}

    without = run(package, *command)
    ended = run(package, *command, ACME_BASE_URL=f"{server.url}/v1", **keys)

    assert without.returncode == 0
    assert "ACME_API_KEY not set — skipping acme/judge-1.\nTo enable: export ACME_API_KEY=acme-..." in without.stderr
    assert ended.returncode == 0, ended.stderr
    [row] = map(json.loads, Path("r.jsonl").read_text(encoding="utf-8").splitlines())
    assert (row["outcome"], row["provenance"]["provider"]) == ("result", "acme")
    assert row["provenance"]["baseUrl"] == f"{server.url}/v1"
    assert [headers["Authorization"] for headers in server.headers] == ["Bearer acme-key"]


def test_a_new_service_is_listed_and_follows_the_rules_for_keys_and_folders(package, in_folder):
    listed = {row["name"]: row for row in json.loads(run(package, "providers", "--format", "json").stdout)}
    Path(".env").write_text("ACME_BASE_URL=http://127.0.0.1:9\n", encoding="utf-8")
    refused = run(package, "providers", ACME_API_KEY="of-the-shell")

    assert listed["acme"]["answers"] == "Acme's models"
    assert listed["acme"]["missing"] == ["export ACME_API_KEY=..."]
    assert refused.returncode == 2
    assert "sets ACME_BASE_URL without a key" in refused.stderr
