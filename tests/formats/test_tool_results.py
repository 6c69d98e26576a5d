"""The results of other tools are read as outcome rows."""

from pathlib import Path

from polyjudge.formats.columns import table_options
from polyjudge.formats.row_files import rows_of
from polyjudge.formats.tables import rows_from
from polyjudge.records.outcomes import JudgeResult, read_outcome_row

_ALPACA = (
    '[{"instruction": "Name a bird.", "output_1": "A robin.", "generator_1": "base", "output_2": "A wren.",'
    ' "generator_2": "new", "annotator": "judge-1", "preference": 1.9, "price_per_example": 0.01}]'
)


def _alpaca(folder: Path) -> Path:
    path = folder / "annotations.json"
    path.write_text(_ALPACA, encoding="utf-8")
    return path


def test_a_recorded_preference_is_the_score_of_the_model_against_the_baseline(tmp_path: Path) -> None:
    [(_, row)] = rows_of(_alpaca(tmp_path))
    assert not isinstance(row, str)
    _, outcome = read_outcome_row(row)
    assert isinstance(outcome, JudgeResult)
    assert (round(outcome.score, 9), outcome.verdict, outcome.model) == (0.9, "first", "judge-1")
    assert (row["system"], row["otherSystem"]) == ("new", "base")
    assert row["extra"] == {"annotator": "judge-1", "price_per_example": 0.01}


def test_named_columns_are_those_of_the_file_itself(tmp_path: Path) -> None:
    options = table_options({"candidate": "output_1"})
    [(_, row, _)] = rows_from(_alpaca(tmp_path), options=options)
    assert not isinstance(row, str)
    assert row["output_1"] == "A robin."
