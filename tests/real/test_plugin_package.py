"""A package with one of each kind of plugin works in all commands of a fresh environment where it is installed."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "plugin_package"
UV = Path(sys.executable).with_name("uv")
SHOUTED = {"sourceText": "Good morning.", "prompt": "", "generatedOutput": "GUTEN Morgen, wie geht es Ihnen?"}
GERMAN = {
    "languageName": "German",
    "languageCode": "de",
    "scriptFamily": "Latin",
    "priority": "high",
    "prompts": [SHOUTED],
}


@pytest.fixture(scope="module")
def polyjudge(tmp_path_factory):
    """Return what runs a command in the fresh environment; it sees the dependencies that are installed already."""
    if not UV.exists():
        pytest.skip("uv is not installed beside this Python")
    folder = tmp_path_factory.mktemp("plugins")
    for source in (ROOT, PACKAGE):
        build = [
            UV,
            "build",
            "--quiet",
            "--wheel",
            "--offline",
            "--python",
            sys.executable,
            "--out-dir",
            folder / "dist",
        ]
        built = subprocess.run([*build, source], capture_output=True, text=True, check=False)
        if "network was disabled" in built.stderr:
            pytest.skip("uv has not kept the packages that build a wheel, and tests use no network")
        assert built.returncode == 0, built.stderr
    subprocess.run([UV, "venv", "--quiet", "--offline", "--python", sys.executable, folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    wheels = sorted((folder / "dist").glob("*.whl"))
    install = ["pip", "install", "--quiet", "--offline", "--no-deps", "--python", python]
    subprocess.run([UV, *install, *wheels], check=True)
    [site] = (folder / "venv").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(*arguments, code=0):
        done = subprocess.run(
            [python, "-m", "polyjudge", *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr
        return done

    (folder / "answers.cards").write_text("a: The train leaves.\nno card\nb: Where is it?\n", encoding="utf-8")
    (folder / "results.json").write_text(json.dumps({"results": [GERMAN]}), encoding="utf-8")
    return run


def test_plugins_lists_each_with_package_version_and_problem(polyjudge):
    rows = json.loads(polyjudge("plugins", "--format", "json").stdout)
    found = {(row["group"], row["name"]): row["problem"] for row in rows}

    assert {(row["package"], row["version"]) for row in rows} == {("polyjudge-example-plugin", "1.2.3")}
    assert found == {
        ("providers", "example"): "",
        ("providers", "openai"): "the name is built in",
        ("judges", "length"): "",
        ("checks", "broken"): "ModuleNotFoundError: No module named 'example_plugin.missing'",
        ("checks", "shouting"): "",
        ("perturbations", "upper_case"): "",
        ("formats", "cards"): "",
        ("languages", "silesian"): "",
    }
    shown = polyjudge("plugins").stdout
    assert "polyjudge-example-plugin" in shown
    assert "1.2.3" in shown


def test_a_provider_and_a_format_score_items_without_a_word_about_a_broken_check(polyjudge):
    done = polyjudge("score", "answers.cards", "--rubric", "general", "--judge", "example/70", "--cache", "none")
    rows = [json.loads(line) for line in done.stdout.splitlines()]

    assert [(row["id"], row["score"], row["provenance"]["provider"]) for row in rows] == [
        ("a", 70.0, "example"),
        ("b", 70.0, "example"),
    ]
    assert "skipped answers.cards:2: a card without a colon" in done.stderr
    assert "broken" not in done.stderr


def test_a_judge_of_a_plugin_sits_in_a_jury_with_a_model(polyjudge):
    judges = "length,example/30"
    done = polyjudge("score", "answers.cards", "--rubric", "general", "--judge", judges, "--cache", "none")
    first = json.loads(done.stdout.splitlines()[0])

    assert [member["score"] for member in first["members"]] == [len("The train leaves."), 30]


def test_a_check_is_in_every_command_and_report_and_a_broken_one_is_one_warning(polyjudge):
    done = polyjudge("translation", "check", "results.json", "--format", "json", code=1)
    [row] = json.loads(done.stdout)

    assert (row["problems"], row["status"]) == ({"shouting": 1}, "FAIL")
    warning = "the check 'broken' of polyjudge-example-plugin 1.2.3 cannot be loaded: ModuleNotFoundError"
    assert done.stderr.count(warning) == 1
    assert "shouting 1" in polyjudge("translation", "check", "results.json", code=1).stdout
    for form in ("markdown", "text", "html", "json"):
        assert "shouting" in polyjudge("report", "--results", "results.json", "--format", form).stdout
    options = ("--judge", "example/5", "--cache", "none", "--format", "json")
    judged = polyjudge("translation", "quick", "results.json", *options, code=1)
    assert "shouting" in judged.stdout


def test_a_perturbation_is_tried_by_its_name_and_stands_in_the_card(polyjudge):
    texts = ("--filter", "language=de", "--texts-per-language", "9")
    done = polyjudge("calibrate", "perturb", *texts, "--judge", "length", "--types", "upper_case", "--format", "json")

    assert "upper_case" in json.loads(done.stdout)["perturbations"]


def test_a_language_of_a_plugin_can_be_checked(polyjudge):
    code = "import polyjudge; print(polyjudge.check('Dobry dziyń, jak sie mosz?', language='Silesian'))"
    python = polyjudge("--version").args[0]
    done = subprocess.run([python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_a_built_in_provider_keeps_its_name(polyjudge):
    done = polyjudge("providers", "--format", "json")
    rows = {row["name"]: row["answers"] for row in json.loads(done.stdout)}

    assert rows["openai"] == "OpenAI's Responses API"
    assert rows["example"] == "the provider 'example' of polyjudge-example-plugin 1.2.3"
    assert "the provider 'openai' of polyjudge-example-plugin 1.2.3 is not used: the name is built in" in done.stderr
