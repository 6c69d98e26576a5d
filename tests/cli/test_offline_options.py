"""`translation quick` and `full` and `calibrate` with the judge `offline`: they take its checks as `score` does."""

import json
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.judges.offline import MODEL

SOURCE = "Please call 112 quickly, my wife had an accident."
GOOD = "Rufen Sie bitte schnell 112 an, meine Frau hatte einen Unfall."
BAD = GOOD.replace("112", "211")
FEW = ["--filter", "language=de", "--texts-per-language", "2"]
CALIBRATE = {
    "perturb": ["calibrate", "perturb", *FEW, "--types", "change_numbers,loop", "--severities", "1"],
    "bias": ["calibrate", "bias", *FEW, "--effects", "length"],
}


@pytest.fixture
def judge(in_folder, capsys):
    prompts = [{"category": "", "sourceText": SOURCE, "generatedOutput": text} for text in (GOOD, BAD)]
    rows = [{"languageName": "German", "languageCode": "de", "priority": "standard", "prompts": prompts}]
    Path("results.json").write_text(json.dumps(rows), encoding="utf-8")

    def run(tier, *options, judge="offline"):
        command = ["translation", tier, "results.json", "--judge", judge, "--output", "scores.json", "--force"]
        code = main([*command, *options])
        return code, *capsys.readouterr()

    return run


def results():
    return json.loads(Path("scores.json").read_text(encoding="utf-8"))[0]["prompts"]


def coherence():
    return [each["coherenceScore"] for each in results()]


@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize(
    ("options", "settings", "is_bad"),
    [
        ([], "", True),
        (["--skip-checks", "numbers"], "", False),
        (["--checks", "script,language"], "", False),
        ([], '[checks]\nnumber_changed = "off"\n', False),
        ([], '[translation]\nskip-checks = "numbers"\n', False),
    ],
)
def test_options_and_the_project_file_choose_the_checks_of_scores_and_verdicts(judge, tier, options, settings, is_bad):
    Path("polyjudge.toml").write_text(settings, encoding="utf-8")
    code, out, error = judge(tier, *options)

    assert (code, "FAIL" in out) == (int(is_bad), is_bad), error
    assert coherence() == [None, 2] if is_bad else [None, None]
    models = {each["provenance"]["model"] for each in results()}
    assert (models == {MODEL}) == (not options and not settings)
    assert ("the judge is offline/" in error) == bool(options or settings)


def test_accepted_findings_are_used_too(judge, capsys):
    main(["check", BAD, "--language", "de", "--source", SOURCE, "--format", "json"])
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    entry = f'[[accepted]]\nfinding = "{finding["finding"]}"\nreason = "Police, as agreed."\n'
    Path("ours.toml").write_text(entry, encoding="utf-8")

    assert judge("quick")[0] == 1
    code, _, error = judge("quick", "--accepted", "ours.toml")
    assert (code, "1 accepted finding in ours.toml" in error) == (0, True)


def test_failures_are_retried_with_the_same_checks_only(judge):
    chosen = ["--skip-checks", "numbers"]
    judge("quick", *chosen)

    code, _, error = judge("quick", "--retry-failures", "--skip-checks", "loops")
    assert (code, f"the results are from offline/{MODEL}-" in error) == (2, True), error
    assert judge("quick", "--retry-failures")[0] == 2
    assert judge("quick", "--retry-failures", *chosen)[0] == 0


@pytest.mark.parametrize("tier", ["quick", "full"])
@pytest.mark.parametrize("option", ["--checks=numbers", "--skip-checks=numbers", "--accepted=ours.toml"])
def test_a_judge_with_a_model_takes_no_choice_of_checks(judge, tier, option, capsys):
    code, _, error = judge(tier, option, "--batch-size=1" if tier == "full" else "--limit=1", judge="openai/gpt-5-mini")
    assert (code, f"{option.partition('=')[0]} needs --judge offline: beside other judges" in error) == (2, True)

    for command in CALIBRATE.values():
        assert main([*command, "--judge", "openai/gpt-5-mini", option]) == 2
        assert f"{option.partition('=')[0]} needs --judge offline" in capsys.readouterr().err


def test_a_typing_error_is_explained_before_anything_is_judged(judge, capsys):
    for command in CALIBRATE.values():
        assert main([*command, "--judge", "offline", "--checks", "nubmers"]) == 2
        assert "Did you mean 'numbers'?" in capsys.readouterr().err
    code, _, error = judge("full", "--checks", "nubmers")
    assert (code, "Did you mean 'numbers'?" in error) == (2, True)
    assert not Path("scores.json").exists()


@pytest.mark.parametrize("action", CALIBRATE)
def test_a_card_of_chosen_checks_is_found_by_the_same_checks_alone(judge, action, capsys):
    chosen = ["--judge", "offline", "--skip-checks", "numbers"]
    assert main([*CALIBRATE[action], *chosen]) == 0
    [place] = Path(".polyjudge/cards").glob("*.json")
    card = json.loads(place.read_text(encoding="utf-8"))
    capsys.readouterr()

    out = judge("quick", "--skip-checks", "numbers")[1]
    assert "Make one:" not in out
    assert card["judge"]["model"] == results()[0]["provenance"]["model"] != MODEL
    assert main(["report", "--results", "results.json", "--quick-judge", "scores.json", "--format", "json"]) in (0, 1)
    assert card["judge"]["model"] in capsys.readouterr().out
    for others in ([], ["--skip-checks", "loops"]):
        assert "Make one: polyjudge calibrate perturb --judge offline" in judge("quick", *others)[1]


def test_the_checks_that_are_left_out_are_left_out_of_a_measurement(judge):
    for options, auc in ([], 1), (["--skip-checks", "numbers"], 0.5):
        assert main([*CALIBRATE["perturb"], "--judge", "offline", "--card", f"{auc}.json", *options]) == 0
        card = json.loads(Path(f"{auc}.json").read_text(encoding="utf-8"))
        assert card["languages"]["de"]["perturbations"]["change_numbers"]["auc"]["value"] == auc
