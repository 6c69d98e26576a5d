"""Names of models."""

import pytest

from polyjudge.errors import UnknownNameError
from polyjudge.providers.models import resolve_model
from polyjudge.records.requests import ModelName


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("opus", ModelName("anthropic", "claude-opus-4-6")),
        ("anthropic/claude-opus-4-6", ModelName("anthropic", "claude-opus-4-6")),
        ("local/gemma3:12b", ModelName("local", "gemma3:12b")),
        ("local/org/model/file.gguf", ModelName("local", "org/model/file.gguf")),
    ],
)
def test_only_the_first_slash_splits(name, meant):
    assert resolve_model(name) == meant


@pytest.mark.parametrize("name", ["", "nosuch", "/model", "provider/"])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(UnknownNameError, match="Available: .*opus, sonnet"):
        resolve_model(name)
