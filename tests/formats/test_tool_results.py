"""The results of other tools are read as outcome rows."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from polyjudge.errors import DataError
from polyjudge.formats.columns import table_options
from polyjudge.formats.row_files import rows_from, rows_of
from polyjudge.records.outcomes import Failure, JudgeResult, read_outcome_row

ALPACA: Mapping[str, Any] = {
    "instruction": "Name a bird.",
    "output_1": "A robin.",
    "generator_1": "base",
    "output_2": "A wren.",
    "generator_2": "new",
    "annotator": "judge-1",
    "preference": 1.9,
    "price_per_example": 0.01,
    "raw_completion": {"text": "m"},
}
BAR: Mapping[str, Any] = {"input": "Name a bird.", "output_1": "A robin.", "output_2": "A wren.", "label": 1}
BENCH: Mapping[str, Any] = {
    "pair_id": "p1",
    "original_id": 7,
    "source": "mmlu-pro-law",
    "question": "Is it so?",
    "response_model": "m",
    "response_A": "Yes.",
    "response_B": "No.",
    "label": "A>B",
    "judge_name": "j",
}
TEST_SET: Mapping[str, Any] = {
    "idx": 3,
    "cmp_key": "wren-7b_robin-7b",
    "instruction": "Name a bird.",
    "input": "",
    "response1": "A wren.",
    "response2": "A robin.",
    "annotator1": 1,
    "annotator2": 0,
}
DRAW: Mapping[str, Any] = {"prompt_id": "a1", "prompt": "Name a bird.", "response": "A wren.", "judge_score": 0.5}


def written(folder: Path, *rows: Mapping[str, Any], name: str = "file.json") -> Path:
    path = folder / name
    lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) if name.endswith("l") else f"[{', '.join(lines)}]", encoding="utf-8")
    return path


def read(path: Path) -> list[Mapping[str, Any]]:
    rows = [row for _, row in rows_of(path)]
    assert not [row for row in rows if isinstance(row, str)]
    return [row for row in rows if not isinstance(row, str)]


def outcome_of(row: Mapping[str, Any]) -> JudgeResult | Failure:
    _, outcome = read_outcome_row(row)
    assert isinstance(outcome, JudgeResult | Failure)
    return outcome


def result_of(row: Mapping[str, Any]) -> JudgeResult:
    outcome = outcome_of(row)
    assert isinstance(outcome, JudgeResult)
    return outcome


def failure_of(row: Mapping[str, Any]) -> Failure:
    outcome = outcome_of(row)
    assert isinstance(outcome, Failure)
    return outcome


# AlpacaEval


def test_a_recorded_preference_is_the_score_of_the_model_against_the_baseline(tmp_path: Path) -> None:
    [row] = read(written(tmp_path, ALPACA))
    outcome = result_of(row)
    assert (round(outcome.score, 9), outcome.verdict, outcome.model) == (0.9, "first", "judge-1")
    assert (row["system"], row["otherSystem"]) == ("new", "base")
    assert outcome.raw == '{"text": "m"}'
    assert row["extra"] == {"annotator": "judge-1", "price_per_example": 0.01}


@pytest.mark.parametrize(("preference", "score"), [(2, 1), (1, 0), (1.5, 0.5), (0, 0.5)])
def test_whole_preferences_are_wins_and_losses_and_a_zero_is_a_tie_as_in_old_files(
    tmp_path: Path, preference: float, score: float
) -> None:
    [row] = read(written(tmp_path, {**ALPACA, "preference": preference}))
    assert result_of(row).score == score


@pytest.mark.parametrize("preference", [None, float("nan"), -1, 3, "m", True])
def test_what_is_no_preference_is_unreadable_and_never_a_number(tmp_path: Path, preference: object) -> None:
    [row] = read(written(tmp_path, {**ALPACA, "preference": preference}))
    assert failure_of(row).kind == "unreadable"


def test_the_name_of_the_model_in_old_files_is_read(tmp_path: Path) -> None:
    old = {name: value for name, value in ALPACA.items() if not name.startswith("generator")}
    [row] = read(written(tmp_path, {**old, "generator": "new"}))
    assert (row["system"], "otherSystem" in row) == ("new", False)


def test_an_instruction_has_one_id_for_every_model_so_that_models_are_compared_on_it(tmp_path: Path) -> None:
    one = read(written(tmp_path, ALPACA, {**ALPACA, "output_2": "A duck."}))
    [other] = read(written(tmp_path, {**ALPACA, "output_2": "A kite.", "generator_2": "third"}, name="other.json"))
    assert one[0]["id"] == other["id"]
    assert one[1]["id"] == f"{other['id']}-2"


def test_several_people_on_one_instruction_are_several_annotators_of_one_item(tmp_path: Path) -> None:
    person = {name: value for name, value in ALPACA.items() if name != "annotator"}
    given = [{**person, "annotator_index": index, "preference": index - 14} for index in (15, 16)]
    rows = read(written(tmp_path, *given, {**given[0], "preference": None}))
    assert [(row["annotator"], row["label"]) for row in rows] == [
        ("human/15", "second"),
        ("human/16", "first"),
        ("human/15", None),
    ]
    judged = read(written(tmp_path, ALPACA, ALPACA, name="judge.json"))
    assert [row["id"] for row in rows] == [judged[0]["id"], judged[0]["id"], judged[1]["id"]]
    assert "outcome" not in rows[0]


def test_named_columns_are_those_of_the_file_itself(tmp_path: Path) -> None:
    options = table_options({"candidate": "output_1"})
    [(_, row, _)] = rows_from(written(tmp_path, ALPACA), options=options)
    assert not isinstance(row, str)
    assert row["output_1"] == "A robin."


# PandaLM


@pytest.mark.parametrize(("given", "verdict"), [("1", "first"), (2, "second"), ("Tie", "tie"), (0, "tie")])
def test_a_verdict_names_a_response_by_its_number(tmp_path: Path, given: object, verdict: str) -> None:
    [row] = read(written(tmp_path, {"idx": 3, "gpt_result": given, "gpt_reason": "so", "gpt_reference": "A bird."}))
    outcome = result_of(row)
    assert (row["id"], outcome.verdict, outcome.reason, outcome.model) == ("3", verdict, "so", "gpt")
    assert row["extra"] == {"gpt_reference": "A bird."}


def test_garbage_is_a_failure_with_what_was_said(tmp_path: Path) -> None:
    [row] = read(written(tmp_path, {"idx": 3, "my-judge_result": "garbage"}))
    failure = failure_of(row)
    assert (failure.kind, failure.raw, failure.model) == ("unreadable", "garbage", "my-judge")


def test_each_annotator_of_an_item_has_a_row_with_a_label(tmp_path: Path) -> None:
    rows = read(written(tmp_path, {**TEST_SET, "annotator3": None}))
    assert [(row["id"], row["annotator"], row["label"]) for row in rows] == [
        ("3", "annotator1", "first"),
        ("3", "annotator2", "tie"),
        ("3", "annotator3", None),
    ]
    assert (rows[0]["candidate"], rows[0]["system"], rows[0]["otherSystem"]) == ("A wren.", "wren-7b", "robin-7b")
    assert "outcome" not in rows[0]


def test_a_label_that_names_no_response_is_reported(tmp_path: Path) -> None:
    rows = [row for _, row in rows_of(written(tmp_path, {**TEST_SET, "annotator2": 5}))]
    assert rows[1] == "annotator2: '5' is no label; expected 1, 2 or 0"


# LLMBar


def winners(given: object, swapped: object, **more: object) -> dict[str, object]:
    return {
        "swap = False": {"completion": ["Output (a)", "stop"], "winner": given},
        "swap = True": {"completion": ["Output (b)", "stop"], "winner": swapped},
        **more,
    }


@pytest.mark.parametrize(
    ("given", "swapped", "score", "verdict"),
    [("1", "1", 1, "first"), ("2", "2", 0, "second"), ("1", "2", 0.5, "tie"), (None, "2", 0, "second")],
)
def test_both_orders_are_members_in_terms_of_the_given_order(
    tmp_path: Path, given: object, swapped: object, score: float, verdict: str
) -> None:
    [row] = read(written(tmp_path, {**BAR, "results": [winners(given, swapped)]}))
    outcome = result_of(row)
    assert (outcome.score, outcome.verdict, row["label"]) == (score, verdict, "first")
    assert [member.order for member in outcome.members] == ["given", "swapped"]
    assert [member.raw for member in outcome.members] == ["Output (a)", "Output (b)"]


def test_an_item_without_a_winner_in_either_order_has_no_verdict(tmp_path: Path) -> None:
    [row] = read(written(tmp_path, {**BAR, "results": [winners(None, None)]}))
    failure = failure_of(row)
    assert (failure.kind, [member.order for member in failure.members]) == ("unreadable", ["given", "swapped"])


def test_the_last_round_counts_and_the_others_and_auxiliary_texts_are_kept(tmp_path: Path) -> None:
    asked = {"swap = False": {"prompt": "Which?", "winner": "2"}, "swap = True": {"winner": "2"}}
    rounds = [["Some metrics.", "stop"], winners("1", "2"), asked]
    [row] = read(written(tmp_path, {**BAR, "results": rounds}))
    assert result_of(row).verdict == "second"
    assert row["extra"] == {"results": rounds[:2], "given": {"prompt": "Which?"}}


def test_ratings_of_both_outputs_are_kept_beside_the_winners(tmp_path: Path) -> None:
    rated = {"score_1": ["8", "stop"], "score_2": ["9", "stop"], "swap = False": {"winner": "2"}}
    [row] = read(written(tmp_path, {**BAR, "results": [{**rated, "swap = True": {"winner": "2"}}]}))
    assert result_of(row).verdict == "second"
    assert row["extra"] == {"score_1": ["8", "stop"], "score_2": ["9", "stop"]}


def test_statistics_are_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "statistics.json"
    path.write_text('{"correct_False": "1 / 1", "correct_True": "1 / 1", "kappa_agreement": 1}', encoding="utf-8")
    with pytest.raises(DataError, match=r"LLMBar's totals.*Give the result\.json"):
        list(rows_of(path))


# JudgeBench


def judged(*decisions: str | None, **more: object) -> dict[str, object]:
    given = [
        {"judgment": {"judge_model": "jm", "response": f"[[{each}]]", **more}, "decision": each} for each in decisions
    ]
    return {**BENCH, "judgments": given}


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("A>B", "B>A", "first"),
        ("B>A", "A>B", "second"),
        ("A>B", "A>B", "tie"),
        ("A=B", "B>A", "first"),
        (None, "B>A", "first"),
    ],
)
def test_the_second_judgment_is_turned_back(tmp_path: Path, first: str | None, second: str, verdict: str) -> None:
    [row] = read(written(tmp_path, judged(first, second), name="output.jsonl"))
    assert (row["id"], row["category"], row["label"]) == ("p1", "mmlu-pro", "first")
    assert (result_of(row).verdict, result_of(row).model) == (verdict, "jm")


def test_a_single_judgment_and_the_scores_of_a_reward_model_are_read(tmp_path: Path) -> None:
    [row] = read(written(tmp_path, judged("A>B", scores=[1.5, 0.5]), name="output.jsonl"))
    assert [member.order for member in result_of(row).members] == ["given"]
    assert row["extra"]["judgments"] == [{"scores": [1.5, 0.5]}]


def test_a_call_that_failed_is_a_failure_of_the_call(tmp_path: Path) -> None:
    [row] = read(written(tmp_path, {**BENCH, "judgments": [None, None]}, name="output.jsonl"))
    assert failure_of(row).kind == "provider_error"


def test_data_without_judgments_is_reported_by_row(tmp_path: Path) -> None:
    [(_, row)] = rows_of(written(tmp_path, BENCH, name="data.jsonl"))
    assert isinstance(row, str)
    assert "no judgments" in row


# CJE


def test_the_draws_of_a_prompt_have_its_id_and_belong_together(tmp_path: Path) -> None:
    draws = [{**DRAW, "draw_idx": 0, "oracle_label": 0.25}, {**DRAW, "draw_idx": 1, "policy": "base"}]
    one, other = read(written(tmp_path, *draws, name="draws.jsonl"))
    assert (one["id"], one["score"], one["label"]) == ("a1", 0.5, 0.25)
    assert (other["id"], other["cluster"], other["system"], "label" in other) == ("a1:1", "a1", "base", False)


def test_the_prompt_of_logged_data_is_in_its_metadata(tmp_path: Path) -> None:
    logged = {"prompt": "p", "response": "r", "metadata": {"prompt_id": "a2"}, "judge_score": None}
    [row] = read(written(tmp_path, logged, name="data.jsonl"))
    assert (row["id"], failure_of(row).kind) == ("a2", "not_recorded")
