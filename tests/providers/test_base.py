"""Request parameters: each is sent under the API's name, and makes another request and another key of the cache."""

import pytest
from msgspec.structs import replace

from polyjudge.batches.client import form_of, request_like
from polyjudge.cache.protocol import request_key
from polyjudge.providers.anthropic import message_arguments
from polyjudge.providers.base import is_same_but_prompt, refused_parameter_in
from polyjudge.providers.google import content_config
from polyjudge.providers.local import _Bodies, chat_body
from polyjudge.providers.openai import response_arguments
from polyjudge.records.requests import PARAMETERS, VALUES, Origin, Request, sent_parameters

PLAIN = Request(prompt="p", model="m")
CHANGED = {
    "model": "n",
    "system": "s",
    "schema": {"type": "object"},
    "temperature": 0.5,
    "max_tokens": 7,
    "top_logprobs": 5,
}
BODIES = {"chat": chat_body, "openai": response_arguments, "anthropic": message_arguments}


def test_every_field_of_a_request_is_a_parameter_or_required():
    assert set(Request.__struct_fields__) == {"prompt", "model", "system", "repeat", *PARAMETERS}
    assert set(CHANGED) == {"model", "system", *PARAMETERS}


@pytest.mark.parametrize("name", CHANGED)
def test_a_request_that_differs_in_any_field_is_another_request(name):
    other = replace(PLAIN, **{name: CHANGED[name]})

    assert not is_same_but_prompt(PLAIN, other)
    assert request_key(Origin("local"), PLAIN) != request_key(Origin("local"), other)
    bodies = _Bodies("max_tokens")
    assert bodies.encoded(PLAIN) != bodies.encoded(other)
    apis = [api for api in BODIES if not (name in VALUES and api not in PARAMETERS[name].sent_as)]
    assert all(BODIES[api](PLAIN) != BODIES[api](other) for api in apis)
    if name != "model":
        assert content_config(PLAIN) != content_config(other)


@pytest.mark.parametrize("api", ["anthropic", "chat", "google", "openai"])
def test_every_plain_value_is_sent_under_the_name_that_the_api_has_for_it(api):
    request = replace(PLAIN, **{name: CHANGED[name] for name in VALUES})

    accepted = [name for name in VALUES if api in PARAMETERS[name].sent_as]
    assert sorted(sent_parameters(request, api).values()) == sorted(CHANGED[name] for name in accepted)
    assert set(VALUES) - set(accepted) == ({"top_logprobs"} if api == "anthropic" else set())
    assert sent_parameters(PLAIN, api) == {}


def test_a_batch_remembers_every_plain_value():
    request = replace(PLAIN, prompt="", **{name: CHANGED[name] for name in VALUES})

    assert request_like(form_of(request, ()), "m") == request


def test_an_error_names_a_parameter_only_where_it_was_sent():
    request = replace(PLAIN, temperature=0.0, max_tokens=5)

    assert refused_parameter_in("Unsupported value: 'temperature'", request) == "temperature"
    assert refused_parameter_in("Unsupported value: 'temperature'", PLAIN) is None
    assert refused_parameter_in("max_tokens is too large", request) is None
