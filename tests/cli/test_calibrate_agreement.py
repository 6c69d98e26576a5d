"""`polyjudge calibrate agreement|correct`, and the effect of a trust card on `score`, `translation` and `report`."""

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.formats.reference_texts import sample_texts

FENCED = re.compile(r"<text-([0-9a-f]{32})>\n(.*?)\n</text-\1>", re.DOTALL)
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
GOOD = {text.text for text in sample_texts()}
GOOD_IN = {text.language: text for text in sample_texts() if text.language in ("fr", "th")}
EVIL = "\u202efr\x9b31m"


def blind_in_thai(_, prompt):
    """Score reference texts high and perturbed ones low, except in Thai, where all scores are equal."""
    shown = [piece for _, piece in FENCED.findall(prompt)]
    points = 5 if shown[-1] in GOOD or "Thai" in shown[0] else 1
    subscores = dict.fromkeys(("script", "grammar", "coherence"), points)
    return json.dumps({"reason": "x", "subscores": subscores, "isCorrectLanguage": True})


def text_of(path):
    return Path(path).read_text(encoding="utf-8")


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_table(path, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def value_of(number):
    return number * 7 % 101


@pytest.fixture
def folder(in_folder):
    """Scores from 0 to 100 in two languages, and people's labels of all of them as words."""
    write_rows(
        "r.jsonl", ({"id": f"i{n}", "score": value_of(n), "language": "fr" if n % 2 else "th"} for n in range(40))
    )
    write_table("l.csv", "id,label", ((f"i{n}", "pass" if value_of(n) > 50 else "fail") for n in range(40)))
    return in_folder


def agreement(*arguments):
    return main(["calibrate", "agreement", "--resamples", "100", *arguments])


def as_json(capsys, *arguments, action="agreement"):
    more = ("--resamples", "100") if action == "agreement" else ()
    assert main(["calibrate", action, *arguments, *more, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


# agreement


@pytest.fixture
def scored(server, monkeypatch, folder):
    """Run `score` over forty items; the judge gives item-N the score N."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")

    def run(*options, output="s.jsonl"):
        tags = ("th", "fr")
        rows = ({"id": f"i{n}", "candidate": f"item-{value_of(n)} x", "language": tags[n % 2]} for n in range(40))
        write_rows("items.jsonl", rows)
        command = ["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", "--output", output]
        return main([*command, *options])

    return run


def general_card():
    [path] = Path(".polyjudge/cards").glob("local-m-general-*.json")
    return json.loads(text_of(path))


def test_scores_and_labels_meet_by_id_and_the_judges_card_gets_the_agreement(scored, capsys):
    assert scored() == 0
    assert agreement("s.jsonl", "--labels", "l.csv", "--pass-from", "51") == 0

    shown = capsys.readouterr()
    assert "Agreement with people on 40 items" in shown.out
    assert "French (fr)" in shown.out
    kept = general_card()
    assert kept["labels"] == 40
    assert kept["agreement"]["accuracy"]["value"] == 1
    assert kept["languages"]["th"]["labels"] == 20


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_rates_of_pass_and_fail_need_only_the_judges_bar_where_labels_are_words(folder, capsys, form):
    assert agreement("r.jsonl", "--labels", "l.csv", "--pass-from", "50", "--format", form, "--output", "o") == 0

    shown = capsys.readouterr()
    assert shown.out == ""
    assert "do not name their judge" in shown.err
    assert "true" in text_of("o")
    if form == "json":
        found = json.loads(text_of("o"))
        assert found["languages"]["all"]["true_positive_rate"]["value"] == 1
        assert found["languages"]["all"]["true_negative_rate"]["value"] == pytest.approx(22 / 23)
        assert set(found["languages"]) == {"all", "fr", "th"}


def test_cohens_kappa_of_pass_and_fail_is_given(folder, capsys):
    found = as_json(capsys, "r.jsonl", "--labels", "l.csv", "--pass-from", "51")
    assert found["languages"]["all"]["kappa"]["value"] == 1


def test_equality_of_scores_and_words_is_never_counted(folder, capsys):
    write_table("few.csv", "id,label", ((f"i{n}", "pass" if value_of(n) > 20 else "fail") for n in range(6)))
    found = as_json(capsys, "r.jsonl", "--labels", "few.csv")
    assert found["languages"]["all"]["accuracy"] == {}


def test_annotators_are_compared_among_themselves(folder, capsys):
    rows = [(f"i{n}", who, min(5, value_of(n) // 20 + (who == "b" and n == 3))) for n in range(20) for who in "ab"]
    write_table("l.csv", "id,annotator,score", rows)

    found = as_json(capsys, "r.jsonl", "--labels", "l.csv")
    assert (found["annotators"], found["items"], found["notLabelled"]) == (2, 20, 20)
    assert 0.9 < found["annotatorsAlpha"] < 1


def test_what_most_annotators_pass_is_passed(folder, capsys):
    rows = [(f"i{n}", who, "fail" if who == "c" else "pass") for n in range(10) for who in "abc"]
    write_table("l.csv", "id,annotator,label", rows)
    found = as_json(capsys, "r.jsonl", "--labels", "l.csv", "--pass-from", "0")
    assert found["languages"]["all"]["base_rate"]["value"] == 1


def test_two_labels_of_an_item_by_the_same_person_are_an_error(folder, capsys):
    write_table("l.csv", "id,label", [("i1", "pass"), ("i1", "fail"), ("i2", "pass"), ("i3", "fail")])
    assert agreement("r.jsonl", "--labels", "l.csv") == 2


def test_another_judge_is_compared_without_a_card(scored, in_folder, capsys):
    assert scored() == 0
    assert agreement("s.jsonl", "--against", "r.jsonl") == 0
    assert "Agreement with another judge on 40 items" in capsys.readouterr().out
    assert not (in_folder / ".polyjudge/cards").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["r.jsonl"], "--labels"),
        (["r.jsonl", "--labels", "l.csv", "--against", "r.jsonl"], "--labels"),
        (["r.jsonl", "--labels", "missing.csv"], "missing.csv: cannot be read"),
        (["missing.jsonl", "--labels", "l.csv"], "missing.jsonl: cannot be read"),
        (["r.jsonl", "--labels", "empty.csv"], "r.jsonl and empty.csv have no items in common"),
        (["r.jsonl", "--labels", "others.csv"], "the first label has the id 'zz', the first score 'i0'."),
        (["r.jsonl", "r.jsonl", "--labels", "l.csv"], "two scores of the id"),
        (["r.jsonl", "--labels", "stars.csv", "--pass-from", "50"], "--label-pass-from"),
        (["r.jsonl", "--labels", "l.csv", "--label-pass-from", "1"], "--pass-from"),
        (["bad.seg.score", "--labels", "l.csv"], "bad.seg.score:1:"),
        (["broken.json", "--labels", "l.csv"], "broken.json"),
    ],
)
@pytest.mark.parametrize("action", ["agreement", "correct"])
def test_wrong_use_is_one_line(folder, capsys, arguments, words, action):
    if action == "correct" and "--against" in arguments:
        return
    Path("empty.csv").touch()
    Path("bad.seg.score").write_text("sysA 0.5\n", encoding="utf-8")
    Path("broken.json").write_text("[{", encoding="utf-8")
    write_table("others.csv", "id,label", [("zz", "pass")])
    write_table("stars.csv", "id,score", [("i1", 3), ("i2", 5)])

    assert main(["calibrate", action, *arguments]) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert (shown.err.count("\n"), shown.out) == (1, "")


def test_labels_that_cannot_be_used_are_named_and_the_rest_is_used(folder, capsys):
    lines = ["id,label", "i1,pass", "i2,perhaps", ",fail", "i3,fail", "i4", "zz,pass", "i5,skip"]
    Path("l.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())

    assert agreement("r.jsonl", "--labels", "l.csv") == 0
    shown = capsys.readouterr()
    assert "on 2 items" in shown.out
    assert [f"l.csv:{line}:" in shown.err for line in range(2, 9)] == [False, True, True, False, True, False, False]
    assert "1 label of items that were not judged, such as 'zz'" in shown.err


def test_scores_in_wmt_format_are_read(in_folder, capsys):
    for name, value in (("m", lambda n: n / 10), ("mqm", lambda n: -n)):
        lines = [f"sys{who}\t{value(n)}\n" for who in "AB" for n in range(10)]
        lines[-1] = "sysB\tNone\n"
        Path(f"en-de.{name}.seg.score").write_text("".join(lines), encoding="utf-8")
    Path("en-de.m.sys.score").write_text("sysA\t1\nsysB\t2\nsysC\t3\n", encoding="utf-8")
    Path("en-de.mqm.sys.score").write_text("sysA\t1\nsysB\t2\nsysC\t3\n", encoding="utf-8")

    of_segments = as_json(capsys, "en-de.m.seg.score", "--labels", "en-de.mqm.seg.score", "--group", "item")
    assert of_segments["items"] == 19
    assert of_segments["languages"]["en-de"]["pearson"]["value"] == pytest.approx(-1, abs=0.01)
    one = as_json(capsys, "en-de.m.seg.score", "--labels", "en-de.mqm.seg.score", "--leave-out", "sysB")
    assert one["items"] == 10
    of_systems = as_json(capsys, "en-de.m.sys.score", "--labels", "en-de.mqm.sys.score")
    assert of_systems["languages"]["all"]["kendall_tau_b"]["value"] == 1


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_no_control_code_of_labels_reaches_the_terminal(in_folder, capsys, form):
    assert_harmless(capsys, form)


def test_no_control_code_of_labels_reaches_the_terminal_in_json(in_folder, capsys):
    assert_harmless(capsys, "json")


def assert_harmless(capsys, form):
    write_rows("r.jsonl", ({"id": f"{EVIL}{n}", "score": n, "language": EVIL if n % 2 else "th"} for n in range(12)))
    labels = [(f"{EVIL}{n}", "pass" if n > 5 else "fail", "") for n in range(12)]
    write_table("l.csv", "id,label,annotator", [*labels, ("zz\x1b[31m", "pass", ""), (f"{EVIL}1", "\x1b[31m", "")])
    assert agreement("r.jsonl", "--labels", "l.csv", "--format", form) == 0
    assert main(["calibrate", "correct", "r.jsonl", "--labels", "l.csv", "--pass-from", "6", "--format", form]) == 0
    shown = capsys.readouterr()
    assert not RAW.search(shown.out + shown.err)


def test_a_few_labels_more_take_nothing_from_the_card(scored, capsys):
    assert scored() == 0
    assert agreement("s.jsonl", "--labels", "l.csv") == 0
    write_table("l.csv", "id,label", [("i1", "pass"), ("i2", "fail")])
    assert agreement("s.jsonl", "--labels", "l.csv") == 0
    assert general_card()["languages"]["th"]["agreement"]


@pytest.mark.parametrize("garbage", [0.0, 0.1])
def test_failures_among_the_scores_are_counted_and_the_judge_stays_one(scored, server, capsys, garbage):
    server.faults.garbage, server.faults.models = garbage, ("m",)
    server.verdict = None if garbage else lambda prompt: ("", "refusal") if "item-7 " in prompt else _by_number(prompt)
    assert scored() == 0
    unjudged = text_of("s.jsonl").count('"outcome": "failure"')
    assert unjudged

    assert agreement("s.jsonl", "--labels", "l.csv") == 0
    assert f"{unjudged} labelled item" in capsys.readouterr().err
    assert general_card()["labels"] == 40 - unjudged


def _by_number(prompt):
    return json.dumps({"score": int(re.search(r"item-(\d+)", prompt)[1]), "reason": "x"})


def test_a_rejected_call_does_not_count_as_another_judge(scored, server, capsys):
    async def trouble(_, body, __):
        return (400, "not this one") if "item-7 " in json.dumps(body) else None

    server._trouble = trouble
    assert scored() == 0
    assert agreement("s.jsonl", "--labels", "l.csv") == 0
    assert general_card()["labels"] == 39


def test_the_card_of_a_judge_asked_twice_gets_the_agreement(scored, capsys):
    assert scored("--repeats", "2") == 0
    assert agreement("s.jsonl", "--labels", "l.csv") == 0
    assert general_card()["labels"] == 40


@pytest.mark.parametrize("action", ["agreement", "correct"])
def test_the_report_never_replaces_the_scores(folder, capsys, action):
    before = text_of("r.jsonl")
    main(["calibrate", action, "r.jsonl", "--labels", "l.csv", "--output", "r.jsonl"])
    assert text_of("r.jsonl") == before


def test_a_bar_that_is_no_number_is_refused(folder, capsys):
    with pytest.raises(SystemExit):
        agreement("r.jsonl", "--labels", "l.csv", "--pass-from", "nan")


# correct


def test_a_pass_rate_is_corrected_overall_and_by_language(folder, capsys):
    write_table("l.csv", "id,label", ((f"i{n}", "pass" if value_of(n) > 60 else "fail") for n in range(0, 40, 2)))
    found = as_json(capsys, "r.jsonl", "--labels", "l.csv", "--pass-from", "40", action="correct")

    assert found["estimate"] == "pass rate"
    assert (found["all"]["judged"], found["all"]["labelled"]) == (40, 20)
    assert found["all"]["figure"]["value"] < found["all"]["naive"]["value"]
    assert found["all"]["figure"]["low"] <= found["all"]["figure"]["value"] <= found["all"]["figure"]["high"]
    assert (found["languages"]["th"]["labelled"], found["languages"]["fr"].get("labelled", 0)) == (20, 0)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_mean_is_corrected_where_labels_are_of_the_same_scale(folder, capsys, form):
    write_table("l.csv", "id,score", ((f"i{n}", max(0, value_of(n) - 10)) for n in range(30)))

    assert main(["calibrate", "correct", "r.jsonl", "--labels", "l.csv", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "Estimated mean of people" in shown
    assert "Thai (th)" in shown


def test_words_without_a_bar_are_not_taken_for_a_mean_of_the_judges_scale(folder, capsys):
    assert main(["calibrate", "correct", "r.jsonl", "--labels", "l.csv"]) == 2
    assert "--pass-from" in capsys.readouterr().err


def test_labels_of_other_items_correct_a_pass_rate_and_nothing_else(folder, capsys):
    write_rows("new.jsonl", ({"id": f"n{n}", "score": n, "language": "fr" if n % 3 else "th"} for n in range(100)))
    other = ("new.jsonl", "--elsewhere", "r.jsonl", "--labels", "l.csv")

    found = as_json(capsys, *other, "--pass-from", "51", action="correct")
    assert found["all"]["value"] == pytest.approx(0.49, abs=0.03)
    assert found["labels"] == 40
    assert main(["calibrate", "correct", *other]) == 2
    assert "--pass-from" in capsys.readouterr().err


def test_labels_of_an_informative_sample_do_not_correct_other_items(folder, capsys):
    header, *rows = Path("l.csv").read_text(encoding="utf-8").splitlines()
    lines = [f"{header},inclusionProbability", *(f"{row},{0.2 + place % 2 / 2}" for place, row in enumerate(rows))]
    Path("l.csv").write_text("\n".join(lines), encoding="utf-8")
    write_rows("new.jsonl", ({"id": f"n{n}", "score": n} for n in range(100)))
    given = ("new.jsonl", "--elsewhere", "r.jsonl", "--labels", "l.csv", "--pass-from", "51")
    assert main(["calibrate", "correct", *given]) == 2
    assert "have different values of 'inclusionProbability'" in capsys.readouterr().err


def test_rows_without_a_language_are_not_taken_for_all(folder, capsys):
    tags = {"": 10, "fr": 90}
    write_rows(
        "new.jsonl",
        ({"id": f"{t}{n}", "score": 90 * bool(t), "language": t} for t, k in tags.items() for n in range(k)),
    )
    given = ("new.jsonl", "--elsewhere", "r.jsonl", "--labels", "l.csv", "--pass-from", "51")
    assert as_json(capsys, *given, action="correct")["all"]["value"] == pytest.approx(0.9, abs=0.05)


def test_the_same_results_twice_are_refused_beside_labels_of_other_items(folder, capsys):
    given = ("--elsewhere", "r.jsonl", "--labels", "l.csv", "--pass-from", "51")
    assert main(["calibrate", "correct", "r.jsonl", "r.jsonl", *given]) == 2


# what a card does to the other commands


@pytest.fixture
def calibrated(server, monkeypatch, in_folder):
    """A judge with a card that is reliable in French and unreliable in Thai, and results in both."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.speak = blind_in_thai
    results = [
        {
            "languageName": name,
            "languageCode": tag,
            "prompts": [{"sourceText": GOOD_IN[tag].source, "generatedOutput": GOOD_IN[tag].text}],
        }
        for name, tag in (("French", "fr"), ("Thai", "th"))
    ]
    Path("res.json").write_text(json.dumps(results), encoding="utf-8")
    write_rows("fr.jsonl", [{"id": 1, "candidate": GOOD_IN["fr"].text, "language": "fr"}])
    write_rows("th.jsonl", [{"id": 1, "candidate": GOOD_IN["th"].text, "language": "th"}])

    def measure(judge="local/m"):
        kinds = ("--types", "drop_words,loop,typos,truncate,shuffle_words", "--severities", "1")
        assert main(["calibrate", "perturb", "--judge", judge, "--filter", "language=fr,th", *kinds]) == 0

    measure()
    return measure


def statuses(capsys, *options):
    code = main(["report", "--results", "res.json", "--format", "json", *options])
    shown = capsys.readouterr()
    return code, {row["languageCode"]: row["status"] for row in json.loads(shown.out)["verdicts"]}, shown.err


@pytest.mark.parametrize("suite", ["quick", "full"])
def test_a_verdict_of_a_blind_judge_is_unreliable_not_a_pass(calibrated, capsys, suite):
    code = main(["translation", suite, "res.json", "--judge", "local/m", "--output", "s.json"])
    assert code == 0 or code == 1
    assert "UNRELIABLE" in capsys.readouterr().out

    code, found, _ = statuses(capsys, f"--{suite}-judge", "s.json")
    assert (code, found) == (0, {"fr": "PASS", "th": "UNRELIABLE"})
    code, _, printed = statuses(capsys, f"--{suite}-judge", "s.json", "--require-calibrated")
    assert code == 1
    assert "Thai" in printed
    assert "French" not in printed


@pytest.mark.parametrize(
    ("judge", "options"), [("local/m", ("--repeats", "2")), ("local/m,local/n", ())], ids=["repeats", "jury"]
)
def test_an_unreliable_jury_or_repeated_judge_passes_no_language(calibrated, capsys, judge, options):
    calibrated(judge)
    main(["translation", "quick", "res.json", "--judge", judge, "--output", "s.json", *options])
    capsys.readouterr()
    assert statuses(capsys, "--quick-judge", "s.json")[1]["th"] == "UNRELIABLE"


def test_the_card_of_another_model_or_rubric_does_not_count(calibrated, capsys):
    [path] = Path(".polyjudge/cards").glob("*.json")
    main(["translation", "quick", "res.json", "--judge", "local/other", "--output", "s.json"])
    capsys.readouterr()

    code, found, _ = statuses(capsys, "--quick-judge", "s.json", "--require-calibrated")
    assert (code, found["th"]) == (1, "PASS")
    assert main(["report", "--results", "res.json", "--quick-judge", "s.json"]) == 0
    assert "not calibrated (" in capsys.readouterr().out
    assert main(["report", "--results", "res.json", "--quick-judge", "s.json", "--card", str(path)]) == 0
    assert "has expired: the judge was local/m, now local/other" in capsys.readouterr().out
    shipped = (files("polyjudge.rubrics") / "translation.toml").read_text(encoding="utf-8")
    Path("mine.toml").write_text(shipped.replace("Judge the candidate", "Weigh the candidate"), encoding="utf-8")
    assert main(["score", "fr.jsonl", "--rubric", "mine.toml", "--judge", "local/m", "--require-calibrated"]) == 1
    assert "its card has expired: the rubric has changed" in capsys.readouterr().err


def test_score_makes_no_calls_before_its_judge_is_calibrated(calibrated, server, capsys):
    command = ["score", "--rubric", "translation", "--judge", "local/m", "--output", "s.jsonl", "--require-calibrated"]
    asked = server.asked

    assert main([*command, "th.jsonl"]) == 1
    assert "unreliable in th" in capsys.readouterr().err
    assert main([*command, "fr.jsonl", "--judge", "local/other"]) == 1
    assert "not calibrated" in capsys.readouterr().err
    assert server.asked == asked
    assert not Path("s.jsonl").exists()
    assert main([*command, "fr.jsonl"]) == 0
    assert "reliable in fr" in capsys.readouterr().out


def test_report_passes_the_gate_when_all_is_well(calibrated, capsys):
    main(["translation", "quick", "res.json", "--judge", "local/m", "--output", "s.json", "--filter", "language=fr"])
    results = [row for row in json.loads(text_of("res.json")) if row["languageCode"] == "fr"]
    Path("res.json").write_text(json.dumps(results), encoding="utf-8")
    capsys.readouterr()

    assert statuses(capsys, "--quick-judge", "s.json", "--require-calibrated")[0] == 0
    assert statuses(capsys, "--require-calibrated")[0] == 1


@pytest.mark.parametrize("gate", [(), ("--require-calibrated",)])
def test_no_control_code_of_an_items_language_reaches_the_terminal(calibrated, capsys, gate):
    write_rows("i.jsonl", [{"id": 1, "candidate": "x", "language": "\u202efr\x1b[31m"}])
    capsys.readouterr()
    main(["score", "i.jsonl", "--rubric", "translation", "--judge", "local/m", "--output", "s.jsonl", *gate])
    shown = capsys.readouterr()
    assert not RAW.search(shown.out + shown.err)


def test_labels_of_the_page_are_read_with_the_newest_of_each_person(in_folder, capsys):
    write_rows("r.jsonl", ({"id": str(n), "score": n % 5 + 1} for n in range(10)))
    row = {"schemaVersion": 1, "annotator": "ana", "labelledAt": "2026-11-15T12:00:00Z", "language": ""}
    first = [{**row, "id": str(n), "label": 1} for n in range(10)]
    again = [{**row, "id": str(n), "label": n % 5 + 1, "labelledAt": "2026-11-15T12:05:00Z"} for n in range(10)]
    write_rows("l.jsonl", [*first, *again])

    found = as_json(capsys, "r.jsonl", "--labels", "l.jsonl")

    assert found["languages"]["all"]["accuracy"]["value"] == 1


def test_scores_of_a_judge_are_no_labels_and_words_are_no_points(in_folder, capsys):
    write_rows("r.jsonl", ({"id": str(n), "score": n % 5 + 1} for n in range(6)))
    origin = {"provider": "local", "model": "m", "rubric": "general", "rubricFingerprint": "0" * 16}
    write_rows("judge.jsonl", ({"id": str(n), "score": 3, "provenance": origin} for n in range(6)))
    write_table("mixed.csv", "id,label", [("0", "pass"), ("1", "4")])

    assert agreement("r.jsonl", "--labels", "judge.jsonl") == 2
    assert "--against" in capsys.readouterr().err
    assert agreement("r.jsonl", "--labels", "mixed.csv") == 2
    assert "words such as pass" in capsys.readouterr().err
