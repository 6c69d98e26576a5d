"""Findings that a project accepts: their stable names, and the file with the reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.checks.accepted import AcceptedFindings, fingerprint, read_accepted
from polyjudge.errors import DataError
from polyjudge.languages.table import language_table
from polyjudge.records.findings import CheckedText, Finding

TABLE = language_table()
TEXT = st.text(alphabet=st.characters(), max_size=20)


def checked(text="Rufen Sie 211 an.", source="Call 112.", tag="de"):
    language = TABLE.find(tag)
    assert language is not None
    return CheckedText(text=text, language=language, source=source)


FOUND = Finding("number_changed", "fail", "Number changed: 112 → 211.")


def test_a_fingerprint_survives_a_new_wording_and_severity_and_nothing_else():
    name = fingerprint(FOUND, checked())

    assert fingerprint(replace(FOUND, message="Other words.", severity="warn"), checked()) == name
    assert fingerprint(FOUND, checked(text="Rufen Sie 211 an.\n")) == name
    others = [
        fingerprint(replace(FOUND, kind="number_lost"), checked()),
        fingerprint(FOUND, checked(text="Rufen Sie 212 an.")),
        fingerprint(FOUND, checked(source="Call 113.")),
        fingerprint(FOUND, checked(tag="nl")),
        fingerprint(replace(FOUND, start=0, end=5), checked()),
    ]
    assert len({name, *others}) == 6


@given(TEXT, TEXT)
def test_any_text_has_a_fingerprint_that_a_file_can_hold(text, source):
    name = fingerprint(FOUND, checked(text, source))

    assert len(name) == 12
    assert set(name) <= set("0123456789abcdef")


def test_a_file_is_read_and_remembers_what_occurred(tmp_path):
    path = tmp_path / "accepted.toml"
    path.write_text(
        '[[accepted]]\nfinding = "3F2A9C51B07E"\nreason = "A brand."\nkind = "mixed_script"\n\n'
        '[[accepted]]\nfinding = "aaaaaaaaaaaa"\nreason = "Old."\n',
        encoding="utf-8",
    )
    accepted = read_accepted(path)

    assert len(accepted) == 2
    assert (accepted.reason_for("3f2a9c51b07e"), accepted.reason_for("bbbbbbbbbbbb")) == ("A brand.", None)
    assert [each.finding for each in accepted.unused()] == ["aaaaaaaaaaaa"]
    assert len(AcceptedFindings()) == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('[[accepted]]\nfinding = "3f2a9c51b07e"\n', "'reason' is missing"),
        ('[[accepted]]\nfinding = "3f2a9c51b07e"\nreason = " "\n', "'reason' is missing"),
        ('[[accepted]]\nreason = "A brand."\n', "'finding' is missing"),
        ('[[accepted]]\nfinding = "a"\nreason = "b"\nwhy = "c"\n', "unknown key 'why'"),
        ('accepted = "all"\n', "is not a list"),
        ('ignored = ["a"]\n', "unknown key 'ignored'"),
        ('[[accepted]]\nfinding = "a"\nreason = "b"\n[[accepted]]\nfinding = "a"\nreason = "c"\n', "accepted twice"),
        ("accepted = [1]\n", "'finding' is missing"),
    ],
)
def test_a_file_that_says_too_little_or_something_else_is_refused(tmp_path, content, expected):
    path = tmp_path / "accepted.toml"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(DataError, match=expected):
        read_accepted(path)
