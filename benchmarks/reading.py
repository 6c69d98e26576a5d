"""The cost of reading a reply relative to json.loads, and the time for a megabyte of hostile text."""

import json
import time
from collections.abc import Callable
from contextlib import suppress

from polyjudge.errors import UnreadableReplyError
from polyjudge.judges.parsing import read_reply

VERDICT = json.dumps({"score": 80, "reason": "good " * 40, "subscores": {"accuracy": 80, "style": 75}})
REPLIES = {
    "json.loads": None,
    "clean": VERDICT,
    "fenced": f"```json\n{VERDICT}\n```",
    "prose around it": f"{'Let me think about this. ' * 20}\n{VERDICT}\nThat is all.",
    "reasoning before it": f"<think>{'Hm, perhaps {this} or that. ' * 40}</think>\n{VERDICT}",
    "trailing comma": VERDICT[:-1] + ",}",
    "labelled lines": "Reason: good\nScore: 80",
    "nothing to read": "I would rather not say. " * 20,
}
HOSTILE = [
    "{",
    '{"',
    '{"a":1}',
    '{"score":1,',
    '{"score":',
    '{"{":"{",',
    "<think>\n",
    "\nscore:",
    "\n*",
    "/*",
    "[",
    "1",
]


def run() -> None:
    print("reading a reply (least of 5 rounds)")
    base = _microseconds(lambda: json.loads(VERDICT))
    for name, reply in REPLIES.items():
        cost = base if reply is None else _microseconds(lambda reply=reply: _read(reply))
        print(f"  {name:24} {cost:8.1f} us {cost / base:6.1f} x")
    worst = max(_megabyte(piece) for piece in HOSTILE)
    print(f"  a megabyte of hostile text: at most {worst:.2f} s")


def _read(text: str) -> None:
    with suppress(UnreadableReplyError):
        read_reply(text, ["score"])


def _microseconds(work: Callable[[], object], rounds: int = 5, times: int = 2000) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(times):
            work()
        best = min(best, time.process_time() - started)
    return best / times * 1e6


def _megabyte(piece: str) -> float:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    _read(text)
    return time.process_time() - started
