"""The built wheel in a bare environment, from the package registry: light, complete, and working without the source."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment with the wheel and what it depends on, and nothing else."""
    if not UV.exists():
        pytest.skip("uv is not installed beside this Python")
    folder = tmp_path_factory.mktemp("bare")
    _run(UV, "build", "--quiet", "--wheel", "--out-dir", folder / "dist", ROOT)
    [wheel] = (folder / "dist").glob("*.whl")
    _run(UV, "venv", "--quiet", "--python", sys.executable, folder / "venv")
    installed = _install(folder, wheel)
    if installed.returncode and "error sending request" in installed.stderr.lower():
        pytest.skip(f"the package registry cannot be reached: {installed.stderr[-200:]}")
    assert installed.returncode == 0, installed.stderr
    return folder


def _install(folder, *what):
    python = folder / "venv" / "bin" / "python"
    command = [UV, "pip", "install", "--quiet", "--python", python, "--constraints", ROOT / "constraints.txt", *what]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options)


def test_the_base_install_is_light(bare):
    python = bare / "venv" / "bin" / "python"
    packages = json.loads(_run(UV, "pip", "list", "--format", "json", "--python", python).stdout)
    files = [file for file in (bare / "venv" / "lib").rglob("*") if file.is_file() and not file.is_symlink()]
    size = sum(file.stat().st_size for file in files)

    assert (len(packages) <= 35, size <= 150e6) == (True, True), f"{len(packages)} packages, {size / 1e6:.0f} MB"
    assert not {package["name"] for package in packages} & {"anthropic", "openai", "google-genai"}


def test_the_wheel_holds_all_that_the_commands_need(bare, tmp_path):
    program = bare / "venv" / "bin" / "polyjudge"

    shown = _run(program, "demo", cwd=tmp_path).stdout
    found = re.search(r"Planted faults found: (\d+) of (\d+)\. False alarms: 0 in \d+ clean outputs\.", shown)
    assert found is not None
    assert found[1] == found[2]
    script = (
        "import polyjudge as p, polyjudge.records.codec as files;"
        "print(p.__file__, *files.schema_names(), p.load_rubric('translation').name);"
        "import polyjudge.suites.vocabulary as s, polyjudge.judges.word_verdicts as w;"
        "import polyjudge.judges.session_review as r;"
        "import polyjudge.providers.agent_definitions as a;"
        "print(*s.vocabulary_names(), *w.wording_languages(), *a.agent_names());"
        "[s.wording_of(s.load_vocabulary(name)) for name in s.vocabulary_names()]; r.review_prompt('x')"
    )
    shown = _run(bare / "venv" / "bin" / "python", "-c", script, cwd=tmp_path).stdout.split()
    assert str(bare) in shown[0]
    names = [
        "cache-entry",
        "cascade",
        "comparison",
        "judgement",
        "label",
        "localisation-review",
        "outcome",
        "pairwise",
        "pinned-set",
        "ranking",
        "recording",
        "results-manifest",
        "review",
        "rubric",
        "run-report",
        "sample-plan",
        "translation-report",
    ]
    names += ["translation-results", "translation-scores", "trust-card", "vocabulary-summary", "watch"]
    names += ["word-record"]
    shipped = ["hindi", "spanish", "en", "es", "hi", "claude", "codex", "gemini", "llm"]
    assert shown[1:] == [*names, "translation", *shipped]
