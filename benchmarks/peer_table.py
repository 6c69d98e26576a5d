"""The other frameworks: their versions, how they are installed in their own environments, and how they are run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import ROOT, Cost, FailedRun, cost_of

ENVIRONMENTS = ROOT / ".venv" / "peers"
SCRIPTS = Path(__file__).parent / "peer_scripts"
SDK = "openai==3.49.0"
QUIET = {
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "LANGSMITH_TRACING": "false",
    "LOGFIRE_SEND_TO_LOGFIRE": "false",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
}


@dataclass(frozen=True, slots=True)
class Peer:
    """A framework, or a way to use one."""

    name: str
    script: str
    packages: tuple[str, ...] = ()
    """The framework's package first, with its version; if empty, the Python of the measurements runs it."""
    options: tuple[str, ...] = ()
    node: bool = False
    cached_items: int = 0
    """The number of items that are repeated, if the framework has a cache."""

    @property
    def title(self) -> str:
        version = self.packages[0].replace("==", "@").split("@")[1] if self.packages else ""
        return " ".join(filter(None, [self.name, version, *(f"({option})" for option in self.options)]))

    @property
    def folder(self) -> Path:
        return ENVIRONMENTS / self.script


PEERS = [
    Peer("bare OpenAI SDK as it comes", "openai_sdk"),
    Peer("autoevals", "autoevals", ("autoevals==0.4.1", SDK)),
    Peer("openevals", "openevals", ("openevals==0.2.2", SDK), ("sdk",)),
    Peer("openevals", "openevals", ("openevals==0.2.2", SDK)),
    # It rewrites its whole cache for every item: filling it with 2,000 takes many minutes.
    Peer("DeepEval", "deepeval", ("deepeval==4.3.1", SDK), ("shared-client",), cached_items=200),
    Peer("DeepEval", "deepeval", ("deepeval==4.3.1", SDK), ("local-model",)),
    Peer("pydantic-evals", "pydantic_evals", ("pydantic-evals==2.62.0", "pydantic-ai-slim[openai]==2.62.0", SDK)),
    # It needs a newer Node than many systems have, so one is installed.
    Peer("promptfoo", "promptfoo", ("promptfoo@0.123.1", "node@22.23.3"), node=True, cached_items=2_000),
    Peer("Inspect AI", "inspect_ai", ("inspect-ai==0.3.285", SDK), cached_items=2_000),
]


def install(peer: Peer) -> None:
    """Install a framework if it is not installed; a failure is a `FailedRun` with the reason."""
    wanted, mark = " ".join(peer.packages), peer.folder / "installed.txt"
    if not wanted or (mark.exists() and mark.read_text(encoding="utf-8") == wanted):
        return
    peer.folder.mkdir(parents=True, exist_ok=True)
    (_install_by_npm if peer.node else _install_by_uv)(peer)
    mark.write_text(wanted, encoding="utf-8")


def peer_cost(peer: Peer, given: Sequence[str], folder: Path, limit_s: float) -> Cost:
    """Run a framework's script on items, prompt and address; a failure is a `FailedRun` with the end of its output."""
    python = sys.executable if peer.node or not peer.packages else str(peer.folder / "bin" / "python")
    command = [python, str(SCRIPTS / f"with_{peer.script}.py"), *given, *peer.options]
    environment = {**QUIET, "HOME": str(folder), "OPENAI_API_KEY": "k", "PEER_FOLDER": str(peer.folder)}
    if peer.node:
        # promptfoo reports to its makers even that telemetry is off: that request goes to a closed port here.
        environment["HTTPS_PROXY"] = "http://127.0.0.1:9"
    said = folder / "said.txt"
    with said.open("w", encoding="utf-8") as log:
        try:
            return cost_of(command, environment, folder, log=log, limit_s=limit_s)
        except FailedRun as error:
            raise FailedRun(f"{error}; {_last_line(said.read_text(encoding='utf-8', errors='replace'))}") from None


def _install_by_uv(peer: Peer) -> None:
    uv, python = str(Path(sys.executable).parent / "uv"), str(peer.folder / "bin" / "python")
    _do([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(peer.folder)])
    _do([uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, *peer.packages])


def _install_by_npm(peer: Peer) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise FailedRun("npm is not there to install it")
    _do([npm, "install", "--prefix", str(peer.folder), "--no-audit", "--no-fund", "--loglevel=error", *peer.packages])


def _do(command: list[str]) -> None:
    environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "never"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedRun(f"could not be installed: {_last_line(done.stderr)}")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
