"""The event formats of the agents whose transcripts can be read."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from polyjudge.records.sessions import EventKind, TranscriptEvent

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of program writes a session."""

    name: str
    knows: Callable[[Row], bool]
    """Say whether a row looks like one of this dialect."""
    read: Callable[[Row], Iterable[TranscriptEvent]]
    """Return what a row tells."""
    in_pieces: bool = False
    """What somebody says may come in several rows."""
    begins: str = ""
    """The type of rows that say that something has begun, and `ends` that it has ended."""
    ends: str = ""

    def note_unfinished(self, row: Row, begun: dict[str, Row]) -> None:
        """Keep in mind what has begun, until it has ended: a session may be broken off in the middle of a call."""
        item = row.get("item")
        if self.begins and isinstance(item, Mapping):
            thing = cast(Row, item)
            if row.get("type") == self.begins:
                begun[str(thing.get("id"))] = thing
            elif row.get("type") == self.ends:
                begun.pop(str(thing.get("id")), None)


# --- blocks of content, which Anthropic and OpenAI share in outline ----------------------------------------------


def _block_events(content: object, speaker: EventKind) -> Iterator[TranscriptEvent]:
    """Yield what a message says: a text, or blocks of text, reasoning, calls and results."""
    if content is None:
        return
    if isinstance(content, str):
        if content.strip():
            yield TranscriptEvent(speaker, content)
        return
    for block in cast(list[Row | str], [content] if isinstance(content, Mapping) else content):
        yield from _one_block({"type": "text", "text": block} if isinstance(block, str) else block, speaker)


def _one_block(block: Row, speaker: EventKind) -> Iterator[TranscriptEvent]:
    kind = block.get("type")
    if kind in ("text", "input_text", "output_text", "refusal"):
        text = block.get("text", block.get("refusal")) or ""
        if text.strip():
            yield TranscriptEvent(speaker, text)
    elif kind in ("thinking", "redacted_thinking"):
        text = block.get("thinking") or ""
        yield from [TranscriptEvent("reasoning", text)] if text else []
    elif kind in ("tool_use", "server_tool_use"):
        yield TranscriptEvent("call", _json(block.get("input")), str(block.get("name") or ""))
    elif kind is not None and kind.endswith("tool_result"):
        yield TranscriptEvent("result", _result_text(block.get("content")), failed=block.get("is_error") is True)
    elif kind in ("image", "image_url", "input_image", "document", "file", "input_file", "input_audio"):
        yield TranscriptEvent(speaker, f"({kind.replace('_', ' ')})")
    else:
        yield _unknown(f"block {kind}", block)


def _result_text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(_result_part(part) for part in cast(list[object], content))
    return _json(content)


def _result_part(part: object) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    block = cast(Row, part)
    if isinstance(block.get("text"), str):
        return block["text"]
    return f"({block['type']})" if block.get("type") in ("image", "image_url", "input_image") else _json(block)


def _unknown(name: object, row: Row) -> TranscriptEvent:
    """Return an event of a kind that the dialect is not known to have: it is shown as it is, and counted."""
    return TranscriptEvent("unknown", _json(row), str(name))


def _json(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- Claude Code: sessions, and what `--output-format stream-json` writes ----------------------------------------

_CLAUDE_ASIDE = {
    # Rows that say nothing about what was done.
    "file-history-snapshot", "progress", "last-prompt", "custom-title", "agent-name", "ai-title", "permission-mode",
    "rate_limit_event", "stream_event", "pr-link", "mode", "tag",
}  # fmt: skip
_CLAUDE_TOLD = ("attachment", "queue-operation")
_UNTOLD = (
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "session_id",
    "sessionId",
    "timestamp",
    "version",
    "cwd",
    "gitBranch",
)
"""Fields of a row that do not say what happened."""


def _knows_claude(row: Row) -> bool:
    if row.get("type") in ("user", "assistant"):
        return isinstance(row.get("message"), Mapping) and "role" in row["message"]
    is_init = row.get("type") == "system" and "subtype" in row
    others = ("summary", "result", *_CLAUDE_ASIDE, *_CLAUDE_TOLD)
    return is_init or (row.get("type") in others and "role" not in row and "status" not in row)


def _read_claude(row: Row) -> Iterable[TranscriptEvent]:
    kind = row.get("type")
    if kind in ("user", "assistant"):
        return _block_events(row["message"].get("content"), "agent" if kind == "assistant" else "user")
    if kind == "summary":
        return [TranscriptEvent("system", _json(row.get("summary")), "summary")]
    if kind == "system" or kind in _CLAUDE_TOLD:
        name = str(row.get("subtype") or kind)
        told = row.get("content") or row.get("error") or {key: row[key] for key in row if key not in _UNTOLD}
        return [TranscriptEvent("system", _json(told), name)] if told and name not in ("init", "ui_invalidate") else []
    if kind == "result":
        return _claude_end(row)
    if kind in _CLAUDE_ASIDE:
        return []
    return [_unknown(kind, row)]


def _claude_end(row: Row) -> Iterator[TranscriptEvent]:
    """Yield how a session ended, unless it just did: what was said then stands in the last message."""
    name = str(row.get("subtype") or "")
    failed = row.get("is_error") is not False or name not in ("", "success")
    if failed:
        yield TranscriptEvent("system", _json(row.get("errors") or row.get("result") or name), f"end: {name}", failed)
    if row.get("permission_denials"):
        yield TranscriptEvent("system", _json(row["permission_denials"]), "permission denials")


# --- Codex: `codex exec --json` ----------------------------------------------------------------------------------


def _knows_codex(row: Row) -> bool:
    return str(row.get("type", "")).partition(".")[0] in ("thread", "turn", "item") and "." in str(row.get("type"))


def _read_codex(row: Row) -> Iterable[TranscriptEvent]:
    kind = row.get("type")
    if kind == "item.completed":
        return _codex_item(row["item"])
    if kind in ("thread.started", "turn.started", "turn.completed", "item.started", "item.updated"):
        return []
    if kind == "turn.failed":
        return [TranscriptEvent("system", _json(row["error"].get("message")), "turn failed", failed=True)]
    if kind == "error":
        return [TranscriptEvent("system", _json(row.get("message")), "error", failed=True)]
    return [_unknown(kind, row)]


def _codex_item(item: Row) -> Iterator[TranscriptEvent]:
    kind = item.get("type")
    if kind == "agent_message":
        yield TranscriptEvent("agent", item["text"])
    elif kind == "reasoning":
        yield TranscriptEvent("reasoning", item["text"])
    elif kind == "command_execution":
        yield TranscriptEvent("call", _json(item["command"]), "command")
        failed = item.get("exit_code") not in (0, None) or item.get("status") == "failed"
        yield TranscriptEvent("result", _exit(item) + _json(item.get("aggregated_output")), "command", failed)
    elif kind in ("mcp_tool_call", "collab_tool_call"):
        name = f"{item.get('server', '')}.{item.get('tool', '')}".strip(".")
        yield TranscriptEvent("call", _json(item.get("arguments", item.get("prompt"))), name)
        error = item.get("error")
        yield TranscriptEvent("result", _json(error or item.get("result")), name, failed=bool(error))
    elif kind in ("file_change", "web_search", "todo_list"):
        told = item.get("changes") or item.get("query") or item.get("items")
        yield TranscriptEvent("call", _json(told), str(kind).replace("_", " "), item.get("status") == "failed")
    elif kind == "error":
        yield TranscriptEvent("system", item["message"], "error")
    else:
        yield _unknown(f"item {kind}", item)


def _exit(item: Row) -> str:
    return f"exit code {item['exit_code']}\n" if item.get("exit_code") else ""


# --- Gemini: `-o stream-json` ------------------------------------------------------------------------------------


def _knows_gemini(row: Row) -> bool:
    kind = row.get("type")
    if kind == "message":
        return row.get("role") in ("user", "assistant") and isinstance(row.get("content"), str) and "timestamp" in row
    return (kind == "init" and "session_id" in row) or "tool_id" in row or (kind == "result" and "status" in row)


def _read_gemini(row: Row) -> Iterable[TranscriptEvent]:
    kind = row.get("type")
    if kind == "message":
        text = row["content"] if row.get("delta") else row["content"] + "\n\n"
        return [TranscriptEvent("agent" if row["role"] == "assistant" else "user", text)]
    if kind == "tool_use":
        return [TranscriptEvent("call", _json(row.get("parameters")), str(row.get("tool_name", "")))]
    if kind == "tool_result":
        error = row.get("error")
        return [TranscriptEvent("result", _json(error or row.get("output")), failed=row.get("status") == "error")]
    if kind == "error":
        return [TranscriptEvent("system", _json(row.get("message")), "error", failed=True)]
    if kind == "result":
        error = row.get("error")
        return [TranscriptEvent("system", _json(error), "end: error", failed=True)] if error else []
    if kind == "init":
        return []
    return [_unknown(kind, row)]


# --- lists of messages as OpenAI's APIs have them ----------------------------------------------------------------

_SPEAKERS: dict[str, EventKind] = {
    "user": "user", "human": "user", "assistant": "agent", "ai": "agent", "model": "agent",
    "system": "system", "developer": "system",
}  # fmt: skip


def _knows_openai(row: Row) -> bool:
    if isinstance(row.get("message"), Mapping) and "index" in row:  # one of the choices of a completion
        return True
    if row.get("role") in (*_SPEAKERS, "tool", "function"):
        return row.get("type") in (None, "message") and ("content" in row or "tool_calls" in row)
    return row.get("type") in ("function_call", "function_call_output")


def _read_openai(row: Row) -> Iterator[TranscriptEvent]:
    if isinstance(row.get("message"), Mapping) and "index" in row:
        row = cast(Row, row["message"])
    role, kind = row.get("role"), row.get("type")
    if role in ("tool", "function"):
        yield TranscriptEvent("result", _result_text(row.get("content")), str(row.get("name") or ""))
    elif role in _SPEAKERS:
        yield from _message_events(row, _SPEAKERS[str(role)])
    elif kind == "function_call":
        yield TranscriptEvent("call", _json(row.get("arguments")), str(row.get("name") or ""))
    elif kind == "function_call_output":
        yield TranscriptEvent("result", _result_text(row.get("output")))
    elif kind == "reasoning":
        told = "\n".join(filter(None, (_result_text(row.get(key) or []) for key in ("summary", "content"))))
        yield from [TranscriptEvent("reasoning", told)] if told else []
    else:
        yield _unknown(role or kind or "row without a type", row)


def _message_events(row: Row, speaker: EventKind) -> Iterator[TranscriptEvent]:
    reasoning = row.get("reasoning_content") or row.get("reasoning")
    if isinstance(reasoning, str):
        yield TranscriptEvent("reasoning", reasoning)
    yield from _block_events(row.get("content"), speaker)
    if row.get("refusal"):
        yield TranscriptEvent("agent", row["refusal"], "refusal")
    for call in cast(list[Row], [*(row.get("tool_calls") or []), *filter(None, [row.get("function_call")])]):
        function = cast(Row, call.get("function") or call.get("custom") or call)
        given = function.get("arguments", function.get("input"))
        yield TranscriptEvent("call", _json(given), str(function.get("name") or ""))


# --- the table ---------------------------------------------------------------------------------------------------

DIALECTS = (
    Dialect("Claude Code", _knows_claude, _read_claude),
    Dialect("Codex", _knows_codex, _read_codex, begins="item.started", ends="item.completed"),
    Dialect("Gemini", _knows_gemini, _read_gemini, in_pieces=True),
    Dialect("OpenAI messages", _knows_openai, _read_openai),
)
