"""What reading localisation files costs: CPU for a message, by format, and memory for a large project."""

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from polyjudge.catalogues.reading import find_catalogues, read_catalogue

from .catalogue_files import FORMATS, Entry, write_files
from .check_strings import NAME, read

LANGUAGES = 60
MESSAGES = 1700
"""In each language, so that they are 100,000 in all."""
_SCRIPT = """
import re, sys, time
from pathlib import Path
from polyjudge.catalogues.reading import find_catalogues, read_catalogue

sum(len(read_catalogue(each).messages) for each in find_catalogues([Path(sys.argv[1])]).files)
print(time.process_time(), re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""
"""Prints the seconds of CPU and the KiB of memory of a process that reads all files."""


def run() -> None:
    """Print µs of CPU for a message of each format, and CPU and memory of a program that reads 100,000."""
    path = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
    if not path.is_file():
        print("review_reading: skipped, POLYJUDGE_DATA is not set or has no", NAME)
        return
    entries = entries_by_language(path)
    print(f"reading {MESSAGES} messages in each of {LANGUAGES} languages, with the sources")
    for name in FORMATS:
        if name == "stringsdict":
            continue  # it has plural forms only
        with tempfile.TemporaryDirectory() as folder:
            for language in list(entries)[:LANGUAGES]:
                write_files(Path(folder), name, language, entries[language])
            files = find_catalogues([Path(folder)]).files
            started = time.process_time()
            count = sum(len(read_catalogue(file).messages) for file in files)
            each = (time.process_time() - started) / count * 1e6
            cost = subprocess.run([sys.executable, "-c", _SCRIPT, folder], capture_output=True, text=True, check=True)
        cpu_s, memory = map(float, cost.stdout.split())
        whole = f"in all {cpu_s:3.1f} s of CPU and {memory / 1024:3.0f} MB"
        print(f"  {name:11} {count:6} messages, {each:5.1f} µs each; {whole}", flush=True)


def entries_by_language(path: Path) -> dict[str, list[Entry]]:
    """Return as many messages for each language: its own strings, repeated under other keys."""
    found = defaultdict[str, list[tuple[str, str]]](list)
    for string in read(path):
        found[string.language.tag].append((string.source, string.text))
    return {
        language: [
            Entry(f"key_{place}", f"{source} {place}", f"{text} {place}")
            for place in range(MESSAGES)
            for source, text in [strings[place % len(strings)]]
        ]
        for language, strings in found.items()
    }
