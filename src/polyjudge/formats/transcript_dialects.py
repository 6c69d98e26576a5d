"""The transcript formats of the supported agents."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from polyjudge.records.sessions import EventKind, TranscriptEvent

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The transcript format of one agent."""

    name: str
    matches: Callable[[Row], bool]
    """Return whether a row looks like one of this format."""
    read: Callable[[Row], Iterable[TranscriptEvent]]
    """Return the events of a row."""
    has_fragments: bool = False
    """Whether a message can be divided into several rows."""
    start_type: str = ""
    """The type of rows for the start of a call; `end_type` for its end."""
    end_type: str = ""

    def track_unfinished(self, row: Row, unfinished: dict[str, Row]) -> None:
        """Track calls that have started and not ended, because a session can be interrupted during a call."""
        item = row.get("item")
        if self.start_type and isinstance(item, Mapping):
            call = cast(Row, item)
            if row.get("type") == self.start_type:
                unfinished[str(call.get("id"))] = call
            elif row.get("type") == self.end_type:
                unfinished.pop(str(call.get("id")), None)


# --- content blocks, which are similar at Anthropic and OpenAI ----------------------------------------------


def _block_events(content: object, speaker: EventKind) -> Iterator[TranscriptEvent]:
    """Yield the events of a message, which is a text or a list of blocks."""
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
    """Return an event of an unknown kind, which is shown unchanged and counted."""
    return TranscriptEvent("unknown", _json(row), str(name))


def _json(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- Claude Code: session files, and the output of `--output-format stream-json` ---------------------------------

_CLAUDE_IGNORED = {
    # Rows that do not describe actions.
    "file-history-snapshot", "progress", "last-prompt", "custom-title", "agent-name", "ai-title", "permission-mode",
    "rate_limit_event", "stream_event", "pr-link", "mode", "tag",
}  # fmt: skip
_CLAUDE_SYSTEM = ("attachment", "queue-operation")
_METADATA_FIELDS = (
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
"""Fields of a row that do not describe what happened."""


def _matches_claude(row: Row) -> bool:
    if row.get("type") in ("user", "assistant"):
        return isinstance(row.get("message"), Mapping) and "role" in row["message"]
    is_init = row.get("type") == "system" and "subtype" in row
    others = ("summary", "result", *_CLAUDE_IGNORED, *_CLAUDE_SYSTEM)
    return is_init or (row.get("type") in others and "role" not in row and "status" not in row)


def _read_claude(row: Row) -> Iterable[TranscriptEvent]:
    kind = row.get("type")
    if kind in ("user", "assistant"):
        return _block_events(row["message"].get("content"), "agent" if kind == "assistant" else "user")
    if kind == "summary":
        return [TranscriptEvent("system", _json(row.get("summary")), "summary")]
    if kind == "system" or kind in _CLAUDE_SYSTEM:
        name = str(row.get("subtype") or kind)
        content = (
            row.get("content") or row.get("error") or {key: row[key] for key in row if key not in _METADATA_FIELDS}
        )
        return (
            [TranscriptEvent("system", _json(content), name)]
            if content and name not in ("init", "ui_invalidate")
            else []
        )
    if kind == "result":
        return _claude_result(row)
    if kind in _CLAUDE_IGNORED:
        return []
    return [_unknown(kind, row)]


def _claude_result(row: Row) -> Iterator[TranscriptEvent]:
    """Yield the end of a session if it failed or permissions were denied; the last message has the result."""
    name = str(row.get("subtype") or "")
    failed = row.get("is_error") is not False or name not in ("", "success")
    if failed:
        yield TranscriptEvent("system", _json(row.get("errors") or row.get("result") or name), f"end: {name}", failed)
    if row.get("permission_denials"):
        yield TranscriptEvent("system", _json(row["permission_denials"]), "permission denials")


# --- Codex: `codex exec --json` ----------------------------------------------------------------------------------


def _matches_codex(row: Row) -> bool:
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
        content = item.get("changes") or item.get("query") or item.get("items")
        yield TranscriptEvent("call", _json(content), str(kind).replace("_", " "), item.get("status") == "failed")
    elif kind == "error":
        yield TranscriptEvent("system", item["message"], "error")
    else:
        yield _unknown(f"item {kind}", item)


def _exit(item: Row) -> str:
    return f"exit code {item['exit_code']}\n" if item.get("exit_code") else ""


# --- Gemini: `-o stream-json` ------------------------------------------------------------------------------------


def _matches_gemini(row: Row) -> bool:
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


# --- lists of messages, as in OpenAI's APIs ----------------------------------------------------------------

_SPEAKERS: dict[str, EventKind] = {
    "user": "user", "human": "user", "assistant": "agent", "ai": "agent", "model": "agent",
    "system": "system", "developer": "system",
}  # fmt: skip


def _matches_openai(row: Row) -> bool:
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
        content = "\n".join(filter(None, (_result_text(row.get(key) or []) for key in ("summary", "content"))))
        yield from [TranscriptEvent("reasoning", content)] if content else []
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
    Dialect("Claude Code", _matches_claude, _read_claude),
    Dialect("Codex", _matches_codex, _read_codex, start_type="item.started", end_type="item.completed"),
    Dialect("Gemini", _matches_gemini, _read_gemini, has_fragments=True),
    Dialect("OpenAI messages", _matches_openai, _read_openai),
)
