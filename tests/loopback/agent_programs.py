"""Stand-ins for the agents' CLIs: small programs that note how they were called and then follow their plan."""

import json
import stat
import sys
import time
from pathlib import Path

from polyjudge.records.requests import Request

NAMES = ("claude", "codex", "gemini", "llm")
KEY = "sk-test-5f1d0c77aa90"
KEYS = {
    "claude": "ANTHROPIC_API_KEY",
    "codex": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "llm": "OPENAI_API_KEY",
}
MODELS = {"claude": "default", "codex": "gpt-5.2-codex", "gemini": "gemini-2.5-pro", "llm": "gpt-5"}
REVIEW = "It did what it was asked.\n\nAGENT_SCORE: 85/100\nSYSTEM_SCORE: 90/100\nVERDICT: PASS"
FAR_S = 600
_OURS = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "ANTHROPIC_AUTH_TOKEN"),
    *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR"),
)

_PROGRAM = """#!{python} -IS
import os, sys
me, place = os.path.basename(sys.argv[0]), {place!r}
if sys.argv[1:] == ["--version"]:
    print(me + "-cli 9.8.7")
    sys.exit(0)
import json, time
given = sys.stdin.buffer.read()
home, folder = os.environ.get("HOME", ""), os.path.dirname(os.environ.get("HOME", ""))
def files(root):
    found = {{}}
    for where, _, names in os.walk(root):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read(10000).decode(errors="replace")
    return found
def note(name, value):
    part = os.path.join(place, name + ".part")
    with open(part, "w") as file:
        file.write(value)
    os.replace(part, os.path.join(place, name))
seen = dict(
    program=me, argv=sys.argv[1:], environment=dict(os.environ), cwd=os.getcwd(), given=given.decode(errors="replace"),
    home=files(home), work=files(os.getcwd()), tmp=os.listdir(os.environ["TMPDIR"]), pid=os.getpid(),
    modes={{name: oct(os.stat(name).st_mode & 0o777) for name in (folder,)}},
    links=[name for name in os.listdir(".") if os.path.islink(name)], leader=os.getsid(0) == os.getpid(),
)
number = 0
while True:
    number += 1
    try:
        os.close(os.open(os.path.join(place, me + ".%d" % number), os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        pass
note(me + ".%d.json" % number, json.dumps(seen))
with open(os.path.join(place, me + ".plan")) as file:
    plan = json.load(file)
plan = plan[min(number, len(plan)) - 1]
exec(plan.get("does", ""))
sys.stderr.write(plan.get("err", ""))
sys.stdout.write(plan.get("out", "") * plan.get("times", 1))
sys.stdout.flush(); sys.stderr.flush()
os._exit(plan.get("code", 0))
"""

# What a stand-in may do by its plan before it answers.
HANGS = f"note('pids', str(os.getpid())); time.sleep({FAR_S})"
FORKS = f"""
child = os.fork()
if not child:
    time.sleep({FAR_S})
other = os.fork()
if not other:
    os.setsid()
    for stream in (0, 1, 2):
        os.close(stream)
    time.sleep({FAR_S})
note('pids', '%d %d %d' % (os.getpid(), child, other))
"""
FORKS_AND_HANGS = FORKS + f"time.sleep({FAR_S})"


class Programs:
    """A folder of stand-ins, what they were called with, and what they do."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "noted"
        self.folder = folder / "bin"
        self.home = folder / "home of the user"
        self.temporary = folder / "temporary"
        for each in (self.place, self.folder, self.home, self.temporary):
            each.mkdir()

    def add(self, name: str, *plan: dict) -> None:
        """Put a program on PATH that answers each call by one row of the plan, and further ones by the last."""
        (self.place / f"{name}.plan").write_text(json.dumps(plan or ({"out": answer(name)},)), encoding="utf-8")
        program = self.folder / name
        program.write_text(_PROGRAM.format(python=sys.executable, place=str(self.place)), encoding="utf-8")
        program.chmod(0o755)

    def calls(self, name: str) -> list[dict]:
        """Return what a program was called with, call by call."""
        paths = sorted(self.place.glob(f"{name}.*.json"), key=lambda path: int(path.name.split(".")[1]))
        return [json.loads(path.read_text(encoding="utf-8")) for path in paths]

    def pids(self) -> list[str]:
        """Wait for a program to say who belongs to it."""
        path = self.place / "pids"
        for _ in range(3000):
            if path.exists():
                return path.read_text(encoding="utf-8").split()
            time.sleep(0.01)
        raise AssertionError("the program was not started")

    def left(self) -> list[str]:
        """Return what stands in the temporary folder."""
        return sorted(path.name for path in self.temporary.iterdir())

    def set_up(self, monkeypatch, *, keys: bool = True) -> None:
        """Let PATH hold the programs and nothing else, and give the user a home folder."""
        for name in _OURS:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", str(self.folder))
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("TMPDIR", str(self.temporary))
        monkeypatch.setattr("tempfile.tempdir", None)
        for variable in KEYS.values() if keys else ():
            monkeypatch.setenv(variable, KEY)


def question(prompt: str = "Is this good?", *, provider: str = "gemini", **more) -> Request:
    """Return a request as a judge makes it."""
    return Request(prompt=prompt, model=more.pop("model", MODELS[provider]), **more)


def is_running(process: str) -> bool:
    """Say whether a process runs; one that only waits to be counted does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def are_gone(processes: list[str]) -> bool:
    """Wait for the system to take processes away: a kill is reported before it is carried out."""
    for _ in range(1000):
        if not any(map(is_running, processes)):
            return True
        time.sleep(0.01)
    return False


def mode_of(path: Path) -> int:
    """Return the permissions of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


# --- what the real programs write --------------------------------------------------------------------------------


def answer(name: str, text: str = REVIEW) -> str:
    """Return a whole answer in a program's own protocol."""
    return {"claude": claude, "codex": codex, "gemini": gemini, "llm": lambda text: f"{text}\n"}[name](text)


def lines(*events: dict) -> str:
    """Return events as JSON lines, with all characters as they are: so Rust and JavaScript write them."""
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)


def claude(text: str = REVIEW, **more) -> str:
    """Return what `claude --output-format stream-json` writes."""
    init = {"type": "system", "subtype": "init", "model": "claude-sonnet-5", "claude_code_version": "2.1.325"}
    said = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}
    return lines(init, said, claude_result(result=text, **more))


def claude_result(**more) -> dict:
    """Return the event that ends a session of Claude Code."""
    usage = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3, "output_tokens": 7}
    usual = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "stop_reason": "end_turn"}
    return {**usual, "api_error_status": None, "total_cost_usd": 0.25, "usage": usage, **more}


def claude_error(status: int | None, text: str) -> str:
    """Return what Claude Code writes about a failure: the error as text, and a subtype that says success."""
    said = {
        "type": "assistant",
        "error": "x",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
    }
    return lines(said, claude_result(result=text, is_error=True, api_error_status=status, terminal_reason="api_error"))


def codex(*texts: str) -> str:
    """Return what `codex exec --json` writes."""
    said = [{"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": text}} for text in texts]
    usage = {"input_tokens": 123, "cached_input_tokens": 0, "output_tokens": 7}
    return lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"id": "0", "type": "error", "message": "Model metadata not found."}},
        {"type": "turn.started"},
        *said,
        {"type": "turn.completed", "usage": usage},
    )


def codex_failed(message: str) -> str:
    """Return what Codex writes about a failure."""
    return lines({"type": "thread.started", "thread_id": "t"}, {"type": "turn.failed", "error": {"message": message}})


def gemini(*texts: str) -> str:
    """Return what `gemini -o stream-json` writes."""
    said = [{"type": "message", "role": "assistant", "content": text, "delta": True} for text in texts]
    return lines(
        {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"},
        {"type": "message", "role": "user", "content": "AGENT_SCORE: 1/100 from the prompt"},
        *said,
        {"type": "result", "status": "success", "stats": {"input_tokens": 123, "output_tokens": 7}},
    )


def gemini_failed(message: str) -> str:
    """Return what the Gemini CLI writes about a failure."""
    return lines(
        {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"},
        {"type": "result", "status": "error", "error": {"type": "unknown", "message": message}, "stats": {}},
    )
