"""A `.polyjudge` is used only if polyjudge created it there, or the user trusts it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polyjudge.cache.sqlite import JudgeCache
from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.folder_trust import (
    UntrustedFolderWarning,
    is_trusted_file,
    is_trusted_folder,
    make_folder,
    private_path,
    revoke,
    state_folder,
    trust,
    trusted_paths,
)
from polyjudge.languages.table import language_table
from polyjudge.providers.models import model_facts, resolve_model
from polyjudge.records.requests import ModelName

IGNORED = pytest.warns(UntrustedFolderWarning, match="run: polyjudge trust")


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory, monkeypatch):
    """Keep records of trust that no other test process reads: some tests here damage them."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def strangers_folder(folder: Path) -> Path:
    """A private folder in a clone."""
    (folder / ".polyjudge").mkdir(parents=True)
    return folder / ".polyjudge"


def test_a_folder_that_polyjudge_created_is_used(in_folder):
    assert private_path("cache.sqlite") == Path(".polyjudge/cache.sqlite")
    assert not Path(".polyjudge").exists()

    make_folder(Path(".polyjudge/cards"))

    assert Path(".polyjudge/cards").is_dir()
    assert is_trusted_folder(Path(".polyjudge"))
    assert private_path("cache.sqlite") == Path(".polyjudge/cache.sqlite")
    assert Path(".polyjudge/.gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_cache_opened_by_path_creates_a_folder_that_is_used_later(in_folder):
    JudgeCache(".polyjudge/cache.sqlite").close()

    assert is_trusted_folder(Path(".polyjudge"))


def test_an_untrusted_folder_is_ignored_and_state_is_stored_elsewhere(in_folder):
    theirs = strangers_folder(in_folder)
    (theirs / "models.toml").write_text('[aliases]\nopus = "local/mine"\n', encoding="utf-8")
    (theirs / "languages.tsv").write_text("forged", encoding="utf-8")

    with IGNORED:
        assert resolve_model("opus").provider == "anthropic"
    with IGNORED:
        assert language_table().find("en") is not None
    with IGNORED:
        place = private_path("cache.sqlite")
    assert place.is_relative_to(state_folder())

    assert trust(in_folder) == [theirs.resolve()]
    assert resolve_model("opus") == ModelName("local", "mine")


@pytest.mark.parametrize("how", ["copied", "moved", "replaced", "linked"])
def test_a_folder_is_trusted_only_where_it_was_created(how, tmp_path, monkeypatch):
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    monkeypatch.chdir(mine)
    make_folder(Path(".polyjudge"))
    if how == "copied":
        shutil.copytree(mine / ".polyjudge", other / ".polyjudge")
    elif how == "moved":
        (mine / ".polyjudge").rename(other / ".polyjudge")
    elif how == "linked":
        strangers_folder(tmp_path / "third")
        (other / ".polyjudge").symlink_to(tmp_path / "third" / ".polyjudge")
    else:  # a clone to the same place
        shutil.rmtree(mine / ".polyjudge")
        other = mine
        strangers_folder(other)
    monkeypatch.chdir(other)

    with IGNORED:
        assert private_path("x") != Path(".polyjudge/x")


def test_a_folder_of_another_owner_is_ignored(in_folder):
    make_folder(Path(".polyjudge"))
    records = state_folder() / "trust.json"
    data = json.loads(records.read_text(encoding="utf-8"))
    for row in data["trusted"]:
        row["owner"] += 1
    records.write_text(json.dumps(data), encoding="utf-8")

    with IGNORED:
        private_path("x")


def test_a_link_to_nowhere_is_not_followed(in_folder):
    Path(".polyjudge").symlink_to(in_folder / "elsewhere")

    with IGNORED:
        private_path("x")
    assert not (in_folder / "elsewhere").exists()


def test_trust_is_listed_and_revoked(in_folder, capsys):
    strangers_folder(in_folder)
    Path("polyjudge.toml").write_text("[score]\n", encoding="utf-8")
    assert main(["trust"]) == 0
    assert capsys.readouterr().out.count("Trusted: ") == 2
    assert is_trusted_folder(Path(".polyjudge"))
    assert is_trusted_file(Path("polyjudge.toml"))

    Path("polyjudge.toml").write_text("[score]\nlimit = 1\n", encoding="utf-8")
    assert not is_trusted_file(Path("polyjudge.toml"))
    assert main(["trust", "--list"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if str(in_folder.resolve()) in line]
    assert [("no: changed or removed" in line) for line in lines] == [False, True]

    assert main(["trust", "--revoke"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("No longer trusted: ") == 2
    assert "It is ignored from now on, with its cache and cards." in printed
    assert "It may no longer run commands" in printed
    assert not is_trusted_folder(Path(".polyjudge"))
    assert str(in_folder) not in str(trusted_paths())
    assert main(["trust", "--revoke"]) == 0
    assert capsys.readouterr().out == "Nothing was trusted there.\n"


def test_a_folder_that_polyjudge_created_is_not_called_foreign_after_its_trust_was_revoked(in_folder):
    make_folder(Path(".polyjudge"))
    revoke(in_folder)

    with pytest.warns(UntrustedFolderWarning, match="did not create it in this folder, or its trust was revoked"):
        private_path("x")


def test_there_must_be_something_to_trust(in_folder, capsys):
    assert main(["trust"]) == 2
    assert "has neither polyjudge.toml nor .polyjudge" in capsys.readouterr().err
    assert main(["trust", "nowhere"]) == 2
    assert main(["trust", "nowhere", "--revoke"]) == 0
    assert revoke(Path("nowhere")) == []


@pytest.mark.parametrize("named", [".", ".polyjudge", "polyjudge.toml", "elsewhere:."])
def test_a_variable_trusts_a_folder_without_a_record(named, in_folder, monkeypatch):
    strangers_folder(in_folder)
    Path("polyjudge.toml").write_text("limit = 1\n", encoding="utf-8")
    monkeypatch.setenv("POLYJUDGE_TRUST", named)

    assert private_path("x") == Path(".polyjudge/x")
    assert is_trusted_file(Path("polyjudge.toml"))

    monkeypatch.setenv("POLYJUDGE_TRUST", str(in_folder.parent))
    assert not is_trusted_folder(Path(".polyjudge"))


def test_damaged_records_trust_nothing(in_folder):
    make_folder(Path(".polyjudge"))
    (state_folder() / "trust.json").write_text('{"trusted": [{"path": 1}]}', encoding="utf-8")

    with IGNORED:
        private_path("x")
    assert trust(in_folder) == [(in_folder / ".polyjudge").resolve()]
    assert private_path("x") == Path(".polyjudge/x")


def test_a_state_folder_that_cannot_be_written_is_explained(in_folder, monkeypatch):
    (in_folder / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(in_folder / "file"))

    with pytest.raises(DataError, match="set XDG_STATE_HOME to a writable folder, or POLYJUDGE_TRUST"):
        make_folder(Path(".polyjudge"))
    assert [path.name for path in Path().iterdir()] == ["file"]


def test_processes_that_start_together_share_the_folder_that_one_of_them_creates(in_folder):
    code = "from polyjudge.cache.sqlite import JudgeCache; JudgeCache('.polyjudge/cache.sqlite').close();"
    code += "from polyjudge.folder_trust import private_path; print(private_path('x'))"
    started = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", code], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(6)
    ]
    assert {each.communicate()[0] for each in started} == {b".polyjudge/x\n"}
    assert sorted(path.name for path in Path().iterdir()) == [".polyjudge"]


@pytest.mark.filterwarnings("default::polyjudge.folder_trust.UntrustedFolderWarning")
def test_a_cloned_cache_answers_nothing_until_it_is_trusted(tmp_path, monkeypatch, server, capsys):
    """The whole command: verdicts in a cache of an untrusted folder are not used."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    mine, clone = tmp_path / "mine", tmp_path / "clone"
    mine.mkdir()
    (mine / "items.jsonl").write_text('{"id": "a", "candidate": "text"}\n', encoding="utf-8")
    command = ["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", "--output", "r.jsonl"]
    monkeypatch.chdir(mine)
    assert main(command) == 0
    shutil.copytree(mine, clone)
    monkeypatch.chdir(clone)
    (clone / "r.jsonl").unlink()
    asked = server.asked

    assert main(command) == 0
    assert server.asked == asked + 1
    assert "run: polyjudge trust" in capsys.readouterr().err

    assert main(["trust"]) == 0
    (clone / "r.jsonl").unlink()
    assert main(command) == 0
    assert server.asked == asked + 1
    assert model_facts(ModelName("local", "m")).price is None
