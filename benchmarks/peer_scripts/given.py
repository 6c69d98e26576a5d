"""What every script is given: the items, polyjudge's prompt and criteria, the server; and a check of what it found.

Each is run as `NAME.py ITEMS PROMPT URL [cached]` in a scratch folder, by the Python of its own environment.
"""

import json
import sys
from pathlib import Path

AT_ONCE = 64
LEVELS = 11
"""The server says `number % 11` of item `number`."""

ITEMS = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
PROMPT = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
BASE_URL = f"{sys.argv[3]}/v1"
CACHED = "cached" in sys.argv[4:]
CRITERIA = PROMPT["criteria"]


def prompt_for_format(candidate: str, source: str) -> str:
    """Return the prompt as a template of `str.format`, with these names."""
    text = PROMPT["text"].replace("{", "{{").replace("}", "}}")
    return _named(text, "{" + candidate + "}", "{" + source + "}")


def prompt_for_braces(candidate: str, source: str) -> str:
    """Return the prompt as a template with names in double braces."""
    return _named(PROMPT["text"], "{{" + candidate + "}}", "{{" + source + "}}")


def check(scores: dict[str, float], highest: float = 1.0) -> None:
    """Stop unless every item has the score that the server gave it, on a scale that ends where the framework's does."""
    expected = {row["id"]: int(row["id"]) % LEVELS * highest / (LEVELS - 1) for row in ITEMS}
    wrong = [name for name, score in expected.items() if abs(scores.get(name, -1.0) - score) > 1e-6]
    if wrong:
        sys.exit(f"{len(wrong)} of {len(ITEMS)} items without their score, such as {wrong[0]}: {scores.get(wrong[0])}")


def _named(text: str, candidate: str, source: str) -> str:
    return text.replace("«candidate»", candidate).replace("«source»", source)
