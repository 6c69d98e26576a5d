"""The files around the code agree with it: workflow, packaging, version."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_hash_with_their_version(path):
    used = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))

    assert used
    assert [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)] == []


def test_ci_tests_every_python_that_is_promised():
    promised = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if "Python :: 3." in line]
    [tested] = re.findall(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))

    assert re.findall(r'"([\d.]+)"', tested) == promised


def test_every_target_of_ci_is_in_the_makefile():
    text = "".join(path.read_text(encoding="utf-8") for path in [*WORKFLOWS, ROOT / ".ci" / "run"])
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {word for line in re.findall(r"\bmake (.+)", text) for word in line.split() if "=" not in word}

    assert targets >= {"test", "test-real", "docs", "dist"}
    assert [target for target in targets if f"\n{target}: " not in makefile] == []


def test_the_hooks_before_a_commit_run_the_tools_of_the_environment():
    entries = re.findall(r"entry: (\S+)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))

    assert entries
    assert all(Path(sys.executable).with_name(Path(entry).name).exists() for entry in entries)


def test_every_released_version_has_a_section_in_the_changelog():
    tags = subprocess.run(["git", "tag", "--merged"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    released = [tag.removeprefix("v") for tag in tags.split() if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert [version for version in released if f"\n## {version}" not in changelog] == []
