"""Changes since a revision: which messages count, wherever the repository and the file are."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.folding import for_each
from tests.review.repositories import TestRepository, entry

from polyjudge.errors import ConfigError, DataError
from polyjudge.review.reviewing import Reviewer, ReviewOptions

GOOD = [entry(f"Number {word}", f"Nummer {word}") for word in ("one", "two", "three")]
BAD = entry("Name:", "Name")
OLD_BAD = entry("Colour:", "Farbe")


@pytest.fixture
def repository(tmp_path):
    made = TestRepository(tmp_path / "project")
    made.write("de.po", OLD_BAD, *GOOD)
    made.commit()
    return made


def review(*paths, since="main", **more):
    return Reviewer(ReviewOptions(paths=list(paths), since=since, **more)).review()


def found(review_of):
    return [(each.key, each.kind) for each in review_of.findings if each.severity != "info"]


def test_only_what_changed_in_the_working_tree_is_reported(repository):
    path = repository.write("de.po", OLD_BAD, *GOOD, BAD)

    changed = review(path)
    assert found(changed) == [("Name:", "end_mark_changed")]
    assert [each.messages for each in changed.languages] == [1]
    assert ("Colour:", "end_mark_changed") in found(review(path, since=""))


def test_a_line_that_only_moved_is_no_change(repository):
    path = repository.write("de.po", *reversed(GOOD), entry("New", "Neu"), OLD_BAD)

    assert found(review(path)) == []


def test_a_changed_translation_source_context_or_state_is_a_change(repository):
    path = repository.write(
        "de.po",
        entry("Colour:", "Die Farbe"),
        *GOOD,
        entry("Number one:", "Nummer eins"),
        entry("Number two", "Nummer zwei:", 'msgctxt "menu"\n'),
    )

    assert found(review(path)) == [
        ("Colour:", "end_mark_changed"),
        ("Number one:", "end_mark_changed"),
    ]
    repository.write("de.po", entry("Colour:", "Farbe", "#, fuzzy\n"))
    repository.commit()
    path = repository.write("de.po", OLD_BAD)
    assert found(review(path)) == [("Colour:", "end_mark_changed")]


def test_what_others_changed_on_the_branch_of_the_revision_is_not_reported(repository):
    repository.git("checkout", "-q", "-b", "work")
    path = repository.write("de.po", OLD_BAD, *GOOD, BAD)
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("de.po", entry("Colour:", "Farbe:"), *GOOD)
    repository.commit()
    repository.git("checkout", "-q", "work")

    assert found(review(path)) == [("Name:", "end_mark_changed")]


def test_a_new_file_has_changed_as_a_whole_and_a_renamed_one_has_not(repository):
    new = repository.write("fr.po", entry("Size:", "Taille"))
    assert ("Size:", "end_mark_changed") in found(review(new))

    repository.git("mv", "de.po", "locale-de.po")
    moved = repository.write("locale-de.po", OLD_BAD, *GOOD, BAD)
    assert found(review(moved)) == [("Name:", "end_mark_changed")]


def test_it_works_from_a_subfolder_in_a_worktree_and_with_strange_names(repository, monkeypatch):
    name = "po files/übersetzung $(touch x).de.po"
    repository.write(name, OLD_BAD)
    repository.commit()
    repository.write(name, OLD_BAD, BAD)
    monkeypatch.chdir(repository.folder / "po files")
    assert found(review(Path("übersetzung $(touch x).de.po"))) == [("Name:", "end_mark_changed")]

    tree = repository.folder.parent / "tree"
    repository.git("worktree", "add", "-q", str(tree), "-b", "other")
    (tree / "de.po").write_text((repository.folder / "de.po").read_text(encoding="utf-8") + BAD, encoding="utf-8")
    assert found(review(tree / "de.po")) == [("Name:", "end_mark_changed")]
    assert not list(repository.folder.rglob("x"))


def test_a_changed_source_file_changes_the_messages_of_all_languages(repository):
    (repository.folder / "locales").mkdir()
    source, target = repository.folder / "locales/en.json", repository.folder / "locales/de.json"
    source.write_text('{"a": "Open", "b": "Close"}', encoding="utf-8")
    target.write_text('{"a": "Öffnen", "b": "Schließen"}', encoding="utf-8")
    repository.commit()
    assert found(review(target)) == []

    source.write_text('{"a": "Open:", "b": "Close"}', encoding="utf-8")
    assert found(review(target)) == [("a", "end_mark_changed")]


def test_a_finding_in_a_changed_message_is_the_same_as_in_a_review_of_all(repository):
    path = repository.write("de.po", OLD_BAD, *GOOD, BAD, entry("Delete <b>it</b>", "Löschen"))
    whole = {each.fingerprint: each for each in review(path, since="").findings}

    for each in review(path).findings:
        assert whole[each.fingerprint] == each


def test_a_problem_of_the_file_is_reported_when_it_is_new(repository):
    path = repository.write("de.po", OLD_BAD, *GOOD, GOOD[0])
    assert [each.kind for each in review(path).findings] == ["file_problem"]
    repository.commit()
    path = repository.write("de.po", OLD_BAD, *GOOD, GOOD[0], entry("New", "Neu"))
    assert review(path).findings == ()


@for_each("revision", ["-p", "--output=x", "", " ", "a\nb"])
def test_a_revision_that_is_an_option_or_empty_is_refused(revision):
    from polyjudge.review.changes import Changes

    with pytest.raises(ConfigError, match="is not a revision"):
        Changes(revision)


def test_an_unknown_revision_says_what_to_do(repository):
    with pytest.raises(ConfigError, match="There is no revision 'origin/main' in .* git fetch origin"):
        review(repository.folder / "de.po", since="origin/main")


def test_a_shallow_clone_says_how_deep_to_fetch(repository):
    repository.write("de.po", *GOOD)
    repository.commit()
    shallow = repository.folder.parent / "shallow"
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(shallow))

    with pytest.raises(ConfigError, match="shallow clone.*fetch-depth to 0"):
        review(shallow / "de.po", since="main~1")


def test_a_folder_without_a_repository_gets_a_message(tmp_path):
    path = tmp_path / "de.po"
    path.write_text('msgid ""\nmsgstr "Language: de\\n"\n', encoding="utf-8")

    with pytest.raises(DataError, match="changes since a revision need a git repository"):
        review(path)


def test_unrelated_histories_get_a_message(repository):
    repository.git("checkout", "-q", "--orphan", "alone")
    repository.commit("Start again")

    with pytest.raises(ConfigError, match="have no commit in common"):
        review(repository.folder / "de.po")


def test_nothing_that_the_repository_names_is_run(repository, monkeypatch):
    trap = repository.folder.parent / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {repository.folder.parent}/sprung\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "filter.trap.clean", "filter.trap.smudge",
                 "diff.trap.textconv", "diff.trap.command", "core.sshCommand", "core.editor"):  # fmt: skip
        repository.git("config", name, str(trap))
    hooks = repository.folder / ".git/hooks"
    for hook in ("post-checkout", "pre-auto-gc", "fsmonitor-watchman", "post-index-change"):
        (hooks / hook).write_bytes(trap.read_bytes())
        (hooks / hook).chmod(0o755)
    (repository.folder / ".gitattributes").write_text("*.po filter=trap diff=trap\n", encoding="utf-8")
    path = repository.write("de.po", OLD_BAD, *GOOD, BAD)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", "/nowhere")

    assert found(review(path)) == [("Name:", "end_mark_changed")]
    assert not (repository.folder.parent / "sprung").exists()


def test_git_leaves_the_repository_as_it_is(repository):
    path = repository.write("de.po", OLD_BAD, *GOOD, BAD)
    before = subprocess.run(
        ["ls", "-lR", "--time-style=full-iso", ".git"], cwd=repository.folder, capture_output=True, check=True
    )
    review(path)
    after = subprocess.run(
        ["ls", "-lR", "--time-style=full-iso", ".git"], cwd=repository.folder, capture_output=True, check=True
    )

    assert after.stdout == before.stdout
    assert os.environ.get("GIT_DIR") is None
