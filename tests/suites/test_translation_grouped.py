"""Several languages in a call: how groups are formed, and what happens when they change scores."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from tests.folding import for_each
from tests.suites.grouped_cases import Case, CaseModel

from polyjudge.concurrency.pool import Slots, StopToken
from polyjudge.errors import CapReachedError, EmptyBatchesError
from polyjudge.judges.grouped import GroupedJudge
from polyjudge.languages.table import language_table
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.runs import Limits
from polyjudge.records.translation import LanguageResult, PromptResult
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.execution import judge_in_order, prepare
from polyjudge.runs.run import Run
from polyjudge.suites.translation import LanguageJudge, tasks_of
from polyjudge.suites.translation_grouped import BatchOptions, GroupedTranslationJudge, batches_of

TABLE = language_table()
TAGS = [each.tag for each in TABLE]
RUBRIC = load_rubric("translation")
IDS = re.compile(r"^## Candidate ([0-9a-f]{8})$", re.MULTILINE)


def languages(count, prompts=1):
    return [
        LanguageResult(
            language_name=tag,
            language_code=tag,
            prompts=tuple(PromptResult(generated_output=f"{tag} {number}") for number in range(prompts)),
        )
        for tag in TAGS[:count]
    ]


def tasks(count, prompts=1, **options):
    return tasks_of(languages(count, prompts), TABLE, **options)


def verdict(score, right=True):
    scores = {"script": score, "grammar": score, "coherence": score}
    return {"reason": "", "subscores": scores, "isCorrectLanguage": right}


class Model:
    """Scores each candidate 4 alone, and in a group `batched(size)`."""

    def __init__(self, batched, alone=lambda _: json.dumps(verdict(4))):
        self.singles, self.sizes = 0, []
        self._batched, self._alone = batched, alone

    def answer(self, request):
        ids = IDS.findall(request.prompt)
        if not ids:
            self.singles += 1
            return self._alone(request.prompt)
        self.sizes.append(len(ids))
        return json.dumps({"rows": [{"id": item_id, **self._batched(len(ids))} for item_id in ids]})


def run(model, given, stop=None, concurrency=4, allow_single=False, reported=None, **options):
    """Return the outcomes by task id, judged as in a run, and the drift."""
    stop, slots = stop or StopToken(), Slots(concurrency)
    judge = GroupedTranslationJudge(
        GroupedJudge(RUBRIC, "m", provider=ScriptedProvider(model.answer), allow_single=allow_single),
        given,
        BatchOptions(**options),
    )
    items = [task.item() for task in given]

    async def judged():
        await prepare(judge, (), concurrency=slots, stop=stop)
        outcomes = {item.id: outcome for item in items if (outcome := judge.settled(item)) is not None}
        async for item, outcome in judge_in_order(judge.judge, items, concurrency=slots, stop=stop):
            outcomes[item.id] = outcome
            if reported is not None:
                reported.append(item.id)
        return outcomes

    return asyncio.run(judged()), judge.drift


@for_each("count", [1, 2, 7, 8, 9, 16, 17, 40, 73])
@for_each("size", [1, 2, 5, 8, 10])
@for_each("prompts", [1, 3])
def test_groups_have_every_task_once_no_language_twice_and_even_sizes(count, size, prompts):
    given = tasks(count, prompts)

    batches = batches_of(given, size)

    assert sorted(task.id for batch in batches for task in batch) == sorted(task.id for task in given)
    assert all(len({task.language.language_code for task in batch}) == len(batch) for batch in batches)
    sizes = [len(batch) for batch in batches]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert len(batches) == prompts * -(-min(count, len(TAGS)) // size)


def test_a_sample_fills_its_calls_like_all_prompts():
    """The samples of languages have different indexes; a call still has one prompt of each."""
    given = tasks(20, prompts=50, samples=2, seed=3)

    batches = batches_of(given, 10)

    assert [len(batch) for batch in batches] == [10, 10, 10, 10]
    assert all(len({task.language.language_code for task in batch}) == 10 for batch in batches)


def test_languages_with_different_lengths_or_the_same_name_are_separate():
    file = [
        LanguageResult(language_name="Portuguese", language_code=tag, prompts=languages(1, count)[0].prompts)
        for tag, count in (("pt", 3), ("pt-BR", 1))
    ]

    batches = batches_of(tasks_of(file, TABLE), 8)

    assert [[task.id for task in batch] for batch in batches] == [["pt:0", "pt-BR:0"], ["pt:1"], ["pt:2"]]
    assert batches_of([], 8) == []


def test_groups_that_do_not_change_scores_keep_their_size():
    model = Model(lambda _: verdict(4))

    outcomes, drift = run(model, tasks(40))

    assert {outcome.score for outcome in outcomes.values()} == {4}
    assert model.sizes == [8] * 5
    assert model.singles == 2
    measured = {"compared": 2, "meanDistance": 0, "flipped": 0, "tolerance": 0.5}
    assert drift.as_row() == {"batchSize": 8, "rowsFromBatches": 38, "emptyBatches": 0, **measured}


def test_groups_that_change_scores_are_halved_until_they_do_not():
    model = Model(lambda size: verdict(1 if size > 2 else 4))

    outcomes, drift = run(model, tasks(40))

    assert {outcome.score for outcome in outcomes.values()} == {4}
    assert len(outcomes) == 40
    assert drift.batch_size == 2
    assert [each["batchSize"] for each in drift.tried] == [8, 4]
    assert [each["meanDistance"] for each in drift.tried] == [3, 3]
    assert drift.mean_distance == 0
    assert model.sizes.count(2) == 20


def test_groups_that_always_change_scores_end_with_single_calls():
    model = Model(lambda _: verdict(1))

    outcomes, drift = run(model, tasks(20))

    assert {outcome.score for outcome in outcomes.values()} == {4}
    assert drift.batch_size == 1
    assert [each["batchSize"] for each in drift.tried] == [8, 4, 2]
    assert drift.as_row()["tried"] == drift.tried


@pytest.mark.parametrize(("tolerance", "size"), [(0.9, 1), (1.0, 8), (5.0, 8), (0.0, 1)])
def test_the_tolerance_decides(tolerance, size):
    outcomes, drift = run(Model(lambda _: verdict(3)), tasks(16), tolerance=tolerance)

    assert drift.batch_size == size
    assert drift.tolerance == tolerance
    assert len(outcomes) == 16


def test_flipped_verdicts_halve_the_groups_even_if_scores_are_close():
    _, drift = run(Model(lambda _: verdict(4, right=False)), tasks(40))

    assert [each["meanDistance"] for each in drift.tried] == [0, 0, 0]
    assert (drift.batch_size, drift.flipped, drift.compared) == (1, 0, 0)  # at the end no row is from a group
    assert (drift.rows_from_batches, drift.mean_distance) == (0, None)


def test_one_flipped_verdict_is_counted_but_tolerated():
    _, drift = run(Model(lambda _: verdict(2)), tasks(5), tolerance=5.0)

    assert (drift.mean_distance, drift.flipped, drift.compared, drift.tried) == (2, 1, 1, [])


def test_the_outcome_of_a_task_judged_alone_is_the_single_one():
    model = Model(lambda _: verdict(3), alone=lambda _: json.dumps(verdict(5)))

    outcomes, drift = run(model, tasks(40), tolerance=5.0)

    assert sorted(outcome.score for outcome in outcomes.values()) == [3.0] * 38 + [5.0] * 2
    assert drift.compared == 2


@pytest.mark.parametrize(("count", "share", "controls"), [(40, 0.05, 2), (40, 0.5, 20), (5, 0.05, 1), (2, 0.05, 1)])
@pytest.mark.parametrize("none", [0.0, None])
def test_a_share_of_the_rows_and_at_least_one_is_also_judged_alone(count, share, controls, none):
    model = Model(lambda _: verdict(4))

    _, drift = run(model, tasks(count), control_share=share if none is None else none)

    assert drift.compared == (controls if none is None else 1)


def test_the_seed_determines_the_rows_judged_alone():
    def controls(seed):
        asked = []

        def alone(prompt):
            asked.append(prompt)
            return json.dumps(verdict(4))

        run(Model(lambda _: verdict(4), alone=alone), tasks(60), seed=seed)
        return asked

    assert controls(1) == controls(1)
    assert controls(1) != controls(2)


def test_the_reported_size_is_at_most_the_number_of_languages():
    model = Model(lambda _: verdict(1))

    _, drift = run(model, tasks(3))

    assert model.sizes == [3]
    assert [each["batchSize"] for each in drift.tried] == [3]
    assert drift.batch_size == 1


def test_a_single_language_is_judged_alone():
    model = Model(lambda _: verdict(1))

    outcomes, drift = run(model, tasks(1, prompts=3))

    assert model.sizes == []
    assert len(outcomes) == 3
    assert drift.batch_size == 1


def test_without_comparable_rows_there_is_no_drift():
    model = Model(lambda _: verdict(4), alone=lambda _: "no")

    outcomes, drift = run(model, tasks(16))

    assert drift.mean_distance is None
    assert drift.compared == 0
    assert "meanDistance" not in drift.as_row()
    assert {outcome.score for outcome in outcomes.values()} == {4}


def test_unusable_rows_are_failures_only_if_they_also_fail_alone():
    def alone(prompt):
        return "no" if "en 0" in prompt else json.dumps(verdict(4))

    model = Model(lambda _: {"reason": "no scores"}, alone=alone)

    outcomes, drift = run(model, tasks(16), allow_single=True)

    assert [task_id for task_id, outcome in outcomes.items() if isinstance(outcome, Failure)] == ["en:0"]
    assert len(outcomes) == 16
    assert (drift.empty_batches, drift.rows_from_batches) == (2, 0)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_after_two_batches_without_a_usable_row_the_run_stops(concurrency):
    stop, model = StopToken(), Model(lambda _: {"id": "another"})

    outcomes, _ = run(model, tasks(73), stop=stop, concurrency=concurrency)

    assert isinstance(stop.error, EmptyBatchesError)
    assert 2 <= len(model.sizes) <= 1 + concurrency
    assert model.singles <= 4 + 8  # the controls, and the rows of the first batch
    assert len(outcomes) < 73


def test_one_group_without_a_usable_row_is_judged_alone_and_the_run_continues():
    empty = []

    def batched(_):
        empty.append(True)
        return {"id": "another"} if len(empty) <= 8 else verdict(4)  # the eight rows of the first batch

    outcomes, drift = run(Model(batched), tasks(40), concurrency=1)

    assert len(outcomes) == 40
    assert (drift.empty_batches, drift.batch_size) == (1, 8)
    assert 30 <= drift.rows_from_batches <= 32  # the two that were judged alone first may be among the others


def test_rows_judged_alone_do_not_count_for_the_drift():
    """The rows of an unused group are the single ones, which would show no drift."""
    model = Model(lambda _: {"id": "another"})

    outcomes, drift = run(model, tasks(40), allow_single=True)

    assert len(outcomes) == 40
    assert (drift.compared, drift.mean_distance, drift.rows_from_batches) == (0, None, 0)
    assert "meanDistance" not in drift.as_row()
    assert drift.empty_batches == 5


def test_a_stop_request_ends_the_run_and_returns_finished_outcomes():
    stop = StopToken()

    def batched(_):
        stop.request()
        return verdict(4)

    model = Model(batched)
    outcomes, _ = run(model, tasks(73), stop=stop, concurrency=1)

    assert len(model.sizes) == 1
    assert 0 < len(outcomes) < 73
    assert all(isinstance(outcome, JudgeResult) for outcome in outcomes.values())


def test_a_stop_request_before_the_first_call_makes_no_call():
    stop, model = StopToken(), Model(lambda _: verdict(4))
    stop.request()

    outcomes, _ = run(model, tasks(20), stop=stop)

    assert outcomes == {}
    assert (model.singles, model.sizes) == (0, [])


def test_a_stop_between_two_sizes_stores_no_row_with_too_much_drift():
    stop = StopToken()

    def batched(_):
        stop.request()
        return verdict(1)

    outcomes, _ = run(Model(batched), tasks(8), stop=stop)

    assert [outcome.score for outcome in outcomes.values()] == [4]  # the one that was judged alone


def test_a_cap_in_the_middle_of_halving_ends_the_run():
    stop = StopToken()

    def batched(size):
        if size == 4:
            raise CapReachedError("enough")
        return verdict(1)

    model = Model(batched)
    run(model, tasks(40), stop=stop)

    assert str(stop.error) == "enough"
    assert min(model.sizes) == 4


def test_outcomes_arrive_while_others_are_judged():
    reported, seen = [], []

    def batched(_):
        seen.append(len(reported))
        return verdict(4)

    run(Model(batched), tasks(70), concurrency=1, reported=reported, size=5, control_share=0.01)

    assert max(seen) > 5
    assert len(reported) == 70


def test_tasks_that_wait_for_their_group_do_not_block_slots():
    """With one prompt per language, the eight consecutive tasks of a group share one call."""
    running, most = 0, 0

    async def answer(request):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.1)
        running -= 1
        return model.answer(request)

    model = Model(lambda _: verdict(4))
    judge = GroupedTranslationJudge(
        GroupedJudge(RUBRIC, "m", provider=ScriptedProvider(answer)),
        given := tasks(72),
        BatchOptions(control_share=0.0),
    )
    summary = Run([task.item() for task in given], judge, cache=None, limits=Limits(concurrency=4)).execute()

    assert (summary.status, summary.scores.judged) == ("finished", 72)
    assert most == 4


EXPECTED = Path(__file__).parent / "expected/grouped.jsonl"
RECORDED = [json.loads(line) for line in EXPECTED.read_text(encoding="utf-8").splitlines()]


def recorded_run(recorded, model, cap=None, concurrency=1, **options):
    """Run a recorded case; return the summary, the scores of all tasks, and the drift."""
    case = Case.of(recorded["case"])
    texts = [
        tuple(PromptResult(generated_output=f"text {number} of {prompt}") for prompt in range(case.prompts))
        for number in range(case.languages)
    ]
    file = [
        LanguageResult(language_name=tag, language_code=tag, prompts=prompts)
        for tag, prompts in zip(TAGS, texts, strict=False)
    ]
    given = tasks_of(file, TABLE)
    grouped = GroupedJudge(RUBRIC, "m", provider=ScriptedProvider(model.answer), allow_single=True)
    judge = GroupedTranslationJudge(
        grouped, given, BatchOptions(case.size, case.control_share, case.tolerance, case.seed)
    )
    items, limits = [task.item() for task in given], Limits(concurrency=concurrency, max_calls=cap)
    summary = Run(items, judge, cache=None, limits=limits, **options).execute()
    outcomes = [outcome for _, outcome in summary.outcomes()]
    scores = "".join("-" if isinstance(each, Failure) else f"{each.score:g}" for each in outcomes)
    return summary, scores, judge.drift.as_row()


@for_each("recorded", RECORDED)
def test_a_run_has_the_same_outcomes_drift_and_calls_as_version_0_1(recorded):
    model = CaseModel(Case.of(recorded["case"]))

    _, scores, drift = recorded_run(recorded, model, concurrency=recorded["case"] % 6 + 1)

    assert (scores, drift) == (recorded["scores"], recorded["drift"])
    assert {str(size): model.calls.count(size) for size in sorted(set(model.calls))} == recorded["calls"]


@for_each("recorded", [each for each in RECORDED[::4] if Case.of(each["case"]).control_share < 1])
def test_a_run_that_is_stopped_anywhere_and_resumed_asks_nothing_twice_and_ends_as_if_it_had_not_been(
    recorded, tmp_path
):
    model = CaseModel(Case.of(recorded["case"]))
    output, status, stops = tmp_path / f"{recorded['case']}.jsonl", "capped", 0

    while status == "capped":
        summary, scores, drift = recorded_run(recorded, model, cap=3, output=output, keep_replies=True)
        status, stops = summary.status, stops + 1

    assert (scores, drift) == (recorded["scores"], recorded["drift"])
    assert max(model.prompts.values()) == 1
    assert stops in (-(-len(model.calls) // 3), len(model.calls) // 3 + 1)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(output.stem)] == [output.name]


def test_the_checks_judge_each_task_by_its_own_language():
    texts = {"th": "สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหนครับ", "ru": "สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหนครับ"}
    file = [
        LanguageResult(language_name=tag, language_code=tag, prompts=(PromptResult(generated_output=text),))
        for tag, text in texts.items()
    ]
    given = tasks_of(file, TABLE)

    summary = Run([task.item(offline=True) for task in given], LanguageJudge(RUBRIC, [], given), cache=None).execute()

    assert [(item.id, outcome.subscores["script"]) for item, outcome in summary.outcomes()] == [
        ("th:0", 5),
        ("ru:0", 1),
    ]
