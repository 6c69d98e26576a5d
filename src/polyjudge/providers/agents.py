"""Ask a model through an agent's command-line program."""

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
ITS_OWN = "default"
"""The model name that leaves the choice to the CLI."""
_PASSED = (
    # What a program needs to find others, to write text, and to get through a company's proxy.
    *("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"),
)
_VERSION_TIMEOUT_S = 60.0
_SAID = 600
_SHORTEST_SECRET = 8
_SHORTEST_RANDOM = 20
NOT_IN_WORKSPACE = {".env", ".git", ".polyjudge", "eval-reviews"}
"""What a workspace may hold and a judge must not see: keys, earlier verdicts, and what git would run."""
Result = TypeVar("Result")


class AgentProvider:
    """Asks an agent through its CLI: a process for each question, in private folders that are gone afterwards."""

    def __init__(self, name: ModelName, *, timeout_s: float | None = None, workspace: Path | None = None) -> None:
        self.origin = origin_of(name.provider)
        self._name = name
        self._agent = load_agent(name.provider)
        self._program = program_of(self._agent).absolute()
        need_access(self._agent, str(name))
        self._workspace = workspace
        self._timeout_s = timeout_s or DEFAULT_TIMEOUT_S
        self._places = PerLoop(lambda: asyncio.Semaphore(self._agent.at_once), _nothing_to_close)
        self._version: str | None = None
        self._secrets = _secrets(self._agent)

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
                _remove(folder)

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
        environment = await _whole(asyncio.to_thread(self._prepare, folder, request.model))
        if self._version is None:
            self._version = await self._told_version(environment, folder)
        ended = await run_process(
            self._command(request.model),
            given,
            timeout_s=self._timeout_s,
            environment=environment,
            folder=folder / "work",
            private=folder,
        )
        out, said = ended.out.decode(errors="replace"), self._without_secrets(ended.err.decode(errors="replace"))
        try:
            answer = DIALECTS[agent.dialect].read(Output(out, said.strip()[-_SAID:], ended.code), self._name)
        except PolyjudgeError as error:
            told = without_keys(self._without_secrets(str(error)), filter(_is_random, self._secrets))
            error.args = (told, *error.args[1:])
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
        alone = () if logged_in else agent.with_key
        chosen = () if model in ("", ITS_OWN) else tuple(part.replace("{model}", model) for part in agent.model)
        return [str(self._program), *agent.arguments, *alone, *tools, *chosen, *agent.last]

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
        environment |= {**SAFE_GIT, "GIT_CEILING_DIRECTORIES": str(folder)}
        environment |= {name: _filled(text, places) for name, text in agent.environment.items()}
        if agent.base_url_variable and os.environ.get(agent.base_url_variable):
            environment[agent.base_url_variable] = self.origin.base_url
        return environment | ({key[0]: key[1]} if key is not None else {})

    async def _told_version(self, environment: Mapping[str, str], folder: Path) -> str:
        """Return what the program says of its version; once, since some take seconds to start."""
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
        except TransientError:  # it hangs, and nothing was charged
            return "of unknown version"
        words = ended.out.decode(errors="replace").split()
        return next((word for word in words if word[:1].isdigit()), "")

    def _without_secrets(self, text: str) -> str:
        """Return what a CLI says, less the key or the tokens of a login: it may say them in an error."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


def _place(home: Path, name: str) -> Path:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _filled(text: str, places: Mapping[str, str], *, in_quotes: bool = False) -> str:
    for place, value in places.items():
        text = text.replace(place, json.dumps(value)[1:-1] if in_quotes else value)
    return text


def _copy_workspace(workspace: Path, work: Path) -> None:
    """Copy a folder, less what is nobody's business, links that lead out of it, and what is no file."""
    root = workspace.resolve()

    def left_out(folder: str, names: list[str]) -> list[str]:
        paths = {name: Path(folder, name) for name in names}
        return [name for name, path in paths.items() if name in NOT_IN_WORKSPACE or _leads_out(path, root)]

    try:
        shutil.copytree(workspace, work, symlinks=True, ignore=left_out)
    except (OSError, shutil.Error) as error:
        raise ConfigError(f"the workspace {str(workspace)!r} cannot be copied: {error}") from None


def _leads_out(path: Path, root: Path) -> bool:
    """Say whether a path is a link to the outside, or by an absolute name to the original; or a pipe or a socket."""
    if path.is_symlink():
        return path.readlink().is_absolute() or not path.resolve().is_relative_to(root)
    return not path.is_dir() and not path.is_file()


def _secrets(agent: AgentCli) -> list[str]:
    """Return what must not be shown: the key, and every long word in the file of a login."""
    key, credential = key_of(agent), credential_of(agent)
    found = [key[1]] if key is not None else []
    if credential is not None:
        found += re.findall(r"[\w./+=-]{12,}", credential.read_text(encoding="utf-8", errors="replace"))
    return [secret for secret in found if len(secret) >= _SHORTEST_SECRET]


def _is_random(secret: str) -> bool:
    """Say whether fragments of a secret are no words; a login's file holds names of fields and addresses as well."""
    return len(secret) >= _SHORTEST_RANDOM and any(sign.isdigit() for sign in secret) and "/" not in secret


async def _whole(work: Coroutine[Any, Any, Result]) -> Result:
    """Wait for work in a thread, which goes on when it is cancelled: only then may its folder be removed."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _remove(folder: Path) -> None:
    """Remove a folder, also where parts of it were made read-only."""

    def make_writable(remove: Callable[..., Any], path: str, _: object) -> None:
        with suppress(OSError):
            Path(path).parent.chmod(0o700)
            Path(path).chmod(0o700)
            remove(path)

    shutil.rmtree(folder, onerror=make_writable)


async def _nothing_to_close(_: object) -> None:
    pass
