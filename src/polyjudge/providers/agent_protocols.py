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
_BROKEN_OFF = re.compile(
    r"stream (?:closed|disconnected|ended)|finish reason|high demand|timed? ?out|connection|overloaded|network"
    r"|terminated|aborted|econnreset|try again",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"\bmodels?\b.{0,200}\bnot (?:found|exist|supported)", re.IGNORECASE)
_NO_ACCESS = re.compile(r"not logged in|missing environment variable|auth\w* (?:method|failed)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """What an agent answered, and what its CLI says it took."""

    text: str
    model: str = ""
    finish: Finish = "stop"
    version: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a CLI is spoken with."""

    written: Callable[[str], str]
    """Return what stands on stdin for a prompt."""
    read: Callable[["Output", ModelName], AgentAnswer]
    """Return the answer, or raise an error."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a CLI wrote, and the code it ended with."""

    out: str
    said: str
    """The end of its stderr: for messages, and never a sign of failure."""
    code: int


Event = Mapping[str, Any]


def _events(out: str) -> Iterator[Event]:
    """Yield the JSON objects among the lines; other lines are noise."""
    for line in out.split("\n"):  # and not at the other signs that end a line: they may stand inside a text
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield cast(Event, value)


def _part(event: Event, key: str) -> Event:
    """Return an object inside an event; what is none is empty."""
    value = event.get(key)
    return cast(Event, value) if isinstance(value, dict) else {}


def _text(event: Event, key: str) -> str:
    """Return a text inside an event; what is none is empty."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _failure(message: str, name: ModelName, status: int | None = None) -> PolyjudgeError:
    """Return the error that a CLI's own message stands for."""
    line = one_line(message, len(message) + 1)
    told = line if len(line) <= _LONGEST_MESSAGE else "…" + line[-_LONGEST_MESSAGE:]  # the reason stands last
    found = _STATUS.search(message)
    code = status or (int(found[1]) if found else 404 if _NO_MODEL.search(message) else None)
    if code is not None:
        return error_for_status(code, told, name)
    if _NO_ACCESS.search(message):
        return UnusableError(f"{name.provider} cannot be used: {told}")
    if _BROKEN_OFF.search(message):
        return TransientError(f"{name.provider}: {told}")
    return ProviderError(f"{name.provider}: {told}")


def _complete(answer: AgentAnswer, name: ModelName) -> AgentAnswer:
    if not answer.text.strip():
        raise ProviderError(f"{name.provider} came to its end without saying anything")
    return answer


def _no_end(name: ModelName, output: Output) -> PolyjudgeError:
    """Return the error for an output without the mark of its end; what stands on stderr may say why."""
    if output.said:
        return _failure(f"{output.said} (code {output.code})", name)
    return ProviderError(f"{name.provider} ended with code {output.code} and without the mark of an answer's end")


# --- Claude Code -------------------------------------------------------------------------------------------------


def _claude_written(prompt: str) -> str:
    message = {"role": "user", "content": prompt}
    return json.dumps({"type": "user", "message": message, "client_composed": True}) + "\n"


def _read_claude(output: Output, name: ModelName) -> AgentAnswer:
    """Read stream-json; `subtype` says "success" also of failures, so only `is_error` counts."""
    model = version = ""
    result: Event | None = None
    for event in _events(output.out):
        if event.get("type") == "system" and event.get("subtype") == "init":
            model, version = str(event.get("model", "")), str(event.get("claude_code_version", ""))
        elif event.get("type") == "result":
            result = event
    if result is None:
        raise _no_end(name, output)
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
    return _complete(answer, name)


_CLAUDE_FINISHES: dict[str, Finish] = {"max_tokens": "length", "refusal": "refusal"}


# --- Codex -------------------------------------------------------------------------------------------------------


def _read_codex(output: Output, name: ModelName) -> AgentAnswer:
    """Read the events of `exec --json`; items and events called "error" are remarks unless the turn fails."""
    texts: list[str] = []
    usage: Event | None = None
    remarks: list[str] = []
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
            remarks.append(_text(event, "message"))
    if usage is None or output.code:
        raise _failure(remarks[-1], name) if remarks else _no_end(name, output)
    answer = AgentAnswer(
        text="\n".join(texts),
        input_tokens=_count(usage.get("input_tokens")),
        output_tokens=_count(usage.get("output_tokens")),
    )
    return _complete(answer, name)


# --- Gemini CLI --------------------------------------------------------------------------------------------------


def _read_gemini(output: Output, name: ModelName) -> AgentAnswer:
    """Read stream-json; a cut stream and a prompt too long end with code 0, so only the result's status counts."""
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
        told = _text(error, "message") or (errors[-1] if errors else "")
        status = output.code + 256  # with this output the code is the HTTP status modulo 256
        known = status if status in _STATUSES else None
        raise _failure(told or "no message", name, known) if told or known else _no_end(name, output)
    stats = _part(result, "stats")
    answer = AgentAnswer(
        text="".join(texts),
        model=model,
        input_tokens=_count(stats.get("input_tokens")),
        output_tokens=_count(stats.get("output_tokens")),
    )
    return _complete(answer, name)


# --- programs that write their answer and nothing else -----------------------------------------------------------


def _read_text(output: Output, name: ModelName) -> AgentAnswer:
    """Read an answer that ends with the program, which then says that all went well."""
    if output.code:
        raise _no_end(name, output)
    return _complete(AgentAnswer(text=output.out.strip()), name)


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
