"""Recorded files of evaluation frameworks are read as the frameworks' own APIs read them."""

import json
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.framework_results import check_promptfoo, check_rows, rows

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.formats.columns import table_options
from polyjudge.formats.ratings import RatingColumns, read_ratings
from polyjudge.formats.row_files import rows_from
from polyjudge.formats.tools import TOOL_FORMATS, tool_format_of
from polyjudge.languages.table import language_table
from polyjudge.pages.sampling import Source, read_sample
from polyjudge.records.outcomes import read_outcome_row

RECORDED = Path(__file__).parents[1] / "golden" / "frameworks"
SAMPLES = next((RECORDED / "lm-eval").glob("samples_*.jsonl"))
FILES = {
    "inspect": RECORDED / "inspect.json",
    "promptfoo": RECORDED / "promptfoo.json",
    "deepeval": RECORDED / "deepeval.json",
    "lm-eval": SAMPLES,
    "pydantic-evals": RECORDED / "pydantic-evals.json",
}


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in FILES if name != "promptfoo"])
def test_each_score_and_failure_is_that_of_the_frameworks_api(name):
    check_rows(rows(FILES[name]), read_json(RECORDED / f"{name}-expected.json"))


def test_the_counts_of_promptfoo_are_those_it_shows():
    check_promptfoo(FILES["promptfoo"])


def test_each_file_is_recognised_as_the_tool_that_wrote_it():
    found = {name: tool.name for name, path in FILES.items() if (tool := tool_format_of(path))}
    assert found == {
        "inspect": "Inspect log",
        "promptfoo": "promptfoo results",
        "deepeval": "DeepEval test run",
        "lm-eval": "lm-evaluation-harness samples",
        "pydantic-evals": "pydantic-evals report",
    }
    assert len({tool.reader for tool in TOOL_FORMATS}) == len(TOOL_FORMATS)


def test_a_judge_that_failed_is_not_the_answers_failure():
    by_id = {row["id"]: row for row in rows(FILES["pydantic-evals"])}
    assert (by_id["pe"]["outcome"], by_id["pe"]["kind"]) == ("failure", "provider_error")
    assert by_id["pe"]["reason"].startswith("Judge: JSONDecodeError")
    assert by_id["at"]["reason"] == "RuntimeError: no such country"
    peru = [row for row in rows(FILES["promptfoo"]) if row["extra"]["vars"].get("country") == "Peru"]
    assert {row["outcome"] for row in peru} == {"failure"}
    assert {row["candidate"] for row in peru} == {"Lima", "Lima of course"}


def test_repetitions_share_a_cluster_and_the_first_has_the_id_of_the_sample():
    for name in ("inspect", "promptfoo", "pydantic-evals"):
        for row in rows(FILES[name]):
            assert row["id"] in (row["cluster"], f"{row['cluster']}-2"), name


def test_words_of_inspect_are_numbers_with_their_words():
    by_id = {row["id"]: row for row in rows(FILES["inspect"])}
    assert (by_id["fr"]["score"], by_id["fr"]["verdict"], by_id["fr"]["passed"]) == (1.0, "correct", True)
    assert (by_id["es"]["score"], by_id["es"]["verdict"], by_id["es"]["passed"]) == (0.0, "incorrect", False)
    assert (by_id["fr"]["subscores"]["partial"], by_id["3"]["subscores"]["partial"]) == (0.5, 0.0)
    assert (by_id["fr"]["language"], by_id["es"]["reference"]) == ("fr", "Madrid\nVilla de Madrid")
    assert by_id["fr"]["extra"]["metadata"]["human"] == 1


def inspect_log(path, value):
    sample = {"id": "a", "epoch": 1, "input": "Hi", "target": "x", "scores": {"kind": {"value": value}}}
    header = {"run_id": "r", "task": "t", "model": "m", "scorers": [{"name": "kind"}]}
    path.write_text(json.dumps({"status": "success", "eval": header, "samples": [sample]}), encoding="utf-8")
    return rows(path)[0]


def test_a_word_that_is_no_number_is_named_and_kept(tmp_path):
    row = inspect_log(tmp_path / "log.json", "toxic")
    assert (row["outcome"], row["verdict"]) == ("failure", "toxic")
    assert row["reason"] == "kind gives the word 'toxic', and no number."
    case = {"name": "a", "inputs": 1, "expected_output": 2, "labels": {"tone": {"name": "tone", "value": "rude"}}}
    (tmp_path / "report.json").write_text(json.dumps({"name": "r", "cases": [case]}), encoding="utf-8")
    [row] = rows(tmp_path / "report.json")
    assert (row["verdict"], row["reason"]) == ("rude", "tone gives the word 'rude', and no number.")


def test_several_values_of_the_first_scorer_are_named(tmp_path):
    row = inspect_log(tmp_path / "log.json", {"short": True, "kind": 3})
    assert row["subscores"] == {"kind.short": 1.0, "kind.kind": 3.0}
    assert row["reason"] == "kind gives several values, and none for all: kind.short, kind.kind."


def test_a_scorer_that_failed_is_a_missing_rating_and_no_missing_column():
    found = read_ratings(FILES["inspect"], RatingColumns(value="subscores.model_graded_qa"))
    values = {rating.id: rating.value for rating in found.ratings}
    assert values == {"fr": 1.0, "fr-2": 1.0, "es": 0.0, "es-2": 0.0, "3": None, "3-2": None}
    assert found.problems == []


def test_a_subscore_counts_although_the_first_scorer_failed():
    found = read_ratings(FILES["pydantic-evals"], RatingColumns(value="subscores.EqualsExpected"))
    values = {rating.id: rating.value for rating in found.ratings}
    assert (values["fr"], values["es"], values["pe"]) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize("name", list(FILES))
def test_reports_and_comparisons_take_the_file_as_it_is(name, tmp_path, capsys):
    assert main(["report", str(FILES[name]), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["rows"], report["skippedRows"]) == (len(rows(FILES[name])), 0)
    if name == "promptfoo":
        return  # it has two systems
    other = tmp_path / FILES[name].name
    shutil.copy(FILES[name], other)
    assert main(["compare", str(FILES[name]), str(other), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]


def test_named_columns_are_those_of_the_file_itself():
    options = table_options({"candidate": "doc.answer", "id": "doc_id"})
    found = [row for _, row, _ in rows_from(SAMPLES, options=options)]
    assert "doc_hash" in found[0]


def test_one_of_several_systems_is_chosen_by_a_filter_to_be_labelled():
    source = Source(FILES["promptfoo"], table=language_table())
    with pytest.raises(DataError, match=r"has outputs of several systems \('openai:gpt-large', 'small'\)"):
        read_sample(source, 10, 0)
    found = read_sample(replace(source, filters={"system": frozenset({"small"})}), 10, 0)
    assert {item.output for item in found.items.values()} == {"Paris", "Rome", "Lima"}


def test_labels_in_the_metadata_of_samples_are_compared_with_each_scorer(capsys):
    options = ["--label", "extra.metadata.human", "--score", "subscores.model_graded_qa", "--format", "json"]
    assert main(["calibrate", "agreement", str(FILES["inspect"]), *options]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == 2


def test_a_choice_by_likelihood_is_the_text_of_the_choice(tmp_path):
    sample = {
        "doc_id": 7,
        "doc": {"question": "2 + 2?"},
        "target": "1",
        "arguments": {f"gen_args_{n}": {"arg_0": "2 + 2?", "arg_1": text} for n, text in enumerate((" 3", " 4"))},
        "resps": [[["-3.5", "False"]], [["-0.1", "True"]]],
        "filtered_resps": [["-3.5", "False"], ["-0.1", "True"]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }
    path = tmp_path / "samples_sums_2026-01-01T00-00-00.jsonl"
    path.write_text(json.dumps(sample) + "\n[]\n", encoding="utf-8")
    first, second = [row for _, row, _ in rows_from(path)]
    assert (first["candidate"], first["reference"], first["score"]) == ("4", "4", 1.0)
    assert isinstance(second, str)


def test_a_metric_of_the_whole_task_is_no_verdict_of_a_document(tmp_path):
    sample = {"doc_id": 0, "resps": [["a"]], "filtered_resps": ["a"], "filter": "none", "metrics": ["bleu"]}
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps({**sample, "bleu": ["a", "b"]}) + "\n", encoding="utf-8")
    [row] = rows(path)
    assert row["outcome"] == "failure"
    assert row["reason"] == "No metric has a number for each document: bleu,none."


def test_an_eval_file_without_inspect_names_the_command_that_installs_it(tmp_path, capsys):
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04")
    assert main(["report", str(path)]) == 2
    message = capsys.readouterr().err
    assert "reading Inspect's .eval files needs the package 'inspect_ai" in message
    assert "[inspect]" in message


def test_another_file_that_ends_with_eval_is_refused(tmp_path):
    path = tmp_path / "notes.eval"
    path.write_text("notes", encoding="utf-8")
    with pytest.raises(DataError, match=r"unknown file format; supported: .*\.eval"):
        list(rows_from(path))


_WRONG = (None, True, -1, 2.5, "", "x", "1", [], {}, [1], ["a"], {"a": 1}, [{"a": None}], [None])


def _places(value, path=()):
    """Yield the path of each value inside a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from _places(each, (*path, key))


def _replaced(value, path, wrong):
    if not path:
        return wrong
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], wrong)
    return copy


def _content(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines] if path.suffix == ".jsonl" else read_json(path)


_CONTENTS = {name: _content(path) for name, path in FILES.items()}
_PLACES = {name: list(_places(content)) for name, content in _CONTENTS.items()}


@given(st.data())
def test_values_of_other_types_give_rows_that_can_be_read_or_messages(tmp_path_factory, data):
    name = data.draw(st.sampled_from(list(FILES)))
    content = _CONTENTS[name]
    for _ in range(3):
        path = data.draw(st.sampled_from(_PLACES[name]))
        with suppress(KeyError, IndexError, TypeError, ValueError):  # it is inside a value that was replaced
            content = _replaced(content, path, data.draw(st.sampled_from(_WRONG)))
    file = tmp_path_factory.mktemp("changed") / FILES[name].name
    is_lines = file.suffix == ".jsonl" and isinstance(content, list)
    texts = [json.dumps(row) for row in content] if is_lines else [json.dumps(content)]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    tool = tool_format_of(file)
    with suppress(DataError):
        for _, row in tool.rows(file) if tool else ():
            assert isinstance(row, str) or read_outcome_row(row)[0] == row["id"]
