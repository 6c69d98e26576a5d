"""`polyjudge explain`: what decided a status, in order, with the evidence."""

import json
from pathlib import Path

import pytest
from tests.reports.test_run_report import languages, write_items, write_run

from polyjudge.cli import main
from polyjudge.records.outcomes import Failure

GOOD = {"scriptScore": 5, "grammarScore": 5, "coherenceScore": 5, "isCorrectLanguage": True}
TEXTS = [
    "Entschuldigung, wo ist der nächste Bahnhof?",
    "Ich möchte gern zwei Suppen und etwas Brot.",
    "Bitte rufen Sie schnell einen Arzt.",
    "Guten Tag, die Fahrkarte kostet fünf Euro.",
]


def translations(*, scores=None, extra=()):
    """Write four German outputs, and the scores of a judge if they are given, one grammar score for each."""
    prompts = [
        {"category": f"c{n}", "sourceText": f"source {n}", "generatedOutput": text} for n, text in enumerate(TEXTS)
    ]
    rows = [{"languageName": "German", "languageCode": "de", "prompts": prompts}, *extra]
    Path("r.json").write_text(json.dumps(rows), encoding="utf-8")
    if scores is None:
        return ["r.json"]
    judged = [
        {"index": index, **GOOD, "grammarScore": score, "notes": f"grammar is {score}"}
        for index, score in enumerate(scores)
    ]
    reached = sorted(scores, reverse=True)[-(-len(scores) * 8 // 10) - 1]
    language = {"languageName": "German", "languageCode": "de", **GOOD, "grammarScore": reached, "judge": "openai/x"}
    language["notes"] = f"grammar is {min(scores)}"
    Path("f.json").write_text(json.dumps([{**language, "prompts": judged}]), encoding="utf-8")
    return ["r.json", "--full-judge", "f.json"]


def explained(capsys, *arguments):
    assert main(["explain", *arguments]) == 0
    return capsys.readouterr().out


def in_order(text, *words):
    places = [text.index(each) for each in words]
    return places == sorted(places)


def test_a_language_that_a_judge_fails_is_explained_with_its_words(in_folder, capsys):
    shown = explained(capsys, *translations(scores=[5, 2, 5, 5]), "--language", "de")

    assert in_order(
        shown,
        "German (de): FAIL",
        "1. The rule: at least 80% of the outputs",
        "Checks: 0 of 4 failed: allowed",
        "full, grammar of at least 3: 3 of 4 is 75%: too few, 80% must pass",
        "Result: FAIL, because full: grammar 2/5",
        "de:1, output 2 of 4, c1",
        "Output: Ich möchte gern zwei Suppen",
        "grammar 2, meaning 5",
    )
    assert "de:0" not in shown


def test_a_language_that_passes_says_that_the_judge_is_not_calibrated(in_folder, capsys):
    shown = explained(capsys, *translations(scores=[5, 4, 5, 5]), "--language", "German")

    assert "German (de): PASS (judge not calibrated)" in shown
    assert "no judge that scored it has a trust card" in shown


def test_a_language_that_only_the_checks_saw_says_what_was_not_judged(in_folder, capsys):
    shown = explained(capsys, *translations(), "--language", "de")

    assert "CHECKED (script-only; grammar, meaning not judged)" in shown
    assert "PASS" not in shown


def test_one_output_is_explained_with_its_findings_and_what_it_means(in_folder, capsys):
    empty = {"languageName": "Thai", "languageCode": "th", "prompts": [{"sourceText": "Hi", "generatedOutput": ""}]}
    given = translations(extra=[empty])

    shown = explained(capsys, *given, "--item", "th:0")
    assert "th:0, Thai: fails" in shown
    assert "Output: (empty)" in shown
    assert "Check, empty (fails it)" in shown
    assert "1 of 1 failed: not allowed" in shown


def test_without_a_language_the_causes_are_listed(in_folder, capsys):
    shown = explained(capsys, *translations(scores=[5, 2, 5, 5]))

    assert "poor grammar" in shown
    assert 'full: grammar 2/5 "grammar is 2"' in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--language", "xx"], "no language 'xx'. Found: de."),
        (["--item", "de:9"], "no output 'de:9'. The ids of German are de:0 to de:3."),
        (["--item", "de:0", "--language", "de"], "Give --language or --item, not both."),
    ],
)
def test_a_language_or_item_that_is_not_there_is_one_message(in_folder, capsys, arguments, message):
    assert main(["explain", *translations(), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_language_of_a_run_is_explained_with_its_counts_and_worst_items(in_folder, capsys):
    write_run([*languages(("de", 4, 1), ("th", 3, 1)), (("x", "th"), Failure("timed out", "transient"))])

    shown = explained(capsys, "scores.jsonl", "--language", "Thai")
    assert in_order(
        shown,
        "Thai: FAIL",
        "The rule: at least 80% of the items with a verdict pass",
        "1 of 4 failed: not allowed",
        "No verdict, so not counted in the share: transient 1",
        "Result: FAIL, because 3 of 4 is 75%",
        "Judge: said of th",
    )
    assert "de0" not in shown


def test_an_item_of_a_run_is_explained_with_its_texts(in_folder, capsys):
    write_run([(("1", "de"), Failure("no JSON", "unreadable", "I cannot say"))])
    shown = explained(capsys, "scores.jsonl", "--items", str(write_items()), "--item", "1")

    assert "The judge gave no verdict (unreadable), which says nothing about the text." in shown
    assert "Source: source 1" in shown
    assert "Raw reply: I cannot say" in shown


def test_a_run_is_explained_by_its_groups(in_folder, capsys):
    write_run(languages(("de", 5, 0), ("th", 3, 1)))
    shown = explained(capsys, "scores.jsonl")

    assert in_order(shown, "Not yet. 1 of 2 languages is ready and 1 fails.", "Thai", "3 of 4 is 75%", "said of th")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_text_of_models_does_not_act_in_an_explanation(in_folder, capsys, form):
    hostile = "<script>alert(1)</script>\x1b[31m\u202e"
    prompts = [{"sourceText": hostile, "generatedOutput": hostile, "category": hostile}]
    Path("r.json").write_text(json.dumps([{"languageName": "German", "languageCode": "de", "prompts": prompts}]))

    for extra in (["--language", "de"], ["--item", "de:0"], []):
        shown = explained(capsys, "r.json", "--format", form, *extra)
        assert not set("\x1b\u202e") & set(shown)
        assert form == "text" or "<script>alert" not in shown
