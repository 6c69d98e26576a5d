"""Call a model through an agent's command-line program."""

import asyncio
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from polyjudge.concurrency.sync import PerLoop
from polyjudge.errors import ConfigError, PolyjudgeError, RefusedError, TransientError
from polyjudge.processes import SAFE_GIT, run_process
from polyjudge.records.requests import PARAMETERS, ModelName, Reply, Request

from .agent_definitions import AgentCli, credential_of, key_of, load_agent, need_access, program_of
from .agent_protocols import DIALECTS, Output
from .base import Stopwatch
from .redacting import REDACTED, without_keys
from .services import origin_of

DEFAULT_TIMEOUT_S = 300.0
_OWN_MODEL = "default"
"""The model name that leaves the choice to the CLI."""
_PASSED = (
    # What a program needs to find other programs, to write text, and to use a proxy.
    *("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"),
)
_VERSION_TIMEOUT_S = 60.0
_STDERR_SIZE = 600
_SHORTEST_SECRET = 8
_SHORTEST_RANDOM = 20
NOT_IN_WORKSPACE = {".env", ".git", ".polyjudge", "eval-reviews"}
"""Parts of a workspace that a judge must not see: keys, earlier verdicts, and what git would execute."""
Result = TypeVar("Result")


class AgentProvider:
    """Calls an agent's CLI: a process for each request, in private folders that are then removed."""

    def __init__(self, name: ModelName, *, timeout_s: float | None = None, workspace: Path | None = None) -> None:
        self.origin = origin_of(name.provider)
        self._name = name
        self._agent = load_agent(name.provider)
        self._program = program_of(self._agent).absolute()
        need_access(self._agent, str(name))
        self._workspace = workspace
        self._timeout_s = timeout_s or DEFAULT_TIMEOUT_S
        self._slots = PerLoop(lambda: asyncio.Semaphore(self._agent.at_once), _nothing_to_close)
        self._version: str | None = None
        self._secrets = _secrets(self._agent)

    async def complete(self, request: Request) -> Reply:
        """Send a request, and return the reply."""
        prompt = f"{request.system}\n\n{request.prompt}" if request.system else request.prompt
        stdin = DIALECTS[self._agent.dialect].written(prompt).encode(errors="surrogatepass")
        self._check_size(prompt, stdin)
        async with self._slots.get():
            folder = Path(tempfile.mkdtemp(prefix="polyjudge-"))
            try:
                return await self._call(request, stdin, folder)
            finally:
                _remove(folder)

    def _check_size(self, prompt: str, stdin: bytes) -> None:
        """Raise an error for a prompt that the CLI would refuse or truncate."""
        agent, size = self._agent, ""
        if agent.most_characters is not None and len(prompt) > agent.most_characters:
            size = f"{len(prompt):,} characters; {agent.program} accepts {agent.most_characters:,}"
        if agent.most_bytes is not None and len(stdin) > agent.most_bytes:
            size = f"{len(stdin):,} bytes; {agent.program} accepts {agent.most_bytes:,}"
        if size:
            raise RefusedError(f"the prompt is too long: {size}")

    async def _call(self, request: Request, stdin: bytes, folder: Path) -> Reply:
        watch, agent = Stopwatch(), self._agent
        environment = await _uninterrupted(asyncio.to_thread(self._prepare, folder, request.model))
        if self._version is None:
            self._version = await self._read_version(environment, folder)
        ended = await run_process(
            self._command(request.model),
            stdin,
            timeout_s=self._timeout_s,
            environment=environment,
            folder=folder / "work",
            private=folder,
        )
        out, err = ended.out.decode(errors="replace"), self._without_secrets(ended.err.decode(errors="replace"))
        try:
            answer = DIALECTS[agent.dialect].read(Output(out, err.strip()[-_STDERR_SIZE:], ended.code), self._name)
        except PolyjudgeError as error:
            message = without_keys(self._without_secrets(str(error)), filter(_is_random, self._secrets))
            error.args = (message, *error.args[1:])
            raise
        reply = Reply(
            text=self._without_secrets(answer.text),
            model=answer.model or request.model,
            finish=answer.finish,
            dropped=tuple(name for name in sorted(PARAMETERS) if getattr(request, name) is not None),
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cost_usd=answer.cost_usd,
            client=f"{agent.program} {answer.version or self._version}".strip(),
        )
        return watch.stamped(reply)

    def _command(self, model: str) -> list[str]:
        agent = self._agent
        tools = agent.without_tools if self._workspace is None else agent.with_workspace
        logged_in = agent.login is not None and key_of(agent) is None and credential_of(agent) is not None
        with_key = () if logged_in else agent.with_key
        chosen = () if model in ("", _OWN_MODEL) else tuple(part.replace("{model}", model) for part in agent.model)
        return [str(self._program), *agent.arguments, *with_key, *tools, *chosen, *agent.last]

    def _prepare(self, folder: Path, model: str) -> dict[str, str]:
        """Create the private folders, and return the environment, which has only what is listed here."""
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
            _new_file(home, agent.login.file).write_bytes(credential.read_bytes())
        values = {"{home}": str(home), "{base_url}": self.origin.base_url, "{model}": model}
        values["{timeout_ms}"] = str(round(self._timeout_s * 1000))
        for name, text in files.items():
            _new_file(home, name).write_text(_filled(text, values, in_quotes=True), encoding="utf-8")
        environment = {name: os.environ[name] for name in _PASSED if os.environ.get(name)}
        environment |= {"HOME": str(home), "TMPDIR": str(folder / "tmp")}
        environment |= {**SAFE_GIT, "GIT_CEILING_DIRECTORIES": str(folder)}
        environment |= {name: _filled(text, values) for name, text in agent.environment.items()}
        if agent.base_url_variable and os.environ.get(agent.base_url_variable):
            environment[agent.base_url_variable] = self.origin.base_url
        return environment | ({key[0]: key[1]} if key is not None else {})

    async def _read_version(self, environment: Mapping[str, str], folder: Path) -> str:
        """Return the program's version; called once, because some programs take seconds to start."""
        private = folder / "version"
        private.mkdir()
        limit_s = min(_VERSION_TIMEOUT_S, self._timeout_s)
        try:
            ended = await run_process(
                [str(self._program), "--version"],
                b"",
                timeout_s=limit_s,
                environment=environment,
                folder=folder / "work",
                private=private,
            )
        except TransientError:  # it hangs; nothing was charged
            return "of unknown version"
        words = ended.out.decode(errors="replace").split()
        return next((word for word in words if word[:1].isdigit()), "")

    def _without_secrets(self, text: str) -> str:
        """Return a CLI's output without the key or the tokens of a login, which an error message may contain."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


def _new_file(home: Path, name: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _filled(text: str, values: Mapping[str, str], *, in_quotes: bool = False) -> str:
    for name, value in values.items():
        text = text.replace(name, json.dumps(value)[1:-1] if in_quotes else value)
    return text


def _copy_workspace(workspace: Path, work: Path) -> None:
    """Copy a folder without `NOT_IN_WORKSPACE`, links out of the folder, and special files."""
    root = workspace.resolve()

    def left_out(folder: str, names: list[str]) -> list[str]:
        paths = {name: Path(folder, name) for name in names}
        return [name for name, path in paths.items() if name in NOT_IN_WORKSPACE or _is_left_out(path, root)]

    try:
        shutil.copytree(workspace, work, symlinks=True, ignore=left_out)
    except (OSError, shutil.Error) as error:
        raise ConfigError(f"the workspace {str(workspace)!r} cannot be copied: {error}") from None


def _is_left_out(path: Path, root: Path) -> bool:
    """Return whether a path is a link out of the folder, an absolute link, or neither a file nor a folder."""
    if path.is_symlink():
        return path.readlink().is_absolute() or not path.resolve().is_relative_to(root)
    return not path.is_dir() and not path.is_file()


def _secrets(agent: AgentCli) -> list[str]:
    """Return what must not be shown: the key, and every long word in the credentials of a login."""
    key, credential = key_of(agent), credential_of(agent)
    found = [key[1]] if key is not None else []
    if credential is not None:
        found += re.findall(r"[\w./+=-]{12,}", credential.read_text(encoding="utf-8", errors="replace"))
    return [secret for secret in found if len(secret) >= _SHORTEST_SECRET]


def _is_random(secret: str) -> bool:
    """Return whether a secret is random; a file of credentials also contains names of fields and addresses."""
    return len(secret) >= _SHORTEST_RANDOM and any(char.isdigit() for char in secret) and "/" not in secret


async def _uninterrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """Wait for work in a thread to end even if cancelled, because its folder must not be removed before."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _remove(folder: Path) -> None:
    """Remove a folder, even if parts of it are read-only."""

    def make_writable(remove: Callable[..., Any], path: str, _: object) -> None:
        with suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            remove(path)

    shutil.rmtree(folder, onerror=make_writable)


async def _nothing_to_close(_: object) -> None:
    pass
