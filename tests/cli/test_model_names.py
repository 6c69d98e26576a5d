"""Models by the names of the services that answer: the right address and key, and help with wrong names."""

import json
import re
from pathlib import Path

import pytest
from aiohttp import web
from tests.loopback.vendor_server import ServerThread

from polyjudge.cli import main
from polyjudge.providers.registry import GROUPS, PROVIDERS, key_variables
from polyjudge.providers.services import services

CHAT = [name for name, service in services().items() if service.api == "chat"]
OWN = [name for name in CHAT if services()[name].own_server]


@pytest.fixture(autouse=True)
def _no_variables(in_folder, monkeypatch):
    for provider in PROVIDERS:
        for variable in key_variables(provider):
            monkeypatch.delenv(variable, raising=False)
    for service in services().values():
        for variable in (*service.address_variables, service.version_variable):
            monkeypatch.delenv(variable or "-", raising=False)
    Path("items.jsonl").write_text('{"id": "a", "candidate": "item-7"}\n', encoding="utf-8")


def score(judge, *options):
    return main(["score", "items.jsonl", "--rubric", "general", "--judge", judge, *options])


@pytest.mark.parametrize("name", [name for name in CHAT if not services()[name].key_header])
def test_each_service_is_asked_at_its_address_with_its_own_key_alone(name, server, monkeypatch):
    service = services()[name]
    for provider in PROVIDERS:
        for variable in key_variables(provider):
            monkeypatch.setenv(variable, f"key-of-{variable}-0123456789")
    monkeypatch.setenv(service.address_variables[0], f"{server.url}/v1")

    assert score(f"{name}/some/model:1b", "--output", "r.jsonl") == 0

    [row] = map(json.loads, Path("r.jsonl").read_text(encoding="utf-8").splitlines())
    assert (row["provenance"]["provider"], row["provenance"]["model"]) == (name, "some/model:1b")
    assert server.bodies[0]["model"] == "some/model:1b"
    own = f"key-of-{service.keys[0]}-0123456789"
    assert server.headers[0]["Authorization"] == f"Bearer {own}"
    assert re.findall(r"key-of-\w+", str(server.headers).replace(own, "")) == []


class AzureServer:
    """The two forms of Azure's API: v1, and that of deployments with a dated version."""

    def __init__(self):
        self.port = 0
        self.asked = []
        self.bodies = []

    def app(self):
        app = web.Application()
        app.router.add_post("/openai/{rest:.*}", self._answer)
        return app

    async def _answer(self, request):
        self.bodies.append(await request.json())
        self.asked.append((str(request.rel_url), request.headers.get("api-key"), request.headers.get("authorization")))
        message = {"role": "assistant", "content": '{"score": 70, "reason": "fine"}'}
        return web.json_response(
            {"id": "c", "model": "gpt-x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        )


def test_azure_is_asked_in_both_forms_with_its_own_header(monkeypatch):
    with ServerThread(AzureServer()) as azure:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"http://127.0.0.1:{azure.port}")
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-0123456789")
        limits = ("--cache", "none", "--max-tokens", "9000")
        assert score("azure/my-gpt", *limits) == 0
        monkeypatch.setenv("AZURE_OPENAI_API_VERSION", "2024-10-21")
        assert score("azure/my-gpt", *limits) == 0

    assert azure.asked == [
        ("/openai/v1/chat/completions", "azure-key-0123456789", None),
        ("/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21", "azure-key-0123456789", None),
    ]
    limits = [[name for name in body if name.startswith("max_")] for body in azure.bodies]
    assert limits == [["max_completion_tokens"], ["max_tokens"]]


@pytest.mark.parametrize(
    ("variable", "missing"),
    [("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"), ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY")],
)
def test_what_azure_lacks_is_a_soft_skip(variable, missing, monkeypatch, capsys):
    monkeypatch.setenv(variable, "https://r.openai.azure.com" if "ENDPOINT" in variable else "key-0123456789")

    assert score("azure/my-gpt") == 0
    assert f"{missing} not set" in capsys.readouterr().err
    assert score("azure/my-gpt", "--require-judge") == 3


@pytest.mark.parametrize("name", OWN)
def test_a_server_without_a_model_lists_those_that_it_has(name, server, monkeypatch, capsys):
    monkeypatch.setenv(services()[name].address_variables[0], f"{server.url}/v1")
    server.faults.models = ("gemma3:12b", "qwen3:8b")

    assert score(name) == 2
    printed = capsys.readouterr().err
    assert f"--judge {name} has no model" in printed
    assert f"The server at {server.url}/v1 answers. It has: gemma3:12b, qwen3:8b." in printed
    assert f"for example {name}/gemma3:12b" in printed
    assert server.asked == 0


@pytest.mark.parametrize("name", OWN)
def test_without_a_server_a_name_without_a_model_says_how_to_start_one(name, monkeypatch, capsys):
    monkeypatch.setenv(services()[name].address_variables[0], "http://127.0.0.1:9/v1")

    assert score(name) == 2
    printed = capsys.readouterr().err
    assert f"Write {name}/MODEL" in printed
    assert f"Start one (`{services()[name].start}`) or set {services()[name].address_variables[0]}." in printed


def test_a_hosted_service_without_a_model_is_not_asked(capsys):
    assert score("groq") == 2
    assert "--judge groq has no model. Write groq/MODEL." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("olama/gemma3:12b", "Unknown provider or judge: olama. Available: anthropic, azure, .*Did you mean 'ollama'?"),
        ("lm-studio/m", "Did you mean 'lmstudio'?"),
        ("llama.cpp/m", "Did you mean 'llamacpp'?"),
        ("openrouters/m", "Did you mean 'openrouter'?"),
        ("opuss", "Did you mean 'opus'?"),
        ("zzz/m", "Unknown provider or judge: zzz. Available: anthropic, .*, vllm, xai, zai.$"),
    ],
)
def test_a_wrong_provider_suggests_the_right_one_and_lists_all(given, said, capsys):
    assert score(given) == 2

    printed = capsys.readouterr().err.strip()
    assert re.search(said.replace("?", r"\?"), printed)
    assert all(name in printed for name in PROVIDERS)


@pytest.mark.parametrize("name", OWN)
def test_a_wrong_model_of_a_local_server_suggests_those_that_it_has(name, server, monkeypatch, capsys):
    monkeypatch.setenv(services()[name].address_variables[0], f"{server.url}/v1")
    server.faults.models = ("gemma3:12b", "qwen3:8b")

    assert score(f"{name}/gema3") == 3

    printed = capsys.readouterr().err
    assert f"Did you mean '{name}/gemma3:12b'?" in printed
    assert "It has: gemma3:12b, qwen3:8b." in printed


def test_one_model_of_one_server_is_no_jury_of_two(server, monkeypatch, capsys):
    for variable in ("LOCAL_OPENAI_BASE_URL", "OLLAMA_BASE_URL"):
        monkeypatch.setenv(variable, f"{server.url}/v1")

    assert score("local/m,ollama/m") == 2
    assert "--judge names ollama/m twice (also as local/m)" in capsys.readouterr().err

    monkeypatch.setenv("OLLAMA_BASE_URL", f"{server.url}/v1/")
    assert score("local/m,ollama/m") == 2
    assert score("local/m,ollama/n") == 0


def test_a_reply_is_stored_under_the_name_that_was_asked(server, monkeypatch):
    """Two names of one server do not share replies, so that the provenance is what was asked for."""
    for variable in ("LOCAL_OPENAI_BASE_URL", "OLLAMA_BASE_URL"):
        monkeypatch.setenv(variable, f"{server.url}/v1")

    for name in ("local/m", "ollama/m", "local/m", "ollama/m"):
        assert score(name, "--output", "r.jsonl") == 0
        [row] = map(json.loads, Path("r.jsonl").read_text(encoding="utf-8").splitlines())
        assert row["provenance"]["provider"] == name.partition("/")[0]

    assert server.asked == 2


def test_providers_are_listed_in_groups_with_what_each_lacks(monkeypatch, capsys):
    monkeypatch.setenv("GROQ_API_KEY", "gsk-0123456789")

    assert main(["providers"]) == 0

    out = capsys.readouterr().out
    places = [out.index(f"{group}:") for group in GROUPS]
    assert places == sorted(places)
    assert re.search(r"groq +ready", out)
    assert re.search(r"ollama +no key needed .*http://127.0.0.1:11434/v1; set OLLAMA_BASE_URL", out)
    assert re.search(r"azure +missing .*export AZURE_OPENAI_API_KEY=", out)


def test_a_check_asks_a_server_by_a_model_that_it_lists(server, monkeypatch, capsys):
    monkeypatch.setenv("VLLM_BASE_URL", f"{server.url}/v1")
    server.faults.models = ("m",)

    assert main(["providers", "--check", "--format", "json"]) == 0

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["vllm"]["answers_now"] is True
    assert "from m after" in rows["vllm"]["said"]
    assert server.asked == 1
