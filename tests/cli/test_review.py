"""`polyjudge review`: what it prints and writes, what its options do, and its exit codes."""

import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest
from tests.folding import for_each
from tests.review.repositories import TestRepository, entry

from polyjudge.checks.accepted import write_accepted
from polyjudge.cli import main

FILES = Path(main.__code__.co_filename).parent / "demo_data" / "files"


@pytest.fixture
def project(in_folder):
    for name in ("app.de.po", "app.ar.po", "terms.csv"):
        (in_folder / name).write_bytes((FILES / name).read_bytes())
    return in_folder


def review(capsys, *given):
    code = main(["review", *map(str, given)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def as_json(capsys, *given):
    code, out, _ = review(capsys, *given, "--format", "json")
    return code, json.loads(out)


def kinds(row):
    return [(each["file"], each["line"], each["kind"]) for each in row["findings"] if each["severity"] != "info"]


PLANTED = [
    ("app.ar.po", 27, "plural_missing"),
    ("app.ar.po", 33, "language_mark"),
    ("app.de.po", 14, "placeholder_lost"),
    ("app.de.po", 17, "term_forbidden"),
    ("app.de.po", 23, "doubled_word"),
    ("app.de.po", 26, "end_mark_changed"),
    ("app.de.po", 29, "source_copied"),
]


def test_the_planted_faults_are_found_at_their_lines_and_fail_the_command(capsys, project):
    code, row = as_json(capsys, ".", "--glossary", "terms.csv")

    assert (code, kinds(row)) == (1, PLANTED)
    assert [(each["language"], each["messages"], each["fails"]) for each in row["languages"]] == [
        ("ar", 11, 1),
        ("de", 7, 2),
    ]


def test_the_text_names_file_line_and_what_is_wrong(capsys, project):
    code, out, err = review(capsys, "app.de.po")

    assert code == 1
    assert "app.de.po:14: FAIL placeholder_lost (de)" in out
    assert err == ""


@for_each(("fail_on", "code"), [("fail", 0), ("warn", 1), ("info", 1), ("never", 0)])
def test_the_severity_that_fails_can_be_chosen(capsys, project, fail_on, code):
    given = ("app.ar.po", "--checks", "language_mark", "--fail-on", fail_on)

    assert review(capsys, *given)[0] == code


def test_one_language_is_reviewed_by_tag_or_name_and_an_unknown_one_is_an_error(capsys, project):
    _, row = as_json(capsys, ".", "--filter", "language=German")
    assert [each["language"] for each in row["languages"]] == ["de"]

    code, _, err = review(capsys, ".", "--filter", "language=frensh")
    assert (code, "No file in frensh found" in err) == (2, True)
    code, _, err = review(capsys, ".", "--filter", "key=a")
    assert (code, "--filter key=… is not supported" in err) == (2, True)


def test_checks_are_chosen_and_skipped_on_the_command_line_and_in_the_project_file(capsys, project):
    assert kinds(as_json(capsys, ".", "--checks", "preservation")[1]) == [("app.de.po", 14, "placeholder_lost")]
    left = kinds(as_json(capsys, ".", "--skip-checks", "punctuation,copies,characters")[1])
    assert left == [("app.ar.po", 27, "plural_missing"), ("app.de.po", 14, "placeholder_lost")]

    Path("polyjudge.toml").write_text(
        '[checks]\nend_mark_changed = "fail"\n[review]\nfail-on = "never"\nglossary = "terms.csv"\n', encoding="utf-8"
    )
    code, row = as_json(capsys, "app.de.po")
    assert code == 0
    assert {each["kind"]: each["severity"] for each in row["findings"]}["end_mark_changed"] == "fail"
    assert "term_forbidden" in {each["kind"] for each in row["findings"]}


def test_a_project_file_that_is_not_trusted_cannot_accept_findings(capsys, project, monkeypatch):
    monkeypatch.delenv("POLYJUDGE_TRUST", raising=False)
    settings = '[review]\nwrite-accepted = "polyjudge-accepted.toml"\nreason = "all fine"\n'
    Path("polyjudge.toml").write_text(settings, encoding="utf-8")
    code, _, err = review(capsys, "app.de.po")

    assert (code, "write-accepted accepts findings in your place, so the file must be trusted first" in err) == (
        2,
        True,
    )
    assert not Path("polyjudge-accepted.toml").exists()


def test_reviewed_files_are_never_written_and_no_output_replaces_them(capsys, project):
    before = {path: path.read_bytes() for path in project.glob("app.*")}
    for path in before:
        path.chmod(stat.S_IRUSR)
    assert review(capsys, ".")[0] == 1
    code, _, err = review(capsys, "app.de.po", "--output", "app.de.po")

    assert (code, "is an input file" in err) == (2, True)
    code, _, err = review(capsys, ".", "--output", "app.ar.po")
    assert (code, "was not written by polyjudge" in err) == (2, True)
    assert {path: path.read_bytes() for path in before} == before


@for_each("form", ["text", "json", "sarif", "github", "junit", "comment", "html"])
def test_each_format_is_written_to_a_file_and_replaced_by_the_next_review(capsys, project, form):
    for _ in range(2):
        code, out, _ = review(capsys, "app.de.po", "--format", form, "--output", f"review.{form}")
        assert (code, out) == (1, "")
    assert "placeholder" in Path(f"review.{form}").read_text(encoding="utf-8").lower()


def test_a_baseline_hides_what_is_there_and_new_findings_are_shown(capsys, project):
    code, out, _ = review(
        capsys, ".", "--glossary", "terms.csv", "--write-accepted", "polyjudge-accepted.toml", "--reason", "old project"
    )
    assert (code, out) == (0, f"Accepted: {len(PLANTED)} findings, in polyjudge-accepted.toml\n")

    code, row = as_json(capsys, ".", "--glossary", "terms.csv")
    assert (code, kinds(row)) == (0, [])
    assert {each["reason"] for each in row["accepted"]} == {"old project"}

    path = Path("app.de.po")
    path.write_text("# moved\n\n" + path.read_text("utf-8") + '\nmsgid "Name:"\nmsgstr "Name"\n', encoding="utf-8")
    assert kinds(as_json(capsys, ".", "--glossary", "terms.csv")[1]) == [("app.de.po", 34, "end_mark_changed")]


def test_a_baseline_is_added_to_and_no_other_file_is_touched(capsys, project):
    Path("mine.toml").write_text('# our own\n[[accepted]]\nfinding = "aaaaaaaaaaaa"\nreason = "x"', encoding="utf-8")
    review(capsys, ".", "--accepted", "mine.toml", "--write-accepted", "mine.toml", "--reason", "because")
    review(capsys, ".", "--accepted", "mine.toml", "--write-accepted", "mine.toml", "--reason", "because")
    written = Path("mine.toml").read_text("utf-8")
    assert written.startswith('# our own\n[[accepted]]\nfinding = "aaaaaaaaaaaa"')
    assert written.count('reason = "because"') == len(PLANTED) - 1

    Path("other.toml").write_text("[tool]\nx = 1\n", encoding="utf-8")
    code, _, err = review(capsys, ".", "--write-accepted", "other.toml", "--reason", "because")
    assert (code, "other.toml: unknown key 'tool'" in err) == (2, True)
    assert Path("other.toml").read_text("utf-8") == "[tool]\nx = 1\n"


@for_each(
    ("given", "message"),
    [
        (["--write-accepted", "a.toml"], "--write-accepted needs --reason"),
        (["--reason", "x"], "--reason is only for --write-accepted"),
        (["--dry-run"], "--dry-run needs --judge"),
        (["--show-prompt"], "--show-prompt needs --judge"),
        (["--judge", "openai/a,openai/b"], "a review asks one judge"),
        (["--judge", "unknown/x"], "Unknown provider or judge: unknown"),
        (["--glossary", "none.csv"], "none.csv: cannot be read"),
        (["--since", "main"], "changes since a revision need a git repository"),
        (["--since", "-x"], "is not a revision"),
        (["--source", "Engish"], "Did you mean English (en)?"),
        (["--checks", "spelling"], "There is no check or finding 'spelling'"),
    ],
    ids=lambda case: " ".join(case[0]),
)
def test_wrong_usage_gets_one_message_and_exit_code_2(capsys, project, given, message):
    code, out, err = review(capsys, ".", *(f"--since={given[1]}",) if given[0] == "--since" else given)

    assert (code, out) == (2, "")
    assert message in err
    assert err.count("polyjudge: ") == 1


def test_a_path_that_is_not_there_or_has_no_such_files_is_an_error(capsys, project):
    assert review(capsys, "none")[0] == 2
    Path("empty").mkdir()
    code, _, err = review(capsys, "empty")
    assert (code, "no localisation files in empty" in err) == (2, True)


def test_files_of_sources_that_are_named_leave_nothing_to_review_which_a_hook_needs(capsys, project):
    for name, content in {"locales/en.json": "{}", "res/values/strings.xml": "<resources/>"}.items():
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(content, encoding="utf-8")

    code, out, _ = review(capsys, "locales/en.json", "res/values/strings.xml")

    assert (code, out.endswith("Nothing was reviewed.\n")) == (0, True)
    assert "locales/en.json: is in en, the language of the sources" in out


def test_a_broken_file_that_is_named_is_an_error_and_one_in_a_folder_is_a_finding(capsys, project):
    Path("fr.po").write_text('msgid ""\nmsgstr ""\n"Language: fr\\n"\n\nmsgid "a"\nmsgstr "b\n', encoding="utf-8")
    code, _, err = review(capsys, "fr.po")
    assert code == 2
    assert "fr.po:6: quotation mark is not closed" in err

    code, row = as_json(capsys, ".")
    assert ("fr.po", 6, "file_broken") in kinds(row)
    assert ("app.de.po", 14, "placeholder_lost") in kinds(row)


def test_changes_since_a_revision_from_the_command_line(capsys, in_folder):
    repository = TestRepository(in_folder)
    for name in ("de.po", "fr.po"):
        repository.write(name, entry("Colour:", "Farbe"))
    repository.commit()
    repository.write("de.po", entry("Colour:", "Farbe"), entry("Name:", "Name"))

    code, row = as_json(capsys, ".", "--since", "HEAD", "--fail-on", "warn")
    assert (code, kinds(row)) == (1, [("de.po", 10, "end_mark_changed")])
    assert row["since"] == "HEAD"
    assert [each["language"] for each in row["languages"]] == ["de"]


def test_a_missing_key_skips_the_judge_and_the_checks_are_still_shown(capsys, project):
    code, out, err = review(capsys, "app.de.po", "--judge", "openai/gpt-5-mini")

    assert code == 1
    assert "OPENAI_API_KEY not set — skipping the judgement of meaning" in err
    assert "placeholder_lost" in out
    assert "7 messages were not judged: OPENAI_API_KEY not set" in out
    assert review(capsys, "app.de.po", "--judge", "openai/gpt-5-mini", "--require-judge")[0] == 3


def test_a_dry_run_counts_the_calls_and_asks_nothing(capsys, project):
    code, out, _ = review(capsys, "app.de.po", "--judge", "openai/gpt-5-mini", "--dry-run")

    assert code == 0
    assert "calls:    1" in out
    assert not Path(".polyjudge/review-verdicts.jsonl").exists()


def test_the_prompt_of_the_first_call_can_be_shown(capsys, project):
    code, out, _ = review(capsys, "app.de.po", "--judge", "openai/gpt-5-mini", "--show-prompt")

    assert code == 0
    assert "Could not open %s." in out
    assert "## Candidate " in out


MODEL = "local/judge"


def answer(prompt):
    """Answer with a row for each message of the prompt: a score of 2 for a text with `Passwort`."""
    items = re.findall(r"^## Candidate (\w+)$(.*?)(?=^## Candidate |\Z)", prompt, re.MULTILINE | re.DOTALL)
    rows = [
        {
            "id": item_id,
            "reason": "because",
            "subscores": {"meaning": 2 if "Passwort" in text else 5, "sense": 5, "tone": 5, "idiom": 5},
            "suggestion": "Kennwort:",
        }
        for item_id, text in items
    ]
    return json.dumps({"rows": rows})


@pytest.fixture
def asked(server, monkeypatch):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.verdict = answer
    return server


def test_a_judge_is_asked_once_and_a_second_push_asks_about_what_changed(capsys, project, asked):
    code, out, err = review(capsys, "app.de.po", "--judge", MODEL, "--checks", "meaning")
    assert (code, asked.asked) == (0, 1)
    assert "app.de.po:26: WARN wrong_meaning (de) Password:" in out
    assert "Kennwort:" in out
    assert "is not measured (it has no trust card yet); what it finds is a warning at most" in out
    assert "asked:   1 call" in err

    review(capsys, "app.de.po", "--judge", MODEL)
    _, out, _ = review(capsys, "app.de.po", "--judge", MODEL, "--dry-run")
    assert (asked.asked, out) == (1, "calls:    0; all 7 questions were answered before\n")
    path = Path("app.de.po")
    path.write_text(path.read_text("utf-8").replace('msgstr "Passwort"', 'msgstr "Kennwort:"'), encoding="utf-8")
    code, row = as_json(capsys, "app.de.po", "--judge", MODEL, "--checks", "meaning")
    assert (asked.asked, kinds(row)) == (2, [])
    prompt = json.dumps(asked.bodies[-1], ensure_ascii=False)
    assert (prompt.count("## Candidate "), "Kennwort:" in prompt) == (1, True)


def test_a_judge_that_says_nothing_usable_leaves_messages_unjudged_and_exits_with_3(capsys, project, asked):
    asked.verdict = lambda _: "I cannot say."
    code, row = as_json(capsys, "app.de.po", "--judge", MODEL, "--checks", "meaning")

    assert code == 3
    assert len(row["unjudged"]) == 7
    assert row["findings"] == []
    assert review(capsys, "app.de.po", "--judge", MODEL, "--max-unjudged", "1", "--checks", "meaning")[0] == 0


def test_a_limit_of_calls_stops_the_judge_and_the_same_command_resumes(capsys, project, asked):
    code, _, err = review(capsys, ".", "--judge", MODEL, "--checks", "meaning", "--max-calls", "1")
    assert code == 3
    assert "messages were not judged" in err
    assert asked.asked == 1
    code, row = as_json(capsys, ".", "--judge", MODEL, "--checks", "meaning")
    assert asked.asked == 2
    assert (code, row["unjudged"]) == (0, [])


def test_the_environment_of_git_does_not_leak_into_a_review(capsys, project, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(project / "nowhere"))
    assert review(capsys, "app.ar.po", "--since", "HEAD")[0] == 2
    assert os.environ["GIT_DIR"].endswith("nowhere")


def test_the_accepted_file_is_written_with_text_in_any_script(tmp_path):
    from polyjudge.checks.accepted import read_accepted
    from polyjudge.records.messages import ReviewFinding

    found = ReviewFinding(
        file="a\tb.po", line=1, key="k", language="ar", check="c", kind="k", severity="warn", message="m",
        translation='"مرحبا"\x7f\u202e\\', fingerprint="abc",
    )  # fmt: skip
    path = tmp_path / "a.toml"

    assert write_accepted(path, [found, found], 'a "reason"') == 1
    assert read_accepted(path).reason_for("abc") == 'a "reason"'
    assert sys.getdefaultencoding() == "utf-8"
