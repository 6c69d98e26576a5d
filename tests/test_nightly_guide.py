"""The workflow of the nightly guide is valid, and its commands do what the page says, with a recorded judge."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PAGE = Path(__file__).parent.parent / "docs" / "guides" / "nightly.md"
[SOURCE] = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
WORKFLOW = yaml.safe_load(SOURCE)
JOB = WORKFLOW["jobs"]["quality"]
COMMANDS = [step["run"] for step in JOB["steps"] if "polyjudge " in step.get("run", "")]
LANGUAGES = ("Thai", "Spanish")


def write(folder, poor=0):
    """Write a program that writes answers, and a judge's replies, which give the first `poor` Thai answers a 2."""
    rows, replies = ["id,candidate,language,source"], []
    for language in LANGUAGES:
        for number in range(20):
            rows.append(f"{language}-{number},answer {language} {number}.,{language},hello {number}")
            points = 2 if language == "Thai" and number < poor else 5
            subscores = dict.fromkeys(("script", "grammar", "coherence"), points)
            text = json.dumps({"reason": "why", "subscores": subscores, "isCorrectLanguage": True})
            replies.append(json.dumps({"contains": [f"answer {language} {number}."], "text": text}))
    (folder / "recorded.jsonl").write_text("\n".join(replies) + "\n", encoding="utf-8")
    (folder / "write-answers").write_text("#!/bin/sh\ncat <<END\n" + "\n".join(rows) + "\nEND\n", encoding="utf-8")
    (folder / "write-answers").chmod(0o755)


def night(folder, *, judge="scripted/recorded.jsonl", key=""):
    """Run the steps as a runner does, each in `bash -e`, and return the exit codes of those that judge or compare."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "polyjudge").write_text(f'#!/bin/sh\nexec {sys.executable} -m polyjudge "$@"\n', encoding="utf-8")
    (folder / "bin" / "polyjudge").chmod(0o755)
    given = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    given |= {"PATH": f"{folder / 'bin'}:{given['PATH']}", "GITHUB_STEP_SUMMARY": str(folder / "step.md")}
    given |= {name: {"POLYJUDGE_TRUST": str(folder)}.get(name, key) for name in JOB["env"]}
    codes, printed = [], ""
    for step in JOB["steps"]:
        command = step.get("run", "")
        is_skipped = "hashFiles" in step.get("if", "") and not (folder / "new.jsonl").exists()
        if not command or command.startswith("pip ") or is_skipped:
            continue
        command = command.replace("--judge opus", f"--judge {judge}")
        done = subprocess.run(
            ["bash", "-e", "-c", command], cwd=folder, env=given, capture_output=True, text=True, check=False
        )
        printed += done.stdout + done.stderr
        if "polyjudge " in command:
            codes.append(done.returncode)
    return codes, printed


def bless(folder):
    command = [sys.executable, "-m", "polyjudge", "compare", "new.jsonl", "new.jsonl", "--bless", "baseline.jsonl"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def test_the_workflow_has_what_a_gate_needs():
    assert len(COMMANDS) == 2
    assert WORKFLOW[True]["schedule"]  # YAML reads the key `on` as true
    assert JOB["env"]["ANTHROPIC_API_KEY"] == "${{ secrets.ANTHROPIC_API_KEY }}"
    assert all(step.keys() <= {"name", "if", "run", "uses", "with"} for step in JOB["steps"])
    assert all(("run" in step) != ("uses" in step) for step in JOB["steps"])


@pytest.fixture
def folder(tmp_path):
    """A repository with a baseline from a good night."""
    write(tmp_path)
    codes, printed = night(tmp_path)
    assert codes == [0, 2], printed  # there is no baseline yet
    bless(tmp_path)
    (tmp_path / "step.md").unlink()
    return tmp_path


@pytest.mark.slow
def test_a_good_night_passes_and_the_step_says_so_first(folder):
    codes, printed = night(folder)

    assert codes == [0, 0], printed
    step = (folder / "step.md").read_text(encoding="utf-8")
    assert step.splitlines()[2] == "Passed: all 2 requirements are met."
    assert "██████████" in step
    assert "0 calls" in printed  # the folder of the cache is trusted, and answers


@pytest.mark.slow
def test_a_bad_night_fails_both_steps_and_names_the_language(folder):
    write(folder, poor=18)
    (folder / ".polyjudge" / "cache.sqlite").unlink()
    codes, printed = night(folder)

    assert codes == [1, 1], printed
    assert "Thai (th): 2 of 20 judged items pass (10.0%25), below 80%25" in printed
    assert "Failed: 22 of 40 judged items pass (55.0%), below 90%" in (folder / "step.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_night_without_its_secret_exits_three(folder):
    (folder / "new.jsonl").unlink()
    codes, printed = night(folder, judge="opus")

    assert codes == [3], printed
    assert "ANTHROPIC_API_KEY not set" in printed
    assert "Not judged" in (folder / "step.md").read_text(encoding="utf-8")
