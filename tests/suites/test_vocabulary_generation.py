"""Local models are asked about words one at a time, and answers are stored as they arrive."""

import asyncio
import json
from collections import Counter

import pytest

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import ProviderError, UnusableError
from polyjudge.formats.vocabulary import read_vocabulary
from polyjudge.records.outcomes import Failure, Generated, Item
from polyjudge.records.requests import Origin, Reply
from polyjudge.runs.execution import judge_in_order
from polyjudge.suites.vocabulary import choose, make_job
from polyjudge.suites.vocabulary_generation import AnswerStore, Generation, WordGenerator, is_answer, unanswered

WORDS = [f"palabra{number}" for number in range(5)]


@pytest.fixture
def job(tmp_path):
    suite = tmp_path / "suite"
    suite.mkdir()
    rows = [{"word": word, "answer": f"lo que es {word}"} for word in WORDS]
    (suite / "vocabulary_short.json").write_text(json.dumps(rows), encoding="utf-8")
    (suite / "prompts.json").write_text(json.dumps({"prompt_a": "Define '{word}'."}), encoding="utf-8")
    return make_job(choose(read_vocabulary(suite, "suite"), {}), ["m1", "m2", "m3"], tmp_path / "output")


class Source:
    """Opens providers that answer after a delay, and records which models are asked at once."""

    def __init__(self, **errors):
        self.errors, self.asked, self.at_once, self.together = errors, Counter(), Counter(), []
        self.emit = lambda _: None

    def open(self, name):
        return _Provider(self, name.model)


class _Provider:
    origin = Origin("local", "http://here/v1")

    def __init__(self, source, model):
        self.source, self.model = source, model

    async def complete(self, request):
        source = self.source
        source.asked[request.model] += 1
        source.at_once[request.model] += 1
        source.together.append({model for model, count in source.at_once.items() if count})
        await asyncio.sleep(0.002 * (1 + len(request.prompt) % 3))
        source.at_once[request.model] -= 1
        if request.model in source.errors:
            raise source.errors[request.model]
        return Reply(text=f"<think>hm</think>{request.prompt}", model=request.model)


def ask(job, source, store=None, *, concurrency=4):
    generator = WordGenerator(job, Generation(0.2)).bind(source)

    async def work():
        turns = judge_in_order(
            generator.judge,
            generator.items(),
            concurrency=concurrency,
            stop=StopToken(),
            known=None if store is None else store.ahead(),
            store=store,
            is_cached=False,
        )
        return [(item.id, outcome) async for item, outcome in turns]

    return asyncio.run(work())


@pytest.mark.parametrize("concurrency", [1, 4, 7, 50])
def test_two_models_are_never_asked_at_once_at_any_concurrency(concurrency, job):
    source = Source()

    found = ask(job, source, concurrency=concurrency)

    assert [name for name, _ in found] == [f"{model}/{word}" for model in ("m1", "m2", "m3") for word in WORDS]
    assert all(len(models) == 1 for models in source.together)
    assert source.asked == {"m1": 5, "m2": 5, "m3": 5}


def test_a_generated_text_has_the_provenance_and_separate_reasoning(job):
    [(_, first), *_] = ask(job, Source())

    assert isinstance(first, Generated)
    assert (first.text, first.reasoning, first.model) == ("Define 'palabra0'.", "hm", "m1")
    assert first.provenance is not None
    assert (first.provenance.base_url, first.provenance.rubric) == ("http://here/v1", "suite")


def test_a_model_missing_on_the_server_fails_and_the_others_are_asked(job, tmp_path):
    source = Source(m2=UnusableError("no such model"), m3=ProviderError("odd"))
    store = AnswerStore(job, 0.2)

    found = ask(job, source, store, concurrency=1)

    assert source.asked == {"m1": 5, "m2": 1, "m3": 5}
    failed = [outcome for _, outcome in found if isinstance(outcome, Failure)]
    assert [(each.reason, each.kind) for each in failed] == [("no such model", "provider_error")] * 5 + [
        ("odd", "provider_error")
    ] * 5
    assert unanswered(job) == 10
    records = [json.loads((tmp_path / f"output/m2/{word}.json").read_text(encoding="utf-8")) for word in WORDS]
    assert [record.get("attempts") for record in records] == [1, None, None, None, None]
    assert {record["base_url"] for record in records} == {"http://here/v1"}


def test_a_reply_cut_off_before_the_answer_is_not_an_answer():
    assert is_answer(Generated("", finish="stop"))
    assert is_answer(Generated("x", finish="length"))
    assert not is_answer(Generated("", finish="length"))
    assert not is_answer(Failure("no"))


def test_an_answer_is_not_requested_again_at_the_same_temperature(job):
    ask(job, Source(m3=ProviderError("odd")), AnswerStore(job, 0.2))
    again = Source()

    store = AnswerStore(job, 0.2)
    ask(job, again, store)

    assert (len(list(store.stored())), store.started_at) == (10, "")
    assert again.asked == {"m3": 5}
    assert AnswerStore(job, 0.7).left == 15


def test_a_repeated_run_is_resumed_until_it_is_finished(job, tmp_path):
    ask(job, Source(), AnswerStore(job, 0.2))
    marker = tmp_path / "output/.asking-again"
    started = AnswerStore(job, 0.2, restarts=lambda: True)
    started_at = started.started_at
    first = Item("m1/palabra0", "Define 'palabra0'.")
    started.append(first, Generated("other", "m1"))
    started.discard_if_empty()

    resumed, again = AnswerStore(job, 0.2), Source()
    ask(job, again, resumed)
    resumed.forget_restart()

    assert (resumed.started_at, again.asked) == (started_at, {"m1": 4, "m2": 5, "m3": 5})
    assert job.record(job.tasks[0]).response == "other"
    assert not marker.exists()


def test_the_start_marker_of_a_run_without_calls_is_removed(job, tmp_path):
    ask(job, Source(), AnswerStore(job, 0.2))

    AnswerStore(job, 0.2, refresh=True).discard_if_empty()
    AnswerStore(job, 0.2, refresh=True, read_only=True)

    assert not (tmp_path / "output/.asking-again").exists()
