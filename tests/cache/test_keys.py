"""A key changes with everything that can change the answer, and with nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.cache.protocol import request_key
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.records.requests import Origin, Request

ORIGIN = Origin("anthropic", "https://example.test")
REQUEST = Request(
    prompt="p", model="m", system="s", schema={"type": "object"}, temperature=0.5, max_tokens=10, repeat=1
)
CHANGES = {
    "prompt": ["p ", "P", ""],
    "model": ["m2"],
    "system": ["", "s2"],
    "schema": [None, {}, {"type": "array"}],
    "temperature": [None, 0.0, 1.0],
    "max_tokens": [None, 11],
    "repeat": [0, 2],
    "top_logprobs": [5, 20],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in CHANGES.items() for value in values])
def test_a_change_of_any_field_of_the_request_changes_the_key(field, value):
    assert request_key(ORIGIN, replace(REQUEST, **{field: value})) != request_key(ORIGIN, REQUEST)


def test_every_field_of_a_request_is_tested_above():
    assert set(CHANGES) == set(Request.__struct_fields__)


@pytest.mark.parametrize(
    "origin", [Origin("openai", "https://example.test"), Origin("anthropic"), Origin("anthropic", "x")]
)
def test_another_provider_or_address_changes_the_key(origin):
    assert request_key(origin, REQUEST) != request_key(ORIGIN, REQUEST)


def test_equal_values_in_another_form_have_the_same_key():
    same = replace(REQUEST, schema={"type": "object", "required": ("a",), "x": 1})
    other = replace(REQUEST, schema={"x": 1.0, "required": ["a"], "type": "object"})

    assert request_key(ORIGIN, same) == request_key(ORIGIN, other)
    assert request_key(ORIGIN, replace(REQUEST, temperature=1)) == request_key(
        ORIGIN, replace(REQUEST, temperature=1.0)
    )


def test_hash_key_depends_on_every_argument():
    key = JudgeCache.hash_key("m", "p", "c")

    assert len(key) == 64
    assert key == JudgeCache.hash_key("m", "p", "c")
    assert len({key, JudgeCache.hash_key("m", "p", "c", seed=1), JudgeCache.hash_key("m", "p", "c", seed="1")}) == 3
    assert JudgeCache.hash_key("m", "p", "c", a=1, b=2) == JudgeCache.hash_key("m", "p", "c", b=2, a=1)


@given(st.lists(st.text(), min_size=3, max_size=3), st.lists(st.text(), min_size=3, max_size=3))
def test_different_questions_have_different_keys(first, second):
    assert (JudgeCache.hash_key(*first) == JudgeCache.hash_key(*second)) == (first == second)


def test_arguments_are_not_concatenated():
    assert JudgeCache.hash_key("a|b", "c", "d") != JudgeCache.hash_key("a", "b|c", "d")
    assert JudgeCache.hash_key("a", "b", "c", x="1", y="2") != JudgeCache.hash_key("a", "b", "c", x='1","y":"2')


def test_a_value_without_canonical_form_is_an_error():
    with pytest.raises(TypeError):
        JudgeCache.hash_key("m", "p", "c", extra=object())
    with pytest.raises(ValueError, match="NaN|nan|JSON"):
        JudgeCache.hash_key("m", "p", "c", extra=float("nan"))
    with pytest.raises(TypeError, match="have the same text"):
        JudgeCache.hash_key("m", "p", "c", extra={1: "a", "1": "b"})
