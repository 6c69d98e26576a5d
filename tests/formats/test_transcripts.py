"""Sessions of every format are read as events, and invalid rows are reported with their line."""

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.errors import DataError
from polyjudge.formats.transcripts import Transcript

relaxed = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


def rows(*each):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in each)


def read(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    transcript = Transcript(path)
    return transcript, list(transcript.events())


def short(events):
    return [(event.kind, event.text) for event in events]


# --- Claude Code -------------------------------------------------------------------------------------------------


def claude(role, content, **more):
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": "msg_01", "type": "message", "model": "claude-sonnet-5", "stop_reason": None, "usage": {}}
    common = {"parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "src", "sessionId": "5f0c"}
    return {
        **common,
        "version": "2.1.325",
        "type": role,
        "message": message,
        "uuid": "u",
        "timestamp": "2026-11-03T10:00:00Z",
        **more,
    }


CLAUDE = [
    {"type": "summary", "summary": "Fixing the queue test", "leafUuid": "u"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False},
    claude("user", "Fix the flaky test."),
    claude(
        "assistant", [{"type": "thinking", "thinking": "There must be a race.", "signature": "EqQB"}], requestId="r"
    ),
    claude("assistant", [{"type": "text", "text": "I look at the test first."}]),
    claude("assistant", [{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "src/t.py"}}]),
    claude(
        "user",
        [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1\tdef test():\n2\t  pass"}],
        toolUseResult={"type": "text"},
    ),
    claude("assistant", [{"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "pytest"}}]),
    claude(
        "user",
        [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "is_error": True,
                "content": [{"type": "text", "text": "Exit code 1"}, {"type": "text", "text": "1 failed"}],
            }
        ],
    ),
    {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "level": "info",
        "uuid": "u",
        "timestamp": "t",
    },
    claude("assistant", [{"type": "text", "text": "It passes now."}]),
]


def test_a_session_of_claude_code_is_read_in_order(path):
    transcript, events = read(path, rows(*CLAUDE))

    assert transcript.format == "Claude Code"
    assert [(event.kind, event.name, event.failed) for event in events] == [
        ("system", "summary", False),
        ("user", "", False),
        ("reasoning", "", False),
        ("agent", "", False),
        ("call", "Read", False),
        ("result", "", False),
        ("call", "Bash", False),
        ("result", "", True),
        ("system", "compact_boundary", False),
        ("agent", "", False),
    ]
    assert json.loads(events[4].text) == {"file_path": "src/t.py"}
    assert events[5].text == "1\tdef test():\n2\t  pass"
    assert events[7].text == "Exit code 1\n1 failed"
    assert (transcript.problems, transcript.skipped, transcript.unknown) == ([], 0, {})


def test_the_stream_of_claude_is_read_without_repeating_its_end(path):
    init = {"type": "system", "subtype": "init", "cwd": "src", "session_id": "s", "tools": [], "model": "m"}
    end = {"type": "result", "subtype": "success", "is_error": False, "result": "PONG", "num_turns": 1, "usage": {}}

    transcript, events = read(path, rows(init, claude("assistant", [{"type": "text", "text": "PONG"}]), end))

    assert transcript.format == "Claude Code"
    assert short(events) == [("agent", "PONG")]


def test_a_stream_of_claude_that_ended_in_an_error_says_so(path):
    end = {"type": "result", "subtype": "error_max_turns", "is_error": True, "errors": ["Reached maximum number of 3"]}

    _, events = read(path, rows(claude("user", "hi"), end))

    assert "Reached maximum number of 3" in events[-1].text
    assert events[-1].failed


def test_an_api_error_that_is_the_result_of_a_stream_is_a_failure(path):
    end = {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "result": "API Error: 429",
        "api_error_status": 429,
    }

    _, events = read(path, rows(claude("user", "hi"), end))

    assert (events[-1].kind, events[-1].text, events[-1].failed) == ("system", "API Error: 429", True)


def test_images_and_documents_are_replaced_by_their_kind(path):
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 5000}}
    document = {"type": "document", "source": {"type": "base64", "data": "B" * 5000}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [picture, {"type": "text", "text": "a cat"}]}

    _, events = read(path, rows(claude("user", [{"type": "text", "text": "Look"}, picture, document, result])))

    assert short(events) == [
        ("user", "Look"),
        ("user", "(image)"),
        ("user", "(document)"),
        ("result", "(image)\na cat"),
    ]


def test_null_or_empty_contents_have_no_events(path):
    empty = [None, "", "  ", [], [{"type": "text", "text": ""}], [{"type": "thinking", "thinking": ""}]]

    transcript, events = read(path, rows(*[claude("user", content) for content in empty], claude("assistant", "ok")))

    assert short(events) == [("agent", "ok")]
    assert transcript.skipped == 0


def test_a_result_without_content_is_shown_as_an_empty_one(path):
    results = [{"type": "tool_result", "tool_use_id": "t"}, {"type": "tool_result", "tool_use_id": "t", "content": []}]

    _, events = read(path, rows(claude("user", results)))

    assert short(events) == [("result", ""), ("result", "")]


def test_calls_of_the_servers_own_tools_and_their_errors_are_shown(path):
    call = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "polyjudge"}}
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}

    _, events = read(
        path,
        rows(claude("assistant", [call, {"type": "web_search_tool_result", "tool_use_id": "s", "content": error}])),
    )

    assert [(event.kind, event.name) for event in events] == [("call", "web_search"), ("result", "")]
    assert "max_uses_exceeded" in events[1].text


def test_unknown_events_and_blocks_are_shown_and_counted(path):
    new = {"type": "telepathy", "thought": "hmm"}
    block = {"type": "hologram", "data": [1, 2]}

    transcript, events = read(path, rows(claude("user", "hi"), new, new, claude("assistant", [block])))

    assert transcript.unknown == {"telepathy": 2, "block hologram": 1}
    assert [json.loads(event.text) for event in events if event.kind == "unknown"] == [new, new, block]
    assert transcript.skipped == 0


def test_a_row_of_another_dialect_is_shown_and_counted(path):
    transcript, events = read(
        path,
        rows(
            claude("user", "hi"),
            {"type": "item.completed", "item": {"type": "agent_message", "text": "from codex"}},
            {"role": "assistant", "content": "from openai"},
            claude("assistant", "bye"),
        ),
    )

    assert transcript.format == "Claude Code"
    assert sum(transcript.unknown.values()) == 2
    assert "from codex" in events[1].text
    assert "from openai" in events[2].text


# --- Codex -------------------------------------------------------------------------------------------------------


def codex(kind, **item):
    return {"type": "item.completed", "item": {"id": "item_0", "type": kind, **item}}


CODEX = [
    {"type": "thread.started", "thread_id": "019a"},
    codex("error", message="Model metadata for `gpt-5.2-codex` not found."),
    {"type": "turn.started"},
    codex("reasoning", text="**Looking**"),
    {"type": "item.started", "item": {"id": "item_1", "type": "command_execution", "command": "ls", "exit_code": None}},
    codex("command_execution", command="bash -lc ls", aggregated_output="a.py\n", exit_code=0, status="completed"),
    codex("command_execution", command="bash -lc pytest", aggregated_output="1 failed", exit_code=1, status="failed"),
    codex("file_change", changes=[{"path": "a.py", "kind": "update"}], status="completed"),
    codex(
        "mcp_tool_call", server="docs", tool="search", arguments={"q": "x"}, result={"content": []}, status="completed"
    ),
    codex("mcp_tool_call", server="docs", tool="search", arguments={"q": "y"}, error={"message": "no server"}),
    codex("web_search", query="how to"),
    codex("todo_list", items=[{"text": "fix", "completed": True}]),
    {"type": "error", "message": "Reconnecting... 1/5"},
    codex("agent_message", text="Fixed."),
    {"type": "turn.completed", "usage": {"input_tokens": 2, "output_tokens": 7}},
]


def test_a_session_of_codex_is_read_in_order(path):
    transcript, events = read(path, rows(*CODEX))

    assert transcript.format == "Codex"
    assert [(event.kind, event.name, event.failed) for event in events] == [
        ("system", "error", False),
        ("reasoning", "", False),
        ("call", "command", False),
        ("result", "command", False),
        ("call", "command", False),
        ("result", "command", True),
        ("call", "file change", False),
        ("call", "docs.search", False),
        ("result", "docs.search", False),
        ("call", "docs.search", False),
        ("result", "docs.search", True),
        ("call", "web search", False),
        ("call", "todo list", False),
        ("system", "error", True),
        ("agent", "", False),
        ("call", "begun and not finished", False),
    ]
    assert events[3].text == "a.py\n"
    assert events[5].text == "exit code 1\n1 failed"
    assert (transcript.problems, transcript.skipped, transcript.unknown) == ([], 0, {})


def test_a_failed_turn_of_codex_has_its_reason(path):
    _, events = read(path, rows(CODEX[0], {"type": "turn.failed", "error": {"message": "stream closed"}}))

    assert (events[-1].kind, events[-1].text, events[-1].failed) == ("system", "stream closed", True)


def test_unknown_events_and_items_of_codex_are_counted(path):
    transcript, events = read(path, rows(CODEX[0], {"type": "turn.paused", "why": "x"}, codex("dream", text="sheep")))

    assert transcript.unknown == {"turn.paused": 1, "item dream": 1}
    assert "sheep" in events[-1].text


def test_invalid_rows_of_codex_are_skipped_and_reported(path):
    broken = [{"type": "item.completed"}, {"type": "item.completed", "item": None}, codex("agent_message")]
    broken += [
        codex("command_execution"),
        {"type": "turn.failed", "error": "text"},
        {"type": "item.completed", "item": 5},
    ]

    transcript, events = read(path, rows(CODEX[0], *broken, codex("agent_message", text="ok")))

    assert short(events) == [("agent", "ok")]
    assert transcript.skipped == len(broken)
    assert [problem.split(": ")[0] for problem in transcript.problems] == [f"{path}:{line}" for line in range(2, 8)]


# --- Gemini ------------------------------------------------------------------------------------------------------

GEMINI = [
    {"type": "init", "timestamp": "t", "session_id": "s", "model": "gemini-2.5-pro"},
    {"type": "message", "role": "user", "content": "Fix it.", "timestamp": "t"},
    {"type": "message", "role": "assistant", "content": "I loo", "delta": True, "timestamp": "t"},
    {"type": "message", "role": "assistant", "content": "k at ", "delta": True, "timestamp": "t"},
    {"type": "message", "role": "assistant", "content": "it.", "delta": True, "timestamp": "t"},
    {"type": "tool_use", "timestamp": "t", "tool_name": "read_file", "tool_id": "r1", "parameters": {"path": "a.py"}},
    {"type": "tool_result", "timestamp": "t", "tool_id": "r1", "status": "success", "output": "pass"},
    {"type": "tool_use", "timestamp": "t", "tool_name": "shell", "tool_id": "r2", "parameters": {}},
    {"type": "tool_result", "timestamp": "t", "tool_id": "r2", "status": "error", "error": {"message": "denied"}},
    {"type": "error", "timestamp": "t", "severity": "error", "message": "Model stream ended"},
    {"type": "message", "role": "assistant", "content": "Done.", "delta": True, "timestamp": "t"},
    {"type": "result", "timestamp": "t", "status": "success", "stats": {"total_tokens": 134}},
]


def test_a_session_of_gemini_is_read_in_order_and_its_fragments_are_joined(path):
    transcript, events = read(path, rows(*GEMINI))

    assert transcript.format == "Gemini"
    assert short(events)[:2] == [("user", "Fix it."), ("agent", "I look at it.")]
    assert [(event.kind, event.name, event.failed) for event in events[2:]] == [
        ("call", "read_file", False),
        ("result", "", False),
        ("call", "shell", False),
        ("result", "", True),
        ("system", "error", True),
        ("agent", "", False),
    ]
    assert "denied" in events[5].text
    assert (transcript.problems, transcript.skipped, transcript.unknown) == ([], 0, {})


def test_a_session_of_gemini_that_ended_in_an_error_says_why(path):
    end = {"type": "result", "status": "error", "error": {"type": "unknown", "message": "[API Error: x]"}, "stats": {}}

    _, events = read(path, rows(*GEMINI[:2], end))

    assert "[API Error: x]" in events[-1].text
    assert events[-1].failed


def test_unknown_events_of_gemini_are_counted_and_stay_in_order(path):
    transcript, events = read(path, rows(*GEMINI[:3], {"type": "thought", "text": "hmm"}, *GEMINI[3:5]))

    assert transcript.unknown == {"thought": 1}
    assert [event.kind for event in events] == ["user", "agent", "unknown", "agent"]


def test_a_message_of_gemini_in_many_fragments_is_joined(path):
    piece = {"type": "message", "role": "assistant", "content": "word ", "delta": True, "timestamp": "t"}

    _, events = read(path, rows(GEMINI[0], *[piece] * 3000))

    assert short(events) == [("agent", "word " * 3000)]


# --- lists of messages -------------------------------------------------------------------------------------------

MESSAGES = [
    {"role": "system", "content": "You are helpful."},
    {
        "role": "user",
        "content": [{"type": "text", "text": "Weather?"}, {"type": "image_url", "image_url": {"url": "d"}}],
    },
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I need a tool.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Ulaanbaatar"}'}},
            {"id": "c2", "type": "function", "function": {"name": "time", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "-30 °C"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "12:00"}]},
    {"role": "assistant", "content": "Cold.", "tool_calls": None},
]
AS_EVENTS = [
    ("system", "You are helpful."),
    ("user", "Weather?"),
    ("user", "(image url)"),
    ("reasoning", "I need a tool."),
    ("call", '{"city": "Ulaanbaatar"}'),
    ("call", "{}"),
    ("result", "-30 °C"),
    ("result", "12:00"),
    ("agent", "Cold."),
]
WAYS = {
    "a list": json.dumps(MESSAGES),
    "a list over many lines": json.dumps(MESSAGES, indent=2, ensure_ascii=False),
    "an object": json.dumps({"model": "gpt-5.2", "messages": MESSAGES, "temperature": 0}),
    "an object over many lines": json.dumps({"model": "gpt-5.2", "messages": MESSAGES}, indent=2),
    "items of an object": json.dumps({"input": MESSAGES}),
    "lines": rows(*MESSAGES),
    "lines with blank ones": "\n\n" + rows(*MESSAGES).replace("\n", "\n\n"),
    "lines with carriage returns": rows(*MESSAGES).replace("\n", "\r\n"),
    "lines without a last line end": rows(*MESSAGES).rstrip("\n"),
    "lines with a byte order mark": "\ufeff" + rows(*MESSAGES),
    "a list with a byte order mark": "\ufeff" + json.dumps(MESSAGES),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_list_of_messages_is_the_same_whichever_way_it_is_written(path, way):
    transcript, events = read(path, WAYS[way])

    assert transcript.format == "OpenAI messages"
    assert short(events) == AS_EVENTS
    assert [event.name for event in events if event.kind == "call"] == ["weather", "time"]
    assert (transcript.problems, transcript.skipped, transcript.unknown) == ([], 0, {})


def test_messages_in_anthropics_format_are_read(path):
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a", "is_error": True}]},
    ]

    _, events = read(path, json.dumps(messages))

    assert [(event.kind, event.failed) for event in events] == [("user", False), ("call", False), ("result", True)]


def test_items_of_the_responses_api_are_read(path):
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "I call f."}]},
        {"type": "function_call", "name": "f", "arguments": '{"a": 1}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "bye", "annotations": []}],
        },
    ]

    transcript, events = read(path, json.dumps({"input": items}))

    assert [event.kind for event in events] == ["user", "reasoning", "call", "result", "unknown", "agent"]
    assert transcript.unknown == {"web_search_call": 1}


@pytest.mark.parametrize(
    ("role", "kind"),
    [
        *[("user", "user"), ("human", "user"), ("assistant", "agent"), ("ai", "agent"), ("model", "agent")],
        *[("system", "system"), ("developer", "system"), ("tool", "result"), ("function", "result")],
    ],
)
def test_every_role_has_its_kind(path, role, kind):
    _, events = read(path, rows({"role": role, "content": "x"}))

    assert short(events) == [(kind, "x")]


def test_a_message_of_an_unknown_role_is_shown_and_counted(path):
    transcript, events = read(path, rows(*MESSAGES, {"role": "critic", "content": "boo"}))

    assert transcript.unknown == {"critic": 1}
    assert "boo" in events[-1].text


# --- plain text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "user: hi\nagent: hello\n",
        "{curly} said the fox\nand left",
        "[12:30] user: hi\n[12:31] agent: hello\n",
        "{",
        "[",
        "[[[[",
        '{"a": 1}\n{"b": 2}\n',
        '{"steps": [{"do": "this"}]}',
        "[1, 2, 3]",
        "VERDICT: PASS",
        "\ud800".encode("utf-8", "replace").decode() + " text",
    ],
)
def test_a_file_of_an_unknown_format_is_shown_as_text(path, text):
    transcript, events = read(path, text)

    assert transcript.format == "plain text"
    assert "".join(event.text for event in events) == text
    assert {event.kind for event in events} == {"system"}


def test_a_text_in_any_script_is_shown_unchanged(path, text):
    _, events = read(path, text)

    assert [event.text for event in events] == [text]


def test_a_long_text_is_yielded_completely_in_chunks(path):
    text = "".join(f"line {number} ünï\n" for number in range(200_000))

    _, events = read(path, text)

    assert len(events) > 1
    assert "".join(event.text for event in events) == text


# --- what is broken ----------------------------------------------------------------------------------------------


def test_an_incomplete_last_line_is_skipped_and_reported(path):
    transcript, events = read(path, rows(*CLAUDE) + json.dumps(claude("assistant", "never said"))[:60])

    assert len(events) == 10
    assert transcript.skipped == 1
    assert transcript.problems[0].startswith(f"{path}:{len(CLAUDE) + 1}: is not JSON")


def test_rows_of_the_wrong_type_are_skipped_and_reported(path):
    wrong = ["5", "null", '"text"', "[1, 2]", "true", "not JSON at all", "{'single': 'quotes'}"]

    transcript, events = read(path, rows(claude("user", "hi")) + "\n".join(wrong) + "\n" + rows(claude("user", "ho")))

    assert short(events) == [("user", "hi"), ("user", "ho")]
    assert transcript.skipped == len(wrong)
    assert [problem.split(": ")[0] for problem in transcript.problems] == [f"{path}:{line}" for line in range(2, 9)]


def test_elements_of_the_wrong_type_in_a_list_are_skipped_and_reported(path):
    transcript, events = read(
        path, '[\n{"role": "user", "content": "hi"},\n5,\nnull,\n[1],\n{"role":"ai","content":"x"}\n]'
    )

    assert short(events) == [("user", "hi"), ("agent", "x")]
    assert [problem.split(": ")[0] for problem in transcript.problems] == [f"{path}:{line}" for line in (3, 4, 5)]


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "assistant"},
        {"type": "assistant", "message": None},
        {"type": "assistant", "message": "text"},
        {"type": "assistant", "message": {"role": "assistant", "content": 5}},
        {"type": "assistant", "message": {"role": "assistant", "content": [None]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [[]]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": ["text"], "text": "x"}]}},
        {"type": ["assistant"]},
        {"type": {"a": 1}},
    ],
    ids=json.dumps,
)
def test_an_invalid_row_is_skipped_and_reported(path, broken):
    transcript, events = read(path, rows(claude("user", "hi"), broken, claude("assistant", "bye")))

    assert short(events) == [("user", "hi"), ("agent", "bye")]
    assert transcript.skipped == 1
    assert transcript.problems == [f"{path}:2: not a valid event of Claude Code"]


def test_a_row_that_is_nested_too_deeply_is_skipped_and_reported(path):
    deep = '{"type": "assistant", "message": ' + "[" * 100_000 + "]" * 100_000 + "}\n"

    transcript, events = read(path, rows(claude("user", "hi")) + deep + rows(claude("assistant", "bye")))

    assert short(events) == [("user", "hi"), ("agent", "bye")]
    assert transcript.problems == [f"{path}:2: nested too deeply"]


def test_nested_contents_are_shown(path):
    nested = value = {}
    for _ in range(90):
        value["in"] = value = {}

    _, events = read(path, rows(claude("assistant", [{"type": "tool_use", "name": "x", "input": nested}])))

    assert json.loads(events[0].text) == nested


def test_all_problems_are_counted_and_the_first_are_kept(path):
    transcript, events = read(path, rows(claude("user", "hi")) + "broken\n" * 500)

    assert len(events) == 1
    assert transcript.skipped == 500
    assert 5 <= len(transcript.problems) <= 50


def test_a_line_of_a_megabyte_is_read_whole(path):
    big = "0123456789" * 100_000

    _, events = read(path, rows(claude("user", "hi"), claude("user", [{"type": "tool_result", "content": big}])))

    assert events[1].text == big


def test_a_truncated_array_is_never_read_without_a_report(path):
    whole = json.dumps([{"role": "user", "content": f"message {number}"} for number in range(100)])
    for cut in (len(whole) - 1, len(whole) - 5, len(whole) // 2, 40):
        try:
            transcript, events = read(path, whole[:cut])
        except DataError:
            continue  # said out loud
        assert transcript.skipped or "".join(event.text for event in events) == whole[:cut]


@pytest.mark.parametrize("content", ["", "\n", " \t\n\r\n ", "\ufeff", "\ufeff\n"], ids=repr)
def test_an_empty_file_is_an_error_with_its_path(path, content):
    with pytest.raises(DataError, match="is empty") as caught:
        read(path, content)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe",
        "text".encode("utf-16"),
        b"\xff",
        b"plain " * 2000 + b"\xff\xfe",
        b"\x1f\x8b\x08",
    ],
    ids=["png", "utf-16", "one byte", "late in a text", "gzip"],
)
def test_a_binary_file_is_an_error_with_its_path(path, content):
    with pytest.raises(DataError, match="not UTF-8 text") as caught:
        read(path, content)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_errors_with_their_path(tmp_path):
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataError, match="cannot be read") as caught:
            Transcript(path)
        assert str(path) in str(caught.value)


def test_events_can_be_read_again_and_counts_start_again(path):
    transcript, events = read(path, rows(*CLAUDE, {"type": "telepathy"}) + "broken\n")

    assert list(transcript.events()) == events
    assert transcript.skipped == 1
    assert len(transcript.problems) == 1
    assert transcript.unknown == {"telepathy": 1}


def test_lone_surrogates_and_control_characters_are_kept(path):
    _, events = read(path, '{"role": "user", "content": "\\ud800 \\u0000 \\u001b[31m \\u202e"}\n')

    assert events[0].text == "\ud800 \0 \x1b[31m \u202e"


# --- properties --------------------------------------------------------------------------------------------------

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
SAYS = TEXTS.filter(str.strip)


@relaxed
@given(said=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), SAYS), min_size=1, max_size=80))
def test_any_message_is_read_in_order_in_every_format(path, said):
    meant = [("agent" if role == "assistant" else "user", text) for role, text in said]

    for content in (
        rows(*[claude(role, text) for role, text in said]),
        rows(*[{"role": role, "content": text} for role, text in said]),
        json.dumps([{"role": role, "content": text} for role, text in said], indent=1),
        json.dumps({"messages": [{"role": role, "content": text} for role, text in said]}),
    ):
        assert short(read(path, content)[1]) == meant
    texts = rows(*[codex("agent_message", text=text) for _, text in said])
    assert short(read(path, texts)[1]) == [("agent", text) for _, text in said]


@relaxed
@given(unusual=st.lists(st.dictionaries(st.sampled_from(["type", "x", "uuid"]), ANY_JSON, max_size=3), max_size=10))
def test_every_row_of_a_session_of_claude_is_an_event_or_skipped_or_ignored(path, unusual):
    transcript, events = read(path, rows(claude("user", "hi"), *unusual, claude("assistant", "bye")))

    assert short(events)[0] == ("user", "hi")
    assert short(events)[-1] == ("agent", "bye")
    assert transcript.skipped + sum(transcript.unknown.values()) == len(unusual)
    assert len(events) == 2 + sum(transcript.unknown.values())


@relaxed
@given(data=st.data())
def test_a_session_truncated_anywhere_is_read_up_to_there(path, data):
    whole = rows(*[claude("user", f"message {number}") for number in range(10)])
    cut = data.draw(st.integers(len(whole) // 10 + 1, len(whole)))

    transcript, events = read(path, whole[:cut])

    assert short(events) == [("user", f"message {number}") for number in range(len(events))]
    assert len(events) >= whole[:cut].count("\n")
    assert transcript.skipped <= 1


@pytest.mark.parametrize(
    "row",
    [
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": None}},
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": 5}},
        {"type": "item.completed", "item": {"id": "1", "type": "error", "message": None}},
    ],
)
def test_a_row_with_a_field_of_the_wrong_type_is_skipped(row, path):
    path.write_text("\n".join(map(json.dumps, [{"type": "thread.started", "thread_id": "t"}, row])), encoding="utf-8")
    transcript = Transcript(path)

    assert list(transcript.events()) == []
    assert transcript.skipped == 1


def test_an_invalid_byte_skips_only_its_line(path):
    good = json.dumps({"role": "user", "content": "hi"}).encode()
    path.write_bytes(
        good + b"\n" + good.replace(b"hi", b"h\xe9") + b"\n" + good + b"\n" + '{"role": "us\u00e9'.encode()[:-1]
    )
    transcript = Transcript(path)

    assert [event.text for event in transcript.events()] == ["hi", "hi"]
    assert [problem.rpartition(": ")[0][-1] for problem in transcript.problems] == ["2", "4"]


def test_messages_on_lines_of_their_own_in_an_object_are_all_read(path):
    path.write_text('{"messages": [\n{"role":"user","content":"hi"},\n{"role":"assistant","content":"bye"}\n]}')

    assert [event.text for event in Transcript(path).events()] == ["hi", "bye"]


def test_a_truncated_list_is_read_up_to_there_and_reported(path):
    path.write_text('[{"role":"user","content":"hi"},\n{"role":"assistant","content":"by')
    transcript = Transcript(path)

    assert [event.text for event in transcript.events()] == ["hi"]
    assert transcript.skipped == 1


def test_the_end_of_a_session_of_claude_is_an_event(path):
    rows = [
        {"type": "user", "message": {"role": "user", "content": "Go."}},
        {"type": "system", "subtype": "hook_response", "stdout": "denied", "exit_code": 2},
        {
            "type": "result",
            "subtype": "error_during_execution",
            "is_error": True,
            "permission_denials": [{"tool": "Bash"}],
        },
    ]
    path.write_text("\n".join(map(json.dumps, rows)))

    error_message = [(event.kind, event.name) for event in Transcript(path).events()]
    assert error_message == [
        ("user", ""),
        ("system", "hook_response"),
        ("system", "end: error_during_execution"),
        ("system", "permission denials"),
    ]


def test_a_pipe_is_an_error(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(DataError, match="not a regular file"):
        Transcript(tmp_path / "pipe")
