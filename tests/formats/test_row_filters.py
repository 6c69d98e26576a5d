"""Rows that `--filter` selects."""

import pytest

from polyjudge.errors import ConfigError
from polyjudge.formats.row_filters import RowFilter

ROWS = [{"id": "a", "passed": True}, {"id": "b", "passed": False}, {"id": "c", "passed": None}, {"id": "d"}]


@pytest.mark.parametrize(("value", "selected"), [("true", ["a"]), ("false", ["b"]), ("", ["c", "d"])])
def test_truth_values_are_written_as_in_json(value, selected):
    chosen = RowFilter({"passed": frozenset([value])})
    assert [row["id"] for row in ROWS if chosen.selects(row)] == selected


def test_a_filter_that_selects_nothing_names_the_values_as_they_are_written(tmp_path):
    chosen = RowFilter({"passed": frozenset(["no"])})
    assert not any(chosen.selects(row) for row in ROWS)
    with pytest.raises(ConfigError, match="Values of passed: false, true"):
        chosen.check(tmp_path / "rows.jsonl")
