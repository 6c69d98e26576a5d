"""promptfoo: its `echo` provider gives the text that is there, `llm-rubric` judges it with polyjudge's prompt.

This script writes the configuration, runs promptfoo and reads its results; it adds some hundredths of a second.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from given import AT_ONCE, BASE_URL, CACHED, CRITERIA, ITEMS, check, prompt_for_braces

CONFIG, FOUND = Path("promptfooconfig.json"), Path("promptfoo-results.json")
PROGRAMS = Path(os.environ["PEER_FOLDER"]) / "node_modules" / ".bin"

judge = {"id": "openai:chat:m", "config": {"apiBaseUrl": BASE_URL, "apiKey": "k"}}
config = {
    "prompts": ["{{candidate}}"],
    "providers": ["echo"],
    "defaultTest": {
        "options": {"provider": judge, "rubricPrompt": prompt_for_braces("output", "source")},
        "assert": [{"type": "llm-rubric", "value": "\n".join(CRITERIA)}],
    },
    "tests": [{"vars": row} for row in ITEMS],
}
CONFIG.write_text(json.dumps(config), encoding="utf-8")
options = ["--max-concurrency", str(AT_ONCE), "--no-table", "--no-progress-bar", "--no-write", "--output", str(FOUND)]
command = [PROGRAMS / "node", PROGRAMS / "promptfoo", "eval", "--config", str(CONFIG), *options]
done = subprocess.run([*command, *([] if CACHED else ["--no-cache"])], stdout=subprocess.DEVNULL, check=False)
# 100 is its word for "some did not pass".
if done.returncode not in (0, 100):
    sys.exit(f"promptfoo ended with {done.returncode}")
rows = json.loads(FOUND.read_text(encoding="utf-8"))["results"]["results"]
check({row["vars"]["id"]: row["gradingResult"]["score"] for row in rows}, highest=10)
