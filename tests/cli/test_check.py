"""`polyjudge check`: all checks of one text, with their evidence; and the options that choose checks elsewhere."""

import io
import json
import sys

import pytest

from polyjudge.cli import main

SOURCE = "Please call 112 quickly, my wife had an accident."
GOOD = "Rufen Sie bitte schnell 112 an, meine Frau hatte einen Unfall."
BAD = "Rufen Sie bitte schnell 211 an, meine Frau hatte einen Unfall."


def check(capsys, *given):
    code = main(["check", *given])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys, *given):
    code, out, _ = check(capsys, *given, "--format", "json")
    return code, json.loads(out)


def test_a_reference_text_passes_and_every_check_says_what_it_saw(capsys, in_folder):
    code, out, _ = check(capsys, GOOD, "--language", "de", "--source", SOURCE)

    assert code == 0
    assert "No findings in this German text." in out
    for said in ("100% of the letters are in Latn", "Identified as German", "In the source: 112. In the text: 112."):
        assert said in out


def test_a_finding_says_what_where_and_why_and_fails_the_command(capsys, in_folder):
    code, out, _ = check(capsys, GOOD + "```", "--language", "de", "--source", SOURCE)
    [first, quote, record] = out.splitlines()[:3]

    assert code == 1
    assert first.startswith("FAIL code_fence: Code fence (```) that is not in the source (characters 62 to 65);")
    assert first.endswith("the formatting of a reply became part of the text.")
    assert quote.endswith("Unfall.[```]")
    assert "right in 100% of cases on WMT24; finding " in record


def test_a_warning_alone_does_not_fail_the_command(capsys, in_folder):
    code, out, _ = check(capsys, GOOD.replace("112 ", ""), "--language", "de", "--source", SOURCE)

    assert (code, "WARN number_lost" in out) == (0, True)


def test_json_has_findings_evidence_and_documentation(capsys, in_folder):
    code, row = as_json(capsys, BAD, "--language", "de", "--source", SOURCE)
    [finding] = row["findings"]

    assert code == 1
    assert row["fails"]
    assert (finding["kind"], finding["check"], finding["severity"]) == ("number_changed", "numbers", "fail")
    assert finding["documentation"] == "reference/checks.html#number-changed"
    assert {each["check"]: each["outcome"] for each in row["checks"]}["reference"] == "not checked"
    assert row["languageFound"] == "de"


def test_the_text_is_read_from_stdin(capsys, in_folder, monkeypatch):
    for given, expected in ((BAD.encode() + b"\n", 1), (b"\xff\xfe\xff", 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code, _, error = check(capsys, "-", "--language", "de", "--source", SOURCE)

        assert (code, "not UTF-8" in error) == (expected, expected == 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["Text", "--language", "xx"], "'xx' is not in the language table"),
        (["Text", "--language", "de", "--checks", "nunbers"], "no check or finding 'nunbers'"),
        (["Text", "--language", "de", "--accepted", "missing.toml"], "missing.toml"),
    ],
)
def test_wrong_usage_ends_with_2(capsys, in_folder, given, message):
    code, out, error = check(capsys, *given)

    assert (code, out) == (2, "")
    assert message in error


def test_checks_are_chosen_by_options_and_by_the_project_file(capsys, in_folder):
    given = (BAD, "--language", "de", "--source", SOURCE)

    assert check(capsys, *given, "--skip-checks", "numbers")[0] == 0
    assert check(capsys, *given, "--checks", "script,language")[0] == 0
    (in_folder / "polyjudge.toml").write_text('[checks]\nnumbers = "warn"\n', encoding="utf-8")
    code, out, error = check(capsys, *given)
    assert (code, "WARN number_changed" in out) == (0, True)
    assert "checks.numbers=warn" in error
    (in_folder / "polyjudge.toml").write_text('[checks]\nnunbers = "warn"\n', encoding="utf-8")
    code, _, error = check(capsys, *given)
    assert (code, "[checks]: There is no check" in error) == (2, True)


def test_an_accepted_finding_is_counted_and_fails_nothing(capsys, in_folder):
    given = (BAD, "--language", "de", "--source", SOURCE)
    _, row = as_json(capsys, *given)
    entry = f'[[accepted]]\nfinding = "{row["findings"][0]["finding"]}"\nreason = "Police, as agreed."\n'
    (in_folder / "polyjudge-accepted.toml").write_text(entry, encoding="utf-8")

    code, out, error = check(capsys, *given)
    _, accepted = as_json(capsys, *given)

    assert (code, "No findings" in out) == (0, True)
    assert "1 accepted finding not shown (polyjudge-accepted.toml)" in error
    assert [each["reason"] for each in accepted["accepted"]] == ["Police, as agreed."]


RESULTS = [
    {
        "languageName": "German",
        "languageCode": "de",
        "prompts": [{"sourceText": SOURCE, "generatedOutput": text} for text in (BAD, BAD, GOOD)],
    }
]


def test_translation_check_and_report_use_the_same_choices(capsys, in_folder):
    (in_folder / "results.json").write_text(json.dumps(RESULTS), encoding="utf-8")
    entry = '[[accepted]]\nfinding = "{}"\nreason = "Police, as agreed."\n'

    assert main(["translation", "check", "results.json"]) == 1
    assert main(["translation", "check", "results.json", "--skip-checks", "number_changed"]) == 0
    capsys.readouterr()
    _, row = as_json(capsys, BAD, "--language", "de", "--source", SOURCE)
    names = (row["findings"][0]["finding"], "0123456789ab")
    (in_folder / "polyjudge-accepted.toml").write_text("\n".join(map(entry.format, names)), encoding="utf-8")
    assert main(["translation", "check", "results.json"]) == 0
    message = capsys.readouterr().err
    assert "2 accepted findings not shown" in message
    assert "1 accepted finding did not occur: 0123456789ab" in message
    assert main(["report", "--results", "results.json"]) == 0
    captured = capsys.readouterr()
    assert "Accepted findings, not shown: 2" in captured.out
    assert "number changed" not in captured.out
    assert (
        main(["report", "--results", "results.json", "--accepted", "polyjudge-accepted.toml", "--format", "json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["acceptedFindings"] == 2


def test_a_report_says_how_often_its_findings_are_right(capsys, in_folder):
    row = {**RESULTS[0], "prompts": [{"sourceText": SOURCE, "generatedOutput": GOOD + "```"}]}
    (in_folder / "results.json").write_text(json.dumps([row]), encoding="utf-8")

    assert main(["report", "--results", "results.json"]) == 0
    assert "code fence" in (out := capsys.readouterr().out)
    assert "right in 100% of cases on WMT24" in out
