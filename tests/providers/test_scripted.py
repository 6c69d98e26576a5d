"""Replies from functions and recordings."""

import asyncio
import json

import pytest

from polyjudge.errors import DataError, NotRecordedError, ProviderError, RefusedError, TransientError
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import open_provider
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.requests import Reply, Request


def ask(provider, prompt, **more):
    return asyncio.run(provider.complete(Request(prompt=prompt, model="m", **more)))


@pytest.fixture
def recording(tmp_path):
    def write(*rows):
        path = tmp_path / "r.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_a_function_answers_with_text_or_a_whole_reply_at_once_or_later():
    async def later(request):
        return f"later {request.prompt}"

    assert ask(ScriptedProvider(lambda request: f"now {request.prompt}"), "x").text == "now x"
    assert ask(ScriptedProvider(later), "x").text == "later x"
    reply = ask(ScriptedProvider(lambda _: Reply(text="t", model="other", finish="length", duration_ms=5)), "x")
    assert (reply.model, reply.finish, reply.duration_ms) == ("other", "length", 5)
    assert reply.answered_at.endswith("Z")


def test_the_most_specific_row_answers(recording, text):
    path = recording(
        {"text": "default"},
        {"text": "two pieces", "contains": ["a", text]},
        {"text": "exact", "prompt": text},
        {"text": "by hash", "promptSha256": prompt_sha256("hashed")},
    )
    provider = ScriptedProvider.from_recording(path)

    assert ask(provider, text).text == "exact"
    assert ask(provider, "hashed").text == "by hash"
    assert ask(provider, f"a b {text}").text == "two pieces"
    assert ask(provider, "zzz").text == "default"


def test_rows_for_one_prompt_answer_its_repeats_in_turn(recording):
    provider = ScriptedProvider.from_recording(recording({"text": "1", "prompt": "p"}, {"text": "2", "prompt": "p"}))

    assert [ask(provider, "p", repeat=repeat).text for repeat in range(3)] == ["1", "2", "2"]


def test_failures_can_be_recorded(recording):
    path = recording(
        {"contains": ["a"], "error": "refused", "text": "no"},
        {"contains": ["b"], "error": "transient"},
        {"contains": ["c"], "error": "provider_error"},
    )
    provider = ScriptedProvider.from_recording(path)

    for prompt, error in {"a": RefusedError, "b": TransientError, "c": ProviderError, "d": NotRecordedError}.items():
        with pytest.raises(error):
            ask(provider, prompt)


def test_two_recordings_are_two_origins(recording):
    first = ScriptedProvider.from_recording(recording({"text": "1"})).origin
    second = ScriptedProvider.from_recording(recording({"text": "2"})).origin

    assert first != second


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": 5}', "text: expected text, found 5"),
        ('{"txet": "x"}', "unknown key 'txet'"),
        ('{"text": "x", "finish": "end"}', "finish: expected one of"),
        ("[1]", "must be a JSON object"),
        ("{", "is not JSON"),
    ],
)
def test_an_invalid_row_is_an_error_with_its_line(tmp_path, line, message):
    path = tmp_path / "r.jsonl"
    path.write_text('{"text": "fine"}\n\n' + line + "\n", encoding="utf-8")

    with pytest.raises(DataError) as caught:
        ScriptedProvider.from_recording(path)

    assert str(caught.value).startswith(f"{path}:3: ")
    assert message in str(caught.value)


def test_a_recording_is_opened_by_name(recording):
    provider = open_provider(resolve_model(f"scripted/{recording({'text': 'hello'})}"))

    assert ask(provider, "anything").text == "hello"
    with pytest.raises(DataError, match=r"absent\.jsonl: cannot be read: No such file"):
        open_provider(resolve_model("scripted/absent.jsonl"))
