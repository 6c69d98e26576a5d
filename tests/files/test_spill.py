"""A scratch database lives as long as its owner."""

import sqlite3

import pytest

from polyjudge.files.spill import open_scratch


class Owner:
    pass


def test_a_scratch_database_is_closed_with_its_owner():
    owner = Owner()
    scratch = open_scratch(owner, "CREATE TABLE names (name BLOB)")
    scratch.execute("INSERT INTO names VALUES ('a')")
    assert scratch.execute("SELECT count(*) FROM names").fetchone() == (1,)

    del owner

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        scratch.execute("SELECT 1")
