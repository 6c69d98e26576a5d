"""`polyjudge compare A B`: formats, gates, baselines, refusals."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from polyjudge.cli import main
from polyjudge.files import schema

FORMATS = ["text", "markdown", "json", "html", "junit", "github"]
EVIL = "\u202efr\x9b31m::error::<script>alert(1)</script>\n# |%"
PROVENANCE = {
    "provider": "local",
    "model": "m",
    "modelAnswered": "m-1",
    "rubric": "general",
    "rubricFingerprint": "0123456789abcdef",
}


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rows(*, worse=0.0, items=20, failed=0, **more):
    """Twenty items in two languages; in Thai the score is lower by `worse`, and the first items of French fail."""
    for tag in ("fr", "th"):
        for place in range(items):
            row = {"id": f"{tag}-{place}", "language": tag, **more}
            if tag == "fr" and place < failed:
                yield {**row, "outcome": "failure", "error": "timed out"}
            else:
                yield {**row, "score": 4 + place % 3 / 2 - (worse + place % 2 / 4 if tag == "th" and worse else 0)}


@pytest.fixture
def folder(in_folder, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    write_rows("a.jsonl", rows())
    write_rows("b.jsonl", rows(worse=1.0))
    return in_folder


def compare(*arguments, a="a.jsonl", b="b.jsonl"):
    return main(["compare", a, b, "--resamples", "100", "--permutations", "1000", *arguments])


def as_json(capsys, *arguments, code=0, **runs):
    assert compare(*arguments, "--format", "json", **runs) == code
    found = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema("comparison")).validate(found)
    return found


def text_of(path):
    return Path(path).read_text(encoding="utf-8")


# what changed


def test_what_changed_is_told_and_without_a_rule_nothing_fails(folder, capsys):
    assert compare() == 0

    shown = capsys.readouterr().out
    assert "What changed from a.jsonl to b.jsonl" in shown
    assert "Worse in: Thai (th)." in shown
    assert "No bar was set" in shown


def test_json_fits_its_schema(folder, capsys):
    found = as_json(capsys, "--pass-from", "4", "--fail-on", "regression", code=1)

    assert {row["language"]: row["score"]["verdict"] for row in found["languages"]} == {
        "fr": "no change seen",
        "th": "worse",
    }
    assert found["overall"]["counts"]["paired"] == 40
    assert found["overall"]["passes"]["before"] == 1
    assert found["failOn"] == "regression"
    assert [alarm["language"] for alarm in found["alarms"]] == ["", "th"]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_goes_to_stdout_or_a_file(folder, capsys, form):
    assert compare("--format", form, "--output", "o") == 0
    capsys.readouterr()
    assert compare("--format", form) == 0

    assert capsys.readouterr().out.startswith(text_of("o"))
    assert "th" in text_of("o")


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_ids_and_languages_are_shown_as_text(folder, capsys, form):
    for name, worse in (("a.jsonl", 0), ("b.jsonl", 2)):
        write_rows(name, ({"id": f"{EVIL}{n}", "language": EVIL, "score": 4 - worse + n % 2 / 4} for n in range(12)))

    assert compare("--format", form, "--fail-on", "regression") == 1

    shown = capsys.readouterr()
    for stream in (shown.out, shown.err):
        assert "\u202e" not in stream
        assert "\x9b" not in stream
        assert not any(line.startswith("::error::") for line in stream.splitlines())
    if form in ("html", "junit"):
        assert "<script>alert" not in shown.out
    if form == "junit":
        ElementTree.fromstring(shown.out)


def test_the_same_file_twice_is_no_change(folder, capsys):
    assert compare("--fail-on", "drop:0", b="a.jsonl") == 0
    assert "Passed by the rule drop:0." in capsys.readouterr().out


def test_the_same_seed_gives_the_same_page(folder, capsys):
    pages = []
    for seed in ("1", "1", "2"):
        assert compare("--seed", seed, "--format", "json") == 0
        pages.append(capsys.readouterr().out.replace('"seed": 2', '"seed": 1'))

    assert pages[0] == pages[1] != pages[2]


def test_items_about_the_same_belong_together(folder, capsys):
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(name, ({"id": f"{n}", "source": f"s{n // 4}", "score": n % 3} for n in range(40)))
    assert as_json(capsys)["overall"]["counts"]["clusters"] == 10
    assert as_json(capsys, "--cluster", "id")["overall"]["counts"]["clusters"] == 40


def test_a_table_without_languages_is_paired_by_id(folder, capsys):
    lines = [f"{row['id']},{row['score']}" for row in rows(worse=1.0)]
    Path("b.csv").write_text("\n".join(["id,score", *lines]), encoding="utf-8")

    found = as_json(capsys, b="b.csv")
    assert [row["language"] for row in found["languages"]] == ["fr", "th"]


def test_translation_scores_are_paired_by_language_and_place(folder, capsys):
    for name, score in (("a.json", 4), ("b.json", 3)):
        prompts = [{"index": n, "scriptScore": score, "grammarScore": 4, "coherenceScore": 4 + n % 2} for n in range(9)]
        language = {"languageCode": "th", "languageName": "Thai", "scriptScore": score, "prompts": prompts}
        Path(name).write_text(json.dumps([language]), encoding="utf-8")

    found = as_json(capsys, "--score", "script", a="a.json", b="b.json")
    assert found["overall"]["score"]["difference"]["value"] == -1
    assert found["worse"][0]["id"] == "th:0"


def test_halves_of_characters_are_no_reason_to_stop(folder, capsys):
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(name, ({"id": f"\ud800{n}", "language": "\udfff", "source": "\ud800", "score": n} for n in range(9)))

    for form in FORMATS:
        assert compare("--format", form, "--bless", "base.jsonl") == 0
    assert compare(a="base.jsonl") == 0


# rules


@pytest.mark.parametrize(
    ("rule", "code"), [("regression", 1), ("drop:0.3", 1), ("drop:0", 1), ("drop:1.2", 0), ("drop:5", 0)]
)
def test_a_rule_gives_exit_1_and_says_why(folder, capsys, rule, code):
    assert compare("--fail-on", rule) == code

    shown = capsys.readouterr()
    assert ("in th the score fell by 1.12, from 4.47 to 3.35" in shown.err) == bool(code)
    assert f"{'Failed' if code else 'Passed'} by the rule {rule}." in shown.out


def test_better_passes_every_rule(folder):
    assert compare("--fail-on", "regression", a="b.jsonl", b="a.jsonl") == 0
    assert compare("--fail-on", "drop:0", a="b.jsonl", b="a.jsonl") == 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--fail-on", "regression"), 3),
        (("--fail-on", "regression", "--max-unjudged", "0.5"), 1),
        (("--max-unjudged", "0.1"), 3),
        (("--max-unjudged", "0.225"), 0),
    ],
)
def test_too_many_lost_verdicts_are_exit_3_and_win_over_1(folder, capsys, options, code):
    write_rows("b.jsonl", rows(worse=1.0, failed=9))

    assert compare(*options) == code
    assert "Newly unjudged: a verdict before, none now (9)" in capsys.readouterr().out


def test_rows_that_went_missing_do_not_pass(folder):
    write_rows("b.jsonl", list(rows())[:25])

    assert compare("--fail-on", "regression") == 3
    assert compare() == 0


# who judged


@pytest.mark.parametrize(
    ("change", "needed"),
    [
        ({"rubricFingerprint": "f" * 16}, "rubric"),
        ({"modelAnswered": "m-2"}, "judge"),
        ({"model": "n", "rubricFingerprint": "f" * 16}, "both"),
    ],
)
def test_unequal_rubrics_and_judges_are_refused_in_one_line_unless_allowed(folder, capsys, change, needed):
    write_rows("a.jsonl", rows(provenance=PROVENANCE))
    write_rows("b.jsonl", rows(provenance=PROVENANCE | change))

    assert compare() == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert f"--allow-different {needed}" in shown.err
    assert compare("--allow-different", needed) == 0
    assert "Note: the " in capsys.readouterr().out
    assert compare("--allow-different", "judge,rubric") == 0
    assert compare("--allow-different", "judge", "--allow-different", "rubric") == 0
    assert compare("--allow-different", "rubric" if needed == "judge" else "judge") == 2


def test_equal_judges_need_no_leave_and_a_silent_file_is_noted(folder, capsys):
    write_rows("a.jsonl", rows(provenance=PROVENANCE))
    assert compare(b="a.jsonl") == 0
    assert "Note" not in capsys.readouterr().out
    assert compare() == 0
    assert "Note: b.jsonl does not say which judge gave its scores." in capsys.readouterr().out


# baselines


def test_a_blessed_baseline_stands_for_the_run_it_was_made_from(folder, capsys):
    write_rows("b.jsonl", rows(provenance=PROVENANCE, failed=2, reason="a long text"))
    assert compare("--bless", "base.jsonl") == 0
    capsys.readouterr()

    header, *kept = map(json.loads, text_of("base.jsonl").splitlines())
    assert header["judges"] == [PROVENANCE]
    assert header["items"] == len(kept) == 40
    assert kept == sorted(kept, key=lambda row: (row["language"], row["id"]))
    assert kept[0] == {"id": "fr-0", "language": "fr", "score": None}
    assert "text" not in text_of("base.jsonl")
    found = as_json(capsys, "--fail-on", "drop:0", a="base.jsonl")
    assert found["judgesBefore"] == found["judgesAfter"]
    assert found["overall"]["counts"]["paired"] == 38
    before = text_of("base.jsonl")
    assert compare("--bless", "base.jsonl", a="base.jsonl") == 0
    assert text_of("base.jsonl") == before


def test_a_baseline_remembers_its_judge(folder):
    write_rows("b.jsonl", rows(provenance=PROVENANCE))
    assert compare("--bless", "base.jsonl") == 0
    write_rows("b.jsonl", rows(provenance=PROVENANCE | {"model": "other"}))

    assert compare(a="base.jsonl") == 2


def test_a_failed_comparison_blesses_nothing(folder, capsys):
    assert compare("--fail-on", "regression", "--bless", "base.jsonl") == 1
    assert "base.jsonl is not written, because the comparison failed" in capsys.readouterr().err
    assert not Path("base.jsonl").exists()
    assert compare("--bless", "base.jsonl") == 0
    assert Path("base.jsonl").exists()


def test_a_baseline_of_another_score_is_refused(folder, capsys):
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(name, rows(subscores={"grammar": 3}))
    assert compare("--score", "subscores.grammar", "--bless", "base.jsonl") == 0
    capsys.readouterr()

    assert compare(a="base.jsonl") == 2
    assert "base.jsonl holds 'subscores.grammar' and b.jsonl holds 'score'" in capsys.readouterr().err
    assert compare("--score", "subscores.grammar", a="base.jsonl") == 0


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda lines: lines[:-1], "holds 39 of 40 items: bless it anew"),
        (lambda lines: [*lines[:-1], '{"id": 1}'], "base.jsonl:41: is not an item's id, language and score"),
        (lambda lines: [*lines[:-1], lines[1]], "the id 'fr-0' has two scores in 'fr'"),
        (lambda lines: [lines[0].replace(": 1,", ": 9,"), *lines[1:]], "schemaVersion is 9, expected 1"),
        (lambda lines: [lines[0].replace("[]", "[1]"), *lines[1:]], "names its judges wrongly"),
        (lambda lines: [lines[0].replace("[]", "7"), *lines[1:]], "names its judges wrongly"),
        (lambda lines: [*lines[:-1], "{"], "is not JSON"),
    ],
)
def test_a_spoiled_baseline_is_refused_in_one_line(folder, capsys, spoil, told):
    assert compare("--bless", "base.jsonl") == 0
    capsys.readouterr()
    Path("base.jsonl").write_text("\n".join(spoil(text_of("base.jsonl").splitlines())) + "\n", encoding="utf-8")

    assert compare(a="base.jsonl") == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert shown.count("\n") == 1


# CI


def test_junit_has_a_case_for_each_language_and_one_for_verdicts(folder, capsys):
    write_rows("b.jsonl", [*rows(worse=1.0, failed=18)])
    assert compare("--format", "junit", "--fail-on", "regression") == 3

    suite = ElementTree.fromstring(capsys.readouterr().out)[0]
    assert suite.attrib == {
        "name": "polyjudge compare",
        "tests": "4",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
    }
    kinds = {case.get("name"): [child.tag for child in case] for case in suite}
    assert kinds == {
        "all items": ["failure"],
        "French (fr)": ["skipped"],
        "Thai (th)": ["failure"],
        "items judged before have a verdict now": ["error"],
    }


def test_github_gets_a_summary_and_a_line_for_each_regression(folder, capsys, monkeypatch):
    Path("summary.md").write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert compare("--format", "github", "--fail-on", "regression") == 1

    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("::the")[0] for line in lines] == [
        "::error title=polyjudge compare%2C all items",
        "::error title=polyjudge compare%2C Thai (th)",
    ]
    assert "(95%25 interval" in lines[1]
    assert text_of("summary.md").startswith("before\n# What changed")
    assert compare("--format", "github") == 0
    assert capsys.readouterr().out.startswith("::warning title=")


def test_a_summary_that_cannot_be_written_is_one_line(folder, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder.md")

    assert compare("--format", "github") == 2
    assert capsys.readouterr().err == "polyjudge: no/such/folder.md: cannot be written: No such file or directory\n"


def test_a_project_file_may_set_the_rule(folder):
    Path("polyjudge.toml").write_text('[compare]\nfail-on = "drop:0.3"\nallow-different = "judge"\n', encoding="utf-8")

    assert compare() == 1
    assert compare("--fail-on", "drop:5") == 0


# wrong use


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "b.jsonl: holds no scores"),
        ("no json\n", "b.jsonl: holds no scores: b.jsonl:1: is not JSON"),
        ('{"id": 1, "score": "good grief"}\n', "is no rating"),
        ('{"id": "x", "score": 1e300}\n', "the score 1e+300 of 'x' is on no scale"),
        ('{"id": "other", "score": 1}\n', "no item of a.jsonl is in b.jsonl"),
        ('{"id": "x", "score": 1}\n{"id": "x", "score": 1}\n', "the id 'x' has two scores"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(folder, capsys, content, told):
    Path("b.jsonl").write_text(content, encoding="utf-8")

    assert compare() == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told in shown.err
    assert shown.err.count("\n") == 1


def test_bad_rows_among_good_ones_are_warned_about(folder, capsys):
    with Path("b.jsonl").open("a", encoding="utf-8") as file:
        file.write("x\n" * 9)

    assert compare() == 0
    assert "skipped b.jsonl:41: is not JSON" in (shown := capsys.readouterr().err)
    assert "skipped 9 rows in all" in shown


@pytest.mark.parametrize(
    "options",
    [
        ("--fail-on", "drop"),
        ("--fail-on", "drop:-1"),
        ("--fail-on", "drop:x"),
        ("--fail-on", "nothing"),
        ("--alpha", "0"),
        ("--alpha", "0.9"),
        ("--seed", "-1"),
    ],
)
def test_an_option_that_makes_no_sense_is_exit_2(folder, options):
    with pytest.raises(SystemExit) as stopped:
        compare(*options)
    assert stopped.value.code == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--allow-different", "everything"),
        ("--output", "a.jsonl"),
        ("--output", "b.jsonl"),
        ("--bless", "b.jsonl"),
        ("--bless", "o", "--output", "o"),
    ],
)
def test_what_would_be_lost_or_is_unknown_is_refused(folder, options):
    before = text_of("a.jsonl"), text_of("b.jsonl")

    assert compare(*options) == 2
    assert before == (text_of("a.jsonl"), text_of("b.jsonl"))


def test_too_few_permutations_for_so_many_languages_are_warned_about(folder, capsys):
    for name in ("a.jsonl", "b.jsonl"):
        write_rows(name, ({"id": str(n), "language": f"x{n % 60}", "score": n * 7 % 5} for n in range(600)))

    assert compare() == 0
    assert "give --permutations 1201 or more" in capsys.readouterr().err


def test_a_reader_who_leaves_hides_no_regression_and_keeps_no_baseline_from_being_written(in_folder):
    examples = Path(__file__).parents[2] / "examples"
    runs = f"{examples}/compare-before.jsonl {examples}/compare-after.jsonl"
    shell = f"{sys.executable} -m polyjudge compare {runs} --show 1000 {{}} | true; exit ${{{{PIPESTATUS[0]}}}}"

    failed = subprocess.run(["bash", "-c", shell.format("--fail-on regression")], capture_output=True, check=False)
    blessed = subprocess.run(["bash", "-c", shell.format("--bless b.jsonl")], capture_output=True, check=False)

    assert failed.returncode == 1
    assert blessed.returncode == 0
    assert Path("b.jsonl").is_file()
