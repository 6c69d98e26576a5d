"""Messages about what is missing say what to do next."""

import json
from pathlib import Path

from polyjudge.cli import main


def write_items(*items):
    Path("items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in items), encoding="utf-8")


def test_a_judge_without_a_card_is_shown_with_the_command_that_makes_one(in_folder, capsys):
    write_items({"id": "a", "candidate": "Bonjour", "language": "fr", "source": "Hello"})
    make = "Make one: polyjudge calibrate perturb --judge offline"

    assert main(["score", "items.jsonl", "--rubric", "translation", "--judge", "offline", "--output", "o.jsonl"]) == 0
    assert f"trust:    not calibrated (it has no trust card yet). {make}\n" in capsys.readouterr().out

    assert main(["calibrate", "card", "--judge", "offline"]) == 2
    assert capsys.readouterr().err.endswith(f"it has no trust card yet. {make}\n")


def test_too_many_unjudged_items_are_shown_with_the_limit_and_the_most_frequent_reason(in_folder, capsys):
    items = [{"id": str(number), "candidate": "x", "language": "xx"} for number in range(3)]
    write_items(*items, {"id": "a", "candidate": "Bonjour", "language": "fr"})

    assert main(["score", "items.jsonl", "--rubric", "translation", "--judge", "offline", "--output", "o.jsonl"]) == 3

    printed = capsys.readouterr().err
    assert (
        "75.0% of the items could not be judged, more than --max-unjudged 0.2; most frequent reason: bad_item (3)"
        in printed
    )


def test_a_translator_that_always_fails_is_not_to_be_run_again_unchanged(in_folder, capsys):
    assert main(["translation", "generate", "--command", "false", "--languages", "fr,th", "--output", "r.json"]) == 3

    printed = capsys.readouterr().err
    failed = printed.count("polyjudge: failed: ")
    assert failed == 5
    total = int(printed.split(" failed. Correct the cause, then run the command again.")[0].split()[-1])
    assert f"polyjudge: and {total - failed} more\n" in printed
