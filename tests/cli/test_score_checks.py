"""`polyjudge score --judge offline` with the options, settings and accepted findings that `check` takes."""

import json
import re
import shlex
from pathlib import Path

import pytest

from polyjudge import OfflineJudge, Run, load_rubric, read_items
from polyjudge.cli import main
from polyjudge.judges.offline import MODEL

RUBRIC = load_rubric("translation")
SOURCE = "Please call 112 quickly, my wife had an accident."
GOOD = "Rufen Sie bitte schnell 112 an, meine Frau hatte einen Unfall."
BAD = GOOD.replace("112", "211")


@pytest.fixture
def score(in_folder, capsys):
    def write(*texts):
        rows = [
            {"id": f"i{place}", "language": "de", "source": SOURCE, "candidate": each}
            for place, each in enumerate(texts)
        ]
        Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    write(GOOD, BAD)

    def run(*options, judge="offline"):
        command = ["score", "items.jsonl", "--rubric", "translation", "--judge", judge, "--output", "rows.jsonl"]
        code = main([*command, *options])
        return code, *capsys.readouterr()

    return run


def rows():
    return [json.loads(line) for line in Path("rows.jsonl").read_text(encoding="utf-8").splitlines()]


def scores():
    return [row["score"] for row in rows()]


def accept_the_number(capsys):
    main(["check", BAD, "--language", "de", "--source", SOURCE, "--format", "json"])
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    entry = f'[[accepted]]\nfinding = "{finding["finding"]}"\nreason = "Police, as agreed."\n'
    Path("polyjudge-accepted.toml").write_text(entry, encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "settings", "found"),
    [
        ([], "", [5, 3.5]),
        (["--skip-checks", "numbers"], "", [5, 5]),
        (["--checks", "script,language"], "", [5, 5]),
        (["--checks", "numbers"], "", [5, 3.5]),
        ([], '[checks]\nnumber_changed = "off"\n', [5, 5]),
        ([], '[checks]\nnumbers = "warn"\n', [5, 4]),
        ([], '[score]\nskip-checks = "numbers"\n', [5, 5]),
    ],
)
def test_options_and_the_project_file_choose_the_checks_as_they_do_for_check(score, options, settings, found):
    Path("polyjudge.toml").write_text(settings, encoding="utf-8")
    code, _, error = score(*options)

    assert (code, scores()) == (0, found), error
    changes = bool(options or settings)
    assert {row["model"] == MODEL for row in rows()} == {not changes}
    assert (f"the judge is offline/{rows()[0]['model']}: not all checks" in error) == changes


def test_accepted_findings_lift_the_score_and_are_named(score, capsys):
    accept_the_number(capsys)
    code, _, error = score()

    assert (code, scores()) == (0, [5, 5])
    assert "1 accepted finding in polyjudge-accepted.toml" in error
    assert "1 accepted finding does not count" in rows()[1]["reason"]
    Path("polyjudge-accepted.toml").rename("ours.toml")
    score("--accepted", "ours.toml")
    assert scores() == [5, 5]
    score()
    assert scores() == [5, 3.5]


def test_a_finished_run_is_judged_again_with_other_checks(score):
    for options, found in (([], [5, 3.5]), (["--skip-checks", "numbers"], [5, 5]), ([], [5, 3.5])):
        assert score(*options)[0] == 0
        assert scores() == found


def test_an_unfinished_run_is_not_resumed_with_other_checks(score):
    score()
    first = Path("rows.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[0]
    Path("rows.jsonl").unlink()
    plan = Run(read_items(Path("items.jsonl")), OfflineJudge(RUBRIC), output=Path("rows.jsonl")).plan()
    partial = Path(f"rows.jsonl.{plan.fingerprint}.partial")
    partial.write_text(first.replace('"score": 5.0', '"score": 1.0'), encoding="utf-8")

    assert score("--skip-checks", "numbers")[0] == 0
    assert (scores(), partial.exists()) == ([5, 5], True)
    assert score()[0] == 0
    assert (scores(), partial.exists()) == ([1, 3.5], False)


def test_failures_are_not_retried_with_other_checks(score):
    score()
    code, _, error = score("--retry-failures", "--skip-checks", "numbers")

    assert code == 2
    assert f"the results are from offline/{MODEL}, not from this judge" in error
    assert score("--retry-failures")[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--skip-checks", "nubmers"], "'nubmers'. Did you mean 'numbers'?"),
        (["--checks", "number_change"], "'number_change'. Did you mean 'number_changed'?"),
        (["--accepted", "missing.toml"], "missing.toml"),
        (["--engine", "ray", "--checks", "numbers"], "Ray's workers do not support settings of checks"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_judged(score, options, message):
    code, _, error = score(*options)

    assert (code, message in error) == (2, True), error
    assert not Path("rows.jsonl").exists()


@pytest.mark.parametrize("option", ["--checks=numbers", "--skip-checks=numbers", "--accepted=polyjudge-accepted.toml"])
def test_a_judge_with_a_model_takes_no_choice_of_checks(score, option):
    code, _, error = score(option, judge="openai/gpt-5-mini")

    assert code == 2
    assert f"{option.partition('=')[0]} needs --judge offline: other judges run no checks." in error


def test_what_the_project_file_sets_for_all_commands_does_not_keep_a_model_from_judging(score):
    Path("polyjudge.toml").write_text('skip-checks = "numbers"\n', encoding="utf-8")

    code, _, error = score("--dry-run", judge="local/m")
    assert code == 0, error
    assert score("--dry-run", "--skip-checks", "loops", judge="local/m")[0] == 2


def test_a_judge_of_chosen_checks_has_a_card_of_its_own(score, capsys):
    typed = ["--judge", "offline", "--filter", "language=de", "--types", "loop", "--severities", "1"]
    assert main(["calibrate", "perturb", *typed]) == 0
    capsys.readouterr()

    assert "not calibrated" not in score()[1]
    printed = score("--skip-checks", "numbers")[1]
    [command] = re.findall(r"trust:    not calibrated \(.*\)\. Make one: polyjudge (.*)\n", printed)
    assert command == "calibrate perturb --judge offline --skip-checks numbers"
    assert score("--skip-checks", "numbers", "--require-calibrated")[0] == 1

    assert main([*shlex.split(command), *typed[2:]]) == 0
    assert main(["calibrate", "card", *shlex.split(command)[2:]]) == 0
    assert main(["calibrate", "card", "--judge", "offline", "--skip-checks", "loops"]) == 2
    capsys.readouterr()
    assert "not calibrated" not in score("--skip-checks", "numbers")[1]
    assert "not calibrated" in score("--skip-checks", "loops")[1]
    assert len(list(Path(".polyjudge/cards").glob("offline-*.json"))) == 2
    assert len(list(Path(".polyjudge/calibration").glob("perturb-*.jsonl"))) == 2
