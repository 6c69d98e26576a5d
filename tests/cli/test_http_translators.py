"""Translators over HTTP on the command line: what they may use, what they leave behind, and what their errors do."""

import json
import sys
from pathlib import Path

import pytest
from tests.loopback.translation_server import KEY, TranslationServer
from tests.loopback.vendor_server import ServerThread

from polyjudge.cli import main

INPUTS = "a\ten\tes\tWhere is the station?\nb\ten\tfr\tGood morning, my friend.\n"
OWN = """
url = "http://127.0.0.1:1/v2/translate"
address_variable = "OWN_URL"
answer = "translations[0].text"
variables = ["OWN_KEY"]
headers = {Authorization = "DeepL-Auth-Key {OWN_KEY}"}
json = {text = ["{text}"], source_lang = "{source_lang}", target_lang = "{target_lang}"}
"""


@pytest.fixture
def service(in_folder, monkeypatch):
    """A server of all services, with the key and the address of DeepL in the environment."""
    with ServerThread(TranslationServer()) as server:
        monkeypatch.setenv("DEEPL_API_KEY", KEY)
        monkeypatch.setenv("DEEPL_URL", server.url)
        monkeypatch.setenv("OWN_KEY", KEY)
        monkeypatch.setenv("OWN_URL", server.url)
        Path("inputs.tsv").write_text(INPUTS, encoding="utf-8")
        yield server


DEEPL = ("--translator", "deepl", "--env", "DEEPL_API_KEY", "--env", "DEEPL_URL")
OWN_OPTIONS = ("--translator", "own.toml", "--env", "OWN_KEY", "--env", "OWN_URL")


def generate(*options, translator=DEEPL, output="results.json"):
    return main(["translation", "generate", *translator, "--languages", "th,de", "--output", output, *options])


def capture(*options, translator=DEEPL):
    return main(["regression", "capture", "--inputs", "inputs.tsv", "--output", "cases.tsv", *translator, *options])


def run(*options, translator=DEEPL):
    return main(["regression", "run", "--fixtures", "cases.tsv", *translator, *options])


def files_with(text):
    return [path for path in Path().rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_generated_translations_are_a_results_file_that_is_checked_and_reported(service, capsys):
    said = {"th": "ขอโทษครับ สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหน", "de": "Wo ist bitte der nächste Bahnhof?"}
    service.translate = lambda text, target: f"{said[target]} {len(text)}"

    assert generate() == 0
    results = json.loads(Path("results.json").read_text(encoding="utf-8"))
    assert results["model"] == "deepl"
    assert {row["languageCode"] for row in results["results"]} == {"th", "de"}
    assert len(service.asked) < 36 == sum(len(asked.texts) for asked in service.asked)

    capsys.readouterr()
    assert main(["translation", "check", "results.json", "--format", "json"]) in (0, 1)
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert main(["report", "--results", "results.json", "--format", "html", "--output", "report.html"]) == 0
    assert "German" in Path("report.html").read_text(encoding="utf-8")
    assert files_with(KEY) == []


def test_a_translation_is_paid_for_once(service):
    assert generate() == 0
    asked = len(service.asked)
    assert generate(output="again.json") == 0

    assert len(service.asked) == asked


def test_a_dry_run_counts_the_texts_and_asks_nothing(service, capsys):
    assert generate("--dry-run", "--format", "json") == 0

    shown = json.loads(capsys.readouterr().out)
    assert shown["calls"] == 36
    assert service.asked == []
    assert not Path("results.json").exists()


def test_a_captured_file_names_the_description_and_no_address_or_key(service, capsys):
    said = {"Where is the station?": "¿Dónde está la estación?", "Good morning, my friend.": "Bonjour, mon ami."}
    service.translate = lambda text, _: said[text]

    assert capture() == 0

    text = Path("cases.tsv").read_text(encoding="utf-8")
    assert "# polyjudge command: translator deepl\n" in text
    assert "# polyjudge version description: deepl " in text
    assert "\t¿Dónde está la estación?\n" in text
    assert service.url not in text
    assert "DeepL-Auth-Key" not in text
    assert files_with(KEY) == []
    assert main(["regression", "audit", "cases.tsv"]) == 0

    assert run() == 0
    shown = capsys.readouterr()
    assert "Summary: 2 passed, 0 failed, 0 errors" in shown.out
    assert "warning" not in shown.err
    assert all(len(asked.texts) == 1 for asked in service.asked)


def test_a_run_asks_the_service_again_and_finds_a_change(service, capsys):
    assert capture() == 0
    service.translate = "{1}: {0}".format

    assert run() == 1
    assert "[FAIL] a" in capsys.readouterr().out


def test_a_changed_description_is_reported(service, capsys):
    Path("own.toml").write_text(OWN, encoding="utf-8")
    assert main(["trust", "own.toml"]) == 0
    assert capture(translator=OWN_OPTIONS) == 0
    Path("own.toml").write_text(OWN + "# changed\n", encoding="utf-8")
    assert main(["trust", "own.toml"]) == 0

    assert run(translator=OWN_OPTIONS) == 0
    assert "captured with description own" in capsys.readouterr().err


@pytest.mark.parametrize("command", [generate, capture])
def test_a_variable_that_is_not_named_is_not_used(command, service, capsys):
    assert command(translator=("--translator", "deepl", "--env", "DEEPL_URL")) == 2

    printed = capsys.readouterr().err
    assert "deepl: the variable DEEPL_API_KEY is needed" in printed
    assert "--env DEEPL_API_KEY" in printed
    assert service.asked == []


def test_a_variable_that_is_not_set_or_not_used_is_named(service, monkeypatch, capsys):
    monkeypatch.delenv("DEEPL_API_KEY")
    assert capture() == 2
    assert "the variable DEEPL_API_KEY is not set" in capsys.readouterr().err

    monkeypatch.setenv("DEEPL_API_KEY", KEY)
    assert capture("--env", "HOME") == 2
    assert "deepl does not use the variable HOME" in capsys.readouterr().err
    assert service.asked == []


def test_set_gives_an_address(service):
    options = ("--translator", "libretranslate", "--set", f"LIBRETRANSLATE_URL={service.url}")

    assert capture(translator=options) == 0
    assert [asked.service for asked in service.asked] == ["libretranslate", "libretranslate"]


def test_a_description_needs_trust_and_again_after_a_change(service, monkeypatch, capsys):
    own = Path("own.toml")
    own.write_text(OWN, encoding="utf-8")
    assert capture(translator=OWN_OPTIONS) == 2
    printed = capsys.readouterr().err
    assert "own.toml: not trusted yet: this file decides where texts and keys are sent" in printed
    assert "polyjudge trust own.toml" in printed
    assert service.asked == []

    assert main(["trust", "own.toml"]) == 0
    assert capture(translator=OWN_OPTIONS) == 0
    own.write_text(OWN.replace("127.0.0.1:1", "127.0.0.1:2"), encoding="utf-8")
    assert run(translator=OWN_OPTIONS) == 2

    monkeypatch.setenv("POLYJUDGE_TRUST", str(Path.cwd()))
    assert run(translator=OWN_OPTIONS) == 0
    monkeypatch.delenv("POLYJUDGE_TRUST")
    own.write_text(OWN, encoding="utf-8")
    assert run(translator=OWN_OPTIONS) == 0
    assert main(["trust", "--revoke", "own.toml"]) == 0
    assert run(translator=OWN_OPTIONS) == 2


def test_a_link_to_a_trusted_description_is_the_same_file(service, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "own.toml"
    elsewhere.write_text(OWN, encoding="utf-8")
    assert main(["trust", str(elsewhere)]) == 0
    Path("own.toml").symlink_to(elsewhere)

    assert capture(translator=OWN_OPTIONS) == 0


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ('translator = "deepl"', 2),
        ('translator = "./program.sh"', 2),
        ('translator = "own.toml"', 2),
        ('translator = "nosuch/m"', 2),
        ('translator = "scripted/replies.jsonl"', 0),
    ],
)
def test_an_untrusted_project_file_names_a_model_alone(setting, code, service, capsys):
    Path("program.sh").write_text("#!/bin/sh\ntouch made\n", encoding="utf-8")
    Path("program.sh").chmod(0o755)
    Path("own.toml").write_text(OWN, encoding="utf-8")
    Path("replies.jsonl").write_text('{"text": "Hallo"}\n', encoding="utf-8")
    Path("polyjudge.toml").write_text(f"[translation.generate]\n{setting}\n", encoding="utf-8")

    assert generate("--dry-run", translator=()) == code

    if code:
        assert "runs a program or names an address, so the file must be trusted first" in capsys.readouterr().err
    assert service.asked == []
    assert not Path("made").exists()


@pytest.mark.parametrize("command", [generate, capture])
def test_a_rejected_key_stops_at_once_with_exit_3_and_is_not_shown(command, service, monkeypatch, capsys):
    monkeypatch.setenv("DEEPL_API_KEY", "wrong-k3y-9876543210")

    assert command("--concurrency", "1") == 3

    shown = capsys.readouterr()
    assert "deepl answered 403" in shown.err
    assert "Check the key in DEEPL_API_KEY" in shown.err
    assert "wrong-k3y" not in shown.err + shown.out
    assert len(service.asked) == 1


def test_a_quota_that_is_used_up_is_exit_3(service, capsys):
    service.quota_is_used_up = True

    assert generate() == 3
    assert "The quota of the account is used up" in capsys.readouterr().err


def test_an_unknown_pair_is_named(service, capsys):
    Path("inputs.tsv").write_text("a\ten\txx\tHello, my friend.\n", encoding="utf-8")

    assert capture() == 3
    assert "deepl answered 400 for EN to xx: " in capsys.readouterr().err


def test_rate_limits_are_waited_for(service):
    service.failures = [(429, {"retry-after": "0"})] * 3

    assert capture("--rpm", "60000") == 0
    assert len(service.asked) == 5


def test_an_unknown_translator_suggests_the_right_one(service, capsys):
    assert generate(translator=("--translator", "depl")) == 2
    assert "Unknown translator: depl. Available: " in capsys.readouterr().err
    assert generate(translator=("--translator", "olama/m")) == 2
    assert "Did you mean 'ollama'?" in capsys.readouterr().err


def test_a_program_may_be_named_as_a_translator(service, capsys):
    Path("upper.py").write_text("import sys; sys.stdout.write(sys.stdin.read().upper())", encoding="utf-8")
    program = ("--translator", f"{sys.executable} upper.py")

    assert capture(translator=program) == 0
    assert "WHERE IS THE STATION?" in Path("cases.tsv").read_text(encoding="utf-8")
    assert run(translator=("--command", program[1])) == 0
    assert "warning" not in capsys.readouterr().err
    assert generate(translator=program) == 0
    assert generate("--rpm", "5", translator=program, output="other.json") == 0
    assert capture("--update", "--rpm", "5", translator=program) == 2


def test_a_model_may_be_the_translator_of_cases(service, server, monkeypatch, capsys):
    monkeypatch.setenv("OLLAMA_BASE_URL", f"{server.url}/v1")
    server.verdict = lambda prompt: f"translated: {prompt.splitlines()[-1]}"
    model = ("--translator", "ollama/gemma3:12b")

    assert capture(translator=model) == 0
    text = Path("cases.tsv").read_text(encoding="utf-8")
    assert "# polyjudge command: translator ollama/gemma3:12b\n" in text
    assert "translated: Where is the station?" in text
    assert "into Spanish" in server.bodies[0]["messages"][0]["content"] + server.bodies[1]["messages"][0]["content"]
    assert run(translator=model) == 0


def test_a_model_without_its_key_is_exit_3_in_a_gate(service, monkeypatch, capsys):
    assert capture() == 0
    monkeypatch.delenv("GROQ_API_KEY", raising=False)

    assert run(translator=("--translator", "groq/m")) == 3
    assert "GROQ_API_KEY not set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "inputs.tsv"), "--model is for programs"),
        (("--version-command", "true"), "--version-command is for programs"),
        (("--persistent",), "--persistent is for programs"),
    ],
)
def test_options_of_programs_are_refused_for_a_service(options, message, service, capsys):
    assert capture() == 0
    asked = len(service.asked)

    assert run(*options) == 2
    assert message in capsys.readouterr().err
    assert len(service.asked) == asked


def test_options_of_services_are_refused_for_others(service, capsys):
    assert generate(translator=("--translator", "scripted/x", "--env", "DEEPL_API_KEY")) == 2
    assert "--env and --set give variables to a service over HTTP" in capsys.readouterr().err
    assert generate("--max-cost", "5") == 2
    assert "whose price is not by tokens. Use --max-calls" in capsys.readouterr().err
