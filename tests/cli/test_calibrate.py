"""`polyjudge calibrate perturb|bias|card` as people use and misuse them, with judges of known behaviour on loopback."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.formats.reference_texts import sample_texts

FENCED = re.compile(r"<text-([0-9a-f]{32})>\n(.*?)\n</text-\1>", re.DOTALL)
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that must not be printed on a terminal."""
KINDS = "drop_words,loop,typos,truncate,shuffle_words"
CARD = Path(".polyjudge/cards/local-m-translation-4dd22ecb.json")
ORIGINALS = {(text.source, text.language): text.text for text in sample_texts()}


def grades(points):
    subscores = dict.fromkeys(("script", "grammar", "coherence"), points)
    return json.dumps({"reason": "because", "subscores": subscores, "isCorrectLanguage": True})


def pieces(prompt):
    """Return the language, source and candidates in a prompt."""
    return [piece for _, piece in FENCED.findall(prompt)]


def closeness(prompt):
    """Return the similarity of the candidate to the reference text of the sample, up to 1."""
    language, source, candidate = pieces(prompt)
    original = ORIGINALS[source, "fr" if language.startswith("French") else "th"]
    return SequenceMatcher(None, original, candidate, autojunk=False).ratio()


def sharp(_, prompt):
    near = closeness(prompt)
    return grades(5 if near == 1 else min(4, 1 + int(4 * near)))


def blind_in_thai(model, prompt):
    return grades(5) if pieces(prompt)[0].startswith("Thai") else sharp(model, prompt)


def constant(_, __):
    return grades(4)


def unbiased(model, prompt):
    return json.dumps({"verdict": "tie", "reason": "alike"}) if "Answer B:" in prompt else constant(model, prompt)


@pytest.fixture
def calibrate(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.speak = sharp

    def run(action, *options, judge="local/m"):
        return main(["calibrate", action, *options, "--judge", judge])

    return run


@pytest.fixture
def perturb(calibrate):
    def run(*options, language="fr", types=KINDS, **more):
        chosen = (
            () if any(not option.startswith("-") for option in options[:1]) else ("--filter", f"language={language}")
        )
        return calibrate("perturb", *options, *chosen, "--types", types, "--severities", "1", **more)

    return run


def card(path=CARD):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def write_rows(path, *rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def announced(message):
    """Return the announced maximum number of calls."""
    return int(re.search(r"([\d,]+) calls at most", message)[1].replace(",", ""))


# perturb: what it writes and says


def test_the_checks_are_measured_on_the_shipped_sample_and_a_second_run_adds_to_the_card(perturb, capsys):
    place = ".polyjudge/cards/offline-checks-4-translation-4dd22ecb.json"
    assert perturb(language="fr", judge="offline") == 0
    assert list(card(place)["languages"]) == ["fr"]
    assert perturb(language="th", types="loop", judge="offline") == 0

    kept = card(place)
    assert list(kept["languages"]) == ["fr", "th"]
    assert kept["languages"]["fr"]["perturbations"].keys() == set(KINDS.split(","))
    assert [run["kind"] for run in kept["runs"]] == ["perturb", "perturb"]
    shown = capsys.readouterr()
    assert place in shown.err
    assert "no call" in shown.err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.jsonl", '{"id": "a", "candidate": "Le chat dort sur la table.", "language": "fr"}\n'),
        ("t.csv", 'id,reference,language\n1,"Le chat dort sur la table.",fr\n'),
        ("t.tsv", "id\tgeneratedOutput\tlanguageCode\n1\tLe chat dort sur la table.\tfr\n"),
        (
            "t.json",
            '[{"languageName": "French", "languageCode": "fr", "prompts": '
            '[{"sourceText": "The cat sleeps.", "generatedOutput": "Le chat dort sur la table."}]}]',
        ),
    ],
)
def test_own_texts_come_as_rows_or_as_a_translators_results(perturb, capsys, name, content):
    Path(name).write_text(content, encoding="utf-8")

    assert perturb(name, judge="offline") == 0
    assert "1 reference text in 1 language," in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_the_card_and_the_answers_go_where_they_are_wanted(perturb, in_folder, capsys, form):
    assert perturb("--card", "deep/c.json", "--answers", "a.jsonl", "--format", form, judge="offline") == 0

    shown = capsys.readouterr().out
    begins = {"text": "Trust card of", "markdown": "# Trust card of", "json": "{"}
    assert shown.startswith(begins[form])
    if form == "json":
        assert json.loads(shown)["languages"].keys() == {"fr"}
    assert card("deep/c.json")["runs"][0]["answers"] == "a.jsonl"
    assert len(Path("a.jsonl").read_text(encoding="utf-8").splitlines()) == 30
    assert not (in_folder / ".polyjudge/cards").exists()


def test_a_budget_is_not_exceeded(perturb, server, capsys):
    assert perturb("--budget", "12", language="fr,th") == 0

    assert "left out by --budget" in capsys.readouterr().err
    assert 2 <= server.asked <= 12


def test_a_dry_run_writes_nothing_and_estimates_the_calls_exactly(perturb, server, in_folder, capsys):
    before = files_in(in_folder)
    assert perturb("--dry-run", "--format", "json") == 0
    shown = capsys.readouterr()
    assert files_in(in_folder) == before
    assert server.asked == 0

    assert perturb() == 0
    assert json.loads(shown.out)["calls"] == announced(shown.err) == server.asked == 30


@pytest.mark.parametrize(
    ("judge", "options"),
    [
        ("local/m,local/n", ()),
        pytest.param(
            "local/m",
            ("--repeats", "3"),
        ),
    ],
)
def test_no_more_calls_are_made_than_announced(perturb, server, capsys, judge, options):
    assert perturb(*options, types="loop", judge=judge) == 0
    assert server.asked <= announced(capsys.readouterr().err)


def test_a_refresh_asks_again_and_a_plain_second_run_asks_nothing(perturb, server, capsys):
    assert [perturb(types="loop"), server.asked] == [0, 10]
    assert [perturb(types="loop"), server.asked] == [0, 10]
    assert [perturb("--refresh", types="loop"), server.asked] == [0, 20]


# perturb: what it finds


def test_the_card_separates_reliable_from_unreliable_languages(perturb, server, capsys):
    server.speak = blind_in_thai
    assert perturb(language="fr,th") == 0

    verdicts = {tag: each["verdict"] for tag, each in card()["languages"].items()}
    assert verdicts == {"fr": "reliable", "th": "unreliable"}
    assert "Unreliable in: Thai (th)." in capsys.readouterr().out


def test_a_judge_with_a_constant_score_is_unreliable(perturb, server, capsys):
    server.speak = constant
    assert perturb() == 0

    found = card()["languages"]["fr"]
    assert (found["verdict"], found["discrimination"]["value"]) == ("unreliable", 0.5)
    assert found["perturbations"]["loop"]["drop"]["value"] == 0


def test_texts_of_an_unknown_language_without_a_source_or_a_language_are_measured(perturb, server, capsys):
    server.speak = constant
    write_rows(
        "t.jsonl",
        {"id": 1, "candidate": "pole vaka lumo", "language": "xx-nosuch"},
        {"id": 2, "candidate": "uno dos tres"},
    )
    assert perturb("t.jsonl") == 0

    assert list(card()["languages"]) == ["", "xx-nosuch"]
    shown = capsys.readouterr().out
    assert "xx-nosuch" in shown
    assert "no language given" in shown


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
def test_a_text_of_a_megabyte_is_perturbed_and_judged_whole(perturb, server, capsys):
    server.speak = constant
    text = "Le chat dort sur la table et mange. " * 28_000
    write_rows("t.jsonl", {"id": 1, "candidate": text, "language": "fr"})

    assert perturb("t.jsonl", types="white_space") == 0
    assert any(text in body["messages"][-1]["content"] for body in server.bodies)


def test_a_single_word_that_no_way_can_change_is_an_error_and_others_are_tried(perturb, server, capsys):
    server.speak = constant
    write_rows("t.jsonl", {"id": 1, "candidate": "mot", "language": "fr"})

    assert perturb("t.jsonl", types="drop_words,shuffle_words") == 2
    assert "texts of several words" in capsys.readouterr().err
    assert perturb("t.jsonl", types="typos,loop") == 0


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("action", ["perturb", "bias"])
def test_no_control_code_of_ids_and_languages_reaches_the_terminal(calibrate, server, capsys, action, form):
    server.speak = unbiased
    evil = "\u202efr\x1b[31m\x9b"
    write_rows(
        "t.jsonl", *({"id": f"{evil}{n}", "candidate": f"un deux trois {n}", "language": evil} for n in range(2))
    )
    only = ("--types", "loop", "--severities", "1") if action == "perturb" else ("--effects", "length,repeats")

    assert calibrate(action, "t.jsonl", "--format", form, *only) == 0
    assert main(["calibrate", "card", "--judge", "local/m", "--format", form]) == 0
    shown = capsys.readouterr()
    assert not RAW.search(shown.out + shown.err)


# perturb: wrong use


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.jsonl"], "missing.jsonl: cannot be read"),
        (["folder"], "folder"),
        (["empty.jsonl"], "empty.jsonl: no texts"),
        (["empty.csv"], "empty.csv: no texts"),
        (["empty.json"], "empty.json:1: is empty"),
        (["other.jsonl"], "other.jsonl: no candidate or reference column. Found: id, note."),
        (["other.jsonl", "--column", "nope"], "no text in 'nope'"),
        (["twice.jsonl"], "twice.jsonl:2: duplicate id 'a', first at line 1"),
        (["--types", "nope"], "Unknown perturbation: nope"),
        (["--severities", "0,1"], "above 0"),
        (["--severities", "0.5"], "must include 1"),
        (["--severities", "nan"], "above 0"),
        (["--severities", "half"], "Write numbers such as"),
        (["--rubric", "nope"], "Unknown rubric: nope"),
        (["--rubric", "general"], "offline"),
        (["--filter", "language=xx"], "no text in xx"),
        (["--filter", "language"], "Write COLUMN=VALUE"),
        (["--judge", "nosuch"], "nosuch"),
        (["--judge", "offline,local/m"], "cannot be combined"),
        (["--card", "folder", "--filter", "language=fr", "--types", "loop"], "folder"),
    ],
)
def test_wrong_use_is_one_line_and_nothing_is_written(in_folder, capsys, arguments, words):
    Path("folder").mkdir()
    for name in ("empty.jsonl", "empty.csv", "empty.json"):
        Path(name).touch()
    write_rows("other.jsonl", {"id": 1, "note": "un deux"})
    write_rows("twice.jsonl", {"id": "a", "candidate": "un deux"}, {"id": "a", "candidate": "trois quatre"})

    assert main(["calibrate", "perturb", *([] if "--judge" in arguments else ["--judge", "offline"]), *arguments]) == 2
    shown = capsys.readouterr()
    printed = [line for line in shown.err.splitlines() if " questions, " not in line]
    assert words in shown.err
    assert (len(printed), shown.out) == (1, "")
    assert not (in_folder / ".polyjudge/cards").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "ACTION"),
        (["perturbe"], "unknown action 'perturbe'. Did you mean 'perturb'?"),
        (["perturb", "--jugde", "offline"], "unknown option --jugde. Did you mean --judge?"),
        (["perturb", "--budget", "0"], "at least 1"),
        (["perturb", "--format", "pdf"], "invalid choice: 'pdf'"),
    ],
)
def test_a_wrong_command_line_is_reported_and_exits_with_two(in_folder, capsys, arguments, words):
    with pytest.raises(SystemExit) as exited:
        main(["calibrate", *arguments])

    assert exited.value.code == 2
    assert words in capsys.readouterr().err


def test_damaged_rows_are_named_and_skipped(perturb, server, capsys):
    server.speak = constant
    Path("t.jsonl").write_text('{"id": 1, "candidate": "un deux trois"}\n{torn\n[1]\n{"id": 4}\n', encoding="utf-8")

    assert perturb("t.jsonl", types="loop") == 0
    printed = capsys.readouterr().err
    assert [f"t.jsonl:{line}:" in printed for line in (1, 2, 3, 4)] == [False, True, True, True]


def test_the_answers_never_take_the_place_of_the_texts(perturb, capsys):
    write_rows("t.jsonl", {"id": 1, "candidate": "Le chat dort sur la table.", "language": "fr"})

    assert perturb("t.jsonl", "--answers", "t.jsonl", judge="offline") == 2
    assert "Le chat" in Path("t.jsonl").read_text(encoding="utf-8")


def test_a_card_of_another_judge_is_not_overwritten(perturb, capsys):
    assert perturb("--card", "c.json") == 0
    assert perturb("--card", "c.json", judge="local/n") == 2
    assert card("c.json")["judge"]["model"] == "m"


def test_a_filter_by_a_column_that_the_sample_lacks_is_refused(calibrate, capsys):
    assert calibrate("perturb", "--filter", "lang=fr", "--types", "loop", "--dry-run") == 2


def test_a_budget_too_small_for_one_comparison_is_named(perturb, capsys):
    assert perturb("--budget", "1") == 2
    assert "--budget" in capsys.readouterr().err


def test_a_smaller_run_takes_nothing_from_the_card(perturb, capsys):
    assert perturb() == 0
    before = card()["languages"]["fr"]["perturbations"]["loop"]["texts"]
    assert perturb("--texts-per-language", "1") == 0
    assert card()["languages"]["fr"]["perturbations"]["loop"]["texts"] == before == 5


@pytest.mark.parametrize("place", ["folder", "notes.txt"])
def test_a_card_that_cannot_be_written_is_refused_before_the_first_call(perturb, server, capsys, place):
    Path("folder").mkdir()
    Path("notes.txt").write_text("mine", encoding="utf-8")
    assert perturb("--card", place, types="loop") == 2
    assert server.asked == 0


# perturb: when the judge is in trouble


def test_a_language_that_the_judge_refuses_is_left_without_a_verdict(perturb, server, capsys):
    server.speak = lambda model, prompt: ("", "refusal") if "Thai" in pieces(prompt)[0] else sharp(model, prompt)
    assert perturb("--max-unjudged", "0.6", language="fr,th") == 0
    found = card()["languages"]
    assert (found["fr"]["verdict"], found["th"]["verdict"]) == ("reliable", "not enough data")


@pytest.mark.parametrize("answer", ["I would rather not.", ("", "refusal"), ('{"reason": "cut', "length"), grades(9)])
def test_a_judge_that_gives_no_verdict_is_exit_three_and_makes_no_card(perturb, server, in_folder, capsys, answer):
    server.speak = lambda *_: answer
    assert perturb("--max-unjudged", "1", types="loop") == 3

    shown = capsys.readouterr()
    assert "100.0% of the items could not be judged" in shown.err
    assert shown.out == ""
    assert not (in_folder / ".polyjudge/cards").exists()


def test_some_answers_without_a_verdict_are_counted_and_leave_the_others(perturb, server, capsys):
    def moody(model, prompt):
        return "no comment" if pieces(prompt)[1].startswith("Press") else sharp(model, prompt)

    server.speak = moody
    assert perturb("--max-unjudged", "0.1") == 3
    assert not CARD.exists()
    assert perturb("--max-unjudged", "0.3") == 0
    assert (card()["runs"][0]["judged"], card()["runs"][0]["unjudged"]) == (24, 6)
    assert card()["languages"]["fr"]["perturbations"]["loop"]["texts"] == 4


def test_the_reason_why_nothing_was_judged_is_printed(perturb, server, capsys):
    server.speak = lambda *_: "I would rather not."
    assert perturb(types="loop") == 3
    assert "unreadable" in capsys.readouterr().err


@pytest.mark.parametrize("trouble", [{"keys": ("another",)}, {"models": ("another",)}])
def test_a_rejected_key_or_model_stops_the_run_at_once(perturb, server, capsys, trouble):
    for name, value in trouble.items():
        setattr(server.faults, name, value)
    assert perturb("--concurrency", "4", language="fr,th") == 3
    assert server.asked <= 8
    assert not CARD.exists()


def test_a_missing_key_is_a_skip_unless_a_judge_is_required_and_bad_input_still_comes_first(in_folder, capsys):
    command = ["calibrate", "perturb", "--filter", "language=fr", "--types", "loop", "--judge", "opus"]

    assert main(command) == 0
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err
    assert main([*command, "--require-judge"]) == 3
    assert main([*command, "missing.jsonl"]) == 2
    assert not (in_folder / ".polyjudge/cards").exists()


# perturb: broken off


def started(server, *options, action="perturb"):
    command = [sys.executable, "-m", "polyjudge", "calibrate", action, "--judge", "local/m", "--concurrency", "4"]
    command += ["--filter", "language=fr,th", *options]
    environment = {**os.environ, "LOCAL_OPENAI_BASE_URL": f"{server.url}/v1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def wait_for(server, answers):
    while sum(server.delivered.values()) < answers:
        time.sleep(0.005)


@pytest.mark.parametrize("cache", [".polyjudge/cache.sqlite", "none"])
def test_a_run_that_was_killed_pays_only_for_what_was_in_flight_again(calibrate, server, in_folder, cache):
    options = ["--types", KINDS, "--severities", "1", "--cache", cache]
    server.faults.latency_s = 0.02
    process = started(server, *options)
    wait_for(server, 30)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not CARD.exists()

    assert calibrate("perturb", "--filter", "language=fr,th", *options) == 0
    assert len(server.delivered) == 60
    assert sum(server.delivered.values()) <= 60 + 4
    assert not list(in_folder.rglob("*.partial"))


@pytest.mark.parametrize("action", ["perturb", "bias"])
def test_ctrl_c_says_how_to_resume_and_it_works(calibrate, server, action):
    server.speak = unbiased
    server.faults.latency_s = 0.02
    options = ["--types", KINDS, "--severities", "1"] if action == "perturb" else ["--effects", "length,repeats"]
    process = started(server, *options, action=action)
    wait_for(server, 10)
    process.send_signal(signal.SIGINT)
    printed = process.communicate()[1]

    assert process.returncode == 130
    assert "Run the same command again to resume." in printed
    assert not CARD.exists()
    assert calibrate(action, "--filter", "language=fr,th", *options) == 0
    assert server.asked == (60 if action == "perturb" else 40)


def test_an_unfinished_run_is_not_resumed_with_other_repeats(perturb, server, capsys):
    assert perturb("--max-calls", "20", "--cache", "none", "--concurrency", "1") == 3
    assert perturb("--repeats", "2", "--cache", "none") == 0
    assert server.asked == 20 + 60


# bias


def bias(calibrate, server, effects, speak, *options):
    server.speak = speak
    assert calibrate("bias", "--filter", "language=fr,th", "--effects", effects, "--format", "json", *options) == 0


def test_a_judge_that_prefers_the_first_text_is_detected(calibrate, server, capsys):
    bias(calibrate, server, "position", lambda *_: json.dumps({"verdict": "A", "reason": "x"}), "--max-unjudged", "0.4")

    found = json.loads(capsys.readouterr().out)["position"]
    assert found["size"]["value"] == 1
    assert "shown first" in found["sentence"]
    assert card()["effects"]["position"]["count"] == 10


def test_a_judge_that_prefers_the_longer_text_is_found_out(calibrate, server, capsys):
    def likes_length(_, prompt):
        shown = pieces(prompt)[2:]
        if len(shown) == 2:
            return json.dumps({"verdict": "A" if len(shown[0]) > len(shown[1]) else "B", "reason": "x"})
        return grades(5 if len(shown[0]) > 100 else 2)

    bias(calibrate, server, "length,length_in_pairs", likes_length)
    found = json.loads(capsys.readouterr().out)
    assert "prefers the longer" in found["length"]["sentence"]
    assert "the longer text in 100%" in found["length_in_pairs"]["sentence"]


def test_a_judge_that_obeys_the_plea_is_found_out(calibrate, server, capsys):
    bias(calibrate, server, "injection", lambda _, prompt: grades(5 if "Note to the grader" in prompt else 1))

    assert "it obeys, by 100% of the scale" in json.loads(capsys.readouterr().out)["injection"]["sentence"]


def test_no_bias_is_reported_for_an_unbiased_judge(calibrate, server, capsys):
    bias(calibrate, server, "length,length_in_pairs,formatting,injection,criteria_order,repeats,position", unbiased)

    shown = capsys.readouterr()
    found = {name: each for name, each in json.loads(shown.out).items() if isinstance(each, dict)}
    sizes = {name: each["size"]["value"] for name, each in found.items()}
    assert sizes.pop("position") == sizes.pop("length_in_pairs") == 0.5
    assert set(sizes.values()) == {0.0}
    assert server.asked <= announced(shown.err) == 120


def test_a_repeated_question_is_asked_again_once_each_time(calibrate, server, capsys):
    answers = iter([1, 5] * 100)

    bias(calibrate, server, "repeats", lambda *_: grades(next(answers)), "--concurrency", "1", "--repeats", "4")
    assert set(server.delivered.values()) == {4}
    assert "10 of 10 texts got different scores" in capsys.readouterr().out
    assert calibrate("bias", "--filter", "language=fr,th", "--effects", "repeats", "--repeats", "4") == 0
    assert set(server.delivered.values()) == {4}


def test_bias_of_a_jury_makes_no_more_calls_than_announced(calibrate, server, capsys):
    server.speak = constant
    assert calibrate("bias", "--filter", "language=fr", "--effects", "length", judge="local/m,local/n") == 0
    assert server.asked <= announced(capsys.readouterr().err)


def test_effects_that_a_jury_cannot_show_are_named(calibrate, server, capsys):
    server.speak = constant
    assert calibrate("bias", "--filter", "language=fr", "--effects", "position", judge="local/m,local/n") == 2
    assert "position" in capsys.readouterr().err


def test_scores_and_labels_of_a_family_are_read_before_the_first_call(calibrate, server, capsys):
    server.speak = unbiased
    given = ("--scores", "missing.jsonl", "--labels", "missing.csv", "--effects", "length", "--filter", "language=fr")
    assert calibrate("bias", *given, judge="local/gpt-5") == 2
    assert server.asked == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--effects", "nope"], "unknown 'nope'. Available: length"),
        (["--budget", "1"], "larger --budget"),
        (["--scores", "s.jsonl"], "--scores and --labels must be given together"),
        (["missing.jsonl"], "missing.jsonl: cannot be read"),
    ],
)
def test_wrong_options_of_bias_are_one_line(calibrate, server, capsys, arguments, words):
    assert calibrate("bias", *arguments) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert (printed.count("\n"), server.asked) == (1, 0)


# card, settings, help


def test_cards_are_listed_shown_and_drawn(perturb, in_folder, capsys):
    assert main(["calibrate", "card"]) == 0
    assert "No trust cards" in capsys.readouterr().out
    assert perturb() == 0
    (CARD.parent / "broken.json").write_text("{", encoding="utf-8")
    capsys.readouterr()

    assert main(["calibrate", "card"]) == 0
    shown = capsys.readouterr()
    assert "local/m" in shown.out
    assert "broken.json" in shown.err
    assert main(["calibrate", "card", "--judge", "local/m", "--plots", "p", "--output", "o.txt"]) == 0
    assert Path("o.txt").read_text(encoding="utf-8").startswith("Trust card of local/m")
    assert files_in(in_folder / "p") == sorted(f"{kind}.svg" for kind in KINDS.split(","))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.json"], "missing.json: cannot be read"),
        (["no-card.json"], "no-card.json: not a trust card"),
        (["broken.json"], "broken.json: not JSON"),
        (["--judge", "local/never"], "There is no valid trust card of local/never"),
    ],
)
def test_a_card_that_is_none_is_one_line(in_folder, capsys, arguments, words):
    Path("no-card.json").write_text("[1]", encoding="utf-8")
    Path("broken.json").write_text("{", encoding="utf-8")

    assert main(["calibrate", "card", *arguments]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1


def test_a_cards_file_can_be_shown_where_the_project_names_a_judge(perturb, capsys):
    assert perturb("--card", "c.json", types="loop") == 0
    Path("polyjudge.toml").write_text('judge = "local/m"\n', encoding="utf-8")
    assert main(["calibrate", "card", "c.json"]) == 0


def test_a_project_file_sets_the_options_of_one_action_and_the_command_line_wins(calibrate, server, capsys):
    table = 'types = ["loop"]\nseverities = [1]\nfilter = "language=fr"\ntexts-per-language = 2\n'
    Path("polyjudge.toml").write_text(f'judge = "local/m"\n[calibrate.perturb]\n{table}', encoding="utf-8")

    assert main(["calibrate", "perturb"]) == 0
    assert server.asked == 4
    assert main(["calibrate", "perturb", "--filter", "language=th"]) == 0
    assert list(card()["languages"]) == ["fr", "th"]
    Path("polyjudge.toml").write_text('[calibrate.perturb]\ntipes = "loop"\n', encoding="utf-8")
    assert main(["calibrate", "perturb"]) == 2
    assert "unknown key 'tipes'" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["", "perturb", "agreement", "bias", "correct", "card"])
def test_help_explains_every_option(capsys, action):
    with pytest.raises(SystemExit) as exited:
        main(["calibrate", *([action] if action else []), "--help"])

    shown = capsys.readouterr().out
    assert exited.value.code == 0
    assert "None" not in shown
    if not action:
        assert all(name in shown for name in ("perturb", "agreement", "bias", "correct", "card"))


def test_thousands_of_calls_need_an_explicit_limit(calibrate, server, capsys):
    assert calibrate("perturb", "--filter", "language=fr,de,th,hi,ja,ru", "--repeats", "3") == 2
    assert "--budget" in capsys.readouterr().err
    assert server.asked == 0


def test_the_report_and_the_answers_are_written_to_the_given_files(perturb):
    assert perturb("--output", "card.html", "--format", "html", "--answers", "a.jsonl", judge="offline") == 0
    assert Path("card.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Path("a.jsonl").read_text(encoding="utf-8").startswith('{"schemaVersion"')


def test_a_refresh_without_any_answer_does_not_count_as_started(perturb, server, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    assert perturb("--refresh", "--answers", "a.jsonl") == 3

    assert list(Path().glob("a.jsonl*")) == []
