"""Rows without an id get one from their content, and a counter if they are the same."""

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from polyjudge.formats.columns import ColumnMap, RowMapper, made_id
from polyjudge.languages.table import LanguageTags

COLUMNS = ColumnMap(Path("t.csv"), ("candidate", "source"), {"candidate": "candidate", "source": "source"})
TEXTS = st.text(st.characters(), max_size=3)  # lone surrogates included
ROWS = st.lists(st.fixed_dictionaries({"candidate": TEXTS, "source": st.sampled_from(["", "a", "b"])}), max_size=20)


def made(row):
    return made_id(row, LanguageTags())


def ids(rows):
    naming = RowMapper().naming(COLUMNS)
    return [named["id"] for row in rows for named in naming(row)]


@given(ROWS)
def test_made_ids_are_unique(rows):
    assert len(set(ids(rows))) == len(rows)


@given(ROWS)
def test_the_counter_of_identical_rows_starts_at_two(rows):
    seen = Counter()
    for row, found in zip(rows, ids(rows), strict=True):
        own = made(row)
        seen[own] += 1
        assert found == (own if seen[own] == 1 else f"{own}-{seen[own]}")


@given(ROWS.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_sorting_a_table_keeps_the_ids(pair):
    rows, sorted_rows = pair

    assert sorted(ids(rows)) == sorted(ids(sorted_rows))


@given(ROWS, st.text())
def test_a_column_that_is_added_keeps_the_ids(rows, note):
    assert ids({**row, "label": note} for row in rows) == ids(rows)


def test_parts_of_a_row_do_not_run_together():
    assert made({"source": "ab", "candidate": "c"}) != made({"source": "a", "candidate": "bc"})
    assert made({"source": "ab"}) != made({"candidate": "ab"})


def test_a_language_by_its_name_makes_the_id_of_its_tag():
    ids = {made({"candidate": "oui", "language": language}) for language in ("fr", "French", "français", "FRENCH")}

    assert len(ids) == 1
