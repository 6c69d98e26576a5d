"""Whole catalogues as people shipped them: what fails in them is a fault, and few things fail."""

import os
from collections import Counter
from pathlib import Path

import pytest

from polyjudge import review_files

DATA = Path(os.environ.get("POLYJUDGE_DATA", "")) / "po_sample"
MOST_FAILS = 5
"""In 1,000 messages."""

pytestmark = pytest.mark.skipif(
    not os.environ.get("POLYJUDGE_DATA") or not DATA.is_dir(), reason="POLYJUDGE_DATA has no po_sample"
)


@pytest.fixture(scope="module")
def review():
    return review_files(DATA)


def test_few_messages_fail_and_those_that_do_lack_a_placeholder(review):
    messages = sum(each.messages for each in review.languages)
    fails = Counter(each.kind for each in review.findings if each.severity == "fail")

    assert messages > 7_000
    assert fails.total() <= MOST_FAILS * messages / 1_000
    assert fails["placeholder_lost"] == 6  # of one plural message of nemo.sr.po, and another


def test_planted_faults_are_found_at_their_lines_among_real_messages(tmp_path):
    text = (DATA / "gedit.pl.po").read_text(encoding="utf-8")
    lines = text.split("\n")
    place = next(number for number, line in enumerate(lines) if line == "#, c-format")
    start = next(number for number in range(place, len(lines)) if lines[number].startswith('msgstr "'))
    lines[start] = lines[start].replace("%", "")
    path = tmp_path / "gedit.pl.po"
    path.write_text("\n".join(lines), encoding="utf-8")

    found = [(each.line, each.kind) for each in review_files(path).findings if each.severity == "fail"]
    assert found == [(start + 1, "placeholder_lost")]


def test_a_review_of_one_file_has_the_findings_of_the_review_of_all(review):
    path = str(DATA / "gedit.ja.po")

    assert list(review_files(path).findings) == [each for each in review.findings if each.file == path]
