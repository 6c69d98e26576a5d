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
from polyjudge.providers.registry import PROVIDERS, key_variables
from polyjudge.providers.services import NO_KEY, address_variables, is_own_server, key_for, origin_of, services
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
        assert origin_of(name).base_url == service.address
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
