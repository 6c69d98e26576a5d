"""A review in several processes is the review in one."""

import json

import pytest

from polyjudge.errors import DataError
from polyjudge.languages.table import language_table
from polyjudge.review.glossary import read_glossary
from polyjudge.review.reviewing import Reviewer, ReviewOptions

SOURCES = {
    "open": "Open the file",
    "count": "{count} files were deleted",
    "bye": "Goodbye!",
    "name": "Settings",
    "twice": "Open the file",
}
TEXTS = {
    "de": ["Datei öffnen", "Dateien wurden gelöscht", "Tschüss", "Settings", "Die Datei öffnen"],
    "th": ["เปิดไฟล์", "ลบไฟล์ {count} ไฟล์แล้ว", "ลาก่อน!", "การตั้งค่า", "เปิดไฟล์"],
    "ar": ["افتح الملف", "تم حذف {count} ملفات", "وداعا", "الإعدادات", "افتح  الملف"],
    "fr": ["Ouvrir le fichier", "{count} fichiers supprimés", "Au revoir !", "", "Datei öffnen"],
    "xx": ["a", "b {count}", "c!", "d", "e"],
}


@pytest.fixture
def folder(tmp_path):
    for place in ("app", "site"):
        (tmp_path / place).mkdir()
        for tag, texts in {"en": list(SOURCES.values()), **TEXTS}.items():
            messages = dict(zip(SOURCES, texts, strict=True))
            (tmp_path / place / f"{tag}.json").write_text(json.dumps(messages, ensure_ascii=False), encoding="utf-8")
    (tmp_path / "app" / "nl.json").write_text('{"open": ', encoding="utf-8")
    (tmp_path / "terms.csv").write_text("source,target,language\nfile,Akte,de\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("jobs", [2, 3])
def test_any_number_of_processes_finds_the_same_in_the_same_order(folder, jobs):
    glossary = read_glossary(folder / "terms.csv", language_table())
    options = ReviewOptions(paths=[folder], glossary=glossary)
    seen = {1: [], jobs: []}
    one, several = Reviewer(options, gathers=True), Reviewer(options, gathers=True)

    alone = one.review(seen[1].append)
    together = several.review(seen[jobs].append, jobs=jobs, few=3)

    assert together == alone
    assert several.to_judge == one.to_judge
    assert seen[jobs] == seen[1]
    assert {"file_broken", "placeholder_lost", "inconsistent"} <= {each.kind for each in alone.findings}


def test_a_file_that_was_named_and_is_broken_is_an_error_with_its_place(folder):
    paths = [folder / "app" / name for name in ("de.json", "th.json", "nl.json")]

    with pytest.raises(DataError, match=r"nl\.json"):
        Reviewer(ReviewOptions(paths=paths)).review(jobs=2, few=0)
