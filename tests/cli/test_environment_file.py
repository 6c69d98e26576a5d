"""Which variables are read from the `.env` of a folder that may be untrusted."""

import os
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.cli.environment import load_environment
from polyjudge.errors import ConfigError, DataError
from polyjudge.providers.registry import PROVIDERS, key_variables
from polyjudge.providers.services import address_variables, is_own_server

VENDOR_ADDRESSES = [name for name, users in address_variables().items() if not any(map(is_own_server, users))]
LOCAL_ADDRESSES = [name for name, users in address_variables().items() if any(map(is_own_server, users))]


@pytest.fixture(autouse=True)
def _restored_environment(in_folder):
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def env_file(*lines: str) -> None:
    Path(".env").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_known_variables_are_taken_unless_the_environment_has_them(monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "real")
    env_file(
        "# a comment", "", "OPENAI_API_KEY=file", "JUDGE_MODEL = gpt-5  # remark", "ANTHROPIC_API_KEY='a # b'",
        'export GEMINI_API_KEY="x=y"', "GOOGLE_API_KEY=", "POLYJUDGE_TRANSLATOR_MODEL=a#b",
    )  # fmt: skip

    load_environment()

    names = ("OPENAI_API_KEY", "JUDGE_MODEL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    assert [os.environ[name] for name in names] == ["real", "gpt-5", "a # b", "x=y", ""]
    assert os.environ["POLYJUDGE_TRANSLATOR_MODEL"] == "a#b"
    printed = capsys.readouterr().err
    assert printed.startswith("polyjudge: from .env: ANTHROPIC_API_KEY, GEMINI_API_KEY, ")
    assert "x=y" not in printed


@pytest.mark.parametrize(
    "name",
    [
        *("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        *("LD_PRELOAD", "PYTHONPATH", "NODE_OPTIONS", "PATH_EXTRA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "RAY_ADDRESS"),
        *(
            "PGHOST",
            "PGSSLMODE",
            "POLYJUDGE_TRUST",
            "XDG_CONFIG_HOME",
            "VERBOSE",
            "GITHUB_STEP_SUMMARY",
            "OPENAI_ORG_ID",
        ),
    ],
)
def test_no_other_variable_is_taken(name, monkeypatch, capsys):
    monkeypatch.delenv(name, raising=False)
    env_file(f"{name}=/somewhere/else")

    load_environment()

    assert name not in os.environ
    assert capsys.readouterr().err == ""


def test_a_bad_line_is_named_but_not_shown():
    env_file("GOOD=1", "sk-secret without a name")

    with pytest.raises(DataError, match=r"\.env:2: expected NAME=VALUE") as caught:
        load_environment()

    assert "sk-secret" not in str(caught.value)


def test_a_huge_file_is_refused():
    env_file("A=" + "x" * 1_000_001)

    with pytest.raises(DataError, match=r"larger than 1,000,000 bytes"):
        load_environment()


@pytest.mark.parametrize("address", VENDOR_ADDRESSES)
def test_a_vendors_address_without_a_key_is_refused(address, monkeypatch):
    keys = {key for provider in address_variables()[address] for key in key_variables(provider)}
    assert keys
    for key in keys:
        monkeypatch.setenv(key, "from-the-shell")
    env_file(f"{address}=http://127.0.0.1:9")

    with pytest.raises(ConfigError, match=f"sets {address} without a key"):
        load_environment()

    assert address not in os.environ


@pytest.mark.parametrize("address", VENDOR_ADDRESSES)
def test_a_vendors_address_is_refused_where_any_key_of_the_shell_would_go_there(address, monkeypatch):
    keys = sorted({key for provider in address_variables()[address] for key in key_variables(provider)})
    for given in keys:
        for in_shell in keys:
            for key in keys:
                monkeypatch.delenv(key, raising=False)
            monkeypatch.setenv(in_shell, "from-the-shell")
            env_file(f"{address}=http://127.0.0.1:9", f"{given}=from-the-file")

            with pytest.raises(ConfigError, match=f"{in_shell} in your shell"):
                load_environment()

            assert address not in os.environ


@pytest.mark.parametrize("address", VENDOR_ADDRESSES)
def test_a_vendors_address_counts_with_a_key_from_the_same_file(address, monkeypatch, capsys):
    key = key_variables(address_variables()[address][0])[0]
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Secret: from the shell")
    monkeypatch.setenv("OPENAI_ORG_ID", "from the shell")
    env_file(f"{address}=http://127.0.0.1:9", f"{key}=from-the-file")

    load_environment()

    assert (os.environ[address], os.environ[key]) == ("http://127.0.0.1:9", "from-the-file")
    assert "OPENAI_ORG_ID" not in os.environ
    assert "ANTHROPIC_CUSTOM_HEADERS" not in os.environ
    shown = sorted([f"{address}=http://127.0.0.1:9", key])
    assert capsys.readouterr().err == f"polyjudge: from .env: {', '.join(shown)}\n"


def test_an_address_in_the_shell_takes_precedence_over_the_file(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-shell")
    env_file("ANTHROPIC_BASE_URL=http://127.0.0.1:9")

    load_environment()

    assert os.environ["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"


@pytest.mark.parametrize("address", LOCAL_ADDRESSES)
@pytest.mark.parametrize("own_key", ["", "of-the-file"])
def test_a_local_server_of_the_file_is_not_sent_a_key_of_the_shell(address, own_key, server, monkeypatch, capsys):
    secret = "sk-from-the-shell-0123456789"
    for provider in PROVIDERS:
        for key in key_variables(provider):
            monkeypatch.setenv(key, secret)
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")
    [provider] = address_variables()[address]
    env_file(f"{address}={server.url}/v1", *([f"{key_variables(provider)[0]}={own_key}"] if own_key else []))

    assert main(["score", "items.jsonl", "--rubric", "general", "--judge", f"{provider}/m"]) == 0

    assert server.asked == 1
    assert secret not in str(server.headers)
    assert server.headers[0]["Authorization"] == f"Bearer {own_key or 'none'}"
    assert f"{address}={server.url}/v1" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["LOCAL_OPENAI_BASE_URL", "OPENAI_BASE_URL"])
def test_a_local_server_of_the_shell_is_sent_its_key(variable, server, monkeypatch):
    monkeypatch.setenv(variable, f"{server.url}/v1")
    monkeypatch.setenv("LOCAL_OPENAI_API_KEY", "mine")
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")
    env_file("OPENAI_BASE_URL=http://127.0.0.1:9/v1", "LOCAL_OPENAI_API_KEY=theirs")

    assert main(["score", "items.jsonl", "--rubric", "general", "--judge", "local/m"]) == 0

    assert server.headers[0]["Authorization"] == "Bearer mine"


def test_a_strangers_address_ends_a_run_before_anything_is_sent(server, monkeypatch, capsys):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-from-the-shell-0123456789")
    Path("items.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")
    env_file(f"ANTHROPIC_BASE_URL={server.url}")

    assert main(["score", "items.jsonl", "--rubric", "general", "--judge", "opus"]) == 2

    assert server.asked == 0
    printed = capsys.readouterr().err
    assert "a key from your shell would be sent there" in printed
    assert "sk-from-the-shell" not in printed
