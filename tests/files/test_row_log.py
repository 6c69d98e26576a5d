"""An append-only file of rows, also after a kill."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import RowLog, readable_json
from polyjudge.records.outcomes import Failure, JudgeResult, outcome_row


@pytest.fixture
def log(tmp_path):
    opened = RowLog(tmp_path / "deep" / "rows.jsonl")
    yield opened
    opened.close()


RESULT = JudgeResult(score=4.0, reason="gut", subscores={"script": 5}, model="m")


def test_rows_can_be_read_as_soon_as_they_are_written(log, text):
    assert log.is_empty
    failure = Failure(kind="refused", reason=text)
    log.append(outcome_row("a", RESULT))
    log.append(outcome_row(text, failure))

    assert not log.is_empty
    assert [item_id for item_id, _ in log.outcomes()] == ["a", text]
    assert [outcome for _, outcome in log.outcomes()] == [RESULT, failure]


def test_a_log_that_is_opened_again_is_appended_to(log):
    log.append(outcome_row("a", RESULT))
    again = RowLog(log.path)
    again.append(outcome_row("b", RESULT))
    again.close()

    assert [item_id for item_id, _ in log.outcomes()] == ["a", "b"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(0, 3), incomplete=st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=50))
def test_only_an_incomplete_last_row_is_removed(tmp_path, rows, incomplete):
    path = tmp_path / "rows.jsonl"
    whole = "".join(readable_json(outcome_row(str(number), RESULT)) + "\n" for number in range(rows))
    path.write_text(whole + incomplete, encoding="utf-8")
    log = RowLog(path)

    log.drop_incomplete_row()
    log.append(outcome_row("next", RESULT))
    log.close()

    assert path.read_text(encoding="utf-8").startswith(whole)
    assert [item_id for item_id, _ in log.outcomes()] == [*map(str, range(rows)), "next"]


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("before", ["", "{}\n"])
def test_a_long_incomplete_row_is_removed_completely(log, before, size):
    log.path.write_text(before + "x" * size, encoding="utf-8")

    log.drop_incomplete_row()

    assert log.path.read_text(encoding="utf-8") == before


def test_an_unreadable_row_is_an_error_with_a_remedy(log):
    log.append(outcome_row("a", RESULT))
    log.append({"id": "b"})

    with pytest.raises(DataError, match=r"rows\.jsonl:2: .*; delete the file to start again"):
        list(log.outcomes())


def test_an_unwritable_path_is_an_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    for path in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(DataError, match="cannot be written"):
            RowLog(path)


@pytest.mark.parametrize("place", [".", "", "..", "/"])
def test_a_folder_as_path_is_an_error(in_folder, place):
    from pathlib import Path

    with pytest.raises(DataError, match="cannot be written"), write_atomically(Path(place)) as file:
        file.write("x")

    assert list(in_folder.iterdir()) == []


def test_files_with_the_longest_names_can_be_written_in_any_script(tmp_path):
    for name in ("a" * 255, "字" * 85, "😀" * 63):
        with write_atomically(tmp_path / name) as file:
            file.write("x")
        assert (tmp_path / name).read_text(encoding="utf-8") == "x"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=8,
    )
)
def test_readable_json_is_strictly_valid(value):
    def without_infinity(each):
        if isinstance(each, float):
            return each if abs(each) != float("inf") else None
        if isinstance(each, dict):
            return {key: without_infinity(inner) for key, inner in each.items()}
        return [without_infinity(inner) for inner in each] if isinstance(each, list) else each

    for indent in (None, 1):
        text = readable_json(value, indent=indent)
        assert json.loads(text, parse_constant=pytest.fail) == without_infinity(value)
        text.encode("utf-8")
