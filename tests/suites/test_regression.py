"""Regression cases: outputs are compared exactly, errors are reported, and answers are never mixed up."""

import asyncio
import hashlib
import json
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.concurrency.pool import StopToken
from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.fixtures import read_fixtures
from polyjudge.languages.table import language_table
from polyjudge.records.sessions import Fixture, Recorded
from polyjudge.suites.fixtures import audit_fixtures, captured_text, changes, recorded_now
from polyjudge.suites.regression import (
    clean_environment,
    fits_one_line,
    is_match,
    run_cases,
    run_line_by_line,
    translator_command,
)

LONG_S = 60.0
UPPER = "import sys; sys.stdout.write(sys.stdin.read().upper())"


def fixture(text="hello", expected="HELLO", name="a", **fields):
    return Fixture(
        case_id=name, source_lang="en", target_lang="es", input_text=text, expected_output=expected, **fields
    )


def cases(*texts):
    return [fixture(text, text.upper(), f"c{number}") for number, text in enumerate(texts)]


@pytest.fixture
def translator(tmp_path):
    """Return a translator that runs a Python script."""

    def make(script, *arguments, timeout_s=LONG_S, model=None, environment=None):
        path = tmp_path / "translator.py"
        path.write_text(script, encoding="utf-8")
        parts = " ".join([sys.executable, "-S", "-E", str(path), *arguments])
        named = environment if environment is not None else clean_environment(tmp_path, [], [])
        return translator_command(parts, model=model, environment=named, timeout_s=timeout_s)

    return make


def run(command, fixtures, match="exact", concurrency=2, repeat=1):
    async def work():
        found = run_cases(
            command.translate, fixtures, match=match, concurrency=concurrency, repeat=repeat, stop=StopToken()
        )
        return [result async for result in found]

    return asyncio.run(work())


def outcome(command, case=None, **options):
    [result] = run(command, [case or fixture()], **options)
    return result


def writes(output, code=0):
    """Return a script that writes these bytes, whatever it reads."""
    return f"import sys; sys.stdin.read(); sys.stdout.buffer.write({output!r}); sys.stdout.flush(); sys.exit({code})"


# Comparison


@pytest.mark.parametrize("output", [b"HELLO", b"HELLO\n", b"HELLO\r\n"])
@pytest.mark.parametrize("expected", ["HELLO", "HELLO\n", "HELLO\r\n"])
def test_one_final_line_break_makes_no_difference(output, expected, translator):
    assert outcome(translator(writes(output)), fixture(expected=expected)).status == "PASS"


@pytest.mark.parametrize("output", [b"HELLO\n\n", b" HELLO", b"HELLO ", b"\nHELLO\n", b"Hello", b"HELLO\r"])
def test_any_other_difference_fails(output, translator):
    assert outcome(translator(writes(output))).status == "FAIL"


@pytest.mark.parametrize(
    ("expected", "actual", "matches"),
    [
        ("a b", "a b", {"exact", "trim", "normalized"}),
        ("a b", "  a b \n\n", {"trim", "normalized"}),
        ("a b", "a  b", {"normalized"}),
        ("a b", "a\u00a0b", {"normalized"}),
        ("a\nb", "a b", {"normalized"}),
        ("é", "e\u0301", {"normalized"}),
        ("a", "A", set()),
        ("ﬁ", "fi", set()),
        ("a", "a\u200b", set()),
    ],
)
def test_looser_matches_allow_white_space_and_other_code_points_of_the_same_text(expected, actual, matches):
    assert {match for match in ("exact", "trim", "normalized") if is_match(expected, actual, match)} == matches


@given(st.text(), st.text())
def test_what_matches_strictly_matches_loosely(expected, actual):
    strict = [is_match(expected, actual, match) for match in ("exact", "trim", "normalized")]

    assert strict == sorted(strict)


# Errors


@pytest.mark.parametrize("code", [0, 1])
@pytest.mark.parametrize("output", [b"", b"\n", b"  \n"])
def test_an_empty_translation_is_an_error_whatever_the_exit_code(output, code, translator):
    result = outcome(translator(writes(output, code)), fixture(expected=""))

    assert (result.status, result.actual) == ("ERROR", "")
    assert result.message


def test_a_program_that_fails_is_an_error_even_with_the_expected_output(translator):
    result = outcome(translator("import sys; print('HELLO'); print('no model', file=sys.stderr); sys.exit(7)"))

    assert result.status == "ERROR"
    assert "exited with code 7: no model" in result.message


def test_a_crash_is_an_error(translator):
    result = outcome(translator("import os; print('HELLO', flush=True); os.abort()"))

    assert result.status == "ERROR"
    assert "code -6" in result.message


def test_a_translator_that_takes_too_long_is_an_error(translator):
    result = outcome(translator("import time; time.sleep(600)", timeout_s=0.2))

    assert result.status == "ERROR"
    assert "took longer than 0.2 seconds" in result.message


def test_more_than_ten_megabytes_are_an_error(translator):
    result = outcome(translator("import sys\nfor _ in range(200): sys.stdout.write('x' * 65536)\n"))

    assert result.status == "ERROR"
    assert "wrote more than 10,000,000 bytes" in result.message


def test_an_output_that_is_not_utf_8_is_an_error(translator):
    result = outcome(translator(writes(b"HELL\xff\n")))

    assert (result.status, result.message) == ("ERROR", "the output is not UTF-8 from byte 4 on")


def test_a_translator_need_not_read(translator):
    assert outcome(translator("print('HELLO')"), fixture("hello " * 50_000)).status == "PASS"


def test_a_missing_program_stops_the_run(tmp_path):
    command = translator_command("/nowhere/translate", model=None, environment={}, timeout_s=1)

    with pytest.raises(ConfigError, match="'/nowhere/translate' cannot be run"):
        run(command, [fixture()])


# Order and repetition


def test_results_come_in_the_order_of_the_file_however_long_each_takes(translator):
    slow = "import sys, time; text = sys.stdin.read(); time.sleep(0.3 if 'slow' in text else 0); print(text.upper())"
    given = cases("slow 0", "1", "slow 2", *map(str, range(3, 12)))

    results = run(translator(slow), given, match="trim", concurrency=8)

    assert [result.fixture for result in results] == given
    assert {result.status for result in results} == {"PASS"}


FLAKY = (
    "import pathlib, sys; text = sys.stdin.read().strip(); seen = pathlib.Path(sys.argv[1]) / text;"
    "again = seen.exists(); seen.touch();"
    "print('OTHER' if again and text == 'flaky' else text.upper())"
)


def test_repetition_finds_outputs_that_vary(translator, tmp_path):
    (tmp_path / "seen").mkdir()

    steady, flaky = run(translator(FLAKY, str(tmp_path / "seen")), cases("steady", "flaky"), repeat=3)

    assert (steady.status, steady.variants) == ("PASS", ())
    assert (flaky.status, flaky.variants) == ("FAIL", ("FLAKY", "OTHER"))


def test_the_worst_of_several_runs_counts(translator, tmp_path):
    once = (
        "import pathlib, sys; seen = pathlib.Path(sys.argv[1]); again = seen.exists(); seen.touch();"
        "sys.exit(1) if again else print('HELLO')"
    )

    result = outcome(translator(once, str(tmp_path / "mark")), repeat=2)

    assert result.status == "ERROR"


# Commands and environment

HOSTILE = "\"it's\" $(touch made) `touch made`; touch made | cat > made && x\n'\\ * ~ $HOME %s {model} -n"


def test_no_shell_interprets_the_text_of_a_case(translator, in_folder):
    result = outcome(translator("import sys; sys.stdout.write(sys.stdin.read())"), fixture(HOSTILE, HOSTILE))

    assert (result.status, result.actual) == ("PASS", HOSTILE)
    assert not (in_folder / "made").exists()


def test_a_command_is_split_without_a_shell(in_folder):
    command = translator_command(
        f"{sys.executable} -c 'import sys; print(sys.argv[1:])' $(touch made) '; touch made' > made",
        model=None,
        environment=clean_environment(in_folder, [], []),
        timeout_s=LONG_S,
    )

    assert outcome(command).actual == "['$(touch', 'made)', '; touch made', '>', 'made']"
    assert list(in_folder.iterdir()) == []


def test_placeholders_are_replaced_only_once(tmp_path):
    model = tmp_path / "{source_lang}"
    model.touch()
    command = translator_command(
        "t {source_lang}-{target_lang} {model} {other}", model=model, environment={}, timeout_s=1
    )

    assert command.for_pair("{target_lang}", "{model}") == ["t", "{target_lang}-{model}", str(model), "{other}"]


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("a 'b", "cannot be parsed: No closing")])
def test_a_command_that_cannot_be_split_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        translator_command(text, model=None, environment={}, timeout_s=1)


def test_a_command_with_a_model_needs_an_existing_model(tmp_path, monkeypatch):
    def opened(model=None, text="t {model}"):
        return translator_command(text, model=model, environment={}, timeout_s=1).model

    with pytest.raises(ConfigError, match="name a model or set POLYJUDGE_TRANSLATOR_MODEL"):
        opened()
    for text in ("t {model}", "t"):
        with pytest.raises(ConfigError, match="none' does not exist"):
            opened(tmp_path / "none", text)
    monkeypatch.setenv("POLYJUDGE_TRANSLATOR_MODEL", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="none' does not exist"):
        opened()
    assert opened(text="t") is None
    monkeypatch.setenv("POLYJUDGE_TRANSLATOR_MODEL", str(tmp_path))
    assert opened() == tmp_path
    assert opened(tmp_path.parent) == tmp_path.parent


def test_the_program_sees_only_path_an_empty_home_and_named_variables(translator, tmp_path, monkeypatch):
    monkeypatch.setenv("NAMED", "ours")
    monkeypatch.setenv("HIDDEN", "secret")
    monkeypatch.setenv("HOME", "/root")
    home = tmp_path / "home"
    home.mkdir()
    environment = clean_environment(home, ["NAMED"], ["OTHER=a=b", "EMPTY="])
    script = "import json, os; print(json.dumps([dict(os.environ), os.listdir(os.environ['HOME'])]))"

    seen, files = json.loads(outcome(translator(script, environment=environment)).actual)

    seen.pop("LC_CTYPE", None)  # set by Python itself without a locale
    assert seen == {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "NAMED": "ours",
        "OTHER": "a=b",
        "EMPTY": "",
    }
    assert files == []


def test_home_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere")

    assert clean_environment(tmp_path, ["HOME"], ["XDG_CONFIG_HOME=/x"])["HOME"] == "/somewhere"
    assert clean_environment(tmp_path, [], ["XDG_CONFIG_HOME=/x"])["XDG_CONFIG_HOME"] == "/x"


def test_named_variables_must_exist(tmp_path):
    with pytest.raises(ConfigError, match="the variable NOT_SET_ANYWHERE is not set"):
        clean_environment(tmp_path, ["NOT_SET_ANYWHERE"], [])
    for setting in ("NAME", "=value"):
        with pytest.raises(ConfigError, match="must be NAME=VALUE"):
            clean_environment(tmp_path, [], [setting])


# Line by line

LINES = "import sys\nopen(sys.argv[1], 'a').write('started\\n')\nfor number, line in enumerate(sys.stdin):\n    {}\n"
ANSWER = "print(line.strip().upper(), flush=True)"


@pytest.fixture
def by_line(translator, tmp_path):
    """Run cases line by line; return the results, the warnings, and how often the program was started."""

    def settle(body, fixtures, timeout_s=LONG_S, match="exact", before=""):
        starts = tmp_path / "starts"
        starts.write_text("", encoding="utf-8")
        command = translator(before + LINES.format(body), str(starts), timeout_s=timeout_s)
        warned = []
        settled = asyncio.run(run_line_by_line(command, fixtures, match=match, warn=warned.append))
        return settled, warned, starts.read_text(encoding="utf-8").count("started")

    return settle


def test_one_process_answers_all_lines(by_line):
    given = cases(*(f"line {number} สวัสดี" for number in range(50)))

    settled, warned, starts = by_line(ANSWER, given)

    assert ({result.status for result in settled.values()}, len(settled)) == ({"PASS"}, 50)
    assert (warned, starts) == ([], 1)


def test_a_wrong_answer_leaves_only_its_own_case_open(by_line):
    settled, warned, _ = by_line(
        "print('NO' if number == 1 else line.strip().upper(), flush=True)", cases("a", "b", "c")
    )

    assert list(settled) == ["c0", "c2"]
    assert warned == []


def test_an_input_of_one_line_is_sent_once(by_line):
    settled, warned, _ = by_line(ANSWER, [fixture("hello\n", "HELLO\n"), fixture("bye\r\n", "BYE\r\n", "b")])

    assert [result.status for result in settled.values()] == ["PASS", "PASS"]
    assert warned == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"if number != 1: {ANSWER}", "no line within 0.5 seconds"),
        (
            f"{ANSWER}; print('EXTRA' if number == 1 else '', end='\\n' if number == 1 else '', flush=True)",
            "unexpected line",
        ),
        (f"sys.exit() if number == 2 else {ANSWER}", "the program ended"),
        (f"print('B', end='', flush=True) or sys.exit() if number == 2 else {ANSWER}", "the program ended"),
        (f"print('', flush=True) if number == 1 else {ANSWER}", "empty line for c1"),
        ("pass", "no line within 0.5 seconds"),
        ("import time; time.sleep(600)", "no line within 0.5 seconds"),
    ],
    ids=str.split("lost extra dies half empty silent sleeps"),
)
def test_once_out_of_step_only_expected_answers_count_and_a_warning_says_so(body, reason, by_line):
    settled, [warning], starts = by_line(
        body, cases("a", "b", "c", "d"), timeout_s=0.5 if "within" in reason else LONG_S
    )

    assert reason in warning
    assert f"{len(settled)} cases are done, {4 - len(settled)} are run one by one" in warning
    assert all(result.actual == result.fixture.expected_output for result in settled.values())
    assert (len(settled) < 4, starts) == (True, 1)


def test_a_late_line_is_found_at_the_end(by_line):
    settled, [warning], _ = by_line(ANSWER + "\nprint('BYE')", cases("a", "b"))

    assert "unexpected line" in warning
    assert set(settled) <= {"c0", "c1"}


def test_a_greeting_shifts_no_answer_onto_another_case(by_line):
    settled, [warning], _ = by_line(ANSWER, cases("a", "b", "c"), before="print('Ready.', flush=True)\n")

    assert settled == {}
    assert "unexpected line" in warning


def test_once_out_of_step_an_answer_that_two_cases_expect_does_not_count(by_line):
    given = [fixture("yes", "SÍ", "a"), fixture("yeah", "SÍ", "b"), fixture("no", "NO", "c")]
    # The first answer is repeated and the second is wrong: compared line by line, all would seem right.
    body = "print({'yes': 'SÍ\\nSÍ', 'yeah': 'WRONG', 'no': 'NO'}[line.strip()], flush=True)"

    settled, warned, _ = by_line(body, given, before="import sys; sys.stdout.reconfigure(encoding='utf-8')\n")

    assert len(warned) == 1
    assert "b" not in settled


def test_a_program_that_does_not_read_times_out(by_line):
    settled, [warning], _ = by_line(
        ANSWER, [fixture("x" * 5_000_000, "X")], timeout_s=0.5, before="import time; time.sleep(600)\n"
    )

    assert settled == {}
    assert "within 0.5 seconds" in warning


@pytest.mark.parametrize("body", ["print('x' * 11_000_000, flush=True)", ANSWER + "\nprint('x' * 11_000_000)"])
def test_an_unfinished_line_is_out_of_step(body, by_line):
    _, [warning], _ = by_line(body, cases("a"))

    assert "longer than 10,000,000 bytes" in warning or "unexpected line" in warning


def test_a_buffered_program_answers_only_when_run_one_by_one(by_line, translator):
    buffered = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    given = cases("a", "b")

    settled, warned, _ = by_line("pass", given, timeout_s=0.5)

    assert (settled, len(warned)) == ({}, 1)
    assert [result.status for result in run(translator(buffered), given)] == ["PASS", "PASS"]


def test_a_program_that_cannot_be_run_line_by_line_stops_the_run():
    command = translator_command("/nowhere/translate", model=None, environment={}, timeout_s=1)

    with pytest.raises(ConfigError, match="cannot be run"):
        asyncio.run(run_line_by_line(command, cases("a"), match="exact", warn=print))


@pytest.mark.parametrize(
    ("text", "expected", "fits"),
    [("a", "b", True), ("a\n", "b\n", True), ("a\nb", "c", False), ("a", "b\nc", False), ("a\rb", "c", False)],
)
def test_only_cases_of_single_lines_run_in_one_process(text, expected, fits):
    assert fits_one_line(fixture(text, expected)) is fits


# Capture


def inputs(folder, *lines, name="inputs.tsv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_fixtures(path, with_expected=False)


def test_a_captured_file_keeps_order_comments_and_blank_lines_and_is_read_back(tmp_path):
    given = inputs(
        tmp_path, "# polyjudge likes these", "b\ten\tes\t two ", "", "# suite: preserve", "a\ten\tes\tone\told", "# end"
    )
    recorded = Recorded(command="t -u", model_sha256="12ab", versions={"polyjudge": "1", "translator": "t 2"})

    text = captured_text(given, {"a": "uno", "b": "dos"}, recorded)

    assert text.splitlines() == [
        "# polyjudge command: t -u",
        "# polyjudge model: 12ab",
        "# polyjudge version polyjudge: 1",
        "# polyjudge version translator: t 2",
        "# polyjudge likes these",
        "b\ten\tes\t two \tdos",
        "",
        "# suite: preserve",
        "a\ten\tes\tone\tuno",
        "# end",
    ]
    again = inputs(tmp_path, text.rstrip("\n"), name="again.tsv")
    assert again.recorded == recorded
    assert captured_text(again, {"a": "uno", "b": "dos"}, recorded) == text


def test_the_kind_of_suite_in_the_file_name_of_the_inputs_is_kept(tmp_path):
    given = inputs(tmp_path, "a\ten\tes\tX1", name="preserve-inputs.tsv")

    text = captured_text(given, {"a": "X1"}, Recorded(command="t"))

    assert text.splitlines()[1] == "# suite: preserve"
    assert (
        captured_text(inputs(tmp_path, text.rstrip("\n"), name="preserve.tsv"), {"a": "X1"}, Recorded(command="t"))
        == text
    )


@pytest.mark.parametrize("output", ["a\tb", "a\nb", "a\rb", "a\ufffdb"])
def test_an_output_with_tabs_line_breaks_or_invalid_utf_8_is_refused(output, tmp_path):
    with pytest.raises(DataError, match=r"inputs.tsv:2: the output of 'a' (has a tab or a line break|is not UTF-8)"):
        captured_text(inputs(tmp_path, "# note", "a\ten\tes\tone"), {"a": output}, Recorded())


def test_paths_are_reduced_to_names_and_the_model_to_its_hash(tmp_path):
    model = tmp_path / "model.bin"
    model.write_bytes(b"weights")
    command = translator_command(
        "/opt/x/translate --data=/home/me/data {source_lang} {model} 'a\n\tb'",
        model=model,
        environment={},
        timeout_s=1,
    )

    recorded = recorded_now(command, "t 2\u00a0beta ")

    assert recorded.command == "translate data {source_lang} {model} a b"
    assert recorded.model_sha256 == hashlib.sha256(b"weights").hexdigest()
    assert recorded.versions["translator"] == "t 2 beta"
    assert "polyjudge" in recorded.versions


def test_the_hash_of_a_folder_depends_on_names_and_contents(tmp_path):
    def digest(**files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        (folder / "sub").mkdir(parents=True)
        for name, content in files.items():
            (folder / "sub" / name).write_text(content, encoding="utf-8")
        command = translator_command("t {model}", model=folder, environment={}, timeout_s=1)
        return recorded_now(command).model_sha256

    assert digest(a="1", b="2") == digest(b="2", a="1")
    assert len({digest(a="1", b="2"), digest(a="2", b="1"), digest(a="1"), digest(c="1", b="2")}) == 4


def test_changes_since_the_capture_are_named():
    before = Recorded(command="t -a", model_sha256="a" * 64, versions={"polyjudge": "1", "translator": "2"})

    assert changes(before, before) == []
    assert changes(Recorded(), before) == []
    found_changes = changes(
        before, Recorded(command="t -b", model_sha256="b" * 64, versions={"polyjudge": "1", "translator": "3"})
    )
    assert [text.partition(",")[0] for text in found_changes] == [
        "captured with the command 't -a'",
        "captured with the model aaaaaaaaaaaa…",
        "captured with translator 2",
    ]
    assert "now none" in changes(before, Recorded(command="t -a"))[0]


# Audit


def findings(folder, *lines, name="translation.tsv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(audit_fixtures(read_fixtures(path), language_table()))


GOOD = (
    "a\ten\tes\tWhere is the nearest station, please?\t¿Dónde está la estación más cercana, por favor?",
    "b\tes\ten\t¿Cuánto cuesta el billete de ida y vuelta?\tHow much does the return ticket cost?",
    "c\ten\tth\tWhere is the nearest train station?\tสถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหน",
)


def test_a_sound_suite_has_no_findings(tmp_path):
    assert findings(tmp_path, "# phrases, see https://example.org", *GOOD) == []


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("wrong_script", "x\tth\ten\tสถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหน\tสถานีรถไฟอยู่ที่นี่ครับผม"),
        (
            "source_copied",
            "x\ten\tes\tThe weather is very nice today, is it not?\tThe weather is very nice today, is it not?",
        ),
        (
            "wrong_language",
            "x\ten\tes\tThe weather will be nice tomorrow.\tDas Wetter wird morgen schön sein, sagt man.",
        ),
        ("duplicate", GOOD[0].replace("a\t", "x\t", 1)),
        (
            "unsafe",
            "x\ten\tes\tOpen the file at /home/alice/notes.txt now\tAbre el archivo en /home/alice/notes.txt ahora",
        ),
        ("empty", "x\ten\tes\tHello there\t"),
    ],
)
def test_a_bad_case_is_found(kind, row, tmp_path):
    found = [each for each in findings(tmp_path, *GOOD, row) if not each.is_warning]

    assert kind in {each.kind for each in found}
    assert {(each.case_id, each.line) for each in found} == {("x", 4)}


def test_an_identifier_that_is_not_preserved_is_found(tmp_path):
    found = findings(tmp_path, "a\ten\tes\tERR_1042\tERR_1042", "b\ten\tes\tERR_7\tERR_8", name="preserve.tsv")

    assert [(each.case_id, each.kind) for each in found] == [("b", "not_preserved")]


def test_a_translation_suite_of_identifiers_gives_a_warning(tmp_path):
    found = findings(tmp_path, GOOD[0], *(f"i{n}\ten\tes\tERR_{n}\tERR_{n}" for n in range(3)))

    [padded] = [each for each in found if each.kind == "padded"]
    assert (padded.is_warning, padded.case_id) == (True, "")
    assert padded.message.startswith("3 of 4 cases are identifiers")


def test_an_unknown_language_gives_a_warning(tmp_path):
    [found] = findings(tmp_path, "a\ten\txx-none\tWhere is the station?\tblah blah")

    assert (found.kind, found.is_warning) == ("unknown_language", True)


def test_comments_are_audited_except_recorded_commands(tmp_path):
    found = findings(
        tmp_path,
        "# polyjudge command: curl -s localhost",
        "# polyjudge version translator: 1.2.3.4",
        "# polyjudge runs on 10.0.0.1",
        "# ask bob@firma.de",
        *GOOD,
    )

    assert [(each.kind, each.line) for each in found] == [("unsafe", 3), ("unsafe", 4)]
