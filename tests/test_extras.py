"""The command that installs an extra fits the environment in use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from polyjudge.errors import MissingExtraError
from polyjudge.extras import Installation, install_command, is_installed, require


def checkout(path, *, editable=True):
    """Return what pip and uv store about an installation from a folder."""
    return {"url": path.as_uri(), "dir_info": {"editable": True} if editable else {}}


@pytest.fixture
def environment(tmp_path):
    """Make an environment with a `pip`, as the working folder's `.venv` unless a folder is named."""

    def make(folder=".venv", *, activated=False, **facts):
        prefix = tmp_path / folder
        (prefix / "bin").mkdir(parents=True)
        pip = prefix / "bin/pip"
        pip.write_text("#!/bin/sh\n", encoding="utf-8")
        pip.chmod(0o755)
        path = str(prefix / "bin") if activated else ""
        return Installation(prefix, facts.pop("working_folder", tmp_path), path, **facts)

    return make


def test_an_activated_environment_needs_only_pip(environment):
    assert install_command("openai", environment(activated=True)) == "pip install 'polyjudge[openai]'"


def test_the_pip_of_another_environment_is_not_used(environment, tmp_path):
    other = environment("other", activated=True)
    own = environment()
    found = Installation(own.prefix, tmp_path, other.search_path)

    assert install_command("openai", found) == ".venv/bin/python -m pip install 'polyjudge[openai]'"


def test_an_environment_elsewhere_is_named_by_its_path(environment, tmp_path):
    found = environment("my env", working_folder=tmp_path / "work")

    assert install_command("google", found) == f"'{tmp_path}/my env/bin/python' -m pip install 'polyjudge[google]'"


def test_an_environment_without_pip_is_used_through_uv(environment, tmp_path):
    assert install_command("zstd", environment(has_pip=False)) == "uv pip install 'polyjudge[zstd]'"
    elsewhere = environment("elsewhere", has_pip=False)
    assert install_command("zstd", elsewhere) == "uv pip install --python elsewhere/bin/python 'polyjudge[zstd]'"


def test_a_checkout_is_installed_again_with_the_extra(environment, tmp_path):
    found = environment(origin=checkout(tmp_path), activated=True)

    assert install_command("anthropic", found) == "pip install -e '.[anthropic]'"


def test_a_checkout_elsewhere_is_named_by_its_path(environment, tmp_path):
    found = environment(origin=checkout(tmp_path / "src"), working_folder=tmp_path / "work", has_pip=False)

    expected = f"uv pip install --python {tmp_path}/.venv/bin/python -e '{tmp_path}/src[anthropic]'"
    assert install_command("anthropic", found) == expected


def test_a_uv_project_gets_a_dependency(environment, tmp_path):
    (tmp_path / "uv.lock").write_text("version = 1\n", encoding="utf-8")

    assert install_command("openai", environment(has_pip=False)) == "uv add 'polyjudge[openai]'"
    elsewhere = Installation(tmp_path / ".venv", Path("/"), has_pip=False)
    assert install_command("openai", elsewhere) == f"uv add --project {tmp_path} 'polyjudge[openai]'"


def test_a_checkout_that_uv_manages_keeps_its_other_extras(environment, tmp_path):
    (tmp_path / "uv.lock").write_text("version = 1\n", encoding="utf-8")
    found = environment(origin=checkout(tmp_path), has_pip=False)

    assert install_command("openai", found) == "uv sync --inexact --extra openai"


UV_RECEIPT = """[tool]
requirements = [
    { name = "polyjudge", extras = ["google"] },
    { name = "rich" },
]
entrypoints = [
    { name = "polyjudge", install-path = "/home/me/.local/bin/polyjudge", from = "polyjudge" },
]
"""


def test_a_uv_tool_keeps_what_it_was_installed_with(environment):
    found = environment("tools/polyjudge")
    (found.prefix / "uv-receipt.toml").write_text(UV_RECEIPT, encoding="utf-8")

    assert install_command("openai", found) == "uv tool install 'polyjudge[google,openai]' --with rich"


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (lambda path: checkout(path / "src", editable=False), "'./src[google,openai]'"),
        (lambda path: checkout(path / "src"), "--editable './src[google,openai]'"),
        (
            lambda _: {"url": "https://example.org/polyjudge.git", "vcs_info": {"vcs": "git", "commit_id": "0f"}},
            "'polyjudge[google,openai] @ git+https://example.org/polyjudge.git'",
        ),
    ],
    ids=["folder", "editable", "git"],
)
def test_a_uv_tool_that_is_no_release_is_installed_from_where_it_came(environment, tmp_path, origin, requirement):
    found = environment("tools/polyjudge", origin=origin(tmp_path))
    receipt = '[tool]\nrequirements = [{ name = "polyjudge", extras = ["google"], directory = "src" }]\n'
    (found.prefix / "uv-receipt.toml").write_text(receipt, encoding="utf-8")

    assert install_command("openai", found) == f"uv tool install {requirement}"


def test_what_uvx_runs_is_run_again_with_the_extra(environment):
    assert install_command("openai", environment("archive-v0/x1")) == "uvx --from 'polyjudge[openai]' polyjudge"


def test_pipx_keeps_what_it_installed(environment):
    found = environment("pipx/venvs/polyjudge")
    metadata = {"main_package": {"package": "polyjudge", "package_or_url": "polyjudge[google, metrics]"}}
    (found.prefix / "pipx_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")

    assert install_command("openai", found) == "pipx install --force 'polyjudge[google,metrics,openai]'"


def test_an_extra_that_is_there_is_not_named_twice(environment):
    found = environment("pipx/venvs/polyjudge")
    metadata = {"main_package": {"package_or_url": "polyjudge[google]"}}
    (found.prefix / "pipx_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")

    assert install_command("google", found) == "pipx install --force 'polyjudge[google]'"


def test_the_error_for_a_missing_package_has_the_command_for_this_environment():
    with pytest.raises(MissingExtraError) as caught:
        require("no_such_package", feature="reading maps", extra="excel")

    assert str(caught.value).startswith(
        "reading maps needs the package 'no_such_package', which is not installed. Run: "
    )
    assert str(caught.value).endswith(install_command("excel"))


def test_a_package_that_is_broken_shows_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_part\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ModuleNotFoundError, match="no_such_part"):
        require("broken_package", feature="reading maps", extra="excel")


def test_a_module_of_a_missing_package_is_not_installed():
    assert is_installed("json")
    assert not is_installed("no_such_package.part")


WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names!r})); from polyjudge.cli import main; sys.exit(main())"


@pytest.fixture
def without(in_folder, monkeypatch):
    """Run a command in a process in which some packages cannot be imported."""
    Path("items.jsonl").write_text('{"id": "a", "candidate": "Bonjour", "language": "fr"}\n', encoding="utf-8")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def run(names, *arguments):
        command = [sys.executable, "-c", WITHOUT.format(names=names.split()), *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    return run


SCORE = ["score", "items.jsonl", "--rubric", "translation", "--judge", "openai/gpt-5-mini"]


def test_a_run_with_a_key_but_without_the_package_ends_with_3_and_the_command(without, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a")

    code, printed = without("openai", *SCORE, "--output", "r.jsonl")

    assert code == 3
    assert f"Run: {install_command('openai')}" in printed
    assert not list(Path().glob("r.jsonl*"))


@pytest.mark.slow
def test_both_steps_are_named_at_once_if_key_and_package_are_missing(without):
    code, printed = without("openai", *SCORE)

    assert code == 0
    assert f"To enable: {install_command('openai')} && export OPENAI_API_KEY=sk-...\n" in printed
    assert printed.endswith("Or without a key: --judge offline\n")
    assert without("openai", *SCORE, "--require-judge")[0] == 3


def test_the_judge_without_a_key_is_not_offered_where_it_cannot_judge(without):
    code, printed = without("openai", "score", "items.jsonl", "--rubric", "general", "--judge", "openai/gpt-5-mini")

    assert code == 0
    assert "offline" not in printed


def test_batches_name_both_steps_too(without):
    code, printed = without("anthropic", *SCORE[:-1], "anthropic/claude-opus-4-6", "--batch")

    assert code == 0
    assert f"To enable: {install_command('anthropic')} && export ANTHROPIC_API_KEY=" in printed


def test_the_engine_ray_without_ray_is_wrong_usage(without):
    code, printed = without("ray", *SCORE[:-1], "local/m", "--engine", "ray", "--output", "many")

    assert code == 2
    assert f"Run: {install_command('ray')}" in printed
    assert not Path("many").exists()


def test_providers_lists_the_command(without):
    code, printed = without("openai google.genai", "providers", "--format", "json")

    assert code == 0
    missing = {each["name"]: each["missing"] for each in json.loads(printed)}
    assert missing["openai"] == [install_command("openai"), "export OPENAI_API_KEY=..."]
    assert missing["google"][0] == install_command("google")
