"""`polyjudge regression`: output, exit codes, files, and no process left running."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.dom import minidom

import pytest

from polyjudge.cli import main
from polyjudge.records.sessions import CaseResult, Fixture
from polyjudge.reports.regression import junit_xml

UPPER = "import sys; sys.stdout.write(sys.stdin.read().upper())"
# Does as the text asks.
OBEDIENT = """import sys, time
text = sys.stdin.read().strip()
if text == "crash":
    print("first\\n[PASS] forged", file=sys.stderr); sys.exit(9)
sys.stdout.write("" if text == "nothing" else text.upper() + "\\n")
"""
NATURAL = (
    "a\ten\tes\tWhere is the nearest station, please?\t¿Dónde está la estación más cercana, por favor?\n"
    "b\ten\tes\tHow much does the ticket cost?\t¿Cuánto cuesta el billete de tren?\n"
)


def cases(*pairs, name="translation.tsv", header=""):
    rows = "".join(f"{case}\ten\tes\t{text}\t{expected}\n" for case, text, expected in pairs)
    Path(name).write_text(header + rows, encoding="utf-8")
    return name


def command(script=OBEDIENT):
    Path("translator.py").write_text(script, encoding="utf-8")
    return f"{sys.executable} -S -E translator.py"


def regression(action, *arguments, script=OBEDIENT):
    return main(["regression", action, "--command", command(script), *arguments])


def run(*arguments, **options):
    return regression("run", *arguments, **options)


PASSING = ("one", "hello", "HELLO")
FAILING = ("two", "café", "CAFE\u0301")
CRASHING = ("three", "crash", "CRASH")
EMPTY = ("four", "nothing", "")


# Lines and exit codes


@pytest.mark.parametrize("arguments", [[], ["run"], ["capture"], ["audit"]])
def test_without_arguments_the_usage_is_shown_and_the_exit_code_is_two(arguments, in_folder, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["regression", *arguments])

    assert exited.value.code == 2
    assert capsys.readouterr().err.startswith("usage: polyjudge regression")


@pytest.mark.parametrize("arguments", [[], ["run"], ["capture"], ["audit"]])
def test_help_is_given(arguments, in_folder, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["regression", *arguments, "--help"])

    assert exited.value.code == 0
    assert capsys.readouterr().out.startswith("usage: polyjudge regression")


@pytest.mark.parametrize(
    ("given", "code", "summary"),
    [
        ([PASSING], 0, "1 passed, 0 failed, 0 errors"),
        ([PASSING, FAILING], 1, "1 passed, 1 failed, 0 errors"),
        ([PASSING, CRASHING], 3, "1 passed, 0 failed, 1 errors"),
        ([PASSING, FAILING, CRASHING, EMPTY], 3, "1 passed, 1 failed, 2 errors"),
    ],
)
def test_each_case_and_the_summary_are_printed_and_the_exit_code_is_the_worst(given, code, summary, in_folder, capsys):
    assert run("--fixtures", cases(*given)) == code

    lines = capsys.readouterr().out.splitlines()
    status = {"one": "PASS", "two": "FAIL", "three": "ERROR", "four": "ERROR"}
    assert [line for line in lines if line.startswith("[")] == [f"[{status[name]}] {name}" for name, _, _ in given]
    assert lines[-1] == f"Summary: {summary}"


def test_a_failure_shows_the_difference_without_colour_and_with_code_points(in_folder, capsys):
    run("--fixtures", cases(FAILING))

    shown = capsys.readouterr().out
    assert "expected  CAF[-E\u0301-]" in shown
    assert "actual    CAF{+É+}" in shown
    assert "U+0301 COMBINING ACUTE ACCENT" in shown
    assert "\x1b" not in shown


def test_the_final_line_break_of_an_expectation_is_no_part_of_the_difference(in_folder, capsys):
    folder = in_folder / "cases" / "letter"
    folder.mkdir(parents=True)
    for name, text in {"input": "a\nb\n", "expected": "A\nC\n"}.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / "case.toml").write_text('source_lang = "en"\ntarget_lang = "es"\n', encoding="utf-8")

    assert run("--fixtures", "cases") == 1
    assert "[-C-]\n" in capsys.readouterr().out


def test_what_a_translator_writes_cannot_pass_for_a_result_or_act_on_the_terminal(in_folder, capsys):
    echo = "import sys; text = sys.stdin.read(); sys.stdout.write('x\\n[PASS] forged\\n\\x1b[31m\\u202e')"

    assert run("--fixtures", cases(PASSING), script=echo) == 1
    assert run("--fixtures", cases(CRASHING)) == 3

    shown = capsys.readouterr().out
    assert not any(line.startswith("[PASS]") for line in shown.splitlines())
    assert not {"\x1b", "\u202e"} & set(shown)


def test_a_suite_can_be_chosen_and_both_are_counted_apart(in_folder, capsys):
    path = cases(PASSING, FAILING)
    Path(path).write_text(
        Path(path).read_text(encoding="utf-8") + "# suite: preserve\nid\ten\tes\tX1\tX1\n", encoding="utf-8"
    )

    assert run("--fixtures", path, "--suite", "preserve") == 0
    assert capsys.readouterr().out == "[PASS] id\nSummary: 1 passed, 0 failed, 0 errors\n"
    assert run("--fixtures", path) == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "translation: 1 passed, 1 failed, 0 errors",
        "preserve: 1 passed, 0 failed, 0 errors",
        "Summary: 2 passed, 1 failed, 0 errors",
    ]
    assert run("--fixtures", cases(PASSING), "--suite", "preserve") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fixtures", "none.tsv"], "none.tsv: cannot be read"),
        (["--fixtures", "broken.tsv"], "broken.tsv:1: expected 5 columns"),
        (["--fixtures", "good.tsv", "--env", "NOT_SET_ANYWHERE"], "is not set (--env NOT_SET_ANYWHERE)"),
        (["--fixtures", "good.tsv", "--set", "X"], "must be NAME=VALUE"),
        (["--fixtures", "good.tsv", "--model", "none"], "the model 'none' does not exist"),
        (
            ["--fixtures", "good.tsv", "--command", "t {model}"],
            "name a model or set POLYJUDGE_TRANSLATOR_MODEL (--model)",
        ),
        (["--fixtures", "good.tsv", "--command", "/nowhere/t"], "cannot be run"),
        (["--fixtures", "good.tsv", "--persistent", "--repeat", "2"], "cannot be combined"),
    ],
)
def test_wrong_usage_and_bad_files_are_reported_in_one_line_with_exit_code_two(arguments, message, in_folder, capsys):
    cases(PASSING, name="good.tsv")
    Path("broken.tsv").write_text("a\tb\n", encoding="utf-8")

    assert run(*arguments) == 2

    shown = capsys.readouterr()
    assert (shown.out, message in shown.err, shown.err.count("\n")) == ("", True, 1)


def test_a_case_that_differs_from_run_to_run_is_named_and_fails_also_in_the_xml(in_folder, capsys):
    flaky = "import pathlib; seen = pathlib.Path('seen'); print('HELLO' + (' ' if seen.exists() else '')); seen.touch()"

    assert run("--fixtures", cases(PASSING), "--repeat", "2", "--match", "trim", "--junit", "j.xml", script=flaky) == 1

    shown = capsys.readouterr().out
    assert "2 different outputs for the same text:" in shown
    assert "1 cases differ between repeats" in shown
    assert parsed("j.xml").getElementsByTagName("testsuite")[0].getAttribute("failures") == "1"


def test_persistent_mode_uses_one_process_and_falls_back_with_a_warning(in_folder, capsys):
    by_line = (
        "import sys\nopen('starts', 'a').write('x')\n"
        "for line in sys.stdin:\n    print(line.strip().upper(), flush=True)\n"
    )
    path = cases(*((f"c{number}", f"text {number}", f"TEXT {number}") for number in range(9)))

    assert run("--fixtures", path, "--persistent", script=by_line) == 0
    assert Path("starts").read_text(encoding="utf-8") == "x"
    assert capsys.readouterr().err == ""
    assert run("--fixtures", path, "--persistent", script=by_line + "    break\n") == 0
    shown = capsys.readouterr()
    assert "the program ended" in shown.err
    assert "1 cases are done, 8 are run one by one" in shown.err
    assert shown.out.endswith("Summary: 9 passed, 0 failed, 0 errors\n")


def test_a_run_warns_when_the_translator_is_another_than_the_captured_one(in_folder, capsys):
    path = cases(PASSING, header="# polyjudge command: other\n# polyjudge version translator: 1\n")
    printed = f"{sys.executable} -c 'print(2)'"

    assert run("--fixtures", path, "--version-command", printed) == 0

    warned = capsys.readouterr().err
    assert "captured with the command 'other', now" in warned
    assert "captured with translator 1, now 2" in warned


# Files for machines


def parsed(path):
    return minidom.parseString(Path(path).read_bytes())


def test_json_contains_every_case_and_nothing_else_is_printed(in_folder, capsys):
    assert run("--fixtures", cases(PASSING, FAILING, CRASHING), "--format", "json", "--output", "out/results.json") == 3

    rows = json.loads(capsys.readouterr().out)
    assert rows == json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert [(row["caseId"], row["status"]) for row in rows["cases"]] == [
        ("one", "PASS"),
        ("two", "FAIL"),
        ("three", "ERROR"),
    ]
    assert rows["cases"][1]["actual"] == "CAFÉ"
    assert rows["suites"] == {"translation": {"PASS": 1, "FAIL": 1, "ERROR": 1}}


def test_the_xml_separates_failures_from_errors(in_folder, capsys):
    run("--fixtures", cases(PASSING, FAILING, CRASHING), "--junit", "junit.xml")

    [suite] = parsed("junit.xml").getElementsByTagName("testsuite")
    found = suite.getElementsByTagName("testcase")
    assert [suite.getAttribute(name) for name in ("name", "tests", "failures", "errors")] == [
        "translation",
        "3",
        "1",
        "1",
    ]
    assert [case.getAttribute("name") for case in found] == ["one", "two", "three"]
    children = [[child.tagName for child in case.childNodes if child.nodeType == child.ELEMENT_NODE] for case in found]
    assert children == [[], ["failure"], ["error"]]


@pytest.mark.parametrize(
    "text",
    ["\x00\x1b[31m", "\ud800 half", "]]>", "<a b='\"'>&amp;&", "\ufffe\uffff", "a\r\nb", "สวัสดี مرحبا 👩🏽‍🚀", "<!--"],
)
def test_any_text_makes_xml_that_parses(text):
    fixture = Fixture(
        case_id=text, source_lang=text, target_lang=text, input_text=text, expected_output=text, suite="preserve"
    )
    results = [
        CaseResult(fixture=fixture, status="FAIL", actual=text),
        CaseResult(fixture=fixture, status="ERROR", message=text),
        CaseResult(fixture=fixture, status="PASS", actual=text, variants=(text, text)),
    ]

    document = minidom.parseString(junit_xml(results).encode())

    assert len(document.getElementsByTagName("testcase")) == 3
    if text.isprintable():
        assert document.getElementsByTagName("error")[0].getAttribute("message") == text
        assert text in document.getElementsByTagName("failure")[0].firstChild.data


# Capture


@pytest.fixture
def inputs(in_folder):
    Path("inputs.tsv").write_text("# greetings\na\ten\tes\thello\n\nb\ten\tes\tbye\n", encoding="utf-8")
    return in_folder


def capture(*arguments, **options):
    return regression("capture", "--inputs", "inputs.tsv", "--output", "out.tsv", *arguments, **options)


def test_captured_outputs_pass(inputs, capsys):
    assert capture("--version-command", f"{sys.executable} -c 'print(7)'") == 0

    lines = Path("out.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# polyjudge command: {Path(sys.executable).name} -S -E translator.py"
    assert "# polyjudge version translator: 7" in lines
    assert lines[-4:] == ["# greetings", "a\ten\tes\thello\tHELLO", "", "b\ten\tes\tbye\tBYE"]
    capsys.readouterr()
    assert run("--fixtures", "out.tsv") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("script", "code"),
    [("import sys; sys.exit(1)", 3), ("print('')", 3), ("print('a\\tb')", 2), ("print('a\\nb')", 2)],
)
def test_nothing_is_written_if_an_output_cannot_be_stored(script, code, inputs, capsys):
    assert capture(script=script) == code

    assert sorted(path.name for path in inputs.iterdir()) == ["inputs.tsv", "translator.py"]


def test_a_file_that_is_there_is_not_overwritten_by_chance(inputs, capsys):
    Path("out.tsv").write_text("mine\n", encoding="utf-8")

    assert capture() == 2
    assert "Give --update to see what would change" in capsys.readouterr().err
    assert capture("--update") == 2
    assert Path("out.tsv").read_text(encoding="utf-8") == "mine\n"


def test_an_update_shows_what_changes_and_needs_an_answer(inputs, capsys):
    old = cases(("a", "hello", "HALLO"), ("gone", "x", "X"), name="out.tsv")
    before = Path(old).read_text(encoding="utf-8")
    update = ["capture", "--inputs", "inputs.tsv", "--output", "out.tsv", "--update"]
    code = subprocess.run(
        [sys.executable, "-m", "polyjudge", "regression", *update, "--command", command()],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert code.returncode == 2
    assert "Give --yes to write the changes" in code.stderr
    assert Path(old).read_text(encoding="utf-8") == before
    assert capture("--update", "--yes") == 0
    shown = capsys.readouterr().out
    assert "[CHANGE] a" in shown
    assert "[NEW] b" in shown
    assert "[REMOVED] gone" in shown
    assert "2 of 2 expected outputs change, 1 cases are removed" in shown
    assert run("--fixtures", "out.tsv") == 0


def on_terminal(answer):
    """Start an update whose input is a terminal, wait for the question, and answer it."""
    import pty

    ours, theirs = pty.openpty()
    arguments = ["capture", "--inputs", "inputs.tsv", "--output", "out.tsv", "--update", "--command", command()]
    process = start(*arguments, stdin=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    seen = b""
    while b"[y/N]" not in seen:
        piece = os.read(process.stdout.fileno(), 1000)
        assert piece, process.communicate()
        seen += piece
    if isinstance(answer, bytes):
        os.write(ours, answer)
    else:
        process.send_signal(answer)
    process.communicate()
    os.close(ours)
    return process.returncode


@pytest.mark.parametrize(
    ("answer", "code", "is_written"),
    [(b"y\n", 0, True), (b"n\n", 1, False), (b"\n", 1, False), (b"\x04", 1, False), (signal.SIGINT, 130, False)],
    ids=str.split("yes no enter end interrupt"),
)
def test_a_person_is_asked_and_obeyed(answer, code, is_written, inputs):
    cases(("a", "hello", "HALLO"), name="out.tsv")

    assert on_terminal(answer) == code
    assert ("HELLO" in Path("out.tsv").read_text(encoding="utf-8")) is is_written


# Audit


def test_an_audit_of_a_sound_file_is_zero_and_of_a_bad_one_is_one(in_folder, capsys):
    Path("good.tsv").write_text(NATURAL, encoding="utf-8")
    Path("bad.tsv").write_text(
        NATURAL + "c\ten\tes\tSend it to bob@firma.de\tEnvíalo a bob@firma.de\n", encoding="utf-8"
    )

    assert main(["regression", "audit", "good.tsv"]) == 0
    assert capsys.readouterr().out == "2 cases: 0 findings, 0 warnings\n"
    assert main(["regression", "audit", "bad.tsv"]) == 1
    assert "bad.tsv:3: c: unsafe: e-mail address in the input: 'bob@firma.de'" in capsys.readouterr().out
    assert main(["regression", "audit", "bad.tsv", "--format", "json"]) == 1
    assert {each["kind"] for each in json.loads(capsys.readouterr().out)} == {"unsafe"}
    assert main(["regression", "audit", "none.tsv"]) == 2


def test_a_warning_alone_is_no_failure(in_folder, capsys):
    rows = "".join(f"i{number}\tde\txx\tERR_{number}\tERR_{number}\n" for number in range(3))
    Path("ids.tsv").write_text(rows, encoding="utf-8")

    assert main(["regression", "audit", "ids.tsv"]) == 0
    assert "warning: padded" in capsys.readouterr().out


def verdict(score, right=True):
    scores = {"script": score, "grammar": score, "coherence": score}
    return json.dumps({"reason": "it says something else", "subscores": scores, "isCorrectLanguage": right})


@pytest.fixture
def local(server, monkeypatch, in_folder):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    Path("good.tsv").write_text(NATURAL, encoding="utf-8")
    return server


def test_a_judge_that_doubts_an_expectation_is_heard(local, capsys):
    local.verdict = lambda prompt: verdict(2 if "ticket" in prompt else 5)

    assert main(["regression", "audit", "good.tsv", "--judge", "local/m"]) == 1

    shown = capsys.readouterr().out
    assert "good.tsv:2: b: doubted: the judge fails the expected output: it says something else" in shown
    assert local.asked == 2


def test_a_judge_that_is_content_changes_nothing(local, capsys):
    local.verdict = lambda _: verdict(5)

    assert main(["regression", "audit", "good.tsv", "--judge", "local/m"]) == 0


def test_a_judge_that_gives_no_verdict_is_exit_code_three(local, capsys):
    local.verdict = lambda _: "I cannot say"

    assert main(["regression", "audit", "good.tsv", "--judge", "local/m"]) == 3
    assert "2 of 2 cases could not be judged" in capsys.readouterr().err


def test_a_dry_run_prints_the_estimate_and_makes_no_calls(local, capsys):
    assert main(["regression", "audit", "good.tsv", "--judge", "local/m", "--dry-run"]) == 0

    shown = capsys.readouterr()
    assert ("items:    2\ncalls:    2" in shown.out, shown.err, local.asked) == (True, "", 0)


def test_without_a_key_the_judge_is_skipped_unless_it_is_required(in_folder, capsys):
    Path("good.tsv").write_text(NATURAL, encoding="utf-8")

    assert main(["regression", "audit", "good.tsv", "--judge", "openai"]) == 0
    shown = capsys.readouterr()
    assert "OPENAI_API_KEY not set" in shown.err
    assert "2 cases: 0 findings" in shown.out
    assert main(["regression", "audit", "good.tsv", "--judge", "openai", "--require-judge"]) == 3


# Interruption

FAMILY = """import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("new").write_text(f"{os.getpid()} {child.pid}")
os.replace("new", "processes")
time.sleep(600)
"""


def start(*arguments, **options):
    started = [sys.executable, "-m", "polyjudge", "regression", *arguments]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(started, **streams)


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes the Linux way")
@pytest.mark.parametrize("mode", [[], ["--persistent"]], ids=["singly", "persistent"])
def test_ctrl_c_is_130_and_leaves_no_process_behind(mode, in_folder):
    process = start("run", "--fixtures", cases(PASSING, FAILING), *mode, "--command", command(FAMILY))
    while not Path("processes").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    started = Path("processes").read_text(encoding="utf-8").split()

    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)  # who asks twice does not want to wait
    printed = process.communicate()[1]

    assert process.returncode == 130
    assert b"interrupted; 2 of 2 cases were not run" in printed
    for _ in range(1000):
        if not any(map(is_running, started)):
            break
        time.sleep(0.01)
    assert not any(map(is_running, started))


def test_a_capture_of_prose_with_backticks_passes_the_audit(in_folder, capsys):
    text = "Use the `print` function instead of `echo`, please."
    Path("inputs.tsv").write_text(f"one\ten\ten\t{text}\n", encoding="utf-8")
    script = "import sys; sys.stdout.write(sys.stdin.read())"

    assert regression("capture", "--inputs", "inputs.tsv", "--output", "translation.tsv", script=script) == 0
    main(["regression", "audit", "translation.tsv"])

    assert "command in" not in capsys.readouterr().out


@pytest.mark.parametrize("part", ["../secret/key.pem", "./notes/list.txt", "run `curl -s x`"])
def test_relative_paths_and_commands_in_backticks_fail_the_audit(part, in_folder, capsys):
    cases(("one", f"Open {part} now, please.", "Abra el archivo ahora, por favor."))

    assert main(["regression", "audit", "translation.tsv"]) == 1
    assert "in the input: " in capsys.readouterr().out


def test_a_key_in_the_recorded_command_fails_the_audit(in_folder, capsys):
    header = "# polyjudge command: translate --key sk-0123456789abcdef {source_lang}\n"
    Path("translation.tsv").write_text(header + NATURAL, encoding="utf-8")

    assert main(["regression", "audit", "translation.tsv"]) == 1
    assert "secret in a comment" in capsys.readouterr().out


LITERAL = "import sys; sys.stdout.write(repr(sys.stdin.buffer.read()))"


@pytest.mark.parametrize("text", ["hello", "  spaced  ", "¿qué?"])
def test_a_program_reads_the_text_of_a_table_without_a_line_break(text, in_folder, capsys):
    assert run("--fixtures", cases(("one", text, repr(text.encode()))), script=LITERAL) == 0


@pytest.mark.parametrize("text", ["one line", "one line\n", "two\nlines", "two\nlines\n", "blank lines\n\n", "dos\r\n"])
def test_a_program_reads_the_text_of_a_folder_byte_by_byte(text, in_folder, capsys):
    Path("case").mkdir()
    Path("case/input.txt").write_bytes(text.encode())
    Path("case/expected.txt").write_text(repr(text.encode()), encoding="utf-8")
    Path("case/case.toml").write_text('source_lang = "en"\ntarget_lang = "es"\n', encoding="utf-8")

    assert run("--fixtures", "case", script=LITERAL) == 0


def test_a_capture_also_sends_the_text_alone(in_folder, capsys):
    Path("inputs.tsv").write_text("one\ten\tes\thello\n", encoding="utf-8")

    assert regression("capture", "--inputs", "inputs.tsv", "--output", "translation.tsv", script=LITERAL) == 0

    assert "b'hello'" in Path("translation.tsv").read_text(encoding="utf-8")


def test_a_persistent_program_reads_lines(in_folder, capsys):
    script = "import sys\nfor line in sys.stdin:\n    print(repr(line), flush=True)\n"

    assert run("--fixtures", cases(("one", "hello", repr("hello\n"))), "--persistent", script=script) == 0


def test_a_deadline_that_leaves_nothing_undone_does_not_fail_the_run(in_folder, capsys):
    slow = f"import time; time.sleep(1); {UPPER}"

    assert run("--fixtures", cases(PASSING), "--deadline", "0.3", script=slow) == 0

    shown = capsys.readouterr()
    assert "Summary: 1 passed, 0 failed, 0 errors" in shown.out
    assert "were not run" not in shown.err


@pytest.mark.slow  # the grace of two runs
def test_a_deadline_ends_the_run_with_exit_code_three(in_folder, capsys):
    for mode in ([], ["--persistent"]):
        assert run("--fixtures", cases(PASSING), "--deadline", "0.3", *mode, script="import time; time.sleep(600)") == 3
        assert "1 of 1 cases were not run" in capsys.readouterr().err
