"""Agent CLIs as providers: one subprocess layer for all of them, which leaves nothing behind."""

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from polyjudge.errors import ConfigError, RefusedError
from polyjudge.programs import run_process
from polyjudge.records import Reply, Request

from .addresses import origin_of
from .agent_dialects import DIALECTS, Output
from .agent_files import credential_of, key_of, load_agent, need_access, program_of
from .naming import ModelName
from .per_loop import PerLoop
from .stopwatch import Stopwatch

DEFAULT_TIMEOUT_S = 300.0
ITS_OWN = "default"
"""The model name that leaves the choice to the CLI."""
_PASSED = (
    # What a program needs to find others, to write text, and to get through a company's proxy.
    *("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"),
)
_NOT_TAKEN = ("max_tokens", "schema", "temperature")
_VERSION_TIMEOUT_S = 60.0
_SAID = 600


class AgentProvider:
    """Asks an agent through its CLI: a process for each question, in private folders that are gone afterwards."""

    def __init__(self, name: ModelName, *, timeout_s: float | None = None, workspace: Path | None = None) -> None:
        self.origin = origin_of(name.provider)
        self._name = name
        self._agent = load_agent(name.provider)
        self._program = program_of(self._agent)
        need_access(self._agent, str(name))
        if workspace is not None and not self._agent.with_workspace:
            raise ConfigError(f"{name.provider} cannot be kept to a workspace: it could read any file of the machine")
        self._workspace = workspace
        self._timeout_s = timeout_s or DEFAULT_TIMEOUT_S
        self._places = PerLoop(lambda: asyncio.Semaphore(self._agent.at_once), _nothing_to_close)
        self._version: str | None = None

    async def complete(self, request: Request) -> Reply:
        """Ask, and wait for the answer."""
        prompt = f"{request.system}\n\n{request.prompt}" if request.system else request.prompt
        given = DIALECTS[self._agent.dialect].written(prompt).encode(errors="surrogatepass")
        self._check_size(prompt, given)
        async with self._places.get():
            folder = Path(tempfile.mkdtemp(prefix="polyjudge-"))
            try:
                return await self._ask(request, given, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _check_size(self, prompt: str, given: bytes) -> None:
        """Refuse what the CLI would refuse or, worse, cut."""
        agent, told = self._agent, ""
        if agent.most_characters is not None and len(prompt) > agent.most_characters:
            told = f"{len(prompt):,} characters, and {agent.program} takes {agent.most_characters:,}"
        if agent.most_bytes is not None and len(given) > agent.most_bytes:
            told = f"{len(given):,} bytes, and {agent.program} takes {agent.most_bytes:,}"
        if told:
            raise RefusedError(f"the prompt has {told}")

    async def _ask(self, request: Request, given: bytes, folder: Path) -> Reply:
        watch, agent = Stopwatch(), self._agent
        environment = await asyncio.to_thread(self._prepare, folder, request.model)
        (folder / "prompt").write_bytes(given)
        if self._version is None:
            self._version = await self._told_version(environment, folder)
        ended = await run_process(
            self._command(request.model),
            folder / "prompt",
            timeout_s=self._timeout_s,
            environment=environment,
            folder=folder / "work",
            thorough=True,
        )
        out, said = (self._without_key(stream.decode(errors="replace")) for stream in (ended.out, ended.err))
        answer = DIALECTS[agent.dialect].read(Output(out, said.strip()[-_SAID:], ended.code), self._name)
        reply = Reply(
            text=answer.text,
            model=answer.model or request.model,
            finish=answer.finish,
            dropped=tuple(name for name in _NOT_TAKEN if getattr(request, name) is not None),
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cost_usd=answer.cost_usd,
            client=f"{agent.program} {answer.version or self._version}".strip(),
        )
        return watch.stamped(reply)

    def _command(self, model: str) -> list[str]:
        agent = self._agent
        tools = agent.without_tools if self._workspace is None else agent.with_workspace
        chosen = () if model in ("", ITS_OWN) else tuple(part.replace("{model}", model) for part in agent.model)
        return [str(self._program), *agent.arguments, *tools, *chosen, *agent.last]

    def _prepare(self, folder: Path, model: str) -> dict[str, str]:
        """Make the private folders and return the environment, which is built from nothing."""
        agent, home, work = self._agent, folder / "home", folder / "work"
        for each in (home, folder / "tmp"):
            each.mkdir()
        if self._workspace is None:
            work.mkdir()
        else:
            _copy_workspace(self._workspace, work)
        key, credential = key_of(agent), credential_of(agent)
        files = agent.files
        if key is None and credential is not None and agent.login is not None:
            files = agent.login.files or files
            _place(home, agent.login.file).write_bytes(credential.read_bytes())
        places = {"{home}": str(home), "{base_url}": self.origin.base_url, "{model}": model}
        places["{timeout_ms}"] = str(round(self._timeout_s * 1000))
        for name, text in files.items():
            _place(home, name).write_text(_filled(text, places, in_quotes=True), encoding="utf-8")
        environment = {name: os.environ[name] for name in _PASSED if os.environ.get(name)}
        environment |= {"HOME": str(home), "TMPDIR": str(folder / "tmp")}
        environment |= {name: _filled(text, places) for name, text in agent.environment.items()}
        if agent.base_url_variable and os.environ.get(agent.base_url_variable):
            environment[agent.base_url_variable] = self.origin.base_url
        return environment | ({key[0]: key[1]} if key is not None else {})

    async def _told_version(self, environment: Mapping[str, str], folder: Path) -> str:
        """Return what the program says of its version; once, since some take seconds to start."""
        command = [str(self._program), "--version"]
        ended = await run_process(command, b"", timeout_s=_VERSION_TIMEOUT_S, environment=environment, folder=folder)
        words = ended.out.decode(errors="replace").split()
        return next((word for word in words if word[:1].isdigit()), "")

    def _without_key(self, text: str) -> str:
        """Return what a CLI says, less our key: it may say it in an error."""
        key = key_of(self._agent)
        return text if key is None else text.replace(key[1], "•••")


def _place(home: Path, name: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _filled(text: str, places: Mapping[str, str], *, in_quotes: bool = False) -> str:
    for place, value in places.items():
        text = text.replace(place, json.dumps(value)[1:-1] if in_quotes else value)
    return text


def _copy_workspace(workspace: Path, work: Path) -> None:
    """Copy a folder; links that lead out of it are left out, so that nothing else can be read through them."""
    root = workspace.resolve()

    def leading_out(folder: str, names: list[str]) -> list[str]:
        paths = {name: Path(folder, name) for name in names}
        return [name for name, path in paths.items() if path.is_symlink() and not path.resolve().is_relative_to(root)]

    try:
        shutil.copytree(workspace, work, symlinks=True, ignore=leading_out)
    except (OSError, shutil.Error) as error:
        raise ConfigError(f"the workspace {str(workspace)!r} cannot be copied: {error}") from None


async def _nothing_to_close(_: object) -> None:
    pass
