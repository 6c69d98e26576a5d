"""The report on any run: its figures, formats and selections, for every kind of run."""

import itertools
import json
import re
import shlex
from pathlib import Path

import jsonschema
import pytest
import referencing
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.errors import DataError
from polyjudge.files.json_lines import row_line
from polyjudge.languages.table import language_table
from polyjudge.records.codec import schema, schema_names
from polyjudge.records.outcomes import Failure, Generated, Item, JudgeResult, Provenance, item_row
from polyjudge.records.rubrics import Scale
from polyjudge.reports.charts import axis, score_dots
from polyjudge.reports.run_kinds import START, is_translation, kind_at_start, kind_of
from polyjudge.reports.run_page import RUN_FORMATS
from polyjudge.reports.run_rows import RunRows
from polyjudge.reports.run_summary import distribution, run_headline
from polyjudge.reports.runs import RunReport, Selection
from polyjudge.reports.tallies import Comments, Scores
from polyjudge.reports.wording import Commands, headline, human_time, plain, share_rule
from polyjudge.verdicts.items import STATUSES
from polyjudge.verdicts.translation import group_status

ORIGIN = Provenance(
    provider="openai",
    model="gpt-5-mini",
    rubric="own.toml",
    rubric_fingerprint="f" * 16,
    prompt_sha256="0" * 64,
    cost_usd=0.01,
    answered_at="2026-11-16T03:27:10.000Z",
)


def result(score, *, passed=None, reason="fine", **more):
    return JudgeResult(score, reason, passed=passed, provenance=ORIGIN, **more)


def write_run(rows, name="scores.jsonl"):
    """Write outcomes as a run file: pairs of an item's id and language, and its outcome."""
    lines = [row_line(item_row(Item(item_id, "", language=tag), outcome)) for (item_id, tag), outcome in rows]
    Path(name).write_text("".join(lines), encoding="utf-8")
    return Path(name)


def write_items(count=6, name="items.jsonl"):
    rows = [
        {"id": str(number), "candidate": f"output {number}", "source": f"source {number}", "system": f"s{number % 2}"}
        for number in range(count)
    ]
    Path(name).write_text("".join(map(row_line, rows)), encoding="utf-8")
    return Path(name)


def report_on(path, *, items=None, pass_from=None, **selected):
    rows = RunRows(path, items, pass_from)
    return RunReport(rows, language_table(), timestamp="2026-01-02T03:04:05Z", selection=Selection(**selected))


def drawn(report, form="text", commands=None):
    return "".join(RUN_FORMATS[form](report, commands or Commands()))


def languages(*passes_by_tag):
    """Return rows of a run: for each tag, how many pass and how many fail."""
    return [
        ((f"{tag}{number}", tag), result(5 if number < passed else 2, passed=number < passed, reason=f"said of {tag}"))
        for tag, passed, failed in passes_by_tag
        for number in range(passed + failed)
    ]


def test_the_headline_of_several_languages_counts_languages(in_folder):
    report = report_on(write_run(languages(("de", 5, 0), ("fr", 4, 1), ("th", 3, 1))))

    assert (
        plain(run_headline(report)) == "Not yet. 2 of 3 languages are ready and 1 fails. The judge is not calibrated."
    )
    assert {group.value: group.status for group in report.groups} == {"th": "FAIL", "fr": "PASS", "de": "PASS"}


def test_grouping_by_a_column_does_not_change_the_headline(in_folder):
    path = write_run(languages(("de", 5, 0), ("th", 3, 1)))
    alone, grouped = report_on(path), report_on(path, by=("status",))

    assert run_headline(alone) == run_headline(grouped)
    assert set(grouped.by_column) == {"language", "status"}


def test_a_run_in_one_language_names_its_share_and_what_is_needed(in_folder):
    report = report_on(write_run(languages(("", 3, 1))))

    assert plain(run_headline(report)) == "Not yet. 3 of 4 items pass: 75%, and 80% must pass."


def test_a_run_without_a_pass_rule_names_its_mean_and_passes_nothing(in_folder):
    path = write_run([((str(n), ""), result(60 + n)) for n in range(5)] + [(("x", ""), Failure("no", "refused"))])
    report = report_on(path)

    assert plain(run_headline(report)).startswith("The mean score is 62.0 [60.0 to 64.0], over 5 items; 1 without")
    assert "PASS" not in drawn(report, "markdown")
    assert report_on(path, pass_from=62).total.passing == 3


def test_texts_and_columns_come_from_the_items_in_any_order(in_folder):
    path = write_run([((str(n), "de"), result(n, passed=False, reason=f"reason {n}")) for n in (3, 0, 5, 1)])
    report = report_on(path, items=write_items(), by=("system",))

    worst = {row.id: (row.source, row.output) for row in report.worst_rows()}
    assert worst == {str(n): (f"source {n}", f"output {n}") for n in (3, 0, 5, 1)}
    assert {group.value: group.tally.rows for group in report.by_column["system"]} == {"s0": 1, "s1": 3}


def test_filters_select_rows_and_only_failures_keeps_the_counts(in_folder):
    path = write_run([*languages(("de", 2, 1), ("fr", 2, 0)), (("f", "fr"), Failure("timed out", "transient"))])

    assert report_on(path, filters={"language": frozenset(["fr"])}).total.rows == 3
    assert report_on(path, filters={"status": frozenset(["FAIL", "UNJUDGED"])}).total.rows == 2
    assert report_on(path, only_failures=True).total.rows == 6
    assert "By language" not in drawn(report_on(path, only_failures=True))
    with pytest.raises(DataError, match="after filtering"):
        report_on(path, filters={"language": frozenset(["xx"])})


def test_the_worst_rows_come_from_several_languages(in_folder):
    rows = [((f"de{n}", "de"), result(1, passed=False)) for n in range(20)]
    rows += [((f"fr{n}", "fr"), result(2, passed=False)) for n in range(3)]

    worst = [row.language for row in report_on(write_run(rows)).worst_rows()]
    assert worst.count("fr") == 3
    assert worst.count("de") == 7


def test_failures_are_counted_by_kind_with_the_raw_reply(in_folder):
    rows = [(("1", ""), Failure("no JSON", "unreadable", "I cannot say", provenance=ORIGIN))]
    rows += [(("2", ""), result(5, passed=True)), (("3", ""), Failure("busy", "transient"))]
    report = report_on(write_run(rows))

    assert dict(report.total.failures) == {"unreadable": 1, "transient": 1}
    assert report.unjudged["unreadable"][0].raw == "I cannot say"
    assert "2 items have no verdict: they are in no share and no mean." in drawn(report)
    assert "$0.0200" in drawn(report)


def test_a_generated_text_is_skipped_and_not_counted_as_a_verdict(in_folder):
    report = report_on(write_run([(("1", ""), Generated("Hallo", provenance=ORIGIN))]))

    assert report.total.counts == {"SKIPPED": 1}
    assert plain(run_headline(report)) == "1 text generated, none judged yet."


def test_invalid_rows_are_counted_and_described(in_folder):
    path = write_run(languages(("", 2, 0)))
    path.write_text(path.read_text(encoding="utf-8") + '{"id": "x", "outcome": "maybe", "schemaVersion": 1}\n[1]\n')
    report = report_on(path)

    assert (report.total.rows, report.skipped) == (2, 2)
    assert "scores.jsonl:3" in report.problems[0]


@pytest.mark.parametrize("form", RUN_FORMATS)
def test_no_text_of_a_model_acts_in_any_format(in_folder, form):
    hostile = "<script>alert(1)</script>\x1b[31m \u202e | ` </textarea> \ud800"
    rows = [((f"{n}{hostile}", hostile), result(1, passed=False, reason=hostile, raw=hostile)) for n in range(2)]
    path = write_run([*rows, (("f", "fr"), Failure(hostile, "refused", hostile)), *languages(("de", 2, 0))])
    text = drawn(report_on(path, all_rows=True), form)

    text.encode("utf-8")
    assert "<script>alert" not in text or form in ("text", "json")
    if form != "json":
        assert not set("\x1b\u202e") & set(text)


def test_all_formats_say_the_same_numbers(in_folder):
    report = report_on(write_run(languages(("de", 5, 0), ("th", 3, 1))), all_rows=True)
    made = json.loads(drawn(report, "json"))

    assert (made["rows"], made["passing"], made["decided"]) == (9, 8, 9)
    for form in ("text", "markdown", "html"):
        shown = drawn(report, form)
        assert plain(run_headline(report)) in re.sub(r"<[^>]+>", "", shown)
        assert "3 of 4 is 75%: too few" in shown
        assert "said of th" in shown
    assert made["headline"] == plain(run_headline(report))


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(["de", "fr", "xx", ""]), st.sampled_from(["pass", "fail", "score", "failure"])),
        min_size=1,
        max_size=30,
    )
)
def test_counts_of_every_grouping_add_up(tmp_path_factory, drawn_rows):
    made = {
        "pass": result(5, passed=True),
        "fail": result(1, passed=False),
        "score": result(3),
        "failure": Failure("no", "refused"),
    }
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    lines = [
        row_line(item_row(Item(str(number), "", language=tag), made[kind]))
        for number, (tag, kind) in enumerate(drawn_rows)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    report = report_on(path)

    assert report.total.rows == len(drawn_rows)
    for groups in report.by_column.values():
        assert sum(group.tally.rows for group in groups) == len(drawn_rows)
        assert sum((group.tally.counts for group in groups), start=type(report.total.counts)()) == report.total.counts
    assert sum(count for *_, count in distribution(report)) == report.total.scores.count


def test_no_share_is_given_where_rows_with_missing_scores_may_go_either_way(in_folder):
    rows = [(("a", "de"), result(5, passed=True)), (("b", "de"), result(1, passed=False)), (("c", "de"), result(4))]
    shown = drawn(report_on(write_run([*rows, *languages(("fr", 5, 0))])))

    assert "1 pass, 1 fail, 1 undecided" in shown
    assert "50%" not in shown


@pytest.mark.parametrize(
    ("counts", "undecided", "status"),
    [
        ({"PASS": 4, "FAIL": 1}, 0, "PASS"),
        ({"PASS": 3, "FAIL": 1}, 0, "FAIL"),
        ({"PASS": 3}, 2, "UNJUDGED"),
        ({"FAIL": 3}, 2, "FAIL"),
        ({"PASS": 2, "CHECKED": 2}, 0, "CHECKED"),
        ({"UNJUDGED": 2}, 0, "UNJUDGED"),
        ({"PASS": 1, "UNJUDGED": 9}, 0, "PASS"),
        ({}, 3, None),
        ({"SKIPPED": 1}, 0, "SKIPPED"),
    ],
)
def test_a_group_passes_if_enough_of_its_decided_rows_do(counts, undecided, status):
    assert group_status(dict.fromkeys(STATUSES, 0) | counts, undecided) == status


def test_an_unreliable_judge_decides_nothing_about_a_group():
    assert group_status(dict.fromkeys(STATUSES, 0) | {"FAIL": 5}, unreliable=True) == "UNRELIABLE"


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({"PASS": 40}, "Yes. All 40 languages pass."),
        ({"PASS": 1}, "Yes. The language passes."),
        ({"PASS": 31, "CHECKED": 9}, "Nothing fails, but 9 of 40 languages are unknown."),
        (
            {"PASS": 22, "FAIL": 8, "CONFLICT": 1, "CHECKED": 5, "UNJUDGED": 1, "UNRELIABLE": 3},
            "Not yet. 22 of 40 languages are ready, 9 fail, and 9 are unknown.",
        ),
        ({"PASS": 1, "FAIL": 1}, "Not yet. 1 of 2 languages is ready and 1 fails."),
        ({"FAIL": 2}, "Not yet. None of 2 languages is ready and 2 fail."),
        (
            {"CHECKED": 51, "FAIL": 22, "SKIPPED": 1},
            "Not known. The checks found no fault in 51 of 73 languages and faults in 22; no judge looked at grammar "
            "and meaning.",
        ),
        ({"SKIPPED": 2}, "Nothing to report: no language has an output."),
    ],
)
def test_the_headline_follows_from_the_counts(counts, sentence):
    assert plain(headline(dict.fromkeys(STATUSES, 0) | counts, "language", is_calibrated=True)) == sentence


def test_a_pass_without_a_card_is_said_in_the_headline():
    counts = dict.fromkeys(STATUSES, 0) | {"PASS": 3}

    assert plain(headline(counts, "language", is_calibrated=False)).endswith("pass. The judge is not calibrated.")


def test_the_rule_is_explained_where_it_decides():
    assert share_rule(1, 5) == "1 of 5 failed: allowed; 80% must pass, so of 5 at most 1 may fail"
    assert share_rule(1, 4) == "1 of 4 failed: not allowed; 80% must pass, so of 4 none may fail"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-16T03:27:10.123Z", "16 November 2026, 03:27 UTC"),
        ("2026-11-16T04:27:10+01:00", "16 November 2026, 03:27 UTC"),
        ("then", "then"),
    ],
)
def test_dates_are_written_for_people(text, shown):
    assert human_time(text) == shown


JUDGEMENT = {"schemaVersion": 1, "model": "m", "word": "ardilla", "prompt": "a", "judge": "openai/gpt-5"}
REVIEW = {
    "schemaVersion": 1,
    "scenarioId": "s1",
    "agentScore": 85,
    "systemScore": 60,
    "verdict": "FAIL_SYSTEM",
    "provider": "claude",
    "model": "opus",
    "judgedAt": "2026-01-02T03:04:05Z",
    "transcriptPath": "t.jsonl",
    "templatePath": None,
    "reviewPath": "eval-reviews/r.md",
    "derived": False,
    "contradictory": False,
    "error": None,
    "transcriptFormat": "claude",
    "events": 3,
    "leftOut": None,
    "unknownEvents": {},
    "unreadableRows": 0,
    "provenance": None,
}
CASE = {"caseId": "c1", "suite": "translation", "sourceLang": "en", "targetLang": "de", "expected": "Hallo"}


def write_kind(kind):
    if kind == "vocabulary":
        rows = [{**JUDGEMENT, "id": "1", "verdict": "correct"}, {**JUDGEMENT, "id": "2", "verdict": "incorrect"}]
        Path("judgements.jsonl").write_text("".join(map(row_line, rows)), encoding="utf-8")
        return Path("judgements.jsonl")
    if kind == "transcript":
        Path("eval-reviews").mkdir()
        Path("eval-reviews/r.json").write_text(json.dumps(REVIEW), encoding="utf-8")
        Path("eval-reviews/r.md").write_text("The server crashed twice.", encoding="utf-8")
        passing = {**REVIEW, "scenarioId": "s2", "verdict": "PASS"}
        Path("eval-reviews/q.json").write_text(json.dumps(passing), encoding="utf-8")
        return Path("eval-reviews")
    if kind == "regression":
        cases = [{**CASE, "status": "PASS", "actual": "Hallo"}, {**CASE, "caseId": "c2", "status": "FAIL"}]
        Path("cases.json").write_text(json.dumps({"suites": {}, "cases": cases}), encoding="utf-8")
        return Path("cases.json")
    if kind == "translation scores":
        good = {"scriptScore": 5, "grammarScore": 5, "coherenceScore": 5, "isCorrectLanguage": True}
        prompts = [{"index": 0, **good}, {"index": 1, **good, "grammarScore": 1, "notes": "word order"}]
        rows = [{"languageName": "German", "languageCode": "de", **good, "prompts": prompts}]
        Path("r-full-judge.json").write_text(json.dumps(rows), encoding="utf-8")
        return Path("r-full-judge.json")
    return write_run(languages(("de", 1, 1)))


@pytest.mark.parametrize("form", RUN_FORMATS)
@pytest.mark.parametrize("kind", ["score", "translation scores", "vocabulary", "transcript", "regression"])
def test_every_kind_of_run_has_a_report_in_every_format(in_folder, capsys, kind, form):
    path = write_kind(kind)

    assert kind_of(path) == kind
    assert main(["report", str(path), "--format", form]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    report = report_on(path)
    assert (report.total.passing, report.total.decided) == (1, 2)
    assert plain(run_headline(report)) in re.sub(r"<[^>]+>", "", shown.out)


@pytest.mark.parametrize("kind", ["score", "translation scores", "vocabulary", "transcript", "regression", "plain"])
def test_the_report_as_json_is_as_its_schema_says(in_folder, kind):
    failed = [(("x", "de"), Failure("busy", "transient", "raw", provenance=ORIGIN))]
    path = write_run([*failed, (("y", "th"), result(4))]) if kind == "plain" else write_kind(kind)
    report = json.loads(drawn(report_on(path, filters={"language": frozenset(["de", "th", ""])}), "json"))
    found = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    validator = jsonschema.Draft202012Validator(
        schema("run-report"), registry=referencing.Registry().with_resources(found)
    )

    validator.validate(report)
    assert set(report) == set(schema("run-report")["properties"])
    for wrong in ({"statuses": {"PASS": -1}}, {"headline": None}, {"runKind": "other"}, {"worst": [{"id": 1}]}):
        assert not validator.is_valid({**report, **wrong})


@pytest.mark.parametrize("kind", ["score", "vocabulary", "transcript"])
def test_the_first_bytes_of_a_run_say_the_same_kind_as_its_rows(in_folder, kind):
    path = write_kind(kind)
    file = path / "r.json" if path.is_dir() else path

    assert kind_at_start(file.read_bytes()[:START], file.suffix) == kind_of(path) == kind


def test_the_first_bytes_of_what_no_list_has_say_nothing(in_folder):
    for kind in ("translation scores", "regression"):
        assert kind_at_start(write_kind(kind).read_bytes()[:START], ".json") is None


def test_the_review_of_a_session_is_its_raw_reply(in_folder):
    [row] = report_on(write_kind("transcript")).worst_rows()

    assert (row.subscores, row.raw) == ({"agent": 85, "system": 60}, "The server crashed twice.")


@pytest.mark.parametrize(
    "wrong", ['{"a": 1}', "[]", '[{"text": "x"}]', "{broken", '{"judge": {}, "perturbations": {}}']
)
def test_a_file_that_is_no_run_is_one_message(in_folder, capsys, wrong):
    Path("x.json").write_text(wrong, encoding="utf-8")

    assert main(["report", "x.json"]) == 2
    assert capsys.readouterr().err.startswith("polyjudge: x.json")


def test_a_table_of_items_is_no_run_and_the_message_names_its_columns(in_folder, capsys):
    assert main(["report", str(write_items())]) == 2
    assert "the rows have neither an outcome nor a score. Found: id, candidate" in capsys.readouterr().err


def test_scores_of_another_tool_have_a_report(in_folder):
    Path("scores.csv").write_text("id,score,system\n1,4,a\n2,x,a\n3,1.5,b\n", encoding="utf-8")
    report = report_on(Path("scores.csv"), by=("system",), pass_from=3)

    assert (report.total.passing, report.total.decided, report.skipped) == (1, 2, 1)
    assert "expected an id and a score, found '2' and 'x'" in report.problems[0]
    assert {group.value: group.tally.scores.mean for group in report.groups} == {"a": 4, "b": 1.5}


def test_translations_as_run_are_the_same_report_as_with_results(in_folder, capsys):
    rows = [{"languageName": "German", "languageCode": "de", "prompts": [{"generatedOutput": "Guten Tag"}]}]
    Path("r.json").write_text(json.dumps(rows), encoding="utf-8")
    made = []
    for given_as in (["r.json"], ["--results", "r.json"]):
        assert main(["report", *given_as, "--format", "text"]) == 0
        made.append([line for line in capsys.readouterr().out.splitlines() if "Generated" not in line])

    assert is_translation(Path("r.json"))
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scores.jsonl", "--full-judge", "x.json"], "--full-judge is only for a translator's results"),
        (["r.json", "--by", "category"], "--by cannot be used with a translator's results"),
        (["r.json", "--filter", "category=food"], "cannot be filtered by 'category'"),
    ],
)
def test_options_of_the_other_kind_of_run_are_refused(in_folder, capsys, arguments, message):
    write_run(languages(("de", 1, 0)))
    Path("r.json").write_text('[{"languageName": "German", "prompts": [{"generatedOutput": "Guten Tag"}]}]')

    assert main(["report", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_next_steps_name_commands_that_run_as_printed(in_folder, capsys):
    rows = [*languages(("de", 5, 0), ("th; rm -rf", 3, 1)), (("x", "de"), Failure("busy", "transient"))]
    write_run(rows)
    write_items()

    assert main(["report", "scores.jsonl", "--items", "items.jsonl", "--format", "json"]) == 0
    steps = [step["command"] for step in json.loads(capsys.readouterr().out)["next"]]
    assert "polyjudge explain scores.jsonl --items items.jsonl --language 'th; rm -rf'" in steps
    assert any(step.endswith("--retry-failures --output scores.jsonl") for step in steps)
    assert "polyjudge label scores.jsonl --items items.jsonl --filter language=de" in steps


def test_scores_without_a_pass_rule_are_shown_with_the_command_that_gives_one(in_folder, capsys):
    Path("rated.jsonl").write_text('{"id": "a", "score": 4}\n{"id": "b", "score": 2}\n')

    assert main(["report", "rated.jsonl", "--format", "json"]) == 0
    step = json.loads(capsys.readouterr().out)["next"][0]
    assert step["command"] == "polyjudge report rated.jsonl --pass-from SCORE"

    assert main(shlex.split(step["command"].replace("SCORE", "3"))[1:]) == 0
    assert "1 of 2 items pass" in capsys.readouterr().out


def test_the_same_comment_on_most_items_is_pointed_out(in_folder):
    rows = [((str(n), "de"), result(5, passed=True, reason="Natural." if n < 41 else f"own {n}")) for n in range(50)]
    report = report_on(write_run(rows))
    sentence = "The same comment for 41 of 50 items: “Natural”. Read some of them: does it look at each item?"

    assert json.loads(drawn(report, "json"))["sameComments"] == [sentence]
    assert all(sentence in drawn(report, form) for form in ("text", "markdown", "html"))


@pytest.mark.parametrize(
    "comments", [["Natural."] * 9, [f"own {n}" for n in range(500)], ["a", "b"] * 30, [""] * 50], ids=len
)
def test_few_and_different_comments_are_not_pointed_out(in_folder, comments):
    path = write_run([((str(n), "de"), result(5, passed=True, reason=each)) for n, each in enumerate(comments)])

    assert json.loads(drawn(report_on(path), "json"))["sameComments"] == []


def test_the_same_comment_in_one_language_is_pointed_out_there(in_folder):
    rows = [((f"de{n}", "de"), result(5, passed=True, reason=f"own {n}")) for n in range(40)]
    rows += [((f"th{n}", "th"), result(5, passed=True, reason="Fine.")) for n in range(12)]

    [sentence] = json.loads(drawn(report_on(write_run(rows)), "json"))["sameComments"]
    assert sentence == "The same comment for 12 of 12 items: “Fine” in Thai."


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30), max_size=5))
def test_comments_of_groups_added_together_are_those_of_all_rows(groups):
    whole, added = Comments(), Comments()
    for group in groups:
        one = Comments()
        for text in group:
            one.add(text)
            whole.add(text)
        added.update(one)

    assert added.striking == whole.striking


def test_two_systems_in_one_file_are_compared_near_the_top(in_folder):
    path, items = write_run(languages(("", 4, 2))), write_items()
    rows = [((str(n), "de"), result(5 if n % 2 else 2, passed=bool(n % 2))) for n in range(6)]
    page = drawn(report_on(write_run(rows), items=items), "html")
    top = page.partition("What needs attention")[0]

    results = "s0: 0% [0% to 56%] of 3 items pass; s1: 100% [44% to 100%] of 3 items pass."
    assert f"By system</a>: <bdi>{results}</bdi>" in top
    assert re.search(r'<a href="#(by-\d)">By system', top)[1] in re.findall(r'<h2 id="([^"]+)"', page)
    assert "system" not in report_on(path).by_column


def test_a_single_system_is_not_compared(in_folder):
    rows = [((str(n), "de"), result(5, passed=True)) for n in (0, 2, 4)]

    assert "system" not in report_on(write_run(rows), items=write_items()).by_column
    assert "system" in report_on(write_run(rows), items=write_items(), by=("system",)).by_column


def test_the_page_explains_the_rules_where_it_counts_and_shows_the_finding_that_is_allowed(in_folder):
    page = drawn(report_on(write_run(languages(("de", 9, 1), ("th", 1, 1))), pass_from=3), "html")
    counts = page.partition('<p class="sum">')[2].partition("</p>")[0]
    allowed = page.partition("which the rule allows")[2].partition("</ul>")[0]

    assert "A language passes if at least 80% of its items do: 1 of 5 may fail, 1 of 4 may not." in counts
    assert "Each item needs a score of at least 3." in counts
    assert "said of de" in allowed
    assert 'href="#lang-de"' in allowed


def test_an_axis_has_the_scale_of_its_dots_and_no_names_on_top_of_each_other():
    drawn_axis = axis(Scale(0, 100), 70)
    places = [float(each) for each in re.findall(r'x="([\d.]+)"', drawn_axis)]
    scores = Scores()
    scores.add(50.0)
    dots = score_dots("score", scores, Scale(0, 100), 70)

    assert re.search(r'viewBox="([^"]+)"', drawn_axis)[1] == re.search(r'viewBox="([^"]+)"', dots)[1]
    assert "bar 70" in drawn_axis
    assert min(abs(one - two) for one, two in itertools.combinations(places, 2)) > 30
