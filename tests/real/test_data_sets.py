"""Data sets of Hugging Face, which `datasets` 5 saved to disk, and folders of Parquet files.

`data_set` was made by `DatasetDict({"train": Dataset.from_dict(ROWS), "test": …}).save_to_disk(…)`.
"""

import json
from pathlib import Path
from shutil import copytree

import pytest

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.formats.items import read_items

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
SAVED = Path(__file__).parent / "data_set"


def test_a_split_goes_from_the_folder_to_a_report(capsys):
    assert main(["report", "--results", str(SAVED / "train"), "--format", "json"]) == 0

    shown = capsys.readouterr()
    [language] = json.loads(shown.out)["languageResults"]
    assert [each["sourceText"] for each in language["prompts"]] == ["Where is it?", "Who?"]
    assert "candidate=answer, source=question, language=lang" in shown.err.replace(
        "source=question, candidate=answer", "candidate=answer, source=question"
    )


def test_of_several_splits_one_must_be_named(capsys):
    assert main(["report", "--results", str(SAVED)]) == 2

    assert f"Give the folder of one of them: {SAVED / 'train'}, {SAVED / 'test'}" in capsys.readouterr().err


def test_a_single_split_need_not_be_named(tmp_path):
    copytree(SAVED, tmp_path / "one")
    (tmp_path / "one" / "dataset_dict.json").write_text('{"splits": ["train"]}', encoding="utf-8")

    assert [item.candidate for item in read_items(tmp_path / "one")] == ["Où est-ce ?", "Qui ?"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("state.json", '{"_data_files": [{"filename": "../secret.arrow"}]}', "must be names in the same folder"),
        ("state.json", "{}", "expected an object with a list '_data_files'"),
        ("state.json", "[", "expected an object with a list '_data_files'"),
        ("data-00000-of-00001.arrow", "no arrow", "cannot be read as an Arrow file"),
    ],
)
def test_a_broken_data_set_is_one_message(tmp_path, name, content, message):
    copytree(SAVED / "train", tmp_path / "broken")
    (tmp_path / "broken" / name).write_text(content, encoding="utf-8")

    with pytest.raises(DataError, match=message):
        list(read_items(tmp_path / "broken"))


def test_structs_of_parquet_are_columns_with_dots(tmp_path):
    table = pyarrow.table({"translation": [{"en": "Hello", "fr": "Bonjour", "de": "Hallo"}]})
    parquet.write_table(table, tmp_path / "t.parquet")

    items = list(read_items(tmp_path / "t.parquet"))

    assert [(item.language, item.candidate, item.context["source"]) for item in items] == [
        ("fr", "Bonjour", "Hello"),
        ("de", "Hallo", "Hello"),
    ]
