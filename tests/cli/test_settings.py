"""The user's models, and the list of providers."""

import json

import pytest

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.folder_trust import make_folder
from polyjudge.providers.models import model_facts, price_of, resolve_model
from polyjudge.providers.wire_errors import error_for_status
from polyjudge.records.requests import ModelName, Price


def test_the_users_models_file_takes_precedence(in_folder):
    own = in_folder / ".polyjudge" / "models.toml"
    make_folder(own.parent)
    own.write_text(
        '[aliases]\nopus = "local/mine"\nfast = "local/small:1b"\n[defaults]\nlocal = "small:1b"\n'
        '[[models]]\nfits = "openai/gpt-5"\nprice = {input = 1.0, output = 2.0}\n',
        encoding="utf-8",
    )

    assert resolve_model("opus") == ModelName("local", "mine")
    assert resolve_model("local") == resolve_model("fast") == ModelName("local", "small:1b")
    assert resolve_model("sonnet").provider == "anthropic"
    assert price_of(ModelName("openai", "gpt-5")) == Price(1.0, 2.0)
    own.write_text("[[models]]\nfit = 1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"models\.toml: models: unknown key 'fit'"):
        resolve_model("opus")


def test_a_provider_without_a_model_stands_for_its_default():
    assert resolve_model("anthropic") == ModelName("anthropic", "claude-sonnet-4-6")
    assert resolve_model("openai").model == "gpt-5"


def test_the_error_of_a_retired_model_names_its_successor():
    printed = str(error_for_status(404, "no such model", ModelName("google", "gemini-2.0-flash")))

    assert "google/gemini-2.0-flash was retired on 2026-02-05; use google/gemini-3.6-flash." in printed


def test_models_that_take_no_temperature_are_known():
    for name in ("anthropic/claude-sonnet-5-5", "openai/gpt-5.5", "openai/o3", "google/gemini-3.6-flash"):
        assert model_facts(ModelName(*name.split("/"))).without == ("temperature",)
    for name in ("anthropic/claude-opus-4-6", "openai/gpt-4o", "google/gemini-2.5-pro", "local/gemma3:12b"):
        assert model_facts(ModelName(*name.split("/"))).without == ()


def test_each_provider_says_what_it_lacks(in_folder, capsys, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")

    assert main(["providers", "--format", "json"]) == 0

    shown = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert shown["local"]["ready"]
    assert not any("export" in missing for missing in shown["anthropic"]["missing"])
    assert "export OPENAI_API_KEY=..." in shown["openai"]["missing"]
    assert main(["providers"]) == 0
    assert "What to do" in capsys.readouterr().out
