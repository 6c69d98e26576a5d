"""Cases of a translator run singly and line by line in one process; the translator is a small Python program."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = 200
PROGRAM = "import sys\nfor line in sys.stdin:\n    print(line.strip()[::-1], flush=True)\n"


def run() -> None:
    print(f"regression: {CASES} cases of a Python program that starts in some 10 ms")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "translator.py").write_text(PROGRAM, encoding="utf-8")
        rows = [f"c{number}\ten\tes\tsentence {number}\t{f'sentence {number}'[::-1]}" for number in range(CASES)]
        (folder / "translation.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        for options in ([], ["--concurrency", "1"], ["--persistent"]):
            started = time.perf_counter()
            command = [sys.executable, "-m", "polyjudge", "regression", "run", "--fixtures", "translation.tsv"]
            command += ["--command", f"{sys.executable} translator.py", *options]
            subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - started
            name = " ".join(options) or "singly, one for each processor"
            print(f"  {name:32} {seconds:5.2f} s, {seconds / CASES * 1000:5.1f} ms a case")
