"""Parse the output of each agent program."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from polyjudge.errors import PolyjudgeError, ProviderError, TransientError, UnusableError
from polyjudge.records.requests import Finish, ModelName
from polyjudge.text.display import one_line

from .wire_errors import error_for_status

_LONGEST_MESSAGE = 300
_STATUSES = {400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504}
_STATUS = re.compile(r"(?:status(?: code)?:?|error code:|\"code\":|HTTP) ?\"?([45]\d\d)\b", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"stream (?:closed|disconnected|ended)|finish reason|high demand|timed? ?out|connection|overloaded|network"
    r"|terminated|aborted|econnreset|try again",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"\bmodels?\b.{0,200}\bnot (?:found|exist|supported)", re.IGNORECASE)
_NO_ACCESS = re.compile(r"not logged in|missing environment variable|auth\w* (?:method|failed)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """The answer of an agent, and the usage that its CLI reports."""

    text: str
    model: str = ""
    finish: Finish = "stop"
    version: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """The format of a CLI's stdin and stdout."""

    written: Callable[[str], str]
    """Return the stdin for a prompt."""
    read: Callable[["Output", ModelName], AgentAnswer]
    """Return the answer, or raise an error."""


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a CLI, and its exit code."""

    out: str
    err: str
    """The end of its stderr, used only in error messages: it does not indicate a failure."""
    code: int


Event = Mapping[str, Any]


def _events(out: str) -> Iterator[Event]:
    """Yield the JSON objects among the lines; other lines are ignored."""
    for line in out.split("\n"):  # not splitlines: other line separators may occur inside a text
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield cast(Event, value)


def _part(event: Event, key: str) -> Event:
    """Return an object in an event; empty if it is missing or not an object."""
    value = event.get(key)
    return cast(Event, value) if isinstance(value, dict) else {}


def _text(event: Event, key: str) -> str:
    """Return a text in an event; empty if it is missing or not a text."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _failure(message: str, name: ModelName, status: int | None = None) -> PolyjudgeError:
    """Return our error for an error message of a CLI."""
    line = one_line(message, len(message) + 1)
    short = line if len(line) <= _LONGEST_MESSAGE else "…" + line[-_LONGEST_MESSAGE:]  # the reason is at the end
    found = _STATUS.search(message)
    code = status or (int(found[1]) if found else 404 if _NO_MODEL.search(message) else None)
    if code is not None:
        return error_for_status(code, short, name)
    if _NO_ACCESS.search(message):
        return UnusableError(f"{name.provider} cannot be used: {short}")
    if _TEMPORARY.search(message):
        return TransientError(f"{name.provider}: {short}")
    return ProviderError(f"{name.provider}: {short}")


def _checked(answer: AgentAnswer, name: ModelName) -> AgentAnswer:
    if not answer.text.strip():
        raise ProviderError(f"{name.provider} exited without a reply")
    return answer


def _incomplete(name: ModelName, output: Output) -> PolyjudgeError:
    """Return the error for an output without its end marker; stderr may contain the reason."""
    if output.err:
        return _failure(f"{output.err} (code {output.code})", name)
    return ProviderError(f"{name.provider} ended with code {output.code} and an incomplete answer")


# --- Claude Code -------------------------------------------------------------------------------------------------


def _claude_written(prompt: str) -> str:
    message = {"role": "user", "content": prompt}
    return json.dumps({"type": "user", "message": message, "client_composed": True}) + "\n"


def _read_claude(output: Output, name: ModelName) -> AgentAnswer:
    """Read stream-json; `subtype` is "success" also for failures, so only `is_error` is used."""
    model = version = ""
    result: Event | None = None
    for event in _events(output.out):
        if event.get("type") == "system" and event.get("subtype") == "init":
            model, version = str(event.get("model", "")), str(event.get("claude_code_version", ""))
        elif event.get("type") == "result":
            result = event
    if result is None:
        raise _incomplete(name, output)
    if result.get("is_error") is not False or output.code:
        errors = result.get("errors")
        listed = "; ".join(map(str, cast(list[object], errors))) if isinstance(errors, list) else ""
        raise _failure(
            _text(result, "result") or listed or str(result.get("subtype")),
            name,
            _count(result.get("api_error_status")),
        )
    usage = _part(result, "usage")
    tokens_in = [usage.get(key) for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    answer = AgentAnswer(
        text=_text(result, "result"),
        model=model,
        version=version,
        finish=_CLAUDE_FINISHES.get(str(result.get("stop_reason")), "stop"),
        input_tokens=sum(filter(None, map(_count, tokens_in))) if _count(tokens_in[0]) is not None else None,
        output_tokens=_count(usage.get("output_tokens")),
        cost_usd=_amount(result.get("total_cost_usd")),
    )
    return _checked(answer, name)


_CLAUDE_FINISHES: dict[str, Finish] = {"max_tokens": "length", "refusal": "refusal"}


# --- Codex -------------------------------------------------------------------------------------------------------


def _read_codex(output: Output, name: ModelName) -> AgentAnswer:
    """Read the events of `exec --json`; items and events called "error" are only warnings unless the turn fails."""
    texts: list[str] = []
    usage: Event | None = None
    warnings: list[str] = []
    for event in _events(output.out):
        kind, item = event.get("type"), _part(event, "item")
        if kind == "item.completed" and item.get("type") == "agent_message":
            texts.append(_text(item, "text"))
        elif kind == "turn.completed":
            usage = _part(event, "usage")
        elif kind == "turn.failed":
            raise _failure(
                _text(_part(event, "error"), "message") or str(event.get("error") or "the turn failed"), name
            )
        elif kind == "error":
            warnings.append(_text(event, "message"))
    if usage is None or output.code:
        raise _failure(warnings[-1], name) if warnings else _incomplete(name, output)
    answer = AgentAnswer(
        text="\n".join(texts),
        input_tokens=_count(usage.get("input_tokens")),
        output_tokens=_count(usage.get("output_tokens")),
    )
    return _checked(answer, name)


# --- Gemini CLI --------------------------------------------------------------------------------------------------


def _read_gemini(output: Output, name: ModelName) -> AgentAnswer:
    """Read stream-json; an incomplete stream and a prompt too long end with code 0, so only the status is used."""
    texts: list[str] = []
    model, errors = "", list[str]()
    result: Event | None = None
    for event in _events(output.out):
        kind = event.get("type")
        if kind == "init":
            model = str(event.get("model", ""))
        elif kind == "message" and event.get("role") == "assistant":
            texts.append(_text(event, "content"))
        elif kind == "error":
            errors.append(_text(event, "message"))
        elif kind == "result":
            result = event
    if result is None or result.get("status") != "success":
        error = _part(result or {}, "error")
        message = _text(error, "message") or (errors[-1] if errors else "")
        status = output.code + 256  # in this output format the exit code is the HTTP status modulo 256
        known = status if status in _STATUSES else None
        raise _failure(message or "no message", name, known) if message or known else _incomplete(name, output)
    stats = _part(result, "stats")
    answer = AgentAnswer(
        text="".join(texts),
        model=model,
        input_tokens=_count(stats.get("input_tokens")),
        output_tokens=_count(stats.get("output_tokens")),
    )
    return _checked(answer, name)


# --- programs that write only their answer -----------------------------------------------------------------------


def _read_text(output: Output, name: ModelName) -> AgentAnswer:
    """Read an answer that is the whole output of a program; exit code 0 shows that it is complete."""
    if output.code:
        raise _incomplete(name, output)
    return _checked(AgentAnswer(text=output.out.strip()), name)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _amount(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


DIALECTS = {
    "claude": Dialect(_claude_written, _read_claude),
    "codex": Dialect(str, _read_codex),
    "gemini": Dialect(str, _read_gemini),
    "text": Dialect(str, _read_text),
}
