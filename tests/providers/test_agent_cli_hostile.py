"""Agent programs with hostile input, unusual output, and interruptions."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.loopback.agent_programs import (
    FORKS_AND_HANGS,
    HANGS,
    KEYS,
    MODELS,
    REVIEW,
    Programs,
    answer,
    claude,
    codex_failed,
    gemini,
    is_running,
    lines,
    question,
)

from polyjudge.cli import main
from polyjudge.errors import PolyjudgeError, TransientError
from polyjudge.providers.agent_protocols import DIALECTS, Output
from polyjudge.providers.registry import open_provider
from polyjudge.records.requests import ModelName

FORK_THAT_HOLDS_THE_PIPES = """
other = os.fork()
if not other:
    os.setsid()
    time.sleep(20)
    os._exit(0)
note('pids', '%d %d' % (os.getpid(), other))
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    made = Programs(tmp_path)
    made.set_up(monkeypatch)
    for name in ("claude", "gemini", "codex"):
        made.add(name)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("session.txt").write_text("user: do it\nagent: done\n", encoding="utf-8")
    return made


def ask(name, prompt="q", timeout_s=60, workspace=None):
    provider = open_provider(ModelName(name, MODELS[name]), timeout_s=timeout_s, workspace=workspace)
    return asyncio.run(provider.complete(question(prompt, provider=name)))


def judge(*arguments):
    return main(["transcript", "judge", "session.txt", *arguments])


def still_running(programs):
    running = [each for each in programs.pids() if is_running(each)]
    for each in running:
        os.kill(int(each), signal.SIGKILL)
    return running


def test_gemini_does_not_read_files_above_its_folder(programs):
    ask("gemini")
    work = programs.calls("gemini")[0]["work"]
    assert work.get(".env") == "" or "ignoreLocalEnv" in programs.calls("gemini")[0]["home"][".gemini/settings.json"]


@pytest.mark.slow
def test_a_timeout_does_not_wait_for_a_child_that_left_the_group_and_holds_the_pipes(programs):
    programs.add("gemini", {"does": FORK_THAT_HOLDS_THE_PIPES + "time.sleep(600)"})
    with pytest.raises(TransientError):
        ask("gemini", timeout_s=2)
    other = programs.pids()[1]
    # today the call returns only when the child ends by itself
    assert (time.time() - (programs.place / "pids").stat().st_mtime) < 15, other


def test_an_answer_counts_though_a_child_that_left_the_group_holds_the_pipes(programs):
    programs.add("gemini", {"does": FORK_THAT_HOLDS_THE_PIPES, "out": gemini(REVIEW)})
    assert ask("gemini", timeout_s=5).text == REVIEW


@pytest.mark.slow
@pytest.mark.parametrize("_", range(3))
def test_a_cancellation_while_the_workspace_is_copied_leaves_no_file_and_no_credential(programs, monkeypatch, _):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    (programs.home / ".claude").mkdir()
    (programs.home / ".claude/.credentials.json").write_text("{}")
    Path("files").mkdir()
    for number in range(4000):
        Path("files", str(number)).write_text("x")

    async def cancelled():
        provider = open_provider(ModelName("claude", "default"), workspace=Path("files"))
        task = asyncio.create_task(provider.complete(question(provider="claude")))
        while not any(programs.temporary.glob("*/work/*")):  # noqa: ASYNC110 - a thread copies
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    assert programs.left() == []


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_a_line_of_json_ends_with_a_newline_and_with_nothing_else(name, sign):
    out = answer(name, f"It said{sign}no.\n{REVIEW}")
    assert DIALECTS[name].read(Output(out, "", 0), ModelName(name, "m")).text == f"It said{sign}no.\n{REVIEW}"


def test_no_piece_of_an_answer_of_gemini_is_lost(programs, capsys):
    pieces = (
        "AGENT_SCORE: 90/100\nSYSTEM_SCORE: 90/100\n",
        "on second thought\u2028AGENT_SCORE: 10/100\n",
        "VERDICT: FAIL_AGENT",
    )
    programs.add("gemini", {"out": gemini(*pieces)})
    judge("--judge=gemini")
    assert "Agent 10/100" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("codex", {"type": "turn.failed", "error": "boom"}),
        ("codex", {"type": "item.completed", "item": "x"}),
        ("codex", {"type": "turn.completed", "usage": [1]}),
        ("claude", {"type": "result", "is_error": True, "errors": 5}),
        ("claude", {"type": "result", "is_error": True, "api_error_status": "429", "result": "x"}),
        ("gemini", {"type": "result", "status": "error", "error": "boom"}),
        ("gemini", {"type": "result", "status": "success", "stats": "s"}),
    ],
)
def test_malformed_events_are_an_error_of_ours(name, event):
    with pytest.raises(PolyjudgeError):
        DIALECTS[name].read(Output(lines(event), "", 0), ModelName(name, "m"))


def test_content_that_is_not_text_is_an_error():
    odd = lines({"type": "message", "role": "assistant", "content": None}, {"type": "result", "status": "success"})
    with pytest.raises(PolyjudgeError):
        DIALECTS["gemini"].read(Output(odd, "", 0), ModelName("gemini", "m"))


def test_half_a_character_in_a_review_does_not_crash(programs):
    programs.add("gemini", {"out": gemini(REVIEW).replace("It did", "\\ud800 It did")})
    assert judge("--judge=gemini") == 0


def test_a_token_of_a_login_is_not_passed_on(programs, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_API_KEY")
    (programs.home / ".codex").mkdir()
    (programs.home / ".codex/auth.json").write_text('{"tokens": {"access_token": "TOKEN-abc123456789"}}')
    programs.add("codex", {"out": codex_failed("bad token TOKEN-abc123456789"), "code": 1})
    judge("--judge=codex")
    assert "TOKEN-abc" not in capsys.readouterr().out


def test_a_link_into_the_workspace_by_its_whole_path_does_not_lead_out_of_the_copy(programs):
    files = Path("files").absolute()
    files.mkdir()
    (files / "a").write_text("x")
    (files / "link").symlink_to(files / "a")
    programs.add("claude", {"out": claude(), "does": "note('led', os.path.realpath('link'))"})
    ask("claude", workspace=files)
    assert not (programs.place / "led").read_text().startswith(str(files))


def test_the_workspace_has_no_files_of_ours(programs):
    Path(".env").write_text("OPENAI_API_KEY=sk-other\n")
    assert judge("--workspace", ".") == 0
    assert judge("--workspace", ".") == 0
    assert len(programs.calls("claude")) == 1
    assert set(programs.calls("claude")[0]["work"]) == {"session.txt"}


def test_output_that_cannot_be_written_is_reported_before_any_call(programs):
    Path("file").write_text("in the way")
    assert judge("--judge=gemini", "--output", "file", "--cache", "none") == 2
    assert programs.calls("gemini") == []


def test_long_names_of_scenario_and_model_together_still_make_a_file(programs):
    assert judge(f"--judge=gemini/{'m' * 100},codex", "--scenario", "s" * 200) == 0


def test_a_second_cancellation_leaves_no_process_running(programs):
    programs.add("gemini", {"does": FORKS_AND_HANGS})

    async def cancelled():
        task = asyncio.create_task(open_provider(ModelName("gemini", "m")).complete(question()))
        while not (programs.place / "pids").exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)

    asyncio.run(cancelled())
    assert not still_running(programs)


@pytest.mark.slow
def test_a_check_that_is_terminated_leaves_nothing(programs, monkeypatch):
    for variable in set(KEYS.values()):
        monkeypatch.delenv(variable)
    (programs.home / ".gemini").mkdir()
    (programs.home / ".gemini/oauth_creds.json").write_text("{}")
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    programs.add("gemini", {"does": HANGS})
    process = subprocess.Popen([sys.executable, "-m", "polyjudge", "providers", "--check"], stdout=-3, stderr=-3)
    programs.pids()
    process.terminate()
    process.wait()
    assert not still_running(programs)
    assert programs.left() == []


def asking_its_version(programs, does):
    path = programs.folder / "gemini"
    path.write_text(path.read_text().replace('    print(me + "-cli 9.8.7")\n', does))


@pytest.mark.slow
def test_reading_the_version_has_the_timeout_of_a_call(programs):
    asking_its_version(programs, "    import time; time.sleep(15)\n")
    started = time.time()
    ask("gemini", timeout_s=2)
    assert time.time() - started < 12


def test_processes_started_by_the_version_call_are_ended(programs):
    does = (
        "    import time\n    child = os.fork()\n    if not child:\n        os.setsid()\n"
        "        [os.close(each) for each in (0, 1, 2)]\n        time.sleep(60)\n"
        "    open(place + '/pids', 'w').write(str(child)); time.sleep(.3)\n"
    )
    asking_its_version(programs, does)
    ask("gemini")
    assert not still_running(programs)


def test_the_end_of_stderr_is_reported_as_the_reason(programs):
    programs.add("gemini", {"err": "    at frame (file.js:1:1)\n" * 100 + "the reason", "code": 41})
    with pytest.raises(PolyjudgeError, match=r"the reason.*41"):
        ask("gemini")


def test_much_noise_on_stderr_does_not_affect_an_answer(programs):
    programs.add("gemini", {"out": gemini(REVIEW), "does": "sys.stderr.write('debug line\\n' * 1_100_000)"})
    assert ask("gemini").text == REVIEW


def test_a_missing_judge_does_not_stop_the_others(programs):
    judge("--judge=gemini,llm")
    assert len(programs.calls("gemini")) == 1


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_workspace_that_cannot_be_given_is_wrong_usage_also_without_the_program(programs, more):
    if not more:
        (programs.folder / "gemini").unlink()
    assert judge("--judge=gemini", "--workspace", ".", *more) == 2


def test_an_interruption_counts_and_shows_what_was_answered_in_any_order(programs):
    programs.add("gemini", {"does": HANGS})
    command = [sys.executable, "-m", "polyjudge", "transcript", "judge", "session.txt", "--judge=gemini,codex"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    programs.pids()
    while not any(path.stat().st_size for path in Path("eval-reviews").glob("*.json")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "Judge [codex]: Agent 85/100" in out
    assert "1 of 2 judges have not answered" in err


def test_a_program_in_a_relative_folder_of_path_is_run(programs, monkeypatch):
    monkeypatch.setenv("PATH", "../bin")
    assert ask("gemini").text == REVIEW


@pytest.mark.parametrize("key", ["test", "result", "1"])
def test_a_dummy_key_is_not_removed_from_the_answer(programs, monkeypatch, key):
    monkeypatch.setenv("GEMINI_API_KEY", key)
    programs.add("gemini", {"out": gemini(f"All tests pass.\n{REVIEW}")})
    assert ask("gemini").text == f"All tests pass.\n{REVIEW}"


def test_the_prompt_with_a_workspace_does_not_say_that_there_is_only_text(programs):
    Path("files").mkdir()
    judge("--workspace", "files")
    arguments = " ".join(programs.calls("claude")[0]["argv"])
    assert "nothing but the text" not in arguments
    assert "--max-turns 3 " not in arguments
